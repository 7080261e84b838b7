//! The device layer: storage devices behind a file of our own, or a file or device that is only read.

mod drives;
mod durability;
mod parts;
mod precondition;
mod redundant;
mod remarks;
mod replay;
mod subject;

use std::fmt;
use std::str::FromStr;

use outcrop_measure::metric::Metric;
use outcrop_measure::units::ByteSize;
use outcrop_workload::{AccessPattern, Arrivals, Content, EngineKind, ReadWriteMix, Submission, words};

use crate::factor::{Factor, FactorRef, Label, Role};
use crate::lateness;
use crate::layer::{LayerSchema, TableColumn};
use crate::metrics::{Latencies, latencies, metric, metrics};
use crate::parse::{any, small_count, spelled};
use crate::value::{Column, Value};
pub use drives::{ALSO, BETWEEN_DRIVES, DRIVE_BANDWIDTH, DRIVE_IOPS, DRIVE_P99, DRIVES, MOST_DRIVES};
pub use durability::{ACCESS, COMPLETIONS, NUMA_NODE, SYNC, SYNC_LATENCY};
pub use parts::{COMPLETION_LATENCY, LATENCY_PARTS, SUBMISSION_LATENCY};
pub use precondition::{PRECONDITION, PRECONDITIONED, TRACKED_SIZE};
pub use remarks::{
    ANSWERED_ABOVE, CONTAMINATED, ENGINE_FEATURE, ENGINE_WARNING, FROM_SUBMISSION_END, IMPORTED,
    NOTHING_COMPLETED, OPERATIONS_FAILED, PAGE_CACHE, PERCENTILES_FROM_SUBMISSION_END, TOO_SHORT,
    from_submission_end,
};
pub use replay::REPLAY;
pub use subject::{DESTROY, KIND, Kind};

/// The layer.
pub static SCHEMA: LayerSchema = LayerSchema {
    subject: &[&KIND, &PATH, &ALSO, &DESTROY, &SIZE, &PRECONDITION],
    workload: &[
        &ACCESS_PATTERN,
        &IO_BLOCK_SIZE,
        &READ_WRITE_MIX,
        &QUEUE_DEPTH,
        &JOBS,
        &DRIVES,
        &ARRIVAL,
        &CONTENT,
        &SPAN,
        &REPLAY,
        &SYNC,
        &ACCESS,
        &NUMA_NODE,
        &SUBMISSION,
        &COMPLETIONS,
        &LATENCY_PARTS,
        &ENGINE,
    ],
    published: &[&STATE, &SKU],
    to_state: &[&IO_BLOCK_SIZE, &QUEUE_DEPTH, &SPAN, &STATE],
    metrics: &[
        PLAIN,
        lateness::METRICS,
        &IOPS.all(),
        &BANDWIDTH.all(),
        &LATENCY.both.all(),
        &LATENCY.read.all(),
        &LATENCY.write.all(),
        &SERVICE_LATENCY.both.all(),
        &SERVICE_LATENCY.read.all(),
        &SERVICE_LATENCY.write.all(),
        &SUBMISSION_LATENCY.both.all(),
        &SUBMISSION_LATENCY.read.all(),
        &SUBMISSION_LATENCY.write.all(),
        &COMPLETION_LATENCY.both.all(),
        &COMPLETION_LATENCY.read.all(),
        &COMPLETION_LATENCY.write.all(),
        &SYNC_LATENCY.all(),
        &DRIVE_IOPS,
        &DRIVE_BANDWIDTH,
        &DRIVE_P99,
    ],
    headline: &[IOPS.both, LATENCY.both.p99],
    compared: &[LATENCY.read.p99, LATENCY.write.p99, IOPS.read, IOPS.write],
    table: TABLE,
    remarks: &[
        ENGINE_FEATURE,
        ENGINE_WARNING,
        OPERATIONS_FAILED,
        NOTHING_COMPLETED,
        TOO_SHORT,
        CONTAMINATED,
        ANSWERED_ABOVE,
        PAGE_CACHE,
        IMPORTED,
        FROM_SUBMISSION_END,
        PERCENTILES_FROM_SUBMISSION_END,
    ],
    size: Some(&SIZE),
    path: Some(&PATH),
    repeats: redundant::repeats,
    follows: redundant::follows,
    set_by: redundant::set_by,
    ..LayerSchema::named("device")
};

