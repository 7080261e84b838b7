//! Value → provisional code while a column is read: a hash table of cache lines, three slots each, that hold short values
//! whole and count their rows, so that the common row costs one cache line.

use super::key::{Key, LONG, sort_key};
use super::lines::{LINE_BYTES, Lines};
use crate::error::{ColumnError, Result};
use crate::format::{SEGMENT_ROWS_LIMIT, VALUE_BYTES_LIMIT};
use crate::kernels::prefetch;

/// A line: three slots, each the twelve bytes of a key and the code plus one, all zero where it is free; then for each slot the
/// number of its rows.
const LINE_SLOTS: usize = 3;
const SLOT_BYTES: usize = 16;
const CODE_START: usize = 12;
const COUNTS_START: usize = LINE_SLOTS * SLOT_BYTES;

/// The table grows by half when four lines have this many values on average: beyond, too many stand in a line that is not their
/// first, and was not fetched ahead.
const VALUES_PER_FOUR_LINES: usize = 9;
const FIRST_LINES: usize = 1 << 8;

type Line = [u8; LINE_BYTES];

/// The distinct values seen so far, numbered in the order of their first row, with their counts.
#[derive(Debug)]
pub(crate) struct Interner {
    lines: Lines,
    arena: Vec<u8>,
    ends: Vec<usize>,
    null: Option<u32>,
    null_count: u64,
    /// Rows of each code that came by its code and not by its value; as long as such codes need.
    repeats: Vec<u32>,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            lines: Lines::zeroed(FIRST_LINES),
            arena: Vec::new(),
            ends: Vec::new(),
            null: None,
            null_count: 0,
            repeats: Vec::new(),
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

    /// The provisional code of `value`, new or known; counts the row.
    #[inline]
    pub(crate) fn intern(&mut self, value: &[u8], key: &Key) -> Result<u32> {
        let line_count = self.lines.get().len();
        let mut index = line_of(key, line_count);
        loop {
            match self.look(index, value, key) {
                Look::Found(code) => return Ok(code),
                Look::Absent => return self.insert(value, key),
                Look::Elsewhere => index = if index + 1 == line_count { 0 } else { index + 1 },
            }
        }
    }

    /// [`Interner::intern`] where the first line for `key` tells; `None`, and starts fetching the second line, where it does not.
    #[inline]
    pub(crate) fn intern_in_first_line(&mut self, value: &[u8], key: &Key) -> Result<Option<u32>> {
        let index = line_of(key, self.lines.get().len());
        match self.look(index, value, key) {
            Look::Found(code) => Ok(Some(code)),
            Look::Absent => self.insert(value, key).map(Some),
            Look::Elsewhere => {
                prefetch(self.lines.get(), index + 1);
                Ok(None)
            }
        }
    }

    /// Looks for `value` in one line, and counts its row if it is there.
    #[inline(always)]
    fn look(&mut self, index: usize, value: &[u8], key: &Key) -> Look {
        if key.is_long() {
            return self.look_for_long(index, value, key);
        }
        let line = &mut self.lines.get_mut()[index];
        // No branch on the position, which cannot be predicted.
        let equal: [bool; LINE_SLOTS] = std::array::from_fn(|position| holds(line, position, key));
        if equal[0] | equal[1] | equal[2] {
            let position = usize::from(equal[1]) + 2 * usize::from(equal[2]);
            add_row(line, position);
            return Look::Found(code_plus_one(line, position).wrapping_sub(1));
        }
        absent_or_elsewhere(line)
    }

    /// Long values whose keys are equal have to be looked at.
    fn look_for_long(&mut self, index: usize, value: &[u8], key: &Key) -> Look {
        for position in 0..LINE_SLOTS {
            let line = &self.lines.get()[index];
            let code = code_plus_one(line, position).wrapping_sub(1);
            if holds(line, position, key) && self.value(code) == value {
                add_row(&mut self.lines.get_mut()[index], position);
                return Look::Found(code);
            }
        }
        absent_or_elsewhere(&self.lines.get()[index])
    }

    /// The provisional code of null; counts the row.
    pub(crate) fn intern_null(&mut self) -> u32 {
        self.null_count += 1;
        *self.null.get_or_insert_with(|| {
            self.ends.push(self.arena.len());
            self.ends.len() as u32 - 1
        })
    }

