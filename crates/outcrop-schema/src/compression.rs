//! The compression layer: codecs on the user's data, on the embedded sample, or on generated content.

mod library;
mod values;

use outcrop_measure::metric::Metric;
use outcrop_measure::units::ByteSize;
use outcrop_workload::{BlockContent, Caches, words};

use crate::factor::{Factor, Label, Role};
use crate::layer::{LayerSchema, TableColumn};
use crate::metrics::{Latencies, latencies, metric, metrics};
use crate::parse::{any, spelled};
use crate::remark::RemarkKind;
use crate::sampling::{Bounded, Sampling};

pub use library::{LIBRARY, Library};
pub use values::{CodecName, Context, Data, FAMILIES, LIBRARY_MARK, Measurement, Threads};

/// The layer.
pub static SCHEMA: LayerSchema = LayerSchema {
    subject: &[&DATA, &SAMPLE_SIZE],
    workload: &[
        &CODEC,
        &COMPRESSION_BLOCK_SIZE,
        &CONTENT,
        &THREADS,
        &CONTEXT,
        &CACHES,
        &MEASUREMENT,
    ],
    published: &[&COMPRESSED_PERCENT, &CORPUS],
    to_state: &[&CORPUS],
    metrics: &[
        PLAIN,
        &SPEED.all(),
        &CPU_PER_BYTE.all(),
        &PUBLISHED_LATENCY.all(),
        &LATENCY.compress.all(),
        &LATENCY.decompress.all(),
        &BLOCK_RATIOS,
        &STORED_BYTES,
        &GROUP_BYTES,
    ],
    headline: &[
        SPEED.compress,
        STAGE_WHOLE_TIME,
        SPEED.decompress,
        COMPRESSION_RATIO,
    ],
    table: TABLE,
    remarks: &[LIBRARY, ABSENT, ENGINE_NOTE, NO_SUCH_BLOCKS],
    data_identity: &[UNCOMPRESSED_BYTES, BLOCK_COUNT, BLOCK_ENTROPY],
    sampling: Some(&SAMPLING),
    ..LayerSchema::named("compression")
};

/// Clusters are drawn of data that are larger than the sample.
static SAMPLING: Sampling = Sampling {
    size: &SAMPLE_SIZE,
    bytes: UNCOMPRESSED_BYTES,
    share: SAMPLED_SHARE,
    draws: SAMPLED_CLUSTERS,
    confidence: 0.95,
    bounded: &[
        Bounded {
            metric: COMPRESSION_RATIO,
            low: COMPRESSION_RATIO_LOW,
            high: COMPRESSION_RATIO_HIGH,
        },
        Bounded {
            metric: SAVED_SHARE,
            low: SAVED_SHARE_LOW,
            high: SAVED_SHARE_HIGH,
        },
    ],
    unbounded: &[&[BLOCK_ENTROPY], &BLOCK_RATIOS],
    parts: &GROUP_BYTES,
};

/// Columns of a table of cells: of speed, and of the stages of zstd.
const TABLE: &[TableColumn] = &[
    TableColumn::new(COMPRESSION_RATIO, "ratio", 0),
    TableColumn::share(SAVED_SHARE, "saved", 5),
    TableColumn::new(SPEED.compress, "compress", 1),
    TableColumn::new(SPEED.decompress, "decompress", 2),
    TableColumn::new(LATENCY.compress.p95, "compress p95", 3),
    TableColumn::new(LATENCY.decompress.p95, "decompress p95", 4),
    TableColumn::new(CPU_PER_BYTE.compress, "compress CPU", 6),
    TableColumn::new(CONTEXT_BYTES, "memory", 7),
    TableColumn::new(STAGE_WHOLE_TIME, "per block", 0),
    TableColumn::share(STAGE_MATCH_FINDING_SHARE, "match finding", 1),
    TableColumn::share(STAGE_LITERALS_SHARE, "literals", 2),
    TableColumn::share(STAGE_SEQUENCES_SHARE, "sequences", 3),
    TableColumn::new(STAGE_SUM_RATIO, "parts ÷ whole", 4),
    TableColumn::new(BLOCK_ENTROPY, "entropy", 8),
];

/// Blocks are held in memory three times: as they are, compressed, and decompressed.
const LARGEST_BLOCK: ByteSize = ByteSize(1 << 30);

