//! From a job's report to the values of a record.

use outcrop_device::{IntervalReport, JobReport, OperationReport};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::{Metric, Unavailable};
use outcrop_measure::steady_state::{self, WINDOW_ROUNDS};
use outcrop_probe::Reading;
use outcrop_results::{NONE_COMPLETED, Value};
use outcrop_schema::Latencies;
use outcrop_schema::device::{self, Direction};
use outcrop_workload::ReadWriteMix;

use super::share;

/// What ran before the measurement of a trial.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// The writes that it reads back.
    pub(super) replayed: Option<JobReport>,
    /// The closed loop of whose rate its own is a share.
    pub(super) closed: Option<JobReport>,
}

impl Before {
    pub(super) fn jobs(&self) -> impl Iterator<Item = &JobReport> {
        self.replayed.iter().chain(&self.closed)
    }
}

/// All values of a completed job, and of what ran before it.
pub(super) fn values(
    report: &JobReport,
    before: &Before,
    mix: ReadWriteMix,
    energy_j: Result<f64, Unavailable>,
) -> Vec<Value> {
    let total = report.total();
    let mut values = Vec::new();
    let without = without_figures(report);
    let latencies = |metrics: &Latencies, histogram: &LatencyHistogram, if_empty: &str| match &without {
        Some(reason) => withheld(metrics.all(), reason),
        None => Value::latencies(metrics, histogram, if_empty),
    };
    for (direction, operations) in directions(&total, mix) {
        let if_empty = if_empty(direction);
        values.extend(throughput(report, direction, &operations));
        values.extend(latencies(
            &device::LATENCY.of(direction),
            &operations.latency,
            &if_empty,
        ));
        if let Some(service) = &operations.service {
            values.extend(latencies(
                &device::SERVICE_LATENCY.of(direction),
                service,
                &if_empty,
            ));
        }
        if let Some(parts) = &operations.parts {
            let (submission, completion) = (
                device::SUBMISSION_LATENCY.of(direction),
                device::COMPLETION_LATENCY.of(direction),
            );
            values.extend(latencies(&submission, &parts.submission, &if_empty));
            values.extend(latencies(&completion, &parts.completion, &if_empty));
        }
    }
    if let Some(syncs) = &total.syncs {
        values.extend(latencies(&device::SYNC_LATENCY, syncs, "no sync completed"));
    }
    values.extend(before.replayed.iter().flat_map(writing));
    let written_bytes = |report: &JobReport| report.traffic.written_bytes as f64;
    let written_before: f64 = before.jobs().map(written_bytes).sum();
    let operations = total.reads.operations + total.writes.operations;
    values.extend([
        cpu_per_operation(report, operations),
        io_worker_cpu_share(report),
        Value::measured(device::ACHIEVED_QUEUE_DEPTH, report.achieved_queue_depth),
        device_bytes_ratio(report),
        stray_bytes(report, device::FOREIGN_BYTES_RATIO, |stray| stray.foreign.clone()),
        stray_bytes(report, device::MISSING_BYTES_RATIO, |stray| Ok(stray.missing)),
        Value::measured(device::BYTES_WRITTEN, written_bytes(report) + written_before),
        energy_per_operation(report, energy_j),
    ]);
    match &without {
        Some(reason) => values.extend(withheld([device::STEADY_STATE, device::IOPS_AT_END], reason)),
        None => values.extend(steady_state(report)),
    }
    values.extend([Value::measured(
        device::ERRORS,
        (report.errors.reads + report.errors.writes) as f64,
    )]);
    if let Some(arrival) = &report.arrival {
        values.extend([
            Value::measured(device::ARRIVAL_REQUESTED, arrival.requested_per_second),
            Value::measured(device::ARRIVAL_UNFINISHED, arrival.unfinished as f64),
        ]);
    }
    let closed = before.closed.iter().map(share::per_second);
    values.extend(closed.map(|rate| Value::measured(device::CLOSED_LOOP_IOPS, rate)));
    values.extend(report.lateness.iter().flat_map(Value::lateness));
    values
}

/// The writes before the reads of a replay: all other values of the trial are those of its reads.
fn writing(written: &JobReport) -> Vec<Value> {
    let writes = written.total().writes;
    let direction = Some(Direction::Write);
    let mut values = throughput(written, direction, &writes).to_vec();
    let metrics = device::LATENCY.of(direction);
    values.extend(match without_figures(written) {
        Some(reason) => withheld(metrics.all(), &reason),
        None => Value::latencies(&metrics, &writes.latency, &if_empty(direction)),
    });
    values
}

/// Why a job has no rates and no latencies: see [`too_short`]; or nothing completed.
pub(super) fn without_figures(report: &JobReport) -> Option<String> {
    let is_empty = report.arrival.is_none() && completed(report) == 0;
    too_short(report).or_else(|| is_empty.then(|| NONE_COMPLETED.to_owned()))
}

