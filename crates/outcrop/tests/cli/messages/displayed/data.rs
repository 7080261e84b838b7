//! Messages about codecs, columns and the data that they work on.

use std::path::PathBuf;

use outcrop_codec::CodecErrorKind;
use outcrop_column::ColumnError;
use outcrop_column_bench::BenchError;
use outcrop_compress::{CompressError, NoInterval};
use outcrop_input::{Compression, InputError};

use super::{denied, file, hold, text};

#[test]
fn of_codecs_and_of_data() {
    hold(
        "codec",
        include_str!("../../../../../outcrop-codec/src/error.rs"),
        [
            CodecErrorKind::UnknownCodec {
                seen: text("gzip"),
                known: text("lz4, zstd"),
            },
            CodecErrorKind::Setting {
                codec: "zstd",
                seen: text("99"),
                accepted: "zstd:-7 to zstd:22",
            },
            CodecErrorKind::Absent {
                codec: "zstd@system",
                why: text(
                    "libzstd.so.1: cannot open shared object file: No such file or directory; install the package libzstd1",
                ),
            },
            CodecErrorKind::TargetTooSmall {
                codec: "lz4",
                needed: 4112,
                available: 4096,
            },
            CodecErrorKind::BlockTooLarge {
                codec: "lz4",
                limit: 2_113_929_216,
                seen: 3_000_000_000,
            },
            CodecErrorKind::Corrupt {
                codec: "lz4",
                compressed_bytes: 12,
                why: text("a match reaches before the block"),
            },
            CodecErrorKind::Refused {
                codec: "zstd",
                source_bytes: 4096,
                why: text("the parameter is out of bound"),
            },
            CodecErrorKind::OutOfMemory { codec: "zstd" },
        ],
    );
    hold(
        "input",
        include_str!("../../../../../outcrop-input/src/error.rs"),
        [
            InputError::Truncated {
                name: text("orders.csv.gz"),
                compression: Compression::Gzip,
                offset: 4711,
                decompressed_bytes: 65_536,
            },
            InputError::Damaged {
                name: text("orders.csv.zst"),
                compression: Compression::Zstd,
                offset: 4711,
                decompressed_bytes: 65_536,
                reason: text("checksum mismatch"),
            },
            InputError::LongWindow {
                name: text("orders.csv.zst"),
                compression: Compression::Zstd,
            },
            InputError::NoMemory {
                name: text("orders.csv.zst"),
                compression: Compression::Zstd,
            },
            InputError::TooLarge {
                name: text("orders.csv.xz"),
                limit_bytes: 1 << 30,
            },
        ],
    );
}

#[test]
fn of_the_compression_layer() {
    let origin = || text("orders.csv+4096");
    hold(
        "compress",
        include_str!("../../../../../outcrop-compress/src/error.rs"),
        [
            CompressError::Path {
                action: "read",
                path: file(),
                source: denied(),
            },
            CompressError::Stdin(denied()),
            CompressError::Stream {
                name: text("orders.csv.gz"),
                source: denied(),
            },
            CompressError::WrongKind {
                path: file(),
                seen: "a socket",
            },
            CompressError::Empty {
                what: text("orders.csv"),
            },
            CompressError::NoFiles {
                path: PathBuf::from("/srv/data"),
                seen: text("3 empty"),
            },
            CompressError::BlockLargerThanData {
                block_bytes: 65_536,
                data_bytes: 4096,
            },
            CompressError::BlockLargerThanSample {
                block_bytes: 65_536,
                sample_bytes: 4096,
                data_bytes: 1 << 20,
            },
            CompressError::BlockLargerThanPiece {
                block_bytes: 1 << 20,
                piece_bytes: 131_072,
            },
            CompressError::Spec {
                field: "threads",
                seen: text("0"),
                expected: text("1 to 1024"),
            },
            CompressError::Pin {
                cpu: 3,
                source: denied(),
            },
            CompressError::Mismatch {
                codec: text("zstd:3"),
                origin: origin(),
                block_bytes: 4096,
            },
            CompressError::NotRepeatable {
                codec: text("zstd:3"),
                origin: origin(),
                now_bytes: 1201,
                before_bytes: 1200,
            },
            CompressError::Codec {
                origin: origin(),
                source: CodecErrorKind::OutOfMemory { codec: "zstd" }.into(),
            },
            CompressError::Interrupted,
        ],
    );
    hold(
        "no-interval",
        include_str!("../../../../../outcrop-compress/src/confidence.rs"),
        [NoInterval::FewClusters { clusters: 3 }, NoInterval::Chosen],
    );
}

#[test]
fn of_columns() {
    hold(
        "column",
        include_str!("../../../../../outcrop-column/src/error.rs"),
        [
            ColumnError::Io(denied()),
            ColumnError::Path {
                path: file(),
                source: denied(),
            },
            ColumnError::NotAColumn {
                found: vec![0x50, 0x41],
                expected: *b"OCOLUMN\x01",
            },
            ColumnError::Unsupported {
                major: 2,
                minor: 0,
                incompatible: 1,
                known_major: 1,
                known_features: 1,
            },
            ColumnError::ReadOnly { features: 2 },
            ColumnError::UnknownForm { form: 0x7f },
            ColumnError::Corrupt {
                part: "dictionary",
                offset: 4711,
                detail: text("checksum mismatch"),
            },
            ColumnError::Truncated {
                size_bytes: 4000,
                expected_bytes: 4711,
            },
            ColumnError::Limit {
                what: "value length",
                seen: 5 << 30,
                limit: 1 << 30,
                hint: "shorten the value",
            },
            ColumnError::LongBlock {
                bytes: 5 << 30,
                limit: 1 << 30,
            },
            ColumnError::LongValue {
                bytes: 5 << 30,
                limit: 1 << 30,
            },
            ColumnError::TooLong {
                what: text("line 3 of the input: the record that begins here"),
                limit: 256 << 20,
                question: "is a quotation mark not closed, or the delimiter another one?",
            },
            ColumnError::Input {
                line: 3,
                detail: text("5 fields, expected 9"),
            },
            ColumnError::NoSuchColumn {
                wanted: Some(text("\"city\"")),
                existing: vec![text("id"), text("status")],
                delimiter: Some(','),
            },
            ColumnError::NotStrings {
                name: text("tags"),
                seen: text("lists"),
                strings: vec![text("city")],
            },
            ColumnError::Foreign {
                format: "Parquet",
                detail: text("the footer is missing"),
            },
            ColumnError::NoSuchRow {
                row: 100,
                row_count: 100,
            },
            ColumnError::NoCodes,
            ColumnError::Kernels {
                kernels: "avx512",
                missing: vec!["avx512f", "avx512bw"],
                widest: "avx2",
            },
        ],
    );
    hold(
        "column-bench",
        include_str!("../../../../../outcrop-column-bench/src/error.rs"),
        [
            BenchError::Path {
                path: file(),
                source: denied(),
            },
            BenchError::Table {
                path: file(),
                detail: text("no line ends within the first megabyte"),
            },
            BenchError::Scratch {
                directory: PathBuf::from("/srv"),
                source: denied(),
            },
            BenchError::Wrong {
                operation: "equality",
                detail: text("12 rows instead of 13"),
            },
            BenchError::Interrupted,
        ],
    );
}
