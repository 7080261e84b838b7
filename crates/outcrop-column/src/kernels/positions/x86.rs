//! The plain body, compiled for BMI1 and POPCNT: counting, finding and clearing bits are an instruction each.
#![expect(
    unsafe_code,
    reason = "functions with target features are called behind their detection"
)]

use super::scalar::body;

pub(super) fn has_bmi() -> bool {
    is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt")
}

pub(super) fn bmi(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
    // SAFETY: the table lists this function behind `has_bmi`.
    unsafe { bmi_body(mask, offset, out) }
}

#[target_feature(enable = "bmi1,popcnt")]
fn bmi_body(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
    body(mask, offset, out);
}
