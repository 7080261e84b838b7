//! AVX-512 and AVX2: 64 bytes become one word of the mask.
#![expect(
    unsafe_code,
    reason = "vector loads take raw pointers; functions with target features are called behind their detection"
)]

use std::arch::x86_64::*;

pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

pub(super) fn avx512(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
    // SAFETY: the table lists this function behind `has_avx512`.
    unsafe { avx512_body(bytes, least, greatest, mask) }
}

pub(super) fn avx2(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(bytes, least, greatest, mask) }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn avx512_body(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
    let low = _mm512_set1_epi8(least.cast_signed());
    let high = _mm512_set1_epi8(greatest.cast_signed());
    for (word, chunk) in mask.iter_mut().zip(bytes.chunks(64)) {
        let valid = if chunk.len() == 64 {
            u64::MAX
        } else {
            (1 << chunk.len()) - 1
        };
        // SAFETY: the load touches only the bytes that `valid` selects, which are those of `chunk`.
        let values = unsafe { _mm512_maskz_loadu_epi8(valid, chunk.as_ptr().cast()) };
        *word = _mm512_mask_cmple_epu8_mask(_mm512_mask_cmpge_epu8_mask(valid, values, low), values, high);
    }
}

#[target_feature(enable = "avx2")]
fn avx2_body(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
    let low = _mm256_set1_epi8(least.cast_signed());
    let high = _mm256_set1_epi8(greatest.cast_signed());
    let half = |chunk: &[u8; 32]| {
        // SAFETY: the array is 32 bytes long.
        let values = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
        let inside = _mm256_min_epu8(_mm256_max_epu8(values, low), high);
        u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(inside, values)).cast_unsigned())
    };
    let word_of = |block: &[u8; 64]| {
        let (parts, _) = block.as_chunks::<32>();
        half(&parts[0]) | half(&parts[1]) << 32
    };
    // An empty range clamps to `greatest`, which would equal itself.
    if least > greatest {
        mask.fill(0);
        return;
    }
    let (blocks, rest) = bytes.as_chunks::<64>();
    for (word, block) in mask.iter_mut().zip(blocks) {
        *word = word_of(block);
    }
    if let (Some(word), false) = (mask.get_mut(blocks.len()), rest.is_empty()) {
        let mut last = [0; 64];
        last[..rest.len()].copy_from_slice(rest);
        *word = word_of(&last) & ((1 << rest.len()) - 1);
    }
}