/// Where the data come from.
pub static DATA: Factor<Data> = Factor::new("data", "The data to compress", spelled)
    .default("sample")
    .accepts(
        "`\"sample\"` (the Snappy test set, part of the program), `\"generated\"`, `\"-\"` (stdin), or the path of a file, a directory \
         or a block device",
    )
    .role(Role::Data);
/// How much of them is taken.
pub static SAMPLE_SIZE: Factor<ByteSize> = Factor::new(
    "sample_size",
    "Maximum sample size; larger data are sampled randomly",
    sample_size,
)
.default("16MiB")
.accepts("bytes; of larger data a random sample is taken, and the ratio gets an interval")
.role(Role::Data);

/// Codec and level.
pub static CODEC: Factor<CodecName> = Factor::new(
    "codec",
    "Codec and level: zstd:3, lz4, deflate-libdeflate:6 (`outcrop codec list`)",
    spelled,
)
.default("zstd:3")
.accepts("as listed by `outcrop codec list`")
.label(Label::Always("{}"));
/// Bytes compressed at once.
pub static COMPRESSION_BLOCK_SIZE: Factor<ByteSize> =
    Factor::new("compression_block_size", "Bytes per block: 4k, 64KiB", block_size)
        .decided("`\"64KiB\"`, or all of smaller data")
        .accepts("64 B to 1 GiB, and up to the data")
        .label(Label::Always("{}"))
        .flag("block-size");
/// What blocks contain.
pub static CONTENT: Factor<BlockContent> = Factor::new(
    "content",
    "Content of blocks: natural, natural:BITS, entropy:BITS, compressible:RATIO, zeros, random",
    spelled,
)
.decided("`\"natural\"`; generated: `\"compressible:2\"`")
.accepts(
    "`\"natural\"`, `\"natural:4\"` (the blocks nearest to 4 bits per byte), `\"entropy:4\"`, `\"compressible:2\"`, `\"zeros\"`, `\"random\"`",
)
.label(Label::Always("{}"))
.role(Role::Data);
/// Threads.
pub static THREADS: Factor<Threads> = Factor::new(
    "threads",
    "Threads, each bound to a CPU: 1, 8, all, all/2",
    spelled,
)
.default("1")
.accepts("a number, `\"all\"`, `\"all/2\"`, `\"all/4\"` of the CPUs; each thread is bound to one")
.label(Label::Unusual("{} threads"))
.open();
/// Whether contexts are kept.
pub static CONTEXT: Factor<Context> =
    Factor::new("context", "Codec context for each block: reused, fresh", spelled)
        .default("reused")
        .accepts("`\"reused\"`, `\"fresh\"` (made for each block)")
        .label(Label::Unusual("{} context"));
/// What lies in the caches.
pub static CACHES: Factor<Caches> =
    Factor::new("caches", "CPU caches before each block: warm, cold", spelled)
        .default("warm")
        .accepts("`\"warm\"`, `\"cold\"` (other data before each block; one thread)")
        .label(Label::Unusual("{} caches"));
/// What is measured.
pub static MEASUREMENT: Factor<Measurement> = Factor::new(
    "measurement",
    "What is timed: the codec's speed, or the stages of zstd",
    spelled,
)
.default("speed")
.accepts("`\"speed\"`, `\"stages\"` (of zstd)")
.label(Label::Unusual("{}"));
/// What a publication made its content of.
pub static COMPRESSED_PERCENT: Factor<f64> = Factor::new(
    "compressed_percent",
    "Compressed over original size in per cent, as published",
    spelled,
)
.role(Role::Data);
/// Which data a publication compressed: ratios and speeds of other data say nothing of one another.
pub static CORPUS: Factor<String> =
    Factor::new("corpus", "The data of a published figure, by name", any).role(Role::Data);

fn sample_size(text: &str) -> Result<ByteSize, String> {
    match spelled(text)? {
        ByteSize(0) => Err("the sample size must be at least 1 B, such as 16MiB".to_owned()),
        size => Ok(size),
    }
}

fn block_size(text: &str) -> Result<ByteSize, String> {
    match spelled::<ByteSize>(text)? {
        size if size.0 > 0 && size <= LARGEST_BLOCK => Ok(size),
        size => Err(format!(
            "{size} is not the size of a block; expected 1B to {LARGEST_BLOCK}, such as 4KiB"
        )),
    }
}

words! {
    /// Compressing or decompressing.
    pub enum Direction: "direction" {
        /// From blocks to compressed blocks.
        Compress = "compress",
        /// And back.
        Decompress = "decompress",
    }
}

