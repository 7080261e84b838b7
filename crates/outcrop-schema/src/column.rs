//! The column layer: string columns, made or the user's, in the dictionary codec and beside it.

mod delimited;

use std::fmt;
use std::str::FromStr;

use outcrop_measure::units::ByteSize;
use outcrop_workload::column::{Operation, RowOrder, SearchMode};
use outcrop_workload::words;

pub use delimited::{
    DELIMITER, Delimiter, HEADER, Header, NULL_TEXT, OF_DELIMITED, QUOTES, Quotes, arguments,
};

use crate::compression::CodecName;
use crate::factor::{Factor, Label, Role};
use crate::layer::{LayerSchema, TableColumn};
use crate::metrics::{Latencies, latencies, metrics};
use crate::parse::{any, count, small_count, spelled};
use crate::remark::RemarkKind;
use crate::value::{Column, Value};

/// The layer.
pub static SCHEMA: LayerSchema = LayerSchema {
    subject: &[&KIND, &PATH, &DELIMITER, &HEADER, &QUOTES, &NULL_TEXT],
    workload: &[
        &OPERATION,
        &COLUMN,
        &ROWS,
        &DISTINCT,
        &SKEW,
        &ORDER,
        &FORMAT,
        &INDEX,
        &PROFILE,
        &WITHOUT,
        &THREADS,
        &KERNELS,
        &SEARCH_MODE,
        &TEXT_LIMIT,
    ],
    metrics: &[PLAIN, &LATENCY.all()],
    headline: &[
        ENCODE_SPEED,
        DECODE_SPEED,
        LATENCY.p50,
        OPERATION_RATE,
        ROW_RATE,
        FILE_BYTES,
    ],
    table: TABLE,
    remarks: &[
        PACKED,
        ENCODINGS,
        STORED_FORM,
        PARQUET_AS,
        PARQUET_ENCODING,
        TEXT_OF,
        LEFT_OUT,
        KERNELS_USED,
        ABSENT,
    ],
    data_identity: &[ROW_COUNT, NULL_ROWS, TEXT_BYTES],
    path: Some(&PATH),
    ..LayerSchema::named("column")
};

/// Columns of a table of cells: each operation has some of them.
const TABLE: &[TableColumn] = &[
    TableColumn::new(FILE_BYTES, ".ocol", 3),
    TableColumn::new(STORED_BYTES, "your file", 0),
    TableColumn::new(PARQUET_ZSTD_BYTES, "Parquet zstd:3", 0),
    TableColumn::new(PARQUET_DEFAULT_BYTES, "Parquet by default", 2),
    TableColumn::new(COMPRESSION_RATIO, "text ÷ .ocol", 1),
    TableColumn::new(ENCODE_SPEED, "encode", 0),
    TableColumn::new(DECODE_SPEED, "decode", 0),
    TableColumn::new(OPERATION_RATE, "queries", 4),
    TableColumn::new(ROW_RATE, "rows", 5),
    TableColumn::new(LATENCY.p50, "p50", 0),
    TableColumn::new(LATENCY.p99, "p99", 1),
    TableColumn::new(HITS_PER_OPERATION, "rows found", 6),
    TableColumn::exported(ROW_COUNT),
];

words! {
    /// Where columns come from.
    pub enum Kind: "kind" {
        /// Made in memory, as the workload describes.
        Generated = "generated",
        /// Columns of a file or a folder of the user's.
        File = "file",
    }
}

words! {
    /// Index in the file from values to rows.
    #[derive(Default)]
    pub enum Index: "index" {
        /// Forward codes only.
        #[default]
        None = "none",
        /// Forward codes and postings.
        Postings = "postings",
        /// Postings only.
        Only = "only",
    }
}

words! {
    /// What matters more, size or time.
    #[derive(Default)]
    pub enum Profile: "profile" {
        /// Size.
        Smallest = "smallest",
        /// Both.
        #[default]
        Balanced = "balanced",
        /// Time.
        Fastest = "fastest",
    }
}

words! {
    /// The widest instructions that the inner loops use.
    #[derive(Default)]
    pub enum Kernels: "kernels" {
        /// The widest that the processor has.
        #[default]
        Widest = "widest",
        /// Plain loops.
        Scalar = "scalar",
        /// Vectors of 32 bytes.
        Avx2 = "avx2",
        /// Vectors of 64 bytes.
        Avx512 = "avx512",
    }
}

