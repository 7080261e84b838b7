//! Arithmetic that every honest set of figures obeys: bandwidth = IOPS × size, and Little's law.

use outcrop_measure::interval::median;
use outcrop_measure::littles_law;
use outcrop_measure::metric::Unit;

use super::super::cell::Cell;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// How far bandwidth may be from IOPS × size: rounding of printed figures.
const BANDWIDTH_TOLERANCE: f64 = 0.01;
/// Kilobytes of 1000 where kibibytes of 1024 were meant.
const KILO_FOR_KIBI: f64 = 1000.0 / 1024.0;
/// How close a common factor must be to a known mistake to be named as one.
const NAMED_MISTAKE: f64 = 0.005;

/// Bandwidth is IOPS times the size of an access.
pub(super) fn bandwidth(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "bandwidth-is-iops-times-size";
    const SENTENCE: &str = "Bandwidth is IOPS times access size.";
    let ratios: Vec<f64> = cells
        .iter()
        .filter_map(|cell| {
            let implied = cell.value("iops")? * cell.block_size_bytes? as f64;
            (implied > 0.0).then_some(cell.value("bandwidth")? / implied)
        })
        .collect();
    let Some(common) = median(&ratios) else {
        return Finding::not_testable(ID, SENTENCE, "no cell has IOPS, bandwidth and an access size.");
    };
    let off = ratios
        .iter()
        .filter(|ratio| (**ratio - 1.0).abs() > BANDWIDTH_TOLERANCE)
        .count();
    let all_share_it = ratios
        .iter()
        .all(|ratio| (ratio / common - 1.0).abs() < BANDWIDTH_TOLERANCE);
    let is_kilo = off > 0 && all_share_it && (common / KILO_FOR_KIBI - 1.0).abs() < NAMED_MISTAKE;
    let meaning = if is_kilo {
        "All cells are off by the same factor, 1000/1024: kibibytes were added up and called kilobytes, so every \
         bandwidth is 2.3 % too low."
    } else {
        ""
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(off == 0),
        tested: format!(
            "bandwidth ÷ (IOPS × access size) in {} cells, within {:.0} %; {off} are outside.",
            ratios.len(),
            BANDWIDTH_TOLERANCE * 100.0
        ),
        meaning: meaning.to_owned(),
        numbers: extremes("bandwidth ÷ (IOPS × size)", &ratios),
    }
}

/// One cell held to Little's law.
struct Held {
    ratio: f64,
    is_pure: bool,
}

/// What is in flight is throughput times mean latency.
pub(super) fn littles_law(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "littles-law";
    const SENTENCE: &str = "Little's law: what is in flight is IOPS times mean latency.";
    let held: Vec<Held> = cells
        .iter()
        .filter(|cell| cell.is_closed_loop())
        .filter_map(hold)
        .collect();
    if held.is_empty() {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "no closed-loop cell has a queue depth, IOPS and a mean latency.",
        );
    }
    let limit = 1.0 + littles_law::TOLERANCE;
    let is_off = |held: &&Held| held.ratio > limit || held.ratio < 1.0 / limit;
    let off = held.iter().filter(is_off).count();
    let group = |is_pure: bool| -> Vec<f64> {
        held.iter()
            .filter(|held| held.is_pure == is_pure)
            .map(|held| held.ratio)
            .collect()
    };
    let (pure, mixed) = (group(true), group(false));
    let mut numbers = Vec::new();
    numbers.extend(middle(
        "in flight implied ÷ asked for, pure reads and writes",
        &pure,
    ));
    numbers.extend(middle("in flight implied ÷ asked for, mixes", &mixed));
    numbers.extend(extremes(
        "any cell",
        &held.iter().map(|held| held.ratio).collect::<Vec<_>>(),
    ));
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(off == 0),
        tested: format!(
            "IOPS × mean latency against the requests in flight (counted where the engine counted them, else queue \
             depth × jobs) in {} closed-loop cells, within {:.0} %; {off} are outside.",
            held.len(),
            littles_law::TOLERANCE * 100.0
        ),
        meaning: explain(&pure, &mixed, off),
        numbers,
    }
}

fn hold(cell: &Cell<'_>) -> Option<Held> {
    let latency_ns = cell
        .value("latency_mean")
        .or_else(|| cell.value("latency_mean_as_published"))?;
    let in_flight = cell
        .value("achieved_queue_depth")
        .or_else(|| cell.concurrency())?;
    let law = littles_law::check(
        in_flight,
        cell.value("iops")?,
        latency_ns / 1e9,
        littles_law::TOLERANCE,
    );
    law.ratio.is_finite().then_some(Held {
        ratio: law.ratio,
        is_pure: matches!(cell.read_percent, Some(0 | 100)),
    })
}

/// Names the mistake that the pattern of ratios gives away.
fn explain(pure: &[f64], mixed: &[f64], off: usize) -> String {
    if off == 0 {
        return String::new();
    }
    let within = |ratios: &[f64], target: f64, tolerance: f64| {
        median(ratios).is_some_and(|middle| (middle / target - 1.0).abs() <= tolerance)
    };
    if within(pure, 0.5, 0.05) && within(mixed, 1.0, littles_law::TOLERANCE) {
        return "Cells of pure reads and pure writes are off by a factor of 2 and mixed cells are not. That is what an \
                average of the read latency and the write latency gives when one of the two did not happen and was \
                counted as zero: the published latency of the pure cells has to be doubled."
            .to_owned();
    }
    if within(pure, 0.5, 0.05) {
        return "Cells of pure reads and pure writes are off by a factor of 2: their latency is half of what their \
                throughput requires."
            .to_owned();
    }
    "Throughput, latency and depth of these cells cannot all be right, or they were not measured together."
        .to_owned()
}

fn middle(name: &str, ratios: &[f64]) -> Option<Number> {
    median(ratios).map(|value| Number::derived(format!("median of {name}"), value, Unit::Ratio, ratios.len()))
}

/// Smallest and largest of some ratios.
fn extremes(name: &str, ratios: &[f64]) -> Vec<Number> {
    let low = ratios.iter().copied().reduce(f64::min);
    let high = ratios.iter().copied().reduce(f64::max);
    let number =
        |what: &str, value: f64| Number::derived(format!("{what}, {name}"), value, Unit::Ratio, ratios.len());
    low.map(|value| number("lowest", value))
        .into_iter()
        .chain(high.map(|value| number("highest", value)))
        .collect()
}
