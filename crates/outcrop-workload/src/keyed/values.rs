//! The bytes of values: a function of the key alone, so that every value read can be verified.

use std::fmt;

use outcrop_measure::Seed;

use crate::content::Content;

/// Starts are drawn from a pool of this many bytes.
const POOL_BYTES: usize = 4 << 20;
/// A value begins with as much of its key's stamp as it has room for.
const STAMP_BYTES: usize = 8;
/// What a failed trial says of values that a server returned and that it was not given: a report finds those trials by it.
pub const VALUES_DIFFERED: &str = "values differed from those stored";

/// Values of one content. A value is its key's stamp, then a stretch of a pool that the stamp chooses.
///
/// The stamp tells values of zeros apart too. *Cost*: memory for the pool (4 MiB and the longest value); to write
/// or verify a value costs a copy or a comparison of its bytes.
#[derive(Clone)]
pub struct Values {
    pool: Box<[u8]>,
}

impl Values {
    /// Values of this content, none longer than `max_size_bytes`.
    pub fn new(content: Content, max_size_bytes: usize) -> Self {
        let mut pool = vec![0; POOL_BYTES + max_size_bytes].into_boxed_slice();
        content
            .filler(Seed(0).derive("values of a keyed workload"))
            .fill(&mut pool);
        Self { pool }
    }

    /// Appends the value of this stamp and length. A length beyond the longest is cut to it.
    #[inline]
    pub fn write(&self, stamp: u64, size_bytes: usize, out: &mut Vec<u8>) {
        let head = size_bytes.min(STAMP_BYTES);
        out.extend_from_slice(&mixed(stamp).to_le_bytes()[..head]);
        out.extend_from_slice(self.tail(stamp, size_bytes - head));
    }

    /// Whether these are the bytes of the value of this stamp.
    #[inline]
    pub fn matches(&self, stamp: u64, bytes: &[u8]) -> bool {
        let head = bytes.len().min(STAMP_BYTES);
        bytes[..head] == mixed(stamp).to_le_bytes()[..head]
            && bytes[head..] == *self.tail(stamp, bytes.len() - head)
    }

    fn tail(&self, stamp: u64, size_bytes: usize) -> &[u8] {
        let start = (mixed(stamp) >> 32) as usize % POOL_BYTES;
        let end = (start + size_bytes).min(self.pool.len());
        &self.pool[start..end]
    }
}

/// Neighbouring keys get unlike stamps.
const fn mixed(stamp: u64) -> u64 {
    Seed(0x76_616c_7565).derive_index(stamp).0
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").finish_non_exhaustive()
    }
}
