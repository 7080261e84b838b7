//! What trials of the key-value layer yield.

use outcrop_workload::keyed::OperationKind;

use crate::lateness;
use crate::metrics::{Latencies, Metric, latencies, metrics};

/// All of it, in groups.
pub(super) const METRICS: &[&[Metric]] = &[
    PLAIN,
    lateness::METRICS,
    SPACE,
    AMPLIFICATION,
    DEVICE,
    BLOCKS,
    &LATENCY.all(),
    &READ_LATENCY.all(),
    &UPDATE_LATENCY.all(),
    &INSERT_LATENCY.all(),
    &SCAN_LATENCY.all(),
    &READ_MODIFY_WRITE_LATENCY.all(),
    &SERVICE_LATENCY.all(),
    &LOAD_LATENCY.all(),
];

metrics! { PLAIN:
    THROUGHPUT = "throughput", PerSecond, Higher, Trial, "operations completed in the measured time per second of it, of all kinds and processes, whenever they were due";
    OFFERED = "offered_load", PerSecond, Neither, Trial, "operations per second of the schedule of an open loop";
    LOAD_THROUGHPUT = "load_throughput", PerSecond, Higher, Trial, "records stored per second of the load phase, the flush at its end included";
    FLUSH_TIME = "flush_time", Nanoseconds, Lower, Trial, "time of the flush at the end of the load";
    SETTLING_TIME = "settling_time", Nanoseconds, Neither, Trial, "time between the sync after the load and the moment when compaction had settled, or the length of the rest that the plan sets";
    CPU = "cpu_per_operation", NanosecondsPerOperation, Lower, Trial, "CPU time of the processes, kernel and the engine's own threads or server included, per operation";
    CALLER_CPU = "caller_cpu_per_operation", NanosecondsPerOperation, Lower, Trial, "CPU time of the driver's threads, their calls into the engine included, per operation";
    BACKGROUND_CPU = "background_cpu_per_operation", NanosecondsPerOperation, Lower, Trial, "CPU time of the engine's own threads, or of its server, per operation";
    KERNEL_CPU = "kernel_cpu_per_operation", NanosecondsPerOperation, Lower, Trial, "the part of the CPU time that was spent in the kernel, per operation";
    KERNEL_THREADS_CPU = "kernel_threads_cpu_per_operation", NanosecondsPerOperation, Lower, Trial, "CPU time of the kernel's threads during the run and the sync after it, per operation: writeback, and what a filesystem compresses; of the whole machine";
    LOAD_CPU = "load_cpu_per_record", NanosecondsPerOperation, Lower, Trial, "CPU time of the load phase, the engine's own threads or server included, per record";
    ENERGY = "energy_per_operation", Joules, Lower, Trial, "energy of the metered packages during the run over its operations, warm-up included; its inverse is operations per joule";
    RESIDENT_BYTES = "peak_resident_memory", Bytes, Lower, Trial, "highest resident memory of all processes together, servers included";
    SERVER_MEMORY = "server_resident_memory", Bytes, Lower, Trial, "resident memory of the engine's servers once the load has settled: their records, indexes and buffers, and what a server takes when empty";
    MEMORY_AMPLIFICATION = "memory_amplification", Ratio, Lower, Trial, "resident memory of the engine's servers once the load has settled over bytes of keys and values: the space of engines that keep records in memory";
    CPU_SHARE = "cpu_share", Ratio, Neither, Trial, "CPU time of the processes in the measured time, their time in the kernel and servers included and the kernel's own threads not, over that time × the CPUs that they may use: 1 is all of them";
    MACHINE_CPU_SHARE = "machine_cpu_share", Ratio, Neither, Trial, "share of the CPU time of the whole machine that was busy during the run, warm-up included, by any process; /proc/stat counts in ticks of 10 ms";
    STALLS = "stalled_windows", Count, Lower, Trial, "windows of the run with less than a tenth of the median window's operations; a window is the plan's interval: a fifth of the duration, at most a second, where the plan says nothing";
    STALLED_TIME = "stalled_time", Nanoseconds, Lower, Trial, "time of the run with less than a tenth of the median throughput: the stalled windows times their length";
    WRITER_STALL = "writers_stalled_time", Nanoseconds, Lower, Trial, "time for which the engine delayed writers during the run, summed over them";
    CACHE_HITS = "block_cache_hit_ratio", Ratio, Higher, Trial, "data blocks found in the engine's block cache over those requested, during the run";
    BETWEEN = "time_between_operations", NanosecondsPerOperation, Neither, Trial, "closed loop: time of a driver's thread between two operations, in which it draws the next, makes values, and compares those that were read; excluded from latencies";
    UNFINISHED = "unfinished_operations", Count, Lower, Trial, "operations of an open loop that were due in the measured time but had not begun by its end";
    VERIFIED = "verified_values", Count, Neither, Trial, "values that were read and compared with what their key must hold";
    MISMATCHES = "mismatched_values", Count, Lower, Trial, "values that were read and are not those stored or are older than one acknowledged before the read began, and keys that were not found";
}

