//! The filesystem layer: files on filesystems that are made for the trial, or in a directory of the user's.

use outcrop_measure::metric::Metric;
use outcrop_measure::units::ByteSize;
use outcrop_workload::EngineKind;
use outcrop_workload::filesystem::{
    Age, Checksum, CompressPolicy, CopyOnWrite, FileAccess, FileCompression, FileOperation, FilesystemChoice,
    OfferedLoad, PageCache, SyncPolicy,
};
use outcrop_workload::words;

use crate::compression::Data;
use crate::factor::{Factor, FactorRef, Label, Role};
use crate::lateness;
use crate::layer::{LayerSchema, Pooled, TableColumn};
use crate::metrics::{Latencies, latencies, metrics};
use crate::parse::{any, small_count, spelled};
use crate::remark::RemarkKind;

/// The layer.
pub static SCHEMA: LayerSchema = LayerSchema {
    subject: &[&KIND, &PATH, &DATA, &SAMPLE_SIZE],
    workload: &[
        &FILESYSTEM,
        &COMPRESSION,
        &COMPRESSION_BLOCK_SIZE,
        &CLUSTER_SIZE,
        &COMPRESS_POLICY,
        &CHECKSUM,
        &COPY_ON_WRITE,
        &THREAD_POOL,
        &OPERATION,
        &PAGE_CACHE,
        &ACCESS,
        &SYNC,
        &AGE,
        &IO_BLOCK_SIZE,
        &FILE_SIZE,
        &FILES,
        &JOBS,
        &QUEUE_DEPTH,
        &ARRIVAL,
        &ENGINE,
    ],
    published: &[&RECORD_SIZE, &OFFERED, &OFFERED_SHARE],
    metrics: &[
        WRITING,
        OPERATING,
        lateness::METRICS,
        SPACE,
        COMPONENTS,
        PUBLISHED,
        &LATENCY.all(),
        &SERVICE_LATENCY.all(),
    ],
    headline: &[LATENCY.p50, IOPS, WRITE_THROUGHPUT, SPACE_RATIO],
    table: TABLE,
    pooled: POOLED,
    remarks: &[
        OPTIONS,
        MAKER,
        ENGINE_NOTE,
        ABSENT,
        NO_PREDICTION,
        PAGE_CACHE_BELOW,
    ],
    path: Some(&PATH),
    ..LayerSchema::named("filesystem")
};

/// Columns of a table of cells.
const TABLE: &[TableColumn] = &[
    TableColumn::new(SPACE_RATIO, "data ÷ space", 0),
    TableColumn::new(WRITE_THROUGHPUT, "write", 3),
    TableColumn::new(LATENCY.p50, "p50", 1),
    TableColumn::new(LATENCY.p99, "p99", 2),
    TableColumn::new(IOPS, "IOPS", 7),
    TableColumn::new(BANDWIDTH, "bandwidth", 8),
    TableColumn::new(READ_AMPLIFICATION, "read amp.", 1),
    TableColumn::new(WRITE_AMPLIFICATION, "write amp.", 5),
    TableColumn::new(CPU_PER_OPERATION, "CPU per operation", 4),
    TableColumn::share(KERNEL_THREAD_SHARE, "of it in kernel threads", 6),
    TableColumn::share(COMPRESSED_SHARE, "data compressed", 9),
    TableColumn::new(CREATE_RATE, "created", 2),
    TableColumn::new(REQUESTS_PER_OPERATION, "requests", 2).only_with(&BY_OPERATION),
    TableColumn::new(FLUSHES_PER_OPERATION, "flushes", 10).only_with(&BY_SYNC),
    TableColumn::new(EXTENTS, "extents", 10).only_with(&BY_AGE),
    TableColumn::new(PREDICTED_LATENCY, "predicted p50", 11),
    TableColumn::new(LATENCY_TAIL, "p99.9 − p50", 12).only_with(&BY_ARRIVAL),
];

