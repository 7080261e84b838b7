//! Which of four slots of a cache line holds a key: the innermost step of encoding. One function and no table of them, since a call
//! through a pointer would cost as much as the step; every x86-64 machine has the vectors that it uses.

/// Bytes of a cache line, of a slot in it, and of the key that a slot begins with.
pub(crate) const LINE_BYTES: usize = 64;
pub(crate) const SLOT_BYTES: usize = 16;
pub(crate) const KEY_BYTES: usize = 12;

/// Bit 4·i is set if slot i begins with the first twelve bytes of `key`; all other bits are zero.
#[inline(always)]
pub(crate) fn find_slot(line: &[u8; LINE_BYTES], key: &[u8; SLOT_BYTES]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    return sse2(line, key);
    #[cfg(not(target_arch = "x86_64"))]
    scalar(line, key)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn scalar(line: &[u8; LINE_BYTES], key: &[u8; SLOT_BYTES]) -> u32 {
    let slots = line.as_chunks::<SLOT_BYTES>().0;
    (0..).zip(slots).fold(0, |found, (index, slot)| {
        found | u32::from(slot[..KEY_BYTES] == key[..KEY_BYTES]) << (4 * index)
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(
        unsafe_code,
        reason = "vector loads take raw pointers, and vector functions name the feature that they use"
    )]

    use std::arch::x86_64::*;

    use super::{LINE_BYTES, SLOT_BYTES};

    #[inline(always)]
    pub(super) fn sse2(line: &[u8; LINE_BYTES], key: &[u8; SLOT_BYTES]) -> u32 {
        // SAFETY: every x86-64 machine has SSE2.
        unsafe { sse2_body(line, key) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn sse2_body(line: &[u8; LINE_BYTES], key: &[u8; SLOT_BYTES]) -> u32 {
        let slots = line.as_chunks::<SLOT_BYTES>().0;
        // SAFETY: the array is 16 bytes long.
        let load = |bytes: &[u8; SLOT_BYTES]| unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
        let key = load(key);
        let equal = |slot: usize| _mm_cmpeq_epi32(load(&slots[slot]), key);
        let halves = _mm_packs_epi16(
            _mm_packs_epi32(equal(0), equal(1)),
            _mm_packs_epi32(equal(2), equal(3)),
        );
        // One bit for each four bytes; those of a slot's key are the first three.
        let parts = _mm_movemask_epi8(halves).cast_unsigned();
        parts & parts >> 1 & parts >> 2 & 0x1111
    }
}

#[cfg(target_arch = "x86_64")]
use x86::sse2;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LINE_BYTES, SLOT_BYTES, find_slot, scalar};

    proptest! {
        #[test]
        fn the_vector_form_equals_the_naive_one(
            mut line in proptest::array::uniform32(0_u8..3).prop_map(|half| [half, half.map(|byte| byte ^ 1)].concat()),
            from in 0..4_usize, changed in proptest::option::of(0..SLOT_BYTES),
        ) {
            let mut key: [u8; SLOT_BYTES] = line[SLOT_BYTES * from..].first_chunk().copied().expect("a line has four");
            if let Some(byte) = changed {
                key[byte] ^= 2;
            }
            line[LINE_BYTES - 1] = 7;
            let line: [u8; LINE_BYTES] = line.first_chunk().copied().expect("two halves");
            prop_assert_eq!(find_slot(&line, &key), scalar(&line, &key));
            prop_assert_eq!(find_slot(&line, &key) >> (4 * from) & 1 == 1, changed.is_none_or(|byte| byte >= 12));
        }
    }
}