metrics! { SPACE:
    STORED_BYTES = "stored_bytes", Bytes, Lower, Trial, "bytes that the databases take on the filesystem after the load has settled, log included";
    STORED_AFTER_BYTES = "stored_bytes_after_run", Bytes, Lower, Trial, "bytes that the databases take on the filesystem at the end";
    LOG_BYTES = "log_bytes", Bytes, Lower, Trial, "the part of the bytes after the load that is the engine's log, by the sizes of its files: below a filesystem that compresses it takes less";
    LOG_AFTER_BYTES = "log_bytes_after_run", Bytes, Lower, Trial, "the part of the bytes at the end that is the engine's log, by the sizes of its files: below a filesystem that compresses it takes less";
    DATA_BLOCK_BYTES = "data_block_bytes", Bytes, Neither, Trial, "the part of the bytes after the load that is data blocks as they are stored, by the engine's statistics";
    INDEX_BYTES = "index_bytes", Bytes, Neither, Trial, "the part of the bytes after the load that is the index of the engine's files, by its statistics";
    FILTER_BYTES = "filter_bytes", Bytes, Neither, Trial, "the part of the bytes after the load that is bloom filters, by the engine's statistics";
    DATA_BLOCK_RATIO = "data_block_ratio", Ratio, Higher, Trial, "bytes of keys and values in the data blocks over the bytes of the blocks, by the engine's statistics: the compression ratio without index, filters and log";
    VERSIONS_PER_RECORD = "versions_per_record", Ratio, Neither, Trial, "entries in the engine's files after the load has settled over records; above 1, levels that are not merged hold some records more than once";
    UPPER_LEVELS_SHARE = "upper_levels_share", Ratio, Neither, Trial, "share of the engine's files that lies above the deepest level with any data, after the load has settled: what is not merged into it";
    SPACE_AMPLIFICATION = "space_amplification", Ratio, Lower, Trial, "bytes on the filesystem after the load has settled over bytes of keys and values";
    STORED_RATIO = "stored_ratio", Ratio, Higher, Trial, "bytes of keys and values over bytes on the filesystem after the load has settled: the compression ratio of the whole engine";
    DEBT_BEFORE = "compaction_debt_before_run", Bytes, Lower, Trial, "bytes that compaction still had to rewrite when the run began, as the engine estimates";
    DEBT_AFTER = "compaction_debt_after_run", Bytes, Lower, Trial, "bytes that compaction still had to rewrite when the run ended, as the engine estimates";
}

metrics! { BLOCKS:
    OPENING_TIME = "opening_time", Nanoseconds, Lower, Trial, "time to open the new databases, before the load; not part of any throughput";
    CLOSING_TIME = "closing_time", Nanoseconds, Lower, Trial, "time to close the databases, after the run; not part of any throughput";
    BLOCKS_FETCHED = "blocks_fetched_per_operation", Count, Lower, Trial, "data blocks not found in the block cache per operation of the run, for requests and compactions";
    BLOCKS_DECOMPRESSED = "blocks_decompressed_per_operation", Count, Lower, Trial, "blocks decompressed per operation of the run by the engine's statistics, for requests and compactions; 0 where the codec leaves them as they are";
    BLOCKS_COMPRESSED = "blocks_compressed_per_operation", Count, Lower, Trial, "blocks compressed per operation of the run by the engine's statistics, by flushes and compactions, which are in the background";
    COMPACTION_READ = "compaction_read_per_operation", Bytes, Lower, Trial, "bytes that compactions read from files per operation of the run, which is in the background";
    TABLES_WRITTEN = "tables_written_per_operation", Bytes, Lower, Trial, "bytes that flushes and compactions wrote to files per operation of the run, which is in the background";
}

