//! Planes back to integers: the inner loop of every decode.

use super::dispatch::kernel;
use crate::format::{plane_bytes, plane_widths};

kernel! {
    /// Integer `first` + i of the vector of `count` integers of `width` bits, plus `base` modulo 2^32, goes
    /// to `out[i]`; `part` is `(count, first)`. `planes` has exactly the bytes of that vector. `first` is a
    /// multiple of eight: every eighth integer begins at a byte in each plane.
    fn unpack(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
        ["avx512f", "avx512bw", "avx512vl"] => plain,
        ["avx2"] => x86::avx2,
        _ => plain,
    }
}

/// Integers unpacked at a time: their 4 KiB stay in the first-level cache while planes are added one by one.
const STEP: usize = if cfg!(miri) { 64 } else { 1024 };

/// Its loops have the shape that the compiler turns into vector code.
#[inline(always)]
fn plain(planes: &[u8], width: u8, (count, first): (usize, usize), base: u32, out: &mut [u32]) {
    for (step, chunk) in out.chunks_mut(STEP).enumerate() {
        let (mut plane_start, mut bits_left) = (0, width);
        for bits in plane_widths(width) {
            let start = plane_start + (first + step * STEP) * usize::from(bits) / 8;
            let bytes = &planes[start..start + plane_bytes(chunk.len(), bits)];
            let is_first = plane_start == 0;
            bits_left -= bits;
            let base = if bits_left == 0 { base } else { 0 };
            if is_first && bits != 8 {
                chunk.fill(0);
            }
            match bits {
                8 if is_first => set_bytes(bytes, base, chunk),
                8 => add_bytes(bytes, base, chunk),
                4 => add_parts::<2, 4>(bytes, base, chunk),
                2 => add_parts::<4, 2>(bytes, base, chunk),
                _ => add_parts::<8, 1>(bytes, base, chunk),
            }
            plane_start += plane_bytes(count, bits);
        }
        if width == 0 {
            chunk.fill(base);
        }
    }
}

#[inline(always)]
fn set_bytes(bytes: &[u8], base: u32, out: &mut [u32]) {
    for (value, &byte) in out.iter_mut().zip(bytes) {
        *value = u32::from(byte).wrapping_add(base);
    }
}

#[inline(always)]
fn add_bytes(bytes: &[u8], base: u32, out: &mut [u32]) {
    for (value, &byte) in out.iter_mut().zip(bytes) {
        *value = (*value << 8 | u32::from(byte)).wrapping_add(base);
    }
}

#[inline(always)]
fn add_parts<const PER_BYTE: usize, const BITS: usize>(bytes: &[u8], base: u32, out: &mut [u32]) {
    let mask = (1_u32 << BITS) - 1;
    let (groups, rest) = out.as_chunks_mut::<PER_BYTE>();
    for (group, &byte) in groups.iter_mut().zip(bytes) {
        for (index, value) in group.iter_mut().enumerate() {
            *value = (*value << BITS | (u32::from(byte) >> (BITS * index)) & mask).wrapping_add(base);
        }
    }
    if let Some(&byte) = bytes.get(groups.len()) {
        for (index, value) in rest.iter_mut().enumerate() {
            *value = (*value << BITS | (u32::from(byte) >> (BITS * index)) & mask).wrapping_add(base);
        }
    }
}

