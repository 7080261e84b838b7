//! AVX2 with BMI2: 32 bytes hold 64 tags and become one word of the mask.
#![expect(
    unsafe_code,
    reason = "vector loads take raw pointers; functions with target features are called behind their detection"
)]

use std::arch::x86_64::*;

const EVEN_BITS: u64 = 0x5555_5555_5555_5555;

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2")
}

pub(super) fn avx2(plane: &[u8], tag: u8, mask: &mut [u64]) {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(plane, tag, mask) }
}

#[target_feature(enable = "avx2,bmi2")]
fn avx2_body(plane: &[u8], tag: u8, mask: &mut [u64]) {
    let (whole, rest) = plane.as_chunks::<32>();
    for (word, chunk) in mask.iter_mut().zip(whole) {
        *word = word_of(chunk, tag);
    }
    if let Some(word) = mask.get_mut(whole.len()) {
        let mut last = [0; 32];
        last[..rest.len()].copy_from_slice(rest);
        *word = word_of(&last, tag) & ((1 << (2 * rest.len())) - 1);
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn word_of(chunk: &[u8; 32], tag: u8) -> u64 {
    let nibble = _mm256_set1_epi8(15);
    let wanted = _mm256_set1_epi8(tag.cast_signed());
    // SAFETY: the array is 32 bytes long.
    let bytes = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
    let low = _mm256_and_si256(bytes, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
    let even = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)).cast_unsigned();
    let odd = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)).cast_unsigned();
    _pdep_u64(u64::from(even), EVEN_BITS) | _pdep_u64(u64::from(odd), !EVEN_BITS)
}
