//! The first bytes of the first value of every bucket in one array: a search there leads to a value's bucket, in most dictionaries
//! without a look at any other, where a search of blocks and their buckets would miss the cache at nearly each step.

use std::ops::Range;

use crate::huge::HugeArray;

/// First bytes of values, zeros behind the end of shorter ones: numbers that sort as they do.
const HEAD_BYTES: usize = 8;

/// The heads of all buckets, in order.
#[derive(Debug)]
pub(super) struct Heads(HugeArray<HEAD_BYTES>);

impl Heads {
    /// Those of the given first values.
    pub(super) fn of(heads: &[u64]) -> Self {
        let mut items = HugeArray::zeroed(heads.len());
        for (item, head) in items.get_mut().iter_mut().zip(heads) {
            *item = head.to_le_bytes();
        }
        Self(items)
    }

    /// The buckets whose first value begins as `wanted` does: those before begin with less than it, those behind with more.
    pub(super) fn alike(&self, wanted: &[u8]) -> Range<usize> {
        let (items, wanted) = (self.0.get(), head(wanted));
        let start = items.partition_point(|item| u64::from_le_bytes(*item) < wanted);
        let count = items[start..].partition_point(|item| u64::from_le_bytes(*item) == wanted);
        start..start + count
    }
}

/// The first bytes of a value as a number.
pub(super) fn head(value: &[u8]) -> u64 {
    match value.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; HEAD_BYTES];
            bytes[..value.len()].copy_from_slice(value);
            u64::from_be_bytes(bytes)
        }
    }
}
