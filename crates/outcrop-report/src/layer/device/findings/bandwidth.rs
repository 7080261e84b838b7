//! Bandwidth is IOPS times access size, in every honest set of figures.

use outcrop_measure::interval::median;
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

/// Smallest and largest of some ratios.
pub(super) fn extremes(name: &str, ratios: &[f64]) -> Vec<Number> {
    let low = ratios.iter().copied().reduce(f64::min);
    let high = ratios.iter().copied().reduce(f64::max);
    let number =
        |what: &str, value: f64| Number::derived(format!("{what}, {name}"), value, Unit::Ratio, ratios.len());
    low.map(|value| number("lowest", value))
        .into_iter()
        .chain(high.map(|value| number("highest", value)))
        .collect()
}
