//! The key-value layer: embedded engines and servers under YCSB, mixgraph and other mixes, and what compressing their blocks costs and saves.

mod candidate;
mod engines;
mod metrics;
mod prices;
mod remarks;
mod values;

use outcrop_measure::units::ByteSize;
use outcrop_workload::keyed::{RequestDistribution, StoreWorkload, ValueSize};
use outcrop_workload::store::{
    CompactionStyle, Durability, LevelCodecs, Settling, StoreCompression, StoreEngine, StoreIo,
};
use outcrop_workload::{Arrival, Content};

use crate::factor::{Factor, FactorRef, Label, OF_WORKLOAD, Role};
use crate::layer::{LayerSchema, TableColumn};
use crate::parse::{count, small_count, spelled};

pub use candidate::{
    Constraints, Figures, IN_WHAT_CANDIDATES_DIFFER, LOG_MATTERS, MARGIN, SAME_SPACE, contender,
    is_candidate, is_plain, is_stored_plain,
};
pub use engines::{has, is_what_it_does, lacked_by};
pub use metrics::*;
pub use prices::Prices;
pub use remarks::{
    ABSENT, BACKLOG, CODEC_UNUSED, COMPRESSED_BELOW, COMPRESSION_UNKNOWN, DEBT_LEFT, LIBRARIES, NOT_SETTLED,
    OPENED, STALLED, hides_space, libraries_remark, library_among,
};
pub use values::{MemoryLimit, PageCache, StoreFilesystem, ValueData};

/// The layer.
pub static SCHEMA: LayerSchema = LayerSchema {
    subject: &[&DATA],
    workload: &[
        &ENGINE,
        &COMPRESSION,
        &COMPRESSION_BLOCK_SIZE,
        &LEVEL_CODECS,
        &BOTTOMMOST,
        &DICTIONARY,
        &BLOCK_CACHE,
        &BLOOM_BITS,
        &WRITE_BUFFER,
        &COMPACTION,
        &IO,
        &DURABILITY,
        &FILESYSTEM,
        &WORKLOAD,
        &REQUESTS,
        &RECORDS,
        &VALUE_SIZE,
        &CONTENT,
        &THREADS,
        &PROCESSES,
        &ARRIVAL,
        &MEMORY_LIMIT,
        &SETTLING,
        &PAGE_CACHE,
    ],
    metrics: METRICS,
    headline: &[THROUGHPUT, READ_LATENCY.p99, SPACE_AMPLIFICATION, CPU],
    table: TABLE,
    remarks: &[
        OPENED,
        LIBRARIES,
        ABSENT,
        NOT_SETTLED,
        CODEC_UNUSED,
        STALLED,
        DEBT_LEFT,
        BACKLOG,
        COMPRESSED_BELOW,
        COMPRESSION_UNKNOWN,
    ],
    // It is a number of windows times their length.
    follows: |_, metric| metric == STALLED_TIME.name,
    ..LayerSchema::named("kv")
};

/// Columns of a table of cells.
const TABLE: &[TableColumn] = &[
    TableColumn::new(THROUGHPUT, "throughput", 0),
    TableColumn::new(OFFERED, "offered", 1),
    TableColumn::new(READ_LATENCY.p50, "read p50", 4),
    TableColumn::new(READ_LATENCY.p99, "read p99", 2),
    TableColumn::new(UPDATE_LATENCY.p99, "update p99", 5),
    TableColumn::new(INSERT_LATENCY.p99, "insert p99", 5),
    TableColumn::new(SCAN_LATENCY.p99, "scan p99", 3),
    TableColumn::new(READ_MODIFY_WRITE_LATENCY.p99, "read-modify-write p99", 5),
    TableColumn::new(LOAD_THROUGHPUT, "load", 3),
    TableColumn::new(CPU, "CPU per operation", 3),
    TableColumn::new(BACKGROUND_CPU, "engine's own CPU", 6),
    TableColumn::new(ENERGY, "energy", 6),
    TableColumn::share(CPU_SHARE, "CPUs busy", 9),
    TableColumn::new(STORED_BYTES, "on disk", 1),
    TableColumn::new(LOG_BYTES, "log (file sizes)", 2),
    TableColumn::new(STORED_AFTER_BYTES, "on disk at end", 9),
    TableColumn::new(SPACE_AMPLIFICATION, "space amp.", 6),
    TableColumn::new(MEMORY_AMPLIFICATION, "memory amp.", 6),
    TableColumn::new(LOAD_WRITES_ENGINE, "load write amp. (engine)", 7),
    TableColumn::new(WRITES_ENGINE, "run write amp. (engine)", 7),
    TableColumn::new(READS_DEVICE, "read amp. (device)", 8),
    TableColumn::new(RUN_DEVICE_READ, "device reads", 9),
    TableColumn::new(RUN_DEVICE_WRITTEN, "device writes", 9),
    TableColumn::new(STALLED_TIME, "stalled", 9),
];

