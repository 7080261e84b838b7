//! Hashing eight positions at once.
#![expect(
    unsafe_code,
    reason = "a vector load takes a raw pointer; the feature is enabled behind its detection"
)]

use std::arch::x86_64 as simd;

use super::{CHUNK, CHUNK_WINDOW, HASH_FACTOR, POSITION_MASK, Slots};

/// As [`Slots::fill`].
#[target_feature(enable = "avx2")]
pub(in crate::dpzip) fn fill(slots: &mut Slots, window: &[u8; CHUNK_WINDOW], first: usize, bucket_bits: u32) {
    // The four bytes from each of the first eight on, a lane each; both halves see the same sixteen.
    let four_bytes = simd::_mm256_setr_epi8(
        0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6, //
        4, 5, 6, 7, 5, 6, 7, 8, 6, 7, 8, 9, 7, 8, 9, 10,
    );
    let factor = simd::_mm256_set1_epi32(HASH_FACTOR.cast_signed());
    let tag_mask = simd::_mm256_set1_epi32((!POSITION_MASK).cast_signed());
    let to_bucket = simd::_mm_cvtsi32_si128(32 - bucket_bits.cast_signed());
    let to_tag = simd::_mm_cvtsi32_si128(bucket_bits.cast_signed());
    let eight = simd::_mm256_set1_epi32(8);
    let steps = simd::_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let mut positions = simd::_mm256_add_epi32(simd::_mm256_set1_epi32(first as i32), steps);
    let (buckets, _) = slots.buckets[..CHUNK].as_chunks_mut::<8>();
    let (entries, _) = slots.entries[..CHUNK].as_chunks_mut::<8>();
    for (index, (buckets, entries)) in buckets.iter_mut().zip(entries).enumerate() {
        let bytes = &window[8 * index..8 * index + 16];
        debug_assert!(8 * index + 16 <= CHUNK + 16);
        // SAFETY: the slice has sixteen bytes, and an unaligned load asks for no more.
        let bytes = unsafe { simd::_mm_loadu_si128(bytes.as_ptr().cast()) };
        let words = simd::_mm256_shuffle_epi8(simd::_mm256_broadcastsi128_si256(bytes), four_bytes);
        let hashes = simd::_mm256_mullo_epi32(words, factor);
        let tags = simd::_mm256_and_si256(simd::_mm256_sll_epi32(hashes, to_tag), tag_mask);
        store(buckets, simd::_mm256_srl_epi32(hashes, to_bucket));
        store(entries, simd::_mm256_or_si256(tags, positions));
        positions = simd::_mm256_add_epi32(positions, eight);
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
        for bucket_bits in 8..=12 {
            let (mut one, mut eight) = (Slots::new(), Slots::new());
            one.fill(&window, 512, bucket_bits);
            // SAFETY: the feature was detected above.
            unsafe { fill(&mut eight, &window, 512, bucket_bits) };
            assert_eq!((one.buckets, one.entries), (eight.buckets, eight.entries));
        }
    }
}
