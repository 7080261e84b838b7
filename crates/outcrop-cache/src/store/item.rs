//! How one item lies in the arena: a header of 10 to 29 bytes, the key, the value.
//!
//! ```text
//! handle 4 | form 1 | key length 1 | accessed 3 | value length 1-4 | [flags 4] [expiry 4] [cas 8] | key | value
//! ```
//! What an item does not have takes no byte: most have neither flags nor CAS, many no expiry. Where nothing may be evicted, expiry
//! and CAS have their room from the start: a read that asks for a CAS value must not need more memory. All little-endian, unaligned.

use super::entries::Handle;

const WIDTH: u8 = 0b11;
const HAS_FLAGS: u8 = 1 << 2;
const HAS_EXPIRY: u8 = 1 << 3;
const HAS_CAS: u8 = 1 << 4;
const DEAD: u8 = 1 << 5;
const STALE: u8 = 1 << 6;
const WON: u8 = 1 << 7;
const FETCHED: u32 = 1 << 31;
const HAS_BINARY_KEY: u32 = 1 << 30;
const FORM_AT: usize = 4;
const ACCESSED_AT: usize = 6;
const FIXED_BYTES: usize = 9;

/// The longest key, as in memcached.
pub const MAX_KEY_BYTES: usize = 250;

/// The decoded header of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) handle: Handle,
    pub(crate) key_len: u8,
    pub(crate) value_len: u32,
    /// The client's own 32 bits.
    pub(crate) flags: u32,
    /// Second of the store's clock at which the item ends; 0 for never.
    pub(crate) expiry: u32,
    /// 0 until somebody asked for it.
    pub(crate) cas: u64,
    /// Second of the last access, modulo 2^24.
    pub(crate) accessed: u32,
    /// Read at least once since it was written.
    pub(crate) fetched: bool,
    /// Stored under a key that was given in base64.
    pub(crate) has_binary_key: bool,
    /// Marked by the meta protocol: may be served, ought to be refreshed.
    pub(crate) stale: bool,
    /// Some client was already told to refresh it.
    pub(crate) won: bool,
    /// Expiry and CAS value have their room, whether or not there are any.
    pub(crate) is_roomy: bool,
}

impl Header {
    const fn has_expiry_field(&self) -> bool {
        self.is_roomy || self.expiry != 0
    }

    const fn has_cas_field(&self) -> bool {
        self.is_roomy || self.cas != 0
    }

    pub(crate) fn header_len(&self) -> usize {
        FIXED_BYTES
            + value_width(self.value_len)
            + if self.flags != 0 { 4 } else { 0 }
            + if self.has_expiry_field() { 4 } else { 0 }
            + if self.has_cas_field() { 8 } else { 0 }
    }

    /// Bytes of the whole item.
    pub(crate) fn item_len(&self) -> usize {
        self.header_len() + usize::from(self.key_len) + self.value_len as usize
    }

    /// Writes the header at the start of `bytes`, which has at least [`Header::item_len`] bytes.
    pub(crate) fn write(&self, bytes: &mut [u8]) {
        let width = value_width(self.value_len);
        let mut form = (width - 1) as u8;
        let mut first = self.handle;
        first |= if self.fetched { FETCHED } else { 0 };
        first |= if self.has_binary_key { HAS_BINARY_KEY } else { 0 };
        bytes[..4].copy_from_slice(&first.to_le_bytes());
        bytes[5] = self.key_len;
        bytes[ACCESSED_AT..FIXED_BYTES].copy_from_slice(&self.accessed.to_le_bytes()[..3]);
        let mut at = FIXED_BYTES;
        bytes[at..at + width].copy_from_slice(&self.value_len.to_le_bytes()[..width]);
        at += width;
        for (bit, is_there, value) in [
            (HAS_FLAGS, self.flags != 0, self.flags),
            (HAS_EXPIRY, self.has_expiry_field(), self.expiry),
        ] {
            if is_there {
                form |= bit;
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
                at += 4;
            }
        }
        if self.has_cas_field() {
            form |= HAS_CAS;
            bytes[at..at + 8].copy_from_slice(&self.cas.to_le_bytes());
        }
        form |= if self.stale { STALE } else { 0 };
        form |= if self.won { WON } else { 0 };
        bytes[FORM_AT] = form;
    }

