//! How the keys of a store are written.

use crate::keyed::{mixgraph, ycsb};

/// From the number of a key to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyNames {
    /// `user` and a hash in decimal, so that the order of keys is unlike the order of inserts.
    Ycsb,
    /// 48 bytes in the order of the numbers, so that a range of keys lies together.
    Mixgraph,
}

impl KeyNames {
    /// Appends a key. *Cost*: about 50 ns for YCSB's.
    #[inline]
    pub fn write_key(self, key_id: u64, out: &mut Vec<u8>) {
        match self {
            Self::Ycsb => ycsb::write_key(key_id, out),
            Self::Mixgraph => mixgraph::write_key(key_id, out),
        }
    }

    /// The number of a key, as a scan gives keys; `None` where its bytes are a hash, or no key of this kind.
    pub fn key_id(self, key: &[u8]) -> Option<u64> {
        match self {
            Self::Ycsb => None,
            Self::Mixgraph => mixgraph::key_id(key),
        }
    }

    /// No key is longer.
    pub const fn longest_bytes(self) -> usize {
        match self {
            Self::Ycsb => "user".len() + 19,
            Self::Mixgraph => mixgraph::KEY_BYTES,
        }
    }
}
