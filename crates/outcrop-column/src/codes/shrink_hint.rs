//! A cheap guess at whether bytes may compress: their order-0 entropy, and how much of them repeats four
//! bytes seen before. It exists to say *no* early; only zstd can say *yes*.

/// Log2 of the positions remembered to find repeats.
const TABLE_BITS: u32 = 12;
const REPEAT_BYTES: usize = 4;

/// Counts whose n · log2 n is kept.
const LOGS: usize = 256;

/// Guesses, reusing its memory.
#[derive(Debug)]
pub(super) struct ShrinkHint {
    seen: Vec<u32>,
    /// n · log2 n of small n.
    n_log_n: Vec<f32>,
}

impl Default for ShrinkHint {
    fn default() -> Self {
        let n_log_n = |n: u16| f32::from(n) * f32::from(n.max(1)).log2();
        Self {
            seen: Vec::new(),
            n_log_n: (0..LOGS as u16).map(n_log_n).collect(),
        }
    }
}

impl ShrinkHint {
    /// Whether `planes`, cut into parts of the given lengths and each compressed by a good
    /// compressor, may come below `limit` bytes.
    pub(super) fn may_shrink(&mut self, planes: &[u8], parts: &[usize], limit: usize) -> bool {
        let (mut rest, mut estimate) = (planes, 0.0);
        for &length in parts {
            let (part, after) = rest.split_at(length);
            let entropy = self.entropy_bytes(part);
            // A repeat of four bytes costs a compressor about two.
            let repeated = self.repeated_bytes(part) as f32;
            estimate += entropy * (1.0 - repeated / 2.0 / length.max(1) as f32);
            rest = after;
        }
        estimate < limit as f32
    }

    fn entropy_bytes(&self, part: &[u8]) -> f32 {
        let mut counts = [[0_u32; 256]; 2];
        for (index, &byte) in part.iter().enumerate() {
            counts[index % 2][usize::from(byte)] += 1;
        }
        let of_counts: f32 = (0..256)
            .map(|byte| self.of(counts[0][byte] + counts[1][byte]))
            .sum();
        (self.of(part.len() as u32) - of_counts) / 8.0
    }

    fn of(&self, n: u32) -> f32 {
        match self.n_log_n.get(n as usize) {
            Some(&value) => value,
            None => n as f32 * (n as f32).log2(),
        }
    }

    /// Bytes whose four bytes stood at the place that was last seen with their hash.
    fn repeated_bytes(&mut self, part: &[u8]) -> usize {
        self.seen.clear();
        self.seen.resize(1 << TABLE_BITS, 0);
        let mut repeated = 0;
        for window in part.windows(REPEAT_BYTES) {
            let word = window.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            let place = &mut self.seen[(word.wrapping_mul(0x9e37_79b1) >> (32 - TABLE_BITS)) as usize];
            repeated += usize::from(*place == word);
            *place = word;
        }
        repeated
    }
}

#[cfg(test)]
mod tests {
    use super::ShrinkHint;

    /// Bytes without any order, from a multiplicative generator.
    fn noise(count: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let next = || {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 56) as u8
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    #[test]
    fn noise_does_not_shrink_but_skewed_and_repeated_bytes_may() {
        let mut hint = ShrinkHint::default();
        let limit = 4096 - 4096 / 20;
        assert!(!hint.may_shrink(&noise(4096), &[4096], limit));
        let skewed: Vec<u8> = noise(4096).iter().map(|byte| byte & byte >> 4).collect();
        assert!(hint.may_shrink(&skewed, &[4096], limit));
        let repeated = noise(1024).repeat(4);
        assert!(hint.may_shrink(&repeated, &[4096], limit));
    }
}
