//! Remembers which blocks of a memory-mapped file were checked, so that checksums are computed once.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::error::Result;

/// One bit per block.
#[derive(Debug)]
pub(crate) struct Touched {
    words: Vec<AtomicU64>,
}

impl Touched {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            words: std::iter::repeat_with(AtomicU64::default)
                .take(count.div_ceil(64))
                .collect(),
        }
    }

    /// Runs `check` unless it passed for `index` before; always if the bytes were read anew.
    ///
    /// Two threads may both run it the first time: it costs time, not correctness: no ordering is needed.
    pub(crate) fn first(
        &self,
        index: usize,
        read_anew: bool,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let bit = 1 << (index % 64);
        if !read_anew && self.words[index / 64].load(Relaxed) & bit != 0 {
            return Ok(());
        }
        check()?;
        self.words[index / 64].fetch_or(bit, Relaxed);
        Ok(())
    }
}
