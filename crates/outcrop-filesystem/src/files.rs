//! The data as files: one span of bytes, divided into equal files at whole extents.

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::fs::{Mode, OFlags};

use crate::error::FilesystemError;

/// Files that hold the data one after the other.
#[derive(Debug)]
pub(crate) struct Files {
    files: Vec<File>,
    each_bytes: u64,
    total_bytes: u64,
}

/// How long each file is, the last one excepted: a multiple of `unit_bytes`.
pub(crate) fn bytes_of_each(total_bytes: u64, count: u32, unit_bytes: u64) -> u64 {
    total_bytes
        .div_ceil(u64::from(count.max(1)))
        .next_multiple_of(unit_bytes)
        .max(unit_bytes)
}

/// The name of a data file.
pub(crate) fn name(index: usize) -> String {
    format!("data-{index:04}")
}

impl Files {
    /// Files that were opened or made by the caller.
    pub(crate) const fn of(files: Vec<File>, each_bytes: u64, total_bytes: u64) -> Self {
        Self {
            files,
            each_bytes,
            total_bytes,
        }
    }

    /// Bytes of all of them.
    pub(crate) const fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The files in order.
    pub(crate) fn all(&self) -> &[File] {
        &self.files
    }

    /// The file at an offset of the data, and where in it.
    pub(crate) fn locate(&self, offset: u64) -> (&File, u64) {
        let index = (offset / self.each_bytes) as usize;
        let last = self.files.len() - 1;
        let index = index.min(last);
        (&self.files[index], offset - index as u64 * self.each_bytes)
    }

    /// The same files through other descriptors: read past the page cache, for one.
    pub(crate) fn reopened(&self, flags: OFlags) -> Result<Self, FilesystemError> {
        let reopen = |file: &File| {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())
                .map(File::from)
                .map_err(|errno| FilesystemError::system("open a file again", errno))
        };
        Ok(Self {
            files: self.files.iter().map(reopen).collect::<Result<_, _>>()?,
            each_bytes: self.each_bytes,
            total_bytes: self.total_bytes,
        })
    }
}
