//! What can go wrong with an engine, its files, or the processes that hold it.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// An error of an engine or of the driver; the message says what was seen and what to do.
///
/// It travels between processes, so that causes are text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum KvError {
    /// A value that the driver or an engine cannot work with.
    #[error("{} is {seen}; expected {expected}", in_words(field))]
    Spec {
        /// Which one.
        field: String,
        /// The value as given.
        seen: String,
        /// What is accepted.
        expected: String,
    },
    /// A value of an option that this engine does not have.
    #[error("{what} is not available: {has}")]
    Lacks {
        /// What was asked for.
        what: String,
        /// What the engine has, and which one has more.
        has: String,
    },
    /// An engine that is not on this machine, or lacks something.
    #[error("{why}")]
    Absent {
        /// One sentence with what to install.
        why: String,
    },
    /// A codec that the engine's library was built without.
    #[error(
        "{engine} was built without {codec}; choose another compression, or name another library in OUTCROP_ROCKSDB_LIB"
    )]
    MissingCodec {
        /// The engine with its version.
        engine: String,
        /// The codec.
        codec: String,
    },
    /// A condition that this machine cannot give: a memory limit, say.
    #[error("{why}")]
    Condition {
        /// One sentence.
        why: String,
    },
    /// The filesystem is full.
    #[error(
        "no space is left for the database in {directory}: {detail}; free some space, or give fewer records"
    )]
    NoSpace {
        /// Where.
        directory: String,
        /// What the engine said.
        detail: String,
    },
    /// A server that keeps records in memory has none left.
    #[error(
        "{engine} has no memory left for another record: at its limit of {limit}, it answered `{detail}`; give fewer records, or a shorter run if the workload inserts"
    )]
    OutOfMemory {
        /// The engine.
        engine: String,
        /// Its limit.
        limit: String,
        /// What it said.
        detail: String,
    },
    /// A server that no longer holds what was loaded.
    #[error(
        "{engine} holds only {held} of the {loaded} records that were loaded: it dropped the others, probably because its memory limit is too low; give fewer records or smaller values"
    )]
    Dropped {
        /// The engine with its version.
        engine: String,
        /// Records that it holds.
        held: u64,
        /// Records that it acknowledged.
        loaded: u64,
    },
    /// Another process has the database open.
    #[error("the database in {directory} is open in another process; end that process first")]
    Locked {
        /// Where.
        directory: String,
    },
    /// A database that this version of the engine cannot read.
    #[error(
        "the database in {directory} has a version that {engine} cannot read: {detail}; open it with the version that wrote it, or create a new one"
    )]
    Version {
        /// Where.
        directory: String,
        /// The engine with its version.
        engine: String,
        /// What it said.
        detail: String,
    },
    /// A database whose files are not as they were written.
    #[error(
        "the database in {directory} is damaged: {detail}; create a new one, and check the kernel's log (dmesg) for device errors"
    )]
    Damaged {
        /// Where.
        directory: String,
        /// What is wrong with it.
        detail: String,
    },
    /// Anything else that an engine says.
    #[error("{engine} cannot {action}: {detail}")]
    Engine {
        /// The engine.
        engine: String,
        /// What was tried.
        action: String,
        /// What it said.
        detail: String,
    },
    /// A value that is not the one that was stored.
    #[error("{engine} returned a wrong value: {detail}")]
    Mismatch {
        /// The engine.
        engine: String,
        /// What was wrong.
        detail: String,
    },
    /// A path that cannot be used.
    #[error("cannot {action} {path}: {detail}")]
    Path {
        /// What was tried.
        action: String,
        /// With which path.
        path: String,
        /// Why it failed.
        detail: String,
    },
    /// Something that the driver needs from the kernel.
    #[error("cannot {action}: {detail}")]
    System {
        /// What was tried.
        action: String,
        /// Why it failed.
        detail: String,
    },
    /// A process that holds a database ended before it was done.
    #[error("the process that holds the database ended: {how}")]
    Ended {
        /// Its exit code or signal.
        how: String,
    },
    /// A process that holds a database does nothing any more.
    #[error(
        "the engine stopped working while it {phase}: for {waited}, all its threads waited or were stopped, and none waited for a CPU or a block device. \
         They may wait for each other"
    )]
    Stuck {
        /// What it did.
        phase: String,
        /// How long nothing happened.
        waited: String,
    },
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What people call a field of the spec.
fn in_words(field: &str) -> String {
    let of = match field {
        "threads" | "processes" | "records" | "bloom_bits" => "number of ",
        _ => "",
    };
    format!("the {of}{}", field.replace('_', " "))
}

impl KvError {
    pub(crate) fn spec(field: &str, seen: impl fmt::Display, expected: impl Into<String>) -> Self {
        Self::Spec {
            field: field.to_owned(),
            seen: seen.to_string(),
            expected: expected.into(),
        }
    }

    pub(crate) fn lacks(what: impl Into<String>, has: impl Into<String>) -> Self {
        Self::Lacks {
            what: what.into(),
            has: has.into(),
        }
    }

    pub(crate) fn path(action: &str, path: &Path, source: impl fmt::Display) -> Self {
        Self::Path {
            action: action.to_owned(),
            path: path.display().to_string(),
            detail: source.to_string(),
        }
    }

    pub(crate) fn system(action: &str, source: impl fmt::Display) -> Self {
        Self::System {
            action: action.to_owned(),
            detail: source.to_string(),
        }
    }

    pub(crate) fn engine(engine: &str, action: &str, detail: impl fmt::Display) -> Self {
        Self::Engine {
            engine: engine.to_owned(),
            action: action.to_owned(),
            detail: detail.to_string(),
        }
    }

    pub(crate) fn locked(directory: &Path) -> Self {
        Self::Locked {
            directory: directory.display().to_string(),
        }
    }

    pub(crate) fn version(directory: &Path, engine: &str, detail: impl fmt::Display) -> Self {
        Self::Version {
            directory: directory.display().to_string(),
            engine: engine.to_owned(),
            detail: detail.to_string(),
        }
    }

    pub(crate) fn damaged(directory: &Path, detail: impl fmt::Display) -> Self {
        Self::Damaged {
            directory: directory.display().to_string(),
            detail: detail.to_string(),
        }
    }

    pub(crate) fn no_space(directory: &Path, detail: impl fmt::Display) -> Self {
        Self::NoSpace {
            directory: directory.display().to_string(),
            detail: detail.to_string(),
        }
    }
}
