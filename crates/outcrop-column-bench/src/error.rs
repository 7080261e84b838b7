//! The one error of this crate.

use std::io;
use std::path::PathBuf;

use outcrop_codec::CodecError;
use outcrop_column::ColumnError;

/// Why a column could not be read or measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A file of the user's could not be read.
    #[error("{}: {source}", path.display())]
    Path {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// A file of the user's is not a table that can be read.
    #[error("{}: {detail}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What was seen, what is accepted.
        detail: String,
    },
    /// A scratch file could not be made or written.
    #[error("a scratch file in {} could not be written: {source}", directory.display())]
    Scratch {
        /// Where.
        directory: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The column codec refused.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// The codec of the text refused.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The specification asks for what cannot be.
    #[error("{0}")]
    Spec(String),
    /// This machine, or this column, does not allow it.
    #[error("{0}")]
    Unavailable(String),
    /// What came back is not what went in: the figures would be worthless.
    #[error("wrong result of {operation}: {detail}; please report this as a bug of Outcrop")]
    Wrong {
        /// The operation.
        operation: &'static str,
        /// What was seen and what was expected.
        detail: String,
    },
    /// The user wants to stop.
    #[error("stopped before anything was measured")]
    Interrupted,
}

/// Ends an iterator of the column codec's where the user wants to stop.
pub(crate) fn stopped() -> ColumnError {
    ColumnError::Io(io::Error::from(io::ErrorKind::Interrupted))
}

/// Whether an iterator ended by that.
pub(crate) fn is_stopped(error: &ColumnError) -> bool {
    matches!(error, ColumnError::Io(error) if error.kind() == io::ErrorKind::Interrupted)
}
