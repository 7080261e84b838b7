//! The plain body, compiled for AVX-512 and AVX2.
#![expect(
    unsafe_code,
    reason = "functions with target features are called behind their detection"
)]

use super::scalar::body;

pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

pub(super) fn avx512(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
    // SAFETY: the table lists this function behind `has_avx512`.
    unsafe { avx512_body(values, base, width, out) }
}

pub(super) fn avx2(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(values, base, width, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn avx512_body(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
    body(values, base, width, out);
}

#[target_feature(enable = "avx2")]
fn avx2_body(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
    body(values, base, width, out);
}
