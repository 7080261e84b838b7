//! The classes of a block become its rows again: each row takes the next integer of its class.

mod in_steps;

use super::dispatch::kernel;
use crate::format::CLASS_LIMIT;

/// The integers of one class, as planes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stream<'a> {
    /// Exactly the bytes of `count` integers of `width` bits.
    pub(crate) planes: &'a [u8],
    pub(crate) count: usize,
    pub(crate) width: u8,
    /// What is added to each, modulo 2^32.
    pub(crate) base: u32,
}

/// Memory that [`merge`] works in; whoever merges many blocks keeps it.
#[derive(Debug, Default)]
pub(crate) struct MergeMemory {
    /// The integers of each class that come next.
    by_class: Vec<u32>,
    /// All integers by class, and of each plane the same byte of all.
    #[cfg(target_arch = "x86_64")]
    bytes: Vec<[u8; x86::PLANE_BYTES]>,
}

kernel! {
    /// Row i takes the next integer of the class that its tag names. Tags are nibbles, low one first. Gives how many
    /// rows each class has by the tags. Where a class has fewer integers, its rows may get any, and the caller finds
    /// out by the number. A block has no more rows than the format allows.
    fn merge(
        tags: &[u8], streams: &[Stream<'_>; CLASS_LIMIT], memory: &mut MergeMemory, out: &mut [u32]
    ) -> [usize; CLASS_LIMIT] {
        ["avx512f", "avx512bw", "avx512vbmi2", "popcnt"] => x86::avx512,
        _ => in_steps::merge,
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads and stores take raw pointers")]

    use std::arch::x86_64::*;

    use super::{CLASS_LIMIT, MergeMemory, Stream, in_steps};
    use crate::format::{BLOCK_ROWS, plane_bytes};

    /// Rows of a step, and integers unpacked at a time: the bytes of a vector.
    const STEP: usize = 64;
    const STEP_TAGS: usize = STEP / 2;

    /// Planes of bytes that integers become: more than 24 bits are for the other form.
    const PLANES: usize = 3;
    const MOST_BITS: u8 = 8 * PLANES as u8;

    /// A class begins behind the integers of those before it, which are a block's rows at most. By wrong tags all
    /// rows may be of the last class. A vector is read from there.
    pub(super) const PLANE_BYTES: usize = 2 * BLOCK_ROWS + STEP;

    type Plane = [u8; PLANE_BYTES];

    /// Where a step's rows take their integers from.
    struct Classes<'a> {
        planes: &'a [Plane; PLANES],
        /// For each plane, a bit for each class whose integers have bytes in it.
        wide: [u32; PLANES],
        /// The next integer of each class.
        places: [usize; CLASS_LIMIT],
        bases: [u32; CLASS_LIMIT],
    }

    /// The integers of a class that 64 rows take stand one behind the other: one instruction puts them in the places of
    /// those rows. It does so for bytes, so integers are split into their bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    pub(super) fn avx512(
        tags: &[u8],
        streams: &[Stream<'_>; CLASS_LIMIT],
        memory: &mut MergeMemory,
        out: &mut [u32],
    ) -> [usize; CLASS_LIMIT] {
        let total: usize = streams.iter().map(|stream| stream.count).sum();
        let is_wider = |bits: u8| move |stream: &Stream<'_>| stream.count > 0 && stream.width > bits;
        memory.bytes.resize(PLANES, [0; PLANE_BYTES]);
        let planes = match memory.bytes.first_chunk_mut::<PLANES>() {
            Some(planes)
                if total.max(out.len()) <= BLOCK_ROWS && !streams.iter().any(is_wider(MOST_BITS)) =>
            {
                planes
            }
            _ => return in_steps::merge(tags, streams, memory, out),
        };
        let wide = [0, 8, 16].map(|bits| {
            let classes = streams.iter().enumerate();
            classes.fold(0, |wide, (class, stream)| {
                wide | u32::from(is_wider(bits)(stream)) << class
            })
        });
        let mut start = 0;
        let starts = std::array::from_fn(|class| {
            let stream = &streams[class];
            let plane_count = wide.iter().filter(|&&wide| wide >> class & 1 == 1).count();
            split(stream, start, &mut planes[..plane_count]);
            start += stream.count;
            start - stream.count
        });
        let mut classes = Classes {
            planes,
            wide,
            places: starts,
            bases: streams.map(|stream| stream.base),
        };
        let (whole, last) = out.as_chunks_mut::<STEP>();
        let (whole_tags, last_tags) = tags.split_at(whole.len() * STEP_TAGS);
        for (rows, tags) in whole.iter_mut().zip(whole_tags.as_chunks().0) {
            merge_step(tags, u64::MAX, &mut classes, rows);
        }
        if !last.is_empty() {
            let (mut padded, mut rows) = ([0; STEP_TAGS], [0; STEP]);
            padded
                .iter_mut()
                .zip(last_tags)
                .for_each(|(to, from)| *to = *from);
            merge_step(&padded, (1 << last.len()) - 1, &mut classes, &mut rows);
            last.copy_from_slice(&rows[..last.len()]);
        }
        std::array::from_fn(|class| classes.places[class] - starts[class])
    }

    /// Rows in order, of which those in `valid` are there.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    fn merge_step(tags: &[u8; STEP_TAGS], valid: u64, classes: &mut Classes<'_>, out: &mut [u32; STEP]) {
        // SAFETY: the array is 32 bytes long.
        let tags = nibbles(unsafe { _mm256_loadu_si256(tags.as_ptr().cast()) });
        // No class has this tag.
        let tags = _mm512_mask_mov_epi8(_mm512_set1_epi8(-1), valid, tags);
        // Of each plane the bytes of even and of odd classes: an instruction waits for the register that it adds to.
        let [mut low, mut middle, mut high] = [[_mm512_setzero_si512(); 2]; PLANES];
        let [of_low, of_middle, of_high] = classes.planes;
        let [with_low, with_middle, with_high] = classes.wide;
        // Written out, since tags to compare with are constants then.
        macro_rules! take_from {
            ($($class:literal)*) => {$(
                let rows = _mm512_cmpeq_epi8_mask(tags, _mm512_set1_epi8($class));
                let place = classes.places[$class];
                classes.places[$class] = place + rows.count_ones() as usize;
                if with_low >> $class & 1 == 1 {
                    low[$class % 2] = _mm512_mask_expand_epi8(low[$class % 2], rows, load(of_low, place));
                }
                if with_middle >> $class & 1 == 1 {
                    middle[$class % 2] =
                        _mm512_mask_expand_epi8(middle[$class % 2], rows, load(of_middle, place));
                }
                if with_high >> $class & 1 == 1 {
                    high[$class % 2] = _mm512_mask_expand_epi8(high[$class % 2], rows, load(of_high, place));
                }
            )*};
        }
        take_from!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        // SAFETY: the array is 64 bytes long.
        let bases = unsafe { _mm512_loadu_si512(classes.bases.as_ptr().cast()) };
        let [low, middle, high] = [low, middle, high].map(|[even, odd]| _mm512_or_si512(even, odd));
        let integers = words_of([low, middle, high, _mm512_setzero_si512()]);
        // Of an index, four bits count.
        let indexes = words_of([tags; 4]);
        let (sixteens, _) = out.as_chunks_mut::<16>();
        for (sixteen, (integers, indexes)) in sixteens.iter_mut().zip(integers.into_iter().zip(indexes)) {
            let integers = _mm512_add_epi32(integers, _mm512_permutexvar_epi32(indexes, bases));
            // SAFETY: the array is 64 bytes long.
            unsafe { _mm512_storeu_si512(sixteen.as_mut_ptr().cast(), integers) };
        }
    }

    /// Bytes of 64 integers, the least significant ones first, as integers of four bytes in order.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn words_of(bytes: [__m512i; 4]) -> [__m512i; 4] {
        // Interleaving is within each quarter of a vector, so a quarter gets four bytes of each sixteen.
        let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        let [low, middle, high, highest] = bytes;
        let low = _mm512_permutexvar_epi32(order, low);
        let middle = _mm512_permutexvar_epi32(order, middle);
        let high = _mm512_permutexvar_epi32(order, high);
        let highest = _mm512_permutexvar_epi32(order, highest);
        let first = _mm512_unpacklo_epi8(low, middle);
        let first_high = _mm512_unpacklo_epi8(high, highest);
        let second = _mm512_unpackhi_epi8(low, middle);
        let second_high = _mm512_unpackhi_epi8(high, highest);
        [
            _mm512_unpacklo_epi16(first, first_high),
            _mm512_unpackhi_epi16(first, first_high),
            _mm512_unpacklo_epi16(second, second_high),
            _mm512_unpackhi_epi16(second, second_high),
        ]
    }

    /// Splits the integers of a class into bytes, from place `start` of each of `planes` on, the least significant ones first.
    /// What stands behind them is overwritten.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    fn split(stream: &Stream<'_>, start: usize, planes: &mut [Plane]) {
        // A class that no row has may be as wide as the format allows, which is more than there are places for.
        if stream.count == 0 {
            return;
        }
        let (whole, rest_bits) = (usize::from(stream.width / 8), stream.width % 8);
        let mut left = stream.planes;
        let mut next = |bits: u8| {
            let (plane, after) = left.split_at(plane_bytes(stream.count, bits));
            left = after;
            plane
        };
        // The most significant plane comes first.
        let mut wholes = [&[][..]; PLANES];
        for plane in (0..whole).rev() {
            wholes[plane] = next(8);
        }
        let (fours, twos, ones) = (next(rest_bits & 4), next(rest_bits & 2), next(rest_bits & 1));
        let up = _mm_cvtsi32_si128(rest_bits.into());
        let down = _mm_cvtsi32_si128((8 - rest_bits).into());
        let kept_above = _mm512_set1_epi8((0xff_u32 << rest_bits) as i8);
        let kept_below = _mm512_set1_epi8(((1_u32 << rest_bits) - 1) as i8);
        for first in (0..stream.count).step_by(STEP) {
            // What stands below the next plane's bits.
            let mut below = _mm512_setzero_si512();
            if !fours.is_empty() {
                below = nibbles(_mm512_castsi512_si256(load_up_to(fours, first / 2)));
            }
            if !twos.is_empty() {
                let pairs = pairs(_mm512_castsi512_si128(load_up_to(twos, first / 4)));
                below = _mm512_or_si512(_mm512_slli_epi16::<2>(below), pairs);
            }
            if !ones.is_empty() {
                let ones = _mm_cvtsi128_si64(_mm512_castsi512_si128(load_up_to(ones, first / 8)));
                let ones = _mm512_maskz_set1_epi8(ones.cast_unsigned(), 1);
                below = _mm512_or_si512(_mm512_slli_epi16::<1>(below), ones);
            }
            for (plane, whole) in planes.iter_mut().zip(wholes) {
                let bytes = load_up_to(whole, first);
                let above = _mm512_and_si512(_mm512_sll_epi16(bytes, up), kept_above);
                let joined = _mm512_or_si512(above, below);
                let Some(place) = plane[start + first..].first_chunk_mut::<STEP>() else {
                    return;
                };
                // SAFETY: the array is 64 bytes long.
                unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), joined) };
                below = _mm512_and_si512(_mm512_srl_epi16(bytes, down), kept_below);
            }
        }
    }

    /// The 64 nibbles of 32 bytes, low ones first, a byte each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn nibbles(bytes: __m256i) -> __m512i {
        let bytes = _mm512_cvtepu8_epi16(bytes);
        _mm512_and_si512(
            _mm512_or_si512(bytes, _mm512_slli_epi16::<4>(bytes)),
            _mm512_set1_epi8(15),
        )
    }

    /// The 64 pairs of bits of 16 bytes, low ones first, a byte each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn pairs(bytes: __m128i) -> __m512i {
        let bytes = _mm512_cvtepu8_epi32(bytes);
        let halves = _mm512_or_si512(bytes, _mm512_slli_epi32::<12>(bytes));
        _mm512_and_si512(
            _mm512_or_si512(halves, _mm512_slli_epi32::<6>(halves)),
            _mm512_set1_epi8(3),
        )
    }

    /// The 64 bytes from `place` on.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(plane: &Plane, place: usize) -> __m512i {
        debug_assert!(place + STEP <= PLANE_BYTES);
        // SAFETY: a class starts at a block's rows at most, and no more rows than that advance its place; the
        // plane is 64 bytes longer than both together.
        unsafe { _mm512_loadu_si512(plane.as_ptr().wrapping_add(place).cast()) }
    }

    /// Up to 64 bytes from `place` on, and zeros behind the last.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn load_up_to(bytes: &[u8], place: usize) -> __m512i {
        let bytes = bytes.get(place..).unwrap_or_default();
        if let Some(bytes) = bytes.first_chunk::<STEP>() {
            // SAFETY: the array is 64 bytes long.
            return unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        }
        // An empty slice may have any address: a processor takes hundreds of cycles to find that nothing of it is read.
        if bytes.is_empty() {
            return _mm512_setzero_si512();
        }
        // SAFETY: bytes that are masked out are not read, and the others are in the slice.
        unsafe { _mm512_maskz_loadu_epi8((1 << bytes.len()) - 1, bytes.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MergeMemory, Stream, forms};
    use crate::format::{BLOCK_ROWS, CLASS_LIMIT, packed_bytes};
    use crate::kernels::pack;

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_ROWS: usize = if cfg!(miri) { 150 } else { 3000 };

    /// Rows in classes, as a block has them.
    struct Block {
        tags: Vec<u8>,
        planes: [Vec<u8>; CLASS_LIMIT],
        counts: [usize; CLASS_LIMIT],
        shapes: [(u8, u32); CLASS_LIMIT],
        expected: Vec<u32>,
    }

    impl Block {
        /// Row i is the integer `rows[i].1`, cut to the width of its class, plus the class's base.
        fn of(rows: &[(u8, u32)], shapes: [(u8, u32); CLASS_LIMIT]) -> Self {
            let mut values: [Vec<u32>; CLASS_LIMIT] = Default::default();
            let mut tags = vec![0; rows.len().div_ceil(2)];
            let mut expected = Vec::new();
            for (row, &(class, integer)) in rows.iter().enumerate() {
                let (width, base) = shapes[usize::from(class)];
                let value = (u64::from(integer) & ((1 << width) - 1)) as u32;
                values[usize::from(class)].push(value);
                tags[row / 2] |= class << (row % 2 * 4);
                expected.push(value.wrapping_add(base));
            }
            let planes = std::array::from_fn(|class| {
                let mut planes = vec![0; packed_bytes(values[class].len(), shapes[class].0)];
                pack(&values[class], 0, shapes[class].0, &mut planes);
                planes
            });
            Self {
                tags,
                planes,
                counts: values.map(|values| values.len()),
                shapes,
                expected,
            }
        }

        fn streams(&self) -> [Stream<'_>; CLASS_LIMIT] {
            std::array::from_fn(|class| Stream {
                planes: &self.planes[class],
                count: self.counts[class],
                width: self.shapes[class].0,
                base: self.shapes[class].1,
            })
        }

        /// Merges it by each form, in memory that has served a block with no bit that is zero.
        fn check(&self) {
            let ones = Self::of(&vec![(0, u32::MAX); self.expected.len()], [(24, 0); CLASS_LIMIT]);
            for form in forms() {
                let mut memory = MergeMemory::default();
                for block in [&ones, self] {
                    let mut out = vec![u32::MAX; block.expected.len()];
                    let counts = (form.function)(&block.tags, &block.streams(), &mut memory, &mut out);
                    assert_eq!(counts, block.counts, "{}", form.features);
                    assert!(out == block.expected, "{}", form.features);
                }
            }
        }
    }

    fn shapes(widths: std::ops::RangeInclusive<u8>) -> impl Strategy<Value = [(u8, u32); CLASS_LIMIT]> {
        proptest::array::uniform16((widths, any::<u32>()))
    }

    #[test]
    fn a_class_of_the_greatest_width_that_no_row_has_is_no_matter() {
        let mut shapes = [(0, 0); CLASS_LIMIT];
        (shapes[0], shapes[1]) = ((8, 7), (32, 0));
        let rows: Vec<(u8, u32)> = (0..200).map(|row| (0, row)).collect();
        Block::of(&rows, shapes).check();
    }

    proptest! {
        #[test]
        fn every_form_puts_the_integers_of_all_classes_back_in_their_rows(
            rows in proptest::collection::vec((0_u8..16, any::<u32>()), 0..MOST_ROWS),
            shapes in prop_oneof![shapes(0..=8), shapes(0..=16), shapes(0..=24), shapes(0..=32)],
            classes in 1_u8..=16,
        ) {
            let rows: Vec<(u8, u32)> = rows.iter().map(|&(class, integer)| (class % classes, integer)).collect();
            Block::of(&rows, shapes).check();
        }

        #[test]
        fn wrong_tags_are_counted_by_every_form(
            rows in proptest::collection::vec((0_u8..16, any::<u32>()), 0..MOST_ROWS), shapes in shapes(0..=24), wrong: Vec<u8>,
        ) {
            let mut block = Block::of(&rows, shapes);
            block.tags.iter_mut().zip(wrong).for_each(|(tag, wrong)| *tag = wrong);
            let nibbles = block.tags.iter().flat_map(|byte| [byte & 15, byte >> 4]).take(rows.len());
            let mut expected = [0; CLASS_LIMIT];
            nibbles.for_each(|tag| expected[usize::from(tag)] += 1);
            for form in forms() {
                let mut out = vec![0; rows.len()];
                let counts = (form.function)(&block.tags, &block.streams(), &mut MergeMemory::default(), &mut out);
                prop_assert_eq!(counts, expected, "{}", form.features);
            }
        }
    }

    #[test]
    fn whole_blocks_of_one_class_each_merge_and_one_with_all_tags_wrong_is_counted() {
        let rows = if cfg!(miri) { MOST_ROWS } else { BLOCK_ROWS };
        for (class, width) in [(0, 0), (0, 24), (7, 13), (15, 23), (15, 32)] {
            let integers = (0..rows as u32).map(|row| (class, row.wrapping_mul(0x9e37_79b1)));
            let mut block = Block::of(&integers.collect::<Vec<_>>(), [(width, 3); CLASS_LIMIT]);
            block.check();
            block.tags.fill(0xff);
            for form in forms() {
                let mut out = vec![0; rows];
                let counts = (form.function)(
                    &block.tags,
                    &block.streams(),
                    &mut MergeMemory::default(),
                    &mut out,
                );
                assert_eq!(counts[15], rows, "{}", form.features);
            }
        }
    }
}
