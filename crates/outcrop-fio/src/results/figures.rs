//! What one job did, whichever version of fio reported it, and what several jobs did together.

use outcrop_schema::device::Direction;

use super::document::{self, Job};
use super::possible::impossible;

/// What a job or a group of jobs did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) read: Operations,
    pub(super) write: Operations,
    /// Reads and writes as one, where fio reports them so.
    pub(super) mixed: Option<Operations>,
    /// The syncs that followed writes; none where fio does not time them.
    pub(super) syncs: Option<Latency>,
    pub(super) trims: f64,
    /// Seconds of the longest.
    pub(super) runtime_s: f64,
    /// Seconds of all threads together; none where fio does not say it.
    pub(super) threads_s: Option<f64>,
    /// CPU time of fio's threads; none where it does not say how long they ran.
    pub(super) cpu_ns: Option<f64>,
    pub(super) errors: Option<f64>,
    /// Why one of its numbers cannot be, which nothing that is worked out of them would show.
    pub(super) impossible: Option<String>,
    /// Entries of the report that these are of.
    pub(super) entries: usize,
}

/// Operations of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Operations {
    pub(super) count: f64,
    pub(super) bytes: f64,
    pub(super) iops: f64,
    pub(super) bytes_per_second: f64,
    /// Seconds that both rates are of; 0 where fio does not say it.
    pub(super) runtime_s: f64,
    /// fio's key of it.
    pub(super) bandwidth_key: &'static str,
    /// From the submission's start.
    pub(super) total: Option<Latency>,
    /// From the submission's end.
    pub(super) completion: Option<Latency>,
    /// Whether these latencies include the syncs that follow writes, as ours do and fio's do not.
    pub(super) is_with_syncs: bool,
}

/// Statistics of a latency, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Latency {
    /// fio's key of it.
    pub(super) key: &'static str,
    pub(super) count: f64,
    pub(super) mean_ns: f64,
    pub(super) max_ns: f64,
    /// Quantile and latency, as far as fio reports them; none where they are of several jobs.
    pub(super) percentiles: Vec<(f64, f64)>,
}

impl Figures {
    pub(super) fn of(job: &Job) -> Self {
        let operations = |direction: &Option<document::Direction>| {
            direction.as_ref().map(Operations::of).unwrap_or_default()
        };
        let runtimes = [&job.read, &job.write, &job.mixed].into_iter().flatten();
        let runtime_ms = runtimes.map(|direction| direction.runtime).fold(0.0, f64::max);
        let cpu_percent = job.usr_cpu.zip(job.sys_cpu).map(|(user, system)| user + system);
        Self {
            read: operations(&job.read),
            write: operations(&job.write),
            mixed: job.mixed.as_ref().map(Operations::of),
            syncs: job.sync.as_ref().and_then(|syncs| of_syncs(syncs, job)),
            trims: job.trim.as_ref().map_or(0.0, |trim| trim.total_ios),
            runtime_s: runtime_ms / 1e3,
            threads_s: job.job_runtime.map(|runtime_ms| runtime_ms / 1e3),
            cpu_ns: cpu_percent
                .zip(job.job_runtime)
                .map(|(percent, runtime_ms)| percent / 100.0 * runtime_ms * 1e6),
            errors: job.total_err,
            impossible: impossible(job),
            entries: 1,
        }
    }

    /// These and those of another job that ran at the same time.
    #[must_use]
    pub(super) fn with(self, other: &Self) -> Self {
        let sum = |one: Option<f64>, two: Option<f64>| Some(one? + two?);
        Self {
            read: self.read.with(&other.read),
            write: self.write.with(&other.write),
            mixed: match (self.mixed, &other.mixed) {
                (Some(one), Some(two)) => Some(one.with(two)),
                _ => None,
            },
            syncs: match (self.syncs, &other.syncs) {
                (Some(one), Some(two)) => Some(one.with(two)),
                _ => None,
            },
            trims: self.trims + other.trims,
            runtime_s: self.runtime_s.max(other.runtime_s),
            threads_s: sum(self.threads_s, other.threads_s),
            cpu_ns: sum(self.cpu_ns, other.cpu_ns),
            errors: sum(self.errors, other.errors),
            impossible: self.impossible.or_else(|| other.impossible.clone()),
            entries: self.entries + other.entries,
        }
    }

    /// The operations of one direction, or of both.
    pub(super) fn of_direction(&self, direction: Option<Direction>) -> Operations {
        match (direction, &self.mixed) {
            (Some(Direction::Read), _) => self.read.clone(),
            (Some(Direction::Write), _) => self.write.clone(),
            (None, Some(mixed)) => mixed.clone(),
            (None, None) => self.read.clone().with(&self.write),
        }
    }
}

