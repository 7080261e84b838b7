//! Value → provisional code while a column is read: a hash table of cache lines, four slots each, that hold short values
//! whole, so that the common row costs one cache line.

use super::key::{KEY_BITS, Key, LONG, sort_key};
use super::lines::{LINE_BYTES, Lines};
use crate::error::{ColumnError, Result};
use crate::format::{SEGMENT_ROWS_LIMIT, VALUE_BYTES_LIMIT};
use crate::kernels::prefetch;

/// A slot: the 96 bits of a key, then the code plus one; all zero where it is free.
const SLOT_BYTES: usize = 16;
const LINE_SLOTS: usize = LINE_BYTES / SLOT_BYTES;

/// The table grows by half when its lines have this many values on average.
const MEAN_VALUES_PER_LINE: usize = 3;
const FIRST_LINES: usize = 1 << 8;

/// The distinct values seen so far, numbered in the order of their first row, with their counts.
#[derive(Debug)]
pub(crate) struct Interner {
    lines: Lines,
    arena: Vec<u8>,
    ends: Vec<usize>,
    counts: Vec<u32>,
    null: Option<u32>,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            lines: Lines::zeroed(FIRST_LINES),
            arena: Vec::new(),
            ends: Vec::new(),
            counts: Vec::new(),
            null: None,
        }
    }
}

