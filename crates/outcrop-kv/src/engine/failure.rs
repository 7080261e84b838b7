//! What engines' failures have in common: a full disk, files that end too early, and what to do about what the kernel said.

use std::fmt;
use std::io::ErrorKind::{InvalidData, QuotaExceeded, StorageFull, UnexpectedEof};
use std::path::Path;

use crate::error::KvError;
use crate::usage::is_full;

/// What the kernel says, as engines repeat it, and what helps.
const REMEDIES: [(&str, &str); 5] = [
    ("Too many open files", "raise the limit on open files (ulimit -n)"),
    ("Permission denied", "give a directory that you may write to"),
    ("Read-only file system", "give a directory that you may write to"),
    (
        "Input/output error",
        "check the kernel's log (dmesg) for device errors",
    ),
    (
        "Cannot allocate memory",
        "give the engine smaller caches and write buffers, or fewer processes",
    ),
];

/// An error of the engine in its own words, and what helps where that is known.
pub(super) fn other(engine: &str, action: &str, detail: impl fmt::Display) -> KvError {
    let detail = detail.to_string();
    match REMEDIES.iter().find(|(said, _)| detail.contains(said)) {
        Some((_, remedy)) => KvError::engine(engine, action, format!("{detail}; {remedy}")),
        None => KvError::engine(engine, action, detail),
    }
}

/// An I/O error of an engine: a full filesystem is said as one, and so is a file that is not as it was written.
pub(super) fn io_error(engine: &str, action: &str, directory: &Path, error: &std::io::Error) -> KvError {
    match error.kind() {
        StorageFull | QuotaExceeded => KvError::no_space(directory, error),
        UnexpectedEof => KvError::damaged(directory, "one of its files ends too early"),
        InvalidData => KvError::damaged(directory, error),
        _ => other(engine, action, error),
    }
}

/// What an engine says of each request after a write that failed, which is most often for lack of space.
pub(super) fn after_failed_write(engine: &str, action: &str, directory: &Path) -> KvError {
    if is_full(directory) {
        return KvError::no_space(directory, "an earlier write failed");
    }
    let detail = "an earlier write or sync failed, so the engine refuses further writes; check the kernel's log (dmesg) for device errors";
    KvError::engine(engine, action, detail)
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use rustix::io::Errno;

    use super::*;

    #[test]
    fn what_the_kernel_says_is_followed_by_what_helps() {
        let of = |errno: Errno| {
            let error = Error::from_raw_os_error(errno.raw_os_error());
            io_error("fjall", "read", Path::new("/db"), &error).to_string()
        };
        for (errno, helps) in [
            (Errno::MFILE, "ulimit -n"),
            (Errno::ACCESS, "that you may write to"),
            (Errno::ROFS, "that you may write to"),
            (Errno::IO, "dmesg"),
            (Errno::NOMEM, "smaller caches"),
            (Errno::NOSPC, "free some space"),
            (Errno::DQUOT, "free some space"),
        ] {
            let said = of(errno);
            assert!(said.contains(helps), "{errno}: {said}");
        }
        let of_file = Error::from(UnexpectedEof);
        let said = io_error("fjall", "read", Path::new("/db"), &of_file).to_string();
        assert!(
            said.starts_with("the database in /db is damaged: one of its files ends too early; "),
            "{said}"
        );
    }
}
