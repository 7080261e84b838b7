//! The builder of a column: rows in, file out.

use std::path::Path;
use std::sync::Arc;

use super::frames::Collector;
use super::options::{EncodeOptions, EncodeReport, Index, Profile};
use super::sections::SectionWriter;
use super::segment::Collected;
use crate::dictionary::Interner;
use crate::error::Result;
use crate::format::{Footer, HEADER_BYTES, Header};
use crate::packed::{may_pack, pack, unpack, write_unpacked_behind};
use crate::progress::{Progress, Watch};
use crate::storage::{AtomicFile, ExclusiveFile, ReadAt, WriteAt};

/// Provisional codes of a foreign dictionary's entries, filled as the entries are met; they hold for one epoch.
#[derive(Debug, Default)]
pub(crate) struct KnownCodes {
    codes: Vec<u32>,
    epoch: usize,
}

impl KnownCodes {
    /// No provisional code: the last slot of the largest table is never filled.
    const UNKNOWN: u32 = u32::MAX;
}

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
    watch: Watch,
    never_packs: bool,
    #[cfg(feature = "arrow")]
    pub(crate) foreign: crate::arrow::ForeignDictionary,
}

impl Encoder {
    /// An encoder without rows.
    pub fn new(options: EncodeOptions) -> Self {
        Self {
            options,
            collector: Collector::default(),
            collected: Collected::default(),
            watch: Watch::default(),
            never_packs: false,
            #[cfg(feature = "arrow")]
            foreign: crate::arrow::ForeignDictionary::default(),
        }
    }

    /// An encoder without rows that takes so many distinct values without a table growing.
    pub(crate) fn with_room(options: EncodeOptions, values: usize) -> Self {
        Self {
            collector: Collector::with_room(values),
            ..Self::new(options)
        }
    }

    /// Adds a row with `value`, which may be any bytes.
    ///
    /// # Errors
    /// [`ColumnError::Limit`](crate::ColumnError::Limit) for a value of 2 GiB or more and for too many distinct values.
    pub fn push(&mut self, value: &[u8]) -> Result<()> {
        self.collector.push(Some(value)).map(drop)
    }

