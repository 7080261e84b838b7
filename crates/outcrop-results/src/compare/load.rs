//! The load of the machine under two runs: which side had more of it, and which differences that explains.
//!
//! What counts is what others used of the CPUs while the trials of a cell ran. Runs of earlier versions did not record that: there the
//! state of the machine stands in for it, as their environments have it from just before the first trial. What others moved to and from the
//! block device counts besides: it slows trials down without any CPU. A side that has no record of its load, as results of another program, counts as
//! idle: what is worse on the other side may be due to the load there.

use outcrop_measure::interval::median;
use outcrop_measure::metric::{Better, Metric, Unit};
use outcrop_probe::OthersCpu;
use outcrop_schema::device::{BANDWIDTH, DEVICE_BYTES_RATIO, FOREIGN_BYTES_RATIO};
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
/// The same from this many trials on.
const FEWEST_TRIALS: usize = 2;

/// Of the CPU that a thread runs on, others may use this many times their share of all CPUs: on two CPUs all that they use may be on one.
const ON_ONE_CPU: f64 = 2.0;
/// A thread that shares its CPU with one other keeps half of it.
const HALF: f64 = 0.5;
/// The share of a CPU that others are taken to leave at the least.
const LEAST_LEFT: f64 = 0.01;

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
    /// Share of the trials of a cell in which the block device moved more for others than in the calmer side's median, where the medians do not
    /// tell the sides apart.
    TrialsBesideOthers,
}

/// The machine had more to do for others on one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadDifference {
    /// The side with more load.
    pub busier: Side,
    /// What the two figures are.
    pub measure: LoadMeasure,
    /// The baseline's, where the two are farthest apart; none where its load was not recorded.
    pub baseline: Option<f64>,
    /// The candidate's.
    pub candidate: Option<f64>,
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

/// What the block device moved for others for each byte of the trials, trial by trial; older runs have the bytes of both together.
fn bytes_of_others(cell: &Cell) -> Option<Vec<f64>> {
    let others_in = |of_both: &[f64]| of_both.iter().map(|ratio| (ratio - 1.0).max(0.0)).collect();
    match cell.metrics.contains_key(FOREIGN_BYTES_RATIO.name) {
        // It has values, or it is not known: the disk below could not be counted, and the device's own bytes do not tell.
        true => values(cell, &FOREIGN_BYTES_RATIO).map(<[f64]>::to_vec),
        false => values(cell, &DEVICE_BYTES_RATIO).map(others_in),
    }
}

/// Whether nothing records what else the machine did while a cell was measured: results of other programs, and publications.
const fn has_no_record(cell: &Cell) -> bool {
    cell.is_imported || cell.is_reference
}

fn values<'c>(cell: &'c Cell, metric: &Metric) -> Option<&'c [f64]> {
    let values = cell.metrics.get(metric.name)?.values.as_slice();
    (!values.is_empty()).then_some(values)
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

/// The side beside which the device moved more for others, in the same time and for each byte. Of a run that is slower itself the same traffic is
/// more for each byte; bytes that come with its own, as those that a filesystem adds, are more in the same time of a run that is faster.
fn of_device(baseline: &Cell, candidate: &Cell) -> Option<LoadDifference> {
    let (speeds_a, speeds_b) = values(baseline, &BANDWIDTH.both).zip(values(candidate, &BANDWIDTH.both))?;
    let or_idle = |known: Option<Vec<f64>>, cell: &Cell, speeds: &[f64]| {
        known.or_else(|| has_no_record(cell).then(|| vec![0.0; speeds.len()]))
    };
    let (known_a, known_b) = (bytes_of_others(baseline), bytes_of_others(candidate));
    let recorded = (known_a.is_some(), known_b.is_some());
    let of_a = or_idle(known_a, baseline, speeds_a)?;
    let of_b = or_idle(known_b, candidate, speeds_b)?;
    let highest = median(speeds_a)?.max(median(speeds_b)?);
    if (of_a.len(), of_b.len()) != (speeds_a.len(), speeds_b.len()) || highest <= 0.0 {
        return None;
    }
    // One measure of time for both: that in which the faster side moves a byte.
    let in_time = |of_others: &[f64], speeds: &[f64]| -> Vec<f64> {
        let pairs = of_others.iter().zip(speeds);
        pairs.map(|(ratio, speed)| ratio * speed / highest).collect()
    };
    let by_time = beside_more(&in_time(&of_a, speeds_a), &in_time(&of_b, speeds_b))?;
    let by_byte = beside_more(&of_a, &of_b)?;
    let figures = match by_time.measure {
        LoadMeasure::TrialsBesideOthers => by_time,
        _ => by_byte,
    };
    (by_time.busier == by_byte.busier).then_some(LoadDifference {
        baseline: figures.baseline.filter(|_| recorded.0),
        candidate: figures.candidate.filter(|_| recorded.1),
        ..figures
    })
}