metrics! { AMPLIFICATION:
    USER_WRITTEN = "user_bytes_written", Bytes, Neither, Trial, "bytes of keys and values that the run wrote, warm-up included: the base of its write amplification";
    USER_READ = "user_bytes_read", Bytes, Neither, Trial, "bytes of the values that the run got back, warm-up included: the base of its read amplification";
    LOAD_WRITES_ENGINE = "load_write_amplification_engine", Ratio, Lower, Trial, "bytes of log, flushes and compactions by the engine's statistics over bytes of keys and values, during load and settling";
    LOAD_WRITES_DEVICE = "load_write_amplification_device", Ratio, Lower, Trial, "bytes written to the block device by its own counters over bytes of keys and values, during load, settling and the sync after them; includes the writes of other processes";
    WRITES_ENGINE = "write_amplification_engine", Ratio, Lower, Trial, "bytes of log, flushes and compactions by the engine's statistics over bytes of keys and values written, during the run";
    WRITES_DEVICE = "write_amplification_device", Ratio, Lower, Trial, "bytes written to the block device by its own counters over bytes of keys and values written, during the run and the sync after it; includes the writes of other processes";
    READS_ENGINE = "read_amplification_engine", Ratio, Lower, Trial, "bytes read from files by the engine's statistics over bytes of values returned, during the run";
    READS_DEVICE = "read_amplification_device", Ratio, Lower, Trial, "bytes read from the block device by its own counters over bytes of values returned, during the run; includes the reads of other processes";
}

metrics! { DEVICE:
    LOAD_DEVICE_READ = "load_device_bytes_read", Bytes, Neither, Trial, "bytes read from the block device by its own counters, from the start of the load to the end of the sync after it, for any process";
    LOAD_DEVICE_WRITTEN = "load_device_bytes_written", Bytes, Neither, Trial, "bytes written to the block device by its own counters, from the start of the load to the end of the sync after it, by any process";
    SETTLING_DEVICE_READ = "settling_device_bytes_read", Bytes, Neither, Trial, "bytes read from the block device by its own counters during settling and the sync after it, for any process";
    SETTLING_DEVICE_WRITTEN = "settling_device_bytes_written", Bytes, Neither, Trial, "bytes written to the block device by its own counters during settling and the sync after it, by any process";
    RUN_DEVICE_READ = "run_device_bytes_read", Bytes, Neither, Trial, "bytes read from the block device by its own counters, from the start of the warm-up to the end of the sync after the run, for any process";
    RUN_DEVICE_WRITTEN = "run_device_bytes_written", Bytes, Neither, Trial, "bytes written to the block device by its own counters, from the start of the warm-up to the end of the sync after the run, by any process";
    DEVICE_READ = "run_device_bytes_read_per_operation", Bytes, Neither, Trial, "bytes read from the block device by its own counters, from the start of the warm-up to the end of the sync after the run, per operation: what a drive serves; includes the reads of other processes";
    DEVICE_WRITTEN = "run_device_bytes_written_per_operation", Bytes, Neither, Trial, "bytes written to the block device by its own counters, from the start of the warm-up to the end of the sync after the run, per operation: what a drive takes; includes the writes of other processes";
}

/// Time of an operation of any kind, under an open loop from its intended start.
pub const LATENCY: Latencies = latencies!(
    "latency",
    "the latency of an operation; open loop: of one due in the measured time, from that moment"
);
/// Time of a read.
pub const READ_LATENCY: Latencies = latencies!("read_latency", "the latency of a read");
/// Time of an update.
pub const UPDATE_LATENCY: Latencies = latencies!("update_latency", "the latency of an update");
/// Time of an insert.
pub const INSERT_LATENCY: Latencies = latencies!("insert_latency", "the latency of an insert");
/// Time of a scan.
pub const SCAN_LATENCY: Latencies = latencies!("scan_latency", "the latency of a scan");
/// Time of a read and the write behind it.
pub const READ_MODIFY_WRITE_LATENCY: Latencies = latencies!(
    "read_modify_write_latency",
    "the latency of a read and the write that follows it"
);
/// Time of an operation from its real start; open loops only.
pub const SERVICE_LATENCY: Latencies =
    latencies!("service_latency", "the time from an operation's real start");
/// Time of a write of the load phase.
pub const LOAD_LATENCY: Latencies = latencies!("load_latency", "the latency of a write in the load phase");

/// Time of an operation of one kind.
pub const fn latency_of(kind: OperationKind) -> Latencies {
    match kind {
        OperationKind::Read => READ_LATENCY,
        OperationKind::Update => UPDATE_LATENCY,
        OperationKind::Insert => INSERT_LATENCY,
        OperationKind::Scan => SCAN_LATENCY,
        OperationKind::ReadModifyWrite => READ_MODIFY_WRITE_LATENCY,
    }
}