words! {
    /// A technique that makes files smaller, and is left out to see by how much.
    #[derive(Default)]
    pub enum Without: "technique" {
        /// None: the file as it always is.
        #[default]
        Nothing = "nothing",
        /// Values are stored whole.
        FrontCoding = "front-coding",
        /// Codes are stored, never their differences.
        Deltas = "deltas",
        /// All codes of a block have as many bits.
        Classes = "classes",
        /// Neither codes nor values pass through zstd.
        Zstd = "zstd",
        /// Blocks of codes are compressed each on its own, never as a group of tokens.
        Tokens = "tokens",
        /// Neither classes nor zstd.
        EntropyCoding = "entropy-coding",
        /// None of these techniques.
        All = "all",
    }
}

crate::value::ordered!(Kind, Index, Profile, Kernels, Without);

/// Rows that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All rows of a file.
    All,
    /// So many, the first ones of a file.
    Count(u64),
}

/// Rows of a segment.
const MOST_ROWS: u64 = u32::MAX as u64 - 1;

impl FromStr for Rows {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let rows = count::<MOST_ROWS>(text).map(Self::Count);
        rows.map_err(|error| format!("{error}, or \"all\" for a whole file"))
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Count(rows) => rows.fmt(f),
        }
    }
}

impl Value for Rows {
    const COLUMN: Column = Column::Whole;

    fn place(&self) -> Option<f64> {
        match self {
            Self::All => None,
            Self::Count(rows) => Some(*rows as f64),
        }
    }
}

/// What the rows are stored as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A column file.
    Ocol,
    /// Newline text under a codec.
    Text(CodecName),
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ocol" => Ok(Self::Ocol),
            codec => codec.parse().map(Self::Text),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ocol => f.write_str("ocol"),
            Self::Text(codec) => codec.fmt(f),
        }
    }
}

impl Value for Format {}

/// Distinct words that a column may be drawn from: of 4 to 11 letters there are enough for these.
const MOST_DISTINCT: u32 = 100_000_000;
/// More threads than any machine has.
const MOST_THREADS: u32 = 4096;
/// Beyond it nearly all rows have one value.
const MOST_SKEW: f64 = 4.0;

/// Where columns come from.
pub static KIND: Factor<Kind> = Factor::new("kind", "Where columns come from", spelled)
    .default("generated")
    .accepts(
        "`\"generated\"` (made in memory from the run's seed), `\"file\"` (columns of the table at `path`; only read)",
    )
    .role(Role::Data);
/// The table.
pub static PATH: Factor<String> = Factor::new("path", "The table to read, or a folder of tables", any)
    .accepts("files: `.csv`, `.tsv`, `.psv` (delimiter and names are detected), `.txt` (one value per line), `.parquet`, `.arrow`; or a folder of them")
    .role(Role::Data);

/// What is done.
pub static OPERATION: Factor<Operation> = Factor::new("operation", "The operation on the column", spelled)
    .default("encode")
    .accepts("`\"encode\"`, `\"decode\"`, `\"scan\"`, `\"equality\"`, `\"prefix\"`, `\"range\"`, `\"get\"`, `\"size\"` (once, of the whole column)")
    .label(Label::Always("{}"));
/// Which column of a file.
pub static COLUMN: Factor<String> = Factor::new("column", "The column of the file, by name or number", any)
    .accepts("files: the column's name, or its number from 0")
    .label(Label::Always("{}"))
    .role(Role::Data);
/// How many rows.
pub static ROWS: Factor<Rows> = Factor::new("rows", "Rows of the column", spelled)
    .decided("`1000000`; files: `\"all\"`")
    .accepts("rows; of a file, the first N")
    .role(Role::Data);
/// Words to draw from.
pub static DISTINCT: Factor<u32> = Factor::new(
    "distinct",
    "Distinct words of a generated column",
    small_count::<MOST_DISTINCT>,
)
.decided("`10000`")
.accepts("generated: words to draw from")
.label(Label::Always("distinct {}"))
.role(Role::Data);
/// How unevenly they are drawn.
pub static SKEW: Factor<f64> = Factor::new("skew", "Exponent of the words' Zipf distribution", skew)
    .decided("`0`")
    .accepts("generated: exponent of the Zipf distribution, 0 is uniform; decimals in quotes: `\"1.2\"`")
    .label(Label::Always("skew {}"))
    .role(Role::Data);
/// The order of the rows.
pub static ORDER: Factor<RowOrder> = Factor::new("order", "Order of the rows of a generated column", spelled)
    .decided("`\"random\"`")
    .accepts("generated: `\"random\"`, `\"clustered\"`, `\"sorted\"`")
    .role(Role::Data);
/// What they are stored as.
pub static FORMAT: Factor<Format> = Factor::new("format", "What the rows are stored as", spelled)
    .default("ocol")
    .accepts(
        "`\"ocol\"`, or a codec for newline text: `\"zstd:19\"`; searches scan the text, `\"none\"` as it is",
    )
    .label(Label::Unusual("{}"));
