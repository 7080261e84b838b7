//! The footer: segments, and the sections of each.

use super::SEGMENT_ROWS_LIMIT;
use super::fields::{Fields, push_u32, push_u64};
use super::header::Header;
use crate::error::{ColumnError, Result, corrupt};
use crate::storage::{ReadAt, check_crc, read_range};

const MAGIC: u32 = u32::from_le_bytes(*b"OCFT");
const PART: &str = "footer";
const FLAG_IGNORABLE: u32 = 1;

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SectionKind {
    Dictionary = 1,
    ClassMap = 2,
    Codes = 3,
    Postings = 4,
    Name = 6,
}

impl SectionKind {
    fn from_number(number: u32) -> Option<Self> {
        [
            Self::Dictionary,
            Self::ClassMap,
            Self::Codes,
            Self::Postings,
            Self::Name,
        ]
        .into_iter()
        .find(|&kind| kind as u32 == number)
    }

    fn flags(self) -> u32 {
        match self {
            Self::Postings | Self::Name => FLAG_IGNORABLE,
            Self::Dictionary | Self::ClassMap | Self::Codes => 0,
        }
    }
}

/// Place of a section in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) kind: SectionKind,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) table_offset: u64,
    pub(crate) table_length: u64,
    pub(crate) table_crc: u32,
    pub(crate) parameter: u32,
}

/// One segment as the footer describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SegmentEntry {
    pub(crate) row_count: u64,
    pub(crate) value_count: u64,
    pub(crate) null_count: u64,
    pub(crate) text_bytes: u64,
    pub(crate) floor_bits: u64,
    pub(crate) sections: Vec<Section>,
}

impl SegmentEntry {
    pub(crate) fn section(&self, kind: SectionKind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    /// Distinct values, and one more if there is a null.
    pub(crate) fn symbol_count(&self) -> u64 {
        self.value_count + u64::from(self.null_count > 0)
    }

    fn push_to(&self, out: &mut Vec<u8>) {
        for field in [
            self.row_count,
            self.value_count,
            self.null_count,
            self.text_bytes,
            self.floor_bits,
        ] {
            push_u64(out, field);
        }
        push_u32(out, self.sections.len() as u32);
        push_u32(out, 0);
        for section in &self.sections {
            push_u32(out, section.kind as u32);
            push_u32(out, section.kind.flags());
            for field in [
                section.offset,
                section.length,
                section.table_offset,
                section.table_length,
            ] {
                push_u64(out, field);
            }
            push_u32(out, section.table_crc);
            push_u32(out, section.parameter);
        }
    }

    fn read(fields: &mut Fields<'_>, file_bytes: u64) -> Result<Self> {
        let mut entry = Self {
            row_count: fields.u64()?,
            value_count: fields.u64()?,
            null_count: fields.u64()?,
            text_bytes: fields.u64()?,
            floor_bits: fields.u64()?,
            sections: Vec::new(),
        };
        if entry.row_count >= SEGMENT_ROWS_LIMIT
            || entry
                .value_count
                .checked_add(entry.null_count)
                .is_none_or(|sum| sum > entry.row_count)
        {
            return Err(fields.wrong(format!(
                "{} rows, {} values, {} nulls: not possible together",
                entry.row_count, entry.value_count, entry.null_count
            )));
        }
        let section_count = fields.u32()?;
        let _reserved = fields.u32()?;
        for _ in 0..section_count {
            if let Some(section) = read_section(fields, file_bytes)? {
                if entry.section(section.kind).is_some() {
                    return Err(fields.wrong(format!("a second section of kind {:?}", section.kind)));
                }
                entry.sections.push(section);
            }
        }
        let has = |kind| entry.section(kind).is_some();
        if !has(SectionKind::Dictionary) || !(has(SectionKind::Codes) || has(SectionKind::Postings)) {
            return Err(fields.wrong("a segment needs a dictionary, and codes or postings"));
        }
        Ok(entry)
    }
}

/// One section entry; `None` for a kind that this reader does not know and may ignore.
fn read_section(fields: &mut Fields<'_>, file_bytes: u64) -> Result<Option<Section>> {
    let (number, flags) = (fields.u32()?, fields.u32()?);
    let (offset, length, table_offset, table_length) =
        (fields.u64()?, fields.u64()?, fields.u64()?, fields.u64()?);
    let (table_crc, parameter) = (fields.u32()?, fields.u32()?);
    let Some(kind) = SectionKind::from_number(number) else {
        if flags & FLAG_IGNORABLE != 0 {
            return Ok(None);
        }
        return Err(fields.wrong(format!(
            "unknown section kind {number}, and a reader may not ignore it"
        )));
    };
    let in_file = offset.checked_add(length).is_some_and(|end| end <= file_bytes);
    if !in_file || table_offset.checked_add(table_length) != Some(length) {
        return Err(fields.wrong(format!(
            "section {kind:?}: offset {offset}, length {length}, table {table_offset}+{table_length} in a file of {file_bytes} bytes"
        )));
    }
    Ok(Some(Section {
        kind,
        offset,
        length,
        table_offset,
        table_length,
        table_crc,
        parameter,
    }))
}

/// All segments of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Footer {
    pub(crate) segments: Vec<SegmentEntry>,
    /// Incompatible features that a reader of the segments must know; they stand in the header.
    pub(crate) features: u64,
}

impl Footer {
    pub(crate) fn row_count(&self) -> u64 {
        self.segments.iter().map(|segment| segment.row_count).sum()
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        push_u32(&mut out, MAGIC);
        push_u32(&mut out, self.segments.len() as u32);
        push_u64(&mut out, self.row_count());
        for segment in &self.segments {
            segment.push_to(&mut out);
        }
        out
    }

    pub(crate) fn read(source: &dyn ReadAt, header: &Header) -> Result<Self> {
        // The header is under a checksum of its own: what it promises was there once.
        let (size_bytes, expected_bytes) = (source.size_bytes(), header.end());
        if size_bytes < expected_bytes {
            return Err(ColumnError::Truncated {
                size_bytes,
                expected_bytes,
            });
        }
        let bytes = read_range(source, PART, header.footer_offset, header.footer_bytes)?;
        check_crc(PART, header.footer_offset, &bytes, header.footer_crc)?;
        let mut fields = Fields::new(PART, header.footer_offset, &bytes);
        if fields.u32()? != MAGIC {
            return Err(corrupt(
                PART,
                header.footer_offset,
                "it does not begin with \"OCFT\"",
            ));
        }
        let segment_count = fields.u32()?;
        let row_count = fields.u64()?;
        let mut footer = Self {
            segments: Vec::new(),
            features: header.incompatible,
        };
        for _ in 0..segment_count {
            footer
                .segments
                .push(SegmentEntry::read(&mut fields, source.size_bytes())?);
        }
        fields.end()?;
        let summed = footer
            .segments
            .iter()
            .try_fold(0_u64, |sum, segment| sum.checked_add(segment.row_count));
        if summed != Some(row_count) {
            return Err(corrupt(
                PART,
                header.footer_offset,
                format!("{row_count} rows, its segments have {summed:?}"),
            ));
        }
        Ok(footer)
    }
}
