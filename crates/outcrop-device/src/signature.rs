//! What is stored on a block device, by the signatures that filesystems, partition tables, volumes and swap leave.
//!
//! A device with any of them is refused as a target of writes. The list errs on the side of refusing: a signature of four bytes
//! or more is enough, without the checks by which a filesystem tells a whole superblock from a damaged one; shorter ones occur among
//! random bytes, and need a little more. What `blkid` of util-linux names is refused too, where it is installed.
//!
//! *Source*: the probes of libblkid (util-linux), which are the kernel's on-disk formats.

mod magics;
mod second_opinion;
mod structures;

use std::io;

use magics::{MAGICS, Magic};
pub(crate) use second_opinion::second_opinion;

/// So much of the start and of the end is read: all headers but those that lie further in, of which there is another.
const START_BYTES: u64 = (4 << 20) + 4096;
const END_BYTES: u64 = 2 << 20;

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
    let device = Sample { start, end, end_at };
    Ok(device.magic().or_else(|| device.structure()))
}

/// The start and the end of a device.
struct Sample {
    start: Vec<u8>,
    end: Vec<u8>,
    end_at: u64,
}

impl Sample {
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

    fn size_bytes(&self) -> u64 {
        self.end_at + self.end.len() as u64
    }

    fn magic(&self) -> Option<&'static str> {
        let size_bytes = self.size_bytes();
        let is_there = |magic: &&Magic| {
            let at = match u64::try_from(magic.at) {
                Ok(at) => Some(at),
                Err(_) => size_bytes.checked_sub(magic.at.unsigned_abs()),
            };
            at.is_some_and(|at| self.has(at, magic.bytes))
        };
        MAGICS.iter().find(is_there).map(|magic| magic.what)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::magics::{PAGES_BYTES, PROMISE, PROMISE_SECTORS, SWAP};
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
        let size = 6 << 20;
        let at_end = |before: u64| size as u64 - before;
        let listed = MAGICS.iter().map(|magic| {
            let at = u64::try_from(magic.at).unwrap_or_else(|_| at_end(magic.at.unsigned_abs()));
            (at, magic.bytes.to_vec(), magic.what)
        });
        let swap = PAGES_BYTES.iter().flat_map(|page| {
            let signatures = SWAP.iter();
            signatures.map(move |(bytes, what)| (page - 10, bytes.to_vec(), *what))
        });
        let promise = PROMISE_SECTORS.iter().map(|sectors| {
            (
                at_end(sectors * 512),
                PROMISE.to_vec(),
                "a member of a Promise RAID",
            )
        });
        let (raid, zfs) = ("a member of a Linux RAID", "a member of a ZFS pool");
        let uberblock = 0x00ba_b10c_u64.to_le_bytes().to_vec();
        let others = [
            (0x438, b"\x53\xef".to_vec(), "an ext2, ext3 or ext4 filesystem"),
            (at_end(0x1_0000), 0xa92b_4efc_u32.to_le_bytes().to_vec(), raid),
            (at_end(8192), 0xa92b_4efc_u32.to_be_bytes().to_vec(), raid),
            (131_072 + 5 * 1024, uberblock.clone(), zfs),
            ((256 + 128 + 7) << 10, uberblock.clone(), zfs),
            (at_end((512 - 128) << 10), uberblock.clone(), zfs),
            (at_end((256 - 129) << 10), uberblock, zfs),
            (
                0x1_0000,
                b"\xfe\xed\xba\xbe".to_vec(),
                "the log of an XFS filesystem",
            ),
        ];
        let mut device = vec![0; size];
        for (at, bytes, what) in listed.chain(swap).chain(promise).chain(others) {
            let place = at as usize..at as usize + bytes.len();
            device[place.clone()].copy_from_slice(&bytes);
            assert_eq!(find_in(&device), Some(what), "{at:#x} {bytes:?}");
            device[place].fill(0);
        }
        assert_eq!(find_in(&device), None);
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
