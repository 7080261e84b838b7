//! The distinct values of one block, found with a bit set over the block's range, and their use as a local dictionary.

use crate::planes::bits_of;

/// Widest range, in bits, for which a bit set (128 KiB) is cheaper than sorting the block.
const BIT_SET_WIDTH: u8 = 20;
const SAMPLE_ROWS: usize = 2048;

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
    /// Collects the distinct values of `values`, whose smallest is `base` and whose range has `width` bits. `false` where a
    /// sample says that indexes would not be narrower than the values.
    pub(super) fn fill(&mut self, values: &[u32], base: u32, width: u8) -> bool {
        if width <= 2 || !self.sample_repeats(values, width) {
            return false;
        }
        self.base = base;
        self.by_sorting = width > BIT_SET_WIDTH;
        if self.by_sorting {
            self.values.clear();
            self.values.extend_from_slice(values);
            self.values.sort_unstable();
            self.values.dedup();
            return true;
        }
        self.bits.clear();
        self.bits.resize((1_usize << width).div_ceil(64), 0);
        for value in values {
            let relative = (value - base) as usize;
            self.bits[relative / 64] |= 1 << (relative % 64);
        }
        self.ranks.clear();
        self.values.clear();
        for (index, &word) in self.bits.iter().enumerate() {
            self.ranks.push(self.values.len() as u32);
            let mut rest = word;
            while rest != 0 {
                self.values
                    .push(base + (index * 64) as u32 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        true
    }

    /// From m sampled rows with d distinct values, m²/2(m − d) values would be expected if they were equally frequent, of which
    /// the block then holds some. `false` where a dictionary of half as many would not pay.
    fn sample_repeats(&self, values: &[u32], width: u8) -> bool {
        let stride = (values.len() / SAMPLE_ROWS).max(1);
        let mut sample: Vec<u32> = values.iter().step_by(stride).take(SAMPLE_ROWS).copied().collect();
        let sampled = sample.len();
        sample.sort_unstable();
        sample.dedup();
        let repeats = (sampled - sample.len()).max(1);
        let frequent = (sampled * sampled / (2 * repeats)) as f64;
        let rows = values.len() as f64;
        let present = frequent * (1.0 - (-rows / frequent).exp()) / 2.0;
        let index_width = bits_of(present as u32);
        present * f64::from(width) < rows * (f64::from(width) - f64::from(index_width))
    }

    pub(super) fn values(&self) -> &[u32] {
        &self.values
    }

    /// Position of `value`, which is one of the block's.
    pub(super) fn index_of(&self, value: u32) -> u32 {
        if self.by_sorting {
            return self.values.partition_point(|&other| other < value) as u32;
        }
        let relative = (value - self.base) as usize;
        let below = self.bits[relative / 64] & ((1 << (relative % 64)) - 1);
        self.ranks[relative / 64] + below.count_ones()
    }
}
