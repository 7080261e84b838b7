//! The plain body, compiled for AVX2: the baseline has no instruction for the greater of two unsigned integers of 32 bits.
#![expect(
    unsafe_code,
    reason = "functions with target features are called behind their detection"
)]

use super::scalar::body;

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

pub(super) fn avx2(values: &[u32]) -> u32 {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(values) }
}

#[target_feature(enable = "avx2")]
fn avx2_body(values: &[u32]) -> u32 {
    body(values)
}