/// Why a job is too short: some of its requests completed in the measured time, but fewer than were in flight at its end. Such a count depends
/// on where the time began and ended, and the latencies are those of the first requests. Only of a closed loop: an open one has no more in
/// flight than its schedule puts there. Where nothing completed, the device may have stalled as well.
pub(super) fn too_short(report: &JobReport) -> Option<String> {
    let (completed, in_flight) = (completed(report), report.drained.operations);
    let is_short = report.arrival.is_none() && completed > 0 && completed < in_flight;
    is_short.then(|| outcrop_results::too_short(completed, in_flight))
}

fn completed(report: &JobReport) -> u64 {
    let total = report.total();
    total.reads.operations + total.writes.operations
}

fn withheld(metrics: impl IntoIterator<Item = Metric>, reason: &str) -> Vec<Value> {
    let metrics = metrics.into_iter();
    metrics.map(|metric| Value::unavailable(metric, reason)).collect()
}

/// What an empty histogram says, and why there is no rate.
fn if_empty(direction: Option<Direction>) -> String {
    format!("no {} completed", direction.map_or("operation", Direction::name))
}

/// Reads and writes together, and each of them that the mix has.
fn directions(total: &IntervalReport, mix: ReadWriteMix) -> Vec<(Option<Direction>, OperationReport)> {
    let mut both = total.reads.clone();
    both.merge(&total.writes);
    let mut directions = vec![(None, both)];
    if mix.has_reads() {
        directions.push((Some(Direction::Read), total.reads.clone()));
    }
    if mix.has_writes() {
        directions.push((Some(Direction::Write), total.writes.clone()));
    }
    directions
}

/// Operations and bytes per second of measured time; none where nothing completed, which is no rate of a device, or too little.
///
/// Under open-loop load operations are counted by when they were due, some completing only in the drain; there the
/// rate is what was seen to complete in the measured time, in each direction's share.
pub(super) fn throughput(
    report: &JobReport,
    direction: Option<Direction>,
    operations: &OperationReport,
) -> [Value; 2] {
    let seconds = report.duration_ns as f64 / 1e9;
    let sustained = match &report.arrival {
        Some(arrival) if arrival.completed > 0 => {
            arrival.achieved_per_second * seconds / arrival.completed as f64
        }
        _ => 1.0,
    };
    let is_empty = operations.operations == 0 || sustained <= 0.0;
    let reason = without_figures(report).or_else(|| is_empty.then(|| if_empty(direction)));
    let value = |metric: Metric, count: u64| match &reason {
        Some(reason) => Value::unavailable(metric, reason),
        None => Value::measured(metric, count as f64 * sustained / seconds),
    };
    [
        value(device::IOPS.of(direction), operations.operations),
        value(device::BANDWIDTH.of(direction), operations.bytes),
    ]
}

fn cpu_per_operation(report: &JobReport, operations: u64) -> Value {
    let metric = device::CPU_PER_OPERATION;
    match without_figures(report) {
        Some(reason) => Value::unavailable(metric, reason),
        None if operations == 0 => Value::unavailable(metric, NONE_COMPLETED),
        None => Value::measured(metric, report.cpu.total_ns() as f64 / operations as f64),
    }
}

fn io_worker_cpu_share(report: &JobReport) -> Value {
    let metric = device::IO_WORKER_CPU_SHARE;
    match (&report.cpu.io_workers_ns, report.cpu.total_ns()) {
        (Reading::Unavailable(why), _) => Value::known(metric, Err(why.clone())),
        (Reading::Known(_), 0) => Value::unavailable(metric, "no CPU time was counted"),
        (Reading::Known(workers_ns), total_ns) => {
            Value::measured(metric, *workers_ns as f64 / total_ns as f64)
        }
    }
}

fn device_bytes_ratio(report: &JobReport) -> Value {
    let ours = report.traffic.read_bytes + report.traffic.written_bytes;
    let metric = device::DEVICE_BYTES_RATIO;
    match &report.device_counters {
        Err(why) => Value::known(metric, Err(why.clone())),
        Ok(_) if ours == 0 => Value::unavailable(metric, NONE_COMPLETED),
        Ok(kernel) => Value::measured(
            metric,
            (kernel.read_bytes + kernel.written_bytes) as f64 / ours as f64,
        ),
    }
}

/// What differs between the kernel's counters and ours, in bytes: reads and writes are compared apart, since writes of others
/// must not make up for reads of ours that something answered above the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stray {
    /// Moved by the device, or by the disk below it, beyond ours.
    pub(super) foreign: Result<u64, Unavailable>,
    /// How many of them the device counted, and how many the disk below it: of reads and of writes, the one that counted more.
    pub(super) by_device: u64,
    pub(super) by_disk_below: u64,
    /// Ours, and not moved by the device, or by the disk below it: of the two, the one that moved less.
    pub(super) missing: u64,
    /// The disk below, where most of them reached the device.
    pub(super) missing_at: Option<String>,
    /// All of ours.
    pub(super) ours: u64,
}