/// A metric, or a family of them, of each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByDirection<M> {
    /// Of compressing.
    pub compress: M,
    /// Of decompressing.
    pub decompress: M,
}

impl<M: Copy> ByDirection<M> {
    /// That of one direction.
    pub const fn of(&self, direction: Direction) -> M {
        match direction {
            Direction::Compress => self.compress,
            Direction::Decompress => self.decompress,
        }
    }

    const fn all(&self) -> [M; 2] {
        [self.compress, self.decompress]
    }
}

/// Uncompressed bytes per second.
pub const SPEED: ByDirection<Metric> = ByDirection {
    compress: metric!(
        "compress_speed",
        BytesPerSecond,
        Higher,
        Trial,
        "uncompressed bytes of all threads over the wall time of compressing"
    ),
    decompress: metric!(
        "decompress_speed",
        BytesPerSecond,
        Higher,
        Trial,
        "uncompressed bytes of all threads over the wall time of decompressing"
    ),
};
/// CPU time per uncompressed byte.
pub const CPU_PER_BYTE: ByDirection<Metric> = ByDirection {
    compress: metric!(
        "compress_cpu_per_byte",
        NanosecondsPerByte,
        Lower,
        Trial,
        "CPU time of the threads while compressing over its uncompressed bytes"
    ),
    decompress: metric!(
        "decompress_cpu_per_byte",
        NanosecondsPerByte,
        Lower,
        Trial,
        "CPU time of the threads while decompressing over its uncompressed bytes"
    ),
};
/// Time of one block.
pub const LATENCY: ByDirection<Latencies> = ByDirection {
    compress: latencies!(
        "compress_latency",
        "the time to compress a block, one read of the counter included"
    ),
    decompress: latencies!(
        "decompress_latency",
        "the time to decompress a block, one read of the counter included"
    ),
};
/// A published latency whose definition is not stated.
pub const PUBLISHED_LATENCY: ByDirection<Metric> = ByDirection {
    compress: metric!(
        "compress_latency_as_published",
        Nanoseconds,
        Lower,
        Trial,
        "a published latency of compressing; mean or percentile is not stated"
    ),
    decompress: metric!(
        "decompress_latency_as_published",
        Nanoseconds,
        Lower,
        Trial,
        "a published latency of decompressing; mean or percentile is not stated"
    ),
};

