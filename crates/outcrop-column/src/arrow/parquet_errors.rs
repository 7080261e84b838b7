//! What the library says of a Parquet file, in this crate's words.

use std::io;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::error::ColumnError;

pub(super) const FORMAT: &str = "Parquet";

/// Errors of the library.
pub(super) fn of_parquet(error: ParquetError) -> ColumnError {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            // What the system reports has a number; else a decoder judges the bytes.
            Ok(source) if source.raw_os_error().is_some() => ColumnError::Io(*source),
            Ok(source) => damaged(&source.to_string()),
            Err(other) => damaged(&other.to_string()),
        },
        ParquetError::ArrowError(detail) | ParquetError::General(detail) | ParquetError::EOF(detail) => {
            foreign(detail)
        }
        other => foreign(other.to_string()),
    }
}

/// Errors of the library while it writes: nothing is damaged then.
pub(super) fn of_writer(error: ParquetError) -> ColumnError {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => ColumnError::Io(*source),
            Err(other) => foreign(other.to_string()),
        },
        other => of_parquet(other),
    }
}

/// Errors of the library while it decodes pages: of those, only the text is left.
pub(super) fn of_batch(error: ArrowError) -> ColumnError {
    let ArrowError::ParquetError(detail) = error else {
        return error.into();
    };
    // The library names its kinds of error, one inside the other, before it says what is wrong.
    let mut said = detail.as_str();
    while let Some(rest) = KINDS.iter().find_map(|kind| said.strip_prefix(kind)) {
        said = rest;
    }
    let says = |words: &str| said.to_lowercase().contains(words);
    if says("utf8") || says("utf-8") {
        return foreign(format!(
            "text of the column is not UTF-8 ({said}): the file is damaged, or its writer used another encoding; write the file again"
        ));
    }
    match NO_DAMAGE.iter().any(|words| says(words)) {
        true => foreign(said.to_owned()),
        false => damaged(said),
    }
}

const KINDS: [&str; 5] = [
    "Parquet argument error: ",
    "Parquet error: ",
    "Arrow: ",
    "External: ",
    "EOF: ",
];
/// Words for what the system reports, and for what the library cannot decode, in lower case.
const NO_DAMAGE: [&str; 5] = [
    "(os error ",
    "nyi: ",
    "disabled feature",
    "not supported",
    "unsupported",
];

/// What a header does not have is damage; what could not be read says so itself.
pub(super) fn of_header(error: io::Error) -> ColumnError {
    match error.kind() {
        io::ErrorKind::InvalidData => foreign(format!(
            "{error}: the file is damaged, the column is encrypted, or a later version of Parquet wrote it; write the file again"
        )),
        _ => ColumnError::Io(error),
    }
}

/// What is wrong with a file that nobody wrote so, as an error.
pub(super) fn damaged(why: &str) -> ColumnError {
    super::damaged(FORMAT, why)
}

/// An error about a file of this format.
pub(super) fn foreign(detail: String) -> ColumnError {
    ColumnError::Foreign {
        format: FORMAT,
        detail,
    }
}
