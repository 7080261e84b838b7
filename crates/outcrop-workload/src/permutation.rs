//! A seeded bijection of `0..count` onto itself, in constant memory.

use outcrop_measure::seed::Seed;
use rand::Rng;

/// Scatters `0..count` over itself: every number has exactly one image.
///
/// Works on the smallest power of two that holds `count`, where multiplying by an odd number and xoring with
/// a right shift of itself are both bijections; an image outside the range is permuted again until it falls
/// inside (cycle walking: fewer than two rounds on average, since at least half of the images are inside).
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    count: u64,
    mask: u64,
    shift: u32,
    offset: u64,
    multipliers: [u64; 3],
}

impl Permutation {
    /// A permutation of `0..count`.
    pub(crate) fn new(count: u64, seed: Seed) -> Self {
        let mut draws = seed.rng();
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mask = if bits == 0 {
            0
        } else {
            u64::MAX >> (u64::BITS - bits)
        };
        Self {
            count,
            mask,
            shift: (bits / 2).max(1),
            offset: draws.next_u64() & mask,
            multipliers: std::array::from_fn(|_| draws.next_u64() | 1),
        }
    }

    /// The image of `index`, which must be below the count.
    #[inline]
    pub(crate) fn apply(&self, index: u64) -> u64 {
        debug_assert!(index < self.count);
        let mut image = index;
        loop {
            image = self.mix(image);
            if image < self.count {
                return image;
            }
        }
    }

    #[inline]
    fn mix(&self, index: u64) -> u64 {
        let mut x = index ^ self.offset;
        for multiplier in self.multipliers {
            x = x.wrapping_mul(multiplier) & self.mask;
            x ^= x >> self.shift;
        }
        x
    }
}
