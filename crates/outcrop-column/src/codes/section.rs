//! A codes section: blocks and their table. The class map has the same form.

use std::borrow::Cow;

use super::{Block, ClassTable, Scratch, encoding, unwrap};
use crate::error::{Result, corrupt};
use crate::format::{BLOCK_ROWS, Fields, Section, push_u32, push_u64};
use crate::kernels;
use crate::storage::{ReadAt, check_crc, read_range};
use crate::touched::Touched;

const PART: &str = "codes table";
const BLOCK: &str = "code block";

/// One row of the block table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockEntry {
    pub(crate) offset: u64,
    pub(crate) length: u32,
    pub(crate) crc: u32,
    pub(crate) least: u32,
    pub(crate) greatest: u32,
    pub(crate) null_count: u32,
    /// Place of the block in the group that shares its bytes; 0 where there is none.
    pub(crate) part: u32,
}

impl BlockEntry {
    /// Bytes of one row of the table.
    pub(crate) const BYTES: u64 = 32;

    pub(crate) fn push_to(&self, out: &mut Vec<u8>) {
        push_u64(out, self.offset);
        for field in [
            self.length,
            self.crc,
            self.least,
            self.greatest,
            self.null_count,
            self.part,
        ] {
            push_u32(out, field);
        }
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self> {
        Ok(Self {
            offset: fields.u64()?,
            length: fields.u32()?,
            crc: fields.u32()?,
            least: fields.u32()?,
            greatest: fields.u32()?,
            null_count: fields.u32()?,
            part: fields.u32()?,
        })
    }
}

/// A codes section, opened: its table is in memory, its blocks are where they were.
#[derive(Debug)]
pub(crate) struct CodesSection {
    offset: u64,
    data_bytes: u64,
    row_count: u64,
    symbol_count: u64,
    classes: ClassTable,
    entries: Vec<BlockEntry>,
    touched: Touched,
    groups: Groups,
}

/// Whether blocks of a section may be groups of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Groups {
    /// Codes, in a file whose header says so.
    Allowed,
    /// The header says nothing of them.
    NotAnnounced,
    /// In a class map there are none.
    ClassMap,
}

impl CodesSection {
    /// Reads the table of `section`, whose `row_count` integers are all less than `symbol_count`.
    pub(crate) fn open(
        source: &dyn ReadAt,
        section: &Section,
        row_count: u64,
        symbol_count: u64,
        groups: Groups,
    ) -> Result<Self> {
        let table_at = section.offset + section.table_offset;
        let table = read_range(source, PART, table_at, section.table_length)?;
        check_crc(PART, table_at, &table, section.table_crc)?;
        let mut fields = Fields::new(PART, table_at, &table);
        let classes = ClassTable::read(&mut fields, symbol_count)?;
        let block_count = row_count.div_ceil(BLOCK_ROWS as u64);
        let mut entries = Vec::new();
        for _ in 0..block_count {
            entries.push(BlockEntry::read(&mut fields)?);
        }
        fields.end()?;
        let touched = Touched::new(entries.len());
        Ok(Self {
            offset: section.offset,
            data_bytes: section.table_offset,
            row_count,
            symbol_count,
            classes,
            entries,
            touched,
            groups,
        })
    }

    pub(crate) fn entries(&self) -> &[BlockEntry] {
        &self.entries
    }

    pub(crate) fn classes(&self) -> &ClassTable {
        &self.classes
    }

    /// Rows of block `index`.
    pub(crate) fn rows_in(&self, index: usize) -> usize {
        (self.row_count - (index * BLOCK_ROWS) as u64).min(BLOCK_ROWS as u64) as usize
    }

    fn bytes<'a>(&self, source: &'a dyn ReadAt, index: usize) -> Result<Cow<'a, [u8]>> {
        let entry = &self.entries[index];
        let inside = entry
            .offset
            .checked_add(u64::from(entry.length))
            .is_some_and(|end| end <= self.data_bytes);
        if !inside {
            return Err(corrupt(
                PART,
                self.offset,
                format!(
                    "block {index} is at {}+{} of {} bytes",
                    entry.offset, entry.length, self.data_bytes
                ),
            ));
        }
        let at = self.offset + entry.offset;
        let bytes = read_range(source, BLOCK, at, u64::from(entry.length))?;
        self.touched.first(index, matches!(bytes, Cow::Owned(_)), || {
            check_crc(BLOCK, at, &bytes, entry.crc)
        })?;
        Ok(bytes)
    }

    /// Calls `action` with block `index`, checked and parsed. A group of blocks stays in
    /// `scratch`, which must not have served another file.
    pub(crate) fn with_block<T>(
        &self,
        source: &dyn ReadAt,
        index: usize,
        scratch: &mut Scratch,
        action: impl FnOnce(&Block<'_>, &mut Scratch) -> Result<T>,
    ) -> Result<T> {
        let entry = &self.entries[index];
        // A place beyond all files is refused when its bytes are read.
        let at = self.offset.saturating_add(entry.offset);
        let group = (at, entry.length, entry.crc);
        let unwrapped = match scratch.group.take() {
            Some((kept, unwrapped)) if kept == group => unwrapped,
            _ => unwrap(self.bytes(source, index)?, at)?,
        };
        if unwrapped.is_group() {
            self.expect_groups(at)?;
        }
        let block = unwrapped.parse(self.rows_in(index), &self.classes, entry.part)?;
        let result = action(&block, scratch)?;
        drop(block);
        if unwrapped.is_group() {
            scratch.group = unwrapped.into_decompressed().map(|unwrapped| (group, unwrapped));
        }
        Ok(result)
    }

    fn expect_groups(&self, at: u64) -> Result<()> {
        let why = match self.groups {
            Groups::Allowed => return Ok(()),
            Groups::NotAnnounced => {
                "it is a group of tokens, which the header does not announce (incompatible feature 0x1)"
            }
            Groups::ClassMap => "it is a group of tokens, which a class map cannot have",
        };
        Err(corrupt(BLOCK, at, why))
    }

    /// Decodes block `index` into `out`, which takes its length; all integers are less than the symbol count.
    pub(crate) fn decode(
        &self,
        source: &dyn ReadAt,
        index: usize,
        out: &mut Vec<u32>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        out.resize(self.rows_in(index), 0);
        self.decode_into(source, index, out, scratch)
    }

    /// As [`CodesSection::decode`], into a slice of the block's length.
    pub(crate) fn decode_into(
        &self,
        source: &dyn ReadAt,
        index: usize,
        out: &mut [u32],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.with_block(source, index, scratch, |block, scratch| {
            block.decode(out, scratch)
        })?;
        let greatest = kernels::greatest(out);
        if u64::from(greatest) >= self.symbol_count {
            let at = self.offset + self.entries[index].offset;
            return Err(corrupt(
                BLOCK,
                at,
                format!("rank {greatest} of {} symbols", self.symbol_count),
            ));
        }
        Ok(())
    }

    /// Name of the encoding of block `index` and its stored bytes; those of a group count for its first block.
    pub(crate) fn describe(&self, source: &dyn ReadAt, index: usize) -> Result<(&'static str, u32)> {
        let bytes = self.bytes(source, index)?;
        let entry = &self.entries[index];
        Ok((
            encoding::name(bytes.first().copied().unwrap_or(u8::MAX)),
            if entry.part == 0 { entry.length } else { 0 },
        ))
    }
}
