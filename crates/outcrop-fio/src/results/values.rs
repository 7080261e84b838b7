//! fio's figures as values of records: each says which key of which file it came from, and what fio did not report is unavailable.

use outcrop_measure::metric::{Metric, Provenance, Unavailable};
use outcrop_measure::percentile;
use outcrop_measure::units::format_nanoseconds;
use outcrop_results::{NONE_COMPLETED, Value};
use outcrop_schema::device::{self, Direction};
use outcrop_schema::{Latencies, Remark};

use super::figures::{Figures, Latency, Operations};
use crate::export::PROGRAM;

/// What decides how figures are named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'c> {
    /// The only direction of a job, where it has one.
    pub(super) only: Option<Direction>,
    /// Writes were followed by fsync or fdatasync, whose time fio keeps apart.
    pub(super) has_syncs: bool,
    /// Requests had a schedule.
    pub(super) is_open_loop: bool,
    /// `fio-3.33, depth8.json`.
    pub(super) source: &'c str,
}

/// Why several jobs have no percentiles together.
const EACH_JOB: &str = "fio reports the percentiles of each job separately; one section with numjobs and group_reporting has those of all";

/// The values of one trial.
pub(super) fn values(figures: &Figures, circumstances: Circumstances<'_>) -> Vec<Value> {
    let mut values = Vec::new();
    for direction in directions(figures, circumstances.only) {
        let operations = figures.of_direction(direction);
        let is_of_both = direction.is_none() && figures.mixed.is_none() && circumstances.only.is_none();
        values.extend(of_operations(
            &operations,
            direction,
            is_of_both,
            figures.entries,
            circumstances,
        ));
    }
    if circumstances.has_syncs {
        values.extend(of_syncs(figures, circumstances.source));
    }
    values.extend(of_all(figures, circumstances.source));
    values
}

/// The time of the syncs that followed writes, where fio reports it.
fn of_syncs(figures: &Figures, source: &str) -> Vec<Value> {
    let Some(syncs) = &figures.syncs else {
        return Vec::new();
    };
    let operations = Operations {
        count: syncs.count,
        total: Some(syncs.clone()),
        ..Operations::default()
    };
    if syncs.max_ns > figures.runtime_s * 1e9 + LONGEST_AFTER_THE_END_NS {
        let longest = format_nanoseconds(syncs.max_ns);
        let why = format!(
            "fio reports a sync of {longest} in a job of {:.1} s, which cannot be: its latencies of syncs are wrong",
            figures.runtime_s
        );
        let metrics = device::SYNC_LATENCY.all();
        return metrics
            .iter()
            .map(|metric| Value::unavailable(*metric, &why))
            .collect();
    }
    let why_no_percentiles = (figures.entries > 1).then_some(EACH_JOB);
    latencies(&device::SYNC_LATENCY, &operations, why_no_percentiles, source)
}

/// fio waits for what is under way when a job ends: a sync may take so long and outlast its job.
const LONGEST_AFTER_THE_END_NS: f64 = 60e9;

/// Both together, and each that there is.
fn directions(figures: &Figures, only: Option<Direction>) -> Vec<Option<Direction>> {
    let mut directions = vec![None];
    if figures.mixed.is_none() {
        let is_there = |direction: &Direction| only.is_none_or(|only| only == *direction);
        directions.extend(Direction::ALL.into_iter().filter(is_there).map(Some));
    }
    directions
}

