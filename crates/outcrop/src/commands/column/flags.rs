//! The flags of `outcrop column …`.

use crate::output::Format;
use outcrop_column::{EncodeOptions, Index, Profile};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Action {
    /// Encode newline text, or columns of a CSV, Parquet or Arrow file
    Encode(Encode),
    /// Write all rows as text, CSV, Parquet or Arrow
    Decode(Decode),
    /// Rows by value: exact, by prefix, range or regular expression, or null
    Find(Find),
    /// Values by row, from 0
    Get(Get),
    /// Sections, encodings and sizes
    Info(Described),
    /// Check every byte of the file
    Verify(Described),
    /// Add rows, or another column file as it is, to a file as a further segment
    Append(Append),
    /// Merge the segments of a file into one
    Compact(Compact),
}

/// Formats that rows are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum InputFormat {
    /// A row a line
    Text,
    /// Fields between delimiters, RFC 4180
    Csv,
    /// The same, separated by tabs
    Tsv,
    /// Apache Parquet
    Parquet,
    /// Arrow IPC, file or stream (Feather version 2)
    Arrow,
}

/// Formats that all rows are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OutputFormat {
    /// A row a line; a null is an empty line
    Text,
    /// RFC 4180 with a header line
    Csv,
    /// Apache Parquet, dictionary-encoded, zstd
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
    /// Read these columns of a table: their names, or their numbers from 0. Numbers, dates and booleans of Parquet and
    /// Arrow files are encoded as text
    #[arg(long, value_name = "NAME|NUMBER,...", value_delimiter = ',')]
    pub(super) column: Vec<String>,
    /// Read every column of a table that can be written as text
    #[arg(long, conflicts_with = "column")]
    pub(super) all_columns: bool,
    /// What separates the fields of a CSV file: one byte, or `tab` [default: found in the file]
    #[arg(long, value_name = "CHARACTER")]
    pub(super) delimiter: Option<String>,
    /// The first line of the CSV file names the columns [default: found in the file]
    #[arg(long, conflicts_with = "no_header")]
    pub(super) header: bool,
    /// The CSV file has no line of names
    #[arg(long)]
    pub(super) no_header: bool,
    /// Treat quotation marks in the CSV file as ordinary characters
    #[arg(long)]
    pub(super) no_quotes: bool,
    /// A CSV field that is exactly this is a null
    #[arg(long, value_name = "TEXT")]
    pub(super) null: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(super) enum IndexFlag {
    /// Forward codes only: smallest
    #[default]
    None,
    /// Forward codes and postings: fast both ways
    Postings,
    /// Postings only: no way from a row to its value
    Only,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(super) enum ProfileFlag {
    /// Try hard, decode slower; without index, at most 2 MiB of text may be packed: searching it unpacks it into memory first
    Smallest,
    /// Compress where a sample says that it pays
    #[default]
    Balanced,
    /// No general compression
    Fastest,
}

#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// Which index from values to rows the file carries
    #[arg(long, value_enum, default_value_t)]
    pub(super) index: IndexFlag,
    /// Optimise for file size or speed
    #[arg(long, value_enum, default_value_t)]
    pub(super) profile: ProfileFlag,
    /// Threads that encode
    #[arg(long, default_value_t = default_threads(), value_name = "COUNT")]
    pub(super) threads: usize,
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
    /// The column file to write; of several columns, a folder, or a name with {} in the place of the column's
    #[arg(short, long, value_name = "FILE|FOLDER")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) how: How,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
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
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Format to write [default: by the name of the output, else text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(super) to: Option<OutputFormat>,
    /// Name of the column in CSV, Parquet and Arrow [default: value]
    #[arg(long)]
    pub(super) name: Option<String>,
    /// What a null becomes in CSV [default: "", as an empty value]
    #[arg(long, value_name = "TEXT")]
    pub(super) null: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MemoryFlag {
    /// Map the file
    #[default]
    InMemory,
    /// Read only what the search needs
    OnDisk,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop column find words.ocol granite basalt
  outcrop column find words.ocol - < wanted.txt
  outcrop column find words.ocol --range b..d --limit 10
  outcrop column find words.ocol --regex '^gr.*te$' --values --format csv
  outcrop column find words.ocol --prefix gra --count --memory on-disk
  outcrop column find words.ocol --hex ff00

One value or another condition prints its rows, one a line. Several values print a line for each: the value, how many
rows have it, and which. In CSV and JSON each row of a value has the value next to it.")]
pub(super) struct Find {
    /// The column file
    pub(super) file: PathBuf,
    /// Exact values; - reads them from stdin, one a line
    #[arg(conflicts_with_all = ["prefix", "range", "regex", "is_null"])]
    pub(super) value: Vec<OsString>,
    /// Values that begin with this
    #[arg(long, conflicts_with_all = ["range", "regex", "is_null"])]
    pub(super) prefix: Option<OsString>,
    /// Values from A on and below B; either may be left out
    #[arg(long, value_name = "A..B", conflicts_with_all = ["regex", "is_null"])]
    pub(super) range: Option<OsString>,
    /// Values in which this regular expression matches; it is asked once for each distinct value
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "is_null")]
    pub(super) regex: Option<String>,
    /// Rows without a value
    #[arg(long)]
    pub(super) is_null: bool,
    /// Values, prefix and range are given in hexadecimal: any bytes, as JSON answers write those that are not UTF-8
    #[arg(long, conflicts_with_all = ["regex", "is_null"])]
    pub(super) hex: bool,
    /// Values with the number of their rows instead of rows
    #[arg(long)]
    pub(super) values: bool,
    /// Only the number of rows
    #[arg(long, conflicts_with_all = ["values", "limit"])]
    pub(super) count: bool,
    /// Print at most N rows; with --values, N values
    #[arg(long, value_name = "COUNT")]
    pub(super) limit: Option<usize>,
    /// Where the file's bytes are while searching
    #[arg(long, value_enum, default_value_t)]
    pub(super) memory: MemoryFlag,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: AnswerFormat,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  outcrop column get words.ocol 0 17")]
pub(super) struct Get {
    /// The column file
    pub(super) file: PathBuf,
    /// Rows, from 0
    #[arg(required = true)]
    pub(super) row: Vec<u64>,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: AnswerFormat,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  outcrop column info words.ocol --format json")]
pub(super) struct Described {
    /// The column file
    pub(super) file: PathBuf,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop column append words.ocol more.txt\n  outcrop column append words.ocol from-another-machine.ocol"
)]
pub(super) struct Append {
    /// The column file to grow
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) how: How,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  outcrop column compact words.ocol -o whole.ocol")]
pub(super) struct Compact {
    /// The column file
    pub(super) file: PathBuf,
    /// The file to write; may be the same
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) how: How,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

impl How {
    pub(super) fn options(&self) -> EncodeOptions {
        EncodeOptions {
            index: match self.index {
                IndexFlag::None => Index::None,
                IndexFlag::Postings => Index::Postings,
                IndexFlag::Only => Index::Only,
            },
            profile: match self.profile {
                ProfileFlag::Smallest => Profile::Smallest,
                ProfileFlag::Balanced => Profile::Balanced,
                ProfileFlag::Fastest => Profile::Fastest,
            },
            threads: self.threads,
        }
    }
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}
