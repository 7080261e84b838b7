//! Appends sections to the file in large pieces, then the footer, and writes the header that names it.

use super::{Footer, Header, Section, SectionKind};
use crate::error::Result;
use crate::storage::WriteAt;

/// What is written at a time ends at a multiple of this, the size of a huge page: a kernel whose filesystem
/// has large folios then keeps the file in huge pages, and readers of the mapped file miss the TLB less.
const PIECE_BYTES: u64 = 2 << 20;

/// Sections begin at pages as long as the gaps before them take no more than this part of what is written,
/// else at the next multiple of `TIGHT`.
const GAPS_PART: u64 = 100;
const PAGE: u64 = 4096;
const TIGHT: u64 = 8;

/// Writes one section after the other, and what names them.
pub(crate) struct SectionWriter<'a> {
    out: &'a mut dyn WriteAt,
    /// Where writing began.
    first: u64,
    /// Where the last section ends.
    end: u64,
    /// Bytes between sections so far.
    gap_bytes: u64,
    /// Where the section being written begins.
    start: u64,
    /// Incompatible features that a reader of the sections must know.
    features: u64,
    /// Bytes of the section so far, those in the buffer included.
    length: u64,
    buffer: Vec<u8>,
}

impl<'a> SectionWriter<'a> {
    /// Sections behind `end`.
    pub(crate) fn new(out: &'a mut dyn WriteAt, end: u64) -> Self {
        Self {
            out,
            first: end,
            end,
            gap_bytes: 0,
            start: end.next_multiple_of(TIGHT),
            features: 0,
            length: 0,
            buffer: Vec::new(),
        }
    }

    /// Where the next byte will be, in the section.
    pub(crate) fn position(&self) -> u64 {
        self.length
    }

    /// Says that a reader must know these incompatible features.
    pub(crate) fn need(&mut self, features: u64) {
        self.features |= features;
    }

    /// Where the footer goes once all sections are finished, in the file.
    fn footer_offset(&self) -> u64 {
        self.end.next_multiple_of(TIGHT)
    }

    /// Ends the file: writes the footer and then the header that names it; gives the size of the file.
    ///
    /// What an old header names must be whole before the new one replaces it; a new file has no old header.
    pub(crate) fn write_footer(self, footer: &Footer, replaces: bool) -> Result<u64> {
        let (footer_offset, bytes) = (self.footer_offset(), footer.to_bytes());
        self.out.write_all_at(&bytes, footer_offset)?;
        if replaces {
            self.out.sync()?;
        }
        let header = Header {
            incompatible: self.features | footer.features,
            footer_offset,
            footer_bytes: bytes.len() as u64,
            footer_crc: crc32c::crc32c(&bytes),
            ..Header::default()
        };
        self.out.write_all_at(&header.to_bytes(), 0)?;
        self.out.sync()?;
        Ok(footer_offset + bytes.len() as u64)
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
        loop {
            let room = PIECE_BYTES - (self.start + self.length) % PIECE_BYTES;
            let Some((piece, rest)) = bytes.split_at_checked(room as usize) else {
                self.buffer.extend_from_slice(bytes);
                self.length += bytes.len() as u64;
                return Ok(());
            };
            self.buffer.extend_from_slice(piece);
            self.length += room;
            self.flush()?;
            bytes = rest;
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
        self.pass(self.length);
        Ok(section)
    }

    /// Goes on as if a section of `length` bytes had been written: to learn how large a file would be.
    pub(crate) fn pass(&mut self, length: u64) {
        self.end = self.start + length;
        self.begin();
    }

    /// Begins the next section behind the last.
    fn begin(&mut self) {
        let page = self.end.next_multiple_of(PAGE);
        let gap_bytes = self.gap_bytes + page - self.end;
        if gap_bytes * GAPS_PART <= self.end - self.first {
            (self.start, self.gap_bytes) = (page, gap_bytes);
        } else {
            self.start = self.end.next_multiple_of(TIGHT);
        }
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{GAPS_PART, PAGE, SectionWriter, TIGHT};
    use crate::format::SectionKind;

    proptest! {
        #[test]
        fn sections_begin_at_pages_where_gaps_are_a_hundredth_at_most(lengths in proptest::collection::vec(1_usize..3_000_000, 1..5), end in 0_u64..5000) {
            let mut file = Vec::new();
            let mut out = SectionWriter::new(&mut file, end);
            let (mut before, mut gap_bytes) = (end, 0);
            for length in lengths {
                out.push(&vec![7; length]).expect("memory is enough");
                let section = out.finish(SectionKind::Codes, &[], 0).expect("memory is enough");
                let page = before.next_multiple_of(PAGE);
                let is_cheap = (gap_bytes + page - before) * GAPS_PART <= before - end;
                let expected = if is_cheap { page } else { before.next_multiple_of(TIGHT) };
                prop_assert_eq!((section.offset, section.length), (expected, length as u64));
                gap_bytes += if is_cheap { page - before } else { 0 };
                before = section.offset + section.length;
            }
            prop_assert!(gap_bytes * GAPS_PART <= before - end);
            prop_assert!(out.footer_offset() - before < TIGHT);
        }
    }
}