fn of_operations(
    operations: &Operations,
    direction: Option<Direction>,
    is_of_both: bool,
    entries: usize,
    circumstances: Circumstances<'_>,
) -> Vec<Value> {
    let source = circumstances.source;
    // A device that answered nothing in the time has no rate of 0: how long it takes is not known.
    let rate = |metric: Metric, value: f64, key: &str| match value.abs() > 0.0 {
        true => imported(metric, value, source, key),
        false => Value::unavailable(metric, NONE_COMPLETED),
    };
    let mut values = vec![
        rate(device::IOPS.of(direction), operations.iops, "iops"),
        rate(
            device::BANDWIDTH.of(direction),
            operations.bytes_per_second,
            operations.bandwidth_key,
        ),
    ];
    let why_no_percentiles = match (is_of_both, entries) {
        (_, 2..) => Some(EACH_JOB),
        (true, _) => Some(
            "fio reports the percentiles of reads and writes separately; unified_rw_reporting=1 combines them",
        ),
        _ => None,
    };
    let (schedule, real) = (
        device::LATENCY.of(direction),
        device::SERVICE_LATENCY.of(direction),
    );
    if is_without_syncs(operations, direction, circumstances) {
        // Ours count a sync in the latency of the write that it follows.
        let reason = "fio reports the time of fsync and fdatasync separately from that of the writes";
        let metrics = [schedule.all(), real.all()];
        let count = if circumstances.is_open_loop { 2 } else { 1 };
        let withheld = metrics.into_iter().take(count).flatten();
        values.extend(withheld.map(|metric| Value::unavailable(metric, reason)));
    } else if circumstances.is_open_loop {
        let reason =
            "fio counts from a request's real start, which is its service latency, not from when it was due";
        values.extend(schedule.all().map(|metric| Value::unavailable(metric, reason)));
        values.extend(latencies(&real, operations, why_no_percentiles, source));
    } else {
        values.extend(latencies(&schedule, operations, why_no_percentiles, source));
    }
    values
}

/// Whether latencies are withheld because they lack the syncs that follow writes.
fn is_without_syncs(
    operations: &Operations,
    direction: Option<Direction>,
    circumstances: Circumstances<'_>,
) -> bool {
    let is_synced = circumstances.has_syncs && direction != Some(Direction::Read);
    is_synced && !operations.is_with_syncs
}

/// The latencies of which figures are taken: the whole one where fio reports it, else the part from the submission's end.
struct Reported<'o> {
    /// For mean and maximum.
    whole: Option<&'o Latency>,
    /// For percentiles.
    spread: Option<&'o Latency>,
}

impl<'o> Reported<'o> {
    fn of(operations: &'o Operations) -> Self {
        let is_timed = |latency: &&Latency| latency.count > 0.0;
        let total = operations.total.as_ref().filter(is_timed);
        let completion = operations.completion.as_ref().filter(is_timed);
        let mut both = [total, completion].into_iter().flatten();
        Self {
            whole: total.or(completion),
            spread: both.find(|latency| !latency.percentiles.is_empty()),
        }
    }
}

/// What is to be remarked of figures that begin where the submission ends; none where all begin before it.
pub(super) fn from_submission_end(figures: &Figures, circumstances: Circumstances<'_>) -> Option<Remark> {
    const WHERE: &str = "which begins where the submission ends; Outcrop's latency begins before it";
    let directions = directions(figures, circumstances.only).into_iter();
    let given: Vec<Operations> = directions
        .map(|direction| (direction, figures.of_direction(direction)))
        .filter(|(direction, operations)| !is_without_syncs(operations, *direction, circumstances))
        .map(|(_, operations)| operations)
        .collect();
    let is_completion = |latency: Option<&Latency>| latency.is_some_and(Latency::is_completion);
    let mut reported = given.iter().map(Reported::of);
    if reported.clone().any(|reported| is_completion(reported.whole)) {
        let text = format!("the latency is fio's completion latency (clat), {WHERE}");
        return Some(device::FROM_SUBMISSION_END.remark(text));
    }
    let is_spread = reported.any(|reported| is_completion(reported.spread));
    is_spread.then(|| {
        let text = format!(
            "the percentiles are of fio's completion latency (clat), {WHERE}, as do the mean and the maximum here"
        );
        device::PERCENTILES_FROM_SUBMISSION_END.remark(text)
    })
}