/// The index of the file.
pub static INDEX: Factor<Index> = Factor::new("index", "Index in the file", spelled)
    .default("none")
    .accepts("`\"none\"`, `\"postings\"`, `\"only\"`")
    .label(Label::Always("index {}"));
/// Size or time.
pub static PROFILE: Factor<Profile> = Factor::new("profile", "Whether size or time matters more", spelled)
    .default("balanced")
    .accepts("`\"smallest\"`, `\"balanced\"`, `\"fastest\"`")
    .label(Label::Unusual("{}"));
/// What the file is written without.
pub static WITHOUT: Factor<Without> = Factor::new("without", "Technique to leave out when the file is written", spelled)
    .default("nothing")
    .accepts(
        "`\"nothing\"`, `\"front-coding\"`, `\"deltas\"`, `\"classes\"`, `\"zstd\"`, `\"tokens\"`, `\"entropy-coding\"` (classes and zstd), `\"all\"`",
    )
    .label(Label::Unusual("without {}"));
/// The widest kernels that run.
pub static KERNELS: Factor<Kernels> = Factor::new("kernels", "Widest instructions of the inner loops", spelled)
    .default("widest")
    .accepts(
        "`\"widest\"` (that the processor has), `\"scalar\"`, `\"avx2\"`, `\"avx512\"`; cells with kernels that it lacks are unavailable",
    )
    .label(Label::Unusual("{} kernels"))
    .role(Role::Implementation);
/// Threads that encode.
pub static THREADS: Factor<u32> = Factor::new("threads", "Threads that encode", small_count::<MOST_THREADS>)
    .default("1")
    .accepts("threads that encode")
    .label(Label::Unusual("{} threads"));
/// Where the file is.
pub static SEARCH_MODE: Factor<SearchMode> = Factor::new("search_mode", "Where the file is while it is searched", spelled)
    .default("in-memory")
    .accepts("`\"in-memory\"` (preloaded, postings built where there are none), `\"on-disk\"` (not loaded: reads what it needs of the file, which the page cache holds), `\"scan\"`")
    .label(Label::Always("{}"));

/// How much of a column an operation on the whole of it takes.
pub static TEXT_LIMIT: Factor<ByteSize> = Factor::new(
    "text_limit",
    "Maximum text of a column that its size is measured on",
    text_limit,
)
.default("2GiB")
.accepts("`operation = \"size\"`: a longer column is cut after the row group that reaches it; a text file is cut there, or after 8 times as much of all its columns")
.role(Role::Data);

fn text_limit(text: &str) -> Result<ByteSize, String> {
    match spelled::<ByteSize>(text)? {
        ByteSize(0) => Err("the text limit must be at least 1 B, such as 256MiB".to_owned()),
        limit => Ok(limit),
    }
}

fn skew(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(skew) if (0.0..=MOST_SKEW).contains(&skew) => Ok(skew),
        _ => Err(format!(
            "`{text}` is not a skew; expected a number from 0 (uniform) to {MOST_SKEW}, such as 1.0"
        )),
    }
}

