//! AVX-512: the plain body, compiled for it. AVX2: eight integers a step; bytes are widened, and the integers of a narrower plane are all shifted
//! out of one broadcast word at once.
#![expect(
    unsafe_code,
    reason = "vector stores take raw pointers; functions with target features are called behind their detection"
)]

use std::arch::x86_64::*;

use super::scalar::{body, single};
use crate::planes::plane_bytes;

/// Integers of a step.
const STEP: usize = 8;

pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

pub(super) fn avx512(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
    // SAFETY: the table lists this function behind `has_avx512`.
    unsafe { avx512_body(planes, width, part, base, out) }
}

pub(super) fn avx2(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(planes, width, part, base, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn avx512_body(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
    body(planes, width, part, base, out);
}

#[target_feature(enable = "avx2")]
fn avx2_body(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
    match width / 8 {
        0 => of_whole::<0>(planes, width, part, base, out),
        1 => of_whole::<1>(planes, width, part, base, out),
        2 => of_whole::<2>(planes, width, part, base, out),
        3 => of_whole::<3>(planes, width, part, base, out),
        _ => steps::<4, 0>(planes, width, part, base, out),
    }
}

#[target_feature(enable = "avx2")]
fn of_whole<const WHOLE: usize>(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
    match width % 8 {
        0 => steps::<WHOLE, 0>(planes, width, part, base, out),
        1 => steps::<WHOLE, 1>(planes, width, part, base, out),
        2 => steps::<WHOLE, 2>(planes, width, part, base, out),
        3 => steps::<WHOLE, 3>(planes, width, part, base, out),
        4 => steps::<WHOLE, 4>(planes, width, part, base, out),
        5 => steps::<WHOLE, 5>(planes, width, part, base, out),
        6 => steps::<WHOLE, 6>(planes, width, part, base, out),
        _ => steps::<WHOLE, 7>(planes, width, part, base, out),
    }
}

/// Integers of `WHOLE` planes of bytes and the planes of 4, 2 and 1 bits whose bits are set in `REST`.
#[target_feature(enable = "avx2")]
fn steps<const WHOLE: usize, const REST: usize>(
    planes: &[u8],
    width: u8,
    part: (usize, usize),
    base: u32,
    out: &mut [u32],
) {
    let (count, first) = part;
    let whole: [&[[u8; 8]]; WHOLE] =
        std::array::from_fn(|plane| planes[plane * count + first..(plane + 1) * count].as_chunks().0);
    let mut rest = &planes[WHOLE * count..];
    let mut next = |bits: u8| {
        let bits = bits & REST as u8;
        let (plane, after) = rest.split_at(plane_bytes(count, bits));
        rest = after;
        &plane[plane_bytes(first, bits)..]
    };
    let (fours, twos, ones) = (next(4).as_chunks::<4>().0, next(2).as_chunks::<2>().0, next(1));
    let base_of_all = _mm256_set1_epi32(base.cast_signed());
    let eight = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let (steps, last) = out.as_chunks_mut::<STEP>();
    let done = steps.len() * STEP;
    for (index, step) in steps.iter_mut().enumerate() {
        let mut values = _mm256_setzero_si256();
        for plane in whole {
            let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(plane[index]));
            values = _mm256_or_si256(_mm256_slli_epi32::<8>(values), _mm256_cvtepu8_epi32(bytes));
        }
        // Every lane gets all parts of the step, and shifts its own to the end.
        if REST & 4 != 0 {
            let parts = _mm256_set1_epi32(i32::from_le_bytes(fours[index]));
            let parts = _mm256_srlv_epi32(parts, _mm256_slli_epi32::<2>(eight));
            let parts = _mm256_and_si256(parts, _mm256_set1_epi32(15));
            values = _mm256_or_si256(_mm256_slli_epi32::<4>(values), parts);
        }
        if REST & 2 != 0 {
            let parts = _mm256_set1_epi32(i32::from(u16::from_le_bytes(twos[index])));
            let parts = _mm256_srlv_epi32(parts, _mm256_slli_epi32::<1>(eight));
            let parts = _mm256_and_si256(parts, _mm256_set1_epi32(3));
            values = _mm256_or_si256(_mm256_slli_epi32::<2>(values), parts);
        }
        if REST & 1 != 0 {
            let parts = _mm256_srlv_epi32(_mm256_set1_epi32(i32::from(ones[index])), eight);
            let parts = _mm256_and_si256(parts, _mm256_set1_epi32(1));
            values = _mm256_or_si256(_mm256_slli_epi32::<1>(values), parts);
        }
        let values = _mm256_add_epi32(values, base_of_all);
        // SAFETY: the array is 32 bytes long.
        unsafe { _mm256_storeu_si256(step.as_mut_ptr().cast(), values) };
    }
    for (index, value) in (done..).zip(last) {
        *value = single(planes, width, count, first + index).wrapping_add(base);
    }
}
