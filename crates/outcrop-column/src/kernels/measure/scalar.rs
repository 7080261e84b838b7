//! The plain implementation. Its body is also compiled with wider vectors by `x86`.

use super::Measured;
use crate::codes::zigzag;

pub(super) fn measure(values: &[u32]) -> Measured {
    body(values)
}

#[inline(always)]
pub(super) fn body(values: &[u32]) -> Measured {
    let (mut least, mut greatest) = (u32::MAX, 0);
    let (mut changes, mut delta_bits) = (0_u32, 0);
    if let Some(&first) = values.first() {
        (least, greatest) = (first, first);
    }
    for (&before, &after) in values.iter().zip(values.get(1..).unwrap_or_default()) {
        least = least.min(after);
        greatest = greatest.max(after);
        changes += u32::from(before != after);
        delta_bits |= zigzag(after.wrapping_sub(before));
    }
    Measured {
        least,
        greatest,
        run_count: changes as usize + usize::from(!values.is_empty()),
        delta_bits,
    }
}
