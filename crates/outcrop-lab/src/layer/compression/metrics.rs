//! What a trial of a codec yields: the metrics' names, units and meanings.
//!
//! The report reads records by these names; the contract is in `docs/design/0004-compression.md`.

use crate::layer::metrics;

/// Compressing or decompressing; the prefix of a metric's name and a histogram's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From blocks to compressed blocks.
    Compress,
    /// And back.
    Decompress,
}

impl Direction {
    /// Both, in the order of a trial.
    pub const ALL: [Self; 2] = [Self::Compress, Self::Decompress];

    /// `compress` or `decompress`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Compress => "compress",
            Self::Decompress => "decompress",
        }
    }

    /// `compress_speed` from `speed`.
    pub fn name(self, stem: &str) -> String {
        format!("{}_{stem}", self.word())
    }
}

/// The percentiles of `block_ratio_…`, in per cent.
pub const RATIO_PERCENTILES: [u8; 11] = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

/// The name of a ratio percentile: `block_ratio_p10`.
pub fn block_ratio(percent: u8) -> String {
    format!("block_ratio_p{percent}")
}

/// Slot sizes that published drives round compressed pages up to.
pub const SLOT_SIZES_BYTES: [usize; 6] = [64, 128, 256, 512, 1024, 2048];

/// The name of a slot-rounded size: `stored_bytes_slot_512`.
pub fn stored_bytes_slot(slot_bytes: usize) -> String {
    format!("stored_bytes_slot_{slot_bytes}")
}

metrics! {
    COMPRESSION_RATIO = "compression_ratio", Ratio, "uncompressed over compressed bytes of all blocks";
    COMPRESSION_RATIO_LOW = "compression_ratio_low", Ratio, "lower end of the 95 % interval of the ratio of all the data; the ratio itself when all of it was taken";
    COMPRESSION_RATIO_HIGH = "compression_ratio_high", Ratio, "upper end of the 95 % interval of the ratio of all the data; the ratio itself when all of it was taken";
    SAMPLED_SHARE = "sampled_share", Ratio, "bytes that were taken over bytes of the data";
    SAVED_SHARE = "saved_share", Ratio, "1 − compressed over uncompressed bytes; negative when blocks grew";
    /// A percentile follows, see [`block_ratio`].
    BLOCK_RATIO = "block_ratio", Ratio, "compression ratio of single blocks; p1 is among the worst";
    UNCOMPRESSED_BYTES = "uncompressed_bytes", Bytes, "bytes of all blocks";
    COMPRESSED_BYTES = "compressed_bytes", Bytes, "bytes of all compressed blocks";
    BLOCK_COUNT = "block_count", Count, "blocks, the short last ones of files included";
    BLOCK_ENTROPY = "block_entropy", BitsPerByte, "mean order-0 entropy of the blocks";
    /// With the prefix of a [`Direction`].
    SPEED = "speed", BytesPerSecond, "uncompressed bytes of all threads over the wall time of the phase";
    /// With the prefix of a [`Direction`] and a statistic (`_mean`, `_p99`, `_max`).
    LATENCY = "latency", Nanoseconds, "time of one block, one read of the counter included";
    /// With the prefix of a [`Direction`].
    CPU_PER_BYTE = "cpu_per_byte", NanosecondsPerByte, "CPU time of the threads during the phase over its uncompressed bytes";
    ENERGY_PER_BYTE = "energy_per_byte", Joules, "energy of the metered packages during both phases over the uncompressed bytes of both";
    CONTEXT_BYTES = "context_bytes", Bytes, "memory of one thread's contexts, as the library states it";
    /// dpzip only; modelled.
    MODELLED_COMPRESS_SPEED = "modelled_compress_speed", BytesPerSecond, "what the cycle model says of the hardware: bytes per second, pages following each other";
    /// dpzip only; modelled.
    MODELLED_PAGE_LATENCY = "modelled_page_latency", Nanoseconds, "what the cycle model says of the hardware: mean time of a page";
    /// dpzip only; a slot size follows, see [`stored_bytes_slot`].
    STORED_BYTES_SLOT = "stored_bytes_slot", Bytes, "bytes that a drive stores when each page takes whole slots";
    STAGE_WHOLE_TIME = "stage_whole_time", Nanoseconds, "ZSTD_compress2 of a block, mean";
    STAGE_MATCH_FINDING_TIME = "stage_match_finding_time", Nanoseconds, "match finding of a block, mean";
    STAGE_LITERALS_TIME = "stage_literals_time", Nanoseconds, "coding the literals of a block, mean";
    STAGE_SEQUENCES_TIME = "stage_sequences_time", Nanoseconds, "coding the sequences of a block, mean";
    STAGE_MATCH_FINDING_SHARE = "stage_match_finding_share", Ratio, "match finding over the sum of the parts";
    STAGE_LITERALS_SHARE = "stage_literals_share", Ratio, "literal coding over the sum of the parts";
    STAGE_SEQUENCES_SHARE = "stage_sequences_share", Ratio, "sequence coding over the sum of the parts";
    STAGE_SUM_RATIO = "stage_sum_ratio", Ratio, "sum of the parts over the whole; outside 0.85 … 1.15 the shares are not believed";
    STAGE_BLOCKS_SKIPPED = "stage_blocks_skipped", Count, "incompressible blocks, which have no stages";
}
