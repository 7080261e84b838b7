//! The class of each rank: how many of the classes' first ranks it reaches.

use super::dispatch::kernel;
use crate::format::CLASS_LIMIT;

kernel! {
    /// The last class whose first rank is not greater. `firsts` ascends; that of class 0 is 0.
    fn classify(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
        ["avx512f", "avx512bw", "avx512vl"] => plain,
        ["avx2"] => x86::avx2,
        _ => plain,
    }
}

/// Ranks classified at a time. In the plain form they stay in registers for all comparisons.
const STEP: usize = 32;

#[inline(always)]
fn plain(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
    let (ranks_whole, ranks_rest) = ranks.as_chunks::<STEP>();
    let (classes_whole, classes_rest) = classes.as_chunks_mut::<STEP>();
    for (ranks, classes) in ranks_whole.iter().zip(classes_whole) {
        let mut reached = [0_u32; STEP];
        for first in &firsts[1..] {
            for (count, rank) in reached.iter_mut().zip(ranks) {
                *count += u32::from(rank >= first);
            }
        }
        for (class, count) in classes.iter_mut().zip(reached) {
            *class = count as u8;
        }
    }
    for (rank, class) in ranks_rest.iter().zip(classes_rest) {
        *class = firsts[1..].iter().map(|first| u8::from(rank >= first)).sum();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads and stores take raw pointers")]

    use std::arch::x86_64::*;

    use super::{CLASS_LIMIT, STEP, plain};

    /// A search by halves, eight ranks at a time, whose tables are registers.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
        // Comparisons are of signed numbers: with the highest bit flipped, these are in
        // the order of the unsigned ones.
        let sign = _mm256_set1_epi32(i32::MIN);
        let of = |index: usize| (firsts[index] ^ 1 << 31).cast_signed();
        let halves = _mm256_set1_epi32(of(8));
        let quarters = _mm256_setr_epi32(of(4), of(12), 0, 0, 0, 0, 0, 0);
        let eighths = _mm256_setr_epi32(of(2), of(6), of(10), of(14), 0, 0, 0, 0);
        let sixteenths = _mm256_setr_epi32(of(1), of(3), of(5), of(7), of(9), of(11), of(13), of(15));
        let one = _mm256_set1_epi32(1);
        let classes_of = |ranks: &[u32; 8]| {
            // SAFETY: the array is 32 bytes long.
            let ranks = unsafe { _mm256_loadu_si256(ranks.as_ptr().cast()) };
            let ranks = _mm256_xor_si256(ranks, sign);
            // A comparison gives −1 where a rank is below the first of the upper half.
            let mut class = _mm256_add_epi32(one, _mm256_cmpgt_epi32(halves, ranks));
            for table in [quarters, eighths, sixteenths] {
                let first = _mm256_permutevar8x32_epi32(table, class);
                let is_upper = _mm256_add_epi32(one, _mm256_cmpgt_epi32(first, ranks));
                class = _mm256_add_epi32(_mm256_add_epi32(class, class), is_upper);
            }
            class
        };
        let (steps, last_ranks) = ranks.as_chunks::<STEP>();
        let (steps_of_classes, last_classes) = classes.as_chunks_mut::<STEP>();
        // Packing takes turns between the halves of registers: four bytes at a time come back into order.
        let in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        for (ranks, classes) in steps.iter().zip(steps_of_classes) {
            let (eights, _) = ranks.as_chunks::<8>();
            let low = _mm256_packus_epi32(classes_of(&eights[0]), classes_of(&eights[1]));
            let high = _mm256_packus_epi32(classes_of(&eights[2]), classes_of(&eights[3]));
            let bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), in_order);
            // SAFETY: the array is 32 bytes long.
            unsafe { _mm256_storeu_si256(classes.as_mut_ptr().cast(), bytes) };
        }
        plain(last_ranks, firsts, last_classes);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            ranks in proptest::collection::vec(any::<u32>(), 0..300), mut firsts: [u32; 16],
        ) {
            firsts[0] = 0;
            firsts.sort_unstable();
            let expected: Vec<u8> = ranks.iter().map(|&rank| firsts.partition_point(|&first| first <= rank) as u8 - 1).collect();
            for form in forms() {
                let mut classes = vec![99; ranks.len()];
                (form.function)(&ranks, &firsts, &mut classes);
                prop_assert_eq!(&classes, &expected, "{}", form.features);
            }
        }
    }
}
