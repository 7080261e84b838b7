//! Why data cannot be compressed or a job cannot go on, with what was seen and what to do.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use outcrop_codec::CodecError;
use outcrop_input::InputError;
use outcrop_measure::units::{format_bytes, format_data};

/// Everything that keeps this crate from measuring.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// A path could not be opened or read.
    #[error("cannot {action} {}: {source}", path.display())]
    Path {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Standard input could not be read.
    #[error("cannot read the data from stdin: {0}")]
    Stdin(#[source] io::Error),
    /// Compressed data are truncated or damaged. The error names them.
    #[error("{0}")]
    Input(#[source] io::Error),
    /// A compressed file could not be read.
    #[error("cannot read {name}: {source}")]
    Stream {
        /// The file.
        name: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The path is something that has no bytes to sample.
    #[error("{} is {seen}; expected a file, a directory or a block device (a pipe is read with `-`)", path.display())]
    WrongKind {
        /// The path.
        path: PathBuf,
        /// What it is.
        seen: &'static str,
    },
    /// Not one byte to compress.
    #[error("{what} is empty: there is nothing to compress; give data of at least one byte")]
    Empty {
        /// The file, or stdin.
        what: String,
    },
    /// A directory without a file that could be used.
    #[error("{} has no readable file with data ({seen}); give a directory with data", path.display())]
    NoFiles {
        /// The directory.
        path: PathBuf,
        /// What it holds instead.
        seen: String,
    },
    /// A block larger than all the data.
    #[error("a block of {} is larger than the data, {}; give blocks of at most that", format_bytes(*block_bytes), format_data(*data_bytes as f64))]
    BlockLargerThanData {
        /// The block.
        block_bytes: u64,
        /// The data.
        data_bytes: u64,
    },
    /// A block larger than the sample, though not than the data.
    #[error(
        "a block of {} is larger than the sample, {} of the {} of data; allow a larger sample (--sample-size), or give smaller blocks",
        format_bytes(*block_bytes), format_bytes(*sample_bytes), format_data(*data_bytes as f64)
    )]
    BlockLargerThanSample {
        /// The block.
        block_bytes: u64,
        /// The sample.
        sample_bytes: u64,
        /// The data.
        data_bytes: u64,
    },
    /// Sampled from a stream in pieces that are smaller than the block.
    #[error(
        "stdin is larger than the sample, and was sampled in pieces of {}, too small for blocks of {}; save it to a file, or allow a larger sample",
        format_bytes(*piece_bytes),
        format_bytes(*block_bytes)
    )]
    BlockLargerThanPiece {
        /// The block.
        block_bytes: u64,
        /// The pieces.
        piece_bytes: u64,
    },
    /// The job is not possible.
    #[error("{field} is {seen}; expected {expected}")]
    Spec {
        /// The field's name in plans.
        field: &'static str,
        /// The value.
        seen: String,
        /// What is accepted.
        expected: String,
    },
    /// A thread could not be bound to its CPU.
    #[error(
        "cannot bind a thread to CPU {cpu}: {source}; run fewer threads, or allow this process the CPU (taskset)"
    )]
    Pin {
        /// The CPU.
        cpu: usize,
        /// The system's answer.
        source: io::Error,
    },
    /// What came back is not what went in.
    #[error(
        "{codec} did not decompress to the original bytes: {origin}, {block_bytes} B; its figures are discarded"
    )]
    Mismatch {
        /// The codec.
        codec: String,
        /// File and offset of the block.
        origin: String,
        /// Length of the block.
        block_bytes: usize,
    },
    /// The same block became of another length than before.
    #[error(
        "{codec} is not repeatable: {origin} compressed to {before_bytes} B first and to {now_bytes} B later; its ratio is discarded"
    )]
    NotRepeatable {
        /// The codec.
        codec: String,
        /// File and offset of the block.
        origin: String,
        /// Length now.
        now_bytes: usize,
        /// Length when it was verified.
        before_bytes: usize,
    },
    /// The codec failed on a block.
    #[error("{origin}: {source}")]
    Codec {
        /// File and offset of the block.
        origin: String,
        /// The codec's answer.
        source: CodecError,
    },
    /// The codec could not be opened.
    #[error(transparent)]
    Open(#[from] CodecError),
    /// The user wants to stop.
    #[error("stopped")]
    Interrupted,
}

impl CompressError {
    pub(crate) fn path(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Path {
            action,
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn stream(name: &str, source: io::Error) -> Self {
        if source
            .get_ref()
            .is_some_and(<dyn Error + Send + Sync>::is::<InputError>)
        {
            return Self::Input(source);
        }
        let name = name.to_owned();
        Self::Stream { name, source }
    }

    pub(crate) fn spec(field: &'static str, seen: &impl ToString, expected: impl Into<String>) -> Self {
        Self::Spec {
            field,
            seen: seen.to_string(),
            expected: expected.into(),
        }
    }
}
