//! What is stored on a block device, by the signatures that filesystems, partition tables, volumes and swap leave.
//!
//! A device with any of them is refused as a target of writes. The list errs on the side of refusing: a signature of four bytes
//! or more is enough, without the checks by which a filesystem tells a whole superblock from a damaged one; shorter ones occur among
//! random bytes, and need a little more.
//!
//! *Source*: the probes of libblkid (util-linux), which are the kernel's on-disk formats.

use std::io;

/// Bytes at a fixed place, from the start or before the end.
struct Magic {
    /// Negative: that far before the end of the device.
    at: i64,
    bytes: &'static [u8],
    what: &'static str,
}

const fn magic(at: i64, bytes: &'static [u8], what: &'static str) -> Magic {
    Magic { at, bytes, what }
}

const MAGICS: &[Magic] = &[
    magic(0, b"XFSB", "an XFS filesystem"),
    magic(0x1_0040, b"_BHRfS_M", "a btrfs filesystem"),
    magic(0x400, b"\x10\x20\xf5\xf2", "an F2FS filesystem"),
    magic(0x1018, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca", "a bcache device"),
    magic(
        0x1018,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9",
        "a bcachefs filesystem",
    ),
    magic(3, b"NTFS    ", "an NTFS filesystem"),
    magic(3, b"EXFAT   ", "an exFAT filesystem"),
    magic(3, b"-FVE-FS-", "a BitLocker volume"),
    magic(54, b"FAT12   ", "a FAT filesystem"),
    magic(54, b"FAT16   ", "a FAT filesystem"),
    magic(82, b"FAT32   ", "a FAT filesystem"),
    magic(0x1_0034, b"ReIsEr", "a ReiserFS filesystem"),
    magic(0x8000, b"JFS1", "a JFS filesystem"),
    magic(0x8001, b"CD001", "an ISO 9660 filesystem"),
    magic(0x8001, b"BEA01", "a UDF filesystem"),
    magic(0x1_0000, b"\x01\x16\x19\x70", "a GFS2 filesystem"),
    magic(0x2000, b"OCFSV2", "an OCFS2 filesystem"),
    magic(0x400, b"H+\x00\x04", "an HFS+ filesystem"),
    magic(0x400, b"HX\x00\x05", "an HFS+ filesystem"),
    magic(32, b"NXSB", "an APFS container"),
    magic(0, b"hsqs", "a SquashFS filesystem"),
    magic(0x400, b"\xe2\xe1\xf5\xe0", "an EROFS filesystem"),
    magic(0, b"LUKS\xba\xbe", "a LUKS volume"),
    magic(0, b"dmvdo001", "a VDO volume"),
    magic(0, b"bluestore block device", "a Ceph OSD"),
    magic(32, b"ORCLDISK", "an Oracle ASM disk"),
    magic(0x18, b"LVM2 001", "an LVM physical volume"),
    magic(0x218, b"LVM2 001", "an LVM physical volume"),
    magic(0x418, b"LVM2 001", "an LVM physical volume"),
    magic(0x618, b"LVM2 001", "an LVM physical volume"),
    magic(0, b"\xfc\x4e\x2b\xa9", "a member of a Linux RAID"),
    magic(0x1000, b"\xfc\x4e\x2b\xa9", "a member of a Linux RAID"),
    magic(-1024, b"Intel Raid ISM", "a member of an Intel RAID"),
    magic(-512, b"\xde\x11\xde\x11", "a member of a DDF RAID"),
    magic(512, b"EFI PART", "a GPT partition table"),
    magic(4096, b"EFI PART", "a GPT partition table"),
    magic(-512, b"EFI PART", "the second copy of a GPT partition table"),
    magic(-4096, b"EFI PART", "the second copy of a GPT partition table"),
];

/// Swap's signature ends a page, whose size depends on the machine that made it.
const SWAP: [&[u8; 10]; 2] = [b"SWAPSPACE2", b"SWAP-SPACE"];
const PAGES_BYTES: [u64; 4] = [4096, 8192, 16_384, 65_536];
/// The uberblocks of ZFS: 128 KiB behind the first 128 KiB of a label, one per KiB at least.
const UBERBLOCKS: std::ops::Range<u64> = 128 << 10..256 << 10;
const UBERBLOCK: u64 = 0x00ba_b10c;
/// The magic number of Linux RAID superblocks.
const RAID: u32 = 0xa92b_4efc;
/// So much of the start and of the end is read.
const START_BYTES: u64 = 256 << 10;
const END_BYTES: u64 = 256 << 10;

/// Names what is stored on a device of `size_bytes`, if a signature tells; `read` fills a buffer from an offset.
///
/// # Errors
/// What `read` says.
pub(crate) fn find(
    size_bytes: u64,
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
) -> io::Result<Option<&'static str>> {
    let mut start = vec![0; START_BYTES.min(size_bytes) as usize];
    read(0, &mut start)?;
    let mut end = vec![0; END_BYTES.min(size_bytes) as usize];
    let end_at = size_bytes - end.len() as u64;
    read(end_at, &mut end)?;
    let device = Sample {
        start: &start,
        end: &end,
        end_at,
    };
    Ok(device.magic().or_else(|| device.others(size_bytes)))
}

