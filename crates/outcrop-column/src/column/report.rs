//! What a file holds: for `info`.

use std::collections::{BTreeMap, BTreeSet};

use super::Column;
use super::segment::Segment;
use crate::error::Result;
use crate::format::SectionKind;
use crate::packed::PackedReport;
use crate::storage::ReadAt;

/// A description of a column file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnReport {
    /// Size of the file in bytes.
    pub file_bytes: u64,
    /// The file's packed form, if any: sections and encodings are then those of
    /// the unpacked column in memory.
    pub packed: Option<PackedReport>,
    /// What the column is called, as [`Column::name`] gives it.
    pub name: Option<String>,
    /// Rows, nulls included.
    pub row_count: u64,
    /// Its segments in order.
    pub segments: Vec<SegmentReport>,
}

/// A description of one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentReport {
    /// Rows, nulls included.
    pub row_count: u64,
    /// Distinct values.
    pub value_count: u64,
    /// Rows that are null.
    pub null_count: u64,
    /// Bytes of the values of all rows, without separators.
    pub text_bytes: u64,
    /// Least bytes for the order of the rows in a coding that knows only the counts, without the dictionary.
    pub floor_bytes: u64,
    /// Bytes of each section, by name.
    pub section_bytes: BTreeMap<&'static str, u64>,
    /// Bytes of the dictionary blocks before and after zstd, and how many are compressed.
    pub dictionary_raw_bytes: u64,
    /// Dictionary blocks that are compressed.
    pub dictionary_zstd_blocks: usize,
    /// Encodings of the code blocks, by name.
    pub encodings: BTreeMap<&'static str, EncodingReport>,
}

/// How often an encoding was chosen, and what it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncodingReport {
    /// Blocks in this encoding.
    pub block_count: u64,
    /// Their bytes; those that several blocks share count once.
    pub bytes: u64,
}

impl Column {
    /// What the column is called in the table that it comes from: the name of the first segment that has one.
    ///
    /// *Cost*: one read of at most [`NAME_BYTES_LIMIT`](crate::NAME_BYTES_LIMIT) bytes.
    ///
    /// # Errors
    /// [`crate::ColumnError::Corrupt`] for a name that is too long, not UTF-8 or damaged, and what the source reports.
    pub fn name(&self) -> Result<Option<String>> {
        for segment in &self.segments {
            if let Some(name) = segment.name(&*self.source)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Describes the file. *Cost*: one read of each code block.
    ///
    /// # Errors
    /// [`crate::ColumnError::Corrupt`] and what the source reports.
    pub fn report(&self) -> Result<ColumnReport> {
        let segments = self
            .segments
            .iter()
            .map(|segment| report_of(segment, &*self.source))
            .collect::<Result<_>>()?;
        Ok(ColumnReport {
            file_bytes: self.file_bytes,
            packed: self.packed,
            name: self.name()?,
            row_count: self.row_count(),
            segments,
        })
    }
}

fn report_of(segment: &Segment, source: &dyn ReadAt) -> Result<SegmentReport> {
    let mut encodings: BTreeMap<&'static str, EncodingReport> = BTreeMap::new();
    if let Some(codes) = &segment.codes {
        let mut places = BTreeSet::new();
        for (index, entry) in codes.entries().iter().enumerate() {
            let (name, bytes) = codes.describe(source, index)?;
            // A group is described by its first block, so that the bytes of its others are none.
            let is_shared = entry.part == 0 && !places.insert(entry.offset);
            let bytes = if is_shared { 0 } else { bytes };
            let encoding = encodings.entry(name).or_default();
            encoding.block_count += 1;
            encoding.bytes += u64::from(bytes);
        }
    }
    let (_, dictionary_raw_bytes, dictionary_zstd_blocks) = segment.dictionary.sizes();
    let name_of = |kind| match kind {
        SectionKind::Dictionary => "dictionary",
        SectionKind::ClassMap => "class map",
        SectionKind::Codes => "codes",
        SectionKind::Postings => "postings",
        SectionKind::Name => "name",
    };
    Ok(SegmentReport {
        row_count: segment.entry.row_count,
        value_count: segment.entry.value_count,
        null_count: segment.entry.null_count,
        text_bytes: segment.entry.text_bytes,
        floor_bytes: segment.entry.floor_bits.div_ceil(8),
        section_bytes: segment
            .entry
            .sections
            .iter()
            .map(|section| (name_of(section.kind), section.length))
            .collect(),
        dictionary_raw_bytes,
        dictionary_zstd_blocks,
        encodings,
    })
}