metrics! { PLAIN:
    FILE_BYTES = "file_bytes", Bytes, Lower, DataSet, "size of the file that was written, header and checksums included";
    TEXT_BYTES = "text_bytes", Bytes, Neither, DataSet, "size of the rows as newline text";
    STORED_BYTES = "stored_bytes", Bytes, Neither, DataSet, "size of the column in the user's file: its chunks in Parquet, its fields and delimiters in text";
    PARQUET_ZSTD_BYTES = "parquet_zstd_bytes", Bytes, Lower, DataSet, "size of the chunks of the same rows in a Parquet file with zstd:3, written by Outcrop with the encoding of the type that takes least";
    PARQUET_DEFAULT_BYTES = "parquet_default_bytes", Bytes, Neither, DataSet, "the same with what the writers of Arrow's libraries do by default: pages of 20,000 rows and a dictionary, and plain values where it grows beyond 1 MiB; where this is larger, the smaller size needs another encoding or larger pages";
    COMPRESSED_FILE_BYTES = "compressed_file_bytes", Bytes, Neither, DataSet, "size of the user's file, where it is compressed as a whole, so that no column has its own size in it";
    SIZE_OVER_STORED = "size_over_stored", Ratio, Lower, DataSet, "size of the column file over that in the user's file";
    TABLE_ROWS = "table_rows", Count, Neither, DataSet, "rows that the user's table has";
    TABLE_COLUMNS = "table_columns", Count, Neither, DataSet, "columns that the user's table has, or all tables of the folder";
    FLOOR_BYTES = "floor_bytes", Bytes, Neither, DataSet, "log2 of the multinomial coefficient of the values' counts, plus the dictionary as written";
    SIZE_OVER_FLOOR = "size_over_floor", Ratio, Lower, DataSet, "file size over that floor; below 1 where the order of the rows repeats";
    COMPRESSION_RATIO = "compression_ratio", Ratio, Higher, DataSet, "newline text over file size";
    BYTES_PER_ROW = "bytes_per_row", Bytes, Lower, DataSet, "file size over rows";
    ROW_COUNT = "rows", Count, Neither, DataSet, "rows, nulls included";
    NULL_ROWS = "null_rows", Count, Neither, DataSet, "rows that are null";
    DISTINCT_VALUES = "distinct_values", Count, Neither, DataSet, "distinct values that occur, null not counted";
    DICTIONARY_BYTES = "dictionary_bytes", Bytes, Lower, DataSet, "the dictionary section of the file";
    CODES_BYTES = "codes_bytes", Bytes, Lower, DataSet, "the forward codes and their class map";
    POSTINGS_BYTES = "postings_bytes", Bytes, Lower, DataSet, "the postings section of the file";
    PLAIN_POSTINGS_BYTES = "plain_postings_bytes", Bytes, Neither, DataSet, "what the row numbers of the postings would take at the bits of the last row's number for each: computed, not written";
    ENCODE_SPEED = "encode_speed", BytesPerSecond, Higher, Trial, "newline text encoded per second, from memory to a writer that counts and discards";
    ENCODE_PEAK_MEMORY = "encode_peak_memory", Bytes, Lower, Trial, "peak growth of the process's resident memory during one encode";
    OPEN_TIME = "open_time", Nanoseconds, Lower, Trial, "time to open the file from memory, median; a packed one is unpacked by it";
    DECODE_SPEED = "decode_speed", BytesPerSecond, Higher, Trial, "newline text decoded per second";
    ROW_RATE = "row_rate", PerSecond, Higher, Trial, "rows scanned per second";
    CPU_PER_ROW = "cpu_per_row", NanosecondsPerOperation, Lower, Trial, "CPU time of the process per row scanned";
    OPERATION_RATE = "operation_rate", PerSecond, Higher, Trial, "queries answered per second, one at a time";
    HITS_PER_OPERATION = "hits_per_operation", Count, Neither, Trial, "rows that a query found, on average";
    COLD_READS = "cold_reads", Count, Lower, Trial, "reads of the file per query after opening it again, on average";
    COLD_READS_MAX = "cold_reads_max", Count, Lower, Trial, "most reads of one such query";
    COLD_READ_BYTES = "cold_read_bytes", Bytes, Lower, Trial, "bytes read per query after opening the file again, on average";
}

/// Time of one query.
pub const LATENCY: Latencies = latencies!("latency", "the time from a query to its row numbers");

/// The file is packed.
pub const PACKED: RemarkKind =
    RemarkKind::new("packed", "the file is packed, and in which form", "packed as");
/// Which encodings blocks chose.
pub const ENCODINGS: RemarkKind = RemarkKind::new(
    "block-encodings",
    "which encodings the blocks of codes chose",
    "code blocks of",
);
/// How the user's file holds the column.
pub const STORED_FORM: RemarkKind = RemarkKind::new(
    "stored-form",
    "how the user's file stores the column: encoding and codec, or text",
    "",
);
/// What it says of a column in a text file.
pub const STORED_AS_TEXT: &str = "in this file (text)";
/// Parquet has the values of a text file as numbers or dates.
pub const PARQUET_AS: RemarkKind = RemarkKind::new(
    "parquet-type",
    "what Parquet has the values of a text file as: the type that keeps all of them, or text",
    "",
);
/// Parquet takes least with another encoding, or with larger pages, than the default of Arrow's writers.
pub const PARQUET_ENCODING: RemarkKind = RemarkKind::new(
    "parquet-encoding",
    "the encoding and pages with which Parquet takes least, where that is not the default",
    "",
);
/// The values have another type in the user's file than in a column file.
pub const TEXT_OF: RemarkKind = RemarkKind::new(
    "values-become-text",
    "the type that the values have in the user's file, where a column file has them as text",
    "",
);
/// Columns of the table that no cell is about.
pub const LEFT_OUT: RemarkKind = RemarkKind::new(
    "columns-left-out",
    "columns of the user's table that are not compared, with what they hold",
    "",
);
/// Which kernels ran.
pub const KERNELS_USED: RemarkKind = RemarkKind::new("kernels-used", "the widest kernels that ran", "");
/// The cell cannot be measured.
pub const ABSENT: RemarkKind = RemarkKind::new(
    "not-measured",
    "the processor lacks the kernels of the cell, or the column has no plain text",
    "",
);
