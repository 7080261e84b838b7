//! A file read with `pread`: nothing stays in memory but what a query asks for.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::ReadAt;
use crate::error::{ColumnError, Result};

/// A file read where asked, with one system call a read.
#[derive(Debug)]
pub struct FileReader {
    file: File,
    path: PathBuf,
    size_bytes: u64,
}

/// Opens a regular file, and nothing that could be waited for: opening a pipe that nobody writes to never ends.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    open_regular_with(path, OpenOptions::new().read(true))
}

/// The same with other options.
pub(super) fn open_regular_with(path: &Path, options: &OpenOptions) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "is not a regular file; a column file needs random access, which pipes and devices do not allow",
        ));
    }
    options.open(path)
}

/// The system's answer with the file that it is about; its kind stays. That there is no room is about more than one file.
pub(super) fn about(path: &Path, error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => error,
        kind => io::Error::new(kind, format!("{}: {error}", path.display())),
    }
}

impl FileReader {
    /// Opens `path` for reading.
    ///
    /// # Errors
    /// [`ColumnError::Path`] when it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || Self::of(open_regular(path)?, path);
        open().map_err(|source| ColumnError::Path {
            path: path.to_owned(),
            source,
        })
    }

    /// A reader of an open file, as large as it is now; the path is for errors.
    pub(super) fn of(file: File, path: &Path) -> io::Result<Self> {
        let size_bytes = file.metadata()?.len();
        Ok(Self {
            file,
            path: path.to_owned(),
            size_bytes,
        })
    }

    /// What a read beyond the end means, since nothing is read that was not there when the file was opened.
    fn became_shorter(&self) -> io::Error {
        let text = format!(
            "{} became shorter while it was read: another program is changing it",
            self.path.display()
        );
        io::Error::new(io::ErrorKind::UnexpectedEof, text)
    }
}

impl ReadAt for FileReader {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let read = self.file.read_exact_at(buffer, offset);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.became_shorter(),
            _ => about(&self.path, error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_any_more_is_named() {
        let folder = tempfile::tempdir().unwrap();
        // A server that went away answers reads as a folder does: with an error.
        let opened = File::open(folder.path()).unwrap();
        let reader = FileReader::of(opened, Path::new("words.ocol")).unwrap();
        let failure = reader.read_exact_at(&mut [0], 0).unwrap_err();
        assert_eq!(failure.to_string(), "words.ocol: Is a directory (os error 21)");
        assert_eq!(failure.kind(), io::ErrorKind::IsADirectory);
    }
}
