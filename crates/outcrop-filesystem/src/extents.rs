//! Where a file's bytes lie, as its filesystem tells: extents, and which of them are encoded (FIEMAP).

#![expect(unsafe_code, reason = "FIEMAP has no safe binding among our dependencies")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use outcrop_measure::metric::Unavailable;

/// Extents of files, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// How many.
    pub count: u64,
    /// Bytes of the files in them.
    pub bytes: u64,
    /// Of these, in extents that hold other bytes than the file does: compressed.
    pub encoded_bytes: u64,
    /// Bytes that were reserved and never written.
    pub unwritten_bytes: u64,
}

impl Extents {
    /// The share of the bytes that is compressed.
    pub fn encoded_share(&self) -> f64 {
        self.encoded_bytes as f64 / self.bytes.max(1) as f64
    }

    /// The extents of a file. *Cost*: a call for each 512 extents.
    ///
    /// *Source*: Linux, Documentation/filesystems/fiemap.rst.
    ///
    /// # Errors
    /// The filesystem does not tell.
    pub fn of(file: impl AsFd) -> Result<Self, Unavailable> {
        let mut found = Self::default();
        let mut start = 0;
        loop {
            let map = batch(file.as_fd().as_raw_fd(), start)?;
            let extents = &map.extents[..(map.mapped as usize).min(BATCH)];
            for extent in extents {
                found.count += 1;
                found.bytes += extent.length;
                if extent.flags & FIEMAP_EXTENT_ENCODED != 0 {
                    found.encoded_bytes += extent.length;
                }
                if extent.flags & FIEMAP_EXTENT_UNWRITTEN != 0 {
                    found.unwritten_bytes += extent.length;
                }
            }
            match extents.last() {
                Some(last) if last.flags & FIEMAP_EXTENT_LAST == 0 && last.logical + last.length > start => {
                    start = last.logical + last.length;
                }
                _ => return Ok(found),
            }
        }
    }

    /// Adds another file's.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            bytes: self.bytes + other.bytes,
            encoded_bytes: self.encoded_bytes + other.encoded_bytes,
            unwritten_bytes: self.unwritten_bytes + other.unwritten_bytes,
        }
    }
}

/// `_IOWR('f', 11, struct fiemap)`, include/uapi/linux/fs.h.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B;
/// Waits until everything has a place.
const FIEMAP_FLAG_SYNC: u32 = 1;
const FIEMAP_EXTENT_LAST: u32 = 0x1;
const FIEMAP_EXTENT_ENCODED: u32 = 0x8;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;
/// Extents of one call.
const BATCH: usize = 512;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_flags: [u32; 3],
}

impl Extent {
    const EMPTY: Self = Self {
        logical: 0,
        physical: 0,
        length: 0,
        reserved: [0; 2],
        flags: 0,
        reserved_flags: [0; 3],
    };
}

/// `struct fiemap` with room for a batch.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

fn batch(file: i32, start: u64) -> Result<Box<Map>, Unavailable> {
    let mut map = Box::new(Map {
        start,
        length: u64::MAX - start,
        flags: FIEMAP_FLAG_SYNC,
        mapped: 0,
        count: BATCH as u32,
        reserved: 0,
        extents: [Extent::EMPTY; BATCH],
    });
    let pointer: *mut Map = &raw mut *map;
    // SAFETY: the pointer is valid for the struct, whose `count` says how many extents have room in it.
    let result = unsafe { libc::ioctl(file, FS_IOC_FIEMAP, pointer) };
    if result == 0 {
        return Ok(map);
    }
    let error = io::Error::last_os_error();
    Err(Unavailable::because(format!(
        "the filesystem does not report where a file's bytes are (FIEMAP): {error}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_have_the_kernels_sizes() {
        assert_eq!(size_of::<Extent>(), 56);
        assert_eq!(size_of::<Map>(), 32 + 56 * BATCH);
    }
}
