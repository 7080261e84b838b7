//! Puts the records of all jobs together into one report.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::units::TimeSpan;
use outcrop_probe::clock::Clock;
use outcrop_probe::reading::Reading;

use crate::job::recorder::{IntervalTally, Record, Tally};
use crate::job::timeline::{Timeline, interval_of};
use crate::job::{JobRecord, Observed};
use crate::report::{
    ArrivalReport, DrainReport, Ended, ErrorReport, Feature, FeatureState, IntervalReport, JobReport,
    OperationReport, PartsReport, Traffic,
};
use crate::spec::JobSpec;
use crate::target::Target;
use outcrop_workload::filesystem::FileAccess;
use outcrop_workload::{Durability, EngineKind, LatencyParts, Submission};

pub(super) fn report(
    target: &Target,
    spec: &JobSpec,
    clock: &Clock,
    jobs: Vec<JobRecord>,
    observed: Observed,
) -> JobReport {
    let duration_ns = jobs
        .iter()
        .map(|job| measured_ns(&job.record.timeline, clock))
        .max()
        .unwrap_or(0);
    let mut report = JobReport {
        ended: jobs
            .iter()
            .map(|job| job.ended)
            .max_by_key(severity)
            .unwrap_or(Ended::Completed),
        duration_ns,
        intervals: intervals(spec, clock, &jobs, duration_ns),
        cpu: observed.cpu,
        traffic: traffic(spec, &jobs),
        issued: jobs.iter().map(|job| issued(&job.record)).collect(),
        device_counters: observed.counters,
        counted_device: observed.counted_device,
        disk_below: observed.disk_below,
        page_cache: observed.page_cache,
        achieved_queue_depth: achieved_queue_depth(clock, &jobs, duration_ns),
        engine_features: Vec::new(),
        warnings: Vec::new(),
        arrival: None,
        lateness: spec.arrival.is_open_loop().then(LatencyHistogram::new),
        errors: ErrorReport::default(),
        drained: DrainReport::default(),
    };
    report.arrival = arrival(spec, &jobs, &report);
    for job in jobs {
        if let Some(lateness) = &mut report.lateness {
            lateness.merge(&job.record.lateness);
        }
        report.errors.reads += job.record.errors.reads;
        report.errors.writes += job.record.errors.writes;
        if report.errors.first.is_none() {
            report.errors.first = job.record.errors.first;
            report.errors.first_errno = job.record.errors.first_errno;
        }
        report.drained.operations += job.record.drained.operations;
        report.drained.slowest_ns = report.drained.slowest_ns.max(job.record.drained.slowest_ns);
        merge_features(&mut report.engine_features, job.features);
    }
    report.warnings = warnings(target, spec, &report);
    report
}

/// Everything that was taken from a job's sequence: nothing is in flight any more.
const fn issued(record: &Record) -> u64 {
    record.traffic.reads + record.traffic.writes + record.errors.reads + record.errors.writes
}

pub(super) const fn severity(ended: &Ended) -> u8 {
    match ended {
        Ended::Completed => 0,
        Ended::WriteLimit => 1,
        Ended::Interrupted => 2,
        Ended::Failed => 3,
    }
}

fn measured_ns(timeline: &Timeline, clock: &Clock) -> u64 {
    clock.nanos(timeline.measure_to.saturating_sub(timeline.measure_from))
}

fn intervals(spec: &JobSpec, clock: &Clock, jobs: &[JobRecord], duration_ns: u64) -> Vec<IntervalReport> {
    let count = jobs
        .iter()
        .map(|job| job.record.intervals.len())
        .max()
        .unwrap_or(0);
    let Some(first) = jobs.first() else {
        return Vec::new();
    };
    let length_ns = clock.nanos(first.record.timeline.interval_ticks);
    (0..count)
        .map(|index| {
            let start_ns = length_ns * index as u64;
            let is_last = index + 1 == count;
            let rest_ns = duration_ns.saturating_sub(start_ns);
            let mut interval = IntervalReport {
                start_ns,
                duration_ns: if is_last { rest_ns } else { length_ns },
                reads: empty(spec),
                writes: OperationReport {
                    transfer: matches!(spec.sync, Durability::After { .. }).then(LatencyHistogram::new),
                    ..empty(spec)
                },
                syncs: None,
            };
            for tally in jobs.iter().filter_map(|job| job.record.intervals.get(index)) {
                let IntervalTally { reads, writes, syncs } = tally;
                add(&mut interval.reads, reads, spec.io_block_size_bytes);
                add(&mut interval.writes, writes, spec.io_block_size_bytes);
                if let Some(syncs) = syncs {
                    interval
                        .syncs
                        .get_or_insert_with(LatencyHistogram::new)
                        .merge(syncs);
                }
            }
            interval
        })
        .collect()
}

fn empty(spec: &JobSpec) -> OperationReport {
    OperationReport {
        service: spec.arrival.is_open_loop().then(LatencyHistogram::new),
        parts: (spec.latency_parts == LatencyParts::Apart).then(PartsReport::default),
        ..OperationReport::default()
    }
}