/// The side whose trials ran beside more traffic of others, which is given as a multiple of the trials' own.
fn beside_more(of_a: &[f64], of_b: &[f64]) -> Option<LoadDifference> {
    let (a, b) = median(of_a).zip(median(of_b))?;
    let beyond = |of_others: &[f64], limit: f64| of_others.iter().filter(|one| 1.0 + **one > limit).count();
    let share = |count: usize, of_others: &[f64]| count as f64 / of_others.len() as f64;
    let seen = BYTES_APART * (1.0 + a.min(b));
    let (beyond_a, beyond_b) = (beyond(of_a, seen), beyond(of_b, seen));
    let are_apart = |calm: f64, busy: f64, of_calm: &[f64]| {
        let as_busy = share(beyond(of_calm, (1.0 + busy) / BYTES_APART), of_calm);
        1.0 + busy > BYTES_APART * (1.0 + calm) && as_busy < TRIALS_APART
    };
    let only_some = |none: usize, some: usize, of_others: &[f64]| {
        none == 0 && some >= FEWEST_TRIALS && share(some, of_others) >= TRIALS_APART
    };
    let (medians, shares) = ((a, b), (share(beyond_a, of_a), share(beyond_b, of_b)));
    let (by_median, by_trials) = (LoadMeasure::DeviceBytesOfOthers, LoadMeasure::TrialsBesideOthers);
    let (busier, measure, (baseline, candidate)) = if are_apart(a, b, of_a) {
        (Side::Candidate, by_median, medians)
    } else if are_apart(b, a, of_b) {
        (Side::Baseline, by_median, medians)
    // Where both sides had such trials, they explain nothing.
    } else if only_some(beyond_a, beyond_b, of_b) {
        (Side::Candidate, by_trials, shares)
    } else if only_some(beyond_b, beyond_a, of_a) {
        (Side::Baseline, by_trials, shares)
    } else {
        return None;
    };
    Some(LoadDifference {
        busier,
        measure,
        baseline: Some(baseline),
        candidate: Some(candidate),
        cells_count: 1,
    })
}

/// The shares of the CPUs that others used under both sides, where each is so large that two equal runs beside it differ. Of results that have
/// no record of their load, it may have been as large as beside the other side.
pub(super) fn crowding(baseline: &Cell, candidate: &Cell) -> Option<Crowding> {
    let may_be = |cell: &Cell| cell.others_share.is_some() || has_no_record(cell);
    let crowding = Crowding {
        baseline: baseline.others_share,
        candidate: candidate.others_share,
    };
    let is_large = crowding.share()? > OthersCpu::MATTER;
    (is_large && may_be(baseline) && may_be(candidate)).then_some(crowding)
}

/// The shares of the CPUs that others used under two sides, each where it was recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowding {
    /// Under the baseline.
    pub baseline: Option<f64>,
    /// Under the candidate.
    pub candidate: Option<f64>,
}

impl Crowding {
    /// Of two that are alike the larger. Of two that are not, the smaller: what is worse on the busier side is undecided anyhow. Or the one that is
    /// known.
    fn share(&self) -> Option<f64> {
        match (self.baseline, self.candidate) {
            (Some(a), Some(b)) if (a - b).abs() > SHARE_APART => Some(a.min(b)),
            (Some(a), Some(b)) => Some(a.max(b)),
            (one, other) => one.or(other),
        }
    }
}