    /// Reads the header at the start of `bytes`.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let form = bytes[FORM_AT];
        let first = word(bytes, 0);
        let width = usize::from(form & WIDTH) + 1;
        let mut header = Self {
            // Handles stay below 2^28: a shard has not 4 GiB, an item not less than 27 bytes.
            handle: first & !(FETCHED | HAS_BINARY_KEY),
            key_len: bytes[5],
            // The byte above is the lowest of the value's length.
            accessed: word(bytes, ACCESSED_AT) & 0xFF_FFFF,
            value_len: short(&bytes[FIXED_BYTES..FIXED_BYTES + width]),
            fetched: first & FETCHED != 0,
            has_binary_key: first & HAS_BINARY_KEY != 0,
            stale: form & STALE != 0,
            won: form & WON != 0,
            is_roomy: form & (HAS_EXPIRY | HAS_CAS) == HAS_EXPIRY | HAS_CAS,
            ..Self::default()
        };
        let mut at = FIXED_BYTES + width;
        if form & HAS_FLAGS != 0 {
            header.flags = word(bytes, at);
            at += 4;
        }
        if form & HAS_EXPIRY != 0 {
            header.expiry = word(bytes, at);
            at += 4;
        }
        if form & HAS_CAS != 0 {
            header.cas = u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32;
        }
        header
    }
}

/// Marks the item at the start of `bytes` as no longer in use.
pub(crate) fn bury(bytes: &mut [u8]) {
    bytes[FORM_AT] |= DEAD;
}

pub(crate) fn is_dead(bytes: &[u8]) -> bool {
    bytes[FORM_AT] & DEAD != 0
}

/// True when the item at the start of `bytes` has this key.
#[inline]
pub(crate) fn has_key(bytes: &[u8], key: &[u8]) -> bool {
    if usize::from(bytes[5]) != key.len() {
        return false;
    }
    let form = bytes[FORM_AT];
    let extras = 4 * (form >> 2 & 1) + 4 * (form >> 3 & 1) + 8 * (form >> 4 & 1);
    let at = FIXED_BYTES + usize::from(form & WIDTH) + 1 + usize::from(extras);
    bytes.get(at..at + key.len()) == Some(key)
}

fn value_width(value_len: u32) -> usize {
    (4 - value_len.leading_zeros() as usize / 8).max(1)
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

#[inline]
fn short(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_header_reads_back_as_it_was_written(
            handle in 0_u32..1 << 28,
            key_len in 1_u8..=250,
            value_len in prop_oneof![0_u32..300, 65_000_u32..70_000, 16_777_000_u32..16_778_000],
            words in any::<[u32; 3]>(),
            cas in prop_oneof![Just(0_u64), any::<u64>()],
            extras in any::<[bool; 7]>(),
        ) {
            let header = Header {
                handle, key_len, value_len, cas,
                flags: if extras[0] { words[0] } else { 0 },
                expiry: if extras[1] { words[1] } else { 0 },
                accessed: words[2] & 0xFF_FFFF,
                fetched: extras[2], stale: extras[3], won: extras[4], has_binary_key: extras[5],
                is_roomy: extras[6],
            };
            // One that has both keeps the room for both.
            let is_roomy = header.is_roomy || header.expiry != 0 && header.cas != 0;
            let read_back = Header { is_roomy, ..header };
            let mut bytes = vec![0xAA; header.header_len() + usize::from(key_len)];
            let at = header.header_len();
            header.write(&mut bytes);
            prop_assert_eq!(Header::read(&bytes), read_back);
            bytes[at..].fill(b'k');
            let key = vec![b'k'; usize::from(key_len)];
            prop_assert!(has_key(&bytes, &key));
            prop_assert!(!has_key(&bytes, &key[1..]));
            prop_assert!(!is_dead(&bytes));
            bury(&mut bytes);
            prop_assert!(is_dead(&bytes));
            prop_assert_eq!(Header::read(&bytes).item_len(), header.item_len());
        }
    }
}
