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
/// Pieces that are read of larger data, evenly spaced: the same ones whatever the seed.
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
}

impl Fingerprint {
    /// Of `total_bytes` in all.
    pub(crate) fn of(total_bytes: u64) -> Self {
        Self {
            digest: Md5::new(),
            is_whole: total_bytes <= WHOLE_BYTES,
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

    /// Adds a file: all of it, or pieces of it.
    pub(crate) fn add_file(
        &mut self,
        path: &Path,
        bytes: u64,
        stop: &AtomicBool,
    ) -> Result<(), CompressError> {
        let failed = |source| CompressError::path("read", path, source);
        let file = File::open(path).map_err(failed)?;
        let step = if self.is_whole {
            PIECE_BYTES
        } else {
            (bytes / PIECES).max(PIECE_BYTES)
        };
        let mut piece = vec![0; PIECE_BYTES as usize];
        let mut offset = 0;
        while offset < bytes {
            if stop.load(Ordering::Relaxed) {
                return Err(CompressError::Interrupted);
            }
            let wanted = (bytes - offset).min(PIECE_BYTES) as usize;
            let mut filled = 0;
            while filled < wanted {
                match file.read_at(&mut piece[filled..wanted], offset + filled as u64) {
                    Ok(0) => break,
                    Ok(read) => filled += read,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(failed(error)),
                }
            }
            self.add(&piece[..filled]);
            offset += step;
        }
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

fn spelled(digest: Md5) -> String {
    digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
