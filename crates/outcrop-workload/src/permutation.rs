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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_has_exactly_one_image(count in 1..5000_u64, seed in any::<u64>()) {
            let permutation = Permutation::new(count, Seed(seed));
            let mut images: Vec<u64> = (0..count).map(|index| permutation.apply(index)).collect();
            images.sort_unstable();
            prop_assert_eq!(images, (0..count).collect::<Vec<_>>());
        }

        #[test]
        fn images_stay_inside_the_largest_spans(count in 1..=u64::MAX, index in any::<u64>(), seed in any::<u64>()) {
            prop_assert!(Permutation::new(count, Seed(seed)).apply(index % count) < count);
        }
    }

    #[test]
    fn neighbours_are_as_far_apart_as_by_chance() {
        for seed in 0..20 {
            let count = 100_003_u64;
            let permutation = Permutation::new(count, Seed(seed));
            let images: Vec<u64> = (0..count).map(|index| permutation.apply(index)).collect();
            let distances = images.windows(2).map(|pair| pair[0].abs_diff(pair[1]) as f64);
            let mean = distances.sum::<f64>() / (count - 1) as f64;
            // Two independent places on a span are a third of it apart on average.
            assert!(
                (mean / count as f64 - 1.0 / 3.0).abs() < 0.02,
                "seed {seed}: {mean}"
            );
        }
    }
}
