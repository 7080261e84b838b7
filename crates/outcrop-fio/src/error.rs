//! The one error type of this crate: what was seen, what was expected, what to do.

use std::io;
use std::path::PathBuf;

use outcrop_results::ResultsError;

/// Why files of fio could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FioError {
    /// A file or folder could not be read or written.
    #[error("cannot {action} {}: {cause}", path.display())]
    Io {
        /// What was attempted, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// Nothing of what was given is a result that can be imported.
    #[error("nothing to import: {}", if left_out.is_empty() { "there is no .json file in it; give a folder of results that fio wrote with --output-format=json".to_owned() } else { left_out.join("; ") })]
    NothingToImport {
        /// Why, file by file; only the first few.
        left_out: Vec<String>,
    },
    /// A folder has more files than anybody's results do.
    #[error("{} contains more than {limit} files; give the folder that holds the results", path.display())]
    TooManyFiles {
        /// The folder.
        path: PathBuf,
        /// Files that are looked at.
        limit: usize,
    },
    /// What is to be assumed of results cannot be.
    #[error("cannot assume {assumption}: {reason}")]
    BadAssumption {
        /// As it was given.
        assumption: String,
        /// What is wrong and what is expected.
        reason: String,
    },
    /// A job file asks for what Outcrop does not do.
    #[error("{}", problems.join("\n"))]
    JobFile {
        /// One sentence each, which begins with file and line.
        problems: Vec<String>,
    },
    /// A run has nothing that fio has a form for.
    #[error("{run} has no completed trial of the device layer, and fio's format covers devices only")]
    NothingToExport {
        /// Name of the run.
        run: String,
    },
    /// The run folder.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl FioError {
    /// Wraps an I/O error with what was attempted on which path; for use with `map_err`.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io { action, path, cause }
    }
}
