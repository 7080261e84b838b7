//! The flags of `outcrop column …`.

use crate::output::Format;
use outcrop_column::{EncodeOptions, Index, Profile};
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Action {
    /// Encode newline text, or one column of a CSV file
    Encode(Encode),
    /// Write all rows as text, one a line; a null is an empty line
    Decode(Decode),
    /// Rows by value: exact, by prefix, by range, or null
    Find(Find),
    /// Values by row, from 0
    Get(Get),
    /// Sections, encodings and sizes
    Info(Described),
    /// Check every byte of the file
    Verify(Described),
    /// Add rows to a file as a further segment
    Append(Append),
    /// Merge the segments of a file into one
    Compact(Compact),
}

#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// The text or CSV file; - is stdin
    pub(super) input: PathBuf,
    /// Read this column of a CSV file: its name, or its number from 0
    #[arg(long, value_name = "NAME|NUMBER")]
    pub(super) column: Option<String>,
    /// What separates the fields of the CSV file
    #[arg(long, default_value = ",", value_name = "CHARACTER", requires = "column")]
    pub(super) delimiter: String,
    /// The CSV file has no line of names
    #[arg(long, requires = "column")]
    pub(super) no_header: bool,
    /// A CSV field that is exactly this is a null
    #[arg(long, value_name = "TEXT", requires = "column")]
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
    /// Try hard, decode slower
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
    /// Size or time
    #[arg(long, value_enum, default_value_t)]
    pub(super) profile: ProfileFlag,
    /// Threads that encode
    #[arg(long, default_value_t = default_threads(), value_name = "COUNT")]
    pub(super) threads: usize,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  outcrop column encode words.txt -o words.ocol --index postings")]
pub(super) struct Encode {
    #[command(flatten)]
    pub(super) input: Input,
    /// The column file to write
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) how: How,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  outcrop column decode words.ocol > words.txt")]
pub(super) struct Decode {
    /// The column file
    pub(super) file: PathBuf,
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
#[command(after_help = "Example:\n  outcrop column find words.ocol --range b..d --limit 10")]
pub(super) struct Find {
    /// The column file
    pub(super) file: PathBuf,
    /// Exact values
    #[arg(conflicts_with_all = ["prefix", "range", "is_null"])]
    pub(super) value: Vec<String>,
    /// Values that begin with this
    #[arg(long, conflicts_with_all = ["range", "is_null"])]
    pub(super) prefix: Option<String>,
    /// Values from A on and below B; either may be left out
    #[arg(long, value_name = "A..B", conflicts_with = "is_null")]
    pub(super) range: Option<String>,
    /// Rows without a value
    #[arg(long)]
    pub(super) is_null: bool,
    /// Values with the number of their rows instead of rows
    #[arg(long)]
    pub(super) values: bool,
    /// At most so many lines
    #[arg(long, value_name = "COUNT")]
    pub(super) limit: Option<usize>,
    /// Where the file's bytes are while searching
    #[arg(long, value_enum, default_value_t)]
    pub(super) memory: MemoryFlag,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  outcrop column get words.ocol 0 17")]
pub(super) struct Get {
    /// The column file
    pub(super) file: PathBuf,
    /// Rows, from 0
    #[arg(required = true)]
    pub(super) row: Vec<u64>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
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
#[command(after_help = "Example:\n  outcrop column append words.ocol more.txt")]
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
