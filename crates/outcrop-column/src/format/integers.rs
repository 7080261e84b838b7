//! How small integers are stored: their widths, the planes they are split into, and
//! differences as unsigned numbers.

/// The parts of integers of `width` bits, most significant first.
#[inline(always)]
pub(crate) fn plane_widths(width: u8) -> impl Iterator<Item = u8> {
    let whole = width / 8;
    let parts = [4, 2, 1].into_iter().filter(move |part| width & part != 0);
    std::iter::repeat_n(8, usize::from(whole)).chain(parts)
}

/// Bytes of one plane.
#[inline(always)]
pub(crate) fn plane_bytes(count: usize, bits: u8) -> usize {
    (count * usize::from(bits)).div_ceil(8)
}

/// Bytes of `count` integers of `width` bits.
pub(crate) fn packed_bytes(count: usize, width: u8) -> usize {
    plane_widths(width).map(|bits| plane_bytes(count, bits)).sum()
}

/// Bits needed for `value`: 0 for 0.
pub(crate) fn bits_of(value: u32) -> u8 {
    (u32::BITS - value.leading_zeros()) as u8
}

/// Maps a difference to an unsigned number, small ones to small ones.
pub(crate) fn zigzag(difference: u32) -> u32 {
    difference << 1 ^ (difference.cast_signed() >> 31).cast_unsigned()
}

/// Inverse of [`zigzag`].
pub(crate) fn unzigzag(number: u32) -> u32 {
    number >> 1 ^ (number & 1).wrapping_neg()
}
