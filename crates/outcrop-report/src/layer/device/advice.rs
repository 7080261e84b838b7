//! What to configure: queue depth for throughput and for latency, access size, and what a mix costs.

use outcrop_measure::knee::{self, SATURATED};
use outcrop_measure::metric::Unit;
use outcrop_schema::device::{BANDWIDTH, Direction, IO_BLOCK_SIZE, IOPS, LATENCY, READ_WRITE_MIX};

use super::cell::{DeviceCell, P99};
use super::curve::{depth_curve, load_points, mix_curve, pure_curves};
use super::findings::weighted_mean_iops;
use crate::answer::Claim;
use crate::cell::{Cell, best};
use crate::number::Number;

/// Tail growth over the lone request that counts as "latency kept".
const LATENCY_KEPT: f64 = 2.0;

/// Every recommendation that the cells support.
pub(super) fn claims(cells: &[Cell<'_>]) -> Vec<Claim> {
    // An offered rate is no answer to what to configure.
    let closed: Vec<Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.is_closed_loop())
        .cloned()
        .collect();
    let cells = closed.as_slice();
    let curves = Direction::ALL.map(|direction| (depth_curve(cells, direction), direction));
    let kinds = [throughput_depth, latency_depth, knee_claim];
    let of_curves = kinds.iter().flat_map(|make| {
        let make = |(curve, direction): &(Option<_>, _)| make(curve.as_deref()?, *direction);
        curves.iter().filter_map(make)
    });
    of_curves
        .chain(access_size(cells))
        .chain(mix_cost(cells))
        .collect()
}

/// A claim, which says so if it rests on a number that would not repeat well.
fn claim(topic: impl Into<String>, brief: String, text: String, numbers: Vec<Number>) -> Claim {
    let wide = numbers.iter().filter(|number| number.is_wide());
    match wide.filter_map(Number::plus_minus_percent).reduce(f64::max) {
        None => Claim::new(topic, brief, text, numbers),
        Some(percent) => {
            let doubt = format!("Uncertain: an interval that it rests on is as wide as ± {percent:.0} %.");
            Claim::new(
                topic,
                format!("{brief} (uncertain: ± {percent:.0} %)"),
                format!("{text} {doubt}"),
                numbers,
            )
        }
    }
}

/// `Read throughput`.
fn topic(direction: Direction, what: &str) -> String {
    match direction {
        Direction::Read => format!("Read {what}"),
        Direction::Write => format!("Write {what}"),
    }
}

/// The same number under another name.
fn named(number: &Number, name: impl Into<String>) -> Number {
    number.clone().named(name)
}