/// What only some engines have: peers are the same but for these.
pub static OF_ENGINES: &[FactorRef] = &[
    &ENGINE,
    &COMPRESSION,
    &COMPRESSION_BLOCK_SIZE,
    &LEVEL_CODECS,
    &BOTTOMMOST,
    &DICTIONARY,
    &BLOOM_BITS,
    &WRITE_BUFFER,
    &COMPACTION,
    &IO,
    &DURABILITY,
];

const MOST_RECORDS: u64 = 1 << 40;
const MOST_WORKERS: u32 = 1024;

/// Where values come from.
pub static DATA: Factor<ValueData> = Factor::new("data", "Where the bytes of values come from", spelled)
    .default("generated")
    .accepts("`\"generated\"` (by `content`), or the path of a file or a directory that values are cut from; only read")
    .role(Role::Data);

/// Which engine.
pub static ENGINE: Factor<StoreEngine> = Factor::new(
    "engine",
    "The engine: fjall, rocksdb (the system's library), redb, redis and memcached (the system's servers), none",
    spelled,
)
.default("fjall")
.accepts(
    "`\"fjall\"` (an LSM tree, in this program), `\"rocksdb\"` (`$OUTCROP_ROCKSDB_LIB`, or the system's library), `\"redb\"` (a B-tree, in this \
     program), `\"redis\"` (`$OUTCROP_REDIS_SERVER`, or `redis-server` of `PATH`), `\"memcached\"` (`$OUTCROP_MEMCACHED`, or `memcached` of `PATH`), `\"none\"` (keeps nothing: what the driver costs)",
)
.label(Label::Always("{}"))
.role(Role::Implementation);
/// Codec of its blocks.
pub static COMPRESSION: Factor<StoreCompression> = Factor::new(
    "compression",
    "Codec of the engine's blocks: none, snappy, lz4, lz4hc, zlib, zstd:3 (fjall: none, lz4)",
    spelled,
)
.default("lz4")
.accepts(
    "rocksdb: `\"none\"`, `\"snappy\"`, `\"lz4\"`, `\"lz4hc\"`, `\"zlib\"`, `\"zstd\"`, the last three with a level (`\"zstd:3\"`); fjall: `\"none\"`, `\"lz4\"`",
)
.label(Label::Always("{}"));
/// Bytes compressed at once.
pub static COMPRESSION_BLOCK_SIZE: Factor<ByteSize> = Factor::new(
    "compression_block_size",
    "Bytes per block of the engine's files: 4k, 16KiB",
    spelled,
)
.default("4KiB")
.accepts("LSM engines: 1 KiB to 1 MiB")
.label(Label::Always("{}"))
.flag("block-size");
/// Codecs of levels.
pub static LEVEL_CODECS: Factor<LevelCodecs> = Factor::new(
    "level_codecs",
    "Codec of each level, from level 0, such as none/none/lz4; all: the same for every level",
    spelled,
)
.default("all")
.accepts("LSM engines: `\"all\"` (one codec for all), or one for each level: `\"none/none/lz4\"`; the last one applies to the rest")
.label(Label::Unusual("levels {}"));
/// Codec of the last level.
pub static BOTTOMMOST: Factor<StoreCompression> = Factor::new(
    "bottommost_compression",
    "A different codec for the last level, such as zstd:9",
    spelled,
)
.decided("as `compression`")
.accepts("rocksdb: a codec for the last level")
.label(Label::Unusual("bottommost {}"))
.flag("bottommost");
/// Bytes of a dictionary.
pub static DICTIONARY: Factor<ByteSize> = Factor::new(
    "dictionary",
    "Size of the compression dictionary of each file; 0 for none",
    spelled,
)
.default("0")
.accepts("rocksdb: bytes of a dictionary per file")
.label(Label::Unusual("dictionary {}"));
/// The engine's cache.
pub static BLOCK_CACHE: Factor<ByteSize> = Factor::new(
    "block_cache",
    "Size of the engine's cache of uncompressed blocks; 0 for none",
    spelled,
)
.default("32MiB")
.accepts("bytes; redb: its page cache")
.label(Label::Unusual("cache {}"));
/// Bits of bloom filters.
pub static BLOOM_BITS: Factor<u32> = Factor::new(
    "bloom_bits",
    "Bits per key of the bloom filters; 0 for none",
    bits,
)
.default("10")
.accepts("LSM engines: 0 to 64")
.label(Label::Unusual("bloom {}"));
/// Memory for writes.
pub static WRITE_BUFFER: Factor<ByteSize> = Factor::new(
    "write_buffer",
    "Memory that buffers writes before they are flushed to a file",
    spelled,
)
.default("64MiB")
.accepts("LSM engines: 64 KiB or more");
/// How files are merged.
pub static COMPACTION: Factor<CompactionStyle> =
    Factor::new("compaction", "Compaction style: leveled, universal", spelled)
        .default("leveled")
        .accepts("rocksdb: `\"leveled\"`, `\"universal\"`")
        .label(Label::Unusual("{}"));
