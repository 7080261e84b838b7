//! What one job measured: plain structs that a lab turns into records. Totals are merges of the intervals
//! and are stored once.

use std::fmt;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Unavailable;
use outcrop_probe::block_counters::Counters;
use outcrop_probe::cpu_time::CpuUsage;

/// A job has at most this many intervals: the memory of a long run stays bounded.
pub const MAX_INTERVALS: u64 = 600;

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The measured time passed.
    Completed,
    /// The next write would have exceeded [`JobSpec::write_limit_bytes`](crate::JobSpec::write_limit_bytes).
    WriteLimit,
    /// The caller's stop flag was raised; the intervals hold what was measured until then.
    Interrupted,
    /// Requests failed so often that going on would have measured the error path
    /// (see [`JobReport::errors`]).
    Failed,
}

/// Everything that one job measured.
#[derive(Clone, Debug)]
pub struct JobReport {
    /// How the job ended.
    pub ended: Ended,
    /// Measured time, without warm-up and drain.
    pub duration_ns: u64,
    /// Slices of the measured time, in order; all but the last have the same length.
    pub intervals: Vec<IntervalReport>,
    /// CPU time of the whole process during the measured time, the kernel's io workers included.
    pub cpu: CpuUsage,
    /// All requests of the job, warm-up and drain included: what the kernel's counters have to show.
    pub traffic: Traffic,
    /// Of `traffic` and `errors`, the requests of each job, by its number: so long is its sequence of blocks.
    pub issued: Vec<u64>,
    /// Change of the block device's counters over the same time as `traffic`, or why there is none.
    pub device_counters: Result<Counters, Unavailable>,
    /// The block device that was counted (`nvme0n1p2`).
    pub counted_device: Option<String>,
    /// The disk at the bottom over the same time, or why it was not counted. `None` where the counted device is that disk.
    pub disk_below: Option<Result<DiskBelow, Unavailable>>,
    /// Why the page cache, rather than a device, may have served the requests; `None` where it did not.
    pub page_cache: Option<String>,
    /// Mean number of requests in flight, over all jobs and the measured time: an integral over time of
    /// what was submitted and not yet seen complete. Independent of the latencies, so that Little's law
    /// is a check and no tautology. With [`Submission::Batch`](crate::Submission::Batch) an upper bound.
    pub achieved_queue_depth: f64,
    /// What the engine could switch on, and why it could not switch on the rest.
    pub engine_features: Vec<Feature>,
    /// Sentences that a reader of the numbers must see.
    pub warnings: Vec<String>,
    /// Open loop only: what the schedule asked for and what came of it.
    pub arrival: Option<ArrivalReport>,
    /// Open loop only: how much later each request was made ready than it could have been, because the generator slept or was
    /// not given a CPU. Waiting for an empty slot is not in it: that is the target's doing. It is part of every latency.
    pub lateness: Option<LatencyHistogram>,
    /// Requests that failed. They are in no histogram and in no byte count.
    pub errors: ErrorReport,
    /// Closed loop only: requests still in flight when the measured time ended, in no interval.
    pub drained: DrainReport,
}

impl JobReport {
    /// The merge of all intervals.
    ///
    /// *Cost*: one histogram merge per interval and direction.
    pub fn total(&self) -> IntervalReport {
        let mut total = IntervalReport {
            duration_ns: self.duration_ns,
            ..IntervalReport::default()
        };
        for interval in &self.intervals {
            total.merge(interval);
        }
        total
    }

    /// One sentence when requests failed or the job gave up; `None` for a clean job.
    pub fn failure(&self) -> Option<String> {
        let first = self.errors.first.as_ref()?;
        let count = self.errors.reads + self.errors.writes;
        Some(format!("{count} requests failed, the first with: {first}"))
    }
}

impl IntervalReport {
    /// Adds the requests of another interval.
    pub fn merge(&mut self, other: &Self) {
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        if let Some(syncs) = &other.syncs {
            self.syncs.get_or_insert_with(LatencyHistogram::new).merge(syncs);
        }
    }
}

/// What the disk below the counted device moved: below a loop device with direct I/O, or below a partition. What others ask of that disk is
/// in its counters alone.
#[derive(Clone, Debug)]
pub struct DiskBelow {
    /// The kernel's name (`vda`).
    pub name: String,
    /// Change of its counters.
    pub counters: Counters,
    /// The most of the bytes written that can be the journal of the filesystem holding a loop device's file: it writes its journal on each
    /// flush.
    pub journal_bytes: u64,
}

