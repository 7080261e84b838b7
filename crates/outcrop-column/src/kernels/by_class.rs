//! Rows dealt into the classes that they name themselves, as planes of bytes: the step of encoding in which
//! the most is done for each row.

use super::dispatch::kernel;
use crate::format::{BLOCK_ROWS, CLASS_LIMIT};

/// Planes of bytes that a row brings.
pub(crate) const ROW_PLANES: usize = 3;

/// Bytes of a plane of one class: all rows of a block may be of it, and a vector is written from there.
pub(crate) const CLASS_PLANE_BYTES: usize = BLOCK_ROWS + VECTOR_BYTES;
const VECTOR_BYTES: usize = 64;

/// A plane of one class.
type ClassPlane = [u8; CLASS_PLANE_BYTES];

kernel! {
    /// The highest byte of each row, which is less than the limit of classes, is its class. The other bytes, the
    /// highest first, go to the planes of the class, behind those of its earlier rows. Planes stand class by class;
    /// of those that lack the bit of the class in `wide` the content is undefined, as is what follows the rows.
    /// `tags` takes the classes as nibbles, low one first. Gives the number of rows of each class. There are no more
    /// rows than a block may have.
    fn by_class(
        rows: &[u32], wide: [u16; ROW_PLANES], tags: &mut [u8],
        planes: &mut [[ClassPlane; ROW_PLANES]; CLASS_LIMIT]
    ) -> [usize; CLASS_LIMIT] {
        ["avx512f", "avx512bw", "avx512vbmi", "avx512vbmi2", "popcnt"] => x86::avx512,
        _ => plain,
    }
}

fn plain(
    rows: &[u32],
    _: [u16; ROW_PLANES],
    tags: &mut [u8],
    planes: &mut [[ClassPlane; ROW_PLANES]; CLASS_LIMIT],
) -> [usize; CLASS_LIMIT] {
    deal(rows, [0; CLASS_LIMIT], tags, planes)
}

