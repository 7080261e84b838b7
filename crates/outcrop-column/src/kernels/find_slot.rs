//! Which of four keys of a cache line is the one looked for: the innermost step of encoding. It is
//! not dispatched, since a call through a pointer would cost as much as the step, and every x86-64
//! machine has the vectors that it uses.
//!
//! The keys stand at the start of the line and nothing of what follows them is loaded: a look at a line that
//! was just written to would otherwise wait for what is stored there now and then.

/// Bytes of a cache line, of a key, and of what is passed as one.
pub(crate) const LINE_BYTES: usize = 64;
pub(crate) const KEY_BYTES: usize = 12;
pub(crate) const PROBE_BYTES: usize = 16;

/// Keys of a line.
pub(crate) const LINE_KEYS: usize = 4;

/// Bit 4·i is set if key i of the line is the first twelve bytes of `probe`; all other bits are zero.
#[inline(always)]
pub(crate) fn find_slot(line: &[u8; LINE_BYTES], probe: &[u8; PROBE_BYTES]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    return sse2(line, probe);
    #[cfg(not(target_arch = "x86_64"))]
    scalar(line, probe)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn scalar(line: &[u8; LINE_BYTES], probe: &[u8; PROBE_BYTES]) -> u32 {
    let keys = line.as_chunks::<KEY_BYTES>().0;
    (0..).zip(&keys[..LINE_KEYS]).fold(0, |found, (index, key)| {
        found | u32::from(key[..] == probe[..KEY_BYTES]) << (4 * index)
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(
        unsafe_code,
        reason = "vector loads take raw pointers, and vector functions name the feature that they use"
    )]

    use std::arch::x86_64::*;

    use super::{LINE_BYTES, PROBE_BYTES};

    #[inline(always)]
    pub(super) fn sse2(line: &[u8; LINE_BYTES], probe: &[u8; PROBE_BYTES]) -> u32 {
        // SAFETY: every x86-64 machine has SSE2.
        unsafe { sse2_body(line, probe) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn sse2_body(line: &[u8; LINE_BYTES], probe: &[u8; PROBE_BYTES]) -> u32 {
        let probe = load(probe, 0);
        let equal = |start: usize| _mm_cmpeq_epi32(load(line, start), probe);
        // The last key ends where other content begins: it is loaded with the end of the key before it.
        let last = _mm_cmpeq_epi32(load(line, 32), _mm_slli_si128::<4>(probe));
        let halves = _mm_packs_epi16(
            _mm_packs_epi32(equal(0), equal(12)),
            _mm_packs_epi32(equal(24), _mm_srli_si128::<4>(last)),
        );
        // One bit for each four bytes; those of a key are the first three.
        let parts = _mm_movemask_epi8(halves).cast_unsigned();
        parts & parts >> 1 & parts >> 2 & 0x1111
    }

    /// Sixteen bytes from `start` on, which are there.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn load<const N: usize>(bytes: &[u8; N], start: usize) -> __m128i {
        let bytes: &[u8] = &bytes[start..start + 16];
        // SAFETY: the slice is 16 bytes long.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }
}

#[cfg(target_arch = "x86_64")]
use x86::sse2;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{KEY_BYTES, LINE_BYTES, PROBE_BYTES, find_slot, scalar};

    proptest! {
        #[test]
        fn the_vector_form_equals_the_naive_one(
            mut line in proptest::array::uniform32(0_u8..3).prop_map(|half| [half, half.map(|byte| byte ^ 1)].concat()),
            from in 0..4_usize, changed in proptest::option::of(0..PROBE_BYTES),
        ) {
            let mut probe = [9; PROBE_BYTES];
            probe[..KEY_BYTES].copy_from_slice(&line[KEY_BYTES * from..KEY_BYTES * (from + 1)]);
            if let Some(byte) = changed {
                probe[byte] ^= 2;
            }
            line[LINE_BYTES - 1] = 7;
            let line: [u8; LINE_BYTES] = line.first_chunk().copied().expect("two halves");
            prop_assert_eq!(find_slot(&line, &probe), scalar(&line, &probe));
            prop_assert_eq!(find_slot(&line, &probe) >> (4 * from) & 1 == 1, changed.is_none_or(|byte| byte >= KEY_BYTES));
        }
    }
}
