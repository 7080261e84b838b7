//! Even draws from a range.

/// Maps a uniform 64-bit draw to `0..count`; the bias is below `count / 2^64`, which no test can see.
#[inline]
pub(crate) fn uniform_below(draw: u64, count: u64) -> u64 {
    ((u128::from(draw) * u128::from(count)) >> 64) as u64
}

/// Maps a uniform 64-bit draw to 0 up to below 1, by its highest 53 bits.
#[inline]
pub(crate) fn uniform_unit(draw: u64) -> f64 {
    (draw >> 11) as f64 / (1_u64 << 53) as f64
}
