//! The one error of this crate: what was seen, what was expected, where, and what to do.

use std::io;
use std::path::PathBuf;

/// Why a column could not be written, opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// The storage below failed.
    #[error("reading or writing the column failed: {0}")]
    Io(#[from] io::Error),
    /// A path could not be opened, created or renamed.
    #[error("{}: {source}", path.display())]
    Path {
        /// The path asked for.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The first eight bytes are not those of a column file.
    #[error(
        "not an .ocol file: it begins with {}, expected {}; `outcrop column encode` makes one",
        hexadecimal(found),
        hexadecimal(expected)
    )]
    NotAColumn {
        /// The bytes seen.
        found: Vec<u8>,
        /// The magic of the format.
        expected: [u8; 8],
    },
    /// The file is of a version, or uses a feature, that this reader does not know.
    #[error(
        "the file has version {major}.{minor} with incompatible features {incompatible:#x}; this release knows version {known_major} and features {known_features:#x}: use a newer release"
    )]
    Unsupported {
        /// Major version of the file.
        major: u16,
        /// Minor version of the file.
        minor: u16,
        /// Incompatible feature bits of the file.
        incompatible: u64,
        /// The major version that this reader knows.
        known_major: u16,
        /// The feature bits that this reader knows.
        known_features: u64,
    },
    /// The file has features that this release may read past, but not append behind.
    #[error(
        "the file has read-only-compatible features {features:#x}, which this release does not know: it can be read but not appended to; append with a newer release, or decode it and encode it again"
    )]
    ReadOnly {
        /// Read-only-compatible feature bits of the file.
        features: u64,
    },
    /// A column file of a form that this reader does not know.
    #[error(
        "an .ocol file of unknown form {form:#04x}: use a newer release, or restore the file from a copy if this release wrote it"
    )]
    UnknownForm {
        /// The fourth byte of the file.
        form: u8,
    },
    /// Bytes of the file contradict the format or their checksum.
    #[error("damaged column file: {part} at offset {offset}: {detail}; restore the file from a copy")]
    Corrupt {
        /// The part of the file.
        part: &'static str,
        /// Offset in the file, in bytes, of that part.
        offset: u64,
        /// The value seen and the value expected.
        detail: String,
    },
    /// The file ends before its footer does.
    #[error(
        "truncated column file: it has {size_bytes} of {expected_bytes} bytes, and the last {} are missing; copy it again in full: without the footer at its end, no part of it can be read",
        expected_bytes.saturating_sub(*size_bytes)
    )]
    Truncated {
        /// Bytes that there are.
        size_bytes: u64,
        /// Bytes that the header promises.
        expected_bytes: u64,
    },
    /// A limit of the format was passed.
    #[error("{what}: {seen} exceeds the limit of {limit}; {hint}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// The value seen.
        seen: u64,
        /// The largest value allowed.
        limit: u64,
        /// What to do.
        hint: &'static str,
    },
    /// Values of a dictionary that are compressed together would take more memory than [`Column::limit_blocks`](crate::Column::limit_blocks)
    /// allows.
    #[error("values that are stored together have {bytes} bytes, more than the {limit} allowed")]
    LongBlock {
        /// Bytes that they have.
        bytes: u64,
        /// The most that they may have.
        limit: u64,
    },
    /// A value has more bytes than whoever reads it allows.
    #[error("a value has {bytes} bytes, more than the {limit} allowed")]
    LongValue {
        /// Bytes that it has.
        bytes: u64,
        /// The most that it may have.
        limit: u64,
    },
    /// A line of text, or a record of CSV, has more bytes than its reader allows.
    #[error("{what} has more than {limit} bytes; {question}")]
    TooLong {
        /// What is too long, and where it is if that is known.
        what: String,
        /// The most that it may have.
        limit: u64,
        /// What may be wrong with the input.
        question: &'static str,
    },
    /// The text to encode is not as its options say.
    #[error("line {line} of the input: {detail}")]
    Input {
        /// Line, from 1.
        line: u64,
        /// What was seen and what was expected.
        detail: String,
    },
    /// The input has no such column, or it is not clear which of its columns is meant.
    #[error("{}{}", column_wanted(wanted.as_deref(), existing), delimiter_hint(*delimiter, existing.len()))]
    NoSuchColumn {
        /// What was asked for; `None` where nothing was, since one column was expected.
        wanted: Option<String>,
        /// Names of the columns that could be asked for.
        existing: Vec<String>,
        /// What separates the fields, where the input is delimited text.
        delimiter: Option<char>,
    },
    /// The column holds what has no text form.
    #[error("column {name:?} holds {seen}, which cannot be encoded as text{}; columns that can: {}", if seen.starts_with("Float") { " (as a decimal, a string or in a CSV file it can)" } else { "" }, if strings.is_empty() { "none".to_owned() } else { strings.join(", ") })]
    NotStrings {
        /// The column.
        name: String,
        /// Its type.
        seen: String,
        /// Columns of the same input that can be encoded.
        strings: Vec<String>,
    },
    /// Another format's reader or writer failed.
    #[error("{format}: {detail}")]
    Foreign {
        /// The format.
        format: &'static str,
        /// What its library says.
        detail: String,
    },
    /// The row does not exist.
    #[error("row {row} does not exist: the column has {row_count} row{}, numbered from 0", if *row_count == 1 { "" } else { "s" })]
    NoSuchRow {
        /// The row asked for.
        row: u64,
        /// Rows of the column.
        row_count: u64,
    },
    /// The operation needs forward codes, and the file was written with the index only.
    #[error(
        "the file has postings but no forward codes: this operation needs codes; encode the column again with them"
    )]
    NoCodes,
    /// The processor lacks instructions.
    #[error(
        "kernels {kernels:?} need {}, which this processor lacks; the widest that it runs are {widest:?}",
        missing.join(", ")
    )]
    Kernels {
        /// The kernels asked for.
        kernels: &'static str,
        /// What they need and the processor lacks.
        missing: Vec<&'static str>,
        /// The widest kernels that the processor runs.
        widest: &'static str,
    },
}

/// The result of this crate's fallible functions.
pub type Result<T, E = ColumnError> = std::result::Result<T, E>;

fn column_wanted(wanted: Option<&str>, existing: &[String]) -> String {
    let names = existing.join(", ");
    match (wanted, existing.len()) {
        (Some(wanted), _) => format!("the input has no column {wanted}; it has {names}"),
        (None, 0) => "the input has no column that can be encoded as text".to_owned(),
        (None, count) => format!("the input has {count} columns; name one of {names}"),
    }
}

/// A single long field is what a wrong delimiter looks like.
fn delimiter_hint(delimiter: Option<char>, count: usize) -> String {
    match delimiter {
        Some(delimiter) if count == 1 => {
            format!(" (only one column: is {delimiter:?} the right delimiter?)")
        }
        _ => String::new(),
    }
}

/// `0x8a4f434f`, in the order of the file.
fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// Builds [`ColumnError::Corrupt`].
pub(crate) fn corrupt(part: &'static str, offset: u64, detail: impl Into<String>) -> ColumnError {
    ColumnError::Corrupt {
        part,
        offset,
        detail: detail.into(),
    }
}
