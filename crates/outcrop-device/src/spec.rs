//! What one job is asked to do: the specification, and the checks that need no file.

use std::time::Duration;

use outcrop_measure::seed::Seed;
use outcrop_measure::units::Rate;
use outcrop_workload::filesystem::FileAccess;
use outcrop_workload::{
    AccessPattern, Arrival, Completions, Content, Durability, EngineKind, LatencyParts, NumaPlace,
    ReadWriteMix, Submission,
};

use crate::error::DeviceError;

/// One job: a workload, an engine and how long.
///
/// *Units*: sizes in bytes. Total time of a run is `warm_up + duration` plus the drain of what is in flight.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// How requests are issued.
    pub engine: EngineKind,
    /// Size of every request; a multiple of the target's logical block size.
    pub io_block_size_bytes: u64,
    /// Requests that each job keeps in flight (closed loop) or at most has in flight (open loop).
    pub queue_depth: u32,
    /// Threads, each with its own ring, buffers and stream of offsets. Threads are not pinned to single CPUs: on a
    /// machine with few cores pinning would put a job onto the core that serves the device's interrupts.
    pub jobs: u32,
    /// Where requests go within the span.
    pub access_pattern: AccessPattern,
    /// Which share of the requests are reads.
    pub read_write_mix: ReadWriteMix,
    /// When requests are due. An open-loop rate is the rate of all jobs together.
    pub arrival: Arrival,
    /// What writes contain.
    pub content: Content,
    /// The part of the target that requests fall into, from its start; `None` is the whole of it.
    pub span_bytes: Option<u64>,
    /// Time before the measured time, under the same load.
    pub warm_up: Duration,
    /// The measured time.
    pub duration: Duration,
    /// Length of one [`IntervalReport`](crate::IntervalReport); doubled as often as it takes to need at most
    /// [`MAX_INTERVALS`](crate::MAX_INTERVALS) of them.
    pub interval: Duration,
    /// Every random choice of the job derives from it.
    pub seed: Seed,
    /// When completed slots are refilled; open loops ignore it.
    pub submission: Submission,
    /// How completions are noticed. Polling takes a device with queues for it, and a device that never answers is waited for without end.
    pub completions: Completions,
    /// Whether the submission of requests is timed apart, which takes a system call more for each hand-over that waits.
    pub latency_parts: LatencyParts,
    /// When writes are made durable. The time of a sync belongs to the write that it follows.
    pub sync: Durability,
    /// Whether requests bypass the page cache. Where they do not, a job begins with none of the target's pages in it.
    pub access: FileAccess,
    /// Where the threads run and their buffers lie.
    pub numa: NumaPlace,
    /// After how many requests each job begins its sequence of blocks anew; a job without a number never does. With the
    /// [`issued`](crate::JobReport::issued) of a job that wrote, the same spec reads exactly what that one wrote, in the same order.
    pub repeat_after: Vec<u64>,
    /// All jobs together write at most this; the request that would exceed it is not issued, and ends the job.
    pub write_limit_bytes: Option<u64>,
}

/// More slots than this in one ring are refused: the completion queue's limit is 65 536 entries.
const MAX_QUEUE_DEPTH: u32 = 16_384;
/// More threads than this are a typing error.
const MAX_JOBS: u32 = 1024;
/// Larger requests are cut up by every kernel; the count of bytes must also fit an `i32` result.
const MAX_IO_BLOCK_SIZE_BYTES: u64 = 256 << 20;
/// Above this rate the generator of the schedule itself would be what is measured.
const MAX_RATE_PER_SECOND: f64 = 20e6;

impl JobSpec {
    /// A spec with the habits of device testers: io_uring, 4 KiB random reads, depth 32, one job, closed
    /// loop, 3 s after 500 ms of warm-up, 1-s intervals.
    pub fn new(seed: Seed) -> Self {
        Self {
            engine: EngineKind::IoUring,
            io_block_size_bytes: 4096,
            queue_depth: 32,
            jobs: 1,
            access_pattern: AccessPattern::Random,
            read_write_mix: ReadWriteMix::READ_ONLY,
            arrival: Arrival::Closed,
            content: Content::Random,
            span_bytes: None,
            warm_up: Duration::from_millis(500),
            duration: Duration::from_secs(3),
            interval: Duration::from_secs(1),
            seed,
            submission: Submission::Refill,
            completions: Completions::Interrupt,
            latency_parts: LatencyParts::Together,
            sync: Durability::None,
            access: FileAccess::Direct,
            numa: NumaPlace::Any,
            repeat_after: Vec::new(),
            write_limit_bytes: None,
        }
    }

