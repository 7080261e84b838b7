//! The hash table of the values that were met: slots of 16 bytes that hold a short value whole with its code, so
//! that the common row costs one cache line and no pointer.
//!
//! Slots are only ever filled. Whoever finds a key in one is right whatever other threads do meanwhile, and needs no
//! lock; whoever does not find one may have looked too early.

use std::sync::atomic::{AtomicU64, Ordering};

use super::key::Key;
use crate::huge::{Line, SharedArray};
use crate::kernels::{self, CACHE_LINE_BYTES, MOST_PROBES, Probe, SLOT_WORDS, SLOTS, bucket_of, prefetch};

/// A key with its code. The atomic operations are those of plain memory on most processors.
#[derive(Clone, Copy)]
struct Slot<'a> {
    /// The first eight bytes of the key; the number of a long value stands in those that its key leaves.
    start: &'a AtomicU64,
    /// The last four bytes of the key, which are zero only where the slot is free, and the code above them. Written
    /// last, so that whoever sees it sees the start.
    end_and_code: &'a AtomicU64,
}

impl Slot<'_> {
    fn fill(self, start: u64, end_and_code: u64) {
        self.start.store(start, Ordering::Relaxed);
        self.end_and_code.store(end_and_code, Ordering::Release);
    }
}

/// The slots of a bucket, which are looked at together. All zeros are free slots.
#[inline(always)]
fn slots_of(Line(words): &Line) -> [Slot<'_>; SLOTS] {
    std::array::from_fn(|slot| Slot {
        start: &words[SLOT_WORDS * slot],
        end_and_code: &words[SLOT_WORDS * slot + 1],
    })
}

/// Codes have 32 bits, and there is always a free slot.
const MOST_BUCKETS: usize = 1 << 30;

/// The table grows by half when more than three of four slots are taken: a smaller one stays in the cache longer, and
/// values that come often come early, to the first slots for them.
const MOST_TAKEN: (usize, usize) = (3, 4);

/// Buckets in which a row is looked for before it is left to those who look at one row at a time.
const BUCKETS_LOOKED_AT: usize = 4;

/// Text this far ahead is fetched while rows are looked up: that is how much is split at a time, so that the next piece
/// need not wait for memory.
pub(crate) const TEXT_AHEAD: usize = 8192;

/// Where a search ended.
pub(super) enum Found {
    /// At the value, which has this code.
    Code(u32),
    /// At the first free slot for it.
    Free(FreeSlot),
}

/// A slot to be filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct FreeSlot {
    bucket: usize,
    position: usize,
}

/// The table.
#[derive(Debug)]
pub(crate) struct Slots {
    buckets: SharedArray,
}

impl Slots {
    /// With room for this many values.
    pub(super) fn with_room(values: usize) -> Self {
        let slots = values.saturating_mul(MOST_TAKEN.1).div_ceil(MOST_TAKEN.0);
        Self::of_buckets((slots / SLOTS + 1).min(MOST_BUCKETS))
    }

    fn of_buckets(count: usize) -> Self {
        Self {
            buckets: SharedArray::zeroed(count),
        }
    }

    /// Whether one more than `values` values may be in the table.
    #[inline]
    pub(super) fn has_room(&self, values: usize) -> bool {
        let bucket_count = self.buckets.get().len();
        (values + 1) * MOST_TAKEN.1 <= SLOTS * bucket_count * MOST_TAKEN.0 || bucket_count >= MOST_BUCKETS
    }

    /// A larger table of the same content.
    ///
    /// Buckets are in the order of the hashes, so both tables are walked through once, forwards.
    pub(super) fn grown(&self) -> Self {
        let bucket_count = self.buckets.get().len();
        let larger = Self::of_buckets((bucket_count + bucket_count.div_ceil(2)).min(MOST_BUCKETS));
        for (start, end_and_code) in self.taken() {
            larger.place(start, end_and_code);
        }
        larger
    }

    /// The key of each slot that is not free, in the low bits, and its code.
    pub(super) fn keys(&self) -> impl Iterator<Item = (u128, u32)> {
        self.taken().map(|(start, end_and_code)| {
            let bits = u128::from(start) | u128::from(end_and_code as u32) << 64;
            (bits, (end_and_code >> 32) as u32)
        })
    }

    fn taken(&self) -> impl Iterator<Item = (u64, u64)> {
        let slots = self.buckets.get().iter().flat_map(slots_of);
        let contents = slots.map(|slot| {
            (
                slot.start.load(Ordering::Relaxed),
                slot.end_and_code.load(Ordering::Relaxed),
            )
        });
        contents.filter(|&(_, end_and_code)| end_and_code as u32 != 0)
    }

