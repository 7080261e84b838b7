//! Whether the measurement itself can be relied on: counters, CPU, repetitions, percentiles.

use outcrop_measure::interval::{WIDE, median};
use outcrop_measure::metric::Unit;
use outcrop_schema::device::{
    CONTAMINATION, CPU_PER_OPERATION, DEVICE_BYTES_RATIO, Direction, IOPS, LATENCY,
};

use super::super::cell::DeviceCell;
use crate::cell::{Cell, best};
use crate::finding::Finding;
use crate::number::Number;

/// Share of one CPU per job at which the CPU counts as the limit.
const CPU_BOUND: f64 = 0.90;
/// Share of cells that may have wide intervals.
const WIDE_CELLS: f64 = 0.10;

/// Cells in which the device moved other bytes than we did, with its bytes ÷ ours, worst first.
pub(in super::super) fn contaminated<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<(&'c Cell<'a>, &'c Number)> {
    let off = |ratio: &Number| (ratio.value - 1.0).abs();
    let with_ratio = cells
        .iter()
        .filter_map(|cell| Some((cell, cell.number(&DEVICE_BYTES_RATIO)?)));
    let mut dirty: Vec<_> = with_ratio
        .filter(|(_, ratio)| off(ratio) > CONTAMINATION)
        .collect();
    dirty.sort_by(|one, other| off(other.1).total_cmp(&off(one.1)));
    dirty
}

/// Why it could not be checked whether the device moved other bytes than we did.
pub(in super::super) fn unchecked<'c>(cells: &'c [Cell<'_>]) -> Option<&'c str> {
    let mut cells = cells.iter();
    cells.find_map(|cell| cell.unavailable(&DEVICE_BYTES_RATIO))
}

/// The bytes that we count are those that the kernel counts.
pub(super) fn counters(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "bytes-are-the-kernels";
    const SENTENCE: &str = "The device moved exactly the bytes that this run asked for.";
    let ratio = |cell: &Cell<'_>| cell.value(&DEVICE_BYTES_RATIO);
    let ratios: Vec<f64> = cells.iter().filter_map(ratio).collect();
    let Some(middle) = median(&ratios) else {
        let reason = unchecked(cells).unwrap_or("the kernel's counters were not read.");
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let dirty = contaminated(cells);
    let tested = format!(
        "bytes in the kernel's counters of the block device ÷ bytes that completed, in {} cells, within {:.0} %; {} are \
         outside.",
        ratios.len(),
        CONTAMINATION * 100.0,
        dirty.len()
    );
    let middle = Number::derived("median of kernel bytes ÷ ours", middle, Unit::Ratio, ratios.len());
    let worst = dirty.first().map(|(cell, ratio)| {
        let name = format!("worst cell ({})", cell.words());
        Number::clone(ratio).named(name)
    });
    Finding::tested(ID, SENTENCE, dirty.is_empty(), tested)
        .otherwise(
            "Somebody else used the device, or a filesystem or volume below ours read or wrote more or less than it was \
             asked.",
        )
        .numbers([middle].into_iter().chain(worst))
}

/// The device, not the CPU, sets the highest IOPS.
pub(super) fn cpu(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "device-is-the-limit";
    const SENTENCE: &str = "The device, not the CPU, sets the highest IOPS.";
    let busiest = best(cells, &IOPS.both);
    let Some((cell, iops, cost)) =
        busiest.and_then(|(cell, iops)| Some((cell, iops, cell.number(&CPU_PER_OPERATION)?)))
    else {
        return Finding::not_testable(ID, SENTENCE, "the CPU time of the busiest cell is not known.");
    };
    let busy = iops.value * cost.value / 1e9 / f64::from(cell.jobs());
    let tested = format!(
        "CPU time per operation × IOPS per job in {}, below {CPU_BOUND} CPUs.",
        cell.words()
    );
    let busy_number = Number::derived("CPUs busy per job", busy, Unit::Ratio, cost.n.min(iops.n));
    Finding::tested(ID, SENTENCE, busy < CPU_BOUND, tested)
        .otherwise(
            "The submitting threads had no time left: more jobs may give more IOPS, and the highest IOPS of this report is \
             a lower bound for the device.",
        )
        .numbers([cost.clone(), iops.clone(), busy_number])
}

/// Repetitions agree.
pub(super) fn repeatability(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "repetitions-agree";
    const SENTENCE: &str = "Repetitions of a cell agree.";
    let iops = || cells.iter().filter_map(|cell| cell.number(&IOPS.both));
    let widths: Vec<f64> = iops()
        .filter_map(|iops| Some(iops.interval?.relative_width()))
        .filter(|width| width.is_finite())
        .collect();
    let Some(middle) = median(&widths) else {
        return Finding::not_testable(ID, SENTENCE, "no cell has more than one completed trial.");
    };
    let wide = iops().filter(|iops| iops.is_wide()).count();
    let tested = format!(
        "width of the interval of the median IOPS ÷ median, in {} cells: at most {:.0} % of them may be wider than \
         {:.0} %; {wide} are.",
        widths.len(),
        WIDE_CELLS * 100.0,
        WIDE * 100.0
    );
    let holds = wide as f64 <= WIDE_CELLS * widths.len() as f64;
    let middle = Number::derived("median width", middle, Unit::Ratio, widths.len());
    Finding::tested(ID, SENTENCE, holds, tested).numbers([middle])
}

/// Every percentile that is printed has the samples to stand on.
pub(super) fn percentiles(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "percentiles-are-supported";
    const SENTENCE: &str = "Every cell has the samples for its p99.9.";
    let p99_9 = [None, Some(Direction::Read), Some(Direction::Write)].map(|way| LATENCY.of(way).p99_9);
    let has = |cell: &&Cell<'_>| cell.first_number(&p99_9).is_some();
    let lacks = |cell: &Cell<'_>| p99_9.iter().any(|metric| cell.unavailable(metric).is_some());
    let supported = cells.iter().filter(has).count();
    let withheld = cells.iter().filter(|cell| lacks(cell) && !has(cell)).count();
    let total = supported + withheld;
    if total == 0 {
        return Finding::not_testable(ID, SENTENCE, "no cell kept latency percentiles.");
    }
    let tested =
        "a percentile q of n operations is printed only if n(1 − q) ≥ 10, in every trial of its own.";
    let count = |name: &str, count: usize| Number::derived(name, count as f64, Unit::Count, total);
    Finding::tested(ID, SENTENCE, withheld == 0, tested)
        .otherwise("Longer trials would support it; what is missing is left out, not guessed.")
        .numbers([
            count("cells with a p99.9", supported),
            count("cells without", withheld),
        ])
}
