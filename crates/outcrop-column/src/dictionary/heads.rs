//! The first bytes of every bucket's first value in one array: a search there finds a value's bucket,
//! in most dictionaries without touching any other. A search of blocks and their buckets would miss
//! the cache at nearly every step.

use std::ops::Range;

use crate::huge::HugeArray;
use crate::kernels::{CACHE_LINE_BYTES, prefetch};

/// First bytes of values, zeros behind the end of shorter ones: numbers that sort as they do.
const HEAD_BYTES: usize = 8;

/// Heads of a part. The first heads of all parts stay in the cache; a search in them leads to one part, whose
/// few cache lines are fetched all at once.
const PART: usize = 32;

/// Heads of a cache line.
const LINE: usize = CACHE_LINE_BYTES / HEAD_BYTES;

/// The heads of all buckets, in order.
#[derive(Debug)]
pub(super) struct Heads {
    items: HugeArray<HEAD_BYTES>,
    /// Every `PART`-th of them.
    firsts: Vec<u64>,
}

impl Heads {
    /// Those of the given first values.
    pub(super) fn of(heads: &[u64]) -> Self {
        let mut items = HugeArray::zeroed(heads.len());
        for (item, head) in items.get_mut().iter_mut().zip(heads) {
            *item = head.to_le_bytes();
        }
        let firsts = heads.iter().copied().step_by(PART).collect();
        Self { items, firsts }
    }

    /// The buckets whose first value begins as `wanted` does: those before begin with less
    /// than it, those behind with more.
    pub(super) fn alike(&self, wanted: &[u8]) -> Range<usize> {
        let (items, wanted) = (self.items.get(), head(wanted));
        let end = self.firsts.partition_point(|&first| first < wanted) * PART;
        let begin = end.saturating_sub(PART);
        (begin..end).step_by(LINE).for_each(|line| prefetch(items, line));
        let part = &items[begin..end.min(items.len())];
        let start = begin + part.partition_point(|item| u64::from_le_bytes(*item) < wanted);
        let is_alike = |item: &[u8; HEAD_BYTES]| u64::from_le_bytes(*item) == wanted;
        // Mostly none or one is: a search would look at far ones.
        let rest = &items[start..];
        let count = match rest.get(1) {
            Some(second) if is_alike(second) => rest.partition_point(is_alike),
            _ => usize::from(rest.first().is_some_and(is_alike)),
        };
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Heads, head};

    proptest! {
        #[test]
        fn the_buckets_alike_are_those_of_the_plain_search(
            mut values in proptest::collection::vec(proptest::collection::vec(0_u8..3, 0..10), 0..300), wanted in proptest::collection::vec(0_u8..3, 0..10),
        ) {
            values.sort();
            let all: Vec<u64> = values.iter().map(|value| head(value)).collect();
            let wanted_head = head(&wanted);
            let start = all.partition_point(|&item| item < wanted_head);
            let end = all.partition_point(|&item| item <= wanted_head);
            prop_assert_eq!(Heads::of(&all).alike(&wanted), start..end);
        }
    }
}