/// Metrics whose names end in a number, with the numbers.
macro_rules! numbered {
    ($(#[$note:meta])* $numbers:ident, $metrics:ident: $of:ty = $stem:literal, $unit:ident, $better:ident, $meaning:literal; $($number:literal)+) => {
        $(#[$note])*
        pub const $metrics: [Metric; [$($number as $of),+].len()] =
            [$(metric!(concat!($stem, $number), $unit, $better, DataSet, concat!($meaning, $number))),+];
        /// The numbers that these metrics end in.
        pub const $numbers: [$of; [$($number as $of),+].len()] = [$($number),+];
    };
}

numbered! {
    /// Compression ratio of single blocks: p1 is among the worst.
    RATIO_PERCENTILES, BLOCK_RATIOS: u8 = "block_ratio_p", Ratio, Higher, "compression ratio of single blocks at percentile "; 1 10 20 30 40 50 60 70 80 90 99
}
numbered! {
    /// Bytes that a drive stores when each page takes whole slots; dpzip only.
    SLOT_SIZES_BYTES, STORED_BYTES: usize = "stored_bytes_slot_", Bytes, Lower, "bytes that a drive stores when each page takes whole slots of this many bytes: "; 64 128 256 512 1024 2048
}

numbered! {
    /// Compressed bytes of equal parts of a sample, the same clusters in each part for every codec: two codecs are compared part by part.
    SAMPLE_GROUPS, GROUP_BYTES: usize = "compressed_bytes_of_group_", Bytes, Neither, "compressed bytes of a random sixteenth of the sampled clusters, the same ones for every codec: group "; 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
}

/// The metric of a percentile of the blocks' ratios; none where that percentile is not measured.
pub fn block_ratio(percent: u8) -> Option<Metric> {
    let place = RATIO_PERCENTILES.iter().position(|known| *known == percent)?;
    Some(BLOCK_RATIOS[place])
}

metrics! { PLAIN:
    COMPRESSION_RATIO = "compression_ratio", Ratio, Higher, DataSet, "uncompressed over compressed bytes of all blocks";
    COMPRESSION_RATIO_LOW = "compression_ratio_low", Ratio, Neither, DataSet, "lower end of the 95 % interval of the ratio of all the data; the ratio itself when all the data were measured";
    COMPRESSION_RATIO_HIGH = "compression_ratio_high", Ratio, Neither, DataSet, "upper end of the 95 % interval of the ratio of all the data; the ratio itself when all the data were measured";
    SAMPLED_SHARE = "sampled_share", Ratio, Neither, DataSet, "bytes sampled over bytes of the data";
    SAMPLED_CLUSTERS = "sampled_clusters", Count, Neither, DataSet, "clusters of the data that were sampled: the draws that the ratio's interval rests on";
    SAVED_SHARE = "saved_share", Ratio, Higher, DataSet, "1 − compressed over uncompressed bytes; negative when blocks grew";
    SAVED_SHARE_LOW = "saved_share_low", Ratio, Neither, DataSet, "lower end of the 95 % interval of the saved share of all the data";
    SAVED_SHARE_HIGH = "saved_share_high", Ratio, Neither, DataSet, "upper end of the 95 % interval of the saved share of all the data";
    UNCOMPRESSED_BYTES = "uncompressed_bytes", Bytes, Neither, DataSet, "bytes of all blocks";
    COMPRESSED_BYTES = "compressed_bytes", Bytes, Lower, DataSet, "bytes of all compressed blocks";
    BLOCK_COUNT = "block_count", Count, Neither, DataSet, "blocks, the short last ones of files included";
    BLOCK_ENTROPY = "block_entropy", BitsPerByte, Neither, DataSet, "mean order-0 entropy of the blocks";
    ENERGY_PER_BYTE = "energy_per_byte", Joules, Lower, Trial, "energy of the metered packages during both phases over the uncompressed bytes of all passes in them, warm-up included";
    CONTEXT_BYTES = "context_bytes", Bytes, Lower, DataSet, "most memory that one thread's contexts take, as the library states it";
    MODELLED_COMPRESS_SPEED = "modelled_compress_speed", BytesPerSecond, Higher, DataSet, "throughput of the hardware by the cycle model, with pages back to back; dpzip only";
    MODELLED_PAGE_LATENCY = "modelled_page_latency", Nanoseconds, Lower, DataSet, "mean time per page of the hardware by the cycle model; dpzip only";
    STAGE_WHOLE_TIME = "stage_whole_time", Nanoseconds, Lower, Trial, "ZSTD_compress2 of a block, mean";
    STAGE_MATCH_FINDING_TIME = "stage_match_finding_time", Nanoseconds, Lower, Trial, "match finding of a block, mean";
    STAGE_LITERALS_TIME = "stage_literals_time", Nanoseconds, Lower, Trial, "coding the literals of a block, mean";
    STAGE_SEQUENCES_TIME = "stage_sequences_time", Nanoseconds, Lower, Trial, "coding the sequences of a block, mean";
    STAGE_MATCH_FINDING_SHARE = "stage_match_finding_share", Ratio, Neither, Trial, "match finding over the sum of the parts";
    STAGE_LITERALS_SHARE = "stage_literals_share", Ratio, Neither, Trial, "literal coding over the sum of the parts";
    STAGE_SEQUENCES_SHARE = "stage_sequences_share", Ratio, Neither, Trial, "sequence coding over the sum of the parts";
    STAGE_SUM_RATIO = "stage_sum_ratio", Ratio, Neither, Trial, "sum of the parts over the whole; outside 0.85 to 1.15 the shares are unreliable";
    PUBLISHED_SEQUENCES_TIME = "stage_sequences_time_as_published", Nanoseconds, Lower, Trial, "a published time of sequence coding, of building its tables only";
    PUBLISHED_SEQUENCES_SHARE = "stage_sequences_share_as_published", Ratio, Neither, Trial, "the share of that";
    STAGE_BLOCKS_SKIPPED = "stage_blocks_skipped", Count, Neither, DataSet, "incompressible blocks, which have no stages";
}

/// The engine said something.
pub const ENGINE_NOTE: RemarkKind = RemarkKind::new("engine-note", "the engine's remark about a trial", "");
/// Its library is not on this machine.
pub const ABSENT: RemarkKind = RemarkKind::new(
    "not-measured",
    "the codec's library is the system's, and not on this machine",
    "",
);
/// The data lack blocks of an entropy.
pub const NO_SUCH_BLOCKS: RemarkKind = RemarkKind::new(
    "entropy-not-reached",
    "the data have no blocks near the requested entropy",
    "the data have no blocks near",
);
