//! The distinct values of one block, found with a bit set over its range, and
//! their use as a local dictionary.

use crate::format::{bits_of, packed_bytes, push_u32};
use crate::planes::pack;

/// Widest range, in bits, for which a bit set (128 KiB) is cheaper than sorting the block.
const BIT_SET_WIDTH: u8 = 20;
const SAMPLE_ROWS: usize = 2048;

/// Rows after which it is asked whether the dictionary can still pay.
const ROWS_AT_ONCE: usize = 2048;

/// Bytes after the encoding byte of a block of `count` rows with a dictionary of `size` values
/// (at least one) of `width` bits.
pub(super) fn encoded_bytes(size: usize, width: u8, count: usize) -> usize {
    9 + packed_bytes(size, width) + packed_bytes(count, bits_of(size as u32 - 1))
}

/// Finds and indexes the distinct values of blocks, reusing its memory.
#[derive(Debug, Default)]
pub(super) struct LocalDictionary {
    bits: Vec<u64>,
    ranks: Vec<u32>,
    values: Vec<u32>,
    base: u32,
    by_sorting: bool,
}

impl LocalDictionary {
    /// Collects the distinct values of `rows` rows, whose smallest is `base` and whose range has `width`
    /// bits. `false` if a sample says that indexes would be no narrower than the values, or if the block
    /// would take more than `limit` bytes.
    pub(super) fn fill(
        &mut self,
        rows: usize,
        value: impl Fn(usize) -> u32,
        base: u32,
        width: u8,
        limit: usize,
    ) -> bool {
        let Some(mut size) = self.sample(rows, &value, base, width, limit) else {
            return false;
        };
        let most = most_values(rows, width, limit);
        if self.by_sorting {
            self.values.clear();
            self.values.extend((0..rows).map(value));
            self.sort();
            return self.values.len() <= most;
        }
        for start in (0..rows).step_by(ROWS_AT_ONCE) {
            size += self.insert((start..rows.min(start + ROWS_AT_ONCE)).map(&value));
            if size > most {
                return false;
            }
        }
        self.index();
        true
    }

    /// Collects the distinct values of a sample, and gives their number unless they say that there is nothing to gain.
    fn sample(
        &mut self,
        rows: usize,
        value: impl Fn(usize) -> u32,
        base: u32,
        width: u8,
        limit: usize,
    ) -> Option<usize> {
        if width <= 2 {
            return None;
        }
        self.base = base;
        self.by_sorting = width > BIT_SET_WIDTH;
        let stride = (rows / SAMPLE_ROWS).max(1);
        let sample = (0..rows).step_by(stride).take(SAMPLE_ROWS).map(value);
        let sampled = sample.len();
        if self.by_sorting {
            self.values.clear();
            self.values.extend(sample);
            self.sort();
            let size = self.values.len();
            return (size <= most_values(rows, width, limit) && repeats(sampled, size, rows, width))
                .then_some(size);
        }
        self.bits.clear();
        self.bits.resize((1_usize << width).div_ceil(64), 0);
        let size = self.insert(sample);
        repeats(sampled, size, rows, width).then_some(size)
    }

    fn sort(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
    }

    /// Adds values to the bit set; gives how many were new.
    fn insert(&mut self, values: impl Iterator<Item = u32>) -> usize {
        let mut new = 0;
        for value in values {
            let relative = (value - self.base) as usize;
            let word = &mut self.bits[relative / 64];
            new += (!*word >> (relative % 64) & 1) as usize;
            *word |= 1 << (relative % 64);
        }
        new
    }

    /// Lists the values of the bit set, and how many precede each word of it.
    fn index(&mut self) {
        self.ranks.clear();
        self.values.clear();
        for (index, &word) in self.bits.iter().enumerate() {
            self.ranks.push(self.values.len() as u32);
            let mut rest = word;
            while rest != 0 {
                self.values
                    .push(self.base + (index * 64) as u32 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }

    pub(super) fn values(&self) -> &[u32] {
        &self.values
    }

    /// Appends what stands after the encoding byte of a block of `values`, for which it was filled.
    pub(super) fn push_to(&self, values: &[u32], width: u8, out: &mut Vec<u8>) {
        let size = self.values.len() as u32;
        out.push(width);
        push_u32(out, self.base);
        push_u32(out, size);
        pack(&self.values, self.base, width, out);
        let indexes: Vec<u32> = values.iter().map(|&value| self.index_of(value)).collect();
        pack(&indexes, 0, bits_of(size - 1), out);
    }

    /// Position of `value`, which is one of the block's.
    fn index_of(&self, value: u32) -> u32 {
        if self.by_sorting {
            return self.values.partition_point(|&other| other < value) as u32;
        }
        let relative = (value - self.base) as usize;
        let below = self.bits[relative / 64] & ((1 << (relative % 64)) - 1);
        self.ranks[relative / 64] + below.count_ones()
    }
}

/// From m sampled rows with d distinct values, m²/2(m − d) values would be expected if they were equally
/// frequent, of which a block of `rows` holds some. `false` if a dictionary of half as many would not pay.
fn repeats(sampled: usize, distinct: usize, rows: usize, width: u8) -> bool {
    let repeats = (sampled - distinct).max(1);
    let frequent = (sampled * sampled / (2 * repeats)) as f64;
    let rows = rows as f64;
    let present = frequent * (1.0 - (-rows / frequent).exp()) / 2.0;
    let index_width = bits_of(present as u32);
    present * f64::from(width) < rows * (f64::from(width) - f64::from(index_width))
}

/// The most values with which a block of `count` rows takes at most `limit` bytes.
fn most_values(count: usize, width: u8, limit: usize) -> usize {
    let (mut least, mut above) = (0, count + 1);
    while above - least > 1 {
        let middle = usize::midpoint(least, above);
        if encoded_bytes(middle, width, count) <= limit {
            least = middle;
        } else {
            above = middle;
        }
    }
    least
}
