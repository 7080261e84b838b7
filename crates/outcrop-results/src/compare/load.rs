//! The load of the machine under two runs: which side had more of it, and which differences that explains.
//!
//! What counts is what others used of the CPUs while the trials of a cell ran. Runs of earlier versions did not record that: there the
//! state of the machine stands in for it, as their environments have it from just before the first trial. What others moved to and from the
//! block device counts besides: it slows trials down without any CPU.

use outcrop_measure::interval::median;
use outcrop_measure::metric::{Metric, Unit};
use outcrop_schema::device::{DEVICE_BYTES_RATIO, FOREIGN_BYTES_RATIO};
use serde::Serialize;
use serde_json::Value;

use super::cells::Cell;
use super::{ComparisonRow, Side, Undecided, Verdict};

/// Others that used this much more of the CPUs on one side may be the cause of a difference.
const SHARE_APART: f64 = 0.1;
/// The same for the share of time in which tasks waited for a CPU.
const PRESSURE_APART: f64 = 0.25;
/// The same for the tasks per CPU that ran or waited.
const TASKS_APART: f64 = 0.5;
/// The same for all that the device moved for each byte of the trials, as a factor: less than this is no more than the drift that is allowed for
/// on each side.
const BYTES_APART: f64 = 1.1;
/// From this share of a cell's trials on, traffic of others counts though the median does not show it: trials beside which it was seen are rarely the
/// only ones that it slowed down.
const TRIALS_APART: f64 = 0.25;

/// What the load of two sides is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadMeasure {
    /// Share of the CPUs that others used while the trials of a cell ran, median over the trials.
    OthersCpuShare,
    /// Share of the 10 s before a run in which tasks waited for a CPU.
    CpuPressureBefore,
    /// Tasks per CPU that ran or waited, on average over the minute before a run.
    TasksPerCpuBefore,
    /// Bytes that the block device moved besides those of the trials of a cell, over the latter, median over the trials.
    DeviceBytesOfOthers,
    /// Share of the trials of a cell in which the block device moved more for others than in the median of the other side, where the medians do not
    /// differ by as much.
    TrialsBesideOthers,
}

/// The machine had more to do for others on one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadDifference {
    /// The side with more load.
    pub busier: Side,
    /// What the two figures are.
    pub measure: LoadMeasure,
    /// The baseline's, where the two are farthest apart.
    pub baseline: f64,
    /// The candidate's.
    pub candidate: f64,
    /// Cells of which that is so.
    pub cells_count: usize,
}

/// The state of the machine just before a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoadBefore {
    pressure: Option<f64>,
    tasks_per_cpu: Option<f64>,
}

impl LoadBefore {
    pub(super) fn of(environment: &Value) -> Self {
        let number = |pointer: &str| environment.pointer(pointer).and_then(Value::as_f64);
        let cpus = number("/cpu/online_cpu_count").filter(|cpus| *cpus >= 1.0);
        Self {
            pressure: number("/load/cpu_pressure/some_10s_percent").map(|percent| percent / 100.0),
            tasks_per_cpu: number("/load/average/0")
                .zip(cpus)
                .map(|(tasks, cpus)| tasks / cpus),
        }
    }
}

/// The share that others used, over the trials that know it.
pub(super) fn others_share(shares: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    median(&shares.flatten().collect::<Vec<_>>())
}

/// All that the block device moved for each byte of the trials, trial by trial; older runs have the bytes of both together.
fn device_bytes(cell: &Cell) -> Option<Vec<f64>> {
    let values = |metric: &Metric| {
        let samples = cell.metrics.get(metric.name)?;
        (!samples.values.is_empty()).then_some(samples.values.iter())
    };
    let of_others = || Some(values(&FOREIGN_BYTES_RATIO)?.map(|ratio| 1.0 + ratio).collect());
    let of_both = || Some(values(&DEVICE_BYTES_RATIO)?.map(|ratio| ratio.max(1.0)).collect());
    of_others().or_else(of_both)
}

/// Whether one of two cells was measured under more load than the other, of the CPUs or of the device. Another storage may itself move more for
/// each byte: of two, the bytes tell nothing.
pub(super) fn between(baseline: &Cell, candidate: &Cell, is_one_storage: bool) -> Vec<LoadDifference> {
    let of_device = is_one_storage.then(|| of_device(baseline, candidate)).flatten();
    of_cpus(baseline, candidate)
        .into_iter()
        .chain(of_device)
        .collect()
}