/// Columns of a table of cells; reads and writes apart where a cell has both.
const TABLE: &[TableColumn] = &[
    TableColumn::new(IOPS.both, "IOPS", 0),
    TableColumn::new(ARRIVAL_REQUESTED, "offered IOPS", 1),
    TableColumn::new(BANDWIDTH.both, "bandwidth", 3),
    TableColumn::new(LATENCY.both.p50, "p50", 2),
    TableColumn::new(LATENCY.both.p99, "p99", 1),
    TableColumn::new(LATENCY.both.p99_9, "p99.9", 6),
    TableColumn::new(LATENCY.read.p99, "read p99", 4),
    TableColumn::new(LATENCY.write.p99, "write p99", 5),
    // A sync takes milliseconds on many drives, so that short trials have too few of them for a p99.
    TableColumn::new(SYNC_LATENCY.mean, "sync mean", 6),
    TableColumn::new(SYNC_LATENCY.p99, "sync p99", 7),
    TableColumn::new(SUBMISSION_LATENCY.both.p99, "submission p99", 8).only_with(&BY_PARTS),
    TableColumn::new(COMPLETION_LATENCY.both.p99, "completion p99", 9).only_with(&BY_PARTS),
];
static BY_PARTS: [FactorRef; 1] = [&LATENCY_PARTS];

/// The part of the subject that accesses fall into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The whole subject, whose size takes its place once it is known.
    All,
    /// This many bytes from its start.
    Bytes(ByteSize),
}

