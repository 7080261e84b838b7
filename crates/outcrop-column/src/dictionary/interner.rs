//! Value → provisional code while a column is read. Codes are given in the order of the values' first rows: they stay
//! when the table grows, and values that come often, which come early, have codes near each other.
//!
//! Threads can share an interner behind a lock, each with a handle of its [`Slots`] beside it, in which it finds
//! most values without the lock.

use std::sync::Arc;

use super::key::{Key, LONG, NULL, sort_key, sort_key_of_bits};
use super::slots::{Found, FreeSlot, Slots};
use super::sorted::{LongValues, SortedValues};
use crate::error::{ColumnError, Result};
use crate::format::{SEGMENT_ROWS_LIMIT, VALUE_BYTES_LIMIT};
use crate::huge::HugeMap;

/// Values that there is room for at first.
const FIRST_VALUES: usize = 1 << 10;

/// Where the mark of a key stands in its bits.
const MARK_SHIFT: u32 = 88;

/// The distinct values seen so far.
#[derive(Debug)]
pub(crate) struct Interner {
    slots: Arc<Slots>,
    value_count: usize,
    long: LongValues,
}

impl Default for Interner {
    fn default() -> Self {
        Self::with_room(FIRST_VALUES)
    }
}

impl Interner {
    /// With room for this many values: memory stays untouched while they are fewer,
    /// and nothing grows step by step.
    pub(crate) fn with_room(values: usize) -> Self {
        Self {
            slots: Arc::new(Slots::with_room(values)),
            value_count: 0,
            long: LongValues::default(),
        }
    }

    /// Distinct values, null among them: all codes are less.
    pub(crate) fn value_count(&self) -> usize {
        self.value_count
    }

    /// The table as it is: new values come into it until it grows. Codes that are found in it stay right.
    pub(crate) fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// The provisional code of `value`, if it is known.
    pub(crate) fn find(&self, value: &[u8], key: &Key) -> Option<u32> {
        match self.search(value, key) {
            Found::Code(code) => Some(code),
            Found::Free(_) => None,
        }
    }

    /// The provisional code of `value`, new or known.
    pub(crate) fn intern(&mut self, value: &[u8], key: &Key) -> Result<u32> {
        match self.search(value, key) {
            Found::Code(code) => Ok(code),
            Found::Free(free) => self.insert(value, key, free),
        }
    }

    /// The provisional code of null.
    pub(crate) fn intern_null(&mut self) -> Result<u32> {
        self.intern(&[], &Key::null())
    }

    #[inline]
    fn search(&self, value: &[u8], key: &Key) -> Found {
        if !key.is_long() {
            return self.slots.search(key, |start| start == key.low);
        }
        // Keys of long values hold hashes: equal ones have to be looked at.
        self.slots.search(key, |start| {
            start & !u64::from(u32::MAX) == key.low && self.long.get(start as u32) == value
        })
    }

    #[cold]
    fn insert(&mut self, value: &[u8], key: &Key, mut free: FreeSlot) -> Result<u32> {
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
        while !self.slots.has_room(self.value_count) {
            self.slots = Arc::new(self.slots.grown());
            if let Found::Free(in_larger) = self.search(value, key) {
                free = in_larger;
            }
        }
        let code = self.value_count as u32;
        self.value_count += 1;
        let mut start = key.low;
        if key.is_long() {
            start |= u64::from(self.long.push(value));
        }
        self.slots.fill(free, start, key.high, code);
        Ok(code)
    }

