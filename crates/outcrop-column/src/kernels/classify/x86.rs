//! AVX-512: the plain body, compiled for it. AVX2: a search by halves, eight ranks at a time, whose tables are registers.
#![expect(
    unsafe_code,
    reason = "vector loads and stores take raw pointers; functions with target features are called behind their detection"
)]

use std::arch::x86_64::*;

use super::scalar::body;
use crate::codes::CLASS_LIMIT;

/// Ranks of a step: their classes are stored at once.
const STEP: usize = 32;

pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

pub(super) fn avx512(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
    // SAFETY: the table lists this function behind `has_avx512`.
    unsafe { avx512_body(ranks, firsts, classes) }
}

pub(super) fn avx2(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(ranks, firsts, classes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn avx512_body(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
    body(ranks, firsts, classes);
}

#[target_feature(enable = "avx2")]
fn avx2_body(ranks: &[u32], firsts: &[u32; CLASS_LIMIT], classes: &mut [u8]) {
    // Comparisons are of signed numbers: with the highest bit turned, these are in the order of the unsigned ones.
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
    body(last_ranks, firsts, last_classes);
}