fn of_device(baseline: &Cell, candidate: &Cell) -> Option<LoadDifference> {
    let (of_a, of_b) = device_bytes(baseline).zip(device_bytes(candidate))?;
    let (a, b) = median(&of_a).zip(median(&of_b))?;
    let share_beyond = |values: &[f64], other: f64| {
        let beyond = values.iter().filter(|value| **value > BYTES_APART * other);
        beyond.count() as f64 / values.len() as f64
    };
    let (share_a, share_b) = (share_beyond(&of_a, b), share_beyond(&of_b, a));
    let (busier, measure) = match b / a {
        factor if factor > BYTES_APART => (Side::Candidate, LoadMeasure::DeviceBytesOfOthers),
        factor if factor < 1.0 / BYTES_APART => (Side::Baseline, LoadMeasure::DeviceBytesOfOthers),
        // Where both sides had such trials, they explain nothing.
        _ => match (share_a >= TRIALS_APART, share_b >= TRIALS_APART) {
            (false, true) => (Side::Candidate, LoadMeasure::TrialsBesideOthers),
            (true, false) => (Side::Baseline, LoadMeasure::TrialsBesideOthers),
            _ => return None,
        },
    };
    let (baseline, candidate) = match measure {
        LoadMeasure::TrialsBesideOthers => (share_a, share_b),
        _ => (a - 1.0, b - 1.0),
    };
    Some(LoadDifference {
        busier,
        measure,
        baseline,
        candidate,
        cells_count: 1,
    })
}

fn of_cpus(baseline: &Cell, candidate: &Cell) -> Option<LoadDifference> {
    let measures = [
        (
            LoadMeasure::OthersCpuShare,
            baseline.others_share.zip(candidate.others_share),
            SHARE_APART,
        ),
        (
            LoadMeasure::CpuPressureBefore,
            baseline.before.pressure.zip(candidate.before.pressure),
            PRESSURE_APART,
        ),
        (
            LoadMeasure::TasksPerCpuBefore,
            baseline.before.tasks_per_cpu.zip(candidate.before.tasks_per_cpu),
            TASKS_APART,
        ),
    ];
    // The best that both sides know decides: it may say that there is no difference.
    let (measure, (a, b), apart) = measures
        .into_iter()
        .find_map(|(measure, known, apart)| Some((measure, known?, apart)))?;
    let busier = match b - a {
        gap if gap > apart => Side::Candidate,
        gap if gap < -apart => Side::Baseline,
        _ => return None,
    };
    Some(LoadDifference {
        busier,
        measure,
        baseline: a,
        candidate: b,
        cells_count: 1,
    })
}

/// One for each side and measure, with the figures that are farthest apart.
pub(super) fn summed(of_cells: &[LoadDifference]) -> Vec<LoadDifference> {
    let mut summed: Vec<LoadDifference> = Vec::new();
    let gap = |load: &LoadDifference| (load.candidate - load.baseline).abs();
    for load in of_cells {
        let is_like =
            |known: &&mut LoadDifference| (known.busier, known.measure) == (load.busier, load.measure);
        match summed.iter_mut().find(is_like) {
            Some(known) => {
                let cells_count = known.cells_count + 1;
                let farther = if gap(load) > gap(known) { *load } else { *known };
                *known = LoadDifference {
                    cells_count,
                    ..farther
                };
            }
            None => summed.push(*load),
        }
    }
    summed
}

/// Whether a row is of a time or a rate: what the state of the machine changes. It changes no ratio of counts or sizes.
pub(super) fn is_of_time(row: &ComparisonRow) -> bool {
    let unit = row.baseline.as_ref().map(|figure| figure.unit);
    unit.is_some_and(|unit| {
        matches!(
            unit,
            Unit::BytesPerSecond
                | Unit::PerSecond
                | Unit::Nanoseconds
                | Unit::NanosecondsPerOperation
                | Unit::NanosecondsPerByte
        )
    })
}

/// The verdict of a row, unless the load of the machine explains it: times and rates that are worse where the load was greater.
pub(super) fn unless_explained(row: &ComparisonRow, verdict: Verdict) -> Verdict {
    let is_busier = |side: Side| row.busier.iter().any(|(busier, _)| *busier == side);
    let is_explained = match &verdict {
        Verdict::Better => is_busier(Side::Baseline),
        Verdict::Worse => is_busier(Side::Candidate),
        Verdict::Different => !row.busier.is_empty(),
        _ => false,
    };
    match is_explained && is_of_time(row) {
        true => Verdict::Undecided(Undecided::Load),
        false => verdict,
    }
}