impl Span {
    /// Bytes, where they are known.
    pub const fn bytes(self) -> Option<ByteSize> {
        match self {
            Self::All => None,
            Self::Bytes(bytes) => Some(bytes),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<ByteSize>()) {
            ("all", _) => Ok(Self::All),
            (_, Ok(size)) if size.0 > 0 => Ok(Self::Bytes(size)),
            _ => Err(format!(
                "`{text}` is not a span; expected \"all\" or a size such as 1GiB"
            )),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

impl Value for Span {
    const COLUMN: Column = Column::Bytes;

    fn place(&self) -> Option<f64> {
        self.bytes().map(|bytes| bytes.0 as f64)
    }
}

/// What is read.
pub static PATH: Factor<String> = Factor::new(
    "path",
    "The file or block device to read, or the device to overwrite",
    any,
)
.accepts("read-only subjects: the file or block device; destroyed devices: the block device")
.role(Role::Data);
/// How large the subject is.
pub static SIZE: Factor<ByteSize> = Factor::new("size", "Size of the subject", |text| {
    sectors(text, "a subject", "1GiB")
})
.decided("`\"1GiB\"`; read-only, destroyed: all of it")
.accepts("a size, a multiple of 512 B")
.role(Role::Data);

/// Where requests go.
pub static ACCESS_PATTERN: Factor<AccessPattern> = Factor::new(
    "access_pattern",
    "Access pattern: random, sequential, zipfian:THETA, strided:BYTES",
    spelled,
)
.default("random")
.accepts("`\"random\"`, `\"sequential\"`, `\"zipfian:0.99\"`, `\"strided:64KiB\"`")
.label(Label::Unusual("{}"));
/// Bytes of a request.
pub static IO_BLOCK_SIZE: Factor<ByteSize> =
    Factor::new("io_block_size", "Bytes per request: 4k, 128KiB", |text| {
        sectors(text, "a direct access", "4KiB")
    })
    .default("4KiB")
    .accepts("a size, a multiple of 512 B, at most the span")
    .label(Label::Always("{}"));
/// How many requests read.
pub static READ_WRITE_MIX: Factor<ReadWriteMix> = Factor::new(
    "read_write_mix",
    "Reads and writes in per cent: 100:0, 70:30",
    spelled,
)
.default("100:0")
.accepts("reads and writes in per cent, sum 100: `\"70:30\"`")
.label(Label::Always("{}"));
/// Requests in flight of a job.
pub static QUEUE_DEPTH: Factor<u32> = Factor::new(
    "queue_depth",
    "Requests in flight per job",
    small_count::<{ u32::MAX }>,
)
.default("32")
.accepts("requests in flight per job")
.label(Label::Always("QD {}"));
/// Submitting threads.
pub static JOBS: Factor<u32> = Factor::new(
    "jobs",
    "Submitting threads, each with its own queue",
    small_count::<{ u32::MAX }>,
)
.default("1")
.accepts("submitting threads")
.label(Label::Unusual("{} jobs"));
/// When requests are due.
pub static ARRIVAL: Factor<Arrivals> = Factor::new(
    "arrival",
    "Arrival process: closed, constant:RATE, poisson:RATE, etc:RATE, sine:RATE:SWING:PERIOD; RATE may be a share, as in poisson:80%",
    spelled,
)
.default("closed")
.accepts(
    "`\"closed\"`, `\"constant:1000\"`, `\"poisson:1000\"`, `\"etc:1000\"`, `\"sine:1000:500:10s\"` (mean, swing and period; all per second; latency counts from the schedule), `\"poisson:80%\"` \
     (of what a closed loop of the same cell reaches right before, in each trial)",
)
.label(Label::Unusual("{}"))
.role(Role::Condition)
.assumed("closed");
/// What writes contain.
pub static CONTENT: Factor<Content> = Factor::new(
    "content",
    "Content of writes: random, zeros, entropy:BITS, compressible:RATIO",
    spelled,
)
.default("random")
.accepts("`\"zeros\"`, `\"random\"`, `\"entropy:4\"` (bits per byte), `\"compressible:2\"` (ratio)");
/// Where on the subject.
pub static SPAN: Factor<Span> = Factor::new(
    "span",
    "Part of the subject that is accessed, from its start: all, or a size",
    spelled,
)
.default("all")
.accepts("`\"all\"`, or a size")
.role(Role::Condition);
/// When slots are filled again.
pub static SUBMISSION: Factor<Submission> =
    Factor::new("submission", "When completed requests are replaced: refill, batch", spelled)
        .default("refill")
        .accepts(
            "`\"refill\"` (on every completion), `\"batch\"` (half a queue at a time: fewer system calls, a lower real depth)",
        )
        .label(Label::Unusual("{}"));
/// How requests reach the target.
pub static ENGINE: Factor<EngineKind> = Factor::new("engine", "I/O engine: io_uring, libaio, psync, noop", spelled)
    .default("io_uring")
    .accepts("`\"io_uring\"`, `\"libaio\"` (io_submit, the kernel's older asynchronous interface), `\"psync\"` (depth 1; more with `jobs`), `\"noop\"` (touches nothing: Outcrop's own overhead)")
    .label(Label::Unusual("{}"))
    .role(Role::Implementation);

/// What a published figure says of the drive's history.
pub static STATE: Factor<String> = Factor::new("state", "State of the drive before the measurement", any)
    .role(Role::Condition)
    .assumed("as found");
/// The model of a datasheet's row.
pub static SKU: Factor<String> =
    Factor::new("sku", "The model that a datasheet describes", any).role(Role::Data);

/// Smallest unit of direct I/O on any device.
pub const SECTOR_BYTES: u64 = 512;

/// Reads a size that direct I/O can have; `what` completes "is not the size of …".
fn sectors(text: &str, what: &str, example: &str) -> Result<ByteSize, String> {
    let size: ByteSize = spelled(text)?;
    if size.0 == 0 || !size.0.is_multiple_of(SECTOR_BYTES) {
        return Err(format!(
            "{size} is not the size of {what}; expected a multiple of 512 B, such as {example}"
        ));
    }
    Ok(size)
}

words! {
    /// Which way bytes go.
    pub enum Direction: "direction" {
        /// From the device.
        Read = "read",
        /// To the device.
        Write = "write",
    }
}

impl Direction {
    /// The mix that does nothing else.
    pub const fn mix(self) -> ReadWriteMix {
        match self {
            Self::Read => ReadWriteMix::READ_ONLY,
            Self::Write => ReadWriteMix::WRITE_ONLY,
        }
    }

    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::Read => Self::Write,
            Self::Write => Self::Read,
        }
    }
}

/// A metric, or a family of them, of all requests and of those of each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByDirection<M> {
    /// Reads and writes together.
    pub both: M,
    /// Of reads.
    pub read: M,
    /// Of writes.
    pub write: M,
}

impl<M: Copy> ByDirection<M> {
    /// That of one direction; of both where none is named.
    pub const fn of(&self, direction: Option<Direction>) -> M {
        match direction {
            None => self.both,
            Some(Direction::Read) => self.read,
            Some(Direction::Write) => self.write,
        }
    }

    const fn all(&self) -> [M; 3] {
        [self.both, self.read, self.write]
    }
}