/// What some of the columns say something of.
static BY_OPERATION: [FactorRef; 1] = [&OPERATION];
static BY_SYNC: [FactorRef; 1] = [&SYNC];
static BY_AGE: [FactorRef; 1] = [&AGE];
static BY_ARRIVAL: [FactorRef; 1] = [&ARRIVAL];

/// Cold reads of compressed files are slow and trials are short: a single one seldom has a thousand.
const POOLED: &[Pooled] = &[
    Pooled::percentile(LATENCY.p90, 0.9),
    Pooled::percentile(LATENCY.p95, 0.95),
    Pooled::percentile(LATENCY.p99, 0.99),
    Pooled::percentile(LATENCY.p99_9, 0.999),
    Pooled {
        metric: LATENCY_TAIL,
        quantile: 0.999,
        less: Some(0.5),
    },
];

/// What only filesystems have that are made for the trial.
pub static OF_IMAGES: &[FactorRef] = &[
    &FILESYSTEM,
    &COMPRESSION_BLOCK_SIZE,
    &CLUSTER_SIZE,
    &COMPRESS_POLICY,
    &CHECKSUM,
    &COPY_ON_WRITE,
    &THREAD_POOL,
];

words! {
    /// Where files are made.
    pub enum Kind: "kind" {
        /// On a filesystem that is made for the trial, in an unnamed file.
        ScratchImage = "scratch-image",
        /// In a directory that exists, as its filesystem is.
        Directory = "directory",
    }
}

crate::value::ordered!(Kind);

/// Where files are made.
pub static KIND: Factor<Kind> = Factor::new("kind", "Where files are made", spelled)
    .default("scratch-image")
    .accepts(
        "`\"scratch-image\"` (a filesystem made for each trial in an unnamed file; root), `\"directory\"` (the directory at `path`, as \
         its filesystem is; any user)",
    )
    .role(Role::Data);
/// The directory.
pub static PATH: Factor<String> = Factor::new("path", "A directory on the filesystem to measure", any)
    .accepts("directories: the path")
    .role(Role::Data);
/// Where the data come from.
pub static DATA: Factor<Data> = Factor::new("data", "The data in the files", spelled)
    .default("sample")
    .accepts(
        "`\"sample\"` (the Snappy test set, part of the program, repeated), or the path of a file, a directory or a block device",
    )
    .role(Role::Data);
/// How much of them is taken.
pub static SAMPLE_SIZE: Factor<ByteSize> = Factor::new(
    "sample_size",
    "Total size of the files; larger data are sampled randomly",
    spelled,
)
.default("64MiB")
.accepts("bytes, at least 100 extents of 128KiB")
.role(Role::Data);

