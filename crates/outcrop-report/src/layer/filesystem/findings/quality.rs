//! Whether the figures of a run can be relied on: its bytes, its CPU time, and Little's law.

use outcrop_measure::interval::median;
use outcrop_measure::littles_law::{TOLERANCE, check};
use outcrop_schema::filesystem::{
    ACHIEVED_QUEUE_DEPTH, CONTAMINATION, CPU_PER_OPERATION, FOREIGN_CPU_SHARE, IOPS, LATENCY,
    READ_AMPLIFICATION, READ_AMPLIFICATION_OWN,
};

use super::super::cell::{is_closed, is_cold_read, name_apart, words};
use super::{Outside, derived};
use crate::cell::Cell;
use crate::finding::Finding;

/// The rest of the machine may use so much of what we do.
const FOREIGN_CPU: f64 = 0.25;

/// Both counts of what was read agree.
pub(super) fn bytes_are_the_kernels(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "bytes-are-the-kernels";
    const SENTENCE: &str = "The device read what this process fetched, and nothing else.";
    let ratio = |cell: &Cell<'_>| {
        let own = cell.value(&READ_AMPLIFICATION_OWN)?;
        (own > 0.0).then_some(cell.value(&READ_AMPLIFICATION)? / own)
    };
    let reads = || cells.iter().filter(|cell| is_cold_read(cell));
    let outside = Outside::of(reads(), |cell| {
        let ratio = ratio(cell)?;
        let is_off = (ratio - 1.0).abs() > CONTAMINATION;
        Some(is_off.then(|| format!("{}: {ratio:.3}", words(cell))))
    });
    let ratios: Vec<f64> = reads().filter_map(ratio).collect();
    let how = "bytes read by the device's counters over those of the process's own account, within 2 %,";
    outside
        .finding(ID, SENTENCE, how, "no cold read has both counts")
        .numbers(median(&ratios).map(|middle| derived("device ÷ own, median", middle, ratios.len())))
        .otherwise("Contaminated: other processes, or the filesystem's own work, read from the device at the same time.")
}

/// CPU time of the machine is that of ours.
pub(super) fn cpu_is_accounted(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cpu-is-accounted";
    const SENTENCE: &str = "The machine's CPU time is that of this process and the kernel's threads.";
    let outside = Outside::of(
        cells
            .iter()
            .filter(|cell| cell.value(&CPU_PER_OPERATION).is_some()),
        |cell| {
            let foreign = cell.value(&FOREIGN_CPU_SHARE)?;
            Some(
                (foreign > FOREIGN_CPU)
                    .then(|| format!("{}: {:.0} % more", name_apart(cell), foreign * 100.0)),
            )
        },
    );
    let how = format!(
        "CPU time of the rest of the machine (/proc/stat less ours) over ours, at most {:.0} %,",
        FOREIGN_CPU * 100.0
    );
    outside.finding(ID, SENTENCE, &how, "no cell has CPU times of both").otherwise(
        "Other processes were at work: latencies and throughput are those of a shared machine. CPU per operation counts only this process and the kernel's threads, so it remains valid.",
    )
}

/// What is in flight is throughput times latency.
pub(super) fn littles_law(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "littles-law";
    const SENTENCE: &str = "Little's law: what is in flight is operations per second times mean latency.";
    let is_closed = |cell: &&Cell<'_>| is_cold_read(cell) && is_closed(cell);
    let ratio = |cell: &Cell<'_>| {
        let of_trial = |trial: &&outcrop_results::TrialEntry| {
            let in_flight = trial.number(&ACHIEVED_QUEUE_DEPTH)?;
            let (iops, mean_ns) = (trial.number(&IOPS)?, trial.number(&LATENCY.mean)?);
            let ratio = check(in_flight, iops, mean_ns / 1e9, TOLERANCE).ratio;
            ratio.is_finite().then_some(ratio)
        };
        median(&cell.trials().iter().filter_map(of_trial).collect::<Vec<_>>())
    };
    let outside = Outside::of(cells.iter().filter(is_closed), |cell| {
        let ratio = ratio(cell)?;
        let is_off = !(1.0 / (1.0 + TOLERANCE)..=1.0 + TOLERANCE).contains(&ratio);
        Some(is_off.then(|| format!("{}: {ratio:.2}", words(cell))))
    });
    let ratios: Vec<f64> = cells.iter().filter(is_closed).filter_map(ratio).collect();
    let how = format!(
        "operations per second × mean latency ÷ requests in flight, within {:.0} %, in closed loops",
        TOLERANCE * 100.0
    );
    outside
        .finding(ID, SENTENCE, &how, "no closed loop has all three")
        .numbers(median(&ratios).map(|middle| derived("implied ÷ in flight, median", middle, ratios.len())))
}