    /// Counts a further row of a code handed out before: what a row of a foreign dictionary costs once its value is known.
    #[inline]
    pub(crate) fn repeat(&mut self, code: u32) {
        let index = code as usize;
        if index >= self.repeats.len() {
            self.repeats.resize(self.ends.len().max(index + 1), 0);
        }
        self.repeats[index] = self.repeats[index].wrapping_add(1);
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
        if self.ends.len() * 4 >= line_count * VALUES_PER_FOUR_LINES {
            self.grow(line_count + line_count / 2);
        }
        self.arena.extend_from_slice(value);
        self.ends.push(self.arena.len());
        let mut slot = [0; SLOT_BYTES];
        slot[..8].copy_from_slice(&key.low.to_le_bytes());
        slot[8..CODE_START].copy_from_slice(&key.high.to_le_bytes());
        slot[CODE_START..].copy_from_slice(&(self.ends.len() as u32).to_le_bytes());
        place(self.lines.get_mut(), key, &slot, 1);
        Ok(self.ends.len() as u32 - 1)
    }

    /// Lines are in the order of the hashes, so both tables are walked through once, forwards.
    fn grow(&mut self, line_count: usize) {
        let mut larger = Lines::zeroed(line_count);
        for (line, position) in self.taken_slots() {
            let slot = slot(line, position);
            let key = Key::of_bits(u128::from_le_bytes(*slot) << 32 >> 32);
            place(larger.get_mut(), &key, slot, count(line, position));
        }
        self.lines = larger;
    }

    /// The slots that are not free: their lines and positions.
    fn taken_slots(&self) -> impl Iterator<Item = (&Line, usize)> {
        let slots = |line| (0..LINE_SLOTS).map(move |position| (line, position));
        let is_taken = |&(line, position): &(&Line, usize)| code_plus_one(line, position) != 0;
        self.lines.get().iter().flat_map(slots).filter(is_taken)
    }

    /// Ends collecting: frees the table, gives values in byte order with their counts, and the code of null.
    pub(crate) fn into_sorted(mut self) -> SortedValues {
        let mut counts = vec![0; self.ends.len()];
        for (line, position) in self.taken_slots() {
            counts[code_plus_one(line, position) as usize - 1] = count(line, position);
        }
        for (count, repeated) in counts.iter_mut().zip(std::mem::take(&mut self.repeats)) {
            *count = count.wrapping_add(repeated);
        }
        self.lines = Lines::zeroed(0);
        let null = self.null.map(|code| (code, self.null_count));
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

/// What a look at one line tells.
enum Look {
    Found(u32),
    /// The value is not in the table: it would stand here, where there is room.
    Absent,
    /// The line is full of others.
    Elsewhere,
}

#[inline]
fn slot(line: &Line, position: usize) -> &[u8; SLOT_BYTES] {
    &line.as_chunks().0[position % LINE_SLOTS]
}

#[inline]
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[inline]
fn holds(line: &Line, position: usize, key: &Key) -> bool {
    let slot = slot(line, position);
    let low = slot.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    (low == key.low) & (number(slot, 8) == key.high)
}

#[inline]
fn code_plus_one(line: &Line, position: usize) -> u32 {
    number(slot(line, position), CODE_START)
}

#[inline]
fn count(line: &Line, position: usize) -> u32 {
    number(line, COUNTS_START + 4 * (position % LINE_SLOTS))
}

#[inline]
fn set_count(line: &mut Line, position: usize, count: u32) {
    line[COUNTS_START..].as_chunks_mut().0[position % LINE_SLOTS] = count.to_le_bytes();
}

#[inline]
fn add_row(line: &mut Line, position: usize) {
    // More rows than a segment may have are refused before the counts are used.
    set_count(line, position, count(line, position).wrapping_add(1));
}

/// For a value that `line` does not hold. Slots are filled from the first to the last.
#[inline]
fn absent_or_elsewhere(line: &Line) -> Look {
    match code_plus_one(line, LINE_SLOTS - 1) {
        0 => Look::Absent,
        _ => Look::Elsewhere,
    }
}

/// Puts a slot into the first free place for its key; there is one.
fn place(lines: &mut [Line], key: &Key, slot: &[u8; SLOT_BYTES], count: u32) {
    let (before, after) = lines.split_at_mut(line_of(key, lines.len()));
    for line in after.iter_mut().chain(before) {
        if let Some(position) = (0..LINE_SLOTS).find(|&position| code_plus_one(line, position) == 0) {
            line[position * SLOT_BYTES..(position + 1) * SLOT_BYTES].copy_from_slice(slot);
            set_count(line, position, count);
            return;
        }
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