impl Interner {
    /// Provisional codes handed out, that of null included.
    pub(crate) fn code_count(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of the distinct values.
    pub(crate) fn value_bytes(&self) -> usize {
        self.arena.len()
    }

    /// The value of a provisional code.
    pub(crate) fn value(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.arena[start..self.ends[code]]
    }

    /// Starts fetching the line of `key`; worth calling some rows ahead of [`Interner::intern`].
    #[inline]
    pub(crate) fn prefetch(&self, key: &Key) {
        let lines = self.lines.get();
        prefetch(lines, line_of(key, lines.len()));
    }

    /// The provisional code of `value`, new or known. Its row is to be counted with [`Interner::count_rows`].
    #[inline]
    pub(crate) fn intern(&mut self, value: &[u8], key: &Key) -> Result<u32> {
        let lines = self.lines.get();
        let mut index = line_of(key, lines.len());
        loop {
            let line = &lines[index];
            let (slots, _) = line.as_chunks::<SLOT_BYTES>();
            let (mut equal, mut free) = (0_u32, 0_u32);
            for (position, slot) in slots.iter().enumerate() {
                let slot = u128::from_le_bytes(*slot);
                equal |= u32::from((slot ^ key.bits) << (128 - KEY_BITS) == 0) << position;
                free |= u32::from(slot >> KEY_BITS == 0) << position;
            }
            // One slot at most holds a short value's key; of long values' keys each is looked at.
            while equal != 0 {
                let slot = &slots[equal.trailing_zeros() as usize % LINE_SLOTS];
                let code = ((u128::from_le_bytes(*slot) >> KEY_BITS) as u32).wrapping_sub(1);
                if !key.is_long() || self.value(code) == value {
                    return Ok(code);
                }
                equal &= equal - 1;
            }
            if free != 0 {
                return self.insert(value, key);
            }
            index += 1;
            if index == lines.len() {
                index = 0;
            }
        }
    }

    /// The provisional code of null.
    pub(crate) fn intern_null(&mut self) -> u32 {
        *self.null.get_or_insert_with(|| {
            self.ends.push(self.arena.len());
            self.ends.len() as u32 - 1
        })
    }

    /// Counts a row of each of `codes`.
    pub(crate) fn count_rows(&mut self, codes: &[u32]) {
        self.counts.resize(self.ends.len(), 0);
        for &code in codes {
            // More rows than a segment may have are refused before the counts are used.
            let count = &mut self.counts[code as usize];
            *count = count.wrapping_add(1);
        }
    }

    #[cold]
    fn insert(&mut self, value: &[u8], key: &Key) -> Result<u32> {
        if value.len() > VALUE_BYTES_LIMIT {
            return Err(ColumnError::Limit {
                what: "bytes of a value",
                seen: value.len() as u64,
                limit: VALUE_BYTES_LIMIT as u64,
                hint: "store larger objects beside the column and their names in it",
            });
        }
        if self.ends.len() as u64 >= SEGMENT_ROWS_LIMIT - 1 {
            return Err(ColumnError::Limit {
                what: "distinct values of a segment",
                seen: self.ends.len() as u64 + 1,
                limit: SEGMENT_ROWS_LIMIT - 1,
                hint: "write the rest as a further segment with `append`",
            });
        }
        let line_count = self.lines.get().len();
        if self.ends.len() >= line_count * MEAN_VALUES_PER_LINE {
            self.grow(line_count + line_count / 2);
        }
        self.arena.extend_from_slice(value);
        self.ends.push(self.arena.len());
        let slot = key.bits | (self.ends.len() as u128) << KEY_BITS;
        place(self.lines.get_mut(), key, slot);
        Ok(self.ends.len() as u32 - 1)
    }

    /// Lines are in the order of the hashes, so both tables are walked through once, forwards.
    fn grow(&mut self, line_count: usize) {
        let mut larger = Lines::zeroed(line_count);
        for slot in self.lines.get().as_flattened().as_chunks::<SLOT_BYTES>().0 {
            let slot = u128::from_le_bytes(*slot);
            if slot != 0 {
                let key = Key::of_bits(slot << (128 - KEY_BITS) >> (128 - KEY_BITS));
                place(larger.get_mut(), &key, slot);
            }
        }
        self.lines = larger;
    }

    /// Ends collecting: frees the table, gives values in byte order with their counts, and the code of null.
    pub(crate) fn into_sorted(mut self) -> SortedValues {
        self.lines = Lines::zeroed(0);
        let mut counts = std::mem::take(&mut self.counts);
        counts.resize(self.ends.len(), 0);
        let null = self.null.map(|code| (code, u64::from(counts[code as usize])));
        let codes = (0..self.ends.len() as u32).filter(|&code| Some(code) != self.null);
        let mut order: Vec<u128> = codes
            .map(|code| sort_key(self.value(code)) << 32 | u128::from(code))
            .collect();
        order.sort_unstable();
        let same_start = |a: &u128, b: &u128| a >> 32 == b >> 32;
        for alike in order.chunk_by_mut(same_start).filter(|alike| alike.len() > 1) {
            alike.sort_unstable_by(|&a, &b| self.value(a as u32).cmp(self.value(b as u32)));
        }
        SortedValues {
            order,
            counts,
            null,
            values: self,
        }
    }
}

/// Line where the search for `key` begins: the hash scaled to the number of lines.
#[inline]
fn line_of(key: &Key, line_count: usize) -> usize {
    ((u128::from(key.hash) * line_count as u128) >> 64) as usize
}

/// Puts a slot into the first free place for its key; there is one.
fn place(lines: &mut [[u8; LINE_BYTES]], key: &Key, slot: u128) {
    let start = line_of(key, lines.len());
    let (before, after) = lines.split_at_mut(start);
    let mut places = after
        .iter_mut()
        .chain(before)
        .flat_map(|line| line.as_chunks_mut::<SLOT_BYTES>().0);
    if let Some(free) = places.find(|place| **place == [0; SLOT_BYTES]) {
        *free = slot.to_le_bytes();
    }
}

/// The values of one interner in byte order.
#[derive(Debug)]
pub(crate) struct SortedValues {
    /// Sort key and, in the low 32 bits, provisional code of each value, in byte order.
    pub(super) order: Vec<u128>,
    /// Rows of each provisional code.
    pub(super) counts: Vec<u32>,
    /// Provisional code and rows of null.
    pub(super) null: Option<(u32, u64)>,
    values: Interner,
}

impl SortedValues {
    pub(super) fn value(&self, code: u32) -> &[u8] {
        self.values.value(code)
    }

    pub(super) fn code_count(&self) -> usize {
        self.values.code_count()
    }
}

/// Whether the value of this sort key is known by its first bytes only.
pub(super) fn is_long(sort_key: u128) -> bool {
    sort_key as u8 == LONG
}
