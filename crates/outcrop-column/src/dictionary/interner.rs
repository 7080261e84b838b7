//! Value → provisional code while a column is read: a hash table of cache lines, four slots each, that hold
//! short values whole and count their rows, so that the common row costs one cache line and no pointer.
//!
//! The code of a value is the number of its slot. When the table grows, values move: codes are of an *epoch*,
//! and where each slot went is kept until the end.

use super::key::{Key, LONG, NULL, sort_key_of_bits};
use super::sorted::{LongValues, SortedValues};
use crate::error::{ColumnError, Result};
use crate::format::{SEGMENT_ROWS_LIMIT, VALUE_BYTES_LIMIT};
use crate::huge::{HugeArray, HugeMap};
use crate::kernels::{KEY_BYTES, LINE_BYTES, LINE_KEYS, PROBE_BYTES, find_slot, prefetch};

/// A line has four keys of twelve bytes, all zero where a slot is free, and then the
/// numbers of their values' rows.
const LINE_SLOTS: usize = LINE_KEYS;
const COUNTS_START: usize = LINE_SLOTS * KEY_BYTES;

/// Where the mark of a key stands in it.
const MARK: usize = KEY_BYTES - 1;

/// The table grows by half when four lines have this many values on average: beyond that, too many are in a
/// line other than their first, which was not fetched ahead.
const VALUES_PER_FOUR_LINES: usize = 11;
const FIRST_LINES: usize = 1 << 9;

/// Codes are slots and have 32 bits.
const MOST_LINES: usize = 1 << 30;

type Line = [u8; LINE_BYTES];

/// Rows whose table lines are being fetched while one is looked up: more than a core's outstanding
/// misses, since not every row misses.
const ROWS_AHEAD: usize = 64;

/// A key with the number of the line where the search for it begins.
type Probe = [u8; PROBE_BYTES];

/// The distinct values seen so far, with their counts.
#[derive(Debug)]
pub(crate) struct Interner {
    lines: HugeArray<LINE_BYTES>,
    value_count: usize,
    long: LongValues,
    /// For each growth, the new code of each old one.
    moves: Vec<Vec<u32>>,
}

impl Default for Interner {
    fn default() -> Self {
        Self::with_lines(FIRST_LINES)
    }
}

impl Interner {
    /// With room for this many values: memory stays untouched while they are fewer,
    /// and nothing grows step by step.
    pub(crate) fn with_room(values: usize) -> Self {
        Self::with_lines((4 * values).div_ceil(VALUES_PER_FOUR_LINES).max(FIRST_LINES))
    }

    fn with_lines(line_count: usize) -> Self {
        Self {
            lines: HugeArray::zeroed(line_count),
            value_count: 0,
            long: LongValues::default(),
            moves: Vec::new(),
        }
    }

    /// Distinct values, null among them.
    #[cfg(test)]
    pub(crate) fn value_count(&self) -> usize {
        self.value_count
    }

    /// The epoch of the codes given now: how often the table grew.
    pub(crate) fn epoch(&self) -> usize {
        self.moves.len()
    }

    /// Whether `rows` further rows can be interned before the table grows, whatever their values are.
    #[inline]
    pub(crate) fn has_room(&self, rows: usize) -> bool {
        let line_count = self.lines.get().len();
        (self.value_count + rows) * 4 <= line_count * VALUES_PER_FOUR_LINES || line_count >= MOST_LINES
    }

    /// Makes the table larger: a new epoch begins.
    ///
    /// Lines are in the order of the hashes, so both tables are walked through once, forwards.
    pub(crate) fn grow(&mut self) {
        let line_count = self.lines.get().len();
        let mut larger = HugeArray::zeroed((line_count + line_count / 2).min(MOST_LINES));
        let mut moved = vec![0; line_count * LINE_SLOTS];
        for (code, bits, count) in self.taken_slots() {
            moved[code as usize] = place(larger.get_mut(), bits, count);
        }
        self.lines = larger;
        self.moves.push(moved);
    }

    /// Interns the lines of `text` that end at `ends`, the first beginning at `start`, as far as the
    /// first table line for each tells: their codes go to `codes`. The indexes of the others, all
    /// new and long values among them, go to the start of `later`, and their second table lines are
    /// asked for; gives how many they are.
    ///
    /// Nothing here branches on the table's content, which cannot be predicted. At each row, the table line
    /// of a later row is prefetched, so that memory is always at work.
    pub(crate) fn intern_lines(
        &mut self,
        text: &[u8],
        start: usize,
        ends: &[u32],
        codes: &mut [u32],
        later: &mut [u16],
    ) -> usize {
        let lines = self.lines.get_mut();
        let mut ring = [Probe::default(); ROWS_AHEAD];
        let mut from = start;
        for (probe, &end) in ring.iter_mut().zip(ends) {
            let end = end as usize;
            *probe = probe_of(lines, &Key::within(text, from, end));
            from = end + 1;
        }
        let mut later_count = 0;
        for (index, place) in codes[..ends.len()].iter_mut().enumerate() {
            let key = ring[index % ROWS_AHEAD];
            if let Some(&end) = ends.get(index + ROWS_AHEAD) {
                let end = end as usize;
                ring[index % ROWS_AHEAD] = probe_of(lines, &Key::within(text, from, end));
                from = end + 1;
            }
            let line_number = number(&key, KEY_BYTES);
            let line = &mut lines[line_number as usize];
            let found = find_slot(line, &key);
            let position = found.trailing_zeros() / 4 % LINE_SLOTS as u32;
            let is_missing = u32::from(found == 0);
            add_rows(line, position as usize, 1 - is_missing);
            *place = line_number * LINE_SLOTS as u32 + position;
            later[later_count] = index as u16;
            later_count += is_missing as usize;
            prefetch(lines, (line_number + is_missing) as usize);
        }
        later_count
    }

