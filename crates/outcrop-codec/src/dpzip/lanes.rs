//! Four 32-bit lanes: SSE2 where every machine has it, plain arrays elsewhere, held against each other by test.

#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::Four;
#[cfg(target_arch = "x86_64")]
pub(super) use sse2::Four;

#[cfg(target_arch = "x86_64")]
mod sse2 {
    #![expect(
        unsafe_code,
        reason = "SSE2 intrinsics; given arrays, the compiler does one lane after the other, at half the speed"
    )]

    use std::arch::x86_64 as simd;

    /// Four lanes, lane 0 lowest.
    #[derive(Clone, Copy)]
    pub(in crate::dpzip) struct Four(simd::__m128i);

    impl Four {
        /// The same value in every lane.
        #[inline(always)]
        pub(in crate::dpzip) fn splat(value: u32) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { splat(value) }
        }

        /// The four values that start at each of the first four bytes of `bytes`.
        #[inline(always)]
        pub(in crate::dpzip) fn windows(bytes: u64) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { windows(bytes) }
        }

        /// `first`, `first + 1`, `first + 2`, `first + 3`.
        #[inline(always)]
        pub(in crate::dpzip) fn counting(first: u32) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { counting(first) }
        }

        /// The lanes as an array.
        #[inline(always)]
        pub(in crate::dpzip) fn lanes(self) -> [u32; 4] {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { lanes(self) }
        }

        /// Lane by lane, wrapping.
        #[inline(always)]
        pub(in crate::dpzip) fn product(self, factor: u32) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { product(self, factor) }
        }

        /// Lane by lane, towards the high bits.
        #[inline(always)]
        pub(in crate::dpzip) fn shifted_up(self, bits: u32) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { shifted_up(self, bits) }
        }

        /// Lane by lane, towards the low bits.
        #[inline(always)]
        pub(in crate::dpzip) fn shifted_down(self, bits: u32) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { shifted_down(self, bits) }
        }

        /// Lane by lane.
        #[inline(always)]
        pub(in crate::dpzip) fn and(self, other: Self) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { and(self, other) }
        }

        /// Lane by lane.
        #[inline(always)]
        pub(in crate::dpzip) fn or(self, other: Self) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { or(self, other) }
        }

        /// Every lane one up; lane 0 from lane `index` (0 to 3) of `newest`.
        #[inline(always)]
        pub(in crate::dpzip) fn pushed(self, newest: Self, index: usize) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { pushed(self, newest, index) }
        }

        /// Bit 4 × i + j: whether lane j of `fours[i]` equals lane i of `wanted`.
        #[inline(always)]
        pub(in crate::dpzip) fn equal(fours: [Self; 4], wanted: Self) -> u32 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { equal(fours, wanted) }
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn splat(value: u32) -> Four {
        Four(simd::_mm_set1_epi32(value.cast_signed()))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn windows(bytes: u64) -> Four {
        let bytes = simd::_mm_cvtsi64_si128(bytes.cast_signed());
        let low = simd::_mm_unpacklo_epi32(bytes, simd::_mm_srli_epi64::<8>(bytes));
        let high = simd::_mm_unpacklo_epi32(
            simd::_mm_srli_epi64::<16>(bytes),
            simd::_mm_srli_epi64::<24>(bytes),
        );
        Four(simd::_mm_unpacklo_epi64(low, high))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn counting(first: u32) -> Four {
        let steps = simd::_mm_set_epi32(3, 2, 1, 0);
        Four(simd::_mm_add_epi32(
            simd::_mm_set1_epi32(first.cast_signed()),
            steps,
        ))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn lanes(four: Four) -> [u32; 4] {
        let low = simd::_mm_cvtsi128_si64(four.0);
        let high = simd::_mm_cvtsi128_si64(simd::_mm_srli_si128::<8>(four.0));
        [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn product(four: Four, factor: u32) -> Four {
        // SSE2 multiplies even lanes only: the odd ones are brought there, and both halves woven together.
        let factor = simd::_mm_set1_epi32(factor.cast_signed());
        let even = simd::_mm_mul_epu32(four.0, factor);
        let odd = simd::_mm_mul_epu32(simd::_mm_srli_si128::<4>(four.0), factor);
        Four(simd::_mm_unpacklo_epi32(
            simd::_mm_shuffle_epi32::<0b00_00_10_00>(even),
            simd::_mm_shuffle_epi32::<0b00_00_10_00>(odd),
        ))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn shifted_up(four: Four, bits: u32) -> Four {
        Four(simd::_mm_sll_epi32(
            four.0,
            simd::_mm_cvtsi32_si128(bits.cast_signed()),
        ))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn shifted_down(four: Four, bits: u32) -> Four {
        Four(simd::_mm_srl_epi32(
            four.0,
            simd::_mm_cvtsi32_si128(bits.cast_signed()),
        ))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn and(four: Four, other: Four) -> Four {
        Four(simd::_mm_and_si128(four.0, other.0))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn or(four: Four, other: Four) -> Four {
        Four(simd::_mm_or_si128(four.0, other.0))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn pushed(four: Four, newest: Four, index: usize) -> Four {
        let newest = match index {
            0 => newest.0,
            1 => simd::_mm_srli_si128::<4>(newest.0),
            2 => simd::_mm_srli_si128::<8>(newest.0),
            _ => simd::_mm_srli_si128::<12>(newest.0),
        };
        let up = simd::_mm_castsi128_ps(simd::_mm_shuffle_epi32::<0b10_01_00_00>(four.0));
        Four(simd::_mm_castps_si128(simd::_mm_move_ss(
            up,
            simd::_mm_castsi128_ps(newest),
        )))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn equal(fours: [Four; 4], wanted: Four) -> u32 {
        let [a, b, c, d] = fours;
        let a = simd::_mm_cmpeq_epi32(a.0, simd::_mm_shuffle_epi32::<0b00_00_00_00>(wanted.0));
        let b = simd::_mm_cmpeq_epi32(b.0, simd::_mm_shuffle_epi32::<0b01_01_01_01>(wanted.0));
        let c = simd::_mm_cmpeq_epi32(c.0, simd::_mm_shuffle_epi32::<0b10_10_10_10>(wanted.0));
        let d = simd::_mm_cmpeq_epi32(d.0, simd::_mm_shuffle_epi32::<0b11_11_11_11>(wanted.0));
        let all = simd::_mm_packs_epi16(simd::_mm_packs_epi32(a, b), simd::_mm_packs_epi32(c, d));
        simd::_mm_movemask_epi8(all).cast_unsigned()
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    /// Four lanes, lane 0 first; every function as its namesake in `sse2`.
    #[derive(Clone, Copy)]
    pub(in crate::dpzip) struct Four([u32; 4]);

    impl Four {
        pub(in crate::dpzip) fn splat(value: u32) -> Self {
            Self([value; 4])
        }

        pub(in crate::dpzip) fn windows(bytes: u64) -> Self {
            Self([0, 8, 16, 24].map(|bits| (bytes >> bits) as u32))
        }

        pub(in crate::dpzip) fn counting(first: u32) -> Self {
            Self([0, 1, 2, 3].map(|step| first.wrapping_add(step)))
        }

        pub(in crate::dpzip) fn lanes(self) -> [u32; 4] {
            self.0
        }

        pub(in crate::dpzip) fn product(self, factor: u32) -> Self {
            Self(self.0.map(|lane| lane.wrapping_mul(factor)))
        }

        pub(in crate::dpzip) fn shifted_up(self, bits: u32) -> Self {
            Self(self.0.map(|lane| lane << bits))
        }

        pub(in crate::dpzip) fn shifted_down(self, bits: u32) -> Self {
            Self(self.0.map(|lane| lane >> bits))
        }

        pub(in crate::dpzip) fn and(self, other: Self) -> Self {
            Self(std::array::from_fn(|lane| self.0[lane] & other.0[lane]))
        }

        pub(in crate::dpzip) fn or(self, other: Self) -> Self {
            Self(std::array::from_fn(|lane| self.0[lane] | other.0[lane]))
        }

        pub(in crate::dpzip) fn pushed(self, newest: Self, index: usize) -> Self {
            let [a, b, c, _] = self.0;
            Self([newest.0[index & 3], a, b, c])
        }

        pub(in crate::dpzip) fn equal(fours: [Self; 4], wanted: Self) -> u32 {
            let bit = |i: usize, j: usize| u32::from(fours[i].0[j] == wanted.0[i]) << (4 * i + j);
            (0..16).fold(0, |bits, at| bits | bit(at / 4, at % 4))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Four, portable};

    proptest! {
        #[test]
        fn both_implementations_agree(seeds: [u64; 4], factor: u32, bits in 0u32..32, index in 0usize..4) {
            macro_rules! results {
                ($four:ty) => {{
                    let fours = seeds.map(<$four>::windows);
                    let [a, b, ..] = fours;
                    // Tags out of the lanes themselves, so that some are equal.
                    let masked = fours.map(|four| four.and(<$four>::splat(3)));
                    let lanes = [
                        a.lanes(),
                        a.product(factor).lanes(),
                        a.shifted_up(bits).lanes(),
                        a.shifted_down(bits).lanes(),
                        a.or(b).lanes(),
                        a.pushed(b, index).lanes(),
                        <$four>::counting(factor).lanes(),
                    ];
                    (lanes, <$four>::equal(masked, masked[index]))
                }};
            }
            prop_assert_eq!(results!(Four), results!(portable::Four));
        }
    }
}
