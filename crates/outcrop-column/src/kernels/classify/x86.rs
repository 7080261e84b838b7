//! The plain body, compiled for AVX-512 and AVX2.
#![expect(
    unsafe_code,
    reason = "functions with target features are called behind their detection"
)]

use super::scalar::body;
use crate::codes::CLASS_LIMIT;

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
    body(ranks, firsts, classes);
}
