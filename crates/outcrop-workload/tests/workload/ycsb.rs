//! YCSB's generators against the draws of YCSB's own classes, and against the probabilities of the published method.

use outcrop_workload::keyed::ycsb::{GrayZipfian, ScrambledZipfian, SkewedLatest, THETA, fnv64, write_key};
use proptest::prelude::*;

use crate::statistics::{chi_square, chi_square_limit};

/// `ThreadLocalRandom.nextDouble()` of Java 17 in its first thread, whose seed was set to 7 by reflection before each of the
/// runs of YCSB 0.17.0 (`site.ycsb:core`) that the numbers below come from.
struct JavaDraws {
    state: u64,
}

impl JavaDraws {
    const fn new() -> Self {
        Self { state: 7 }
    }

    fn next_bits(&mut self, bits: u32) -> u64 {
        const THREAD_ID: u64 = 1;
        self.state = self
            .state
            .wrapping_add(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(THREAD_ID << 1);
        let mut word = self.state;
        word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        word >> (64 - bits)
    }

    fn next_double(&mut self) -> f64 {
        let high = self.next_bits(26) << 27;
        (high + self.next_bits(27)) as f64 / (1_u64 << 53) as f64
    }
}

/// The first six of 10,000 numbers, and FNV-1a over the bytes of all.
fn digest(mut next: impl FnMut() -> u64) -> ([u64; 6], u64) {
    let mut first = [0; 6];
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for index in 0..10_000 {
        let number = next();
        if let Some(first) = first.get_mut(index) {
            *first = number;
        }
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    (first, hash)
}

#[test]
fn the_random_numbers_are_those_that_ycsb_had() {
    let mut draws = JavaDraws::new();
    let (first, all) = digest(|| draws.next_double().to_bits());
    assert_eq!(first[..2], [4_599_369_689_416_591_822, 4_606_191_900_037_332_569]);
    assert_eq!(all, 0xdf73_b283_d63f_60a3);
}

#[test]
fn hashes_and_names_of_keys_are_those_of_ycsb() {
    for (number, hash) in [
        (0, 6_284_781_860_667_377_211),
        (1, 8_517_097_267_634_966_620),
        (2, 1_820_151_046_732_198_393),
        (42, 55_488_592_825_689_361),
        (1_000_000, 1_011_632_231_655_643_464),
        (9_999_999_999, 3_605_131_173_811_637_474),
        (1 << 62, 6_284_711_491_923_171_707),
        (u64::MAX, 8_289_690_350_564_177_859),
    ] {
        assert_eq!(fnv64(number), hash, "{number}");
        let mut key = Vec::new();
        write_key(number, &mut key);
        assert_eq!(key, format!("user{hash}").into_bytes());
    }
}

#[test]
fn the_first_10_000_keys_of_zipfian_are_those_of_ycsb() {
    for (largest, first, all) in [
        (1000, [787, 806, 371, 619, 973, 652], 0x8d26_625f_ab4a_67d3_u64),
        (
            1_000_001,
            [932_932, 730_014, 75_573, 229_565, 801_317, 981_908],
            0x1d51_8842_2aa2_2603,
        ),
    ] {
        // `new ScrambledZipfianGenerator(0, largest)`.
        let keys = ScrambledZipfian::new(largest + 1);
        let mut draws = JavaDraws::new();
        assert_eq!(digest(|| keys.key(draws.next_double())), (first, all));
    }
}

#[test]
fn the_first_10_000_ranks_of_plain_zipf_are_those_of_ycsb() {
    for (theta, first, all) in [
        (
            0.5,
            [10_081, 79_250, 47_125, 50_564, 7989, 6788],
            0x4e8c_0a2b_a465_b36b_u64,
        ),
        (0.99, [25, 27_627, 2426, 3265, 16, 12], 0x5c8f_d6fd_6c09_d7b1),
    ] {
        let ranks = GrayZipfian::new(100_000, theta);
        let mut draws = JavaDraws::new();
        assert_eq!(digest(|| ranks.rank(draws.next_double())), (first, all));
    }
}

#[test]
fn the_first_10_000_keys_of_latest_are_those_of_ycsb_also_while_the_store_grows() {
    for (draws_per_insert, first, all) in [
        (
            u64::MAX,
            [994, 562, 907, 888, 996, 996],
            0xcb99_de05_7b7d_f3d8_u64,
        ),
        (10, [994, 562, 907, 888, 996, 996], 0x65e6_98c2_0f19_fc4e),
    ] {
        let mut last = 999;
        let mut keys = SkewedLatest::new(last);
        let (mut draws, mut drawn) = (JavaDraws::new(), 0);
        let found = digest(|| {
            drawn += 1;
            last += u64::from(u64::is_multiple_of(drawn, draws_per_insert));
            keys.key(draws.next_double(), last)
        });
        assert_eq!(found, (first, all));
    }
}

/// The method as Gray and YCSB publish it, with the sum term by term.
fn rank_by_the_book(items: u64, theta: f64, draw: f64) -> u64 {
    let mut zeta_n = 0.0;
    for i in 1..=items {
        zeta_n += 1.0 / (i as f64).powf(theta);
    }
    let zeta_2 = 1.0 + 1.0 / 2.0_f64.powf(theta);
    let eta = (1.0 - (2.0 / items as f64).powf(1.0 - theta)) / (1.0 - zeta_2 / zeta_n);
    if draw * zeta_n < 1.0 {
        0
    } else if draw * zeta_n < 1.0 + 0.5_f64.powf(theta) {
        1
    } else {
        (items as f64 * (eta * draw - eta + 1.0).powf(1.0 / (1.0 - theta))) as u64
    }
}

proptest! {
    #[test]
    fn ranks_are_those_of_the_published_method(
        items in 3..20_000_u64, theta in 0.01..0.995_f64, draw in 0.0..1.0_f64,
    ) {
        let (ours, wanted) = (GrayZipfian::new(items, theta).rank(draw), rank_by_the_book(items, theta, draw));
        // The sums differ by rounding, which moves a rank only where it lies at its border.
        prop_assert!(ours.abs_diff(wanted) <= 1, "{ours} {wanted}");
        prop_assert!(ours < items);
    }

    #[test]
    fn growing_is_the_same_as_starting_larger_but_for_ycsbs_constant(
        items in 3..3000_u64, more in 0..3000_u64, draw in 0.0..1.0_f64,
    ) {
        let mut grown = GrayZipfian::new(items, THETA);
        grown.grow(items + more);
        prop_assert!(grown.rank(draw) < items + more);
        // The two most popular depend on the sum alone.
        let fresh = GrayZipfian::new(items + more, THETA);
        if fresh.rank(draw) < 2 {
            prop_assert_eq!(grown.rank(draw), fresh.rank(draw));
        }
    }

    #[test]
    fn no_store_is_too_small_and_no_draw_too_large(records in 0..5_u64, more in 0..5_u64, draw in 0.0..=1.0_f64) {
        let mut keys = SkewedLatest::new(records);
        prop_assert!(keys.key(draw, records + more) <= records + more);
        prop_assert!(ScrambledZipfian::new(records).key(draw) < records.max(1));
    }
}

/// The share of draws for each rank below `ranks`, by the inverse of the method.
fn probabilities(items: u64, zeta: f64, ranks: u64) -> Vec<f64> {
    let zeta_2 = 1.0 + 0.5_f64.powf(THETA);
    let eta = (1.0 - (2.0 / items as f64).powf(1.0 - THETA)) / (1.0 - zeta_2 / zeta);
    let draw_of = |rank: u64| ((rank as f64 / items as f64).powf(1.0 - THETA) - 1.0 + eta) / eta;
    let borders = |rank: u64| match rank {
        0 => 0.0,
        1 => 1.0 / zeta,
        rank => draw_of(rank).max(zeta_2 / zeta),
    };
    (0..ranks)
        .map(|rank| borders(rank + 1).min(1.0) - borders(rank))
        .collect()
}

#[test]
fn plain_zipf_has_the_methods_probabilities() {
    let (items, count) = (1000_u64, 1_000_000);
    let zeta = (1..=items).map(|item| (item as f64).powf(-THETA)).sum();
    let ranks = GrayZipfian::new(items, THETA);
    let mut seen = vec![0; items as usize];
    let mut draws = JavaDraws::new();
    for _ in 0..count {
        seen[ranks.rank(draws.next_double()) as usize] += 1;
    }
    let expected: Vec<f64> = probabilities(items, zeta, items)
        .into_iter()
        .map(|share| share * f64::from(count))
        .collect();
    let found = chi_square(&seen, &expected);
    assert!(found < chi_square_limit(items as f64 - 1.0), "{found}");
}

#[test]
fn scrambled_zipfian_has_the_probabilities_of_its_fold() {
    let (keys, count) = (1001_u64, 1_000_000_u32);
    let scrambled = ScrambledZipfian::new(keys);
    // A million ranks one by one; the fold spreads the others, with less than 1 in 10⁶ of the draws each, evenly.
    let single = probabilities(10_000_000_001, 26.469_028_201_783_02, 1_000_000);
    let rest = 1.0 - single.iter().sum::<f64>();
    let mut expected = vec![rest / keys as f64 * f64::from(count); keys as usize];
    for (rank, share) in single.iter().enumerate() {
        expected[(fnv64(rank as u64) % keys) as usize] += share * f64::from(count);
    }
    let mut seen = vec![0; keys as usize];
    let mut draws = JavaDraws::new();
    for _ in 0..count {
        seen[scrambled.key(draws.next_double()) as usize] += 1;
    }
    let found = chi_square(&seen, &expected);
    assert!(found < chi_square_limit(keys as f64 - 1.0), "{found}");
}
