//! How much memory values may take: a file of some kilobytes can hold gigabytes of them.

use crate::error::{ColumnError, Result};

/// Copies of a block that reading a value holds at once: the block, the value in it and the one before it.
pub(crate) const BLOCK_COPIES: u64 = 3;

/// The memory that values gathered in one place may take.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    limit_bytes: u64,
    taken_bytes: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self::of(u64::MAX)
    }
}

impl Allowance {
    pub(crate) const fn of(limit_bytes: u64) -> Self {
        Self {
            limit_bytes,
            taken_bytes: 0,
        }
    }

    pub(crate) const fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Takes memory before it is allocated.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<()> {
        self.taken_bytes = self.taken_bytes.saturating_add(bytes);
        if self.taken_bytes > self.limit_bytes {
            return Err(ColumnError::NeedsMemory {
                needed_bytes: self.taken_bytes,
                limit_bytes: self.limit_bytes,
            });
        }
        Ok(())
    }
}
