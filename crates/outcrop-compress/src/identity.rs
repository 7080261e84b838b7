//! Which data it was, by content: two files of one name and length are not one.
//!
//! MD5 tells data apart that nobody made to look alike; it guards against no forger.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use md5::{Digest, Md5};

use crate::error::CompressError;

/// Data of up to this size are read whole for their fingerprint.
const WHOLE_BYTES: u64 = 64 << 20;
/// Pieces that are read of larger data, evenly spaced over all of them, however many files they are: the same ones whatever the seed.
const PIECES: u64 = 256;
const PIECE_BYTES: u64 = 16 << 10;

/// The fingerprint of bytes in memory.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    spelled(Md5::new_with_prefix(bytes))
}

/// A fingerprint of contents that come one after the other.
pub(crate) struct Fingerprint {
    digest: Md5,
    is_whole: bool,
    /// Bytes from the start of a piece to that of the next.
    step: u64,
    /// Bytes of the contents before.
    passed: u64,
}

impl Fingerprint {
    /// Of `total_bytes` in all.
    pub(crate) fn of(total_bytes: u64) -> Self {
        let is_whole = total_bytes <= WHOLE_BYTES;
        let step = if is_whole {
            PIECE_BYTES
        } else {
            total_bytes / PIECES
        };
        Self {
            digest: Md5::new(),
            is_whole,
            step: step.max(PIECE_BYTES),
            passed: 0,
        }
    }

    /// Of a stream, all of which is seen.
    pub(crate) fn of_stream() -> Self {
        Self::of(0)
    }

    pub(crate) fn add(&mut self, content: &[u8]) {
        self.digest.update(content);
    }

    /// Adds a content that lies in memory.
    pub(crate) fn add_held(&mut self, content: &[u8]) {
        self.add(content);
        self.end(content.len() as u64);
    }

    /// Adds a file: all of it, or the pieces that begin in it. One in which none begins is not opened.
    pub(crate) fn add_file(
        &mut self,
        path: &Path,
        bytes: u64,
        stop: &AtomicBool,
    ) -> Result<(), CompressError> {
        if stop.load(Ordering::Relaxed) {
            return Err(CompressError::Interrupted);
        }
        let mut offset = if self.is_whole {
            0
        } else {
            self.passed.next_multiple_of(self.step) - self.passed
        };
        if offset < bytes {
            let failed = |source| CompressError::path("read", path, source);
            let file = File::open(path).map_err(failed)?;
            let mut piece = vec![0; PIECE_BYTES as usize];
            while offset < bytes {
                if stop.load(Ordering::Relaxed) {
                    return Err(CompressError::Interrupted);
                }
                let wanted = (bytes - offset).min(PIECE_BYTES) as usize;
                let filled = fill(&file, &mut piece[..wanted], offset).map_err(failed)?;
                self.add(&piece[..filled]);
                offset += self.step;
            }
        }
        self.passed += bytes;
        self.end(bytes);
        Ok(())
    }

    /// Ends one of the contents: where it ends is part of what it is.
    pub(crate) fn end(&mut self, bytes: u64) {
        self.digest.update(bytes.to_le_bytes());
    }

    /// How it was taken, and the digest.
    pub(crate) fn spelled(self) -> String {
        let how = if self.is_whole { "whole" } else { "pieces" };
        format!("{how}-{}", spelled(self.digest))
    }
}

/// Reads what there is at a place, up to the length of `piece`.
fn fill(file: &File, piece: &mut [u8], offset: u64) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match file.read_at(&mut piece[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn spelled(digest: Md5) -> String {
    digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_files(paths: &[(&Path, u64)]) -> String {
        let mut fingerprint = Fingerprint::of(paths.iter().map(|(_, bytes)| bytes).sum());
        for (path, bytes) in paths {
            let added = fingerprint.add_file(path, *bytes, &AtomicBool::new(false));
            added.expect("the file can be read where a piece begins in it");
        }
        fingerprint.spelled()
    }

    #[test]
    fn of_a_large_folder_as_many_pieces_are_read_as_of_a_large_file() {
        let here = tempfile::tempdir().expect("a temporary folder");
        let there = here.path().join("there");
        std::fs::write(&there, vec![7; 1 << 20]).expect("the folder can be written");
        let missing = here.path().join("missing");
        // A thousand files of a mebibyte: 256 pieces begin in every fourth of them, and the others are not opened.
        let files: Vec<(&Path, u64)> = (0..1024_u32)
            .map(|number| {
                (
                    if number % 4 == 0 {
                        there.as_path()
                    } else {
                        missing.as_path()
                    },
                    1 << 20,
                )
            })
            .collect();
        let seen = of_files(&files);
        assert!(seen.starts_with("pieces-"), "{seen}");
        // Where a content ends is part of what it is, also of a file that is not opened.
        let mut other = files;
        other[1].1 -= 4096;
        other[2].1 += 4096;
        assert_ne!(of_files(&other), seen);
    }
}
