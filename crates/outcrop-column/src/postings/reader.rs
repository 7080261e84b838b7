//! Reading a postings section: one table page and one group per lookup, and one
//! more read if the list is long.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::bits::bits_at;
use super::list::{list_bits, read_list};
use super::{GROUP_SHIFT_LIMIT, LONG_OFFSET_BITS, PAGE_BYTES, PAGE_GROUPS, short_bits_limit};
use crate::error::{Result, corrupt};
use crate::format::{Fields, Section};
use crate::kernels::{CACHE_LINE_BYTES, prefetch};
use crate::storage::{ReadAt, check_crc, read_range};
use crate::touched::Touched;

const TABLE: &str = "postings table";
const GROUP: &str = "postings group";
const LIST: &str = "posting list";

/// Bytes before and behind the place where a list should be that are asked for too, and how many are at most.
const FETCHED_AROUND: u64 = 96;
const FETCHED_BYTES: u64 = 1024;

/// An opened postings section. It keeps a bit a page and group in memory, and nothing else, until
/// [`PostingsSection::make_resident`].
#[derive(Debug)]
pub(crate) struct PostingsSection {
    offset: u64,
    data_bytes: u64,
    table_length: u64,
    table_crc: u32,
    row_count: u32,
    symbol_count: u64,
    shift: u32,
    pages: Touched,
    groups: Touched,
    /// Offsets of all groups in the section, where the caller chose to keep them.
    offsets: Option<Vec<u64>>,
}

/// A group's bytes without the crc, and what they say.
struct Group<'a> {
    bytes: Cow<'a, [u8]>,
    width: u32,
}

impl PostingsSection {
    pub(crate) fn open(section: &Section, row_count: u64, symbol_count: u64) -> Result<Self> {
        let wrong = |detail| corrupt(TABLE, section.offset + section.table_offset, detail);
        let shift = section.parameter;
        if shift > GROUP_SHIFT_LIMIT {
            return Err(wrong(format!(
                "2^{shift} codes in a group, at most 2^{GROUP_SHIFT_LIMIT} allowed"
            )));
        }
        let group_count = symbol_count.div_ceil(1 << shift);
        let page_count = group_count.div_ceil(PAGE_GROUPS as u64);
        if section.table_length != page_count * PAGE_BYTES as u64 {
            return Err(wrong(format!(
                "{} bytes of table for {group_count} groups",
                section.table_length
            )));
        }
        Ok(Self {
            offset: section.offset,
            data_bytes: section.table_offset,
            table_length: section.table_length,
            table_crc: section.table_crc,
            row_count: row_count as u32,
            symbol_count,
            shift,
            pages: Touched::new(page_count as usize),
            groups: Touched::new(group_count as usize),
            offsets: None,
        })
    }

    fn group_count(&self) -> usize {
        self.symbol_count.div_ceil(1 << self.shift) as usize
    }

    /// Keeps the offsets of all groups in memory, so that a lookup starts at its group.
    pub(crate) fn make_resident(&mut self, source: &dyn ReadAt) -> Result<()> {
        let mut offsets = Vec::with_capacity(self.group_count() + 1);
        for page in 0..self.group_count().div_ceil(PAGE_GROUPS) {
            let bytes = self.page(source, page)?;
            let (mut offset, lengths) = page_fields(&bytes);
            let groups = PAGE_GROUPS.min(self.group_count() - page * PAGE_GROUPS);
            for length in lengths.iter().take(groups) {
                offsets.push(offset);
                offset = offset.saturating_add(u64::from(u16::from_le_bytes(*length)));
            }
            // Where the next page's groups begin is its own business: each page closes with its end.
            offsets.push(offset);
        }
        self.offsets = Some(offsets);
        Ok(())
    }