/// Which filesystem.
pub static FILESYSTEM: Factor<FilesystemChoice> = Factor::new(
    "filesystem",
    "Filesystem, alone or with its settings: ext4, xfs, btrfs, \"btrfs zstd:3\", \"squashfs zstd:19 16KiB\"",
    spelled,
)
.default("btrfs")
.accepts(
    "`\"ext4\"`, `\"xfs\"`, `\"btrfs\"`, `\"f2fs\"`, `\"squashfs\"`, `\"erofs\"`; in a list each with its own settings: `\"btrfs zstd:3\"`, \
     `\"squashfs zstd:19 16KiB\"`, `\"erofs lz4hc:9 16KiB\"`; directories: left out",
)
.label(Label::Always("{}"))
.role(Role::Implementation);
/// What it compresses with.
pub static COMPRESSION: Factor<FileCompression> = Factor::new(
    "compression",
    "Compression of the filesystem: none, zstd:3, zlib:3, lzo, lz4, lz4hc:9",
    spelled,
)
.decided("`\"none\"`, or what `filesystem` says; directories: what the filesystem is set to")
.accepts("`\"none\"`, `\"zstd:3\"`, `\"zlib:3\"`, `\"lzo\"`, `\"lz4\"`, `\"lz4hc:9\"`, `\"xz\"`; a level that the kernel would change is refused")
.label(Label::Always("{}"));
/// Bytes compressed at once.
pub static COMPRESSION_BLOCK_SIZE: Factor<ByteSize> = Factor::new(
    "compression_block_size",
    "Bytes that squashfs compresses at once: 4KiB to 1MiB",
    spelled,
)
.decided("its own: 128KiB")
.accepts("squashfs: 4KiB to 1MiB; btrfs: 128KiB only")
.label(Label::Always("{}"))
.flag("block-size");
/// Compressed bytes of a cluster.
pub static CLUSTER_SIZE: Factor<ByteSize> = Factor::new(
    "cluster_size",
    "Compressed size of an erofs cluster: 4KiB to 1MiB",
    spelled,
)
.decided("erofs: `\"4KiB\"`")
.accepts("erofs: 4KiB to 1MiB, multiples of 4KiB")
.label(Label::Always("{}"));
/// Whether it may decide not to compress.
pub static COMPRESS_POLICY: Factor<CompressPolicy> = Factor::new(
    "compress_policy",
    "Whether btrfs may leave data uncompressed: force (no), heuristic",
    spelled,
)
.default("force")
.accepts("btrfs: `\"force\"` (compress-force), `\"heuristic\"` (compress)")
.label(Label::Unusual("{}"));
/// How data are checked.
pub static CHECKSUM: Factor<Checksum> = Factor::new(
    "checksum",
    "Checksums of btrfs: crc32c, xxhash, sha256, blake2, none",
    spelled,
)
.default("crc32c")
.accepts("btrfs: `\"crc32c\"`, `\"xxhash\"`, `\"sha256\"`, `\"blake2\"`, `\"none\"` (which switches compression off, and is refused with it)")
.label(Label::Unusual("{}"));
/// Whether written blocks get new places.
pub static COPY_ON_WRITE: Factor<CopyOnWrite> =
    Factor::new("copy_on_write", "Copy-on-write of btrfs: on, off", spelled)
        .default("on")
        .accepts("btrfs: `\"on\"`, `\"off\"` (which switches compression off, and is refused with it)")
        .label(Label::Unusual("copy on write {}"));
/// Threads of the filesystem.
pub static THREAD_POOL: Factor<u32> = Factor::new(
    "thread_pool",
    "Threads of each work queue of btrfs",
    small_count::<1024>,
)
.decided("the kernel's: CPUs + 2, at most 8")
.accepts("btrfs: 1 to 1024")
.label(Label::Unusual("thread pool {}"));
/// What is done with the files.
pub static OPERATION: Factor<FileOperation> = Factor::new(
    "operation",
    "Operation: random-read, sequential-read, overwrite, append, write, update, small-files",
    spelled,
)
.default("random-read")
.accepts(
    "`\"random-read\"` (one block in each extent, each extent once), `\"sequential-read\"`, `\"overwrite\"`, `\"append\"`, `\"write\"`, \
     `\"update\"` (a record is read, changed and written), `\"small-files\"` (created, then read)",
)
.label(Label::Unusual("{}"));
/// What the page cache holds.
pub static PAGE_CACHE: Factor<PageCache> = Factor::new(
    "page_cache",
    "Page cache at the start: cold (nothing of the files), warm",
    spelled,
)
.default("cold")
.accepts("`\"cold\"` (proved before each pass), `\"warm\"`")
.label(Label::Unusual("{}"));
/// Through the page cache or not.
pub static ACCESS: Factor<FileAccess> =
    Factor::new("access", "How files are opened: buffered, direct", spelled)
        .default("buffered")
        .accepts("`\"buffered\"`, `\"direct\"` (O_DIRECT)")
        .label(Label::Unusual("{}"));
/// When written data are made durable.
pub static SYNC: Factor<SyncPolicy> = Factor::new(
    "sync",
    "When written data are made durable: end, each:N",
    spelled,
)
.default("end")
.accepts("`\"end\"` (fsync after the last write), `\"each:1\"` (fdatasync after every write), `\"each:64\"`")
.label(Label::Unusual("sync {}"));
/// What happened to the files before.
pub static AGE: Factor<Age> = Factor::new("age", "History of the files: fresh, overwritten:25%", spelled)
    .default("fresh")
    .accepts("`\"fresh\"`, `\"overwritten:25%\"` (of their 4 KiB blocks, at random, in 16 synced rounds)")
    .label(Label::Unusual("{}"));