    /// The code of the short value of `key`, if it is here; none of long ones, of which only a hash is.
    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        match self.search(key, |start| start == key.low) {
            Found::Code(code) => Some(code),
            Found::Free(_) => None,
        }
    }

    /// Looks for `key`; `is_it` says of the start of a key with the same end whether it is the one.
    #[inline]
    pub(super) fn search(&self, key: &Key, is_it: impl Fn(u64) -> bool) -> Found {
        let buckets = self.buckets.get();
        let mut index = bucket_of(key.hash, buckets.len());
        loop {
            for (position, slot) in slots_of(&buckets[index]).into_iter().enumerate() {
                let end_and_code = slot.end_and_code.load(Ordering::Acquire);
                if end_and_code as u32 == 0 {
                    return Found::Free(FreeSlot {
                        bucket: index,
                        position,
                    });
                }
                if end_and_code as u32 == key.high && is_it(slot.start.load(Ordering::Relaxed)) {
                    return Found::Code((end_and_code >> 32) as u32);
                }
            }
            index = next_bucket(index, buckets.len());
        }
    }

    /// Fills the slot where the search for a key ended, and no other thread fills any meanwhile.
    pub(super) fn fill(&self, free: FreeSlot, start: u64, end: u32, code: u32) {
        let slots = slots_of(&self.buckets.get()[free.bucket]);
        slots[free.position].fill(start, u64::from(end) | u64::from(code) << 32);
    }

    /// Puts a key with its code into a table that no other thread has yet. Where slots are taken, lower codes come
    /// first, as if values had been put in in the order of their codes: those that came early come often.
    fn place(&self, mut start: u64, mut end_and_code: u64) {
        let buckets = self.buckets.get();
        let bits = u128::from(start) | u128::from(end_and_code as u32) << 64;
        let mut index = bucket_of(Key::of_bits(bits).hash, buckets.len());
        loop {
            for slot in slots_of(&buckets[index]) {
                let other = slot.end_and_code.load(Ordering::Relaxed);
                if other as u32 == 0 {
                    return slot.fill(start, end_and_code);
                }
                if other >> 32 > end_and_code >> 32 {
                    let other_start = slot.start.load(Ordering::Relaxed);
                    slot.fill(start, end_and_code);
                    (start, end_and_code) = (other_start, other);
                }
            }
            index = next_bucket(index, buckets.len());
        }
    }

    /// Looks for the rows of `text` that end at `ends`, the first beginning at `start`, in the first few buckets of the table for each:
    /// their codes go to `codes`. The indexes of those that are not found there, all long values among them, become
    /// those of `later`.
    ///
    /// Nothing here branches on a key, and the buckets of the next rows are asked for while these are looked up, so that
    /// memory is always at work.
    pub(crate) fn look(&self, text: &[u8], start: usize, ends: &[u32], codes: &mut [u32], later: &mut Later) {
        let table = self.buckets.get();
        later.start(ends.len());
        let mut probes = [[Probe::default(); MOST_PROBES]; 2];
        let [now, next] = &mut probes;
        let (mut now, mut next) = (now, next);
        let mut batches = ends.chunks(MOST_PROBES);
        let (mut from, mut index) = (start, 0);
        let mut ask = |probes: &mut [Probe]| {
            let ends = batches.next().unwrap_or_default();
            kernels::probe(text, from, ends, table, probes);
            let first = from;
            from = ends.last().map_or(from, |&end| end as usize + 1);
            for place in (first..from).step_by(CACHE_LINE_BYTES) {
                prefetch(text, place + TEXT_AHEAD);
            }
        };
        ask(now);
        for codes in codes[..ends.len()].chunks_mut(MOST_PROBES) {
            ask(next);
            let mut missing = kernels::look(table, &now[..codes.len()], codes);
            while missing != 0 {
                let at = missing.trailing_zeros() as usize;
                missing &= missing - 1;
                later.push((index + at) as u16, next_probe(table, now[at]));
            }
            index += codes.len();
            std::mem::swap(&mut now, &mut next);
        }
        for _ in 1..BUCKETS_LOOKED_AT {
            later.look(table, codes);
        }
    }
}

/// Rows whose values were not found yet, each with where to look next.
#[derive(Debug, Default)]
pub(crate) struct Later {
    /// The first `count` of both are meant.
    indexes: Vec<u16>,
    probes: Vec<Probe>,
    count: usize,
}

impl Later {
    /// None, with room for this many.
    fn start(&mut self, rows: usize) {
        if self.probes.len() < rows {
            self.indexes.resize(rows, 0);
            self.probes.resize(rows, Probe::default());
        }
        self.count = 0;
    }

    #[inline]
    fn push(&mut self, index: u16, probe: Probe) {
        self.indexes[self.count] = index;
        self.probes[self.count] = probe;
        self.count += 1;
    }

    /// Looks at the next bucket for each.
    fn look(&mut self, buckets: &[Line], codes: &mut [u32]) {
        let mut found = [0; MOST_PROBES];
        let count = std::mem::take(&mut self.count);
        for from in (0..count).step_by(MOST_PROBES) {
            let rows = from..count.min(from + MOST_PROBES);
            let missing = kernels::look(buckets, &self.probes[rows.clone()], &mut found);
            for (place, at) in rows.enumerate() {
                let (index, probe) = (self.indexes[at], self.probes[at]);
                codes[usize::from(index)] = found[place];
                if missing >> place & 1 == 1 {
                    self.push(index, next_probe(buckets, probe));
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Whether long values are among them, before any were retained.
    pub(crate) fn has_long(&self) -> bool {
        self.probes[..self.count].iter().any(Probe::is_of_long)
    }

    /// The indexes of the rows, ascending. Where to look next is no longer known of those that were retained.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = u16> {
        self.indexes[..self.count].iter().copied()
    }

    /// Keeps the rows of which `is_kept` says so.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(u16) -> bool) {
        let mut kept = 0;
        for at in 0..self.count {
            let index = self.indexes[at];
            self.indexes[kept] = index;
            kept += usize::from(is_kept(index));
        }
        self.count = kept;
    }
}

/// The same key with the next bucket, which is being fetched.
#[inline]
fn next_probe(buckets: &[Line], probe: Probe) -> Probe {
    let bucket = next_bucket(probe.bucket as usize, buckets.len());
    prefetch(buckets, bucket);
    Probe {
        bucket: bucket as u32,
        ..probe
    }
}

/// The bucket that is looked at after `bucket`.
#[inline]
fn next_bucket(bucket: usize, bucket_count: usize) -> usize {
    let next = bucket + 1;
    if next == bucket_count { 0 } else { next }
}
