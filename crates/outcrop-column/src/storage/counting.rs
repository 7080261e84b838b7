//! A reader that counts what passes through it: how a test proves "at most three reads of 4 KiB".

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::ReadAt;

/// Passes reads on and counts them; never hands out the source as memory, so that each access is a read.
#[derive(Debug)]
pub struct CountingReader<R> {
    inner: R,
    reads: AtomicU64,
    bytes: AtomicU64,
    largest: AtomicU64,
}

/// What a [`CountingReader`] has seen since it was made or last reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadCounts {
    /// Number of reads.
    pub read_count: u64,
    /// Bytes read in all.
    pub read_bytes: u64,
    /// Bytes of the largest read.
    pub largest_read_bytes: u64,
}

impl<R> CountingReader<R> {
    /// Counts the reads of `inner`.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            reads: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            largest: AtomicU64::new(0),
        }
    }

    /// The counts since the last call; they start again at zero.
    pub fn take_counts(&self) -> ReadCounts {
        ReadCounts {
            read_count: self.reads.swap(0, Relaxed),
            read_bytes: self.bytes.swap(0, Relaxed),
            largest_read_bytes: self.largest.swap(0, Relaxed),
        }
    }
}

impl<R: ReadAt> ReadAt for CountingReader<R> {
    fn size_bytes(&self) -> u64 {
        self.inner.size_bytes()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let length = buffer.len() as u64;
        self.reads.fetch_add(1, Relaxed);
        self.bytes.fetch_add(length, Relaxed);
        self.largest.fetch_max(length, Relaxed);
        self.inner.read_exact_at(buffer, offset)
    }
}
