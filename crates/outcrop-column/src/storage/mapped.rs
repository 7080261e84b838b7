//! A file mapped into memory: queries read it in place.
#![expect(
    unsafe_code,
    reason = "a memory map is shared with whoever else may write the file; memmap2 leaves that promise to us"
)]

use std::io;
use std::path::Path;

use memmap2::Mmap;

use super::ReadAt;
use super::file::open_regular;
use crate::error::{ColumnError, Result};

/// A read-only memory map of a file.
///
/// Column files are replaced by rename or appended to, never rewritten in place, apart from the 64 bytes
/// of the header, which are read once at open. A program that truncates the file under the map kills
/// its readers with `SIGBUS`, as with every memory map; use [`super::FileReader`] where that can happen.
#[derive(Debug)]
pub struct MappedFile {
    map: Mmap,
}

impl MappedFile {
    /// Maps `path`.
    ///
    /// # Errors
    /// [`ColumnError::Path`] when it cannot be opened or mapped.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || {
            let file = open_regular(path)?;
            // SAFETY: the map is read-only and, by the rule of the format, the bytes that readers use are
            // never changed in place once a footer names them; checksums are verified on first touch.
            let map = unsafe { Mmap::map(&file) }?;
            Ok(Self { map })
        };
        open().map_err(|source| ColumnError::Path {
            path: path.to_owned(),
            source,
        })
    }
}

impl ReadAt for MappedFile {
    fn size_bytes(&self) -> u64 {
        self.map.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let bytes = self
            .map
            .get(start..)
            .and_then(|rest| rest.get(..buffer.len()))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(&self.map)
    }
}
