//! A file that one writer at a time may grow.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::file::{about, open_regular_with};
use super::{FileReader, WriteAt};
use crate::error::{ColumnError, Result};

/// An existing file, open for writing, with its advisory lock (`flock`) held until it is dropped.
///
/// All writers that use this append one after the other, however many processes there are. Readers take no
/// lock: what an opened column reads is never changed in place.
#[derive(Debug)]
pub struct ExclusiveFile {
    file: File,
    path: PathBuf,
    /// What it had when it was opened.
    before: Before,
}

/// Bytes of the header of a column file, which an append changes last.
const HEADER_BYTES: usize = 64;

/// The size of a file, and the header that says how much of it is a column.
#[derive(Debug, PartialEq, Eq)]
struct Before {
    bytes: u64,
    header: Vec<u8>,
}

impl Before {
    fn of(file: &File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        let mut header = vec![0; HEADER_BYTES.min(bytes as usize)];
        file.read_exact_at(&mut header, 0)?;
        Ok(Self { bytes, header })
    }
}

impl ExclusiveFile {
    /// Opens `path` and waits for its lock.
    ///
    /// # Errors
    /// [`ColumnError::Path`] when it cannot be opened or locked.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || loop {
            let file = open_regular_with(path, OpenOptions::new().read(true).write(true))?;
            file.lock()?;
            // Whoever had the lock may have put another file under the name: that is the one to grow then.
            let (held, named) = (file.metadata()?, std::fs::metadata(path)?);
            if (held.dev(), held.ino()) == (named.dev(), named.ino()) {
                return Ok(Self {
                    before: Before::of(&file)?,
                    file,
                    path: path.to_owned(),
                });
            }
        };
        open().map_err(|source| ColumnError::Path {
            path: path.to_owned(),
            source,
        })
    }

    /// Gives back the space of what an append wrote before it failed. Once the header names it, it is part of the column, and stays. (Nothing
    /// is given back to a file that had no whole header, which small packed columns have not.)
    pub(crate) fn cut_back(&self) {
        let is_longer = |now: &Before| now.header == self.before.header && now.bytes > self.before.bytes;
        if Before::of(&self.file).is_ok_and(|now| is_longer(&now)) {
            // The column is whole without that, too; the error of the append says more.
            let _ = self.file.set_len(self.before.bytes);
        }
    }

    /// A reader of what the file holds now.
    ///
    /// # Errors
    /// What the system reports.
    pub fn reader(&self) -> Result<FileReader> {
        Ok(FileReader::of(self.file.try_clone()?, &self.path)?)
    }
}

impl WriteAt for ExclusiveFile {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(&self.file, bytes, offset).map_err(|error| about(&self.path, error))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_all().map_err(|error| about(&self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_append_wrote_is_cut_off_unless_the_header_names_it() {
        assert_eq!(HEADER_BYTES, crate::format::HEADER_BYTES);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("column.ocol");
        for (changed, left) in [(None, 100), (Some(0), 164), (Some(63), 164), (Some(64), 100)] {
            std::fs::write(&path, [7; 100]).unwrap();
            let mut file = ExclusiveFile::open(&path).unwrap();
            file.write_all_at(&[8; 64], 100).unwrap();
            if let Some(place) = changed {
                file.write_all_at(&[9], place).unwrap();
            }
            file.cut_back();
            assert_eq!(path.metadata().unwrap().len(), left, "{changed:?}");
        }
    }
}