impl Operations {
    fn of(direction: &document::Direction) -> Self {
        /// Version 2 counts in KiB.
        const KIB: f64 = 1024.0;
        let with_sync = direction.lat_with_sync_ns.as_ref();
        let (total, completion) = match (&direction.lat_ns, &direction.clat_ns) {
            _ if with_sync.is_some() => {
                let latency = with_sync.map(|lat| Latency::of(lat, "lat_with_sync_ns", 1.0));
                (latency, None)
            }
            (None, None) => (
                direction.lat.as_ref().map(|lat| Latency::of(lat, "lat", 1e3)),
                direction.clat.as_ref().map(|clat| Latency::of(clat, "clat", 1e3)),
            ),
            (lat, clat) => (
                lat.as_ref().map(|lat| Latency::of(lat, "lat_ns", 1.0)),
                clat.as_ref().map(|clat| Latency::of(clat, "clat_ns", 1.0)),
            ),
        };
        let count = direction.total_ios;
        // Some versions do not count, and some could not time: without a count of its own a latency is of all operations.
        let counted = |latency: Option<Latency>| {
            latency.map(|latency| Latency {
                count: if latency.count < 0.0 { count } else { latency.count },
                ..latency
            })
        };
        Self {
            count,
            bytes: match direction.bw_bytes {
                Some(_) => direction.io_bytes,
                None => direction.io_bytes * KIB,
            },
            iops: direction.iops,
            bytes_per_second: direction.bw_bytes.unwrap_or(direction.bw * KIB),
            runtime_s: direction.runtime / 1e3,
            bandwidth_key: if direction.bw_bytes.is_some() {
                "bw_bytes"
            } else {
                "bw"
            },
            total: counted(total),
            completion: counted(completion),
            is_with_syncs: with_sync.is_some(),
        }
    }

    /// These and others; one of the two may be none at all. The rates are those over the longer time, as in fio's own groups: whoever ended
    /// earlier did nothing in the rest of it.
    #[must_use]
    fn with(self, other: &Self) -> Self {
        if other.count == 0.0 {
            return self;
        }
        if self.count == 0.0 {
            return other.clone();
        }
        let latency = |one: Option<Latency>, two: &Option<Latency>| Some(one?.with(two.as_ref()?));
        let runtime_s = self.runtime_s.max(other.runtime_s);
        let are_timed = self.runtime_s.min(other.runtime_s) > 0.0;
        let shares =
            [self.runtime_s, other.runtime_s].map(|part_s| if are_timed { part_s / runtime_s } else { 1.0 });
        Self {
            count: self.count + other.count,
            bytes: self.bytes + other.bytes,
            iops: self.iops * shares[0] + other.iops * shares[1],
            bytes_per_second: self.bytes_per_second * shares[0] + other.bytes_per_second * shares[1],
            runtime_s,
            bandwidth_key: self.bandwidth_key,
            total: latency(self.total, &other.total),
            completion: latency(self.completion, &other.completion),
            is_with_syncs: self.is_with_syncs || other.is_with_syncs,
        }
    }
}

/// The time of the syncs of a job. Where they were not counted, there were at most as many as writes.
fn of_syncs(syncs: &document::Syncs, job: &Job) -> Option<Latency> {
    let latency = Latency::of(syncs.lat_ns.as_ref()?, "sync.lat_ns", 1.0);
    let writes = job.write.as_ref().map_or(0.0, |write| write.total_ios);
    let count = match latency.count {
        uncounted if uncounted < 0.0 => syncs.total_ios.unwrap_or(writes),
        count => count,
    };
    (count > 0.0).then_some(Latency { count, ..latency })
}

impl Latency {
    fn of(latency: &document::Latency, key: &'static str, unit_ns: f64) -> Self {
        let percentiles = latency.percentile.iter().flatten();
        let percentiles = percentiles.filter_map(|(name, value)| {
            let percent: f64 = name.parse().ok()?;
            // Version 2 fills its list up with `0.00`.
            (percent > 0.0 && percent < 100.0).then_some((percent / 100.0, value * unit_ns))
        });
        let has_timed = latency.max > 0.0 || latency.mean > 0.0;
        Self {
            key,
            count: match latency.count {
                Some(count) => count,
                None if has_timed => -1.0,
                None => 0.0,
            },
            mean_ns: latency.mean * unit_ns,
            max_ns: latency.max * unit_ns,
            percentiles: percentiles.collect(),
        }
    }

    /// Whether it begins where the submission ends.
    pub(super) fn is_completion(&self) -> bool {
        self.key.starts_with("clat")
    }

    /// Of both together: percentiles of two streams do not give those of the union.
    fn with(self, other: &Self) -> Self {
        let count = self.count + other.count;
        let sum_ns = self.mean_ns * self.count + other.mean_ns * other.count;
        Self {
            key: self.key,
            count,
            mean_ns: if count > 0.0 { sum_ns / count } else { 0.0 },
            max_ns: self.max_ns.max(other.max_ns),
            percentiles: Vec::new(),
        }
    }

    /// The latency of a quantile, where fio reports it.
    pub(super) fn percentile(&self, quantile: f64) -> Option<f64> {
        let found = self
            .percentiles
            .iter()
            .find(|(known, _)| (known - quantile).abs() < 1e-9);
        found.map(|(_, latency_ns)| *latency_ns)
    }
}
