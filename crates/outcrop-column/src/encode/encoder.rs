//! The builder of a column: rows in, file out.

use std::path::Path;

use super::frames::Collector;
use super::options::{EncodeOptions, EncodeReport};
use super::sections::SectionWriter;
use super::segment::Collected;
use crate::dictionary::Key;
use crate::error::{ColumnError, Result};
use crate::format::{Footer, HEADER_BYTES, Header, SectionKind, SegmentEntry};
use crate::storage::{AtomicFile, FileReader, ReadAt, WriteAt};

/// Files below this size are not aligned to pages: the gaps would outweigh the data.
const PAGED_BYTES: u64 = 1 << 20;
const PAGE: u64 = 4096;
const TIGHT: u64 = 8;

/// Collects rows and writes them as a column file.
///
/// *Cost*: the distinct values, about 40 bytes each besides, and the rows packed to the bits of their codes.
///
/// ```
/// use outcrop_column::{Column, EncodeOptions, Encoder};
/// let mut encoder = Encoder::new(EncodeOptions::default());
/// encoder.push(b"slate")?;
/// encoder.push_null()?;
/// encoder.push(b"slate")?;
/// let mut file = Vec::new();
/// encoder.finish(&mut file)?;
/// assert_eq!(Column::open_in(file)?.find(b"slate")?.rows()?, [0, 2]);
/// # Ok::<(), outcrop_column::ColumnError>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    pub(super) options: EncodeOptions,
    collector: Collector,
    pub(super) collected: Collected,
}

impl Encoder {
    /// An encoder without rows.
    pub fn new(options: EncodeOptions) -> Self {
        Self {
            options,
            collector: Collector::default(),
            collected: Collected::default(),
        }
    }

    /// Adds a row with `value`, which may be any bytes.
    ///
    /// # Errors
    /// [`ColumnError::Limit`] for a value of 2 GiB or more and for too many distinct values.
    pub fn push(&mut self, value: &[u8]) -> Result<()> {
        let code = self.collector.interner.intern(value, &Key::of(value))?;
        self.collector.push(code);
        Ok(())
    }

    /// Adds a row without a value.
    ///
    /// # Errors
    /// None today; it is fallible as [`Encoder::push`] is.
    pub fn push_null(&mut self) -> Result<()> {
        let code = self.collector.interner.intern_null();
        self.collector.push(code);
        Ok(())
    }

    /// Rows pushed so far.
    pub fn row_count(&self) -> u64 {
        self.collector.row_count()
    }

    fn into_collected(self) -> Collected {
        let Self {
            mut collector,
            mut collected,
            ..
        } = self;
        if collector.row_count() > 0 {
            let worker = collected.interners.len();
            for frame in collector.take_frames() {
                collected.rows.push(worker, frame);
            }
            collected.interners.push(collector.interner);
        }
        collected
    }

    /// Writes the column to `out` from its start.
    ///
    /// # Errors
    /// What `out` reports, and [`ColumnError::Limit`] for 2^32 − 1 rows or more.
    pub fn finish(self, out: &mut dyn WriteAt) -> Result<EncodeReport> {
        self.write_behind(Footer::default(), HEADER_BYTES as u64, 0, out)
    }

    /// Writes the column to `path`: the file appears whole or not at all.
    ///
    /// # Errors
    /// As [`Encoder::finish`], and [`ColumnError::Path`].
    pub fn write(self, path: &Path) -> Result<EncodeReport> {
        let mut file = AtomicFile::create(path)?;
        let report = self.finish(&mut file)?;
        file.commit()?;
        Ok(report)
    }

    /// Adds the rows as a further segment behind those of an existing file: `existing` reads the file that `out` writes.
    ///
    /// The old content stays valid until the header, 64 bytes, is overwritten as the last step.
    ///
    /// # Errors
    /// As [`Encoder::finish`]; [`ColumnError::Corrupt`] and others if the file cannot be read;
    /// [`ColumnError::Unsupported`] if it uses a feature that this writer does not know.
    pub fn append(self, existing: &dyn ReadAt, out: &mut dyn WriteAt) -> Result<EncodeReport> {
        let header = Header::read(existing)?;
        if header.read_only_compatible != 0 {
            let (major, minor, incompatible) = (1, 0, header.read_only_compatible);
            return Err(ColumnError::Unsupported {
                major,
                minor,
                incompatible,
                known_major: 1,
            });
        }
        let footer = Footer::read(existing, &header)?;
        self.write_behind(footer, existing.size_bytes(), existing.size_bytes(), out)
    }

    /// [`Encoder::append`] to the file at `path`.
    ///
    /// # Errors
    /// As there, and [`ColumnError::Path`].
    pub fn append_to(self, path: &Path) -> Result<EncodeReport> {
        let existing = FileReader::open(path)?;
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(|source| ColumnError::Path {
                path: path.to_owned(),
                source,
            })?;
        self.append(&existing, &mut file)
    }

    fn write_behind(
        self,
        mut footer: Footer,
        end: u64,
        size: u64,
        out: &mut dyn WriteAt,
    ) -> Result<EncodeReport> {
        let options = self.options;
        let collected = self.into_collected();
        let alignment = if collected.estimated_bytes().max(size) < PAGED_BYTES {
            TIGHT
        } else {
            PAGE
        };
        let mut sections = SectionWriter::new(out, end, alignment);
        let entry = collected.write(&options, &mut sections)?;
        let footer_offset = sections.next_start();
        let mut report = report_of(&entry);
        footer.segments.push(entry);
        let bytes = footer.to_bytes();
        out.write_all_at(&bytes, footer_offset)?;
        // What an old header names must be whole before the new one replaces it; a new file has no old header.
        if size > 0 {
            out.sync()?;
        }
        let header = Header {
            footer_offset,
            footer_bytes: bytes.len() as u64,
            footer_crc: crc32c::crc32c(&bytes),
            ..Header::default()
        };
        out.write_all_at(&header.to_bytes(), 0)?;
        out.sync()?;
        report.file_bytes = footer_offset + bytes.len() as u64;
        Ok(report)
    }
}

fn report_of(entry: &SegmentEntry) -> EncodeReport {
    let bytes = |kind| entry.section(kind).map_or(0, |section| section.length);
    EncodeReport {
        row_count: entry.row_count,
        value_count: entry.value_count,
        null_count: entry.null_count,
        text_bytes: entry.text_bytes,
        dictionary_bytes: bytes(SectionKind::Dictionary),
        class_map_bytes: bytes(SectionKind::ClassMap),
        codes_bytes: bytes(SectionKind::Codes),
        postings_bytes: bytes(SectionKind::Postings),
        file_bytes: 0,
        floor_bytes: entry.floor_bits.div_ceil(8),
    }
}