/// Bytes of an operation.
pub static IO_BLOCK_SIZE: Factor<ByteSize> =
    Factor::new("io_block_size", "Bytes per operation: 4k, 1MiB", spelled)
        .default("4KiB")
        .accepts("a multiple of 512 B, at most 64MiB")
        .label(Label::Always("{}"));
/// Bytes of a small file.
pub static FILE_SIZE: Factor<ByteSize> = Factor::new("file_size", "Size of each small file", spelled)
    .decided("small-files: `\"1500\"`")
    .accepts("small-files: 1 B to 1MiB")
    .label(Label::Always("files of {}"));
/// Files that the data are divided into.
pub static FILES: Factor<u32> =
    Factor::new("files", "Number of files that hold the data", small_count::<4096>)
        .default("1")
        .accepts("1 to 4096")
        .label(Label::Unusual("{} files"));
/// Threads.
pub static JOBS: Factor<u32> = Factor::new(
    "jobs",
    "Threads, each with its own part of the files",
    small_count::<256>,
)
.default("1")
.accepts("1 to 256")
.label(Label::Unusual("{} jobs"));
/// Requests in flight.
pub static QUEUE_DEPTH: Factor<u32> =
    Factor::new("queue_depth", "Requests in flight per job", small_count::<1024>)
        .default("1")
        .accepts("requests in flight per job; more than 1 with io_uring")
        .label(Label::Unusual("QD {}"));
/// When operations start.
pub static ARRIVAL: Factor<OfferedLoad> = Factor::new(
    "arrival",
    "Arrival process: closed, poisson:20k, constant:2GB/s, poisson:50%",
    spelled,
)
.default("closed")
.accepts(
    "`\"closed\"`, `\"poisson:20k\"` (per second), `\"constant:2GB/s\"` (bytes per second), `\"poisson:50%\"` (of what a closed loop \
     gets); latency counts from the schedule",
)
.label(Label::Unusual("{}"))
.role(Role::Condition)
.assumed("closed");
/// How requests are made.
pub static ENGINE: Factor<EngineKind> = Factor::new("engine", "I/O engine: psync, io_uring", spelled)
    .default("psync")
    .accepts("`\"psync\"` (depth 1; more with `jobs`), `\"io_uring\"` (reads)")
    .label(Label::Unusual("{}"))
    .role(Role::Implementation);
/// Bytes of a record of ZFS, as published.
pub static RECORD_SIZE: Factor<ByteSize> =
    Factor::new("record_size", "Bytes of a record of ZFS, as published", spelled);
/// The load that was offered, as published.
pub static OFFERED: Factor<f64> = Factor::new(
    "offered_mb_per_second",
    "Offered load in MB/s, as published",
    spelled,
);
/// The load that was offered, as a share of the highest.
pub static OFFERED_SHARE: Factor<f64> = Factor::new(
    "offered_percent",
    "Offered load in per cent of the highest, as published",
    spelled,
);

/// Time of an operation; under offered load from when it was due.
pub const LATENCY: Latencies = latencies!("latency", "the latency of an operation");
/// Time of an operation from its real start; offered load only.
pub const SERVICE_LATENCY: Latencies =
    latencies!("service_latency", "the time from an operation's real start");