/// Where more depth stops buying throughput: predicted from both ends of the curve, and observed on it.
fn knee_claim(curve: &[&Cell<'_>], direction: Direction) -> Option<Claim> {
    let (_, peak) = best(curve.iter().copied(), &IOPS.both)?;
    let lone = curve[0].number(&LATENCY.both.mean)?;
    let predicted = knee::predicted_depth(peak.value, lone.value / 1e9);
    let in_flight = |what: &str, depth: f64, n: usize| {
        Number::derived(format!("{what} knee, requests in flight"), depth, Unit::Count, n)
    };
    let mut numbers = vec![
        in_flight("predicted", predicted, peak.n.min(lone.n)),
        named(peak, format!("highest {direction} IOPS of the curve")),
        named(lone, "mean latency at the least depth"),
    ];
    let (short, long) = match knee::observed(&load_points(curve)) {
        Some(knee) => {
            let depth = knee.concurrency;
            numbers.push(in_flight("observed", depth, peak.n));
            let low = match knee.is_lowest_measured {
                true => " (the least depth measured: it may lie lower)",
                false => "",
            };
            let share = knee.share_of_peak * 100.0;
            (
                format!("observed at {depth} ({share:.0} % of the peak)"),
                format!("observed at {depth}{low}, where it gives {share:.0} % of its peak"),
            )
        }
        None => (
            "not observed among the depths measured".to_owned(),
            "not observed: throughput per latency still rises at the deepest queue measured".to_owned(),
        ),
    };
    let text = format!(
        "{} {direction}s queue from about {predicted:.1} requests in flight on (highest IOPS × mean latency of a lone \
         request); {long}.",
        curve[0].access()
    );
    let brief = format!("{predicted:.1} in flight predicted; {short}");
    Some(claim(format!("Knee of {direction}s"), brief, text, numbers))
}

/// Whether a number is as high as the highest, as far as the trials can tell: their intervals overlap, or, without intervals,
/// it is nearly as high.
fn ties(number: &Number, highest: &Number) -> bool {
    match (number.ends(), highest.ends()) {
        (Some((_, high)), Some((low, _))) => high >= low,
        _ => number.value >= SATURATED * highest.value,
    }
}

/// The least depth whose throughput ties with the highest of the curve.
fn throughput_depth(curve: &[&Cell<'_>], direction: Direction) -> Option<Claim> {
    let (peak_cell, peak) = best(curve.iter().copied(), &IOPS.both)?;
    let with_iops = curve
        .iter()
        .filter_map(|cell| Some((*cell, cell.number(&IOPS.both)?)));
    let (cell, iops) = with_iops.into_iter().find(|(_, iops)| ties(iops, peak))?;
    let (words, peak_words) = (cell.depth_words(), peak_cell.depth_words());
    let is_peak = peak_words == words;
    let access = cell.access();
    let mut numbers = vec![named(iops, format!("{direction} IOPS, {words}"))];
    let (mut brief, mut text) = match is_peak {
        true => (
            format!("{words}: {iops}"),
            format!("{words} gives {iops}, more than any other depth measured with {access} {direction}s"),
        ),
        false => (
            format!("{words}: {iops}, a tie with {peak_words} ({peak})"),
            format!(
                "{words} gives {iops} with {access} {direction}s, which these trials cannot distinguish from {peak_words} ({peak})"
            ),
        ),
    };
    let p99 = |cell: &Cell<'_>| cell.directed(direction, &P99).cloned();
    if let (Some(p99), Some(peak_p99)) = (p99(cell), p99(peak_cell)) {
        brief.push_str(&format!(", p99 {p99}"));
        if is_peak {
            text.push_str(&format!(", at a p99 of {p99}"));
        } else {
            text.push_str(&format!(": its p99 is {p99}, that of {peak_words} {peak_p99}"));
            numbers.push(peak_p99.named(format!("p99, {peak_words}")));
        }
        numbers.push(p99.named(format!("p99, {words}")));
    }
    if !is_peak {
        numbers.push(named(peak, format!("{direction} IOPS, {peak_words}")));
    }
    text.push('.');
    Some(claim(topic(direction, "throughput"), brief, text, numbers))
}

/// The deepest queue that keeps the tail near that of a lone request.
fn latency_depth(curve: &[&Cell<'_>], direction: Direction) -> Option<Claim> {
    let p99 = |cell: &Cell<'_>| cell.directed(direction, &P99).cloned();
    let lone = p99(curve[0])?;
    let within = |cell: &&&Cell<'_>| p99(cell).is_some_and(|p99| p99.value <= LATENCY_KEPT * lone.value);
    let deepest = *curve.iter().take_while(within).last()?;
    let kept = p99(deepest)?;
    let iops = deepest.number(&IOPS.both)?;
    let (lone_words, words) = (curve[0].depth_words(), deepest.depth_words());
    let brief = match words == lone_words {
        true => format!("{words}: p99 {kept}, {iops}; the next depth more than doubles it"),
        false => format!("{words}: p99 {kept}, at most twice {lone_words}; {iops}"),
    };
    let mut numbers = vec![
        named(&lone, format!("p99, {lone_words}")),
        named(iops, format!("{direction} IOPS, {words}")),
    ];
    let text = if words == lone_words {
        format!(
            "{lone_words}, with a p99 of {lone} and {iops}; the next depth measured more than doubles that p99."
        )
    } else {
        numbers.push(named(&kept, format!("p99, {words}")));
        format!(
            "up to {words} the p99 ({kept}) stays within twice that of {lone_words} ({lone}), with {iops}."
        )
    };
    Some(claim(topic(direction, "latency"), brief, text, numbers))
}

/// The smallest access that uses most of the bandwidth.
fn access_size(cells: &[Cell<'_>]) -> Option<Claim> {
    let (mut parts, mut numbers, mut depth) = (Vec::new(), Vec::new(), String::new());
    for direction in Direction::ALL {
        let enough = || {
            let curve = pure_curves(cells, &IO_BLOCK_SIZE, direction).next()?;
            let (_, peak) = best(curve.iter().copied(), &BANDWIDTH.both)?;
            let with_bandwidth = curve
                .into_iter()
                .filter_map(|cell| Some((cell, cell.number(&BANDWIDTH.both)?)));
            let mut enough = with_bandwidth.filter(|(_, number)| number.value >= SATURATED * peak.value);
            Some((enough.next()?, peak))
        };
        let Some(((cell, number), peak)) = enough() else {
            continue;
        };
        let access = cell.access();
        depth = cell.depth_words();
        parts.push(format!("{access} {direction}s reach {number}"));
        numbers.push(named(number, format!("{direction} bandwidth, {access}")));
        numbers.push(named(peak, format!("highest {direction} bandwidth of the curve")));
    }
    let parts = parts.join(", ");
    let text = format!(
        "at {depth}, {parts}: the smallest access that gives at least {:.0} % of the highest bandwidth.",
        SATURATED * 100.0
    );
    let brief = parts.replace(" random", "").replace(" reach ", " ");
    (!parts.is_empty()).then(|| claim("Access size", brief, text, numbers))
}

/// What a mix of reads and writes costs against what its parts promise.
fn mix_cost(cells: &[Cell<'_>]) -> Option<Claim> {
    let curve = mix_curve(cells)?;
    let from_70 = |cell: &&&Cell<'_>| cell.read_percent().map(|read| read.abs_diff(70));
    let mixed = curve.iter().filter(|cell| cell.is_mixed());
    let cell = *mixed.min_by_key(from_70)?;
    let (total, words) = (cell.number(&IOPS.both)?, cell.words());
    let mut numbers = vec![named(total, format!("IOPS, {words}"))];
    let mut text = format!("{words} gives {total}");
    let mut brief = format!(
        "{}, {}: {total}",
        cell.spelling(&READ_WRITE_MIX),
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
    let p99 = |cell: &Cell<'_>| cell.directed(Direction::Read, &P99).cloned();
    let mut pure = curve.iter().filter(|cell| cell.only() == Some(Direction::Read));
    if let (Some(alone), Some(mixed)) = (pure.next().and_then(|cell| p99(cell)), p99(cell)) {
        text.push_str(&format!(
            "; the p99 of its reads is {mixed}, against {alone} without writes"
        ));
        numbers.push(alone.named("read p99 without writes"));
        numbers.push(mixed.named("read p99 in the mix"));
    }
    text.push('.');
    Some(claim("Mix", brief, text, numbers))
}
