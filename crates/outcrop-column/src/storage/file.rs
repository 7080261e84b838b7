//! A file read with `pread`: nothing stays in memory but what a query asks for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::ReadAt;
use crate::error::{ColumnError, Result};

/// A file read where asked, with one system call a read.
#[derive(Debug)]
pub struct FileReader {
    file: File,
    size_bytes: u64,
}

impl FileReader {
    /// Opens `path` for reading.
    ///
    /// # Errors
    /// [`ColumnError::Path`] when it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || Self::of(File::open(path)?);
        open().map_err(|source| ColumnError::Path {
            path: path.to_owned(),
            source,
        })
    }

    /// A reader of an open file, as large as it is now.
    pub(super) fn of(file: File) -> io::Result<Self> {
        let size_bytes = file.metadata()?.len();
        Ok(Self { file, size_bytes })
    }
}

impl ReadAt for FileReader {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }
}