/// Integer `index` of `count`.
fn single(planes: &[u8], width: u8, count: usize, index: usize) -> u32 {
    let (mut value, mut start) = (0, 0);
    for bits in plane_widths(width) {
        let bit = index * usize::from(bits);
        let byte = u32::from(planes[start + bit / 8]);
        value = value << bits | (byte >> (bit % 8)) & ((1 << bits) - 1);
        start += plane_bytes(count, bits);
    }
    value
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "vector stores take raw pointers")]

    use std::arch::x86_64::*;

    use super::single;
    use crate::format::plane_bytes;

    /// Integers of a step.
    const STEP: usize = 8;

    /// Eight integers a step; bytes are widened, and the integers of a narrower plane are all shifted out
    /// of one broadcast word at once.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
        match width / 8 {
            0 => of_whole::<0>(planes, width, part, base, out),
            1 => of_whole::<1>(planes, width, part, base, out),
            2 => of_whole::<2>(planes, width, part, base, out),
            3 => of_whole::<3>(planes, width, part, base, out),
            _ => steps::<4, 0>(planes, width, part, base, out),
        }
    }

    #[target_feature(enable = "avx2")]
    fn of_whole<const WHOLE: usize>(
        planes: &[u8],
        width: u8,
        part: (usize, usize),
        base: u32,
        out: &mut [u32],
    ) {
        match width % 8 {
            0 => steps::<WHOLE, 0>(planes, width, part, base, out),
            1 => steps::<WHOLE, 1>(planes, width, part, base, out),
            2 => steps::<WHOLE, 2>(planes, width, part, base, out),
            3 => steps::<WHOLE, 3>(planes, width, part, base, out),
            4 => steps::<WHOLE, 4>(planes, width, part, base, out),
            5 => steps::<WHOLE, 5>(planes, width, part, base, out),
            6 => steps::<WHOLE, 6>(planes, width, part, base, out),
            _ => steps::<WHOLE, 7>(planes, width, part, base, out),
        }
    }

    /// Integers of `WHOLE` planes of bytes and the planes of 4, 2 and 1 bits whose bits are set in `REST`.
    #[target_feature(enable = "avx2")]
    fn steps<const WHOLE: usize, const REST: usize>(
        planes: &[u8],
        width: u8,
        part: (usize, usize),
        base: u32,
        out: &mut [u32],
    ) {
        let (count, first) = part;
        let whole: [&[[u8; 8]]; WHOLE] =
            std::array::from_fn(|plane| planes[plane * count + first..(plane + 1) * count].as_chunks().0);
        let mut rest = &planes[WHOLE * count..];
        let mut next = |bits: u8| {
            let bits = bits & REST as u8;
            let (plane, after) = rest.split_at(plane_bytes(count, bits));
            rest = after;
            &plane[plane_bytes(first, bits)..]
        };
        let (fours, twos, ones) = (next(4).as_chunks::<4>().0, next(2).as_chunks::<2>().0, next(1));
        let base_of_all = _mm256_set1_epi32(base.cast_signed());
        let eight = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let (steps, last) = out.as_chunks_mut::<STEP>();
        let done = steps.len() * STEP;
        for (index, step) in steps.iter_mut().enumerate() {
            let mut values = _mm256_setzero_si256();
            for plane in whole {
                let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(plane[index]));
                values = _mm256_or_si256(_mm256_slli_epi32::<8>(values), _mm256_cvtepu8_epi32(bytes));
            }
            // Every lane gets all parts of the step, and shifts its own to the end.
            if REST & 4 != 0 {
                let parts = _mm256_set1_epi32(i32::from_le_bytes(fours[index]));
                let parts = _mm256_srlv_epi32(parts, _mm256_slli_epi32::<2>(eight));
                let parts = _mm256_and_si256(parts, _mm256_set1_epi32(15));
                values = _mm256_or_si256(_mm256_slli_epi32::<4>(values), parts);
            }
            if REST & 2 != 0 {
                let parts = _mm256_set1_epi32(i32::from(u16::from_le_bytes(twos[index])));
                let parts = _mm256_srlv_epi32(parts, _mm256_slli_epi32::<1>(eight));
                let parts = _mm256_and_si256(parts, _mm256_set1_epi32(3));
                values = _mm256_or_si256(_mm256_slli_epi32::<2>(values), parts);
            }
            if REST & 1 != 0 {
                let parts = _mm256_srlv_epi32(_mm256_set1_epi32(i32::from(ones[index])), eight);
                let parts = _mm256_and_si256(parts, _mm256_set1_epi32(1));
                values = _mm256_or_si256(_mm256_slli_epi32::<1>(values), parts);
            }
            let values = _mm256_add_epi32(values, base_of_all);
            // SAFETY: the array is 32 bytes long.
            unsafe { _mm256_storeu_si256(step.as_mut_ptr().cast(), values) };
        }
        for (index, value) in (done..).zip(last) {
            *value = single(planes, width, count, first + index).wrapping_add(base);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;
    use crate::format::packed_bytes;
    use crate::kernels::pack;

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_VALUES: usize = if cfg!(miri) { 150 } else { 3000 };

    proptest! {
        #[test]
        fn every_implementation_gives_back_what_was_packed(
            values in proptest::collection::vec(any::<u32>(), 0..MOST_VALUES), width in 0_u8..=32, base: u32, first: usize, length: usize,
        ) {
            let values: Vec<u32> = values.iter().map(|value| (u64::from(*value) & ((1 << width) - 1)) as u32).collect();
            let mut bytes = vec![0; packed_bytes(values.len(), width)];
            pack(&values, 0, width, &mut bytes);
            let first = first % (values.len() + 1) / 8 * 8;
            let part = &values[first..][..length % (values.len() - first + 1)];
            for form in forms() {
                for (first, part) in [(0, &values[..]), (first, part)] {
                    let mut out = vec![u32::MAX; part.len()];
                    (form.function)(&bytes, width, (values.len(), first), base, &mut out);
                    let expected: Vec<u32> = part.iter().map(|value| value.wrapping_add(base)).collect();
                    prop_assert_eq!(&out, &expected, "{}", form.features);
                }
            }
        }
    }
}
