//! The one error of this crate.

use std::io;

use outcrop_cache::CacheError;
use outcrop_cache_load::CacheLoadError;

/// Why a server could not be started or measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheBenchError {
    /// The program is not on this machine: its figures are unavailable, not wrong.
    #[error("{program} {why}")]
    Absent {
        /// Which one.
        program: String,
        /// Where it was looked for, and what to do.
        why: String,
    },
    /// A program that did not start to serve.
    #[error("{program} did not start serving: {why}")]
    NotServing {
        /// Which one, with its path.
        program: String,
        /// What it did instead.
        why: String,
    },
    /// Something that starting takes from the system.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the system answered.
        source: io::Error,
    },
    /// Our server refused.
    #[error(transparent)]
    Server(#[from] CacheError),
    /// The driver refused, or lost its server.
    #[error(transparent)]
    Load(#[from] CacheLoadError),
}

impl CacheBenchError {
    pub(crate) fn system(action: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System {
            action,
            source: source.into(),
        }
    }
}
