//! A value made ready for lookup: 12 bytes that are the value itself where it is short, and a hash.

pub(super) use crate::kernels::LONG;
use crate::kernels::{KEPT, LOAD_BYTES, SHORT_BYTES, hash, padded, short_key};

/// Last byte of the key of null.
pub(super) const NULL: u8 = LONG - 1;

/// A value made ready for lookup.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Key {
    /// Twelve bytes, little-endian, of which these are the first eight: eleven of a short value, zeros behind
    /// it, or four zeros and seven of the hash of a long one; then the mark.
    pub(super) low: u64,
    pub(super) high: u32,
    pub(super) hash: u64,
}

impl Key {
    /// The key of `value`.
    #[inline]
    pub(crate) fn of(value: &[u8]) -> Self {
        Self::within(value, 0, value.len())
    }

    /// The key of `text[start..end]`. Where 16 bytes follow `start`, a short value costs one
    /// load and no branch on its length.
    #[inline(always)]
    pub(crate) fn within(text: &[u8], start: usize, end: usize) -> Self {
        let length = end - start;
        if length > SHORT_BYTES {
            return Self::of_bits(long_bits(&text[start..end]));
        }
        let (low, high) = short_key(text, start, end);
        Self::hashed(low, high)
    }

    /// The key of null.
    pub(crate) fn null() -> Self {
        Self::of_bits(u128::from(NULL) << (8 * SHORT_BYTES))
    }

    /// The key of the twelve bytes in the low bits of `bits`; the first four of a long value's do not count.
    #[inline]
    pub(super) fn of_bits(bits: u128) -> Self {
        let (mut low, high) = (bits as u64, (bits >> 64) as u32);
        if (high >> 24) as u8 == LONG {
            low &= !u64::from(u32::MAX);
        }
        Self::hashed(low, high)
    }

    #[inline(always)]
    fn hashed(low: u64, high: u32) -> Self {
        Self {
            low,
            high,
            hash: hash(low, high),
        }
    }

    /// The twelve bytes, in the low bits.
    #[cfg(test)]
    pub(super) fn bits(self) -> u128 {
        u128::from(self.low) | u128::from(self.high) << 64
    }

    /// Whether the value does not stand whole in its key.
    #[inline]
    pub(crate) fn is_long(self) -> bool {
        (self.high >> 24) as u8 == LONG
    }
}

/// 56 bits of hash and the mark; values of equal keys are compared byte by byte.
#[inline(never)]
fn long_bits(value: &[u8]) -> u128 {
    let mut words = [0x9e37_79b9_7f4a_7c15 ^ value.len() as u64, 0xbf58_476d_1ce4_e5b9];
    let mut mix = |chunk: u128| {
        let (low, high) = (chunk as u64, (chunk >> 64) as u64);
        words[0] = fold(words[0] ^ low, 0xa076_1d64_78bd_642f ^ high);
        words[1] = fold(words[1] ^ high, 0xe703_7ed1_a0b4_28db ^ low);
    };
    let (chunks, rest) = value.as_chunks();
    chunks.iter().for_each(|chunk| mix(u128::from_le_bytes(*chunk)));
    mix(padded(rest));
    let hash = u128::from(words[0]) | u128::from(words[1]) << 64;
    hash & KEPT[SHORT_BYTES] | u128::from(LONG) << (8 * SHORT_BYTES)
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// A number that sorts as `value` does among short values, and puts long ones behind the short ones
/// that begin like them: eleven bytes, most significant first, then the mark. Long values with equal
/// numbers need a look at the rest.
pub(super) fn sort_key(value: &[u8]) -> u128 {
    let mark = match value.len() {
        length @ 0..=SHORT_BYTES => length as u8 + 1,
        _ => LONG,
    };
    let first =
        padded(&value[..value.len().min(SHORT_BYTES)]).swap_bytes() >> (8 * (LOAD_BYTES - SHORT_BYTES));
    first << 8 | u128::from(mark)
}

/// The [`sort_key`] of the short value with these key bits.
pub(super) fn sort_key_of_bits(bits: u128) -> u128 {
    let mark = bits >> (8 * SHORT_BYTES);
    let first = (bits & KEPT[SHORT_BYTES]).swap_bytes() >> (8 * (LOAD_BYTES - SHORT_BYTES));
    first << 8 | mark
}

/// The value of the sort key of a short value: its bytes, of which `length` count; `None` for a long one.
pub(super) fn short_value(sort_key: u128) -> Option<([u8; LOAD_BYTES], usize)> {
    let length = (sort_key as u8).checked_sub(1).map(usize::from)?;
    let bytes = (sort_key << (8 * (LOAD_BYTES - SHORT_BYTES - 1))).to_be_bytes();
    (length <= SHORT_BYTES).then_some((bytes, length))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::{Key, SHORT_BYTES, short_value, sort_key, sort_key_of_bits};

    fn near_values() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![Just(0_u8), Just(b'a'), Just(255), any::<u8>()], 0..20)
    }

    proptest! {
        #[test]
        fn sort_keys_order_values_and_leave_ties_to_long_ones_only(a in near_values(), b in near_values()) {
            match sort_key(&a).cmp(&sort_key(&b)) {
                Ordering::Equal => prop_assert!(a == b || a.len().min(b.len()) > SHORT_BYTES),
                order => prop_assert_eq!(order, a.cmp(&b)),
            }
            match short_value(sort_key(&a)) {
                Some((bytes, length)) => {
                    prop_assert_eq!(&bytes[..length], &a[..]);
                    prop_assert_eq!(sort_key_of_bits(Key::of(&a).bits()), sort_key(&a));
                }
                None => prop_assert!(a.len() > SHORT_BYTES),
            }
        }

        #[test]
        fn a_key_does_not_depend_on_what_follows_the_value(value in near_values(), after in near_values()) {
            let text = [value.clone(), after].concat();
            let (alone, within) = (Key::of(&value), Key::within(&text, 0, value.len()));
            prop_assert_eq!((alone.low, alone.high, alone.hash), (within.low, within.high, within.hash));
            prop_assert_eq!(alone.is_long(), value.len() > SHORT_BYTES);
            prop_assert!(alone.high != 0, "a free slot is zero");
        }
    }
}
