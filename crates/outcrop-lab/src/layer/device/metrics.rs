//! What a trial of a device yields: the metrics' names, units and meanings.

use outcrop_measure::metric::{Metric, Unit};

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

/// Operations per second; also with the prefixes `read_` and `write_`.
pub const IOPS: Metric = Metric {
    name: "iops",
    unit: Unit::PerSecond,
    meaning: "operations completed per second",
};

/// Bytes per second; also with the prefixes `read_` and `write_`.
pub const BANDWIDTH: Metric = Metric {
    name: "bandwidth",
    unit: Unit::BytesPerSecond,
    meaning: "bytes moved per second",
};

/// CPU time per operation.
pub const CPU_PER_OPERATION: Metric = Metric {
    name: "cpu_per_operation",
    unit: Unit::NanosecondsPerOperation,
    meaning: "CPU time of this process and the kernel's workers for it, per operation",
};

/// What measuring costs, apart from the device and the kernel.
pub const OVERHEAD_PER_OPERATION: Metric = Metric {
    name: "overhead_per_operation",
    unit: Unit::NanosecondsPerOperation,
    meaning: "CPU time of the measuring loop alone per operation, by the noop engine before the first trial",
};

/// The kernel's io workers.
pub const IO_WORKER_CPU_SHARE: Metric = Metric {
    name: "io_worker_cpu_share",
    unit: Unit::Ratio,
    meaning: "share of that CPU time spent by io_uring workers, to which the kernel punts what it cannot do at once",
};

/// The depth that the engine kept up.
pub const ACHIEVED_QUEUE_DEPTH: Metric = Metric {
    name: "achieved_queue_depth",
    unit: Unit::Count,
    meaning: "mean number of operations in flight, counted apart from latency and throughput",
};

/// Our bytes against the kernel's.
pub const DEVICE_BYTES_RATIO: Metric = Metric {
    name: "device_bytes_ratio",
    unit: Unit::Ratio,
    meaning: "bytes that reached the block device by the kernel's counters, over the bytes that we moved",
};

/// Energy of the machine per operation.
pub const ENERGY_PER_OPERATION: Metric = Metric {
    name: "energy_per_operation",
    unit: Unit::Joules,
    meaning: "energy of the metered packages during the job, over its operations",
};

/// The SNIA verdict.
pub const STEADY_STATE: Metric = Metric {
    name: "steady_state",
    unit: Unit::Ratio,
    meaning: "1 when the trial's intervals hold a steady window by the rule of the SNIA PTS, else 0",
};

/// Operations that failed.
pub const ERRORS: Metric = Metric {
    name: "errors",
    unit: Unit::Count,
    meaning: "operations that failed; they count in nothing else",
};

/// Open loop: what was asked for.
pub const ARRIVAL_REQUESTED: Metric = Metric {
    name: "arrival_requested",
    unit: Unit::PerSecond,
    meaning: "operations per second that the schedule asked for",
};

/// Open loop: what never came back.
pub const ARRIVAL_UNFINISHED: Metric = Metric {
    name: "arrival_unfinished",
    unit: Unit::Count,
    meaning: "operations due in the measured time that never completed; their age is in the latencies",
};
