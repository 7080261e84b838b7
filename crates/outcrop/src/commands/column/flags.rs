//! The flags of `outcrop column …`.

use super::memory::MemoryLimit;
use crate::commands::table_flags::TableFlags;
use crate::commands::whole::{count, whole};
use crate::output::Format;
use crate::output_file::Force;
use outcrop_column::{Column, EncodeOptions, Index, LINE_BYTES_LIMIT, Profile, VALUE_BYTES_LIMIT};
use outcrop_measure::units::ByteSize;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Action {
    /// Encode newline text, or columns of a CSV, Parquet or Arrow file
    Encode(Encode),
    /// Decode all rows to text, CSV, Parquet or Arrow
    Decode(Decode),
    /// Find rows by value: exact, prefix, range, regular expression, or null
    Find(Find),
    /// Count the rows of each value, the most frequent first
    Values(Values),
    /// Print the values of rows, numbered from 0
    Get(Get),
    /// Show sections, encodings and sizes
    Info(Described),
    /// Check every byte of the file
    Verify(Described),
    /// Append rows, or another column file, as a new segment
    Append(Append),
    /// Merge the segments of a file into one
    Compact(Compact),
}

/// Formats that rows are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum InputFormat {
    /// One row per line
    Text,
    /// Fields between delimiters, RFC 4180; empty lines are left out, in a file of one column as well
    Csv,
    /// The same, with tabs as delimiters
    Tsv,
    /// Apache Parquet
    Parquet,
    /// Arrow IPC, file or stream (Feather version 2)
    Arrow,
}

/// Formats that all rows are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OutputFormat {
    /// One row per line; a null is an empty line
    Text,
    /// RFC 4180 with a header line
    Csv,
    /// Apache Parquet with zstd, in the smallest encoding
    Parquet,
    /// Arrow IPC, dictionary-encoded: a file with -o, else a stream
    Arrow,
}

impl OutputFormat {
    pub(super) fn is_binary(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }
}

/// The form of an answer on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AnswerFormat {
    /// Lines for people and for pipes
    #[default]
    Text,
    /// One JSON document; bytes that are not UTF-8 as {"hex": …}
    Json,
    /// RFC 4180 CSV with a header line; a null is nothing, an empty value is ""
    Csv,
    /// An Arrow IPC stream
    Arrow,
}

#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// The file to read; - is stdin
    pub(super) input: PathBuf,
    /// Format of the input [default: by its first bytes, then its name, else text]
    #[arg(long, value_enum)]
    pub(super) input_format: Option<InputFormat>,
    /// Read these columns of a table: their names, or their numbers from 0. Integers, decimals, dates and
    /// booleans of Parquet and Arrow files are encoded as text; floats are not, but those of CSV files are
    #[arg(long, value_name = "NAME|NUMBER,...", value_delimiter = ',')]
    pub(super) column: Vec<String>,
    /// Read every column of a table that can be written as text
    #[arg(long, conflicts_with = "column")]
    pub(super) all_columns: bool,
    #[command(flatten)]
    pub(super) table: TableFlags,
    /// Maximum length of a text line, or of the fields and delimiters of a CSV record, up to 2GiB; a long value takes several times its length in memory
    /// [default: 256MiB]
    #[arg(long, value_name = "BYTES", value_parser = longest_value)]
    pub(super) longest_value: Option<ByteSize>,
}

/// A length up to the longest that a value of a column file has.
fn longest_value(text: &str) -> Result<ByteSize, String> {
    let size: ByteSize = text
        .parse()
        .map_err(|error: outcrop_measure::MeasureError| error.to_string())?;
    match size.0 <= VALUE_BYTES_LIMIT as u64 + 1 {
        true => Ok(size),
        false => Err("expected 2GiB or less".to_owned()),
    }
}

impl Input {
    /// Bytes that a line or a CSV record may have.
    pub(super) fn longest_value(&self) -> usize {
        self.longest_value.map_or(LINE_BYTES_LIMIT, |size| {
            // 2GiB is a byte more than a value may have.
            usize::try_from(size.0).map_or(VALUE_BYTES_LIMIT, |bytes| bytes.min(VALUE_BYTES_LIMIT))
        })
    }

