//! Whether the measurement itself can be relied on: counters, CPU, repetitions, percentiles.

use outcrop_measure::interval::median;
use outcrop_measure::metric::{Metric, Unit};
use outcrop_results::TrialEntry;
use outcrop_schema::device::{
    ACCESS, ANSWERED_ABOVE, CONTAMINATION, CPU_PER_OPERATION, DEVICE_BYTES_RATIO, Direction,
    FOREIGN_BYTES_RATIO, IO_WORKER_CPU_SHARE, IOPS, LATENCY, MISSING_BYTES_RATIO, PAGE_CACHE,
};
use outcrop_workload::filesystem::FileAccess;

use super::super::cell::{DeviceCell, trial_words, value_of};
use super::Machine;
use crate::answer::is_of_fio;
use crate::cell::{Cell, best};
use crate::disturbed::{others_share, why_disturbed};
use crate::finding::{Finding, as_sentence};
use crate::number::{Number, counted};

/// Share of one CPU per job, of all CPUs, or of a quota of them, at which the CPU counts as the limit.
const CPU_BOUND: f64 = 0.90;
/// Share of cells that may have wide intervals.
const WIDE_CELLS: f64 = 0.10;

/// A trial in which the device moved other bytes than we did.
pub(in super::super) struct Stray {
    /// The cell and the trial in words.
    pub(in super::super) words: String,
    /// Bytes beyond ours ÷ ours.
    pub(in super::super) foreign: f64,
    /// Bytes of ours that never reached the device ÷ ours.
    pub(in super::super) missing: f64,
    /// Whether the device is the disk below a loop device whose page cache may have answered.
    pub(in super::super) is_of_disk_below: bool,
    /// Whether most of the foreign bytes are in the counters of the disk below the device alone.
    is_below_device: bool,
    /// Whether the device moved most of the missing bytes, and the disk below it did not: the remark of the trial says so.
    is_missing_below: bool,
}

impl Stray {
    /// `None` where the counters were not read, and where the device moved our bytes and what others asked of the disk below it is not known.
    fn of(cell: &Cell<'_>, trial: &TrialEntry) -> Option<Self> {
        let share = |metric: &Metric, of_ratio: fn(f64) -> f64| {
            // Older runs have the two summed.
            let summed = || Some(of_ratio(value_of(trial, &DEVICE_BYTES_RATIO)?).max(0.0));
            value_of(trial, metric).or_else(summed)
        };
        let missing = share(&MISSING_BYTES_RATIO, |ratio| 1.0 - ratio)?;
        let of_device = value_of(trial, &DEVICE_BYTES_RATIO).map(|ratio| ratio - 1.0 + missing);
        let is_partly = is_unknown(trial, &FOREIGN_BYTES_RATIO);
        let foreign = match is_partly {
            true => {
                let least = of_device.unwrap_or_default().max(0.0);
                (least.max(missing) > CONTAMINATION).then_some(least)
            }
            false => share(&FOREIGN_BYTES_RATIO, |ratio| ratio - 1.0),
        }?;
        Some(Self {
            words: trial_words(cell, trial),
            foreign,
            missing,
            is_missing_below: trial
                .notes
                .iter()
                .any(|note| ANSWERED_ABOVE.is_kind_of(note) && note.text.contains("the disk below")),
            is_below_device: of_device
                .is_some_and(|of_device| of_device <= CONTAMINATION || foreign > 2.0 * of_device),
            // Where nothing is known of a disk below, the counters are the device's own.
            is_of_disk_below: !is_partly
                && !cell.is(&ACCESS, &FileAccess::Buffered)
                && trial.notes.iter().any(|note| PAGE_CACHE.is_kind_of(note)),
        })
    }

    fn worse(&self) -> f64 {
        self.foreign.max(self.missing)
    }

    /// What moved more bytes than ours, or fewer.
    pub(in super::super) fn mover(&self, is_of_missing: bool) -> &'static str {
        let is_below = if is_of_missing {
            self.is_missing_below
        } else {
            self.is_below_device
        };
        match is_below {
            _ if self.is_of_disk_below => "the disk below the loop device",
            true => "the disk below the device",
            false => "the device",
        }
    }
}

/// Whether a trial has the reason why it has no value of a metric.
fn is_unknown(trial: &TrialEntry, metric: &Metric) -> bool {
    let mut values = trial.values.iter();
    values.any(|value| value.metric == metric.name && value.value.is_none())
}

/// What the counters say of the trials of a layer.
pub(in super::super) struct Checked {
    /// Trials of which all counters are known, or that moved other bytes than ours for all that is known.
    pub(in super::super) trials: usize,
    /// Trials in which the device moved our bytes, and what others asked of the disk below it is not known.
    pub(in super::super) partly: usize,
    /// Those that moved other bytes than ours, worst first.
    pub(in super::super) strays: Vec<Stray>,
}

