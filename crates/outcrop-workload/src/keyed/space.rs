//! The keys of a workload: number to text, and how long each key's value is.

use std::fmt;

use super::sizes::{KeySize, MAX_KEY_BYTES, SizeQuantile, SizeTable, ValueSize};
use crate::error::WorkloadError;

/// Every generated key starts with this, so that a user can tell them from his own.
pub const KEY_PREFIX: &str = "oc-";

/// Six bits a digit; none of them means anything in memcached's, Redis's or HTTP's syntax.
const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// The keys `0..key_count`, their lengths and the lengths of their values.
///
/// A key is [`KEY_PREFIX`], its number in fixed width (so that keys differ), and filling up to its length. Key 0 is
/// the most popular one. Lengths are functions of the number alone.
#[derive(Clone)]
pub struct KeySpace {
    key_count: u64,
    digit_count: usize,
    key_sizes: SizeTable,
    value_sizes: SizeTable,
    filling: [u8; MAX_KEY_BYTES],
    longest_value_bytes: usize,
}

impl KeySpace {
    /// The most keys that a space can have: their numbers then take eight digits.
    pub const MAX_KEYS: u64 = 1 << 48;

    /// `key_count` keys with these lengths. *Cost*: two tables of 64 KiB.
    ///
    /// # Errors
    /// No key, too many, or a fixed key length that cannot tell this many keys apart.
    pub fn new(key_count: u64, key_size: KeySize, value_size: ValueSize) -> Result<Self, WorkloadError> {
        let out_of_range = |why: String| WorkloadError::OutOfRange {
            what: "number of keys",
            seen: key_count.to_string(),
            why,
        };
        if key_count == 0 || key_count > Self::MAX_KEYS {
            return Err(out_of_range(format!("expected 1 to {} keys", Self::MAX_KEYS)));
        }
        let bits = u64::BITS - (key_count - 1).leading_zeros();
        let digit_count = bits.div_ceil(6).max(1) as usize;
        let shortest = KEY_PREFIX.len() + digit_count;
        if let KeySize::Fixed(size) = key_size
            && size.0 < shortest as u64
        {
            return Err(out_of_range(format!(
                "expected a key size of {shortest} bytes or more for this many distinct keys, not {size}"
            )));
        }
        let max_value = value_size.longest_bytes();
        Ok(Self {
            key_count,
            digit_count,
            key_sizes: SizeTable::new(SizeQuantile::Key(key_size), "key size", MAX_KEY_BYTES as u32),
            value_sizes: SizeTable::new(SizeQuantile::Value(value_size), "value size", max_value),
            filling: std::array::from_fn(|index| DIGITS[(index * 37 + 11) % 62]),
            longest_value_bytes: max_value as usize,
        })
    }

    /// How many keys there are.
    pub const fn key_count(&self) -> u64 {
        self.key_count
    }

    /// No value is longer than this.
    pub const fn longest_value_bytes(&self) -> usize {
        self.longest_value_bytes
    }

    /// The length of a key; at least what its number takes.
    #[inline]
    pub fn key_size_bytes(&self, key_id: u64) -> usize {
        self.key_sizes
            .size_bytes(key_id)
            .max(KEY_PREFIX.len() + self.digit_count)
    }

    /// The length of a key's value.
    #[inline]
    pub fn value_size_bytes(&self, key_id: u64) -> usize {
        self.value_sizes.size_bytes(key_id)
    }

    /// Appends a key.
    #[inline]
    pub fn write_key(&self, key_id: u64, out: &mut Vec<u8>) {
        debug_assert!(key_id < self.key_count);
        let size = self.key_size_bytes(key_id);
        let start = out.len();
        out.extend_from_slice(&self.filling[..size]);
        let key = &mut out[start..];
        key[..KEY_PREFIX.len()].copy_from_slice(KEY_PREFIX.as_bytes());
        let mut rest = key_id;
        for digit in key[KEY_PREFIX.len()..KEY_PREFIX.len() + self.digit_count]
            .iter_mut()
            .rev()
        {
            *digit = DIGITS[(rest & 63) as usize];
            rest >>= 6;
        }
    }

    /// Bytes of all keys and values together: what a cache would hold, its own overhead apart.
    ///
    /// *Cost*: a few nanoseconds a key.
    pub fn payload_bytes(&self) -> u64 {
        (0..self.key_count)
            .map(|id| (self.key_size_bytes(id) + self.value_size_bytes(id)) as u64)
            .sum()
    }
}

impl fmt::Debug for KeySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySpace")
            .field("key_count", &self.key_count)
            .finish_non_exhaustive()
    }
}
