//! AVX2 with BMI1: 64 bytes become one word, of which one bit is found whether there is one or not.
#![expect(
    unsafe_code,
    reason = "vector loads take raw pointers; functions with target features are called behind their detection"
)]

use std::arch::x86_64::*;

use super::scalar::matches;

/// Bytes of a step.
const STEP: usize = 64;

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt")
}

pub(super) fn avx2(bytes: &[u8], least: u8, greatest: u8, out: &mut Vec<u32>) {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(bytes, least, greatest, out) }
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
fn avx2_body(bytes: &[u8], least: u8, greatest: u8, out: &mut Vec<u32>) {
    // An empty range clamps to `greatest`, which would equal itself.
    if least > greatest {
        return;
    }
    let low = _mm256_set1_epi8(least.cast_signed());
    let high = _mm256_set1_epi8(greatest.cast_signed());
    let half = |chunk: &[u8; 32]| {
        // SAFETY: the array is 32 bytes long.
        let values = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
        let inside = _mm256_min_epu8(_mm256_max_epu8(values, low), high);
        u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(inside, values)).cast_unsigned())
    };
    let (steps, rest) = bytes.as_chunks::<STEP>();
    let mut count = out.len();
    // Room for as many as an equality brings, and for one step more.
    out.resize(count + bytes.len() / 128 + STEP, 0);
    for (base, step) in (0_u32..).step_by(STEP).zip(steps) {
        let (parts, _) = step.as_chunks::<32>();
        let mut word = half(&parts[0]) | half(&parts[1]) << 32;
        out[count] = base.wrapping_add(word.trailing_zeros());
        let end = count + word.count_ones() as usize;
        if end > count + 1 {
            while count < end {
                out[count] = base + word.trailing_zeros();
                word &= word - 1;
                count += 1;
            }
        }
        count = end;
        if count + STEP > out.len() {
            out.resize(2 * out.len(), 0);
        }
    }
    out.truncate(count);
    let before = bytes.len() - rest.len();
    matches(rest, least, greatest, out);
    out[count..]
        .iter_mut()
        .for_each(|position| *position += before as u32);
}