    /// Checks everything that can be judged without the target.
    ///
    /// # Errors
    /// [`DeviceError::Spec`] naming the field, the value seen and the values that are accepted.
    pub fn validate(&self) -> Result<(), DeviceError> {
        let size = self.io_block_size_bytes;
        if size == 0 || size > MAX_IO_BLOCK_SIZE_BYTES {
            return Err(DeviceError::spec("io_block_size", size, "1 byte to 256 MiB"));
        }
        if self.queue_depth == 0 || self.queue_depth > MAX_QUEUE_DEPTH {
            return Err(DeviceError::spec("queue_depth", self.queue_depth, "1 to 16384"));
        }
        if self.jobs == 0 || self.jobs > MAX_JOBS {
            return Err(DeviceError::spec("jobs", self.jobs, "1 to 1024"));
        }
        if self.engine == EngineKind::Psync && self.queue_depth > 1 {
            return Err(DeviceError::spec(
                "queue_depth",
                self.queue_depth,
                "1 with the psync engine, which has one request in flight per job; raise jobs instead",
            ));
        }
        if !self.sync.is_none() && !self.read_write_mix.has_writes() {
            return Err(DeviceError::spec(
                "sync",
                self.sync,
                format!(
                    "none with the mix {}, which has no writes to make durable",
                    self.read_write_mix
                ),
            ));
        }
        if self.engine == EngineKind::Psync && self.latency_parts == LatencyParts::Apart {
            return Err(DeviceError::spec(
                "latency_parts",
                self.latency_parts,
                "together with the psync engine, whose calls return when the request is complete",
            ));
        }
        self.validate_completions()?;
        self.validate_memory()?;
        if self.duration.is_zero() {
            return Err(DeviceError::spec("duration", "0s", "more than zero"));
        }
        if self.interval.is_zero() {
            return Err(DeviceError::spec("interval", "0s", "more than zero"));
        }
        self.validate_arrival()
    }

    /// A ring that polls takes reads and writes past the page cache, and neither timers nor syncs.
    fn validate_completions(&self) -> Result<(), DeviceError> {
        let refuse = |why: String| Err(DeviceError::spec("completions", self.completions, why));
        if self.completions == Completions::Interrupt {
            return Ok(());
        }
        if self.engine != EngineKind::IoUring {
            return refuse(format!(
                "interrupt with the engine {}; io_uring polls",
                self.engine
            ));
        }
        if self.access != FileAccess::Direct {
            return refuse(format!("interrupt with {} access", self.access));
        }
        if self.arrival.is_open_loop() {
            return refuse("interrupt in an open loop, which waits for due times".to_owned());
        }
        if matches!(self.sync, Durability::After { .. }) {
            return refuse(format!(
                "interrupt with sync = {}; a ring that polls has no sync, and dsync works with both",
                self.sync
            ));
        }
        Ok(())
    }

    /// Buffers are faulted in beforehand, so a typing error must not push the machine into swapping.
    fn validate_memory(&self) -> Result<(), DeviceError> {
        let slots = u64::from(self.queue_depth) * u64::from(self.jobs);
        let kinds = u64::from(self.read_write_mix.has_reads()) + u64::from(self.read_write_mix.has_writes());
        let needed = slots
            .saturating_mul(self.io_block_size_bytes)
            .saturating_mul(kinds);
        let machine = rustix::system::sysinfo();
        let half = machine.totalram.saturating_mul(u64::from(machine.mem_unit)) / 2;
        if needed > half {
            return Err(DeviceError::spec(
                "queue_depth times io_block_size times jobs",
                format!("{needed} bytes of buffers"),
                format!("at most half of this machine's memory, {half} bytes"),
            ));
        }
        Ok(())
    }

    fn validate_arrival(&self) -> Result<(), DeviceError> {
        match self.arrival_per_second() {
            Some(rate) if !(rate > 0.0 && rate <= MAX_RATE_PER_SECOND) => Err(DeviceError::spec(
                "arrival",
                rate,
                "more than 0 and at most 20 million requests per second",
            )),
            _ => Ok(()),
        }
    }

    /// The rate of an open loop over all jobs; `None` for a closed loop.
    pub(crate) fn arrival_per_second(&self) -> Option<f64> {
        self.arrival.per_second().map(Rate::per_second)
    }
}