    fn page<'a>(&self, source: &'a dyn ReadAt, page: usize) -> Result<Cow<'a, [u8]>> {
        let at = self.offset + self.data_bytes + (page * PAGE_BYTES) as u64;
        let bytes = read_range(source, TABLE, at, PAGE_BYTES as u64)?;
        let (body, crc) = split_crc(TABLE, at, &bytes)?;
        self.pages.first(page, matches!(bytes, Cow::Owned(_)), || {
            check_crc(TABLE, at, body, crc)
        })?;
        Ok(bytes)
    }

    /// Offset in the section and length of a group.
    fn place(&self, source: &dyn ReadAt, group: usize) -> Result<(u64, u64)> {
        let (page, index) = (group / PAGE_GROUPS, group % PAGE_GROUPS);
        if let Some(offsets) = &self.offsets {
            let start = offsets[group + page];
            return Ok((start, offsets[group + page + 1] - start));
        }
        Ok(place_in(&self.page(source, page)?, index))
    }

    /// Starts fetching where the group of `code` and those that follow it are.
    pub(crate) fn prefetch(&self, code: u32) {
        if let Some(offsets) = &self.offsets {
            let group = self.locate(code).0;
            prefetch(offsets, group + group / PAGE_GROUPS);
        }
    }

    /// Prefetches the cache lines where the lists in `slots` of a group would be if all its lists were
    /// equally long, and the line that tells where they are: both waits become one.
    fn fetch_ahead(&self, source: &dyn ReadAt, group: usize, slots: RangeInclusive<usize>) {
        let (Some(_), Some(bytes)) = (&self.offsets, source.as_bytes()) else {
            return;
        };
        let Ok((start, length)) = self.place(source, group) else {
            return;
        };
        let begin = self.offset.saturating_add(start);
        let before = |slots: usize| (length >> self.shift) * slots as u64;
        let first = before(*slots.start()).saturating_sub(FETCHED_AROUND);
        let last = (before(slots.end() + 1) + FETCHED_AROUND).min(first + FETCHED_BYTES);
        prefetch(bytes, begin as usize);
        for at in (first..last.min(length)).step_by(CACHE_LINE_BYTES) {
            prefetch(bytes, begin.saturating_add(at) as usize);
        }
    }

    /// Calls `action` with each of `groups` in order; a page of the table is read once for all of its groups.
    fn for_each_group(
        &self,
        source: &dyn ReadAt,
        groups: RangeInclusive<usize>,
        mut action: impl FnMut(usize, &Group<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut page: Option<(usize, Cow<'_, [u8]>)> = None;
        let mut next = None;
        for group in groups {
            let (number, index) = (group / PAGE_GROUPS, group % PAGE_GROUPS);
            let (start, length) = match (&page, next) {
                (Some((known, bytes)), Some(start)) if *known == number => {
                    (start, u64::from(u16::from_le_bytes(page_fields(bytes).1[index])))
                }
                _ if self.offsets.is_some() => self.place(source, group)?,
                _ => {
                    let bytes = self.page(source, number)?;
                    let place = place_in(&bytes, index);
                    page = Some((number, bytes));
                    place
                }
            };
            next = start.checked_add(length);
            action(group, &self.group_at(source, group, start, length)?)?;
        }
        Ok(())
    }

    /// Calls `action` with the number of rows of each of the codes `first ..= last`, in order.
    pub(crate) fn for_each_count(
        &self,
        source: &dyn ReadAt,
        first: u32,
        last: u32,
        mut action: impl FnMut(u32),
    ) -> Result<()> {
        let groups = self.locate(first).0..=self.locate(last).0;
        self.for_each_group(source, groups, |index, group| {
            let codes = index << self.shift..(index + 1) << self.shift;
            for code in codes.start.max(first as usize)..codes.end.min(last as usize + 1) {
                action(self.count_in(group, code - codes.start)?);
            }
            Ok(())
        })
    }

    fn group_at<'a>(
        &self,
        source: &'a dyn ReadAt,
        group: usize,
        start: u64,
        length: u64,
    ) -> Result<Group<'a>> {
        let at = self.offset.saturating_add(start);
        if start.checked_add(length).is_none_or(|end| end > self.data_bytes) {
            return Err(corrupt(
                TABLE,
                at,
                format!(
                    "group {group} is at {start}+{length} of {} bytes",
                    self.data_bytes
                ),
            ));
        }
        let bytes = read_range(source, GROUP, at, length)?;
        let (body, crc) = split_crc(GROUP, at, &bytes)?;
        self.groups.first(group, matches!(bytes, Cow::Owned(_)), || {
            check_crc(GROUP, at, body, crc)
        })?;
        let width = bits_at(body, 0, 6) as u32;
        let header_bits = 6 + (u64::from(width) << self.shift);
        if width > 32 || header_bits > 8 * body.len() as u64 {
            return Err(corrupt(
                GROUP,
                at,
                format!("counts of {width} bits in {} bytes", body.len()),
            ));
        }
        let body_bytes = body.len();
        let bytes = match bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..body_bytes]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(body_bytes);
                Cow::Owned(bytes)
            }
        };
        Ok(Group { bytes, width })
    }

    fn count_in(&self, group: &Group<'_>, slot: usize) -> Result<u32> {
        let count = bits_at(
            &group.bytes,
            6 + slot as u64 * u64::from(group.width),
            group.width,
        ) as u32;
        if count > self.row_count {
            return Err(corrupt(
                GROUP,
                self.offset,
                format!("a list of {count} rows out of {}", self.row_count),
            ));
        }
        Ok(count)
    }

    fn locate(&self, code: u32) -> (usize, usize) {
        (
            code as usize >> self.shift,
            code as usize & ((1 << self.shift) - 1),
        )
    }

    /// Appends the rows, each plus `first_row`, of the codes `first ..= last`, code by code.
    pub(crate) fn push_rows(
        &self,
        source: &dyn ReadAt,
        first: u32,
        last: u32,
        first_row: u64,
        rows: &mut Vec<u64>,
    ) -> Result<()> {
        let ((first_group, first_slot), (last_group, last_slot)) = (self.locate(first), self.locate(last));
        if first_group == last_group {
            self.fetch_ahead(source, first_group, first_slot..=last_slot);
        }
        self.for_each_group(source, first_group..=last_group, |index, group| {
            let from = if index == first_group { first_slot } else { 0 };
            let to = if index == last_group {
                last_slot
            } else {
                (1 << self.shift) - 1
            };
            self.push_slots(source, (index, group), from..=to, first_row, rows)
        })
    }

    /// Appends the rows of the lists in `slots` of a group.
    fn push_slots(
        &self,
        source: &dyn ReadAt,
        (index, group): (usize, &Group<'_>),
        slots: RangeInclusive<usize>,
        first_row: u64,
        rows: &mut Vec<u64>,
    ) -> Result<()> {
        let mut bit = 6 + (u64::from(group.width) << self.shift);
        for slot in 0..=*slots.end() {
            let count = self.count_in(group, slot)?;
            let bits = list_bits(count, self.row_count);
            let is_long = bits > short_bits_limit(self.shift);
            let stored = if is_long {
                u64::from(LONG_OFFSET_BITS)
            } else {
                bits
            };
            if bit + stored > 8 * group.bytes.len() as u64 {
                return Err(corrupt(
                    GROUP,
                    self.offset,
                    format!("list {slot} of group {index} is cut off"),
                ));
            }
            if slots.contains(&slot) && is_long {
                let offset = bits_at(&group.bytes, bit, LONG_OFFSET_BITS);
                self.push_long(source, offset, count, first_row, rows)?;
            } else if slots.contains(&slot) {
                read_list(&group.bytes, bit, count, self.row_count, first_row, rows)?;
            }
            bit += stored;
        }
        Ok(())
    }

    fn push_long(
        &self,
        source: &dyn ReadAt,
        offset: u64,
        count: u32,
        first_row: u64,
        rows: &mut Vec<u64>,
    ) -> Result<()> {
        let length = list_bits(count, self.row_count).div_ceil(8) + 4;
        let at = self.offset + offset;
        if offset + length > self.data_bytes {
            return Err(corrupt(
                LIST,
                at,
                format!("{length} bytes reach past the section's {}", self.data_bytes),
            ));
        }
        let bytes = read_range(source, LIST, at, length)?;
        let (body, crc) = split_crc(LIST, at, &bytes)?;
        check_crc(LIST, at, body, crc)?;
        read_list(body, 0, count, self.row_count, first_row, rows)
    }

    /// Checks everything: the table as a whole, each group and each list, and that the rows are all there.
    pub(crate) fn verify(&self, source: &dyn ReadAt) -> Result<()> {
        let at = self.offset + self.data_bytes;
        check_crc(
            TABLE,
            at,
            &read_range(source, TABLE, at, self.table_length)?,
            self.table_crc,
        )?;
        let mut rows = Vec::new();
        let mut row_total = 0;
        if self.symbol_count > 0 {
            let (last_group, last_slot) = self.locate((self.symbol_count - 1) as u32);
            self.for_each_group(source, 0..=last_group, |index, group| {
                let to = if index == last_group {
                    last_slot
                } else {
                    (1 << self.shift) - 1
                };
                rows.clear();
                self.push_slots(source, (index, group), 0..=to, 0, &mut rows)?;
                row_total += rows.len() as u64;
                Ok(())
            })?;
        }
        if row_total == u64::from(self.row_count) {
            return Ok(());
        }
        Err(corrupt(
            TABLE,
            at,
            format!("lists of {row_total} rows, {} expected", self.row_count),
        ))
    }
}

/// Offset in the section and length of group `index` of a page.
fn place_in(page: &[u8], index: usize) -> (u64, u64) {
    let (first, lengths) = page_fields(page);
    let length_of = |length: &[u8; 2]| u64::from(u16::from_le_bytes(*length));
    let before: u64 = lengths[..index].iter().map(length_of).sum();
    (first.saturating_add(before), length_of(&lengths[index]))
}

fn page_fields(page: &[u8]) -> (u64, &[[u8; 2]]) {
    let first = page.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let (lengths, _) = page[8..8 + 2 * PAGE_GROUPS].as_chunks::<2>();
    (first, lengths)
}

fn split_crc<'a>(part: &'static str, offset: u64, bytes: &'a [u8]) -> Result<(&'a [u8], u32)> {
    let (body, crc) = bytes
        .split_last_chunk::<4>()
        .ok_or_else(|| corrupt(part, offset, "too short for its checksum"))?;
    let mut fields = Fields::new(part, offset, crc);
    Ok((body, fields.u32()?))
}