/// Operations completed per second.
pub const IOPS: ByDirection<Metric> = ByDirection {
    both: metric!(
        "iops",
        PerSecond,
        Higher,
        Trial,
        "operations completed per second"
    ),
    read: metric!(
        "read_iops",
        PerSecond,
        Higher,
        Trial,
        "reads completed per second"
    ),
    write: metric!(
        "write_iops",
        PerSecond,
        Higher,
        Trial,
        "writes completed per second"
    ),
};
/// Bytes moved per second.
pub const BANDWIDTH: ByDirection<Metric> = ByDirection {
    both: metric!(
        "bandwidth",
        BytesPerSecond,
        Higher,
        Trial,
        "bytes moved per second"
    ),
    read: metric!(
        "read_bandwidth",
        BytesPerSecond,
        Higher,
        Trial,
        "bytes read per second"
    ),
    write: metric!(
        "write_bandwidth",
        BytesPerSecond,
        Higher,
        Trial,
        "bytes written per second"
    ),
};
/// Time of an operation; under open-loop load from its intended start.
pub const LATENCY: ByDirection<Latencies> = ByDirection {
    both: latencies!("latency", "the latency of an operation"),
    read: latencies!("read_latency", "the latency of a read"),
    write: latencies!("write_latency", "the latency of a write"),
};
/// Time of an operation from its real start; open-loop load only.
pub const SERVICE_LATENCY: ByDirection<Latencies> = ByDirection {
    both: latencies!("service_latency", "the time from an operation's real start"),
    read: latencies!("read_service_latency", "the time from a read's real start"),
    write: latencies!("write_service_latency", "the time from a write's real start"),
};

metrics! { PLAIN:
    CPU_PER_OPERATION = "cpu_per_operation", NanosecondsPerOperation, Lower, Trial, "CPU time of this process and the kernel's workers for it, per operation";
    OVERHEAD_PER_OPERATION = "overhead_per_operation", NanosecondsPerOperation, Lower, Run, "CPU time of the measuring loop itself per operation, measured with the noop engine and the same arrival process";
    IO_WORKER_CPU_SHARE = "io_worker_cpu_share", Ratio, Neither, Trial, "share of that CPU time spent by io_uring workers, which run operations that would block";
    ACHIEVED_QUEUE_DEPTH = "achieved_queue_depth", Count, Neither, Trial, "mean number of operations in flight, counted independently of latency and throughput";
    DEVICE_BYTES_RATIO = "device_bytes_ratio", Ratio, Neither, Trial, "bytes that reached the block device by the kernel's counters, over the bytes that this process moved";
    ENERGY_PER_OPERATION = "energy_per_operation", Joules, Lower, Trial, "energy of the metered packages during the job, over its operations";
    FOREIGN_BYTES_RATIO = "foreign_bytes_ratio", Ratio, Neither, Trial, "bytes that the block device, or the disk below it, moved in addition to those of this process, over the latter; reads and writes are compared separately, so that they cannot cancel out";
    MISSING_BYTES_RATIO = "missing_bytes_ratio", Ratio, Neither, Trial, "bytes of this process that the block device, or the disk below it, did not move, over all its bytes; reads and writes counted separately";
    BYTES_WRITTEN = "bytes_written", Bytes, Neither, Trial, "bytes that the trial wrote, warm-up and drain included";
    STEADY_STATE = "steady_state", Ratio, Neither, Trial, "1 when the trial's last five intervals are steady by the rule of the SNIA PTS and no level shifted before them, else 0";
    IOPS_AT_END = "iops_at_end", PerSecond, Higher, Trial, "operations per second over the last five intervals of the trial";
    ERRORS = "errors", Count, Lower, Trial, "operations that failed; no other metric counts them";
    ARRIVAL_REQUESTED = "arrival_requested", PerSecond, Neither, Trial, "operations per second in the schedule";
    CLOSED_LOOP_IOPS = "closed_loop_iops", PerSecond, Higher, Trial, "operations per second of the closed loop right before, of which an open loop offers a share";
    ARRIVAL_UNFINISHED = "arrival_unfinished", Count, Lower, Trial, "operations due in the measured time that never completed; their age is in the latencies";
    PUBLISHED_MEAN_LATENCY = "latency_mean_as_published", Nanoseconds, Lower, Trial, "a published mean latency whose definition is not stated";
}

/// Above this share of foreign traffic a trial or a cell is called contaminated.
pub const CONTAMINATION: f64 = 0.02;
