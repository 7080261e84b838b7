//! Appends sections to the file through a buffer, so that small blocks do not become small writes.

use crate::error::Result;
use crate::format::{Section, SectionKind};
use crate::storage::WriteAt;

const BUFFER_BYTES: usize = 1 << 20;

/// Pieces from this size on are written as they are: a call costs less than copying them.
const DIRECT_BYTES: usize = 64 << 10;

/// Writes one section after the other.
pub(crate) struct SectionWriter<'a> {
    out: &'a mut dyn WriteAt,
    alignment: u64,
    /// Where the section being written begins.
    start: u64,
    /// Bytes of the section so far, those in the buffer included.
    length: u64,
    buffer: Vec<u8>,
}

impl<'a> SectionWriter<'a> {
    /// Sections from the first multiple of `alignment` at or after `end` on.
    pub(crate) fn new(out: &'a mut dyn WriteAt, end: u64, alignment: u64) -> Self {
        Self {
            out,
            alignment,
            start: end.next_multiple_of(alignment),
            length: 0,
            buffer: Vec::new(),
        }
    }

    /// Where the next byte will be, in the section.
    pub(crate) fn position(&self) -> u64 {
        self.length
    }

    /// Where the next section will begin, in the file.
    pub(crate) fn next_start(&self) -> u64 {
        self.start
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() >= DIRECT_BYTES {
            self.flush()?;
            self.out.write_all_at(bytes, self.start + self.length)?;
            self.length += bytes.len() as u64;
            return Ok(());
        }
        self.buffer.extend_from_slice(bytes);
        self.length += bytes.len() as u64;
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let at = self.start + self.length - self.buffer.len() as u64;
        self.out.write_all_at(&self.buffer, at)?;
        self.buffer.clear();
        Ok(())
    }

    /// Ends the section with its table.
    pub(crate) fn finish(&mut self, kind: SectionKind, table: &[u8], parameter: u32) -> Result<Section> {
        let table_offset = self.length;
        self.push(table)?;
        self.flush()?;
        let section = Section {
            kind,
            offset: self.start,
            length: self.length,
            table_offset,
            table_length: table.len() as u64,
            table_crc: crc32c::crc32c(table),
            parameter,
        };
        self.start = (self.start + self.length).next_multiple_of(self.alignment);
        self.length = 0;
        Ok(section)
    }
}
