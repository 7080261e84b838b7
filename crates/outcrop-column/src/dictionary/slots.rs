//! The hash table of the values that were met: slots of 16 bytes that hold a short value whole with its code, so
//! that the common row costs one cache line and no pointer.
//!
//! Slots are only ever filled. Whoever finds a key in one is right whatever other threads do meanwhile, and needs no
//! lock; whoever does not find one may have looked too early.

use std::sync::atomic::{AtomicU64, Ordering};

use super::key::Key;
use crate::huge::{Four, SharedArray};
use crate::kernels::prefetch;

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

/// The two slots of a pair, which are looked at together, in one cache line. All zeros are free slots.
#[inline(always)]
fn slots_of(Four([start, end_and_code, second_start, second_end_and_code]): &Four) -> [Slot<'_>; 2] {
    let first = Slot { start, end_and_code };
    let second = Slot {
        start: second_start,
        end_and_code: second_end_and_code,
    };
    [first, second]
}

/// Codes have 32 bits, and there is always a free slot.
const MOST_PAIRS: usize = 1 << 31;

/// The table grows by half when more than three of four slots are taken: a smaller one stays in the cache longer, and
/// values that come often come early, to the first slots for them.
const MOST_TAKEN: (usize, usize) = (3, 4);

/// Rows whose pairs are being fetched while as many before them are looked up: more than a core's outstanding
/// misses, since not every row misses.
const ROWS_AT_ONCE: usize = 128;

/// Pairs in which a row is looked for before it is left to those who look at one row at a time.
const PAIRS_LOOKED_AT: usize = 4;

/// A key on its way: with the number of the pair that is looked at next.
#[derive(Debug, Clone, Copy, Default)]
struct Probe {
    start: u64,
    end: u32,
    pair: u32,
}

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
    pair: usize,
    position: usize,
}

/// The table.
#[derive(Debug)]
pub(crate) struct Slots {
    pairs: SharedArray,
}

impl Slots {
    /// With room for this many values.
    pub(super) fn with_room(values: usize) -> Self {
        let slots = values.saturating_mul(MOST_TAKEN.1).div_ceil(MOST_TAKEN.0);
        Self::of_pairs((slots / 2 + 1).min(MOST_PAIRS))
    }

    fn of_pairs(count: usize) -> Self {
        Self {
            // Whole cache lines.
            pairs: SharedArray::zeroed(count.next_multiple_of(2)),
        }
    }

    /// Whether one more than `values` values may be in the table.
    #[inline]
    pub(super) fn has_room(&self, values: usize) -> bool {
        let pair_count = self.pairs.get().len();
        (values + 1) * MOST_TAKEN.1 <= 2 * pair_count * MOST_TAKEN.0 || pair_count >= MOST_PAIRS
    }

    /// A larger table of the same content.
    ///
    /// Pairs are in the order of the hashes, so both tables are walked through once, forwards.
    pub(super) fn grown(&self) -> Self {
        let pair_count = self.pairs.get().len();
        let larger = Self::of_pairs((pair_count + pair_count.div_ceil(2)).min(MOST_PAIRS));
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
        let slots = self.pairs.get().iter().flat_map(slots_of);
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
        let pairs = self.pairs.get();
        let home = pair_of(key, pairs.len());
        let mut index = home;
        loop {
            for (position, slot) in slots_of(&pairs[index]).into_iter().enumerate() {
                let end_and_code = slot.end_and_code.load(Ordering::Acquire);
                if end_and_code as u32 == 0 {
                    return Found::Free(FreeSlot {
                        pair: index,
                        position,
                    });
                }
                if end_and_code as u32 == key.high && is_it(slot.start.load(Ordering::Relaxed)) {
                    return Found::Code((end_and_code >> 32) as u32);
                }
            }
            index = next_pair(home, index, pairs.len());
        }
    }

    /// Fills the slot where the search for a key ended, and no other thread fills any meanwhile.
    pub(super) fn fill(&self, free: FreeSlot, start: u64, end: u32, code: u32) {
        let slot = slots_of(&self.pairs.get()[free.pair])[free.position];
        slot.fill(start, u64::from(end) | u64::from(code) << 32);
    }

    /// Puts a key with its code into a table that no other thread has yet. Where slots are taken, lower codes come
    /// first, as if values had been put in in the order of their codes: those that came early come often.
    fn place(&self, mut start: u64, mut end_and_code: u64) {
        let pairs = self.pairs.get();
        let home_of = |start: u64, end_and_code: u64| {
            let bits = u128::from(start) | u128::from(end_and_code as u32) << 64;
            pair_of(&Key::of_bits(bits), pairs.len())
        };
        let mut home = home_of(start, end_and_code);
        let mut index = home;
        loop {
            for slot in slots_of(&pairs[index]) {
                let other = slot.end_and_code.load(Ordering::Relaxed);
                if other as u32 == 0 {
                    return slot.fill(start, end_and_code);
                }
                if other >> 32 > end_and_code >> 32 {
                    let other_start = slot.start.load(Ordering::Relaxed);
                    slot.fill(start, end_and_code);
                    (start, end_and_code) = (other_start, other);
                    home = home_of(start, end_and_code);
                }
            }
            index = next_pair(home, index, pairs.len());
        }
    }