metrics! { WRITING:
    WRITE_THROUGHPUT = "write_throughput", BytesPerSecond, Higher, Trial, "bytes of the files over the time to write them, fsync and syncfs included";
    BUILD_THROUGHPUT = "build_throughput", BytesPerSecond, Higher, Trial, "bytes of the files over the time in which a program built the read-only image";
    WRITE_AMPLIFICATION = "write_amplification", Ratio, Lower, Trial, "bytes that the block device wrote until syncfs returned, over bytes written: of the operation where it writes, else of writing the files";
    CPU_PER_BYTE = "cpu_per_byte", NanosecondsPerByte, Lower, Trial, "CPU time of this process and of all kernel threads while the files were written, over their bytes";
    WRITE_KERNEL_THREAD_SHARE = "write_kernel_thread_share", Ratio, Neither, Trial, "share of that CPU time spent by kernel threads";
    CREATE_RATE = "create_rate", PerSecond, Higher, Trial, "small files created per second, syncfs included";
}

metrics! { OPERATING:
    IOPS = "iops", PerSecond, Higher, Trial, "operations completed per second";
    BANDWIDTH = "bandwidth", BytesPerSecond, Higher, Trial, "bytes moved per second";
    LATENCY_TAIL = "latency_tail", Nanoseconds, Lower, Trial, "99.9th percentile of the latency minus its median";
    READ_AMPLIFICATION = "read_amplification", Ratio, Lower, Trial, "bytes that the block device read, over bytes requested";
    READ_AMPLIFICATION_OWN = "read_amplification_own", Ratio, Lower, Trial, "bytes that were fetched from storage for this process by its own account, over bytes requested";
    REQUESTS_PER_OPERATION = "requests_per_operation", Ratio, Lower, Trial, "requests that the block device completed, over operations";
    FLUSHES_PER_OPERATION = "flushes_per_operation", Ratio, Lower, Trial, "flushes that the block device completed, over operations";
    CPU_PER_OPERATION = "cpu_per_operation", NanosecondsPerOperation, Lower, Trial, "CPU time of this process and of all kernel threads, per operation";
    PROCESS_CPU_PER_OPERATION = "process_cpu_per_operation", NanosecondsPerOperation, Lower, Trial, "the part of it that this process spent";
    KERNEL_THREAD_SHARE = "kernel_thread_share", Ratio, Neither, Trial, "the share of it that kernel threads spent";
    FOREIGN_CPU_SHARE = "foreign_cpu_share", Ratio, Neither, Trial, "CPU time of the rest of the machine during the operation, over that of this process and the kernel threads; /proc/stat counts in ticks of 10 ms";
    PAGES_CACHED_BEFORE = "pages_cached_before", Count, Neither, Trial, "pages of the files in the page cache before the operation";
    PAGES_CACHED_AFTER = "pages_cached_after", Count, Neither, Trial, "pages of the files in the page cache after it";
    ACHIEVED_QUEUE_DEPTH = "achieved_queue_depth", Count, Neither, Trial, "mean number of operations in flight, by when jobs began and ended";
    ARRIVAL_REQUESTED = "arrival_requested", PerSecond, Neither, Trial, "operations per second of the schedule";
    ARRIVAL_UNFINISHED = "arrival_unfinished", Count, Lower, Trial, "jobs that still had an operation due at the end";
    OPERATIONS = "operations", Count, Neither, Trial, "operations that were measured";
}

metrics! { SPACE:
    FILE_BYTES = "file_bytes", Bytes, Neither, DataSet, "bytes of the files";
    USED_BYTES = "used_bytes", Bytes, Lower, DataSet, "space that the files take, metadata included: statfs after a remount, or the length of a read-only image";
    SPACE_RATIO = "space_ratio", Ratio, Higher, DataSet, "bytes of the files over the space that they take, metadata included";
    DATA_RATIO = "data_ratio", Ratio, Higher, DataSet, "bytes of the files over the bytes that btrfs stores of them, without metadata";
    COMPRESSED_SHARE = "compressed_share", Ratio, Neither, DataSet, "share of the files' bytes in compressed extents";
    EXTENTS = "extents", Count, Lower, DataSet, "extents of the files";
}