/// What two equal runs may differ by beside such a load, as a drift: a thread that waits for others has between what they leave of its CPU and
/// all of it. Two runs beside shares of 0.35 differed by a factor of 1.9. No factor bounds a tail: beside 0.6, equal p99 differed by 9.
pub(super) fn drift_beside(row: &ComparisonRow, crowding: Crowding) -> f64 {
    if is_of_tail(row) {
        return f64::INFINITY;
    }
    let share = crowding.share().unwrap_or_default();
    let taken = (ON_ONE_CPU * share).min(HALF).max(share);
    1.0 / (1.0 - taken).max(LEAST_LEFT) - 1.0
}

fn of_cpus(baseline: &Cell, candidate: &Cell) -> Option<LoadDifference> {
    let of_both = |figure: fn(&Cell) -> Option<f64>| {
        let (a, b) = (figure(baseline), figure(candidate));
        let is_known = |figure: Option<f64>, cell: &Cell| figure.is_some() || has_no_record(cell);
        let are_known = is_known(a, baseline) && is_known(b, candidate) && (a.is_some() || b.is_some());
        are_known.then_some((a, b))
    };
    let measures = [
        (
            LoadMeasure::OthersCpuShare,
            of_both(|cell| cell.others_share),
            SHARE_APART,
        ),
        (
            LoadMeasure::CpuPressureBefore,
            of_both(|cell| cell.before.pressure),
            PRESSURE_APART,
        ),
        (
            LoadMeasure::TasksPerCpuBefore,
            of_both(|cell| cell.before.tasks_per_cpu),
            TASKS_APART,
        ),
    ];
    // The best that both sides know decides: it may say that there is no difference.
    let (measure, (a, b), apart) = measures
        .into_iter()
        .find_map(|(measure, known, apart)| Some((measure, known?, apart)))?;
    let busier = match b.unwrap_or(0.0) - a.unwrap_or(0.0) {
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
    let gap = |load: &LoadDifference| (load.candidate.unwrap_or(0.0) - load.baseline.unwrap_or(0.0)).abs();
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

/// Whether a row is of the few slowest operations: a percentile from the 90th on, or a maximum.
fn is_of_tail(row: &ComparisonRow) -> bool {
    let mut words = row.metric.split('_');
    let is_high = |word: &str| {
        let percentile = word
            .strip_prefix('p')
            .and_then(|digits| digits.parse::<u32>().ok());
        word == "max" || percentile.is_some_and(|percentile| percentile >= 90)
    };
    words.any(is_high)
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

/// Whether the load of the machine may be why a row is above 1, or below it: times and rates that are worse where the load was greater.
pub(crate) fn may_explain(row: &ComparisonRow, is_above: bool) -> bool {
    let is_busier = |side: Side| row.busier.iter().any(|(busier, _)| *busier == side);
    let is_explained = match row.better {
        Some(better) if (better == Better::Higher) == is_above => is_busier(Side::Baseline),
        Some(_) => is_busier(Side::Candidate),
        None => !row.busier.is_empty(),
    };
    is_explained && is_of_time(row)
}

/// Whether it may hide that a row is not the same.
pub(super) fn may_hide(row: &ComparisonRow) -> bool {
    !row.busier.is_empty() && is_of_time(row)
}

/// The verdict of a row, unless the load of the machine explains it: what is worse, or may be, may be so by that alone, and what is the same may
/// have changed by as much as the load hides.
pub(super) fn unless_explained(row: &ComparisonRow, verdict: Verdict) -> Verdict {
    let is_apart = matches!(
        verdict,
        Verdict::Better
            | Verdict::Worse
            | Verdict::Different
            | Verdict::Undecided(Undecided::Wide | Undecided::Chance | Undecided::Drift)
    );
    let is_above = row.ratio.is_some_and(|ratio| ratio > 1.0);
    match (verdict == Verdict::Same && may_hide(row)) || (is_apart && may_explain(row, is_above)) {
        true => Verdict::Undecided(Undecided::Load),
        false => verdict,
    }
}
