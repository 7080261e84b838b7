//! Bytes to planes of fewer bits: the rest of integers whose whole bytes are apart already.

use super::dispatch::kernel;
use super::pack::{join_bits, join_nibbles, join_pairs};
use crate::format::plane_bytes;

kernel! {
    /// The plane of those 4, 2 or 1 `bits` of each byte that stand above its lowest `shift` ones. `out` has
    /// exactly its bytes.
    fn pack_bytes(bytes: &[u8], shift: u8, bits: u8, out: &mut [u8]) {
        ["avx512f", "avx512bw", "avx512vl"] => plain,
        ["avx2"] => plain,
        _ => plain,
    }
}

/// Bytes packed at a time: they stay in the first-level cache.
const STEP: usize = if cfg!(miri) { 64 } else { 1024 };

/// Its loops have the shape that the compiler turns into vector code.
#[inline(always)]
fn plain(bytes: &[u8], shift: u8, bits: u8, out: &mut [u8]) {
    let mut parts = [0_u8; STEP];
    for (step, chunk) in bytes.chunks(STEP).enumerate() {
        for (part, byte) in parts.iter_mut().zip(chunk) {
            *part = byte >> (shift & 7);
        }
        // Parts of what an earlier chunk left beyond this one are never stored.
        parts[chunk.len()..].fill(0);
        let start = step * STEP * usize::from(bits) / 8;
        let plane = &mut out[start..start + plane_bytes(chunk.len(), bits)];
        match bits {
            4 => join_nibbles(&parts, plane),
            2 => join_pairs(&parts, plane),
            _ => join_bits(&parts, plane),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;
    use crate::format::plane_bytes;

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_BYTES: usize = if cfg!(miri) { 150 } else { 3000 };

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            bytes in proptest::collection::vec(any::<u8>(), 0..MOST_BYTES), log_bits in 0_u8..3, shift in 0_u8..8,
        ) {
            let bits = 1 << log_bits;
            let shift = shift.min(8 - bits);
            let mut expected = vec![0_u8; plane_bytes(bytes.len(), bits)];
            for (index, byte) in bytes.iter().enumerate() {
                let at = index * usize::from(bits);
                expected[at / 8] |= (byte >> shift & ((1 << bits) - 1)) << (at % 8);
            }
            for form in forms() {
                let mut out = vec![0xa5; expected.len()];
                (form.function)(&bytes, shift, bits, &mut out);
                prop_assert_eq!(&out, &expected, "{}", form.features);
            }
        }
    }
}
