//! The plain implementation. Its body is also compiled with wider vectors by `x86`, since its loops have the shape that the
//! compiler turns into vector code.

use crate::planes::{plane_bytes, plane_widths};

/// Integers packed at a time: they and their parts stay in the first-level cache for all planes.
const STEP: usize = if cfg!(miri) { 64 } else { 1024 };

pub(super) fn pack(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
    body(values, base, width, out);
}

#[inline(always)]
pub(super) fn body(values: &[u32], base: u32, width: u8, out: &mut [u8]) {
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
fn join_nibbles(parts: &[u8], out: &mut [u8]) {
    for (byte, pair) in out.iter_mut().zip(parts.as_chunks::<2>().0) {
        let pair = u16::from_le_bytes(*pair) & 0x0f0f;
        *byte = (pair | pair >> 4) as u8;
    }
}

#[inline(always)]
fn join_pairs(parts: &[u8], out: &mut [u8]) {
    for (byte, four) in out.iter_mut().zip(parts.as_chunks::<4>().0) {
        let four = u32::from_le_bytes(*four) & 0x0303_0303;
        *byte = (four | four >> 6 | four >> 12 | four >> 18) as u8;
    }
}

#[inline(always)]
fn join_bits(parts: &[u8], out: &mut [u8]) {
    for (byte, eight) in out.iter_mut().zip(parts.as_chunks::<8>().0) {
        let eight = u64::from_le_bytes(*eight) & 0x0101_0101_0101_0101;
        // The product gathers bit 0 of byte i at bit 56 + i.
        *byte = (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
}