/// Through the page cache or not.
pub static IO: Factor<StoreIo> = Factor::new(
    "store_io",
    "How files are accessed: buffered (page cache), direct",
    spelled,
)
.default("buffered")
.accepts("rocksdb: `\"buffered\"`, `\"direct\"`")
.label(Label::Unusual("{} I/O"))
.flag("io");
/// What a write has to reach.
pub static DURABILITY: Factor<Durability> = Factor::new(
    "durability",
    "What a write must reach before it is acknowledged: logged, synced, unlogged",
    spelled,
)
.decided("`\"logged\"`; redb and memcached: `\"unlogged\"`")
.accepts(
    "`\"logged\"` (the log, in the page cache), `\"synced\"` (the log, on the device), `\"unlogged\"` (memory); fjall always has a log, redb and memcached have none",
);
/// What its files lie on.
pub static FILESYSTEM: Factor<StoreFilesystem> = Factor::new(
    "filesystem",
    "Filesystem for the databases: as-is, or one made for each trial (needs root), such as \"btrfs zstd:1\"",
    spelled,
)
.default("as-is")
.accepts(
    "`\"as-is\"` (that of the run's directory), or one that is made for each trial in an unnamed file, which needs root: `\"ext4\"`, `\"btrfs\"`, \
     `\"btrfs zstd:1\"`",
)
.label(Label::Unusual("on {}"));
/// The workload by name.
pub static WORKLOAD: Factor<StoreWorkload> = Factor::new(
    "workload",
    "The workload: ycsb-a … ycsb-f, mixgraph, or a mix such as read:95+update:5",
    spelled,
)
.default("ycsb-a")
.accepts("`\"ycsb-a\"` … `\"ycsb-f\"`, `\"mixgraph\"`, or parts of operations: `\"read:95+update:5\"`")
.label(Label::Always("{}"));
/// Which keys are asked for.
pub static REQUESTS: Factor<RequestDistribution> = Factor::new(
    "request_distribution",
    "Which keys are requested: zipfian, latest, uniform, zipf:0.99, mixgraph",
    spelled,
)
.decided(OF_WORKLOAD)
.accepts("`\"zipfian\"` (YCSB's scrambled one), `\"latest\"`, `\"uniform\"`, `\"zipf:0.99\"` (plain), `\"mixgraph\"`")
.label(Label::Always("{}"))
.flag("requests");
/// How many records.
pub static RECORDS: Factor<u64> = Factor::new(
    "records",
    "Records that are loaded into each database, as in 100000 or 1M",
    count::<MOST_RECORDS>,
)
.default("100000")
.accepts("records of each database")
.label(Label::Always("{} records"));
/// How long values are.
pub static VALUE_SIZE: Factor<ValueSize> = Factor::new(
    "value_size",
    "Size of the values: fixed:1000B, or etc (as in Facebook's ETC workload)",
    spelled,
)
.decided(OF_WORKLOAD)
.accepts("`\"fixed:1000B\"` (YCSB's ten fields of 100 B), `\"etc\"`, mixgraph's own");
/// What values contain.
pub static CONTENT: Factor<Content> = Factor::new(
    "content",
    "Content of generated values: random, zeros, compressible:2",
    spelled,
)
.default("compressible:2")
.accepts("generated values: `\"compressible:2\"`, `\"entropy:4\"`, `\"random\"`, `\"zeros\"`")
.label(Label::Unusual("{}"))
.role(Role::Data);
/// Threads of a process.
pub static THREADS: Factor<u32> =
    Factor::new("threads", "Threads of each process", small_count::<MOST_WORKERS>)
        .default("1")
        .accepts("threads of each process")
        .label(Label::Unusual("{} threads"));
