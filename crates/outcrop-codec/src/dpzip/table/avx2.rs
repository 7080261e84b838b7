//! The newest candidates of a run of positions, sixteen positions at once.
#![expect(
    unsafe_code,
    reason = "a vector load or store takes a raw pointer; the feature is enabled behind its detection"
)]

use std::arch::x86_64 as simd;

use super::{CandidateTable, Newest, RUN, Slots};
use crate::dpzip::slots::{GROUP, Group, POSITION_BITS, POSITION_MASK};

/// Positions whose candidates fill a vector.
const SIXTEEN: usize = 16;

impl<const FOURS: usize> CandidateTable<FOURS> {
    /// As [`Self::exchange_newest`] of a table of four ways at most.
    ///
    /// Nothing of the buckets is kept but the newest way that agrees. A way that does not is larger than a position
    /// once its tag was compared, and positions are turned over, so that the least of a bucket's ways is what is wanted.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::dpzip) fn exchange_newest_by_avx2(
        &mut self,
        slots: &Slots,
        at: usize,
        newest: &mut Newest,
    ) -> u64 {
        let position_mask = simd::_mm256_set1_epi16(POSITION_MASK as i16);
        let mut found = 0;
        for half in 0..2 {
            let mut agreeing = [simd::_mm256_setzero_si256(); 2];
            for (index, agreeing) in agreeing.iter_mut().enumerate() {
                let first = 32 * half + SIXTEEN * index;
                let least = self.least_ways(slots, at + first);
                let above = simd::_mm256_srli_epi16::<{ POSITION_BITS.cast_signed() }>(least);
                *agreeing = simd::_mm256_cmpeq_epi16(above, simd::_mm256_setzero_si256());
                if let Some(newest) = newest[first..].first_chunk_mut() {
                    store(newest, simd::_mm256_xor_si256(least, position_mask));
                }
            }
            // Packing works on halves of a vector: their middle quarters change places.
            let bytes = simd::_mm256_packs_epi16(agreeing[0], agreeing[1]);
            let bytes = simd::_mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
            let bits = simd::_mm256_movemask_epi8(bytes).cast_unsigned();
            found |= u64::from(bits) << (RUN / 2 * half);
        }
        found
    }

    /// Exchanges sixteen positions; answers the least way of each, sixteen bits of it at most.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn least_ways(&mut self, slots: &Slots, at: usize) -> simd::__m256i {
        let groups = [
            self.ways_of_group(slots.group(at)),
            self.ways_of_group(slots.group(at + GROUP)),
            self.ways_of_group(slots.group(at + 2 * GROUP)),
            self.ways_of_group(slots.group(at + 3 * GROUP)),
        ];
        let pairs = [
            least_words(groups[0], groups[1]),
            least_words(groups[2], groups[3]),
        ];
        // Word 4 × i + j is that of position i of group j: pairs of positions first, then these in their order.
        let least = least_doubles(pairs[0], pairs[1]);
        let least = simd::_mm256_shuffle_epi8(
            least,
            simd::_mm256_setr_epi8(
                0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, //
                0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
            ),
        );
        let (early, late) = (
            simd::_mm256_castsi256_si128(least),
            simd::_mm256_extracti128_si256::<1>(least),
        );
        simd::_mm256_set_m128i(
            simd::_mm_unpackhi_epi32(early, late),
            simd::_mm_unpacklo_epi32(early, late),
        )
    }

    /// Exchanges a group; answers its ways, the tags of their positions taken off, four words for each position.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn ways_of_group(&mut self, group: Group<'_>) -> simd::__m256i {
        let ways = [
            self.differences(group, 0),
            self.differences(group, 1),
            self.differences(group, 2),
            self.differences(group, 3),
        ];
        let ways = simd::_mm256_set_m128i(
            simd::_mm_packus_epi32(ways[2], ways[3]),
            simd::_mm_packus_epi32(ways[0], ways[1]),
        );
        simd::_mm256_or_si256(ways, simd::_mm256_set1_epi64x(self.not_in_use.cast_signed()))
    }

    /// Makes a position the newest of its bucket; answers the ways before, the position's tag taken off.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn differences(&mut self, group: Group<'_>, position: usize) -> simd::__m128i {
        let Some(bucket) = self.planes[0][group.offset(position)..].first_chunk_mut::<16>() else {
            return simd::_mm_setzero_si128();
        };
        // SAFETY: sixteen bytes are a vector's.
        let before: simd::__m128i = unsafe { std::mem::transmute(*bucket) };
        // SAFETY: four lanes of 32 bits are a vector's sixteen bytes.
        let newer: simd::__m128i = unsafe { std::mem::transmute(*group.up_to(position)) };
        let pushed = simd::_mm_alignr_epi8::<12>(before, newer);
        // SAFETY: a vector is sixteen bytes.
        *bucket = unsafe { std::mem::transmute::<simd::__m128i, [u8; 16]>(pushed) };
        simd::_mm_xor_si128(before, simd::_mm_set1_epi32(group.tag(position).cast_signed()))
    }
}

