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

pub(super) fn avx512(planes: &[u8], width: u8, base: u32, out: &mut [u32]) {
    // SAFETY: the table lists this function behind `has_avx512`.
    unsafe { avx512_body(planes, width, base, out) }
}

pub(super) fn avx2(planes: &[u8], width: u8, base: u32, out: &mut [u32]) {
    // SAFETY: the table lists this function behind `has_avx2`.
    unsafe { avx2_body(planes, width, base, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn avx512_body(planes: &[u8], width: u8, base: u32, out: &mut [u32]) {
    body(planes, width, base, out);
}

#[target_feature(enable = "avx2")]
fn avx2_body(planes: &[u8], width: u8, base: u32, out: &mut [u32]) {
    body(planes, width, base, out);
}
