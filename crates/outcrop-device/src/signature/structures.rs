//! Signatures that are short, or whose place has to be worked out: each with enough of its structure not to occur among random bytes.
//!
//! *Source*: the probes of libblkid (util-linux), and the structures of the kernel that they read.

use super::Sample;
use super::magics::{BEFORE_PAGE_END, PAGES_BYTES, PROMISE, PROMISE_SECTORS, SWAP};

/// The labels of ZFS, of which two are at the start and two at the end.
const ZFS_LABEL_BYTES: u64 = 256 << 10;
/// The uberblocks of a label: its second half, one per KiB at least.
const UBERBLOCKS: std::ops::Range<u64> = 128 << 10..256 << 10;
const UBERBLOCK: u64 = 0x00ba_b10c;
/// The magic number of Linux RAID superblocks.
const RAID: u32 = 0xa92b_4efc;
/// The magic number of a record in the log of an XFS, of which one begins in the first sectors.
const XFS_LOG: &[u8] = b"\xfe\xed\xba\xbe";
const XFS_LOG_SEARCHED: u64 = 256 * 512;

type Check = fn(&Sample) -> bool;
const CHECKS: [(Check, &str); 12] = [
    (Sample::is_ext, "an ext2, ext3 or ext4 filesystem"),
    (Sample::is_raid, "a member of a Linux RAID"),
    (Sample::is_zfs, "a member of a ZFS pool"),
    (Sample::is_minix, "a Minix filesystem"),
    (Sample::is_fat, "a FAT filesystem"),
    (Sample::is_hfs, "an HFS filesystem"),
    (Sample::is_xfs_log, "the log of an XFS filesystem"),
    (Sample::is_promise, "a member of a Promise RAID"),
    (Sample::is_via, "a member of a VIA RAID"),
    (Sample::is_sun_table, "a Sun partition table"),
    (Sample::is_apple_table, "an Apple partition table"),
    (Sample::is_dos_table, "a partition table"),
];