/// The lesser one of each two neighbouring words: of `one` in even words, of `other` in odd ones.
#[inline]
#[target_feature(enable = "avx2")]
fn least_words(one: simd::__m256i, other: simd::__m256i) -> simd::__m256i {
    let even = simd::_mm256_blend_epi16::<0xAA>(one, simd::_mm256_slli_epi32::<16>(other));
    let odd = simd::_mm256_blend_epi16::<0xAA>(simd::_mm256_srli_epi32::<16>(one), other);
    simd::_mm256_min_epu16(even, odd)
}

/// The lesser words of each two neighbouring double words: of `one` in even ones, of `other` in odd ones.
#[inline]
#[target_feature(enable = "avx2")]
fn least_doubles(one: simd::__m256i, other: simd::__m256i) -> simd::__m256i {
    let even = simd::_mm256_blend_epi32::<0xAA>(one, simd::_mm256_slli_epi64::<32>(other));
    let odd = simd::_mm256_blend_epi32::<0xAA>(simd::_mm256_srli_epi64::<32>(one), other);
    simd::_mm256_min_epu16(even, odd)
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(target: &mut [u16; SIXTEEN], words: simd::__m256i) {
    // SAFETY: the array has the vector's 32 bytes, and an unaligned store asks for no more.
    unsafe { simd::_mm256_storeu_si256(target.as_mut_ptr().cast(), words) };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Candidates, RUN};
    use super::*;
    use crate::dpzip::slots::{CHUNK, CHUNK_WINDOW, Hashing};

    proptest! {
        #[test]
        fn sixteen_at_once_find_what_one_after_the_other_find(bytes in prop::collection::vec(0u8..3, CHUNK_WINDOW), bucket_bits in 8u32..=12, ways in 1usize..=4, tags_fifth: bool) {
            if !is_x86_feature_detected!("avx2") {
                // The crate never calls this function then: nothing that runs here is left untested.
                return Ok(());
            }
            let mut slots = Slots::new();
            slots.fill(bytes.first_chunk().unwrap(), 0, Hashing { bucket_bits, tags_fifth });
            let mut tables = [(); 2].map(|()| CandidateTable::<1>::new(bucket_bits, ways));
            tables.iter_mut().for_each(CandidateTable::clear);
            let [one, sixteen] = &mut tables;
            let mut candidates = Candidates::new(ways);
            for at in (0..CHUNK).step_by(RUN) {
                let (mut expected, mut seen) = ([0; RUN], [0; RUN]);
                let found = one.exchange_newest(&slots, at, &mut candidates, &mut expected);
                // SAFETY: the feature was detected above.
                prop_assert_eq!(unsafe { sixteen.exchange_newest_by_avx2(&slots, at, &mut seen) }, found);
                for index in (0..RUN).filter(|index| found >> index & 1 == 1) {
                    prop_assert_eq!(seen[index], expected[index]);
                }
            }
            prop_assert!(one.planes == sixteen.planes);
        }
    }
}
