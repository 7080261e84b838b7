//! What to configure: queue depth for throughput and for latency, access size, and what a mix costs.

use outcrop_measure::knee::{self, SATURATED};
use outcrop_measure::metric::Unit;

use super::cell::{Cell, Direction};
use super::curve::{Along, Curve, longest};
use super::figures::{depth_curve, mix_curve};
use super::findings::weighted_mean_iops;
use crate::answer::Claim;
use crate::number::Number;

/// Tail growth over the lone request that counts as "latency kept".
const LATENCY_KEPT: f64 = 2.0;

/// Every recommendation that the cells support.
pub(super) fn claims(cells: &[Cell<'_>]) -> Vec<Claim> {
    let curves: Vec<_> = Direction::BOTH
        .into_iter()
        .filter_map(|direction| Some((depth_curve(cells, direction)?, direction)))
        .collect();
    let by_curve = |make: fn(&Curve<'_, '_>, Direction) -> Option<Claim>| {
        curves
            .iter()
            .filter_map(move |(curve, direction)| make(curve, *direction))
            .collect::<Vec<_>>()
    };
    let mut claims = by_curve(throughput_depth);
    claims.extend(by_curve(latency_depth));
    claims.extend(by_curve(knee_claim));
    claims.extend(access_size(cells));
    claims.extend(mix_cost(cells));
    claims
}

/// A claim, which says so if it rests on a number that would not repeat well.
fn claim(topic: String, brief: String, text: String, numbers: Vec<Number>) -> Claim {
    let wide = numbers.iter().filter(|number| number.is_wide());
    let widest = wide.filter_map(Number::plus_minus_percent).reduce(f64::max);
    let (doubt, mark) = widest.map_or_else(Default::default, |percent| {
        (
            format!(" Uncertain: an interval that it rests on is as wide as ± {percent:.0} %."),
            " !",
        )
    });
    Claim {
        topic,
        brief: brief + mark,
        text: text + &doubt,
        numbers,
    }
}

/// `Read throughput`.
fn topic(direction: Direction, what: &str) -> String {
    match direction {
        Direction::Read => format!("Read {what}"),
        Direction::Write => format!("Write {what}"),
    }
}

/// Where more depth stops buying throughput: predicted from both ends of the curve, and observed on it.
fn knee_claim(curve: &Curve<'_, '_>, direction: Direction) -> Option<Claim> {
    let peak = curve.highest("iops")?.number("iops")?;
    let lone = curve.first()?.number("latency_mean")?;
    let predicted = knee::predicted_depth(peak.value, lone.value / 1e9);
    let mut numbers = vec![
        Number::derived(
            "predicted knee, requests in flight",
            predicted,
            Unit::Count,
            peak.n.min(lone.n),
        ),
        peak.clone()
            .named(format!("highest {} IOPS of the curve", direction.name())),
        lone.clone().named("mean latency at the least depth"),
    ];
    let (short, long) = match knee::observed(&curve.load_points()) {
        Some(knee) => {
            let depth = knee.concurrency;
            numbers.push(Number::derived(
                "observed knee, requests in flight",
                depth,
                Unit::Count,
                peak.n,
            ));
            let low = if knee.is_lowest_measured {
                " (the least depth measured: it may lie lower)"
            } else {
                ""
            };
            let share = knee.share_of_peak * 100.0;
            (
                format!("observed {depth}, at {share:.0} % of the peak"),
                format!("observed at {depth}{low}, where it gives {share:.0} % of its peak"),
            )
        }
        None => (
            "beyond the depths measured".to_owned(),
            "not observed: throughput per latency still rises at the deepest queue measured".to_owned(),
        ),
    };
    let (access, name) = (curve.first()?.access(), direction.name());
    let text = format!(
        "{access} {name}s queue from about {predicted:.1} requests in flight on (highest IOPS × mean latency of a lone \
         request); {long}."
    );
    Some(claim(
        format!("Knee of {name}s"),
        format!("predicted {predicted:.1}, {short}"),
        text,
        numbers,
    ))
}

/// The least depth that gives most of the throughput.
fn throughput_depth(curve: &Curve<'_, '_>, direction: Direction) -> Option<Claim> {
    let saturated = knee::saturation(&curve.load_points(), SATURATED)?;
    let cell = *curve
        .cells
        .iter()
        .find(|cell| cell.concurrency() == Some(saturated.concurrency))?;
    let peak_cell = curve.highest("iops")?;
    let (iops, peak) = (cell.number("iops")?, peak_cell.number("iops")?);
    let share = iops.value / peak.value * 100.0;
    let (words, name) = (cell.depth_words(), direction.name());
    let mut numbers = vec![iops.clone().named(format!("{name} IOPS, {words}"))];
    let mut brief = format!("{words}: {iops}, {share:.0} % of the highest");
    let mut text = format!(
        "{words} gives {iops} ({}), {share:.0} % of the highest",
        cell.access()
    );
    if let (Some(p99), Some(peak_p99)) = (
        cell.directed(direction, "latency_p99"),
        peak_cell.directed(direction, "latency_p99"),
    ) {
        text.push_str(&format!(", at a p99 of {p99}"));
        brief.push_str(&format!(", p99 {p99}"));
        numbers.push(p99.clone().named(format!("p99, {words}")));
        if peak_cell.queue_depth != cell.queue_depth {
            let words = peak_cell.depth_words();
            text.push_str(&format!("; {words} gives {peak} at a p99 of {peak_p99}"));
            numbers.push(peak.clone().named(format!("{name} IOPS, {words}")));
            numbers.push(peak_p99.clone().named(format!("p99, {words}")));
        }
    }
    text.push('.');
    Some(claim(topic(direction, "throughput"), brief, text, numbers))
}

/// The deepest queue that keeps the tail near that of a lone request.
fn latency_depth(curve: &Curve<'_, '_>, direction: Direction) -> Option<Claim> {
    let p99 = |cell: &Cell<'_>| cell.directed(direction, "latency_p99").cloned();
    let lone_cell = curve.first()?;
    let lone = p99(lone_cell)?;
    let within = |cell: &&&Cell<'_>| p99(cell).is_some_and(|p99| p99.value <= LATENCY_KEPT * lone.value);
    let deepest = *curve.cells.iter().take_while(within).last()?;
    let kept = p99(deepest)?;
    let iops = deepest.number("iops")?;
    let (lone_words, words) = (lone_cell.depth_words(), deepest.depth_words());
    let mut numbers = vec![
        lone.clone().named(format!("p99, {lone_words}")),
        iops.clone().named(format!("{} IOPS, {words}", direction.name())),
    ];
    let text = if words == lone_words {
        format!(
            "{lone_words}, with a p99 of {lone} and {iops}; the next depth measured more than doubles that p99."
        )
    } else {
        numbers.push(kept.clone().named(format!("p99, {words}")));
        format!(
            "up to {words} the p99 ({kept}) stays within twice that of {lone_words} ({lone}), with {iops}."
        )
    };
    let brief = format!("{words}: p99 {kept}, {iops}");
    Some(claim(topic(direction, "latency"), brief, text, numbers))
}

/// The smallest access that uses most of the bandwidth.
fn access_size(cells: &[Cell<'_>]) -> Option<Claim> {
    let mut parts = Vec::new();
    let mut numbers = Vec::new();
    let mut depth = String::new();
    for direction in Direction::BOTH {
        let pure = |cell: &Cell<'_>| {
            cell.read_percent == Some(direction.read_percent()) && cell.access_pattern == "random"
        };
        let Some(curve) = longest(cells, Along::Size, pure) else {
            continue;
        };
        let Some(peak) = curve
            .highest("bandwidth")
            .and_then(|cell| cell.number("bandwidth"))
        else {
            continue;
        };
        let enough = |cell: &&&Cell<'_>| {
            cell.value("bandwidth")
                .is_some_and(|value| value >= SATURATED * peak.value)
        };
        let Some(cell) = curve.cells.iter().find(enough) else {
            continue;
        };
        let Some(number) = cell.number("bandwidth") else {
            continue;
        };
        depth = cell.depth_words();
        parts.push(format!("{} {}s reach {number}", cell.access(), direction.name()));
        numbers.push(
            number
                .clone()
                .named(format!("{} bandwidth, {}", direction.name(), cell.access())),
        );
        numbers.push(
            peak.clone()
                .named(format!("highest {} bandwidth of the curve", direction.name())),
        );
    }
    let parts = parts.join(", ");
    let text = format!(
        "at {depth}, {parts}: the smallest access that gives at least {:.0} % of the highest bandwidth.",
        SATURATED * 100.0
    );
    let brief = parts.replace(" random", "").replace(" reach ", " ");
    (!parts.is_empty()).then(|| claim("Access size".to_owned(), brief, text, numbers))
}