/// Checks trials for other bytes than ours.
pub(in super::super) fn checked(cells: &[Cell<'_>]) -> Checked {
    let of = |cell| move |trial: &&TrialEntry| Stray::of(cell, trial);
    let mut strays: Vec<Stray> = cells
        .iter()
        .flat_map(|cell| cell.trials().iter().filter_map(of(cell)))
        .collect();
    let trials = strays.len();
    strays.retain(|stray| stray.worse() > CONTAMINATION);
    strays.sort_by(|one, other| other.worse().total_cmp(&one.worse()));
    let counted = cells.iter().flat_map(Cell::trials);
    let counted = counted.filter(|trial| value_of(trial, &DEVICE_BYTES_RATIO).is_some());
    Checked {
        trials,
        partly: counted.count().saturating_sub(trials),
        strays,
    }
}

/// Why it could not be checked whether the device moved other bytes than we did.
pub(in super::super) fn unchecked<'c>(cells: &'c [Cell<'_>]) -> Option<&'c str> {
    let mut reached = cells.iter().filter(|cell| cell.reaches_device());
    reached.find_map(|cell| {
        let unknown = cell.unavailable(&DEVICE_BYTES_RATIO);
        unknown.or_else(|| cell.unavailable(&FOREIGN_BYTES_RATIO))
    })
}

/// The bytes that we count are those that the kernel counts.
pub(super) fn counters(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "bytes-are-the-kernels";
    const SENTENCE: &str =
        "In every trial the device moved the bytes that this run requested, and no others.";
    let Checked {
        trials,
        partly,
        strays,
    } = checked(cells);
    if trials == 0 {
        let reason = unchecked(cells).unwrap_or("the kernel's counters were not read.");
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let tested = format!(
        "the kernel's byte counters of the block device and of the disk below a loop device or a partition (for a loop device without direct I/O, of that disk alone), compared with completed bytes, reads and writes separately: {}, each within {:.0} %; {} outside.{}",
        counted(trials, "trial"),
        CONTAMINATION * 100.0,
        strays.len(),
        match partly {
            0 => String::new(),
            partly => format!(
                " Not known of the disk below: {}.",
                counted(partly, "other trial")
            ),
        }
    );
    let count = Number::derived(
        "trials outside",
        strays.len() as f64,
        Unit::Count,
        trials + partly,
    );
    let worst = strays.iter().take(3).map(|stray| {
        let (what, share) = match stray.foreign >= stray.missing {
            true => ("bytes of others ÷ ours", stray.foreign),
            false => (
                "bytes that did not reach the device, or the disk below it ÷ this run's bytes",
                stray.missing,
            ),
        };
        Number::derived(format!("{what}, {}", stray.words), share, Unit::Ratio, 1)
    });
    Finding::tested(ID, SENTENCE, strays.is_empty(), tested)
        .extent(format!("{} of {}", strays.len(), counted(trials + partly, "trial")))
        .otherwise(
            "More: another process used the device or the disk below it, or a filesystem or volume layer read or wrote more than was requested. Less: something above the device answered, such as a page cache. The figures of these trials do not describe the device alone.",
        )
        .numbers([count].into_iter().chain(worst))
}

/// The CPU leaves room at the highest IOPS.
pub(super) fn cpu(cells: &[Cell<'_>], machine: Machine<'_>) -> Finding {
    const ID: &str = "device-is-the-limit";
    const SENTENCE: &str = "The submitting threads have CPU time left at the highest IOPS.";
    let closed = cells.iter().filter(|cell| cell.shows_capability());
    let Some((cell, iops)) = best(closed, &IOPS.both) else {
        let reason = "only open loops were measured, or the noop engine: the schedule set their rate, not the device or the CPU.";
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    if cell.has(&PAGE_CACHE) {
        let reason = "the page cache answered instead of the device.";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let Some(cost) = cell.number(&CPU_PER_OPERATION) else {
        return Finding::not_testable(ID, SENTENCE, "the CPU time of the busiest cell is unknown.");
    };
    // What others do not leave free, the threads cannot have left.
    if let Some(why) = why_disturbed([cell]) {
        return Finding::not_testable(ID, SENTENCE, as_sentence(&why));
    }
    let busy = iops.value * cost.value / 1e9;
    let of_workers = cell.value(&IO_WORKER_CPU_SHARE).unwrap_or_default();
    let of_a_job = busy * (1.0 - of_workers) / f64::from(cell.jobs());
    let others = others_share(cell).unwrap_or_default();
    let Machine { cpus, cpu_quota, .. } = machine;
    // More jobs than CPUs have no CPU each. What others use, they take of all CPUs and not of a quota.
    let of_all = cpus.map(|cpus| ("share of all CPUs that were busy", busy / cpus + others));
    let of_quota = cpu_quota.map(|quota| ("share of the CPU quota that was used", busy / quota));
    let shares = of_all.into_iter().chain(of_quota);
    const OF_A_JOB: &str = "CPUs busy per job";
    let (what, busy) = shares.fold((OF_A_JOB, of_a_job), |most, one| match one.1 > most.1 {
        true => one,
        false => most,
    });
    let (and, quota) = match cpu_quota {
        Some(_) => (
            ",",
            format!(", and {CPU_BOUND} of the CPU time that control groups allow"),
        ),
        None => (" and", String::new()),
    };
    let tested = format!(
        "CPU time per operation × IOPS in {}, below {CPU_BOUND} CPUs per job{and} {CPU_BOUND} of all CPUs together with what others used{quota}. \
         Only the CPU is tested: a limit between it and the device, such as a cgroup's io.max or a cloud volume's quota, looks like the device.",
        cell.words()
    );
    let busy_number = Number::derived(what, busy, Unit::Ratio, cost.n.min(iops.n));
    let mut limits = [cpus, cpu_quota].into_iter().flatten();
    // Of a limit on all jobs together, more of them get no more.
    let has_room = what == OF_A_JOB && !limits.any(|cpus| f64::from(cell.jobs()) >= cpus);
    let remedy = if has_room {
        "more jobs may give more IOPS, and "
    } else {
        ""
    };
    Finding::tested(ID, SENTENCE, busy < CPU_BOUND, tested)
        .otherwise(
            format!("The submitting threads had no time left: {remedy}the highest IOPS of this report is a lower bound for the device."),
        )
        .numbers([cost.clone(), iops.clone(), busy_number])
}

/// Repetitions agree.
pub(super) fn repeatability(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "repetitions-agree";
    const SENTENCE: &str = "Repetitions of a cell agree.";
    let iops = || cells.iter().filter_map(|cell| cell.number(&IOPS.both));
    let widths: Vec<f64> = iops()
        .filter_map(|iops| Some(iops.interval?.relative_reach()))
        .filter(|width| width.is_finite())
        .collect();
    let Some(middle) = median(&widths) else {
        return Finding::not_testable(ID, SENTENCE, "no cell has more than one completed trial.");
    };
    let wide = iops().filter(|iops| iops.is_wide()).count();
    let tested = format!(
        "interval of the median IOPS, in {}: at most {:.0} % of the intervals may be wider than ± {} %; too wide: {wide}.",
        counted(widths.len(), "cell"),
        WIDE_CELLS * 100.0,
        Number::WIDE_PERCENT
    );
    let holds = wide as f64 <= WIDE_CELLS * widths.len() as f64;
    let middle = Number::derived(
        "median reach of an interval to one side",
        middle,
        Unit::Ratio,
        widths.len(),
    );
    Finding::tested(ID, SENTENCE, holds, tested).numbers([middle])
}

/// Every percentile that is printed has the samples to stand on.
pub(super) fn percentiles(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "percentiles-are-supported";
    const SENTENCE: &str = "Every cell has enough samples for its p99.9, for reads and for writes.";
    let p99_9 = [None, Some(Direction::Read), Some(Direction::Write)].map(|way| LATENCY.of(way).p99_9);
    let has = |cell: &Cell<'_>| cell.first_number(&p99_9).is_some();
    let reasons = |cell: &Cell<'_>| -> Vec<String> {
        let reasons = p99_9.iter().filter_map(|metric| cell.unavailable(metric));
        reasons.map(str::to_owned).collect()
    };
    // What fio did not report is no question of samples.
    let is_of_samples = |reason: &String| !is_of_fio(reason);
    let withheld = cells
        .iter()
        .filter(|cell| reasons(cell).iter().any(is_of_samples))
        .count();
    let supported = cells
        .iter()
        .filter(|cell| has(cell) && reasons(cell).is_empty())
        .count();
    let total = supported + withheld;
    if total == 0 {
        let imported = cells.iter().find_map(|cell| reasons(cell).into_iter().next());
        let reason = imported.unwrap_or_else(|| "no cell kept latency percentiles".to_owned());
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let tested = "a percentile q of n operations is printed only if n(1 − q) ≥ 10 in each trial; in a mix, for reads and for writes.";
    let count = |name: &str, count: usize| Number::derived(name, count as f64, Unit::Count, total);
    Finding::tested(ID, SENTENCE, withheld == 0, tested)
        .otherwise("Longer trials would support them. Missing percentiles are left out, not estimated.")
        .numbers([
            count("cells with a p99.9", supported),
            count("cells without", withheld),
        ])
}