    /// The provisional code of `value`, new or known; counts the row. The table has room.
    pub(crate) fn intern(&mut self, value: &[u8], key: &Key) -> Result<u32> {
        let line_count = self.lines.get().len();
        let mut index = line_of(key, line_count);
        loop {
            if let Some(position) = self.look(index, value, key) {
                add_rows(&mut self.lines.get_mut()[index], position, 1);
                return Ok((index * LINE_SLOTS + position) as u32);
            }
            // Slots are filled from the first to the last: a free one ends the search.
            if let Some(position) = free_position(&self.lines.get()[index]) {
                return self.insert(value, key, index, position);
            }
            index = if index + 1 == line_count { 0 } else { index + 1 };
        }
    }

    /// The provisional code of null; counts the row. The table has room.
    pub(crate) fn intern_null(&mut self) -> Result<u32> {
        self.intern(&[], &Key::null())
    }

    /// Counts another row of a code of this epoch: all that a row of a foreign dictionary
    /// costs once its value is known.
    #[inline]
    pub(crate) fn repeat(&mut self, code: u32) {
        let (line, position) = (code as usize / LINE_SLOTS, code as usize % LINE_SLOTS);
        add_rows(&mut self.lines.get_mut()[line], position, 1);
    }

    fn look(&self, index: usize, value: &[u8], key: &Key) -> Option<usize> {
        let line = &self.lines.get()[index];
        if !key.is_long() {
            let found = find_slot(line, &key.bits().to_le_bytes());
            return (found != 0).then(|| found.trailing_zeros() as usize / 4);
        }
        // Keys of long values hold hashes: equal ones have to be looked at.
        (0..LINE_SLOTS).find(|&position| {
            let bits = key_bits(line, position);
            let alike = Key::of_bits(bits).bits() == key.bits();
            alike && self.long.get(bits as u32) == value
        })
    }

    #[cold]
    fn insert(&mut self, value: &[u8], key: &Key, line: usize, position: usize) -> Result<u32> {
        if value.len() > VALUE_BYTES_LIMIT {
            return Err(ColumnError::Limit {
                what: "bytes of a value",
                seen: value.len() as u64,
                limit: VALUE_BYTES_LIMIT as u64,
                hint: "store larger objects outside the column and their names in it",
            });
        }
        if self.value_count as u64 >= SEGMENT_ROWS_LIMIT - 1 {
            return Err(ColumnError::Limit {
                what: "distinct values of a segment",
                seen: self.value_count as u64 + 1,
                limit: SEGMENT_ROWS_LIMIT - 1,
                hint: "write the rest as a further segment with `append`",
            });
        }
        self.value_count += 1;
        let mut bits = key.bits();
        if key.is_long() {
            bits |= u128::from(self.long.push(value));
        }
        fill(&mut self.lines.get_mut()[line], position, bits, 1);
        Ok((line * LINE_SLOTS + position) as u32)
    }

    /// The code, key and rows of each slot that is not free.
    fn taken_slots(&self) -> impl Iterator<Item = (u32, u128, u32)> {
        let slots = self
            .lines
            .get()
            .iter()
            .flat_map(|line| (0..LINE_SLOTS).map(move |position| (line, position)));
        (0_u32..)
            .zip(slots)
            .filter(|&(_, (line, position))| !is_free(line, position))
            .map(|(code, (line, position))| (code, key_bits(line, position), count_of(line, position)))
    }

    /// Ends collecting: frees the table, gives values in byte order with their counts, and the code of null.
    pub(crate) fn into_sorted(mut self) -> SortedValues {
        let slot_count = self.lines.get().len() * LINE_SLOTS;
        let (mut counts, mut null) = (HugeMap::zeroed(slot_count), None);
        let mut order = Vec::with_capacity(self.value_count);
        let mut long_numbers = vec![0; if self.long.is_empty() { 0 } else { slot_count }];
        for (code, bits, count) in self.taken_slots() {
            counts.set(code, count);
            let sort_key = match (bits >> (8 * MARK)) as u8 {
                NULL => {
                    null = Some((code, u64::from(count)));
                    continue;
                }
                LONG => {
                    long_numbers[code as usize] = bits as u32;
                    super::key::sort_key(self.long.get(bits as u32))
                }
                _ => sort_key_of_bits(bits),
            };
            order.push(sort_key << 32 | u128::from(code));
        }
        self.lines = HugeArray::zeroed(0);
        SortedValues::new(order, counts, null, self.long.numbered(long_numbers), self.moves)
    }
}

