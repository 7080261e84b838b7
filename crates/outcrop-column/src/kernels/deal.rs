//! Integers sorted by class come back into the order of their rows: what decoding
//! a block in classes costs most.

use super::dispatch::kernel;
use crate::format::{BLOCK_ROWS, CLASS_LIMIT};

kernel! {
    /// Row i takes the integer at the place that `next` has for its tag, which then advances by one. Tags are
    /// nibbles, low one first; places are modulo the number of a block's rows. Gives the places afterwards.
    fn deal(
        tags: &[u8], by_class: &[u32; BLOCK_ROWS], next: [u16; CLASS_LIMIT], out: &mut [u32]
    ) -> [u16; CLASS_LIMIT] {
        ["avx2"] => x86::avx2,
        _ => plain,
    }
}

// Places have 16 bits.
const _: () = assert!(BLOCK_ROWS == 1 << 16);

fn plain(
    tags: &[u8],
    by_class: &[u32; BLOCK_ROWS],
    mut next: [u16; CLASS_LIMIT],
    out: &mut [u32],
) -> [u16; CLASS_LIMIT] {
    let (pairs, rest) = out.as_chunks_mut::<2>();
    let mut take = |tag: u8| {
        let place = &mut next[usize::from(tag & 15)];
        let value = by_class[usize::from(*place)];
        *place = place.wrapping_add(1);
        value
    };
    for (pair, &byte) in pairs.iter_mut().zip(tags) {
        *pair = [take(byte), take(byte >> 4)];
    }
    if let (Some(last), Some(&byte)) = (rest.first_mut(), tags.get(pairs.len())) {
        *last = take(byte);
    }
    next
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads and stores take raw pointers")]

    use std::arch::x86_64::*;

    use super::{BLOCK_ROWS, CLASS_LIMIT, plain};

    /// Rows of a step.
    const STEP: usize = 32;

    /// Rows whose integers are fetched once all their indexes are known: step by step, the compiler would
    /// take indexes out of registers.
    const ROWS_AT_ONCE: usize = 256;

    /// Rows whose indexes fit a word.
    const FOUR: usize = 4;

    /// Bytes of tags of a step, and of each of its groups of eight rows.
    const STEP_BYTES: usize = STEP / 2;
    const GROUP_BYTES: usize = 4;

    /// How often each class occurs in a byte of two tags.
    static COUNTS: [[u8; CLASS_LIMIT]; 256] = {
        let mut counts = [[0; CLASS_LIMIT]; 256];
        let mut byte = 0;
        while byte < 256 {
            counts[byte][byte & 15] += 1;
            counts[byte][byte >> 4] += 1;
            byte += 1;
        }
        counts
    };

    /// 32 rows a step, of which none waits for another. A row's place is the next one of its class before the
    /// step, and one more for each row of the class before it in the step: those in groups of eight rows
    /// before its own come from a table, those in its own from comparisons.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(
        tags: &[u8],
        by_class: &[u32; BLOCK_ROWS],
        mut next: [u16; CLASS_LIMIT],
        out: &mut [u32],
    ) -> [u16; CLASS_LIMIT] {
        // SAFETY: the array is 32 bytes long.
        let mut places = unsafe { _mm256_loadu_si256(next.as_ptr().cast()) };
        let (whole, last) = out.split_at_mut(out.len() / STEP * STEP);
        let (whole_tags, last_tags) = tags.split_at(whole.len() / 2);
        let tags_at_once = whole_tags.chunks(ROWS_AT_ONCE / 2);
        for (rows, tags) in whole.chunks_mut(ROWS_AT_ONCE).zip(tags_at_once) {
            let mut indexes = [0; ROWS_AT_ONCE / FOUR];
            let (steps, _) = indexes.as_chunks_mut();
            for (step, tags) in steps.iter_mut().zip(tags.as_chunks().0) {
                places = indexes_of(tags, places, step);
            }
            for (four, &indexes) in rows.as_chunks_mut().0.iter_mut().zip(&indexes) {
                fetch(by_class, indexes, four);
            }
        }
        // SAFETY: the array is 32 bytes long.
        unsafe { _mm256_storeu_si256(next.as_mut_ptr().cast(), places) };
        plain(last_tags, by_class, next, last)
    }

    /// The indexes of a step's rows, four a word; gives the places of the next step.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn indexes_of(tags: &[u8; STEP_BYTES], places: __m256i, indexes: &mut [u64; STEP / FOUR]) -> __m256i {
        let (groups, _) = tags.as_chunks::<GROUP_BYTES>();
        let first = counts_of(&groups[0]);
        let second = _mm_add_epi8(first, counts_of(&groups[1]));
        let third = _mm_add_epi8(second, counts_of(&groups[2]));
        let all = _mm_add_epi8(third, counts_of(&groups[3]));
        let tags = spread(tags);
        let earlier = earlier_in_step(tags, [first, second, third]);
        let (halves, _) = indexes.as_chunks_mut::<4>();
        for (half, indexes) in halves.iter_mut().zip(add_to_places(places, tags, earlier)) {
            // SAFETY: the array is 32 bytes long.
            unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), indexes) };
        }
        _mm256_add_epi16(places, _mm256_cvtepu8_epi16(all))
    }

    /// Four integers at once: one load of four indexes and one store of four integers save six of twelve
    /// memory accesses, of which a cycle has three.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn fetch(by_class: &[u32; BLOCK_ROWS], indexes: u64, out: &mut [u32; FOUR]) {
        let at = |shift: u32| by_class[usize::from((indexes >> shift) as u16)].cast_signed();
        let integers = _mm_cvtsi32_si128(at(0));
        let integers = _mm_insert_epi32::<1>(integers, at(16));
        let integers = _mm_insert_epi32::<2>(integers, at(32));
        let integers = _mm_insert_epi32::<3>(integers, at(48));
        // SAFETY: the array is 16 bytes long.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), integers) };
    }

    /// The 32 tags of a step, a byte each.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn spread(tags: &[u8; STEP_BYTES]) -> __m256i {
        let bytes = _mm256_cvtepu8_epi16(load(tags));
        _mm256_and_si256(
            _mm256_or_si256(bytes, _mm256_slli_epi16::<4>(bytes)),
            _mm256_set1_epi8(15),
        )
    }

    /// For each row of a step, how many rows before it in the step have its tag, given the counts of each
    /// class up to the ends of the first three groups.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn earlier_in_step(tags: __m256i, [first, second, third]: [__m128i; 3]) -> __m256i {
        // Marked, since zeros are shifted in, which are no tags. Each row alike counts −1.
        let marked = _mm256_or_si256(tags, _mm256_set1_epi8(16));
        let mut alike = _mm256_cmpeq_epi8(marked, _mm256_slli_epi64::<8>(marked));
        macro_rules! add_alike {
            ($($bits:literal)*) => {
                $(alike = _mm256_add_epi8(alike, _mm256_cmpeq_epi8(marked, _mm256_slli_epi64::<$bits>(marked)));)*
            };
        }
        add_alike!(16 24 32 40 48 56);
        let even = _mm256_shuffle_epi8(_mm256_set_m128i(second, _mm_setzero_si128()), tags);
        let odd = _mm256_shuffle_epi8(_mm256_set_m128i(third, first), tags);
        _mm256_sub_epi8(_mm256_blend_epi32::<0b1100_1100>(even, odd), alike)
    }

    /// For each row of a step, in order, the place of its class plus what is `earlier`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add_to_places(places: __m256i, tags: __m256i, earlier: __m256i) -> [__m256i; 2] {
        // Low and high bytes of all classes' places, for a look at each by sixteen tags at once.
        let low = _mm256_and_si256(places, _mm256_set1_epi16(255));
        let packed = _mm256_packus_epi16(low, _mm256_srli_epi16::<8>(places));
        let low = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0b10_00_10_00>(packed), tags);
        let high = _mm256_shuffle_epi8(_mm256_permute4x64_epi64::<0b11_01_11_01>(packed), tags);
        let zero = _mm256_setzero_si256();
        let first = _mm256_add_epi16(
            _mm256_unpacklo_epi8(low, high),
            _mm256_unpacklo_epi8(earlier, zero),
        );
        let second = _mm256_add_epi16(
            _mm256_unpackhi_epi8(low, high),
            _mm256_unpackhi_epi8(earlier, zero),
        );
        [
            _mm256_permute2x128_si256::<0x20>(first, second),
            _mm256_permute2x128_si256::<0x31>(first, second),
        ]
    }

    /// How often each class occurs in a group.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn counts_of(group: &[u8; GROUP_BYTES]) -> __m128i {
        let of = |index: usize| load(&COUNTS[usize::from(group[index])]);
        _mm_add_epi8(_mm_add_epi8(of(0), of(1)), _mm_add_epi8(of(2), of(3)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; CLASS_LIMIT]) -> __m128i {
        // SAFETY: the array is 16 bytes long.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::{BLOCK_ROWS, forms};

    static BY_CLASS: LazyLock<Vec<u32>> = LazyLock::new(|| {
        (0..BLOCK_ROWS as u32)
            .map(|place| place.wrapping_mul(0x9e37_79b1))
            .collect()
    });

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            tags in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xff)], 0..300), is_odd: bool, next: [u16; 16],
        ) {
            let by_class = BY_CLASS.first_chunk().expect("as many as a block has rows");
            let rows = (2 * tags.len()).saturating_sub(usize::from(is_odd));
            let nibbles = tags.iter().flat_map(|byte| [byte & 15, byte >> 4]).take(rows);
            let mut expected_next = next;
            let expected: Vec<u32> = nibbles.map(|tag| {
                let place = &mut expected_next[usize::from(tag)];
                let value = by_class[usize::from(*place)];
                *place = place.wrapping_add(1);
                value
            }).collect();
            for form in forms() {
                let mut out = vec![0; rows];
                let after = (form.function)(&tags, by_class, next, &mut out);
                prop_assert_eq!(&out, &expected, "{}", form.features);
                prop_assert_eq!(after, expected_next, "{}", form.features);
            }
        }
    }
}
