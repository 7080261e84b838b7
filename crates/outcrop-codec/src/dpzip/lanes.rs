//! Four 32-bit lanes: SSE2 where every machine has it, plain arrays elsewhere. Both are held against each other by test.

#[cfg(target_arch = "x86_64")]
pub(super) use sse2::Four;

#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::Four;

#[cfg(target_arch = "x86_64")]
mod sse2 {
    #![expect(
        unsafe_code,
        reason = "SSE2 intrinsics; as arrays, the compiler does one lane after the other, at half the speed"
    )]

    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_cvtsi32_si128, _mm_cvtsi128_si64,
        _mm_movemask_ps, _mm_or_si128, _mm_set1_epi32, _mm_setzero_si128, _mm_slli_si128, _mm_srli_si128,
    };

    /// Four lanes, lane 0 lowest.
    #[derive(Clone, Copy)]
    pub(in crate::dpzip) struct Four(__m128i);

    impl Four {
        #[inline(always)]
        pub(in crate::dpzip) fn zero() -> Self {
            // SAFETY: SSE2 is part of x86-64.
            Self(unsafe { _mm_setzero_si128() })
        }

        /// Every lane one up, `newest` in lane 0.
        #[inline(always)]
        pub(in crate::dpzip) fn pushed(self, newest: u32) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            Self(unsafe { pushed(self.0, newest) })
        }

        /// Every lane one up, the last lane of `before` in lane 0.
        #[inline(always)]
        pub(in crate::dpzip) fn pushed_from(self, before: Self) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            Self(unsafe { pushed_from(self.0, before.0) })
        }

        /// A bit for each lane that equals `wanted` in the bits of `mask`.
        #[inline(always)]
        pub(in crate::dpzip) fn equal(self, mask: u32, wanted: u32) -> u32 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { equal(self.0, mask, wanted) }
        }

        #[inline(always)]
        pub(in crate::dpzip) fn lane(self, lane: u32) -> u32 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { self::lane(self.0, lane) }
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn pushed(lanes: __m128i, newest: u32) -> __m128i {
        _mm_or_si128(
            _mm_slli_si128::<4>(lanes),
            _mm_cvtsi32_si128(newest.cast_signed()),
        )
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn pushed_from(lanes: __m128i, before: __m128i) -> __m128i {
        _mm_or_si128(_mm_slli_si128::<4>(lanes), _mm_srli_si128::<12>(before))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn equal(lanes: __m128i, mask: u32, wanted: u32) -> u32 {
        let masked = _mm_and_si128(lanes, _mm_set1_epi32(mask.cast_signed()));
        let equal = _mm_cmpeq_epi32(masked, _mm_set1_epi32(wanted.cast_signed()));
        _mm_movemask_ps(_mm_castsi128_ps(equal)).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn lane(lanes: __m128i, lane: u32) -> u32 {
        let pair = if lane & 2 == 0 {
            lanes
        } else {
            _mm_srli_si128::<8>(lanes)
        };
        (_mm_cvtsi128_si64(pair).cast_unsigned() >> (32 * (lane & 1))) as u32
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    /// Four lanes, lane 0 first.
    #[derive(Clone, Copy)]
    pub(in crate::dpzip) struct Four([u32; 4]);

    impl Four {
        pub(in crate::dpzip) fn zero() -> Self {
            Self([0; 4])
        }

        pub(in crate::dpzip) fn pushed(self, newest: u32) -> Self {
            let [a, b, c, _] = self.0;
            Self([newest, a, b, c])
        }

        pub(in crate::dpzip) fn pushed_from(self, before: Self) -> Self {
            self.pushed(before.0[3])
        }

        pub(in crate::dpzip) fn equal(self, mask: u32, wanted: u32) -> u32 {
            let lanes = self.0.iter().enumerate();
            lanes.fold(0, |bits, (lane, value)| {
                bits | u32::from(value & mask == wanted) << lane
            })
        }

        pub(in crate::dpzip) fn lane(self, lane: u32) -> u32 {
            self.0[lane as usize & 3]
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Four, portable};

    proptest! {
        #[test]
        fn both_implementations_agree(values in prop::collection::vec(any::<u32>(), 1..12), mask: u32) {
            let mut lanes = (Four::zero(), Four::zero());
            let mut plain = (portable::Four::zero(), portable::Four::zero());
            for value in values {
                lanes = (lanes.0.pushed(value), lanes.1.pushed_from(lanes.0));
                plain = (plain.0.pushed(value), plain.1.pushed_from(plain.0));
                for lane in 0..4 {
                    prop_assert_eq!(lanes.0.lane(lane), plain.0.lane(lane));
                    prop_assert_eq!(lanes.1.lane(lane), plain.1.lane(lane));
                }
                prop_assert_eq!(lanes.0.equal(mask, value & mask), plain.0.equal(mask, value & mask));
            }
        }
    }
}
