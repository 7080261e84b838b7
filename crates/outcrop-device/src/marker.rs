//! The marker by which a scratch file is known to be ours: one 4 KiB block behind the measured bytes.
//!
//! ```text
//! offset  bytes  field (little-endian)
//!      0     16  magic "outcrop scratch\n"
//!     16      4  version, 1
//!     20      4  reserved, 0
//!     24     16  random id
//!     40      8  inode number: a copy of the file is not ours
//!     48      8  measured bytes, the offset of this block
//!     56      4  CRC-32 (IEEE) of bytes 0 to 55
//!     60   4036  zeros
//! ```

use crc32fast::hash;

/// Length of the marker, a multiple of every logical block size.
pub(crate) const MARKER_BYTES: u64 = 4096;
const MAGIC: &[u8; 16] = b"outcrop scratch\n";
const VERSION: u32 = 1;
const CHECKED: usize = 56;

/// What the marker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) id: [u8; 16],
    pub(crate) inode: u64,
    pub(crate) size_bytes: u64,
}

impl Marker {
    pub(crate) fn encode(&self) -> [u8; MARKER_BYTES as usize] {
        let mut block = [0; MARKER_BYTES as usize];
        block[..16].copy_from_slice(MAGIC);
        block[16..20].copy_from_slice(&VERSION.to_le_bytes());
        block[24..40].copy_from_slice(&self.id);
        block[40..48].copy_from_slice(&self.inode.to_le_bytes());
        block[48..56].copy_from_slice(&self.size_bytes.to_le_bytes());
        let checksum = hash(&block[..CHECKED]);
        block[CHECKED..60].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    /// `None` unless magic, version and checksum are right. Never panics, whatever the bytes.
    pub(crate) fn decode(block: &[u8]) -> Option<Self> {
        let checked = block.get(..CHECKED)?;
        let word = |at: usize| block.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        let half = |at: usize| block.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        let is_ours = checked.starts_with(MAGIC)
            && half(16)? == VERSION
            && half(CHECKED)? == hash(checked)
            && block.len() == MARKER_BYTES as usize;
        if !is_ours {
            return None;
        }
        Some(Self {
            id: block.get(24..40)?.try_into().ok()?,
            inode: word(40)?,
            size_bytes: word(48)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MARKER_BYTES, Marker};

    proptest! {
        #[test]
        fn a_marker_reads_back_as_it_was_written(id: [u8; 16], inode: u64, size_bytes: u64) {
            let marker = Marker { id, inode, size_bytes };
            prop_assert_eq!(Marker::decode(&marker.encode()), Some(marker));
        }

        #[test]
        fn a_flipped_bit_or_a_cut_end_is_not_a_marker(
            inode: u64, at in 0_usize..60, bit in 0_u8..8, cut in 0_usize..MARKER_BYTES as usize,
        ) {
            let whole = Marker { id: [7; 16], inode, size_bytes: 1 << 20 }.encode();
            let mut flipped = whole;
            flipped[at] ^= 1 << bit;
            // Bytes 20 to 23 are reserved, but under the checksum like the rest.
            prop_assert_eq!(Marker::decode(&flipped), None);
            prop_assert_eq!(Marker::decode(&whole[..cut]), None);
        }
    }
}
