//! Whether the measurement itself can be relied on: counters, CPU, repetitions, percentiles.

use outcrop_measure::interval::{WIDE, median};
use outcrop_measure::metric::Unit;

use super::super::cell::Cell;
use super::super::curve::highest;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// How far the kernel's byte counters may be from ours.
pub(in super::super) const CONTAMINATION: f64 = 0.02;
/// Share of one CPU per job at which the CPU counts as the limit.
const CPU_BOUND: f64 = 0.90;
/// Share of cells that may have wide intervals.
const WIDE_CELLS: f64 = 0.10;

/// Cells in which the device moved other bytes than we did, worst first.
pub(in super::super) fn contaminated<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<&'c Cell<'a>> {
    let off = |cell: &Cell<'_>| {
        cell.value("device_bytes_ratio")
            .map_or(0.0, |ratio| (ratio - 1.0).abs())
    };
    let mut dirty: Vec<&Cell<'_>> = cells.iter().filter(|cell| off(cell) > CONTAMINATION).collect();
    dirty.sort_by(|one, other| off(other).total_cmp(&off(one)));
    dirty
}

/// The bytes that we count are those that the kernel counts.
pub(super) fn counters(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "bytes-are-the-kernels";
    const SENTENCE: &str = "The device moved exactly the bytes that this run asked for.";
    let ratios: Vec<f64> = cells
        .iter()
        .filter_map(|cell| cell.value("device_bytes_ratio"))
        .collect();
    let Some(middle) = median(&ratios) else {
        let reason = cells
            .iter()
            .find_map(|cell| cell.unavailable.get("device_bytes_ratio"));
        let reason = reason.map_or("the kernel's counters were not read.", String::as_str);
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let dirty = contaminated(cells);
    let mut numbers = vec![Number::derived(
        "median of kernel bytes ÷ ours",
        middle,
        Unit::Ratio,
        ratios.len(),
    )];
    if let Some(worst) = dirty.first() {
        numbers.extend(
            worst
                .number("device_bytes_ratio")
                .cloned()
                .map(|number| number.named(format!("worst cell ({})", worst.words()))),
        );
    }
    let meaning = if dirty.is_empty() {
        ""
    } else {
        "Somebody else used the device, or a filesystem or volume below ours read or wrote more or less than it was asked."
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(dirty.is_empty()),
        tested: format!(
            "bytes in the kernel's counters of the block device ÷ bytes that completed, in {} cells, within {:.0} %; {} are \
             outside.",
            ratios.len(),
            CONTAMINATION * 100.0,
            dirty.len()
        ),
        meaning: meaning.to_owned(),
        numbers,
    }
}

/// The device, not the CPU, sets the highest IOPS.
pub(super) fn cpu(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "device-is-the-limit";
    const SENTENCE: &str = "The device, not the CPU, sets the highest IOPS.";
    let Some((cell, iops, cost)) = highest(cells.iter(), "iops")
        .and_then(|cell| Some((cell, cell.number("iops")?, cell.number("cpu_per_operation")?)))
    else {
        return Finding::not_testable(ID, SENTENCE, "the CPU time of the busiest cell is not known.");
    };
    let busy = iops.value * cost.value / 1e9 / f64::from(cell.jobs);
    let holds = busy < CPU_BOUND;
    let meaning = if holds {
        ""
    } else {
        "The submitting threads had no time left: more jobs may give more IOPS, and the highest IOPS of this report is a \
         lower bound for the device."
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(holds),
        tested: format!(
            "CPU time per operation × IOPS per job in {}, below {CPU_BOUND} CPUs.",
            cell.words()
        ),
        meaning: meaning.to_owned(),
        numbers: vec![
            cost.clone(),
            iops.clone(),
            Number::derived("CPUs busy per job", busy, Unit::Ratio, cost.n.min(iops.n)),
        ],
    }
}

/// Repetitions agree.
pub(super) fn repeatability(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "repetitions-agree";
    const SENTENCE: &str = "Repetitions of a cell agree.";
    let widths: Vec<f64> = cells
        .iter()
        .filter_map(|cell| Some(cell.number("iops")?.interval?.relative_width()))
        .filter(|width| width.is_finite())
        .collect();
    let Some(middle) = median(&widths) else {
        return Finding::not_testable(ID, SENTENCE, "no cell has more than one completed trial.");
    };
    let wide = cells.iter().filter(|cell| cell.is_wide()).count();
    let holds = wide as f64 <= WIDE_CELLS * widths.len() as f64;
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(holds),
        tested: format!(
            "width of the interval of the median IOPS ÷ median, in {} cells: at most {:.0} % of them may be wider than \
             {:.0} %; {wide} are.",
            widths.len(),
            WIDE_CELLS * 100.0,
            WIDE * 100.0
        ),
        meaning: String::new(),
        numbers: vec![Number::derived("median width", middle, Unit::Ratio, widths.len())],
    }
}

/// Every percentile that is printed has the samples to stand on.
pub(super) fn percentiles(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "percentiles-are-supported";
    const SENTENCE: &str = "Every cell has the samples for its p99.9.";
    let has = |cell: &&Cell<'_>| {
        cell.numbers
            .keys()
            .any(|metric| metric.ends_with("latency_p99_9"))
    };
    let lacks = |cell: &&Cell<'_>| {
        cell.unavailable
            .keys()
            .any(|metric| metric.ends_with("latency_p99_9"))
    };
    let supported = cells.iter().filter(has).count();
    let withheld = cells.iter().filter(|cell| lacks(cell) && !has(cell)).count();
    if supported + withheld == 0 {
        return Finding::not_testable(ID, SENTENCE, "no cell kept latency percentiles.");
    }
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(withheld == 0),
        tested: "a percentile q of n operations is printed only if n(1 − q) ≥ 10, in every trial of its own."
            .to_owned(),
        meaning: if withheld == 0 {
            String::new()
        } else {
            "Longer trials would support it; what is missing is left out, not guessed.".to_owned()
        },
        numbers: vec![
            Number::derived(
                "cells with a p99.9",
                supported as f64,
                Unit::Count,
                supported + withheld,
            ),
            Number::derived(
                "cells without",
                withheld as f64,
                Unit::Count,
                supported + withheld,
            ),
        ],
    }
}
