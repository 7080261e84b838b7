//! Hashing eight positions at once.
#![expect(
    unsafe_code,
    reason = "a vector load takes a raw pointer; the feature is enabled behind its detection"
)]

use std::arch::x86_64 as simd;

use super::{BUCKET_SHIFT, CHUNK, CHUNK_WINDOW, FRONT, HASH_FACTOR, Hashing, POSITION_MASK, Slots, TAG_MASK};

/// As [`Slots::fill`].
#[target_feature(enable = "avx2")]
pub(in crate::dpzip) fn fill(slots: &mut Slots, window: &[u8; CHUNK_WINDOW], first: usize, how: Hashing) {
    let Hashing {
        bucket_bits,
        tags_fifth,
    } = how;
    // The four bytes from each of the first eight on, a lane each; both halves see the same sixteen.
    let four_bytes = simd::_mm256_setr_epi8(
        0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6, //
        4, 5, 6, 7, 5, 6, 7, 8, 6, 7, 8, 9, 7, 8, 9, 10,
    );
    // The byte behind them at the top of each lane, then one bit down; an index with its highest bit set gives zero.
    let fifth_byte = if tags_fifth {
        simd::_mm256_setr_epi8(
            -1, -1, -1, 4, -1, -1, -1, 5, -1, -1, -1, 6, -1, -1, -1, 7, //
            -1, -1, -1, 8, -1, -1, -1, 9, -1, -1, -1, 10, -1, -1, -1, 11,
        )
    } else {
        simd::_mm256_set1_epi8(-1)
    };
    let factor = simd::_mm256_set1_epi32(HASH_FACTOR.cast_signed());
    let tag_mask = simd::_mm256_set1_epi32(TAG_MASK.cast_signed());
    let offset_mask = simd::_mm256_set1_epi32(-1 << BUCKET_SHIFT);
    let to_offset = simd::_mm_cvtsi32_si128((32 - BUCKET_SHIFT - bucket_bits).cast_signed());
    let to_tag = simd::_mm_cvtsi32_si128(bucket_bits.cast_signed());
    let eight = simd::_mm256_set1_epi32(8);
    let steps = simd::_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let newest = simd::_mm256_set1_epi32((POSITION_MASK as usize - first) as i32);
    let mut positions = simd::_mm256_sub_epi32(newest, steps);
    let (offsets, _) = slots.offsets[..CHUNK].as_chunks_mut::<8>();
    let (entries, _) = slots.entries[FRONT..].as_chunks_mut::<8>();
    let (only_tags, _) = slots.tags.as_chunks_mut::<8>();
    let slots = offsets.iter_mut().zip(entries).zip(only_tags);
    for (index, ((offsets, entries), only_tags)) in slots.enumerate() {
        let bytes = &window[8 * index..8 * index + 16];
        debug_assert!(8 * index + 16 <= CHUNK + 16);
        // SAFETY: the slice has sixteen bytes, and an unaligned load asks for no more.
        let bytes = unsafe { simd::_mm_loadu_si128(bytes.as_ptr().cast()) };
        let bytes = simd::_mm256_broadcastsi128_si256(bytes);
        let hashes = simd::_mm256_mullo_epi32(simd::_mm256_shuffle_epi8(bytes, four_bytes), factor);
        let fifth = simd::_mm256_srli_epi32::<1>(simd::_mm256_shuffle_epi8(bytes, fifth_byte));
        let tags = simd::_mm256_xor_si256(simd::_mm256_sll_epi32(hashes, to_tag), fifth);
        let tags = simd::_mm256_and_si256(tags, tag_mask);
        store(
            offsets,
            simd::_mm256_and_si256(simd::_mm256_srl_epi32(hashes, to_offset), offset_mask),
        );
        store(entries, simd::_mm256_or_si256(tags, positions));
        store(only_tags, tags);
        positions = simd::_mm256_sub_epi32(positions, eight);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(target: &mut [u32; 8], lanes: simd::__m256i) {
    // SAFETY: the array has the vector's 32 bytes, and an unaligned store asks for no more.
    unsafe { simd::_mm256_storeu_si256(target.as_mut_ptr().cast(), lanes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_at_once_hash_as_one_by_one() {
        if !is_x86_feature_detected!("avx2") {
            // The crate never calls this function then: nothing that runs here is left untested.
            return;
        }
        let window = std::array::from_fn(|index| ((index * index * 31) >> 3) as u8);
        for (bucket_bits, tags_fifth) in (8..=12).flat_map(|bits| [(bits, false), (bits, true)]) {
            let (mut one, mut eight) = (Slots::new(), Slots::new());
            let how = Hashing {
                bucket_bits,
                tags_fifth,
            };
            one.fill(&window, 512, how);
            // SAFETY: the feature was detected above.
            unsafe { fill(&mut eight, &window, 512, how) };
            assert_eq!(
                (one.offsets, one.entries, one.tags),
                (eight.offsets, eight.entries, eight.tags)
            );
        }
    }
}
