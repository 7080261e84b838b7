//! The values of one interner in byte order.

use std::thread;

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
    /// Rows of each provisional code.
    pub(super) counts: HugeMap,
    /// Provisional code and rows of null.
    pub(super) null: Option<(u32, u64)>,
    long: LongValues,
}

/// Values from which on a thread pays for sorting them.
const LONG_ORDER: usize = 1 << 14;

impl SortedValues {
    /// Sorts `order`, which holds the values in any order, on this many threads.
    pub(super) fn new(
        mut order: Vec<u128>,
        counts: HugeMap,
        null: Option<(u32, u64)>,
        long: LongValues,
        threads: usize,
    ) -> Self {
        sort(&mut order, threads);
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
        }
    }

    /// The value of a provisional code, which is that of a long value.
    pub(super) fn long_value(&self, code: u32) -> &[u8] {
        self.long.get(self.long.numbers[code as usize])
    }
}

/// Sorts integers: those below the median on some of the threads, the others on the others.
fn sort(order: &mut [u128], threads: usize) {
    if threads <= 1 || order.len() < LONG_ORDER {
        return order.sort_unstable();
    }
    let (below, _, above) = order.select_nth_unstable(order.len() / 2);
    thread::scope(|scope| {
        scope.spawn(|| sort(below, threads / 2));
        sort(above, threads - threads / 2);
    });
}

/// Whether the value of this sort key is known by its first bytes only.
pub(super) fn is_long(sort_key: u128) -> bool {
    sort_key as u8 == LONG
}

#[cfg(test)]
mod tests {
    use super::{LONG_ORDER, sort};

    #[test]
    fn sorting_on_any_number_of_threads_is_sorting() {
        let mut state = 1_u128;
        let noise: Vec<u128> = (0..3 * LONG_ORDER)
            .map(|_| {
                state = state
                    .wrapping_mul(0xda94_2042_e4dd_58b5_2360_ed05_1fc6_5da4)
                    .wrapping_add(1);
                state >> 100 << 40
            })
            .collect();
        let mut expected = noise.clone();
        expected.sort_unstable();
        for threads in 0..6 {
            let mut order = noise.clone();
            sort(&mut order, threads);
            assert!(order == expected, "{threads} threads");
        }
    }
}
