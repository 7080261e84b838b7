//! Several targets at the same time: the report of each, and their sum.

use outcrop_measure::metric::Unavailable;
use outcrop_probe::block_counters::Counters;

use crate::job::assemble::{merge_features, severity};
use crate::report::{ArrivalReport, DiskBelow, IntervalReport, JobReport};

/// What jobs on several targets measured.
#[derive(Clone, Debug)]
pub struct TogetherReport {
    /// All of them: rates, depths, bytes and counts are sums, latencies are those of all requests.
    pub total: JobReport,
    /// Each target's own, in the order of the targets; their CPU time is that of all.
    pub each: Vec<JobReport>,
}

impl TogetherReport {
    /// Of at least one target's report.
    pub(super) fn of(each: Vec<JobReport>) -> Option<Self> {
        let (first, others) = each.split_first()?;
        let mut total = first.clone();
        for other in others {
            add(&mut total, other);
        }
        total.device_counters = counters(&each);
        total.disk_below = disk_below(&each);
        let mut names: Vec<&str> = each
            .iter()
            .filter_map(|report| report.counted_device.as_deref())
            .collect();
        names.dedup();
        total.counted_device = (!names.is_empty()).then(|| names.join(", "));
        Some(Self { total, each })
    }
}

fn add(total: &mut JobReport, other: &JobReport) {
    if severity(&other.ended) > severity(&total.ended) {
        total.ended = other.ended;
    }
    total.duration_ns = total.duration_ns.max(other.duration_ns);
    let most = total.intervals.len().max(other.intervals.len());
    total.intervals.resize_with(most, IntervalReport::default);
    for (sum, interval) in total.intervals.iter_mut().zip(&other.intervals) {
        sum.start_ns = sum.start_ns.max(interval.start_ns);
        sum.duration_ns = sum.duration_ns.max(interval.duration_ns);
        sum.merge(interval);
    }
    total.traffic.reads += other.traffic.reads;
    total.traffic.writes += other.traffic.writes;
    total.traffic.read_bytes += other.traffic.read_bytes;
    total.traffic.written_bytes += other.traffic.written_bytes;
    total.traffic.elapsed_ns = total.traffic.elapsed_ns.max(other.traffic.elapsed_ns);
    total.issued.extend(&other.issued);
    total.page_cache = total.page_cache.take().or_else(|| other.page_cache.clone());
    total.achieved_queue_depth += other.achieved_queue_depth;
    merge_features(&mut total.engine_features, other.engine_features.clone());
    for warning in &other.warnings {
        if !total.warnings.contains(warning) {
            total.warnings.push(warning.clone());
        }
    }
    if let (Some(sum), Some(arrival)) = (&mut total.arrival, &other.arrival) {
        *sum = ArrivalReport {
            requested_per_second: sum.requested_per_second + arrival.requested_per_second,
            due: sum.due + arrival.due,
            completed: sum.completed + arrival.completed,
            unfinished: sum.unfinished + arrival.unfinished,
            achieved_per_second: sum.achieved_per_second + arrival.achieved_per_second,
        };
    }
    if let (Some(sum), Some(lateness)) = (&mut total.lateness, &other.lateness) {
        sum.merge(lateness);
    }
    total.errors.reads += other.errors.reads;
    total.errors.writes += other.errors.writes;
    if total.errors.first.is_none() {
        total.errors.first.clone_from(&other.errors.first);
        total.errors.first_errno = other.errors.first_errno;
    }
    total.drained.operations += other.drained.operations;
    total.drained.slowest_ns = total.drained.slowest_ns.max(other.drained.slowest_ns);
}

/// The sum over devices, each counted once: two files may lie on one.
fn counters(each: &[JobReport]) -> Result<Counters, Unavailable> {
    let mut sum = Counters::default();
    let mut counted: Vec<Option<&str>> = Vec::new();
    for report in each {
        let counters = report.device_counters.clone()?;
        let name = report.counted_device.as_deref();
        if !counted.contains(&name) {
            counted.push(name);
            add_counters(&mut sum, &counters);
        }
    }
    Ok(sum)
}

/// The sum over the disks at the bottom, each counted once; `None` where each target's own device is one.
fn disk_below(each: &[JobReport]) -> Option<Result<DiskBelow, Unavailable>> {
    let is_below = |report: &JobReport| report.disk_below.is_some();
    each.iter().any(is_below).then(|| {
        let mut sum = Counters::default();
        let (mut names, mut devices): (Vec<String>, Vec<Option<&str>>) = (Vec::new(), Vec::new());
        let mut journal_bytes = 0;
        for report in each {
            let lowest = match &report.disk_below {
                Some(below) => below.clone()?,
                None => DiskBelow {
                    name: report.counted_device.clone().unwrap_or_default(),
                    counters: report.device_counters.clone()?,
                    journal_bytes: 0,
                },
            };
            let device = report.counted_device.as_deref();
            if !devices.contains(&device) {
                devices.push(device);
                journal_bytes += lowest.journal_bytes;
            }
            if !names.contains(&lowest.name) {
                names.push(lowest.name);
                add_counters(&mut sum, &lowest.counters);
            }
        }
        Ok(DiskBelow {
            name: names.join(", "),
            counters: sum,
            journal_bytes,
        })
    })
}

fn add_counters(sum: &mut Counters, counters: &Counters) {
    sum.reads += counters.reads;
    sum.read_bytes += counters.read_bytes;
    sum.writes += counters.writes;
    sum.written_bytes += counters.written_bytes;
    sum.discards += counters.discards;
    sum.discarded_bytes += counters.discarded_bytes;
    sum.flushes += counters.flushes;
    sum.in_flight += counters.in_flight;
    sum.busy_ms = sum.busy_ms.max(counters.busy_ms);
    sum.weighted_ms += counters.weighted_ms;
}