impl Sample {
    pub(super) fn structure(&self) -> Option<&'static str> {
        let checked = || CHECKS.iter().find(|(is_there, _)| is_there(self));
        self.swap().or_else(|| checked().map(|(_, what)| *what))
    }

    fn swap(&self) -> Option<&'static str> {
        let signed = |page: &u64| {
            let mut signatures = SWAP.iter();
            let signature = signatures.find(|(bytes, _)| self.has(page - BEFORE_PAGE_END, bytes));
            signature.map(|(_, what)| *what)
        };
        PAGES_BYTES.iter().find_map(signed)
    }

    fn u16(&self, at: u64, decode: fn([u8; 2]) -> u16) -> Option<u16> {
        Some(decode(self.bytes(at, 2)?.try_into().ok()?))
    }

    /// Two bytes occur among random ones, so the logarithm of the block size has to make sense too.
    fn is_ext(&self) -> bool {
        const LARGEST_BLOCK_LOG: u32 = 6;
        let block_log = self.bytes(0x418, 4).and_then(|bytes| bytes.try_into().ok());
        self.has(0x438, b"\x53\xef") && block_log.map(u32::from_le_bytes) <= Some(LARGEST_BLOCK_LOG)
    }

    fn is_raid(&self) -> bool {
        let size_bytes = self.size_bytes();
        // Version 0.90, then 1.0.
        let places = [
            (size_bytes & !0xffff).checked_sub(0x1_0000),
            size_bytes.checked_sub(8192).map(|at| at & !4095),
        ];
        let mut places = places.iter().flatten();
        places.any(|at| self.has(*at, &RAID.to_le_bytes()) || self.has(*at, &RAID.to_be_bytes()))
    }

    fn is_zfs(&self) -> bool {
        let whole = self.size_bytes() / ZFS_LABEL_BYTES * ZFS_LABEL_BYTES;
        let labels = [
            Some(0),
            Some(ZFS_LABEL_BYTES),
            whole.checked_sub(2 * ZFS_LABEL_BYTES),
            whole.checked_sub(ZFS_LABEL_BYTES),
        ];
        let is_uberblock =
            |at: u64| self.has(at, &UBERBLOCK.to_le_bytes()) || self.has(at, &UBERBLOCK.to_be_bytes());
        let has_uberblock = |label: u64| UBERBLOCKS.step_by(1024).any(|at| is_uberblock(label + at));
        labels.into_iter().flatten().any(has_uberblock)
    }

    /// The zones are of a power of two of blocks, and there is room for the maps of inodes and zones.
    fn is_minix(&self) -> bool {
        const SUPERBLOCK: u64 = 0x400;
        const LARGEST_ZONE_LOG: u16 = 6;
        const MAGICS: [u16; 4] = [0x137f, 0x138f, 0x2468, 0x2478];
        const MAGIC_OF_3: u16 = 0x4d5a;
        let in_order = |decode: fn([u8; 2]) -> u16| {
            let at = |at: u64| self.u16(SUPERBLOCK + at, decode);
            let is_older = at(16).is_some_and(|magic| MAGICS.contains(&magic));
            let (maps, zone_log) = match is_older {
                true => ([at(4), at(6)], at(10)),
                false => ([at(6), at(8)], at(12)),
            };
            (is_older || at(24) == Some(MAGIC_OF_3))
                && maps.iter().all(|blocks| blocks.is_some_and(|blocks| blocks != 0))
                && zone_log <= Some(LARGEST_ZONE_LOG)
        };
        in_order(u16::from_le_bytes) || in_order(u16::from_be_bytes)
    }

    /// By its parameters, since the words `FAT12` and so on are optional.
    fn is_fat(&self) -> bool {
        let Some(sector) = self.bytes(0, 512) else {
            return false;
        };
        let number = |at: usize| u16::from_le_bytes([sector[at], sector[at + 1]]);
        matches!(sector[0], 0xeb | 0xe9)
            && matches!(number(11), 512 | 1024 | 2048 | 4096)
            && sector[13].is_power_of_two()
            && number(14) != 0
            && matches!(sector[16], 1 | 2)
            && matches!(sector[21], 0xf0 | 0xf8..)
    }

    /// Its bitmap is in the third sector, and its blocks are whole sectors.
    fn is_hfs(&self) -> bool {
        let block_bytes = self.bytes(0x414, 4).and_then(|bytes| bytes.try_into().ok());
        let block_bytes = block_bytes.map_or(0, u32::from_be_bytes);
        self.has(0x400, b"BD")
            && self.u16(0x40e, u16::from_be_bytes) == Some(3)
            && block_bytes != 0
            && block_bytes.is_multiple_of(512)
    }

    fn is_xfs_log(&self) -> bool {
        let mut sectors = (0..XFS_LOG_SEARCHED).step_by(512);
        sectors.any(|at| self.has(at, XFS_LOG))
    }

    fn is_promise(&self) -> bool {
        let mut places = PROMISE_SECTORS
            .iter()
            .filter_map(|sectors| self.sector_from_end(*sectors));
        places.any(|at| self.has(at, PROMISE))
    }

    /// The sum of the first fifty bytes is the next.
    fn is_via(&self) -> bool {
        let last = self.sector_from_end(1).and_then(|at| self.bytes(at, 51));
        let Some([rest @ .., checksum]) = last else {
            return false;
        };
        let sum = rest.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        rest.starts_with(b"\x55\xaa") && rest[2] <= 2 && sum == *checksum
    }

    /// Where a sector begins that is so many before the end.
    fn sector_from_end(&self, sectors: u64) -> Option<u64> {
        (self.size_bytes() / 512)
            .checked_sub(sectors)
            .map(|sector| sector * 512)
    }

    /// All its words together are zero by exclusive or.
    fn is_sun_table(&self) -> bool {
        let Some(sector) = self.bytes(0, 512) else {
            return false;
        };
        let words = sector.chunks_exact(2);
        let parity = words.fold([0; 2], |parity, word| [parity[0] ^ word[0], parity[1] ^ word[1]]);
        sector[508..510] == [0xda, 0xbe] && parity == [0; 2]
    }

    /// The block size follows two letters.
    fn is_apple_table(&self) -> bool {
        let sizes = [512_u16, 1024, 2048, 4096];
        let block_bytes = self.u16(2, u16::from_be_bytes);
        self.has(0, b"ER") && block_bytes.is_some_and(|bytes| sizes.contains(&bytes))
    }

    /// Random bytes end in 55 AA once in 65 536 times, so the four entries have to make sense too.
    fn is_dos_table(&self) -> bool {
        let Some(sector) = self.bytes(0, 512) else {
            return false;
        };
        let entries = sector[446..510].chunks_exact(16);
        sector[510..] == [0x55, 0xaa]
            && entries.clone().all(|entry| matches!(entry[0], 0 | 0x80))
            && entries.clone().any(|entry| entry[4] != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sample;

    fn found(planted: &[(usize, &[u8])]) -> Option<&'static str> {
        let mut device = vec![0; 1 << 20];
        for (at, bytes) in planted {
            device[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        let sample = Sample {
            start: device.clone(),
            end: device,
            end_at: 0,
        };
        sample.structure()
    }

    #[test]
    fn a_short_signature_is_one_only_with_a_structure_that_makes_sense() {
        let minix: &[u8] = b"\xc0\x0a\0\x20\x01\0\x01\0\x5a\0\0\0\0\x1c\x08\x10\x8f\x13";
        let minix_3: &[u8] = b"\xb0\x0a\0\0\0\0\x01\0\x01\0\xaf\0\0\0\0\0\xff\xff\xff\x7f\0\x20\0\0\x5a\x4d";
        let fat: &[u8] = b"\xeb\x3c\x90mkfs.fat\0\x02\x04\x01\0\x02\0\x02\0\x50\xf8";
        let hfs: &[u8] = b"BD\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\x10\0";
        let sun: &[u8] = b"\x01\x02";
        let sun_end: &[u8] = b"\xda\xbe\xdb\xbc";
        let via = [&b"\x55\xaa\x01"[..], &[0; 47], &[0_u8]].concat();
        type Case<'a> = (&'a [(usize, &'a [u8])], Option<&'a str>);
        let cases: [Case<'_>; 11] = [
            (&[(0x400, minix)], Some("a Minix filesystem")),
            (&[(0x400, minix_3)], Some("a Minix filesystem")),
            (&[(0x410, b"\x8f\x13")], None),
            (&[(0, fat)], Some("a FAT filesystem")),
            (&[(0, &fat[..13])], None),
            (&[(0x400, hfs)], Some("an HFS filesystem")),
            (&[(0x400, b"BD")], None),
            (&[(0, sun), (508, sun_end)], Some("a Sun partition table")),
            (&[(508, sun_end)], None),
            (&[(0, b"ER\x02\0")], Some("an Apple partition table")),
            (&[((1 << 20) - 512, &via)], Some("a member of a VIA RAID")),
        ];
        for (planted, what) in cases {
            assert_eq!(found(planted), what, "{planted:?}");
        }
    }
}