/// Processes.
pub static PROCESSES: Factor<u32> = Factor::new(
    "processes",
    "Processes, each with its own database",
    small_count::<MOST_WORKERS>,
)
.default("1")
.accepts("processes, each with its own database of `records`")
.label(Label::Unusual("{} processes"));
/// When operations are due.
pub static ARRIVAL: Factor<Arrival> = Factor::new("arrival", "Arrival process: closed, constant:RATE, poisson:RATE, etc:RATE, sine:RATE:SWING:PERIOD", spelled)
    .default("closed")
    .accepts("`\"closed\"`; open loop: `\"constant:20k\"`, `\"poisson:20k\"`, `\"etc:20k\"`, `\"sine:4500:1000:86071s\"` (mean, swing and period) operations per second of all processes together")
    .label(Label::Unusual("{}"))
    .role(Role::Condition)
    .assumed("closed");
/// Most memory of a process.
pub static MEMORY_LIMIT: Factor<MemoryLimit> = Factor::new(
    "memory_limit",
    "Memory limit of each process, including its page cache (needs root); none for no limit",
    spelled,
)
.default("none")
.accepts("`\"none\"`, or bytes for each process with its page cache: a control group, which needs root")
.label(Label::Unusual("{} memory"))
.role(Role::Condition)
.assumed("none");
/// Between load and run.
pub static SETTLING: Factor<Settling> = Factor::new(
    "settling",
    "What to wait for between load and run: compacted (until no compaction is left), rest:60s, none",
    spelled,
)
.default("compacted")
.accepts("`\"compacted\"` (until no compaction is pending or running), `\"rest:60s\"`, `\"none\"`")
.role(Role::Condition)
.assumed("compacted");
/// What is in the page cache.
pub static PAGE_CACHE: Factor<PageCache> = Factor::new(
    "page_cache",
    "Whether the database's files are in the page cache when the run begins: dropped, kept",
    spelled,
)
.default("dropped")
.accepts("`\"dropped\"` (after a sync), `\"kept\"`")
.label(Label::Unusual("page cache {}"))
.role(Role::Condition)
.assumed("dropped");

fn bits(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(bits) if bits <= 64 => Ok(bits),
        _ => Err(format!(
            "`{text}` is not accepted; expected a whole number from 0 to 64"
        )),
    }
}