    /// Adds a row with entry `index` of a foreign dictionary, whose `value` is asked for at its first row only.
    ///
    /// # Errors
    /// As [`Encoder::push`], and those of `value`.
    #[inline]
    pub(crate) fn push_entry<'v>(
        &mut self,
        known: &mut KnownCodes,
        index: usize,
        value: impl FnOnce() -> &'v [u8],
    ) -> Result<()> {
        if known.epoch != self.collector.interner.epoch() {
            known.codes.clear();
            known.epoch = self.collector.interner.epoch();
        }
        match known.codes.get(index) {
            Some(&code) if code != KnownCodes::UNKNOWN => self.collector.repeat(code),
            _ => {
                let code = self.collector.push(Some(value()))?;
                // Codes of an epoch that has just ended are dropped at the next row.
                if index >= known.codes.len() {
                    known.codes.resize(index + 1, KnownCodes::UNKNOWN);
                }
                if known.epoch == self.collector.interner.epoch() {
                    known.codes[index] = code;
                }
            }
        }
        Ok(())
    }

    /// Adds a row without a value.
    ///
    /// # Errors
    /// As [`Encoder::push`].
    pub fn push_null(&mut self) -> Result<()> {
        self.collector.push(None).map(drop)
    }

    /// Rows gathered so far.
    pub fn row_count(&self) -> u64 {
        self.collected.rows.row_count() + self.collector.row_count()
    }

    /// Tells `watcher` how far writing the file is, after every few blocks and lists.
    pub fn watch(&mut self, watcher: impl Fn(Progress) + Send + Sync + 'static) {
        self.watch = Watch::of(watcher);
    }

    /// Writes the ordinary form, which is searched where it lies, also where [`Profile::Smallest`] would pack the column.
    pub fn never_pack(&mut self) {
        self.never_packs = true;
    }

    fn may_pack(&self) -> bool {
        let interners = self.collected.interners.iter().chain([&self.collector.interner]);
        let value_bytes: usize = interners.map(Interner::value_bytes).sum();
        (self.options.profile, self.options.index) == (Profile::Smallest, Index::None)
            && !self.never_packs
            && may_pack(self.row_count(), value_bytes as u64)
    }

    fn into_collected(self) -> (Collected, Watch) {
        let Self {
            mut collector,
            mut collected,
            watch,
            ..
        } = self;
        if collector.row_count() > 0 {
            let worker = collected.interners.len();
            for frame in collector.take_frames() {
                collected.rows.push(worker, frame);
            }
            let (interner, packed) = collector.into_parts();
            collected.interners.push(interner);
            collected.rows.push_worker(packed);
        }
        (collected, watch)
    }

    /// Writes the column to `out` from its start.
    ///
    /// # Errors
    /// What `out` reports, and [`ColumnError::Limit`](crate::ColumnError::Limit) for 2^32 − 1 rows or more.
    pub fn finish(self, out: &mut dyn WriteAt) -> Result<EncodeReport> {
        let start = HEADER_BYTES as u64;
        if !self.may_pack() {
            return self.write_behind(Footer::default(), start, 0, out);
        }
        let watch = self.watch.clone();
        let mut file = Vec::new();
        let mut report = self.write_behind(Footer::default(), start, 0, &mut file)?;
        let mut file = Arc::new(file);
        if let Some((form, packed)) = pack(&file, &report, &watch)? {
            (report.packed, report.file_bytes) = (Some(form), packed.len() as u64);
            file = Arc::new(packed);
        }
        out.write_all_at(&file, 0)?;
        out.sync()?;
        Ok(report)
    }

    /// Writes the column to `path`: the file appears whole or not at all.
    ///
    /// # Errors
    /// As [`Encoder::finish`], and [`ColumnError::Path`](crate::ColumnError::Path).
    pub fn write(self, path: &Path) -> Result<EncodeReport> {
        let mut file = AtomicFile::create(path)?;
        let report = self.finish(&mut file)?;
        file.commit()?;
        Ok(report)
    }

    /// Adds the rows as a further segment behind those of an existing file: `existing` reads the file that `out` writes.
    ///
    /// The old content stays valid until the header, 64 bytes, is overwritten as the last step. A packed file becomes an ordinary one.
    ///
    /// # Errors
    /// As [`Encoder::finish`]; [`ColumnError::Corrupt`](crate::ColumnError::Corrupt) and others if the file cannot be read;
    /// [`ColumnError::Unsupported`](crate::ColumnError::Unsupported) if it uses a feature that this writer does not know.
    pub fn append(self, existing: &dyn ReadAt, out: &mut dyn WriteAt) -> Result<EncodeReport> {
        let (footer, end) = existing_segments(existing, self.options, out)?;
        self.write_behind(footer, end, end, out)
    }

    /// [`Encoder::append`] to the file at `path`, once no other writer appends to it: any number of processes may.
    ///
    /// # Errors
    /// As there, and [`ColumnError::Path`](crate::ColumnError::Path).
    pub fn append_to(self, path: &Path) -> Result<EncodeReport> {
        let mut file = ExclusiveFile::open(path)?;
        self.append(&file.reader()?, &mut file)
    }

    fn write_behind(
        self,
        mut footer: Footer,
        end: u64,
        size: u64,
        out: &mut dyn WriteAt,
    ) -> Result<EncodeReport> {
        let options = self.options;
        let (collected, watch) = self.into_collected();
        let mut sections = SectionWriter::new(out, end);
        let entry = collected.write(&options, &watch, &mut sections)?;
        let footer_offset = sections.footer_offset();
        let mut report = EncodeReport::of_segment(&entry);
        footer.segments.push(entry);
        report.file_bytes = write_footer(&footer, footer_offset, size > 0, out)?;
        Ok(report)
    }
}

/// The segments of a file that is appended to, and where it ends. Those of a packed file are first written behind it, as `options` say
/// but without index.
pub(crate) fn existing_segments(
    existing: &dyn ReadAt,
    options: EncodeOptions,
    out: &mut dyn WriteAt,
) -> Result<(Footer, u64)> {
    let size = existing.size_bytes();
    let index = Index::None;
    if let Some(unpacked) = unpack(existing, EncodeOptions { index, ..options })? {
        return write_unpacked_behind(&unpacked.image, size, out);
    }
    let header = Header::read_to_append(existing)?;
    Ok((Footer::read(existing, &header)?, size))
}

/// Writes the footer and then the header that names it; gives the size of the file.
///
/// What an old header names must be whole before the new one replaces it; a new file has no old header.
pub(crate) fn write_footer(
    footer: &Footer,
    footer_offset: u64,
    replaces: bool,
    out: &mut dyn WriteAt,
) -> Result<u64> {
    let bytes = footer.to_bytes();
    out.write_all_at(&bytes, footer_offset)?;
    if replaces {
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
    Ok(footer_offset + bytes.len() as u64)
}