    /// The first flag given that says which part of an input is read, or how. A column file is always read whole.
    pub(super) fn flag_of_tables(&self) -> Option<&'static str> {
        let flags = [
            ("--input-format", self.input_format.is_some()),
            ("--column", !self.column.is_empty()),
            ("--all-columns", self.all_columns),
            ("--longest-value", self.longest_value.is_some()),
        ];
        let of_tables = flags
            .into_iter()
            .find_map(|(flag, is_given)| is_given.then_some(flag));
        of_tables.or_else(|| self.table.first())
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum IndexFlag {
    /// Forward codes only: smallest
    None,
    /// Forward codes and postings: fast in both directions; with the profile `balanced`, a larger dictionary too
    Postings,
    /// Postings only: rows cannot be read back
    Only,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum ProfileFlag {
    /// Smallest file, slower decoding; without an index, up to 2 MiB of text may be packed, and a search unpacks it into memory first.
    /// Versions before 0.1.0 cannot read packed files, nor files in which repeated phrases are compressed together
    Smallest,
    /// Compress where a sample shows that it pays off
    Balanced,
    /// No general compression
    Fastest,
}

#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// Index from values to rows [default: none; for append and compact: that of the file, or of any segment of it]
    #[arg(long, value_enum)]
    index: Option<IndexFlag>,
    /// Optimise for file size or speed [default: balanced]
    #[arg(long, value_enum)]
    profile: Option<ProfileFlag>,
    /// Threads that encode [default: one for each core]
    #[arg(long, value_name = "N", value_parser = count)]
    threads: Option<usize>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column encode words.txt -o words.ocol --index postings
  zcat words.gz | outcrop column encode - -o words.ocol
  outcrop column encode trips.csv --column zone --null '' -o zone.ocol
  outcrop column encode trips.parquet --column zone --profile smallest -o zone.ocol
  outcrop column encode trips.parquet --column zone,driver -o columns/
  outcrop column encode trips.csv --all-columns -o 'trips-{}.ocol'")]
pub(super) struct Encode {
    #[command(flatten)]
    pub(super) input: Input,
    /// The column file to write; for several columns a folder, or a name with {} where the column's name goes
    #[arg(short, long, value_name = "FILE|FOLDER")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) force: Force,
    #[command(flatten)]
    pub(super) how: How,
    /// Do not compare the size with the input and with Parquet, which takes another pass over the column
    #[arg(long)]
    pub(super) no_compare: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) memory_limit: MemoryLimit,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column decode words.ocol > words.txt
  outcrop column decode words.ocol -o words.parquet --name word
  outcrop column decode words.ocol --to csv --null NA")]
pub(super) struct Decode {
    /// The column file
    pub(super) file: PathBuf,
    /// The file to write, or - for stdout [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) force: Force,
    /// Format to write [default: by the ending of the output (.txt, .csv, .parquet, .arrow, .feather, .ipc); text on stdout]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(super) to: Option<OutputFormat>,
    /// Name of the column in CSV, Parquet and Arrow [default: the name that the file keeps, else the file's own without .ocol]
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Text for nulls in CSV, as in NA [default: "", as an empty value is written, because many readers skip an empty line; a note says how
    /// many nulls there are]
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    pub(super) null: Option<String>,
    #[command(flatten)]
    pub(super) memory_limit: MemoryLimit,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MemoryFlag {
    /// Map the file: fastest, but if another program truncates it meanwhile, SIGBUS kills this one
    InMemory,
    /// Read from the file only what the search needs
    #[default]
    OnDisk,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column find words.ocol granite basalt
  outcrop column find words.ocol - < wanted.txt
  outcrop column find words.ocol - --count --format csv < wanted.txt
  outcrop column find words.ocol --range b..d --limit 10
  outcrop column find prices.ocol --number-range 9.5..120 --count
  outcrop column find words.ocol --regex '^gr.*te$' --values --format csv
  outcrop column find words.ocol --prefix gra --by-value --format csv
  outcrop column find words.ocol --prefix gra --count --memory on-disk
  outcrop column find words.ocol --hex ff00

One value, or another condition, prints its rows, one per line. Several values, or any condition
with --by-value, print one line per value: the value, its number of rows, and the rows.
In CSV and JSON each of these rows comes with its value. With --count, each of several values has one line:
its number of rows, then the value, in the order given. Values from stdin always count as several.")]
pub(super) struct Find {
    /// The column file
    pub(super) file: PathBuf,
    /// Exact values; - reads them from stdin, one per line
    #[arg(conflicts_with_all = ["prefix", "range", "number_range", "regex", "is_null"])]
    pub(super) value: Vec<OsString>,
    /// Values that begin with this
    #[arg(long, conflicts_with_all = ["range", "number_range", "regex", "is_null"])]
    pub(super) prefix: Option<OsString>,
    /// Values from A (inclusive) to B (exclusive), compared byte by byte as text, UTC moments with as many digits as the values have; either may be left out
    #[arg(long, value_name = "A..B", conflicts_with_all = ["number_range", "regex", "is_null"])]
    pub(super) range: Option<OsString>,
    /// Values that are numbers from A (inclusive) to B (exclusive), fractions to 53 bits; each distinct value is read once
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, conflicts_with_all = ["regex", "is_null", "hex"])]
    pub(super) number_range: Option<String>,
    /// Values that match this regular expression; it is evaluated once per distinct value
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "is_null")]
    pub(super) regex: Option<String>,
    /// Rows that are null
    #[arg(long)]
    pub(super) is_null: bool,
    /// Read values, prefix and range as hexadecimal, the form in which JSON output has bytes that are not UTF-8
    #[arg(long, conflicts_with_all = ["regex", "is_null"])]
    pub(super) hex: bool,
    /// Print values with their row counts instead of rows
    #[arg(long)]
    pub(super) values: bool,
    /// Print each value found with its rows, as with several values
    #[arg(long, conflicts_with_all = ["values", "count", "is_null"])]
    pub(super) by_value: bool,
    /// Print only the number of rows. Of several values, each has a line with its number, 0 if it is not found; the total is on stderr and in
    /// JSON. A value that is given twice is counted once
    #[arg(long, conflicts_with_all = ["values", "limit"])]
    pub(super) count: bool,
    /// Print at most N rows; with --values, N values. JSON also has the number of all that were found
    #[arg(long, value_name = "COUNT", value_parser = whole::<usize>)]
    pub(super) limit: Option<usize>,
    /// How the file is accessed while searching
    #[arg(long, value_enum, default_value_t)]
    pub(super) memory: MemoryFlag,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: AnswerFormat,
    #[command(flatten)]
    pub(super) memory_limit: MemoryLimit,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column values words.ocol --top 20
  outcrop column values words.ocol --format csv > counts.csv

`outcrop column find --prefix gra --values` counts the values that begin with gra, in byte order.")]
pub(super) struct Values {
    /// The column file
    pub(super) file: PathBuf,
    /// Only the N most frequent values [default: all]
    #[arg(long, value_name = "N", value_parser = count)]
    pub(super) top: Option<usize>,
    #[command(flatten)]
    pub(super) memory_limit: MemoryLimit,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  outcrop column get words.ocol 0 17")]
pub(super) struct Get {
    /// The column file
    pub(super) file: PathBuf,
    /// Rows, from 0
    #[arg(required = true, value_parser = whole::<u64>)]
    pub(super) row: Vec<u64>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: AnswerFormat,
    #[command(flatten)]
    pub(super) memory_limit: MemoryLimit,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop column info words.ocol --format json\n  outcrop column verify words.ocol"
)]
pub(super) struct Described {
    /// The column file
    pub(super) file: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) memory_limit: MemoryLimit,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop column append words.ocol more.txt\n  outcrop column append words.ocol from-another-machine.ocol"
)]
pub(super) struct Append {
    /// The column file to append to
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) how: How,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) memory_limit: MemoryLimit,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column compact words.ocol -o whole.ocol
  outcrop column compact words.ocol --in-place")]
