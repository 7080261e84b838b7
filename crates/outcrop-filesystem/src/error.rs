//! Why a filesystem cannot be measured, in sentences that say what was seen and what to do.

use std::io;
use std::path::PathBuf;

use outcrop_measure::metric::Unavailable;
use outcrop_measure::units::{format_bytes, format_data};
use outcrop_workload::filesystem::FilesystemKind;

/// Everything that keeps this crate from measuring.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesystemError {
    /// A setting is out of range, or does not go with another.
    #[error("{message}")]
    Refused {
        /// The setting's name in plans.
        field: &'static str,
        /// What was seen and what is accepted.
        message: String,
    },
    /// This machine or this user cannot do it.
    #[error("{0}")]
    Unavailable(String),
    /// A system call failed.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: String,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel did not mount what was made.
    #[error("the kernel cannot mount this {kind} filesystem with {options}: {message}")]
    Mount {
        /// The filesystem.
        kind: FilesystemKind,
        /// The options that were given.
        options: String,
        /// What the kernel said.
        message: String,
    },
    /// The kernel shows other options than were asked for.
    #[error("the kernel mounted {kind} with `{shown}`, not with the `{wanted}` that was requested")]
    OtherOptions {
        /// The filesystem.
        kind: FilesystemKind,
        /// The option that was asked for.
        wanted: String,
        /// What the kernel shows.
        shown: String,
    },
    /// A program that makes filesystems failed.
    #[error("{program} failed ({status}): {message}")]
    Make {
        /// The program.
        program: &'static str,
        /// How it ended.
        status: String,
        /// The last of what it said.
        message: String,
    },
    /// The files' content stayed in memory.
    #[error(
        "{cached} of {file_pages} pages are still in the page cache after fsync and FADV_DONTNEED, so reading them would not \
         be cold; another process may have the file mapped or locked"
    )]
    NotCold {
        /// Pages that stayed.
        cached: u64,
        /// Pages of the files.
        file_pages: u64,
    },
    /// Other bytes came back than were written.
    #[error(
        "the {length} bytes at offset {offset} are not what was written: the filesystem returned different data"
    )]
    OtherBytes {
        /// Where in the data.
        offset: u64,
        /// How many were compared.
        length: usize,
    },
    /// The image would fill the disk.
    #[error(
        "an image of {} does not fit in {directory}: {} are free, of which {} (5 % of the filesystem) must stay free; choose another \
         directory or a smaller sample",
        format_bytes(*wanted_bytes), format_data(*available_bytes as f64), format_data(*reserve_bytes as f64)
    )]
    NoSpace {
        /// Where.
        directory: PathBuf,
        /// Asked for.
        wanted_bytes: u64,
        /// Free to us.
        available_bytes: u64,
        /// Kept free.
        reserve_bytes: u64,
    },
    /// Preparing codecs or data failed.
    #[error(transparent)]
    Compress(#[from] outcrop_compress::CompressError),
    /// The caller raised the stop flag.
    #[error("interrupted; nothing is left behind")]
    Interrupted,
}

impl FilesystemError {
    /// Wraps a failed system call; `action` completes "cannot …".
    pub(crate) fn system(action: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System {
            action: action.into(),
            source: source.into(),
        }
    }

    /// A setting that is not accepted.
    pub fn refused(field: &'static str, message: impl Into<String>) -> Self {
        Self::Refused {
            field,
            message: message.into(),
        }
    }
}

impl From<Unavailable> for FilesystemError {
    fn from(why: Unavailable) -> Self {
        Self::Unavailable(why.reason)
    }
}