/// Deals rows behind those of `counts`; gives the counts with them.
fn deal(
    rows: &[u32],
    mut counts: [usize; CLASS_LIMIT],
    tags: &mut [u8],
    planes: &mut [[ClassPlane; ROW_PLANES]; CLASS_LIMIT],
) -> [usize; CLASS_LIMIT] {
    let mut put = |row: u32| {
        let [low, middle, high, class] = row.to_le_bytes();
        let class = usize::from(class) % CLASS_LIMIT;
        let place = counts[class];
        for (plane, byte) in planes[class].iter_mut().zip([high, middle, low]) {
            plane[place] = byte;
        }
        counts[class] += 1;
        class as u8
    };
    for (tags, pair) in tags.iter_mut().zip(rows.chunks(2)) {
        *tags = 0;
        for (shift, &row) in [0, 4].into_iter().zip(pair) {
            *tags |= put(row) << shift;
        }
    }
    counts
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector loads and stores take raw pointers")]

    use std::arch::x86_64::*;

    use super::{CLASS_LIMIT, ClassPlane, ROW_PLANES, VECTOR_BYTES, deal};

    /// Rows of a step: as many as a vector has bytes.
    const STEP: usize = VECTOR_BYTES;

    /// Where the bytes of sixteen integers go, so that equal ones of all stand together.
    static APART: [u8; VECTOR_BYTES] = {
        let mut apart = [0; VECTOR_BYTES];
        let mut place = 0;
        while place < VECTOR_BYTES {
            apart[place] = (place % 16 * 4 + place / 16) as u8;
            place += 1;
        }
        apart
    };

    /// One instruction moves the bytes of those of 64 rows together that are of a class.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    pub(super) fn avx512(
        rows: &[u32],
        wide: [u16; ROW_PLANES],
        tags: &mut [u8],
        planes: &mut [[ClassPlane; ROW_PLANES]; CLASS_LIMIT],
    ) -> [usize; CLASS_LIMIT] {
        let mut counts = [0; CLASS_LIMIT];
        let (steps, last) = rows.as_chunks::<STEP>();
        let (step_tags, last_tags) = tags.split_at_mut(steps.len() * STEP / 2);
        for (step, tags) in steps.iter().zip(step_tags.as_chunks_mut().0) {
            let [low, middle, high, classes] = bytes_of(step);
            store_tags(classes, tags);
            let bytes = [high, middle, low];
            for (class, (count, planes)) in (0_i8..).zip(counts.iter_mut().zip(planes.iter_mut())) {
                let of_class = _mm512_cmpeq_epi8_mask(classes, _mm512_set1_epi8(class));
                for (plane, (bytes, wide)) in planes.iter_mut().zip(bytes.into_iter().zip(wide)) {
                    if wide >> class & 1 == 1 {
                        let together = _mm512_maskz_compress_epi8(of_class, bytes);
                        store(together, &mut plane[*count..][..VECTOR_BYTES]);
                    }
                }
                *count += of_class.count_ones() as usize;
            }
        }
        deal(last, counts, last_tags, planes)
    }

    /// The first bytes of all rows of a step, the second ones, and so on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn bytes_of(rows: &[u32; STEP]) -> [__m512i; 4] {
        // SAFETY: the array is 64 bytes long.
        let apart = unsafe { _mm512_loadu_si512(APART.as_ptr().cast()) };
        let (vectors, _) = rows.as_chunks::<16>();
        let of = |index: usize| {
            // SAFETY: the array is 64 bytes long.
            let rows = unsafe { _mm512_loadu_si512(vectors[index].as_ptr().cast()) };
            _mm512_permutexvar_epi8(apart, rows)
        };
        let [a, b, c, d] = [of(0), of(1), of(2), of(3)];
        // Each has a quarter of each result.
        let (low_ab, low_cd) = (
            _mm512_shuffle_i64x2::<0x44>(a, b),
            _mm512_shuffle_i64x2::<0x44>(c, d),
        );
        let (high_ab, high_cd) = (
            _mm512_shuffle_i64x2::<0xee>(a, b),
            _mm512_shuffle_i64x2::<0xee>(c, d),
        );
        [
            _mm512_shuffle_i64x2::<0x88>(low_ab, low_cd),
            _mm512_shuffle_i64x2::<0xdd>(low_ab, low_cd),
            _mm512_shuffle_i64x2::<0x88>(high_ab, high_cd),
            _mm512_shuffle_i64x2::<0xdd>(high_ab, high_cd),
        ]
    }

    /// Two classes become a byte.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn store_tags(classes: __m512i, tags: &mut [u8; STEP / 2]) {
        let pairs = _mm512_maddubs_epi16(classes, _mm512_set1_epi16(0x1001));
        let bytes = _mm512_cvtepi16_epi8(pairs);
        // SAFETY: the array is 32 bytes long.
        unsafe { _mm256_storeu_si256(tags.as_mut_ptr().cast(), bytes) };
    }

    /// `out` is a vector long.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(bytes: __m512i, out: &mut [u8]) {
        let out: &mut [u8] = &mut out[..VECTOR_BYTES];
        // SAFETY: the slice is 64 bytes long.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CLASS_PLANE_BYTES, ROW_PLANES, forms};
    use crate::format::CLASS_LIMIT;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            rows in proptest::collection::vec((0_u32..16, any::<u32>()), 0..500), one_class: bool, wide: [u16; ROW_PLANES],
        ) {
            let class_of = |class: u32| if one_class { 15 } else { class };
            let rows: Vec<u32> = rows.iter().map(|&(class, bytes)| class_of(class) << 24 | bytes & 0xff_ffff).collect();
            let tags: Vec<u8> = rows.chunks(2).map(|pair| (pair[0] >> 24 | pair.get(1).map_or(0, |row| row >> 24) << 4) as u8).collect();
            for form in forms() {
                let mut planes = vec![0xa5; CLASS_LIMIT * ROW_PLANES * CLASS_PLANE_BYTES];
                let (of_planes, _) = planes.as_chunks_mut::<CLASS_PLANE_BYTES>();
                let (of_classes, _) = of_planes.as_chunks_mut::<ROW_PLANES>();
                let of_classes = of_classes.first_chunk_mut().expect("as many as there are classes");
                let mut seen_tags = vec![0xa5; tags.len()];
                let counts = (form.function)(&rows, wide, &mut seen_tags, of_classes);
                prop_assert_eq!(&seen_tags, &tags, "{}", form.features);
                for (class, (planes, count)) in (0..).zip(of_classes.iter().zip(counts)) {
                    let of_class: Vec<u32> = rows.iter().copied().filter(|row| row >> 24 == class).collect();
                    prop_assert_eq!(count, of_class.len(), "{}", form.features);
                    for (shift, (plane, wide)) in [16, 8, 0].into_iter().zip(planes.iter().zip(wide)) {
                        let expected: Vec<u8> = of_class.iter().map(|row| (row >> shift) as u8).collect();
                        let is_kept = wide >> class & 1 == 1;
                        prop_assert!(!is_kept || plane[..count] == expected[..], "{}", form.features);
                    }
                }
            }
        }
    }
}