/// The start and the end of a device.
struct Sample<'d> {
    start: &'d [u8],
    end: &'d [u8],
    end_at: u64,
}

impl Sample<'_> {
    fn bytes(&self, at: u64, length: usize) -> Option<&[u8]> {
        let part = match at.checked_sub(self.end_at) {
            Some(in_end) => self.end.get(in_end as usize..),
            None => self.start.get(at as usize..),
        };
        part?.get(..length)
    }

    fn has(&self, at: u64, bytes: &[u8]) -> bool {
        self.bytes(at, bytes.len()) == Some(bytes)
    }

    fn magic(&self) -> Option<&'static str> {
        let size_bytes = self.end_at + self.end.len() as u64;
        let is_there = |magic: &&Magic| {
            let at = match u64::try_from(magic.at) {
                Ok(at) => Some(at),
                Err(_) => size_bytes.checked_sub(magic.at.unsigned_abs()),
            };
            at.is_some_and(|at| self.has(at, magic.bytes))
        };
        MAGICS.iter().find(is_there).map(|magic| magic.what)
    }

    /// Those whose place has to be worked out.
    fn others(&self, size_bytes: u64) -> Option<&'static str> {
        let is_swap = PAGES_BYTES
            .iter()
            .any(|page| SWAP.iter().any(|magic| self.has(page - 10, *magic)));
        if is_swap {
            return Some("swap");
        }
        let raid_places = [
            // Version 0.90, then 1.0.
            (size_bytes & !0xffff).checked_sub(0x1_0000),
            size_bytes.checked_sub(8192).map(|at| at & !4095),
        ];
        let is_raid = |at: &u64| self.has(*at, &RAID.to_le_bytes()) || self.has(*at, &RAID.to_be_bytes());
        if self.is_ext() {
            return Some("an ext2, ext3 or ext4 filesystem");
        }
        if raid_places.iter().flatten().any(is_raid) {
            return Some("a member of a Linux RAID");
        }
        let is_uberblock =
            |at: u64| self.has(at, &UBERBLOCK.to_le_bytes()) || self.has(at, &UBERBLOCK.to_be_bytes());
        if UBERBLOCKS.step_by(1024).any(is_uberblock) {
            return Some("a member of a ZFS pool");
        }
        self.is_dos_table().then_some("a partition table")
    }

    /// Two bytes occur among random ones, so the logarithm of the block size has to make sense too.
    fn is_ext(&self) -> bool {
        const LARGEST_BLOCK_LOG: u32 = 6;
        let block_log = self.bytes(0x418, 4).and_then(|bytes| bytes.try_into().ok());
        self.has(0x438, b"\x53\xef") && block_log.map(u32::from_le_bytes) <= Some(LARGEST_BLOCK_LOG)
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
    use proptest::prelude::*;

    use super::*;

    fn find_in(device: &[u8]) -> Option<&'static str> {
        find(device.len() as u64, |at, buffer| {
            buffer.copy_from_slice(&device[at as usize..][..buffer.len()]);
            Ok(())
        })
        .unwrap()
    }

    #[test]
    fn every_signature_is_found_where_it_belongs() {
        let size = 1 << 20;
        for magic in MAGICS {
            let mut device = vec![0; size];
            let at = if magic.at < 0 {
                size as i64 + magic.at
            } else {
                magic.at
            } as usize;
            device[at..at + magic.bytes.len()].copy_from_slice(magic.bytes);
            assert_eq!(find_in(&device), Some(magic.what));
        }
        for (at, bytes, what) in [
            (0x438, &b"\x53\xef"[..], "an ext2, ext3 or ext4 filesystem"),
            (4096 - 10, b"SWAPSPACE2", "swap"),
            (65_536 - 10, b"SWAP-SPACE", "swap"),
            (size - 0x1_0000, &RAID.to_le_bytes(), "a member of a Linux RAID"),
            (size - 8192, &RAID.to_le_bytes(), "a member of a Linux RAID"),
            (
                131_072 + 5 * 1024,
                &UBERBLOCK.to_le_bytes(),
                "a member of a ZFS pool",
            ),
        ] {
            let mut device = vec![0; size];
            device[at..at + bytes.len()].copy_from_slice(bytes);
            assert_eq!(find_in(&device), Some(what));
        }
    }

    #[test]
    fn a_boot_sector_is_a_table_only_with_entries_that_make_sense() {
        let mut device = vec![0; 1 << 20];
        device[510..512].copy_from_slice(&[0x55, 0xaa]);
        assert_eq!(find_in(&device), None, "no entry");
        device[446 + 4] = 0x83;
        assert_eq!(find_in(&device), Some("a partition table"));
        device[446 + 16] = 0x17;
        assert_eq!(find_in(&device), None, "no such boot flag");
    }

    #[test]
    fn an_empty_device_and_a_tiny_one_have_no_signature() {
        for size in [0, 1, 511, 512, 4096, 1 << 20] {
            assert_eq!(find_in(&vec![0; size]), None, "{size}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(device in proptest::collection::vec(any::<u8>(), 0..70_000)) {
            find_in(&device);
        }
    }
}
