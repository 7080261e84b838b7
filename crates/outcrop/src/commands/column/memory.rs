//! How much memory a command may take: what the user says, else by the size of what is read.

use super::flags::Action;
use super::name_of;
use crate::exit::bad_input;
use crate::memory_limit::{Refusal, limit_memory};
use anyhow::Context as _;
use outcrop_column::ColumnError;
use outcrop_input::tells_of_no_memory;
use outcrop_measure::units::ByteSize;
use outcrop_probe::memory::allowed_bytes;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The limit without --max-memory, for small files.
const LEAST_BYTES: u64 = 1 << 30;

/// The limit for large files, in multiples of them. Ascending numbers, of which a file holds the differences alone, take 120 times theirs.
const TIMES_INPUT: u64 = 256;

/// Whoever asks for values of a length (`--longest-value`) means it: encoding one was seen to take 4.2 times its length.
const TIMES_VALUE: u64 = 5;

#[derive(Debug, clap::Args)]
pub(super) struct MemoryLimit {
    /// Use at most this much memory, in addition to the program itself and 4 MiB per core; a file of a few kilobytes can hold values of gigabytes
    /// [default: 1GiB, 256 times the size of the input, or 5 times --longest-value, whichever is most, but at most 80 % of this machine's memory,
    /// which is also the default for a pipe]
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<ByteSize>,
}

impl MemoryLimit {
    /// The most bytes for a command that reads `inputs`.
    pub(super) fn bytes(&self, inputs: &[&Path]) -> u64 {
        if let Some(given) = self.max_memory {
            return given.bytes();
        }
        let sizes = inputs.iter().map(|path| size_of(path));
        let wanted = sizes.sum::<Option<u64>>().map_or(u64::MAX, |size| {
            whole_mebibytes(size.saturating_mul(TIMES_INPUT)).max(LEAST_BYTES)
        });
        most_of_the_machine().min(wanted)
    }
}

/// 80 % of this machine's memory, or of what a control group allows, in whole MiB. Where the kernel does not say how much there is, it has the
/// last word on each request.
fn most_of_the_machine() -> u64 {
    allowed_bytes().map_or(u64::MAX, |total| whole_mebibytes(total / 10 * 8))
}

/// A user reads this number: 17 MiB, not 18,612,224 bytes.
const fn whole_mebibytes(bytes: u64) -> u64 {
    bytes >> 20 << 20
}

/// The space that a regular file occupies on disk, without its holes; `None` for a pipe. A missing file counts as 0, and the command
/// reports it.
fn size_of(path: &Path) -> Option<u64> {
    match path.metadata() {
        _ if path == Path::new("-") => None,
        Ok(metadata) => metadata
            .is_file()
            .then(|| metadata.len().min(metadata.blocks() * 512)),
        Err(_) => Some(0),
    }
}

impl Action {
    /// From here on, the kernel refuses this process more memory than the command may take.
    ///
    /// # Errors
    /// When the kernel sets no such limit.
    pub(super) fn limit_memory(&self) -> anyhow::Result<()> {
        limit_memory(self.allowed_bytes(), Refusal::of_bad_input(&self.out_of_memory()))
            .context("cannot limit the memory that this command takes (--max-memory)")
    }

    /// What a user reads where the limit is reached.
    fn out_of_memory(&self) -> String {
        let (_, inputs) = self.reads();
        let names: Vec<String> = inputs.iter().map(|path| name_of(path)).collect();
        format!(
            "{}: this takes more memory than --max-memory {}, or than the system grants; if you trust the input, allow more",
            names.join(", "),
            ByteSize(self.allowed_bytes()),
        )
    }

    /// The error as the user reads it: libraries of C and the column crate do not know the limit that was reached.
    pub(super) fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        match is_lack_of_memory(&error) {
            true => bad_input(error.context(self.out_of_memory())),
            false => error,
        }
    }

    fn allowed_bytes(&self) -> u64 {
        let (limit, inputs) = self.reads();
        let longest = match self {
            Self::Encode(args) if limit.max_memory.is_none() => args.input.longest_value,
            Self::Append(args) if limit.max_memory.is_none() => args.input.longest_value,
            _ => None,
        };
        let for_value = longest.map_or(0, |longest| {
            whole_mebibytes(longest.bytes().saturating_mul(TIMES_VALUE))
        });
        limit.bytes(&inputs).max(for_value.min(most_of_the_machine()))
    }

    /// The files that are read, and the limit given for them.
    fn reads(&self) -> (&MemoryLimit, Vec<&Path>) {
        match self {
            Self::Encode(args) => (&args.memory_limit, vec![&args.input.input]),
            Self::Decode(args) => (&args.memory_limit, vec![&args.file]),
            Self::Find(args) => (&args.memory_limit, vec![&args.file]),
            Self::Values(args) => (&args.memory_limit, vec![&args.file]),
            Self::Get(args) => (&args.memory_limit, vec![&args.file]),
            Self::Info(args) | Self::Verify(args) => (&args.memory_limit, vec![&args.file]),
            Self::Append(args) => (&args.memory_limit, vec![&args.file, &args.input.input]),
            Self::Compact(args) => (&args.memory_limit, vec![&args.file]),
        }
    }
}

/// Whether a library got no memory, or refused to ask for as much as was wanted.
pub(super) fn is_lack_of_memory(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        let column = cause.downcast_ref::<ColumnError>();
        io.is_some_and(|error| error.kind() == ErrorKind::OutOfMemory)
            || matches!(column, Some(ColumnError::LongBlock { .. }))
            || tells_of_no_memory(&cause.to_string())
    })
}