    /// Ends collecting: frees the table, gives values in byte order with `counts`, the rows of each code, and the code
    /// of null. They are sorted on this many threads.
    pub(crate) fn into_sorted(self, counts: Vec<u32>, threads: usize) -> SortedValues {
        let Self {
            slots,
            value_count,
            long,
        } = self;
        let mut null = None;
        let mut order = Vec::with_capacity(value_count);
        let mut long_numbers = vec![0; if long.is_empty() { 0 } else { value_count }];
        for (bits, code) in slots.keys() {
            let sort_key = match (bits >> MARK_SHIFT) as u8 {
                NULL => {
                    null = Some((code, u64::from(counts[code as usize])));
                    continue;
                }
                LONG => {
                    long_numbers[code as usize] = bits as u32;
                    sort_key(long.get(bits as u32))
                }
                _ => sort_key_of_bits(bits),
            };
            order.push(sort_key << 32 | u128::from(code));
        }
        drop(slots);
        let counts = HugeMap::of(counts.into_iter());
        SortedValues::new(order, counts, null, long.numbered(long_numbers), threads)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{Interner, Key};
    use crate::dictionary::Later;

    proptest! {
        #[test]
        fn codes_lead_to_their_values_and_are_in_the_order_of_first_rows(
            rows in proptest::collection::vec((0_u32..4000, 0_usize..3), 0..6000), room in 0_usize..100,
        ) {
            let values: Vec<Option<Vec<u8>>> = rows.iter().map(|&(number, kind)| match kind {
                0 => Some(format!("{number}").into_bytes()),
                1 => Some(format!("a value that is longer than a key {}", number % 50).into_bytes()),
                _ => (number % 9 > 0).then(Vec::new),
            }).collect();
            let mut interner = Interner::with_room(room);
            let mut codes = Vec::new();
            let mut expected: HashMap<&Option<Vec<u8>>, u32> = HashMap::new();
            let mut counts = Vec::new();
            for value in &values {
                let code = match value {
                    Some(value) => interner.intern(value, &Key::of(value)),
                    None => interner.intern_null(),
                };
                let next = expected.len() as u32;
                let code = code.expect("far from every limit");
                prop_assert_eq!(code, *expected.entry(value).or_insert(next));
                counts.resize(expected.len(), 0);
                counts[code as usize] += 1;
                codes.push(code);
            }
            prop_assert_eq!(interner.value_count(), expected.len());
            for (value, &code) in &expected {
                let found = value.as_ref().map(|value| interner.find(value, &Key::of(value)));
                prop_assert!(found.is_none_or(|found| found == Some(code)));
            }
            let sorted = interner.into_sorted(counts.clone(), 1);
            let mut ordered: Vec<&Vec<u8>> = expected.keys().filter_map(|value| value.as_ref()).collect();
            ordered.sort_unstable();
            prop_assert_eq!(sorted.order.len(), ordered.len());
            for (value, &key_and_code) in ordered.iter().zip(&sorted.order) {
                let code = expected[&Some((*value).clone())];
                prop_assert_eq!(key_and_code as u32, code);
                prop_assert_eq!(sorted.counts.get(code), counts[code as usize]);
            }
            let null = expected.get(&None).map(|&code| (code, u64::from(counts[code as usize])));
            prop_assert_eq!(sorted.null, null);
        }

        #[test]
        fn lines_are_found_in_every_table_that_had_them(words in proptest::collection::vec("[a-c]{0,14}", 1..400), part in 0_usize..400) {
            let mut interner = Interner::with_room(0);
            let mut tables = Vec::new();
            for (index, word) in words.iter().enumerate() {
                if index == part {
                    tables.push(Arc::clone(interner.slots()));
                }
                interner.intern(word.as_bytes(), &Key::of(word.as_bytes())).expect("far from every limit");
            }
            tables.push(Arc::clone(interner.slots()));
            let text = words.join("\n");
            let ends: Vec<u32> = words.iter().scan(0, |end, word| {
                *end += word.len() as u32 + 1;
                Some(*end - 1)
            }).collect();
            for table in tables {
                let (mut codes, mut later) = (vec![u32::MAX; words.len()], Later::default());
                table.look(text.as_bytes(), 0, &ends, &mut codes, &mut later);
                let later: Vec<u16> = later.indexes().collect();
                prop_assert!(later.is_sorted());
                for (index, (word, &code)) in words.iter().zip(&codes).enumerate() {
                    let expected = interner.find(word.as_bytes(), &Key::of(word.as_bytes()));
                    prop_assert!(later.contains(&(index as u16)) || Some(code) == expected);
                    prop_assert!(word.len() < 12 || later.contains(&(index as u16)));
                }
            }
        }
    }
}
