//! What a verified write contains: sectors that say where they belong and in which pass they were written.
//!
//! ```text
//! offset  bytes  field of each 512-byte sector (little-endian)
//!      0      8  magic "outcropV"
//!      8      8  the run
//!     16      8  byte offset of the sector on the target
//!     24      4  generation: the pass that wrote it
//!     28      4  CRC-32 (IEEE) of bytes 0 to 27 and 32 to 511
//!     32    480  numbers that follow from run, offset and generation
//! ```

use crc32fast::Hasher;

/// Every supported request is a multiple of this.
pub(super) const SECTOR_BYTES: usize = 512;
const MAGIC: &[u8; 8] = b"outcropV";
const CHECKSUM: std::ops::Range<usize> = 28..32;

/// What a sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sector {
    pub(super) run: u64,
    pub(super) offset: u64,
    pub(super) generation: u32,
}

impl Sector {
    /// Its bytes; the same sector always has the same ones.
    pub(super) fn encode(&self, bytes: &mut [u8; SECTOR_BYTES]) {
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.run.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.generation.to_le_bytes());
        let mut word = mix(self.run ^ mix(self.offset ^ mix(u64::from(self.generation))));
        let (words, _) = bytes[CHECKSUM.end..].as_chunks_mut::<8>();
        for place in words {
            word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
            *place = mix(word).to_le_bytes();
        }
        let checksum = checksum(bytes);
        bytes[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    }

    /// What whole bytes say; `None` where magic or checksum is wrong.
    pub(super) fn decode(bytes: &[u8; SECTOR_BYTES]) -> Option<Self> {
        let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        let half = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        let is_whole = bytes.starts_with(MAGIC) && half(CHECKSUM.start)? == checksum(bytes);
        if !is_whole {
            return None;
        }
        Some(Self {
            run: word(8)?,
            offset: word(16)?,
            generation: half(24)?,
        })
    }
}

fn checksum(bytes: &[u8; SECTOR_BYTES]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&bytes[..CHECKSUM.start]);
    hasher.update(&bytes[CHECKSUM.end..]);
    hasher.finalize()
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(super) const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sector_reads_back_and_any_flipped_bit_is_noticed(
            run: u64, offset: u64, generation: u32, at in 0..SECTOR_BYTES, bit in 0_u8..8,
        ) {
            let sector = Sector { run, offset, generation };
            let mut bytes = [0; SECTOR_BYTES];
            sector.encode(&mut bytes);
            prop_assert_eq!(Sector::decode(&bytes), Some(sector));
            bytes[at] ^= 1 << bit;
            prop_assert_eq!(Sector::decode(&bytes), None);
        }
    }
}
