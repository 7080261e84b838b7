//! The one error type of this crate: what was seen, what was expected, what to do.
//!
//! Every message is whole: it has the cause in it, and there is no `source()` chain that would say it twice.

use std::io;
use std::path::PathBuf;

use outcrop_schema::metrics;

/// Why results could not be written, read or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// A file or folder could not be read or written.
    #[error("cannot {action} {}: {cause}", path.display())]
    Io {
        /// What was attempted, as a verb: `read`, `create`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// The filesystem of the run folder is full.
    #[error(
        "no space left on the filesystem of {}, or its quota is used up: the {finished} finished trials are kept; free space, then \
         `outcrop run --resume {}`", run.display(), run.display()
    )]
    NoSpace {
        /// The run folder.
        run: PathBuf,
        /// Trials that are safe in the journal.
        finished: usize,
    },
    /// The path is not a run folder.
    #[error("{} is not a run folder: {reason}", path.display())]
    NotARun {
        /// The path that was given.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process is writing this run.
    #[error("{} is in use by another outcrop process; wait until it ends, or stop it, then try again", path.display())]
    Locked {
        /// The run folder.
        path: PathBuf,
    },
    /// A line inside the journal cannot be read.
    #[error(
        "{}:{line}: this line of the journal is damaged ({reason}); restore the file from a copy, or delete this \
         line, and `outcrop run --resume` will repeat its trial", path.display()
    )]
    DamagedJournal {
        /// The journal.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What the parser said.
        reason: String,
    },
    /// The environment of a run is not JSON.
    #[error("{} is damaged ({reason}); restore it from a copy, or replace its content with `{{}}` to read the run without it", path.display())]
    DamagedEnvironment {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        reason: String,
    },
    /// A completed trial was about to be recorded a second time.
    #[error(
        "cell {cell}, repetition {repetition} is already finished in this run; finished trials are not repeated"
    )]
    AlreadyFinished {
        /// Identifier of the cell.
        cell: String,
        /// Repetition, from 0.
        repetition: u32,
    },
    /// A run's name cannot be the name of a folder.
    #[error(
        "the run name {name:?} cannot name a folder: use letters, digits, `.`, `-` and `_`, at most 100 of them"
    )]
    BadRunName {
        /// The name that was given.
        name: String,
    },
    /// A Parquet file is damaged or has another schema than ours.
    #[error("{}: {reason}; `outcrop results compact` writes it again from trials.ndjson", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A histogram of a trial cannot be decoded.
    #[error("{context}: the {operation} histogram of interval {interval_index} is damaged: {reason}")]
    DamagedHistogram {
        /// Which trial.
        context: String,
        /// The operation it belongs to.
        operation: String,
        /// The interval it belongs to.
        interval_index: u32,
        /// What the decoder said.
        reason: String,
    },
    /// A line of a reference file cannot be used.
    #[error("{file}:{line}: {reason}")]
    BadReference {
        /// The file's name.
        file: String,
        /// Line, from 1.
        line: u64,
        /// The value seen and the value expected.
        reason: String,
    },
    /// No reference ships under this name, and no file has it.
    #[error("there is no reference {name:?}: no such file, and the shipped references are {}", shipped.join(", "))]
    UnknownReference {
        /// The name that was given.
        name: String,
        /// The names that ship.
        shipped: Vec<&'static str>,
    },
    /// The sink of an export failed.
    #[error("cannot write the export: {cause}")]
    Export {
        /// The system's answer; `BrokenPipe` when the reader has gone.
        cause: io::Error,
    },
    /// An assumption about a publication cannot be made.
    #[error("cannot assume {assumption}: {reason}")]
    BadAssumption {
        /// The assumption as it was given.
        assumption: String,
        /// What is wrong and what is expected.
        reason: String,
    },
    /// A `--fail-if` condition cannot be parsed.
    #[error("cannot read the condition {condition:?}: {reason}")]
    BadCondition {
        /// The condition as it was given.
        condition: String,
        /// What is wrong and what is expected.
        reason: String,
    },
    /// A `--fail-if` condition names a metric that the comparison or the run does not have.
    #[error("no metric {metric:?} here; {}", if available.is_empty() { "nothing could be compared or checked".to_owned() } else { metrics::hint(metric, &available.iter().map(String::as_str).collect::<Vec<_>>()) })]
    UnknownMetric {
        /// The metric as it was resolved.
        metric: String,
        /// The metrics that there are.
        available: Vec<String>,
    },
    /// A `--fail-if` condition cannot be checked on any cell, so that passing it would mean nothing.
    #[error(
        "the condition cannot be checked: no cell with {metric} can be judged; the first reason: {reason}"
    )]
    NothingToCheck {
        /// The metric as it was resolved.
        metric: String,
        /// Why the first cell cannot be judged.
        reason: String,
    },
}

impl ResultsError {
    /// Wraps an I/O error with what was attempted on which path; for use with `map_err`.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io { action, path, cause }
    }
}