/// What a mix of reads and writes costs against what its parts promise.
fn mix_cost(cells: &[Cell<'_>]) -> Option<Claim> {
    let curve = mix_curve(cells)?;
    let is_mixed = |cell: &&&Cell<'_>| cell.read_percent.is_some_and(|read| (1..100).contains(&read));
    let from_70 = |cell: &&&Cell<'_>| cell.read_percent.map_or(u8::MAX, |read| read.abs_diff(70));
    let cell = *curve.cells.iter().filter(is_mixed).min_by_key(from_70)?;
    let total = cell.number("iops")?;
    let read_percent = cell.read_percent?;
    let mut numbers = vec![total.clone().named(format!("IOPS, {}", cell.words()))];
    let mut text = format!("{} gives {total}", cell.words());
    let mut brief = format!(
        "{read_percent}:{}, {}: {total}",
        100 - read_percent,
        cell.depth_words()
    );
    if let Some(expected) = weighted_mean_iops(&curve, cell) {
        let share = total.value / expected.value * 100.0;
        text.push_str(&format!(
            ", {share:.0} % of the weighted mean of pure reads and pure writes ({expected})"
        ));
        brief.push_str(&format!(", {share:.0} % of the weighted mean"));
        numbers.push(expected);
    }
    let pure = curve.cells.iter().find(|cell| cell.read_percent == Some(100));
    let p99 = |cell: &Cell<'_>| cell.directed(Direction::Read, "latency_p99").cloned();
    if let (Some(alone), Some(mixed)) = (pure.and_then(|cell| p99(cell)), p99(cell)) {
        text.push_str(&format!(
            "; the p99 of its reads is {mixed}, against {alone} without writes"
        ));
        numbers.push(alone.named("read p99 without writes"));
        numbers.push(mixed.named("read p99 in the mix"));
    }
    text.push('.');
    Some(claim("Mix".to_owned(), brief, text, numbers))
}