impl Stray {
    /// `None` without counters.
    pub(super) fn of(report: &JobReport) -> Result<Self, Unavailable> {
        let device = report.device_counters.as_ref().map_err(Clone::clone)?;
        let ours = [report.traffic.read_bytes, report.traffic.written_bytes];
        let beyond = |moved: [u64; 2]| [moved[0].saturating_sub(ours[0]), moved[1].saturating_sub(ours[1])];
        let moved = [device.read_bytes, device.written_bytes];
        let of_device = beyond(moved);
        // What others ask of a loop device or of a partition is in its own counters too, what they ask of the disk is not.
        let of_disk = match &report.disk_below {
            None => Ok(of_device),
            Some(Err(why)) => Err(why.clone()),
            Some(Ok(disk)) => {
                let of_others = disk.counters.written_bytes.saturating_sub(disk.journal_bytes);
                Ok(beyond([disk.counters.read_bytes, of_others]))
            }
        };
        let known = of_disk.as_ref().copied().unwrap_or(of_device);
        let is_below = |way: &usize| known[*way] > of_device[*way];
        let by_disk_below = (0..2).filter(is_below).map(|way| known[way]).sum();
        let by_device = (0..2)
            .filter(|way| !is_below(way))
            .map(|way| of_device[way])
            .sum();
        let missing_of =
            |moved: [u64; 2]| -> u64 { (0..2).map(|way| ours[way].saturating_sub(moved[way])).sum() };
        let of_device_missing = missing_of(moved);
        // A loop device counts what it was asked for, and asks its disk for nothing where its file has a hole.
        let disk = report.disk_below.as_ref().and_then(|disk| disk.as_ref().ok());
        let below = disk.map(|disk| {
            let moved = [disk.counters.read_bytes, disk.counters.written_bytes];
            (missing_of(moved), disk.name.clone())
        });
        let below = below.filter(|(missing, _)| *missing > of_device_missing);
        let is_mostly_below = |(missing, _): &(u64, String)| *missing > 2 * of_device_missing;
        Ok(Self {
            foreign: of_disk.map(|_| by_device + by_disk_below),
            by_device,
            by_disk_below,
            missing: below.as_ref().map_or(of_device_missing, |(missing, _)| *missing),
            missing_at: below.filter(is_mostly_below).map(|(_, disk)| disk),
            ours: ours[0] + ours[1],
        })
    }
}

fn stray_bytes(report: &JobReport, metric: Metric, part: fn(&Stray) -> Result<u64, Unavailable>) -> Value {
    let share = Stray::of(report).and_then(|stray| match stray.ours {
        0 => Err(Unavailable::because(NONE_COMPLETED)),
        ours => Ok(part(&stray)? as f64 / ours as f64),
    });
    Value::known(metric, share)
}

/// The meter runs from before the warm-up until after the drain, so all of the job's operations share its energy.
fn energy_per_operation(report: &JobReport, energy_j: Result<f64, Unavailable>) -> Value {
    let operations = report.traffic.reads + report.traffic.writes;
    match energy_j {
        Ok(_) if operations == 0 => Value::unavailable(device::ENERGY_PER_OPERATION, NONE_COMPLETED),
        energy_j => Value::known(
            device::ENERGY_PER_OPERATION,
            energy_j.map(|joules| joules / operations as f64),
        ),
    }
}

/// The rule of the SNIA PTS over the trial's intervals, each taken as a round, and the mean of the rounds that it judges. The
/// last interval is the rest of the trial, and counts only if it is nearly a whole one.
fn steady_state(report: &JobReport) -> [Value; 2] {
    let whole_ns = report
        .intervals
        .first()
        .map_or(0, |interval| interval.duration_ns);
    let rounds: Vec<f64> = report
        .intervals
        .iter()
        .filter(|interval| interval.duration_ns > whole_ns / 10 * 9)
        .map(|interval| {
            let operations = interval.reads.operations + interval.writes.operations;
            operations as f64 * 1e9 / interval.duration_ns as f64
        })
        .collect();
    let state = steady_state::steady_state(&rounds);
    match state.last() {
        Some(last) => [
            Value::derived(device::STEADY_STATE, f64::from(u8::from(state.is_steady()))),
            Value::measured(device::IOPS_AT_END, last.mean),
        ],
        None => [device::STEADY_STATE, device::IOPS_AT_END].map(|metric| {
            let reason = format!(
                "{} intervals; the rule needs at least {WINDOW_ROUNDS}",
                rounds.len()
            );
            Value::unavailable(metric, reason)
        }),
    }
}
