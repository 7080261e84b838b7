//! The values of one interner in byte order.

use super::key::LONG;
use crate::huge::HugeMap;

/// Values that do not fit a key, numbered from one.
#[derive(Debug, Default)]
pub(super) struct LongValues {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Number of each code's value, once they are known; 0 for a short one.
    numbers: Vec<u32>,
}

impl LongValues {
    /// Adds a value; gives its number.
    pub(super) fn push(&mut self, value: &[u8]) -> u32 {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        self.ends.len() as u32
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The value of a number; empty for 0.
    pub(super) fn get(&self, number: u32) -> &[u8] {
        let Some(index) = (number as usize).checked_sub(1) else {
            return &[];
        };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    /// With the number of each code's value: no more come.
    pub(super) fn numbered(mut self, numbers: Vec<u32>) -> Self {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        Self { numbers, ..self }
    }
}

/// The values of one interner in byte order.
#[derive(Debug)]
pub(crate) struct SortedValues {
    /// Sort key and, in the low 32 bits, provisional code of each value, in byte order.
    pub(super) order: Vec<u128>,
    /// Rows of each provisional code of the last epoch.
    pub(super) counts: HugeMap,
    /// Provisional code and rows of null.
    pub(super) null: Option<(u32, u64)>,
    long: LongValues,
    moves: Vec<Vec<u32>>,
}

impl SortedValues {
    /// Sorts `order`, which holds the values in any order.
    pub(super) fn new(
        mut order: Vec<u128>,
        counts: HugeMap,
        null: Option<(u32, u64)>,
        long: LongValues,
        moves: Vec<Vec<u32>>,
    ) -> Self {
        order.sort_unstable();
        let same_start = |a: &u128, b: &u128| a >> 32 == b >> 32;
        let value = |key_and_code: u128| long.get(long.numbers[key_and_code as u32 as usize]);
        for alike in order.chunk_by_mut(same_start).filter(|alike| alike.len() > 1) {
            alike.sort_unstable_by(|&a, &b| value(a).cmp(value(b)));
        }
        Self {
            order,
            counts,
            null,
            long,
            moves,
        }
    }

    /// The value of a provisional code, which is that of a long value.
    pub(super) fn long_value(&self, code: u32) -> &[u8] {
        self.long.get(self.long.numbers[code as usize])
    }

    /// For each epoch the final code of each provisional one, from those of the last epoch.
    pub(super) fn maps_of_epochs(&self, last: HugeMap) -> Vec<HugeMap> {
        let mut maps = vec![last];
        for (before, moved) in self.moves.iter().rev().enumerate() {
            let map = HugeMap::of(moved.iter().map(|&code| maps[before].get(code)));
            maps.push(map);
        }
        maps.reverse();
        maps
    }
}

/// Whether the value of this sort key is known by its first bytes only.
pub(super) fn is_long(sort_key: u128) -> bool {
    sort_key as u8 == LONG
}
