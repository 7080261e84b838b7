//! Where the bytes of a trial come from and go to: a file without a name, and a writer that only counts.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use outcrop_column::storage::{ReadAt, WriteAt};

use crate::error::BenchError;

/// A file that has no name: nobody else sees it, and it disappears with its last
/// descriptor, however the process ends.
#[derive(Debug)]
pub(crate) struct ScratchFile {
    file: File,
    size_bytes: u64,
}

impl ScratchFile {
    pub(crate) fn create(directory: &Path, content: &[u8]) -> Result<Self, BenchError> {
        let written = tempfile::tempfile_in(directory).and_then(|mut file| {
            file.write_all(content)?;
            Ok(file)
        });
        let file = written.map_err(|source| BenchError::Scratch {
            directory: directory.to_owned(),
            source,
        })?;
        Ok(Self {
            file,
            size_bytes: content.len() as u64,
        })
    }
}

impl ReadAt for ScratchFile {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }
}

/// Counts what is written and drops it.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(crate) bytes: u64,
}

impl WriteAt for Counter {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.bytes = self.bytes.max(offset.saturating_add(bytes.len() as u64));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