/// One slice of the measured time.
#[derive(Clone, Debug, Default)]
pub struct IntervalReport {
    /// Start, from the start of the measured time.
    pub start_ns: u64,
    /// Length.
    pub duration_ns: u64,
    /// Reads that completed in it (open loop: see [`ArrivalReport`]).
    pub reads: OperationReport,
    /// Writes likewise.
    pub writes: OperationReport,
    /// Syncs that followed writes, from the completion of the write to that of the sync. Their time is part of the
    /// latencies of those writes too. `None` where there was none.
    pub syncs: Option<LatencyHistogram>,
}

/// Requests of one direction.
#[derive(Clone, Debug, Default)]
pub struct OperationReport {
    /// Requests that completed in full.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Closed loop: from the moment the request was made ready to the moment its completion was seen.
    /// Open loop: from the moment it was *due* (response time); requests that never completed are in it
    /// with their age, a lower bound, so that its count may exceed `operations`.
    pub latency: LatencyHistogram,
    /// Open loop only: from the moment the request was really made ready (service time).
    pub service: Option<LatencyHistogram>,
    /// Where submissions are timed apart: the two parts of the time from when the request was really made ready.
    pub parts: Option<PartsReport>,
    /// Writes of jobs in which syncs follow writes, of those that no sync followed too: from the moment the request was really made
    /// ready to the moment the completion of the write was seen, without the sync.
    pub transfer: Option<LatencyHistogram>,
}

/// The two parts of the time of requests; the one ends where the other begins.
#[derive(Clone, Debug, Default)]
pub struct PartsReport {
    /// From the moment the request was made ready to the return of the system call that handed it over.
    pub submission: LatencyHistogram,
    /// From there to the moment its completion was seen.
    pub completion: LatencyHistogram,
}

impl PartsReport {
    /// Adds those of other requests.
    pub fn merge(&mut self, other: &Self) {
        self.submission.merge(&other.submission);
        self.completion.merge(&other.completion);
    }
}

impl OperationReport {
    /// Adds another report of the same direction.
    pub fn merge(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
        if let Some(theirs) = &other.service {
            self.service
                .get_or_insert_with(LatencyHistogram::new)
                .merge(theirs);
        }
        if let Some(theirs) = &other.parts {
            self.parts.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.transfer {
            self.transfer
                .get_or_insert_with(LatencyHistogram::new)
                .merge(theirs);
        }
    }
}

/// Counts of everything a job asked the target for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Reads that completed.
    pub reads: u64,
    /// Writes that completed.
    pub writes: u64,
    /// Bytes of those reads.
    pub read_bytes: u64,
    /// Bytes of those writes.
    pub written_bytes: u64,
    /// From the first request to the last completion.
    pub elapsed_ns: u64,
}

/// What an open loop's schedule asked for, and what came of it.
///
/// Requests count for the measured time in which they were *due*; a request that completes after its end
/// is filed in the last interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivalReport {
    /// The rate asked for.
    pub requested_per_second: f64,
    /// Requests that were due in the measured time.
    pub due: u64,
    /// Of these, how many completed (soon or late, drain included).
    pub completed: u64,
    /// Of these, how many never completed: not issued before the drain's limit or the stop. They are in the
    /// latency histograms with their age.
    pub unfinished: u64,
    /// Completions of any due time seen during the measured time, per second: what the target sustained.
    pub achieved_per_second: f64,
}

/// Requests that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorReport {
    /// Reads that failed or came back short.
    pub reads: u64,
    /// Writes that failed or came back short.
    pub writes: u64,
    /// The first failure with its offset.
    pub first: Option<String>,
    /// What the system called it; `None` for a request that came back short.
    pub first_errno: Option<i32>,
}

/// What was in flight when a closed loop ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrainReport {
    /// Requests completed after the end of the measured time.
    pub operations: u64,
    /// The largest of their latencies.
    pub slowest_ns: u64,
}

/// One ability of an engine on this kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Name, in the spelling of the kernel's manual page where it has one.
    pub name: &'static str,
    /// Whether it is in use.
    pub state: FeatureState,
}

/// Whether a feature is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeatureState {
    /// In use.
    On,
    /// Not in use, and why.
    Off(String),
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            FeatureState::On => write!(f, "{}: on", self.name),
            FeatureState::Off(reason) => write!(f, "{}: off, {reason}", self.name),
        }
    }
}
