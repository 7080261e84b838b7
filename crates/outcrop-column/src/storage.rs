//! The seam to storage: everything that this crate reads or writes passes through [`ReadAt`] and [`WriteAt`].
//!
//! Behind it stand memory, files read with `pread`, mapped files, an atomically replaced file, and for
//! tests a reader that counts and a writer that fails on purpose.

mod atomic;
mod counting;
mod exclusive;
mod failing;
mod file;
mod mapped;
mod place;
mod unfinished;

use std::borrow::Cow;
use std::io;

pub use atomic::AtomicFile;
pub use counting::{CountingReader, ReadCounts};
pub use exclusive::ExclusiveFile;
pub use failing::FailingWriter;
pub use file::FileReader;
pub use mapped::MappedFile;
pub use place::check_place;
pub use unfinished::remove_unfinished;

use crate::error::{Result, corrupt};

/// Positioned reading of a source whose size does not change.
pub trait ReadAt: Send + Sync {
    /// Size of the source in bytes.
    fn size_bytes(&self) -> u64;

    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` when the source ends before the buffer is full, and whatever the source reports.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// The whole source as memory, where it is memory: readers then copy nothing.
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}

/// Positioned writing.
pub trait WriteAt: Send {
    /// Writes all of `bytes` at `offset`, growing the target as needed.
    ///
    /// # Errors
    /// Whatever the target reports; bytes written so far are unspecified.
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Returns when everything written is durable.
    ///
    /// # Errors
    /// Whatever the target reports.
    fn sync(&mut self) -> io::Result<()>;
}

impl ReadAt for Vec<u8> {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let range = usize::try_from(offset)
            .ok()
            .and_then(|start| Some(start..start.checked_add(buffer.len())?));
        let bytes = range
            .and_then(|range| self.get(range))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl WriteAt for Vec<u8> {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let end = start.checked_add(bytes.len()).ok_or(io::ErrorKind::OutOfMemory)?;
        if self.len() < end {
            self.resize(end, 0);
        }
        self[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<T: ReadAt + ?Sized> ReadAt for std::sync::Arc<T> {
    fn size_bytes(&self) -> u64 {
        (**self).size_bytes()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buffer, offset)
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        (**self).as_bytes()
    }
}

impl<T: WriteAt + ?Sized> WriteAt for &mut T {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        (**self).write_all_at(bytes, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }
}

/// Bytes `[offset, offset + length)` of `source`, borrowed where it is memory.
///
/// The range is held against the size of the source before anything is allocated, so that a damaged
/// length cannot ask for more memory than the file has bytes.
pub(crate) fn read_range<'a>(
    source: &'a dyn ReadAt,
    part: &'static str,
    offset: u64,
    length: u64,
) -> Result<Cow<'a, [u8]>> {
    let size = source.size_bytes();
    let fits = offset.checked_add(length).is_some_and(|end| end <= size);
    if !fits {
        return Err(corrupt(
            part,
            offset,
            format!("{length} bytes reach past the end of the file ({size} bytes)"),
        ));
    }
    if let Some(bytes) = source.as_bytes() {
        let range = offset as usize..(offset + length) as usize;
        let slice = bytes
            .get(range)
            .ok_or_else(|| corrupt(part, offset, "the mapped file is shorter than its size"))?;
        return Ok(Cow::Borrowed(slice));
    }
    let mut buffer = vec![0; length as usize];
    source.read_exact_at(&mut buffer, offset)?;
    Ok(Cow::Owned(buffer))
}

/// Fails unless the CRC-32C of `bytes` is `expected`.
pub(crate) fn check_crc(part: &'static str, offset: u64, bytes: &[u8], expected: u32) -> Result<()> {
    let seen = crc32c::crc32c(bytes);
    if seen == expected {
        return Ok(());
    }
    Err(corrupt(
        part,
        offset,
        format!("crc32c is {seen:#010x}, expected {expected:#010x}"),
    ))
}