    /// Looks for the lines of `text` that end at `ends`, the first beginning at `start`, in the first few pairs for each:
    /// their codes go to `codes`. The indexes of those that are not found there, all long values among them, become
    /// those of `later`.
    ///
    /// Nothing here branches on the table's content, which cannot be predicted, and the pairs of the next rows are
    /// asked for while these are looked up, so that memory is always at work.
    pub(crate) fn look(&self, text: &[u8], start: usize, ends: &[u32], codes: &mut [u32], later: &mut Later) {
        let pairs = self.pairs.get();
        let (indexes, later_probes, later_count) = later.of_rows(ends.len());
        let mut probes = [[Probe::default(); ROWS_AT_ONCE]; 2];
        let [now, next] = &mut probes;
        let (mut now, mut next) = (now, next);
        let mut batches = ends.chunks(ROWS_AT_ONCE);
        let mut from = ask(pairs, text, start, batches.next().unwrap_or_default(), now);
        let (mut index, mut left) = (0, 0);
        for codes in codes[..ends.len()].chunks_mut(ROWS_AT_ONCE) {
            from = ask(pairs, text, from, batches.next().unwrap_or_default(), next);
            for (code, probe) in codes.iter_mut().zip(now.iter()) {
                let is_missing;
                (*code, is_missing) = look_at(&pairs[probe.pair as usize], probe);
                indexes[left] = index;
                later_probes[left] = *probe;
                left += usize::from(is_missing);
                index += 1;
            }
            std::mem::swap(&mut now, &mut next);
        }
        for step in 1..PAIRS_LOOKED_AT {
            let here = std::mem::take(&mut left);
            for at in 0..here {
                let (index, mut probe) = (indexes[at], later_probes[at]);
                if step == 1 {
                    // The other pair of the line.
                    probe.pair ^= 1;
                }
                let (code, is_missing) = look_at(&pairs[probe.pair as usize], &probe);
                codes[usize::from(index)] = code;
                if step > 1 {
                    probe.pair += 1;
                } else {
                    probe.pair = (probe.pair | 1) + 1;
                }
                probe.pair = if probe.pair as usize == pairs.len() {
                    0
                } else {
                    probe.pair
                };
                prefetch(pairs, probe.pair as usize);
                indexes[left] = index;
                later_probes[left] = probe;
                left += usize::from(is_missing);
            }
        }
        *later_count = left;
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
    /// Room for this many indexes and probes, and how many there are.
    fn of_rows(&mut self, rows: usize) -> (&mut [u16], &mut [Probe], &mut usize) {
        if self.probes.len() < rows {
            self.indexes.resize(rows, 0);
            self.probes.resize(rows, Probe::default());
        }
        (
            &mut self.indexes[..rows],
            &mut self.probes[..rows],
            &mut self.count,
        )
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
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

/// The code of the value of `probe` if it is in this pair, and whether it is not.
#[inline(always)]
fn look_at(pair: &Four, probe: &Probe) -> (u32, bool) {
    let [first, second] = slots_of(pair);
    let (first_end, second_end) = (
        first.end_and_code.load(Ordering::Acquire),
        second.end_and_code.load(Ordering::Acquire),
    );
    let is = |slot: Slot<'_>, end_and_code: u64| {
        let start = slot.start.load(Ordering::Relaxed) ^ probe.start;
        start | u64::from(end_and_code as u32 ^ probe.end) == 0
    };
    let (is_first, is_second) = (is(first, first_end), is(second, second_end));
    let found = if is_first { first_end } else { second_end };
    ((found >> 32) as u32, !(is_first | is_second))
}

/// Makes the keys of lines ready, and starts fetching their pairs; gives where the next line begins.
#[inline(always)]
fn ask(
    pairs: &[Four],
    text: &[u8],
    mut from: usize,
    ends: &[u32],
    probes: &mut [Probe; ROWS_AT_ONCE],
) -> usize {
    for (probe, &end) in probes.iter_mut().zip(ends) {
        let key = Key::within(text, from, end as usize);
        let pair = pair_of(&key, pairs.len());
        prefetch(pairs, pair);
        *probe = Probe {
            start: key.low,
            end: key.high,
            pair: pair as u32,
        };
        from = end as usize + 1;
    }
    from
}

/// The pair that is looked at after `pair` in a search that began at `home`: the other one of the cache line, then one
/// line after the other.
#[inline]
fn next_pair(home: usize, pair: usize, pair_count: usize) -> usize {
    let next = if pair == home {
        home ^ 1
    } else if pair == home ^ 1 {
        (home | 1) + 1
    } else {
        pair + 1
    };
    if next == pair_count { 0 } else { next }
}

/// Pair where the search for `key` begins: the hash scaled to the number of pairs.
#[inline]
fn pair_of(key: &Key, pair_count: usize) -> usize {
    ((u128::from(key.hash) * pair_count as u128) >> 64) as usize
}
