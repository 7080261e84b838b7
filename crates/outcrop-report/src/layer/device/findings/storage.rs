//! Whether reads reached storage, or memory above it answered.

use outcrop_measure::metric::{Metric, Unit};
use outcrop_measure::units::format_nanoseconds;
use outcrop_schema::device::{ACCESS, DEVICE_BYTES_RATIO, Direction, MISSING_BYTES_RATIO, PAGE_CACHE};
use outcrop_workload::filesystem::FileAccess;

use super::super::cell::{DeviceCell, P50};
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// No storage answers a read sooner: the fastest drives, of phase-change memory, take 6 to 10 µs for 4 KiB, the system call included.
const LEAST_STORAGE_NS: f64 = 5000.0;
/// Where the device moved less of the bytes that were asked for than the rest, something above it answered.
pub(in super::super) const NOT_OF_DEVICE: f64 = 0.5;

/// Cells that read past the page cache: those that go through it are marked as such, and nothing else is claimed of them.
fn direct_reads<'c, 'a>(cells: &'c [Cell<'a>]) -> impl Iterator<Item = &'c Cell<'a>> {
    cells.iter().filter(|cell| {
        cell.reaches_device()
            && !cell.is(&ACCESS, &FileAccess::Buffered)
            && cell.directed(Direction::Read, &P50).is_some()
    })
}

/// The cell whose reads complete soonest, where that is sooner than any storage answers, and their median latency.
pub(in super::super) fn sooner_than_storage<'c, 'a>(
    cells: &'c [Cell<'a>],
) -> Option<(&'c Cell<'a>, &'c Number)> {
    let latencies =
        direct_reads(cells).filter_map(|cell| Some((cell, cell.directed(Direction::Read, &P50)?)));
    let sooner = latencies.filter(|(_, latency)| latency.value < LEAST_STORAGE_NS);
    sooner.min_by(|one, other| one.1.value.total_cmp(&other.1.value))
}

/// Whether reads of a cell were answered by memory above the device, as far as is known.
pub(in super::super) fn is_of_memory(cell: &Cell<'_>) -> bool {
    let is_cached = cell.has(&PAGE_CACHE) && cell.only() != Some(Direction::Write);
    let is_missing = || {
        cell.value(&MISSING_BYTES_RATIO)
            .is_some_and(|missing| missing >= NOT_OF_DEVICE)
    };
    is_cached || is_missing() || sooner_than_storage(std::slice::from_ref(cell)).is_some()
}

/// The bytes that the device moved beside those that were asked for; older runs have reads and writes in one sum.
const COUNTED: [Metric; 2] = [MISSING_BYTES_RATIO, DEVICE_BYTES_RATIO];

/// Why it is not known whether reads reached storage, though none was too soon for it; none where the device's bytes were counted for every cell.
fn unknown(cells: &[Cell<'_>], least: &Number) -> Option<String> {
    let uncounted = direct_reads(cells).find(|cell| cell.first_number(&COUNTED).is_none())?;
    let least = format_nanoseconds(least.value);
    if uncounted.is_imported() {
        return Some(format!(
            "the results of fio state neither the bytes that were requested from the device nor the state of loop devices, so memory may have \
             answered; the lowest median latency of a read ({least}) does not rule that out."
        ));
    }
    let reason = uncounted.unavailable(&DEVICE_BYTES_RATIO);
    Some(format!(
        "the bytes that were requested from the device are not known ({}), so memory may have answered; the lowest median latency of a \
         read ({least}) does not rule that out.",
        reason
            .unwrap_or("the kernel's counters were not read")
            .trim_end_matches('.')
    ))
}

/// What was tested to tell storage from memory: of cells without the device's bytes, the latency alone.
fn what_was_tested(cells: &[Cell<'_>]) -> String {
    let total = counted(direct_reads(cells).count(), "cell");
    let latency = format!(
        "the lowest median latency of a read (at least {}, the least that storage takes)",
        format_nanoseconds(LEAST_STORAGE_NS)
    );
    let bytes = format!(
        "the bytes that were requested from the device (at least {:.0} %)",
        (1.0 - NOT_OF_DEVICE) * 100.0
    );
    let loops = "the state of loop devices in /sys";
    let are_counted = direct_reads(cells).all(|cell| cell.first_number(&COUNTED).is_some());
    match (are_counted, direct_reads(cells).any(Cell::is_imported)) {
        (true, _) => format!("in {total}: {loops}, {bytes}, and {latency}."),
        (false, false) => format!("in {total}: {loops}, and {latency}."),
        (false, true) => format!("in {total}: {latency}."),
    }
}

/// Reads past the page cache came from storage: the device was asked for their bytes, and they took as long as storage takes.
pub(super) fn latency_is_storage(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "latency-is-storage";
    const SENTENCE: &str = "Reads with direct I/O reached storage.";
    let least = direct_reads(cells).filter_map(|cell| cell.directed(Direction::Read, &P50));
    let Some(least) = least.min_by(|one, other| one.value.total_cmp(&other.value)) else {
        return Finding::not_testable(ID, SENTENCE, "no cell reads with direct I/O.");
    };
    let told = direct_reads(cells).find_map(|cell| cell.remark(&PAGE_CACHE));
    let sooner = sooner_than_storage(cells);
    let missing = direct_reads(cells)
        .filter_map(|cell| Some((cell, cell.number(&MISSING_BYTES_RATIO)?)))
        .find(|(_, missing)| missing.value > NOT_OF_DEVICE);
    let mut why: Vec<String> = told.map(str::to_owned).into_iter().collect();
    why.extend(missing.map(|(cell, missing)| {
        format!(
            "{:.0} % of the bytes of {} were not requested from the device, or from the disk below it.",
            missing.value * 100.0,
            cell.words()
        )
    }));
    why.extend(sooner.map(|(cell, latency)| {
        let took = format_nanoseconds(latency.value);
        format!(
            "Reads of {} complete in a median of {took}, faster than any storage answers.",
            cell.words()
        )
    }));
    if let Some(reason) = unknown(cells, least).filter(|_| why.is_empty()) {
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let number = Number::derived(
        "lowest median latency of reads",
        least.value,
        Unit::Nanoseconds,
        least.n,
    );
    Finding::tested(ID, SENTENCE, why.is_empty(), what_was_tested(cells))
        .otherwise(format!(
            "Memory answered, or may have, and these figures describe it. {}",
            why.join(" ")
        ))
        .numbers([number])
}
