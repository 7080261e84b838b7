//! Four 32-bit lanes: SSE2 where every machine has it, plain arrays elsewhere, held against each other by test.

#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::{Four, common_bytes, common_of_more_bytes};
#[cfg(target_arch = "x86_64")]
pub(super) use sse2::{Four, common_bytes, common_of_more_bytes};

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

        /// Lanes of these values.
        #[inline(always)]
        pub(in crate::dpzip) fn of(lanes: [u32; 4]) -> Self {
            // SAFETY: an array of four is four lanes of 32 bits each, the first one lane 0.
            unsafe { std::mem::transmute(lanes) }
        }

        /// Lanes as they lie in memory.
        #[inline(always)]
        pub(in crate::dpzip) fn from_bytes(bytes: [u8; 16]) -> Self {
            // SAFETY: sixteen bytes are four lanes of 32 bits each.
            unsafe { std::mem::transmute(bytes) }
        }

        /// The lanes as they lie in memory.
        #[inline(always)]
        pub(in crate::dpzip) fn to_bytes(self) -> [u8; 16] {
            // SAFETY: four lanes of 32 bits each are sixteen bytes.
            unsafe { std::mem::transmute(self.0) }
        }

        /// Every lane one up, the highest leaving; the highest lane of `before` in lane 0.
        #[inline(always)]
        pub(in crate::dpzip) fn pushed_from(self, before: Self) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { pushed_from(self, before) }
        }

        /// Byte 4 × i + j: 255 if lane j of `fours[i]` equals `wanted[i]`, the twelve lowest bits apart, or else 0. No lane is
        /// negative.
        #[inline(always)]
        pub(in crate::dpzip) fn agreeing(fours: [Self; 4], wanted: [u32; 4]) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { agreeing(fours, wanted) }
        }

        /// Bit 4 × i + j: whether lane j of `fours[i]`, whose bytes are 255 or 0 each, is not zero.
        #[inline(always)]
        pub(in crate::dpzip) fn not_zero(fours: [Self; 4]) -> u16 {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { not_zero(fours) }
        }

        /// Bits that either has.
        #[inline(always)]
        pub(in crate::dpzip) fn or(self, other: Self) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            Self(unsafe { simd::_mm_or_si128(self.0, other.0) })
        }
    }

    /// How many bytes at the front of both agree.
    #[inline(always)]
    pub(in crate::dpzip) fn common_bytes(one: [u8; 16], other: [u8; 16]) -> usize {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { common(Four::from_bytes(one), Four::from_bytes(other)) }
    }

    /// How many bytes at the front of both agree.
    #[inline(always)]
    pub(in crate::dpzip) fn common_of_more_bytes(one: [u8; 32], other: [u8; 32]) -> usize {
        let (one, _) = one.as_chunks();
        let (other, _) = other.as_chunks();
        // SAFETY: SSE2 is part of x86-64.
        let first = unsafe { same(Four::from_bytes(one[0]), Four::from_bytes(other[0])) };
        // SAFETY: SSE2 is part of x86-64.
        let second = unsafe { same(Four::from_bytes(one[1]), Four::from_bytes(other[1])) };
        (!(u64::from(first) | u64::from(second) << 16)).trailing_zeros() as usize
    }

    /// Bit i: whether byte i of both agrees.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn same(one: Four, other: Four) -> u32 {
        simd::_mm_movemask_epi8(simd::_mm_cmpeq_epi8(one.0, other.0)).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn common(one: Four, other: Four) -> usize {
        (!same(one, other)).trailing_zeros() as usize
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn zero() -> Four {
        Four(simd::_mm_setzero_si128())
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn pushed_from(four: Four, before: Four) -> Four {
        let up = simd::_mm_slli_si128::<4>(four.0);
        Four(simd::_mm_or_si128(up, simd::_mm_srli_si128::<12>(before.0)))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn agreeing(fours: [Four; 4], wanted: [u32; 4]) -> Four {
        let position = simd::_mm_set1_epi32(1 << 12);
        let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| {
            let wanted = simd::_mm_set1_epi32(wanted[i].cast_signed());
            simd::_mm_cmpgt_epi32(position, simd::_mm_xor_si128(fours[i].0, wanted))
        });
        Four(simd::_mm_packs_epi16(
            simd::_mm_packs_epi32(a, b),
            simd::_mm_packs_epi32(c, d),
        ))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn not_zero([a, b, c, d]: [Four; 4]) -> u16 {
        // Packing saturates: what is not zero stays so.
        let all = simd::_mm_packs_epi16(simd::_mm_packs_epi32(a.0, b.0), simd::_mm_packs_epi32(c.0, d.0));
        let zero = simd::_mm_cmpeq_epi8(all, simd::_mm_setzero_si128());
        !(simd::_mm_movemask_epi8(zero) as u16)
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

        pub(in crate::dpzip) fn of(lanes: [u32; 4]) -> Self {
            Self(lanes)
        }

        pub(in crate::dpzip) fn from_bytes(bytes: [u8; 16]) -> Self {
            let (lanes, _) = bytes.as_chunks();
            Self(std::array::from_fn(|lane| u32::from_ne_bytes(lanes[lane])))
        }

        pub(in crate::dpzip) fn to_bytes(self) -> [u8; 16] {
            let mut bytes = [0; 16];
            for (bytes, lane) in bytes.as_chunks_mut().0.iter_mut().zip(self.0) {
                *bytes = lane.to_ne_bytes();
            }
            bytes
        }

        pub(in crate::dpzip) fn pushed_from(self, before: Self) -> Self {
            let [a, b, c, _] = self.0;
            Self([before.0[3], a, b, c])
        }

        pub(in crate::dpzip) fn agreeing(fours: [Self; 4], wanted: [u32; 4]) -> Self {
            Self::from_bytes(std::array::from_fn(|at| {
                let agrees = fours[at / 4].0[at % 4] >> 12 == wanted[at / 4] >> 12;
                if agrees { u8::MAX } else { 0 }
            }))
        }

        pub(in crate::dpzip) fn not_zero(fours: [Self; 4]) -> u16 {
            let bit = |at: usize| u16::from(fours[at / 4].0[at % 4] != 0) << at;
            (0..16).fold(0, |bits, at| bits | bit(at))
        }

        pub(in crate::dpzip) fn or(self, other: Self) -> Self {
            Self(std::array::from_fn(|lane| self.0[lane] | other.0[lane]))
        }
    }

    /// As its namesake in `sse2`.
    pub(in crate::dpzip) fn common_bytes(one: [u8; 16], other: [u8; 16]) -> usize {
        agreeing_front(&one, &other)
    }

    /// As its namesake in `sse2`.
    pub(in crate::dpzip) fn common_of_more_bytes(one: [u8; 32], other: [u8; 32]) -> usize {
        agreeing_front(&one, &other)
    }

    fn agreeing_front(one: &[u8], other: &[u8]) -> usize {
        let pairs = one.iter().zip(other);
        pairs.take_while(|(one, other)| one == other).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Four, common_bytes, common_of_more_bytes, portable};

    proptest! {
        #[test]
        fn both_find_as_many_bytes_in_common(one: [u8; 16], change: u8, at in 0usize..=16) {
            let mut other = one;
            other.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= change);
            prop_assert_eq!(common_bytes(one, other), portable::common_bytes(one, other));
        }

        #[test]
        fn both_find_as_many_of_more_bytes_in_common(one: [u8; 32], change: u8, at in 0usize..=32) {
            let mut other = one;
            other.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= change);
            prop_assert_eq!(common_of_more_bytes(one, other), portable::common_of_more_bytes(one, other));
        }

        #[test]
        fn both_implementations_agree(values in prop::collection::vec(0u32..4, 16), low: [u32; 4], wanted: [u8; 4]) {
            // Few values above the twelve bits that do not count, so that some agree.
            let wanted = wanted.map(|wanted| u32::from(wanted % 4) << 12 | u32::from(wanted));
            macro_rules! results {
                ($four:ty) => {{
                    let mut fours = [<$four>::zero(); 4];
                    for (index, value) in values.iter().enumerate() {
                        let lane = value << 12 | low[index % 4] >> 20;
                        let newest = <$four>::of([1, 2, 3, lane]);
                        fours[index / 4] = <$four>::from_bytes(fours[index / 4].pushed_from(newest).to_bytes());
                    }
                    let agreeing = <$four>::agreeing(fours, wanted);
                    let either = agreeing.or(<$four>::agreeing(fours, [0; 4]));
                    let found = <$four>::not_zero([agreeing, <$four>::zero(), either, agreeing]);
                    (fours.map(<$four>::lanes), agreeing.lanes(), either.lanes(), found)
                }};
            }
            prop_assert_eq!(results!(Four), results!(portable::Four));
        }
    }
}
