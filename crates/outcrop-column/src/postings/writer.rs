//! Writes a postings section from rows sorted by code.

use super::bits::BitWriter;
use super::list::{list_bits, push_list};
use super::{GROUP_SHIFT_LIMIT, LONG_OFFSET_BITS, PAGE_GROUPS, short_bits_limit};
use crate::error::Result;
use crate::format::{Section, SectionKind, SectionWriter, bits_of, push_u32, push_u64};

/// Bits that one group should have at most: a 4 KiB read brings it.
const GROUP_BITS: u64 = 3600 * 8;

/// Takes the lists of all codes in order.
pub(crate) struct PostingsWriter {
    shift: u32,
    row_count: u32,
    counts: Vec<u32>,
    rows: Vec<u32>,
    bits: BitWriter,
    /// Lengths of the groups of the page being filled.
    page: Vec<u16>,
    table: Vec<u8>,
    /// The groups of that page, which must lie side by side, while long lists are written at once.
    pending: Vec<u8>,
}

impl PostingsWriter {
    /// A writer for lists of the given counts, out of `row_count` rows.
    pub(crate) fn new(counts: &[u32], row_count: u32) -> Self {
        let bits: u64 = counts
            .iter()
            .map(|&count| u64::from(bits_of(count)) + list_bits(count, row_count))
            .sum();
        let mean_bits = bits / (counts.len() as u64).max(1) + 1;
        let shift = (GROUP_BITS / mean_bits).max(1).ilog2().min(GROUP_SHIFT_LIMIT);
        Self {
            shift,
            row_count,
            counts: Vec::new(),
            rows: Vec::new(),
            bits: BitWriter::default(),
            page: Vec::new(),
            table: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// The list of the next code.
    pub(crate) fn push(&mut self, rows: &[u32], out: &mut SectionWriter<'_>) -> Result<()> {
        self.counts.push(rows.len() as u32);
        if list_bits(rows.len() as u32, self.row_count) > short_bits_limit(self.shift) {
            // Written at once; the group names its offset.
            let mut bits = BitWriter::default();
            push_list(rows, self.row_count, &mut bits);
            let bytes = bits.take();
            let offset = out.position();
            out.push(&bytes)?;
            out.push(&crc32c::crc32c(&bytes).to_le_bytes())?;
            self.rows.extend([offset as u32, (offset >> 32) as u32]);
        } else {
            self.rows.extend_from_slice(rows);
        }
        if self.counts.len() == 1 << self.shift {
            self.end_group(out)
        } else {
            Ok(())
        }
    }

    fn end_group(&mut self, out: &mut SectionWriter<'_>) -> Result<()> {
        let width = self.counts.iter().map(|&count| bits_of(count)).max().unwrap_or(0);
        self.bits.push(u64::from(width), 6);
        for &count in &self.counts {
            self.bits.push(u64::from(count), u32::from(width));
        }
        let mut rows = self.rows.as_slice();
        for &count in &self.counts {
            let is_long = list_bits(count, self.row_count) > short_bits_limit(self.shift);
            let (list, rest) = rows.split_at(if is_long { 2 } else { count as usize });
            if is_long {
                self.bits
                    .push(u64::from(list[0]) | u64::from(list[1]) << 32, LONG_OFFSET_BITS);
            } else {
                push_list(list, self.row_count, &mut self.bits);
            }
            rows = rest;
        }
        let mut group = self.bits.take();
        let crc = crc32c::crc32c(&group);
        push_u32(&mut group, crc);
        self.page.push(group.len() as u16);
        self.pending.append(&mut group);
        self.counts.clear();
        self.rows.clear();
        if self.page.len() == PAGE_GROUPS {
            self.end_page(out)
        } else {
            Ok(())
        }
    }

    fn end_page(&mut self, out: &mut SectionWriter<'_>) -> Result<()> {
        let page_offset = out.position();
        out.push(&self.pending)?;
        self.pending.clear();
        self.page.resize(PAGE_GROUPS, 0);
        let start = self.table.len();
        push_u64(&mut self.table, page_offset);
        self.table
            .extend(self.page.iter().flat_map(|length| length.to_le_bytes()));
        let crc = crc32c::crc32c(&self.table[start..]);
        push_u32(&mut self.table, crc);
        self.page.clear();
        Ok(())
    }

    /// Writes what is left and the table.
    pub(crate) fn finish(mut self, out: &mut SectionWriter<'_>) -> Result<Section> {
        if !self.counts.is_empty() {
            // The last group describes as many codes as the others; those that do not exist have no rows.
            self.counts.resize(1 << self.shift, 0);
            self.end_group(out)?;
        }
        if !self.page.is_empty() {
            self.end_page(out)?;
        }
        out.finish(SectionKind::Postings, &self.table, self.shift)
    }
}
