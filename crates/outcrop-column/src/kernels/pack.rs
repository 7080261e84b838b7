//! Integers to planes: the inner loop of every encode.

use super::dispatch::kernel;
use crate::format::{plane_bytes, plane_widths};

kernel! {
    /// The planes of `values[i] - base`, each less than 2^width. `out` has exactly their bytes.
    fn pack(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
        ["avx512f", "avx512bw", "avx512vl"] => plain,
        ["avx2"] => plain,
        _ => plain,
    }
}

/// Integers packed at a time: they and their parts stay in the first-level cache for all planes.
const STEP: usize = if cfg!(miri) { 64 } else { 1024 };

/// Its loops have the shape that the compiler turns into vector code.
#[inline(always)]
fn plain(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
    let mut parts = [0_u8; STEP];
    for (step, chunk) in values.chunks(STEP).enumerate() {
        let (mut shift, mut plane_start) = (width, 0);
        for bits in plane_widths(width) {
            shift -= bits;
            let start = plane_start + step * STEP * usize::from(bits) / 8;
            let plane = &mut out[start..start + plane_bytes(chunk.len(), bits)];
            if bits == 8 {
                take_bytes(chunk, base, shift, plane);
            } else {
                // Parts of what an earlier chunk left beyond this one are never stored.
                take_bytes(chunk, base, shift, &mut parts[..chunk.len()]);
                parts[chunk.len()..].fill(0);
                match bits {
                    4 => join_nibbles(&parts, plane),
                    2 => join_pairs(&parts, plane),
                    _ => join_bits(&parts, plane),
                }
            }
            plane_start += plane_bytes(values.len(), bits);
        }
    }
}

#[inline(always)]
fn take_bytes(values: &[u32], base: u32, shift: u8, out: &mut [u8]) {
    for (byte, value) in out.iter_mut().zip(values) {
        *byte = (value.wrapping_sub(base) >> shift) as u8;
    }
}

#[inline(always)]
pub(super) fn join_nibbles(parts: &[u8], out: &mut [u8]) {
    for (byte, pair) in out.iter_mut().zip(parts.as_chunks::<2>().0) {
        let pair = u16::from_le_bytes(*pair) & 0x0f0f;
        *byte = (pair | pair >> 4) as u8;
    }
}

#[inline(always)]
pub(super) fn join_pairs(parts: &[u8], out: &mut [u8]) {
    for (byte, four) in out.iter_mut().zip(parts.as_chunks::<4>().0) {
        let four = u32::from_le_bytes(*four) & 0x0303_0303;
        *byte = (four | four >> 6 | four >> 12 | four >> 18) as u8;
    }
}

#[inline(always)]
pub(super) fn join_bits(parts: &[u8], out: &mut [u8]) {
    for (byte, eight) in out.iter_mut().zip(parts.as_chunks::<8>().0) {
        let eight = u64::from_le_bytes(*eight) & 0x0101_0101_0101_0101;
        // The product gathers bit 0 of byte i at bit 56 + i.
        *byte = (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;
    use crate::format::{packed_bytes, plane_bytes, plane_widths};

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_VALUES: usize = if cfg!(miri) { 150 } else { 3000 };

    /// Bit by bit, as the specification says it.
    fn naive(values: &[u32], width: u8) -> Vec<u8> {
        let (mut out, mut shift) = (Vec::new(), width);
        for bits in plane_widths(width) {
            shift -= bits;
            let mut plane = vec![0_u8; plane_bytes(values.len(), bits)];
            for (index, value) in values.iter().enumerate() {
                for bit in 0..bits {
                    let at = index * usize::from(bits) + usize::from(bit);
                    plane[at / 8] |= ((value >> (shift + bit) & 1) as u8) << (at % 8);
                }
            }
            out.append(&mut plane);
        }
        out
    }

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            values in proptest::collection::vec(any::<u32>(), 0..MOST_VALUES), width in 0_u8..=32, base: u32,
        ) {
            let relative: Vec<u32> = values.iter().map(|value| (u64::from(*value) & ((1 << width) - 1)) as u32).collect();
            let base = base & !(((1_u64 << width) - 1) as u32);
            let values: Vec<u32> = relative.iter().map(|value| base + value).collect();
            let expected = naive(&relative, width);
            for form in forms() {
                let mut out = vec![0xa5; packed_bytes(values.len(), width)];
                (form.function)(&values, base, width, &mut out);
                prop_assert_eq!(&out, &expected, "{}", form.features);
            }
        }
    }
}
