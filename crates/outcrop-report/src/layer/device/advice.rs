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
    let mut claims = Vec::new();
    for direction in Direction::BOTH {
        let Some(curve) = depth_curve(cells, direction) else {
            continue;
        };
        claims.extend(knee_claim(&curve, direction));
        claims.extend(throughput_depth(&curve, direction));
        claims.extend(latency_depth(&curve, direction));
    }
    claims.extend(access_size(cells));
    claims.extend(mix_cost(cells));
    claims
}

fn claim(topic: String, text: String, numbers: Vec<Number>) -> Claim {
    Claim { topic, text, numbers }
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
    let observed = match knee::observed(&curve.load_points()) {
        Some(knee) => {
            let concurrency = knee.concurrency;
            numbers.push(Number::derived(
                "observed knee, requests in flight",
                concurrency,
                Unit::Count,
                peak.n,
            ));
            let low = if knee.is_lowest_measured {
                " (the least depth measured: it may lie lower)"
            } else {
                ""
            };
            format!(
                "observed at {concurrency}{low}, where it gives {:.0} % of its peak",
                knee.share_of_peak * 100.0
            )
        }
        None => "not observed: throughput per latency still rises at the deepest queue measured".to_owned(),
    };
    let access = curve.first()?.access();
    let text = format!(
        "{access} {}s queue from about {predicted:.1} requests in flight on (highest IOPS × mean latency of a lone \
         request); {observed}.",
        direction.name()
    );
    Some(claim(format!("Knee, {}s", direction.name()), text, numbers))
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
    let mut numbers = vec![
        iops.clone()
            .named(format!("{} IOPS, {}", direction.name(), cell.depth_words())),
    ];
    let mut text = format!("{} gives {iops}, {share:.0} % of the highest", cell.depth_words());
    if let (Some(p99), Some(peak_p99)) = (
        cell.directed(direction, "latency_p99"),
        peak_cell.directed(direction, "latency_p99"),
    ) {
        text.push_str(&format!(", at a p99 of {p99}"));
        numbers.push(p99.clone().named(format!("p99, {}", cell.depth_words())));
        if peak_cell.queue_depth != cell.queue_depth {
            let words = peak_cell.depth_words();
            text.push_str(&format!("; {words} gives {peak} at a p99 of {peak_p99}"));
            numbers.push(peak.clone().named(format!("{} IOPS, {words}", direction.name())));
            numbers.push(peak_p99.clone().named(format!("p99, {words}")));
        }
    }
    text.push('.');
    Some(claim(
        format!("Depth for {} throughput", direction.name()),
        text,
        numbers,
    ))
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
    let text = if deepest.queue_depth == lone_cell.queue_depth {
        format!(
            "already the next depth measured more than doubles the p99 of {} ({lone}); stay there if the tail matters.",
            lone_cell.depth_words()
        )
    } else {
        format!(
            "up to {} the p99 stays within twice that of {} ({kept} against {lone}), with {iops}.",
            deepest.depth_words(),
            lone_cell.depth_words()
        )
    };
    let numbers = vec![
        lone.named(format!("p99, {}", lone_cell.depth_words())),
        kept.named(format!("p99, {}", deepest.depth_words())),
        iops.clone()
            .named(format!("{} IOPS, {}", direction.name(), deepest.depth_words())),
    ];
    Some(claim(
        format!("Depth for {} latency", direction.name()),
        text,
        numbers,
    ))
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
    let text = format!(
        "at {depth}, {}: the smallest access that gives at least {:.0} % of the highest bandwidth.",
        parts.join(", "),
        SATURATED * 100.0
    );
    (!parts.is_empty()).then(|| claim("Access size".to_owned(), text, numbers))
}

/// What a mix of reads and writes costs against what its parts promise.
fn mix_cost(cells: &[Cell<'_>]) -> Option<Claim> {
    let curve = mix_curve(cells)?;
    let reads_share = |cell: &&&Cell<'_>| cell.read_percent.is_some_and(|read| (1..100).contains(&read));
    let nearest = |cell: &&&Cell<'_>| cell.read_percent.map_or(u8::MAX, |read| read.abs_diff(70));
    let cell = *curve.cells.iter().filter(reads_share).min_by_key(nearest)?;
    let total = cell.number("iops")?;
    let mut numbers = vec![total.clone().named(format!("IOPS, {}", cell.words()))];
    let mut text = format!("{} gives {total}", cell.words());
    if let Some(expected) = weighted_mean_iops(&curve, cell) {
        let share = total.value / expected.value * 100.0;
        text.push_str(&format!(
            ", {share:.0} % of the weighted mean of pure reads and pure writes"
        ));
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
    Some(claim("Mixing reads and writes".to_owned(), text, numbers))
}
