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
        /// Zero in every lane.
        #[inline(always)]
        pub(in crate::dpzip) fn zero() -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { zero() }
        }

        /// The lanes as an array.
        #[inline(always)]
        pub(in crate::dpzip) fn lanes(self) -> [u32; 4] {
            // SAFETY: four lanes of 32 bits each are an array of four, lane 0 first.
            unsafe { std::mem::transmute(self.0) }
        }

        /// Every lane one up, the highest leaving; `newest` in lane 0.
        #[inline(always)]
        pub(in crate::dpzip) fn pushed(self, newest: u32) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { pushed(self, newest) }
        }

        /// Every lane one up, the highest leaving; the highest lane of `before` in lane 0.
        #[inline(always)]
        pub(in crate::dpzip) fn pushed_from(self, before: Self) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { pushed_from(self, before) }
        }

        /// Bit 4 × i + j: whether lane j of `fours[i]` equals `wanted[i]`, the twelve lowest bits apart.
        #[inline(always)]
        pub(in crate::dpzip) fn agreeing(fours: [Self; 4], wanted: [u32; 4]) -> u32 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { agreeing(fours, wanted) }
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn zero() -> Four {
        Four(simd::_mm_setzero_si128())
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn pushed(four: Four, newest: u32) -> Four {
        pushed_from(four, Four(simd::_mm_set1_epi32(newest.cast_signed())))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn pushed_from(four: Four, before: Four) -> Four {
        let up = simd::_mm_slli_si128::<4>(four.0);
        Four(simd::_mm_or_si128(up, simd::_mm_srli_si128::<12>(before.0)))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn agreeing(fours: [Four; 4], wanted: [u32; 4]) -> u32 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| {
            let wanted = simd::_mm_set1_epi32(wanted[i].cast_signed());
            simd::_mm_srli_epi32::<12>(simd::_mm_xor_si128(fours[i].0, wanted))
        });
        // Packing saturates: what is not zero stays so, and nothing is negative.
        let all = simd::_mm_packus_epi16(simd::_mm_packs_epi32(a, b), simd::_mm_packs_epi32(c, d));
        simd::_mm_movemask_epi8(simd::_mm_cmpeq_epi8(all, simd::_mm_setzero_si128())).cast_unsigned()
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    /// Four lanes, lane 0 first; every function as its namesake in `sse2`.
    #[derive(Clone, Copy)]
    pub(in crate::dpzip) struct Four([u32; 4]);

    impl Four {
        pub(in crate::dpzip) fn zero() -> Self {
            Self([0; 4])
        }

        pub(in crate::dpzip) fn lanes(self) -> [u32; 4] {
            self.0
        }

        pub(in crate::dpzip) fn pushed(self, newest: u32) -> Self {
            let [a, b, c, _] = self.0;
            Self([newest, a, b, c])
        }

        pub(in crate::dpzip) fn pushed_from(self, before: Self) -> Self {
            self.pushed(before.0[3])
        }

        pub(in crate::dpzip) fn agreeing(fours: [Self; 4], wanted: [u32; 4]) -> u32 {
            let bit = |i: usize, j: usize| u32::from(fours[i].0[j] >> 12 == wanted[i] >> 12) << (4 * i + j);
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
        fn both_implementations_agree(values in prop::collection::vec(0u32..4, 16), low: [u32; 4], wanted: [u8; 4]) {
            // Few values above the twelve bits that do not count, so that some agree.
            let wanted = wanted.map(|wanted| u32::from(wanted % 4) << 12 | u32::from(wanted));
            macro_rules! results {
                ($four:ty) => {{
                    let mut fours = [<$four>::zero(); 4];
                    for (index, value) in values.iter().enumerate() {
                        let lane = value << 12 | low[index % 4] >> 20;
                        fours[index / 4] = fours[index / 4].pushed(lane);
                    }
                    let lanes = [fours[0].lanes(), fours[1].pushed_from(fours[2]).lanes()];
                    (lanes, <$four>::agreeing(fours, wanted))
                }};
            }
            prop_assert_eq!(results!(Four), results!(portable::Four));
        }
    }
}
