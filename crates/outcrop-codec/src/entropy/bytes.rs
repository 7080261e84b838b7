//! Which of sixty-four bytes equal one: a word of bits, made with SSE2 where every machine has it.

/// Bit i: whether byte i of `bytes` is `wanted`.
#[inline(always)]
pub(super) fn equal(bytes: &[u8; 64], wanted: u8) -> u64 {
    let (quarters, _) = bytes.as_chunks::<16>();
    let mut bits = 0;
    for (index, quarter) in quarters.iter().enumerate() {
        bits |= u64::from(sixteen(quarter, wanted)) << (16 * index);
    }
    bits
}

#[cfg(target_arch = "x86_64")]
use sse2::sixteen;

#[cfg(target_arch = "x86_64")]
mod sse2 {
    #![expect(
        unsafe_code,
        reason = "SSE2 intrinsics: comparing byte by byte takes ten times as long"
    )]

    use std::arch::x86_64 as simd;

    /// Bit i: whether byte i of `bytes` is `wanted`.
    #[inline(always)]
    pub(super) fn sixteen(bytes: &[u8; 16], wanted: u8) -> u16 {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { equal(u128::from_le_bytes(*bytes), wanted) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn equal(bytes: u128, wanted: u8) -> u16 {
        let bytes = simd::_mm_set_epi64x((bytes >> 64) as i64, bytes as i64);
        let same = simd::_mm_cmpeq_epi8(bytes, simd::_mm_set1_epi8(wanted.cast_signed()));
        simd::_mm_movemask_epi8(same) as u16
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn sixteen(bytes: &[u8; 16], wanted: u8) -> u16 {
    let bits = bytes.iter().enumerate();
    bits.fold(0, |bits, (index, &byte)| {
        bits | u16::from(byte == wanted) << index
    })
}

#[cfg(test)]
mod tests {
    use super::equal;

    #[test]
    fn every_byte_that_is_equal_has_its_bit() {
        let bytes: [u8; 64] = std::array::from_fn(|index| (index * index % 7) as u8);
        for wanted in 0..8 {
            for (index, &byte) in bytes.iter().enumerate() {
                assert_eq!(equal(&bytes, wanted) >> index & 1 == 1, byte == wanted);
            }
        }
    }
}
