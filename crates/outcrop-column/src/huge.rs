//! Arrays of small fixed-size items that are visited in no order: on huge pages where they are large, since
//! with small ones nearly each visit would miss the TLB besides the cache.

mod shared;

use std::ops::Range;

use memmap2::{Advice, MmapMut, MmapOptions};

pub(crate) use shared::{Line, SharedArray};

use crate::kernels;

/// Arrays from this size on are mapped on huge pages.
const MAPPED_BYTES: usize = 2 << 20;

/// Numbers asked for before they are looked up.
const NUMBERS_AHEAD: usize = 64;

/// A growable-by-replacement array of items of `N` bytes.
#[derive(Debug)]
pub(crate) enum HugeArray<const N: usize> {
    Heap(Vec<[u8; N]>),
    Mapped(MmapMut),
}

impl<const N: usize> Default for HugeArray<N> {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl<const N: usize> HugeArray<N> {
    /// `count` items of zeros.
    pub(crate) fn zeroed(count: usize) -> Self {
        let bytes = count * N;
        if bytes >= MAPPED_BYTES
            && let Ok(map) = MmapMut::map_anon(bytes)
        {
            // Advice only: a kernel without huge pages ignores it.
            let _ = map.advise(Advice::HugePage);
            return Self::Mapped(map);
        }
        Self::Heap(vec![[0; N]; count])
    }

    /// `count` items of zeros on ordinary pages, all of which the system hands out at once: for memory that is
    /// filled to the end, where being asked for one page after the other takes longer.
    pub(crate) fn handed_out(count: usize) -> Self {
        match MmapOptions::new().len(count * N).populate().map_anon() {
            Ok(map) => Self::Mapped(map),
            Err(_) => Self::Heap(vec![[0; N]; count]),
        }
    }

    /// The items with zeros behind them, `count` in all.
    pub(crate) fn lengthened(&self, count: usize) -> Self {
        let mut longer = Self::zeroed(count);
        longer.get_mut()[..self.get().len()].copy_from_slice(self.get());
        longer
    }

    #[inline]
    pub(crate) fn get(&self) -> &[[u8; N]] {
        match self {
            Self::Heap(items) => items,
            Self::Mapped(map) => map.as_chunks().0,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut [[u8; N]] {
        match self {
            Self::Heap(items) => items,
            Self::Mapped(map) => map.as_chunks_mut().0,
        }
    }
}

/// Numbers looked up in no order.
#[derive(Debug)]
pub(crate) struct HugeMap(HugeArray<4>);

impl HugeMap {
    /// The numbers of `of`, in order.
    pub(crate) fn of(of: impl ExactSizeIterator<Item = u32>) -> Self {
        let mut items = HugeArray::zeroed(of.len());
        for (item, number) in items.get_mut().iter_mut().zip(of) {
            *item = number.to_le_bytes();
        }
        Self(items)
    }

    /// `count` zeros.
    pub(crate) fn zeroed(count: usize) -> Self {
        Self(HugeArray::zeroed(count))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.get().len()
    }

    /// The place of each number in `of`, which has each number less than its length once.
    pub(crate) fn inverse(of: &[u32]) -> Self {
        let mut items = HugeArray::zeroed(of.len());
        for (place, &number) in (0_u32..).zip(of) {
            items.get_mut()[number as usize] = place.to_le_bytes();
        }
        Self(items)
    }

    /// Puts in the place of each of `numbers` what it stands for.
    pub(crate) fn apply(&self, numbers: &mut [u32]) {
        let items = self.0.get();
        let get = |number: u32| u32::from_le_bytes(items[number as usize]);
        let ahead = numbers.len().saturating_sub(NUMBERS_AHEAD);
        for index in 0..ahead {
            // The processor looks ahead as well, but not this far, which where one in four misses the
            // cache is too few misses at a time.
            kernels::prefetch(items, numbers[index + NUMBERS_AHEAD] as usize);
            numbers[index] = get(numbers[index]);
        }
        for number in &mut numbers[ahead..] {
            *number = get(*number);
        }
    }

    /// Makes each number stand for what `by` says of what it stood for.
    pub(crate) fn translate(&mut self, by: impl Fn(u32) -> u32) {
        for item in self.0.get_mut() {
            *item = by(u32::from_le_bytes(*item)).to_le_bytes();
        }
    }

    /// Sets what `number` stands for.
    pub(crate) fn set(&mut self, number: u32, to: u32) {
        self.0.get_mut()[number as usize] = to.to_le_bytes();
    }

    /// Starts fetching what `number` stands for.
    pub(crate) fn prefetch(&self, number: u32) {
        kernels::prefetch(self.0.get(), number as usize);
    }

    pub(crate) fn get(&self, number: u32) -> u32 {
        u32::from_le_bytes(self.0.get()[number as usize])
    }

    /// All numbers in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.get().iter().map(|item| u32::from_le_bytes(*item))
    }

    /// How many of the numbers in `range`, which ascend, are less than `limit`.
    pub(crate) fn count_below(&self, range: Range<usize>, limit: u64) -> usize {
        let items = &self.0.get()[range];
        items.partition_point(|item| u64::from(u32::from_le_bytes(*item)) < limit)
    }
}
