//! Which 4-bit tags equal one tag, as a bit mask: finds the rows of a class.

use super::dispatch::kernel;

kernel! {
    /// Bit i of the mask is set if nibble i of the plane (low nibble first) is `tag`.
    /// The mask has ⌈2·len/64⌉ words.
    fn tags(plane: &[u8], tag: u8, mask: &mut [u64]) {
        ["avx2", "bmi2"] => x86::avx2,
        _ => plain,
    }
}

fn plain(plane: &[u8], tag: u8, mask: &mut [u64]) {
    for (word, chunk) in mask.iter_mut().zip(plane.chunks(32)) {
        *word = chunk.iter().enumerate().fold(0, |bits, (index, &byte)| {
            bits | u64::from(byte & 15 == tag) << (2 * index) | u64::from(byte >> 4 == tag) << (2 * index + 1)
        });
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads take raw pointers")]

    use std::arch::x86_64::*;

    const EVEN_BITS: u64 = 0x5555_5555_5555_5555;

    /// 32 bytes hold 64 tags and become one word of the mask.
    #[target_feature(enable = "avx2,bmi2")]
    pub(super) fn avx2(plane: &[u8], tag: u8, mask: &mut [u64]) {
        let (whole, rest) = plane.as_chunks::<32>();
        for (word, chunk) in mask.iter_mut().zip(whole) {
            *word = word_of(chunk, tag);
        }
        if let Some(word) = mask.get_mut(whole.len()) {
            let mut last = [0; 32];
            last[..rest.len()].copy_from_slice(rest);
            *word = word_of(&last, tag) & ((1 << (2 * rest.len())) - 1);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn word_of(chunk: &[u8; 32], tag: u8) -> u64 {
        let nibble = _mm256_set1_epi8(15);
        let wanted = _mm256_set1_epi8(tag.cast_signed());
        // SAFETY: the array is 32 bytes long.
        let bytes = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
        let low = _mm256_and_si256(bytes, nibble);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
        let even = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)).cast_unsigned();
        let odd = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)).cast_unsigned();
        _pdep_u64(u64::from(even), EVEN_BITS) | _pdep_u64(u64::from(odd), !EVEN_BITS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            plane in proptest::collection::vec(any::<u8>(), 0..200), tag in 0_u8..16,
        ) {
            let nibbles: Vec<u8> = plane.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
            let mut expected = vec![0_u64; nibbles.len().div_ceil(64)];
            for (index, &nibble) in nibbles.iter().enumerate() {
                expected[index / 64] |= u64::from(nibble == tag) << (index % 64);
            }
            for form in forms() {
                let mut mask = vec![u64::MAX; expected.len()];
                (form.function)(&plane, tag, &mut mask);
                prop_assert_eq!(&mask, &expected, "{}", form.features);
            }
        }
    }
}
