//! What `encode` says where it fails after it has written a column file: the file stays.

use super::memory::is_lack_of_memory;
use crate::exit::failed_after;
use crate::memory_limit::Refusal;
use std::path::Path;

/// The column files that are written and stay, in words.
pub(super) struct Kept {
    files: String,
    out_of_memory: String,
}

impl Kept {
    /// From here on, `count` files are written, the last of them to `last`: where memory is refused, the command ends with exit code 3 and says so.
    pub(super) fn from_here_on(last: &Path, count: usize, is_compared: bool) -> Self {
        let files = match count {
            1 => format!("{} is written and stays", last.display()),
            _ => format!(
                "{count} column files are written and stay, the last of them {}",
                last.display()
            ),
        };
        let leave_out = match is_compared {
            true => ", or leave the comparison of sizes out with --no-compare",
            false => "",
        };
        let out_of_memory = format!(
            "{files}, but what follows takes more memory than --max-memory allows, or than the system grants; allow more{leave_out}"
        );
        Refusal::of_measurement(&out_of_memory).install();
        Self { files, out_of_memory }
    }

    /// The error as the user reads it; its causes do not know that something is written. Exit code 3: code 2 means that nothing is.
    pub(super) fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        match is_lack_of_memory(&error) {
            true => anyhow::anyhow!("{}", self.out_of_memory),
            false => failed_after(&format!("{}, but what follows failed", self.files), error),
        }
    }
}