#[command(group = clap::ArgGroup::new("destination").args(["output", "in_place"]).required(true))]
pub(super) struct Compact {
    /// The column file
    pub(super) file: PathBuf,
    /// The file to write, which is not the input
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace the input file; other hard links to it keep the old one
    #[arg(long, conflicts_with = "force")]
    pub(super) in_place: bool,
    #[command(flatten)]
    pub(super) force: Force,
    #[command(flatten)]
    pub(super) how: How,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) memory_limit: MemoryLimit,
}

impl How {
    /// The first flag given.
    pub(super) fn first(&self) -> Option<&'static str> {
        let flags = [
            ("--index", self.index.is_some()),
            ("--profile", self.profile.is_some()),
            ("--threads", self.threads.is_some()),
        ];
        flags
            .into_iter()
            .find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// Whether size and index are left to the defaults.
    pub(super) fn leaves_the_size_open(&self) -> bool {
        self.profile.is_none() && self.index.is_none()
    }

    /// For a new file.
    pub(super) fn options(&self) -> EncodeOptions {
        self.options_with(Index::None)
    }

    /// For rows of a file that is there: an index that it has is not lost unless that is asked for.
    pub(super) fn options_like(&self, column: &Column) -> EncodeOptions {
        self.options_with(match (column.has_any_index(), column.has_codes()) {
            (false, _) => Index::None,
            (true, false) if column.has_index() => Index::Only,
            (true, _) => Index::Postings,
        })
    }

    fn options_with(&self, index: Index) -> EncodeOptions {
        EncodeOptions {
            index: match self.index {
                None => index,
                Some(IndexFlag::None) => Index::None,
                Some(IndexFlag::Postings) => Index::Postings,
                Some(IndexFlag::Only) => Index::Only,
            },
            profile: match self.profile {
                Some(ProfileFlag::Smallest) => Profile::Smallest,
                Some(ProfileFlag::Balanced) | None => Profile::Balanced,
                Some(ProfileFlag::Fastest) => Profile::Fastest,
            },
            threads: self.threads.unwrap_or_else(default_threads),
        }
    }
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}