/// Line where the search for `key` begins: the hash scaled to the number of lines.
#[inline]
fn line_of(key: &Key, line_count: usize) -> usize {
    ((u128::from(key.hash) * line_count as u128) >> 64) as usize
}

/// Makes `key` ready for lookup, and starts fetching its line.
#[inline(always)]
fn probe_of(lines: &[Line], key: &Key) -> Probe {
    let line = line_of(key, lines.len());
    prefetch(lines, line);
    (key.bits() | (line as u128) << (8 * KEY_BYTES)).to_le_bytes()
}

#[inline]
fn number(slot: &Probe, at: usize) -> u32 {
    slot[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The key of a slot, in the low bits.
#[inline]
fn key_bits(line: &Line, position: usize) -> u128 {
    let mut bytes = [0; 16];
    bytes[..KEY_BYTES].copy_from_slice(&line[KEY_BYTES * position..KEY_BYTES * (position + 1)]);
    u128::from_le_bytes(bytes)
}

fn is_free(line: &Line, position: usize) -> bool {
    line[KEY_BYTES * position + MARK] == 0
}

fn free_position(line: &Line) -> Option<usize> {
    (0..LINE_SLOTS).find(|&position| is_free(line, position))
}

#[inline]
fn count_of(line: &Line, position: usize) -> u32 {
    u32::from_le_bytes(line[COUNTS_START..].as_chunks().0[position])
}

#[inline(always)]
fn add_rows(line: &mut Line, position: usize, rows: u32) {
    let counts = line[COUNTS_START..].as_chunks_mut::<4>().0;
    // More rows than a segment may have are refused before the counts are used.
    counts[position] = u32::from_le_bytes(counts[position])
        .wrapping_add(rows)
        .to_le_bytes();
}

/// Fills a free slot.
fn fill(line: &mut Line, position: usize, bits: u128, count: u32) {
    line[KEY_BYTES * position..KEY_BYTES * (position + 1)].copy_from_slice(&bits.to_le_bytes()[..KEY_BYTES]);
    add_rows(line, position, count);
}

/// Puts a key with its rows into the first free slot for it; there is one. Gives its code.
fn place(lines: &mut [Line], bits: u128, count: u32) -> u32 {
    let mut index = line_of(&Key::of_bits(bits), lines.len());
    loop {
        if let Some(position) = free_position(&lines[index]) {
            fill(&mut lines[index], position, bits, count);
            return (index * LINE_SLOTS + position) as u32;
        }
        index = if index + 1 == lines.len() { 0 } else { index + 1 };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::{HugeMap, Interner, Key};

    proptest! {
        #[test]
        fn codes_of_every_epoch_lead_to_their_values_and_counts_are_those_of_a_map(
            rows in proptest::collection::vec((0_u32..4000, 0_usize..3), 0..6000),
        ) {
            let values: Vec<Option<Vec<u8>>> = rows.iter().map(|&(number, kind)| match kind {
                0 => Some(format!("{number}").into_bytes()),
                1 => Some(format!("a value that is longer than a key {}", number % 50).into_bytes()),
                _ => (number % 9 > 0).then(Vec::new),
            }).collect();
            let mut interner = Interner::default();
            let mut codes = Vec::new();
            let mut expected: HashMap<&Option<Vec<u8>>, u32> = HashMap::new();
            for value in &values {
                if !interner.has_room(1) {
                    interner.grow();
                }
                let code = match value {
                    Some(value) => interner.intern(value, &Key::of(value)),
                    None => interner.intern_null(),
                };
                codes.push((interner.epoch(), code.expect("far from every limit")));
                *expected.entry(value).or_default() += 1;
            }
            prop_assert_eq!(interner.value_count(), expected.len());
            let sorted = interner.into_sorted();
            let mut ordered: Vec<&Vec<u8>> = expected.keys().filter_map(|value| value.as_ref()).collect();
            ordered.sort_unstable();
            let mut final_codes = HugeMap::zeroed(sorted.counts.len());
            for (index, &key_and_code) in (0..).zip(&sorted.order) {
                final_codes.set(key_and_code as u32, index);
                let value = Some(ordered[index as usize].clone());
                prop_assert_eq!(sorted.counts.get(key_and_code as u32), expected[&value]);
            }
            if let Some((code, count)) = sorted.null {
                final_codes.set(code, ordered.len() as u32);
                prop_assert_eq!(count, u64::from(expected[&None]));
            }
            let maps = sorted.maps_of_epochs(final_codes);
            for (value, (epoch, code)) in values.iter().zip(codes) {
                let at = maps[epoch].get(code) as usize;
                prop_assert_eq!(value.as_ref(), ordered.get(at).copied());
            }
        }
    }
}