/// Mean, percentiles and maximum; of the whole latency where fio reports it, else of the part from the submission's end.
fn latencies(
    metrics: &Latencies,
    operations: &Operations,
    why_no_percentiles: Option<&str>,
    source: &str,
) -> Vec<Value> {
    let Reported { whole, spread } = Reported::of(operations);
    let Some(whole) = whole else {
        let reason = match operations.count > 0.0 {
            true => "fio did not time requests (gtod_reduce, disable_lat and disable_clat switch that off)",
            false => NONE_COMPLETED,
        };
        let is_nothing = operations.count <= 0.0;
        // Other trials of the cell may have completed some: it lacks a percentile as one with a few operations does.
        let lacking = |metric: Metric| {
            let mut percentiles = metrics.percentiles().filter(|_| is_nothing);
            let percentile = percentiles.find(|(_, other)| other.name == metric.name);
            percentile.map(|(wanted, _)| percentile::too_few(0, wanted))
        };
        return metrics
            .all()
            .map(|metric| Value::unavailable(metric, lacking(metric).unwrap_or_else(|| reason.to_owned())))
            .into();
    };
    let mut values = vec![imported(
        metrics.mean,
        whole.mean_ns,
        source,
        &format!("{}.mean", whole.key),
    )];
    for (wanted, metric) in metrics.percentiles() {
        let reported = spread.and_then(|latency| Some((latency, latency.percentile(wanted.quantile)?)));
        values.push(match reported {
            Some((latency, value_ns)) if percentile::is_supported(latency.count as u64, wanted.quantile) => {
                imported(metric, value_ns, source, &format!("{}.percentile", latency.key))
            }
            Some((latency, _)) => {
                Value::unavailable(metric, percentile::too_few(latency.count as u64, wanted))
            }
            None => {
                let count = spread.unwrap_or(whole).count as u64;
                let name = wanted.name;
                let reason = || match percentile::is_supported(count, wanted.quantile) {
                    // A list with it would not have helped.
                    false => percentile::too_few(count, wanted),
                    true if source.starts_with(PROGRAM) => {
                        format!("the trial of Outcrop that was exported has no {name}")
                    }
                    true => format!("fio reports no {name} here; percentile_list asks for it"),
                };
                Value::unavailable(metric, why_no_percentiles.map_or_else(reason, str::to_owned))
            }
        });
    }
    values.push(imported(
        metrics.max,
        whole.max_ns,
        source,
        &format!("{}.max", whole.key),
    ));
    values
}

/// What is of a job as a whole.
fn of_all(figures: &Figures, source: &str) -> Vec<Value> {
    let operations = figures.of_direction(None).count;
    let cpu = match figures.cpu_ns {
        Some(cpu_ns) if operations > 0.0 => imported(
            device::CPU_PER_OPERATION,
            cpu_ns / operations,
            source,
            "usr_cpu and sys_cpu, of fio's threads without the kernel's workers",
        ),
        Some(_) => Value::unavailable(device::CPU_PER_OPERATION, NONE_COMPLETED),
        None => Value::unavailable(
            device::CPU_PER_OPERATION,
            "this version of fio does not say how long its threads ran",
        ),
    };
    let depth = Value::unavailable(
        device::ACHIEVED_QUEUE_DEPTH,
        "fio reports how often its depth was in ranges between powers of two, not its mean",
    );
    let errors = figures
        .errors
        .map(|errors| imported(device::ERRORS, errors, source, "total_err"));
    [cpu, depth].into_iter().chain(errors).collect()
}

/// A figure that fio reported.
fn imported(metric: Metric, value: f64, source: &str, key: &str) -> Value {
    let value = if value.is_finite() {
        Ok(value)
    } else {
        Err(Unavailable::because(format!("fio reports {value}")))
    };
    let is_known = value.is_ok();
    let mut value = Value::of(metric, value, Provenance::Imported);
    if is_known {
        value.source = Some(format!("imported from {source}: {key}"));
    }
    value
}
