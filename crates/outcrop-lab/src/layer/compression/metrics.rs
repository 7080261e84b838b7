//! What a trial of a codec yields: the metrics' names, units and meanings.
//!
//! The report reads records by these names; the contract is in `docs/design/0004-compression.md`.

use outcrop_measure::metric::{Metric, Unit};

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

/// Uncompressed over compressed.
pub const COMPRESSION_RATIO: Metric = Metric {
    name: "compression_ratio",
    unit: Unit::Ratio,
    meaning: "uncompressed over compressed bytes of all blocks",
};

/// Lower end of the ratio of all the data.
pub const COMPRESSION_RATIO_LOW: Metric = Metric {
    name: "compression_ratio_low",
    unit: Unit::Ratio,
    meaning: "lower end of the 95 % interval of the ratio of all the data; the ratio itself when all of it was taken",
};

/// Upper end of the ratio of all the data.
pub const COMPRESSION_RATIO_HIGH: Metric = Metric {
    name: "compression_ratio_high",
    unit: Unit::Ratio,
    meaning: "upper end of the 95 % interval of the ratio of all the data; the ratio itself when all of it was taken",
};

/// How much of the data was looked at.
pub const SAMPLED_SHARE: Metric = Metric {
    name: "sampled_share",
    unit: Unit::Ratio,
    meaning: "bytes that were taken over bytes of the data",
};

/// What compression saves.
pub const SAVED_SHARE: Metric = Metric {
    name: "saved_share",
    unit: Unit::Ratio,
    meaning: "1 − compressed over uncompressed bytes; negative when blocks grew",
};

/// Ratio of single blocks; a percentile follows, see [`block_ratio`].
pub const BLOCK_RATIO: Metric = Metric {
    name: "block_ratio",
    unit: Unit::Ratio,
    meaning: "compression ratio of single blocks; p1 is among the worst",
};

/// The blocks, once.
pub const UNCOMPRESSED_BYTES: Metric = Metric {
    name: "uncompressed_bytes",
    unit: Unit::Bytes,
    meaning: "bytes of all blocks",
};

/// What they become, once.
pub const COMPRESSED_BYTES: Metric = Metric {
    name: "compressed_bytes",
    unit: Unit::Bytes,
    meaning: "bytes of all compressed blocks",
};

/// How many blocks.
pub const BLOCK_COUNT: Metric = Metric {
    name: "block_count",
    unit: Unit::Count,
    meaning: "blocks, the short last ones of files included",
};

/// Order-0 entropy of the blocks.
pub const BLOCK_ENTROPY: Metric = Metric {
    name: "block_entropy",
    unit: Unit::BitsPerByte,
    meaning: "mean order-0 entropy of the blocks",
};

/// Bytes per second; with the prefix of a [`Direction`].
pub const SPEED: Metric = Metric {
    name: "speed",
    unit: Unit::BytesPerSecond,
    meaning: "uncompressed bytes of all threads over the wall time of the phase",
};

/// Time of one block; with the prefix of a [`Direction`] and a statistic (`_mean`, `_p99`, `_max`).
pub const LATENCY: Metric = Metric {
    name: "latency",
    unit: Unit::Nanoseconds,
    meaning: "time of one block, one read of the counter included",
};

/// CPU time per byte; with the prefix of a [`Direction`].
pub const CPU_PER_BYTE: Metric = Metric {
    name: "cpu_per_byte",
    unit: Unit::NanosecondsPerByte,
    meaning: "CPU time of the threads during the phase over its uncompressed bytes",
};

/// Energy of the machine per byte.
pub const ENERGY_PER_BYTE: Metric = Metric {
    name: "energy_per_byte",
    unit: Unit::Joules,
    meaning: "energy of the metered packages during both phases over the uncompressed bytes of both",
};

/// Memory of the codec.
pub const CONTEXT_BYTES: Metric = Metric {
    name: "context_bytes",
    unit: Unit::Bytes,
    meaning: "memory of one thread's contexts, as the library states it",
};

/// dpzip only; modelled.
pub const MODELLED_COMPRESS_SPEED: Metric = Metric {
    name: "modelled_compress_speed",
    unit: Unit::BytesPerSecond,
    meaning: "what the cycle model says of the hardware: bytes per second, pages following each other",
};

/// dpzip only; modelled.
pub const MODELLED_PAGE_LATENCY: Metric = Metric {
    name: "modelled_page_latency",
    unit: Unit::Nanoseconds,
    meaning: "what the cycle model says of the hardware: mean time of a page",
};

/// dpzip only; a slot size follows, see [`stored_bytes_slot`].
pub const STORED_BYTES_SLOT: Metric = Metric {
    name: "stored_bytes_slot",
    unit: Unit::Bytes,
    meaning: "bytes that a drive stores when each page takes whole slots",
};

/// zstd's stages: the whole.
pub const STAGE_WHOLE_TIME: Metric = Metric {
    name: "stage_whole_time",
    unit: Unit::Nanoseconds,
    meaning: "ZSTD_compress2 of a block, mean",
};

/// zstd's stages: LZ77.
pub const STAGE_MATCH_FINDING_TIME: Metric = Metric {
    name: "stage_match_finding_time",
    unit: Unit::Nanoseconds,
    meaning: "match finding of a block, mean",
};

/// zstd's stages: Huffman.
pub const STAGE_LITERALS_TIME: Metric = Metric {
    name: "stage_literals_time",
    unit: Unit::Nanoseconds,
    meaning: "coding the literals of a block, mean",
};

/// zstd's stages: FSE.
pub const STAGE_SEQUENCES_TIME: Metric = Metric {
    name: "stage_sequences_time",
    unit: Unit::Nanoseconds,
    meaning: "coding the sequences of a block, mean",
};

/// zstd's stages: LZ77.
pub const STAGE_MATCH_FINDING_SHARE: Metric = Metric {
    name: "stage_match_finding_share",
    unit: Unit::Ratio,
    meaning: "match finding over the sum of the parts",
};

/// zstd's stages: Huffman.
pub const STAGE_LITERALS_SHARE: Metric = Metric {
    name: "stage_literals_share",
    unit: Unit::Ratio,
    meaning: "literal coding over the sum of the parts",
};

/// zstd's stages: FSE.
pub const STAGE_SEQUENCES_SHARE: Metric = Metric {
    name: "stage_sequences_share",
    unit: Unit::Ratio,
    meaning: "sequence coding over the sum of the parts",
};

/// zstd's stages: whether the parts explain the whole.
pub const STAGE_SUM_RATIO: Metric = Metric {
    name: "stage_sum_ratio",
    unit: Unit::Ratio,
    meaning: "sum of the parts over the whole; outside 0.85 … 1.15 the shares are not believed",
};

/// zstd's stages: blocks without any.
pub const STAGE_BLOCKS_SKIPPED: Metric = Metric {
    name: "stage_blocks_skipped",
    unit: Unit::Count,
    meaning: "incompressible blocks, which have no stages",
};
