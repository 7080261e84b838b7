//! The one error type of this crate.

use std::io;
use std::path::PathBuf;

use outcrop_results::ResultsError;

use crate::chart::ExportError;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A file of the report could not be written.
    #[error("{0}; the run itself is intact, and `outcrop report` writes its report again")]
    Write(#[from] ResultsError),
    /// The folder of the figures could not be made, read or cleared of old figures.
    #[error("cannot {action} {}: {source}; the run itself is intact, and `outcrop report` writes its report again", path.display())]
    Io {
        /// What was attempted, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The report could not be turned into JSON.
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A figure could not be written as a file.
    #[error("{0}")]
    Figure(#[from] ExportError),
}