metrics! { COMPONENTS:
    RAW_LATENCY_4K = "raw_latency_4k", Nanoseconds, Lower, Trial, "median latency of a 4 KiB read of the same loop device before there was a filesystem on it";
    RAW_LATENCY_128K = "raw_latency_128k", Nanoseconds, Lower, Trial, "median latency of a 128 KiB read of it";
    CODEC_TIME = "codec_time", Nanoseconds, Lower, Run, "mean time in which the library decompresses an extent of the data, page by page, with a new context and cold caches";
    WAKE_TIME = "wake_time", Nanoseconds, Lower, Run, "how much longer a thread takes to wake after another one worked for the codec's time, compared with 10 µs";
    FILESYSTEM_TIME = "filesystem_time", Nanoseconds, Lower, Run, "what the same filesystem adds to the device's median latency where nothing is compressed";
    EXTENT_TIME = "extent_time", Nanoseconds, Lower, Run, "what it adds to a read of 128 KiB, an extent, where nothing is compressed";
    PREDICTED_LATENCY = "predicted_latency", Nanoseconds, Neither, Trial, "median latency that device, codec and filesystem add up to";
    PREDICTED_IOPS = "predicted_iops", PerSecond, Neither, Trial, "operations per second that latency or CPU time allows";
    PREDICTED_SPACE = "predicted_space", Ratio, Neither, DataSet, "bytes of the data over their compressed extents in whole sectors, by the library";
}

metrics! { PUBLISHED:
    PUBLISHED_LATENCY = "latency_as_published", Nanoseconds, Lower, Trial, "a published latency whose definition is not stated";
    PUBLISHED_WRITE_LATENCY = "write_latency_as_published", Nanoseconds, Lower, Trial, "a published latency of a write whose definition is not stated";
    PUBLISHED_READ_BANDWIDTH = "read_bandwidth_as_published", BytesPerSecond, Higher, Trial, "a published read bandwidth";
    PUBLISHED_WRITE_BANDWIDTH = "write_bandwidth_as_published", BytesPerSecond, Higher, Trial, "a published write bandwidth";
    LOGGED_READ_BANDWIDTH = "read_bandwidth_as_logged", BytesPerSecond, Higher, Trial, "the highest read bandwidth in the logs that a publication ships";
    LOGGED_WRITE_BANDWIDTH = "write_bandwidth_as_logged", BytesPerSecond, Higher, Trial, "the highest write bandwidth in the logs that a publication ships";
    LOGGED_INTERVAL = "read_interval_as_logged", Nanoseconds, Neither, Trial, "the time from one read to the next in the logs that a publication ships";
    PUBLISHED_TAIL = "latency_tail_as_published", Nanoseconds, Lower, Trial, "a published 99.9th percentile minus the median";
    PUBLISHED_UPDATE_LATENCY = "update_latency_as_published", Nanoseconds, Lower, Trial, "a published latency of updates";
}

/// The kernel's options.
pub const OPTIONS: RemarkKind = RemarkKind::new(
    "options",
    "the options of the filesystem as the kernel shows them",
    "",
);
/// The program.
pub const MAKER: RemarkKind = RemarkKind::new("maker", "the program that made the filesystem", "");
/// The engine said something.
pub const ENGINE_NOTE: RemarkKind = RemarkKind::new("engine-note", "a note of the I/O engine on a trial", "");
/// This machine lacks it.
pub const ABSENT: RemarkKind = RemarkKind::new(
    "absent",
    "the filesystem cannot be made on this machine or by this user",
    "",
);
/// A loop device answers from memory.
pub const PAGE_CACHE_BELOW: RemarkKind = RemarkKind::new(
    "page-cache-below",
    "the directory's filesystem is on a loop device that has no direct I/O or may have none",
    "",
);
/// Nothing to predict from.
pub const NO_PREDICTION: RemarkKind =
    RemarkKind::new("no-prediction", "why there is no prediction for a trial", "");

/// Above this difference between the device's counters and the process's own account a trial is called contaminated.
pub const CONTAMINATION: f64 = 0.02;

/// What is missing where there is no filesystem: the figures that people look for.
pub const MAIN: [Metric; 4] = [SPACE_RATIO, WRITE_THROUGHPUT, IOPS, READ_AMPLIFICATION];
