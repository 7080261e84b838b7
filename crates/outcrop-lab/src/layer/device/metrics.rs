//! What a trial of a device yields: the metrics' names, units and meanings.

use crate::layer::metrics;

/// Reads and writes together, or one of the two; the prefix of a metric's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    Read,
    Write,
}

impl Direction {
    /// `read_latency_p99` from `latency_p99`.
    pub(super) fn name(self, stem: &str) -> String {
        match self {
            Self::Both => stem.to_owned(),
            Self::Read => format!("read_{stem}"),
            Self::Write => format!("write_{stem}"),
        }
    }

    /// As it reads in a sentence: "no read completed".
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Both => "operation",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

metrics! {
    /// Also with the prefixes `read_` and `write_`.
    IOPS = "iops", PerSecond, "operations completed per second";
    /// Also with the prefixes `read_` and `write_`.
    BANDWIDTH = "bandwidth", BytesPerSecond, "bytes moved per second";
    CPU_PER_OPERATION = "cpu_per_operation", NanosecondsPerOperation, "CPU time of this process and the kernel's workers for it, per operation";
    OVERHEAD_PER_OPERATION = "overhead_per_operation", NanosecondsPerOperation, "CPU time of the measuring loop alone per operation, by the noop engine before the first trial";
    IO_WORKER_CPU_SHARE = "io_worker_cpu_share", Ratio, "share of that CPU time spent by io_uring workers, to which the kernel punts what it cannot do at once";
    ACHIEVED_QUEUE_DEPTH = "achieved_queue_depth", Count, "mean number of operations in flight, counted apart from latency and throughput";
    DEVICE_BYTES_RATIO = "device_bytes_ratio", Ratio, "bytes that reached the block device by the kernel's counters, over the bytes that we moved";
    ENERGY_PER_OPERATION = "energy_per_operation", Joules, "energy of the metered packages during the job, over its operations";
    STEADY_STATE = "steady_state", Ratio, "1 when the trial's intervals hold a steady window by the rule of the SNIA PTS, else 0";
    ERRORS = "errors", Count, "operations that failed; they count in nothing else";
    ARRIVAL_REQUESTED = "arrival_requested", PerSecond, "operations per second that the schedule asked for";
    ARRIVAL_UNFINISHED = "arrival_unfinished", Count, "operations due in the measured time that never completed; their age is in the latencies";
}
