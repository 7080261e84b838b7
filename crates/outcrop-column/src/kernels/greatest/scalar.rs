//! The plain implementation. Its body is also compiled with wider vectors by `x86`.

pub(super) fn greatest(values: &[u32]) -> u32 {
    body(values)
}

#[inline(always)]
pub(super) fn body(values: &[u32]) -> u32 {
    values.iter().fold(0, |greatest, &value| greatest.max(value))
}