fn add(report: &mut OperationReport, tally: &Tally, block_size_bytes: u64) {
    let operations = tally.latency.count() - tally.unfinished;
    report.operations += operations;
    report.bytes += operations * block_size_bytes;
    report.latency.merge(&tally.latency);
    if let (Some(service), Some(theirs)) = (&mut report.service, &tally.service) {
        service.merge(theirs);
    }
    if let (Some(parts), Some(theirs)) = (&mut report.parts, &tally.parts) {
        parts.merge(theirs);
    }
    if let (Some(transfer), Some(theirs)) = (&mut report.transfer, &tally.transfer) {
        transfer.merge(theirs);
    }
}

fn traffic(spec: &JobSpec, jobs: &[JobRecord]) -> Traffic {
    let mut total = Traffic::default();
    for job in jobs {
        total.reads += job.record.traffic.reads;
        total.writes += job.record.traffic.writes;
        total.elapsed_ns = total.elapsed_ns.max(job.record.traffic.elapsed_ns);
    }
    total.read_bytes = total.reads * spec.io_block_size_bytes;
    total.written_bytes = total.writes * spec.io_block_size_bytes;
    total
}

fn achieved_queue_depth(clock: &Clock, jobs: &[JobRecord], duration_ns: u64) -> f64 {
    if duration_ns == 0 {
        return 0.0;
    }
    let ns: f64 = jobs
        .iter()
        .map(|job| clock.nanos(job.record.depth_ticks) as f64)
        .sum();
    ns / duration_ns as f64
}

fn arrival(spec: &JobSpec, jobs: &[JobRecord], report: &JobReport) -> Option<ArrivalReport> {
    let requested_per_second = spec.arrival_per_second()?;
    let completed: u64 = report
        .intervals
        .iter()
        .map(|i| i.reads.operations + i.writes.operations)
        .sum();
    let in_time: u64 = jobs.iter().map(|job| job.record.completed_in_time).sum();
    let unfinished = jobs
        .iter()
        .flat_map(|job| &job.record.intervals)
        .map(|tally| tally.reads.unfinished + tally.writes.unfinished)
        .sum();
    let seconds = report.duration_ns as f64 / 1e9;
    Some(ArrivalReport {
        requested_per_second,
        due: jobs.iter().map(|job| job.record.due).sum(),
        completed,
        unfinished,
        achieved_per_second: if seconds > 0.0 {
            in_time as f64 / seconds
        } else {
            0.0
        },
    })
}

/// A feature counts as on when every job has it; else the reason of the first that has not.
pub(super) fn merge_features(merged: &mut Vec<Feature>, of_job: Vec<Feature>) {
    for feature in of_job {
        match merged.iter_mut().find(|known| known.name == feature.name) {
            None => merged.push(feature),
            Some(known) if known.state == FeatureState::On => known.state = feature.state,
            Some(_) => {}
        }
    }
}

fn warnings(target: &Target, spec: &JobSpec, report: &JobReport) -> Vec<String> {
    let mut warnings = target.warnings();
    let interval = interval_of(spec);
    if interval > spec.interval {
        warnings.push(format!(
            "intervals are {} instead of {} long, to keep the report small",
            TimeSpan(interval),
            TimeSpan(spec.interval)
        ));
    }
    if let Reading::Known(workers_ns) = report.cpu.io_workers_ns
        && workers_ns > 0
    {
        let why = match spec.sync {
            Durability::None => "the target blocks on submission",
            _ => "syncs always go there, and other requests where the target blocks on submission",
        };
        let percent = 100.0 * workers_ns as f64 / report.cpu.total_ns().max(1) as f64;
        warnings.push(format!(
            "the kernel handed requests to io_uring worker threads, which used {percent:.0} % of the CPU time: {why}, and latencies include the handover to another thread"
        ));
    }
    if spec.engine == EngineKind::Libaio && spec.access == FileAccess::Buffered {
        warnings.push(
            "libaio is asynchronous with direct I/O only: each buffered request completes before the next is submitted, whatever the queue depth"
                .to_owned(),
        );
    }
    if spec.submission == Submission::Batch && !spec.arrival.is_open_loop() {
        warnings.push(
            "batched submission: the depth drops between batches, and latencies and the achieved depth are upper bounds"
                .to_owned(),
        );
    }
    let slowest_ns = report
        .intervals
        .iter()
        .flat_map(|interval| [interval.reads.latency.max(), interval.writes.latency.max()])
        .flatten()
        .max()
        .unwrap_or(0);
    if report.drained.slowest_ns > slowest_ns {
        warnings.push(format!(
            "a request still in flight at the end took {}, longer than any in the measured time",
            TimeSpan(std::time::Duration::from_nanos(report.drained.slowest_ns))
        ));
    }
    if let Some(arrival) = report.arrival.filter(|arrival| arrival.unfinished > 0) {
        warnings.push(format!(
            "{} of {} due requests never completed; latencies include their ages and are lower bounds: the target sustains about {:.0} requests per second, not {}",
            arrival.unfinished, arrival.due, arrival.achieved_per_second, arrival.requested_per_second
        ));
    }
    warnings.extend(report.failure());
    warnings
}
