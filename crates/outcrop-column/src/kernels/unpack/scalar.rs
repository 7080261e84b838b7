//! The plain implementation. Its body is also compiled with wider vectors by `x86`, since its loops have
//! the shape that the compiler turns into vector code.

use crate::planes::{plane_bytes, plane_widths};

/// Integers unpacked at a time: their 4 KiB stay in the first-level cache while the planes are added one by one.
const STEP: usize = if cfg!(miri) { 64 } else { 1024 };

pub(super) fn unpack(planes: &[u8], width: u8, part: (usize, usize), base: u32, out: &mut [u32]) {
    body(planes, width, part, base, out);
}

#[inline(always)]
pub(super) fn body(planes: &[u8], width: u8, (count, first): (usize, usize), base: u32, out: &mut [u32]) {
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
pub(super) fn single(planes: &[u8], width: u8, count: usize, index: usize) -> u32 {
    let (mut value, mut start) = (0, 0);
    for bits in plane_widths(width) {
        let bit = index * usize::from(bits);
        let byte = u32::from(planes[start + bit / 8]);
        value = value << bits | (byte >> (bit % 8)) & ((1 << bits) - 1);
        start += plane_bytes(count, bits);
    }
    value
}
