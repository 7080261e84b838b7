//! What btrfs stores for a file, from its trees: bytes on the disk, extent by extent, and the algorithm of each.
//!
//! `st_blocks` is the size before compression and FIEMAP's lengths too; only the tree has the stored size. compsize reads the
//! same items.

#![expect(
    unsafe_code,
    reason = "BTRFS_IOC_TREE_SEARCH_V2 has no safe binding among our dependencies"
)]

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use outcrop_measure::metric::Unavailable;

/// What files take, without metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Bytes of the files.
    pub file_bytes: u64,
    /// Bytes on the disk; an extent that several places refer to counts once.
    pub disk_bytes: u64,
    /// Bytes of the files in compressed extents.
    pub compressed_file_bytes: u64,
    seen: BTreeSet<u64>,
}

impl Stored {
    /// Original over stored bytes.
    pub fn ratio(&self) -> f64 {
        self.file_bytes as f64 / self.disk_bytes.max(1) as f64
    }
}

/// `_IOWR(0x94, 17, struct btrfs_ioctl_search_args_v2)`, include/uapi/linux/btrfs.h.
const BTRFS_IOC_TREE_SEARCH_V2: libc::Ioctl = 0xC070_9411;
const EXTENT_DATA: u32 = 108;
const BUFFER_BYTES: usize = 64 << 10;
/// `struct btrfs_ioctl_search_header`.
const HEADER_BYTES: usize = 32;
/// `struct btrfs_file_extent_item` up to the inline data.
const INLINE_AT: usize = 21;

/// `struct btrfs_ioctl_search_key`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Key {
    tree: u64,
    min_object: u64,
    max_object: u64,
    min_offset: u64,
    max_offset: u64,
    min_transaction: u64,
    max_transaction: u64,
    min_type: u32,
    max_type: u32,
    items: u32,
    unused: u32,
    unused_words: [u64; 4],
}

/// `struct btrfs_ioctl_search_args_v2` with its buffer.
#[repr(C)]
struct Search {
    key: Key,
    buffer_bytes: u64,
    buffer: [u8; BUFFER_BYTES],
}

/// Adds a file's extents to `stored`. The file must be synced: what is not written has no place yet.
///
/// # Errors
/// Not root, or not btrfs.
pub(crate) fn add(stored: &mut Stored, file: impl AsFd) -> Result<(), Unavailable> {
    let file = file.as_fd();
    let inode = rustix::fs::fstat(file)
        .map_err(|errno| Unavailable::because(format!("cannot examine a file: {errno}")))?
        .st_ino;
    let mut from = 0;
    loop {
        let search = search(file.as_raw_fd(), inode, from)?;
        let mut rest = &search.buffer[..];
        let mut last = None;
        for _ in 0..search.key.items {
            let Some((offset, item, after)) = split_item(rest) else {
                return Err(Unavailable::because(
                    "btrfs returned an item that ends beyond its buffer",
                ));
            };
            stored.take(item);
            last = Some(offset);
            rest = after;
        }
        match last {
            Some(offset) if offset < u64::MAX => from = offset + 1,
            _ => return Ok(()),
        }
    }
}

fn search(file: i32, inode: u64, from: u64) -> Result<Box<Search>, Unavailable> {
    let mut search = Box::new(Search {
        key: Key {
            // That of the subvolume which the file is in.
            tree: 0,
            min_object: inode,
            max_object: inode,
            min_offset: from,
            max_offset: u64::MAX,
            min_transaction: 0,
            max_transaction: u64::MAX,
            min_type: EXTENT_DATA,
            max_type: EXTENT_DATA,
            items: u32::MAX,
            unused: 0,
            unused_words: [0; 4],
        },
        buffer_bytes: BUFFER_BYTES as u64,
        buffer: [0; BUFFER_BYTES],
    });
    let pointer: *mut Search = &raw mut *search;
    // SAFETY: the pointer is valid for the struct, whose `buffer_bytes` says how much may be written behind the key.
    let result = unsafe { libc::ioctl(file, BTRFS_IOC_TREE_SEARCH_V2, pointer) };
    if result == 0 {
        return Ok(search);
    }
    let error = io::Error::last_os_error();
    Err(Unavailable::because(match error.raw_os_error() {
        Some(libc::EPERM) => "only root can read the btrfs trees that record the stored size".to_owned(),
        Some(libc::ENOTTY) => "only btrfs reports how much it stores of a file".to_owned(),
        _ => format!("btrfs did not report what it stores: {error}"),
    }))
}

/// The offset and content of the first item, and what follows it.
fn split_item(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let offset = word(bytes, 16)?;
    let length = u32::from_ne_bytes(bytes.get(28..32)?.try_into().ok()?) as usize;
    let end = HEADER_BYTES.checked_add(length)?;
    Some((offset, bytes.get(HEADER_BYTES..end)?, &bytes[end..]))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

impl Stored {
    /// Counts one `struct btrfs_file_extent_item`; a malformed one counts for nothing.
    fn take(&mut self, item: &[u8]) {
        const INLINE: u8 = 0;
        let (Some(&compression), Some(&kind), Some(ram_bytes)) = (item.get(16), item.get(20), word(item, 8))
        else {
            return;
        };
        let (file_bytes, disk_bytes) = if kind == INLINE {
            (ram_bytes, (item.len() - INLINE_AT) as u64)
        } else {
            let (Some(place), Some(disk_bytes), Some(file_bytes)) =
                (word(item, 21), word(item, 29), word(item, 45))
            else {
                return;
            };
            if place == 0 {
                // A hole.
                return;
            }
            (file_bytes, if self.seen.insert(place) { disk_bytes } else { 0 })
        };
        self.file_bytes += file_bytes;
        self.disk_bytes += disk_bytes;
        if compression != 0 {
            self.compressed_file_bytes += file_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn structs_have_the_kernels_sizes() {
        assert_eq!(size_of::<Key>(), 104);
        assert_eq!(size_of::<Search>(), 112 + BUFFER_BYTES);
    }

    proptest! {
        #[test]
        fn any_item_is_no_panic(item in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut stored = Stored::default();
            stored.take(&item);
            let _ = split_item(&item);
        }
    }
}
