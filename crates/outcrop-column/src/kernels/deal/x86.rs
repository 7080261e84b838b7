//! AVX2: the places of all classes are the sixteen lanes of one register. What a byte of tags adds to them comes from a table, and a copy
//! in memory is where the places of its two rows are read, so that a row never waits for the store of the row before.
#![expect(
    unsafe_code,
    reason = "vector loads and stores take raw pointers; functions with target features are called behind their detection"
)]

use std::arch::x86_64::*;

use super::scalar::take;
use crate::codes::CLASS_LIMIT;
use crate::format::BLOCK_ROWS;

/// How often each class occurs in a byte of two tags.
static STEPS: [[u16; CLASS_LIMIT]; 256] = {
    let mut steps = [[0; CLASS_LIMIT]; 256];
    let mut byte = 0;
    while byte < 256 {
        steps[byte][byte & 15] += 1;
        steps[byte][byte >> 4] += 1;
        byte += 1;
    }
    steps
};

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

pub(super) fn avx2(
    tags: &[u8],
    by_class: &[u32; BLOCK_ROWS],
    next: [u16; CLASS_LIMIT],
    out: &mut [u32],
) -> [u16; CLASS_LIMIT] {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(tags, by_class, next, out) }
}

#[target_feature(enable = "avx2")]
fn avx2_body(
    tags: &[u8],
    by_class: &[u32; BLOCK_ROWS],
    next: [u16; CLASS_LIMIT],
    out: &mut [u32],
) -> [u16; CLASS_LIMIT] {
    let mut copy = next;
    let mut places = load(&next);
    let (pairs, rest) = out.as_chunks_mut::<2>();
    for (pair, &byte) in pairs.iter_mut().zip(tags) {
        // SAFETY: the array is 32 bytes long.
        unsafe { _mm256_storeu_si256(copy.as_mut_ptr().cast(), places) };
        let (first, second) = (usize::from(byte & 15), usize::from(byte >> 4));
        let second_place = copy[second].wrapping_add(u16::from(first == second));
        *pair = [
            by_class[usize::from(copy[first])],
            by_class[usize::from(second_place)],
        ];
        places = _mm256_add_epi16(places, load(&STEPS[usize::from(byte)]));
    }
    // SAFETY: the array is 32 bytes long.
    unsafe { _mm256_storeu_si256(copy.as_mut_ptr().cast(), places) };
    if let (Some(last), Some(&tag)) = (rest.first_mut(), tags.get(pairs.len())) {
        *last = take(by_class, &mut copy, tag & 15);
    }
    copy
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &[u16; CLASS_LIMIT]) -> __m256i {
    // SAFETY: the array is 32 bytes long.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}
