//! The builder of a column, rows in and file out, and what it reports.

use std::path::Path;

use crate::error::Result;
use crate::format::{Footer, Header, SectionKind, SegmentEntry};
use crate::name;
use crate::packed::{PackableRows, PackedForm, unpack, write_unpacked_behind};
use crate::progress::{Progress, Watch};
use crate::segment::{
    Collected, Collector, EncodeOptions, Index, KnownCodes, NumberedRows, Profile, Technique, Techniques,
};
use crate::storage::{AtomicFile, ExclusiveFile, ReadAt, WriteAt};

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
    options: EncodeOptions,
    collector: Collector,
    collected: Collected,
    watch: Watch,
    never_packs: bool,
    left_out: Techniques,
    name: Option<String>,
    #[cfg(feature = "arrow")]
    pub(crate) foreign: crate::arrow::ForeignDictionary,
}

impl Encoder {
    /// An encoder without rows.
    pub fn new(options: EncodeOptions) -> Self {
        Self::with_rows(options, Collected::default())
    }

    /// An encoder with these rows.
    pub(super) fn with_rows(options: EncodeOptions, collected: Collected) -> Self {
        Self {
            options,
            collector: Collector::default(),
            collected,
            watch: Watch::default(),
            never_packs: false,
            left_out: Techniques::default(),
            name: None,
            #[cfg(feature = "arrow")]
            foreign: crate::arrow::ForeignDictionary::default(),
        }
    }

    /// Adds a row with `value`, which may be any bytes.
    ///
    /// # Errors
    /// [`ColumnError::Limit`](crate::ColumnError::Limit) for a value of 2 GiB or more
    /// and for too many distinct values.
    pub fn push(&mut self, value: &[u8]) -> Result<()> {
        self.collector.push(Some(value)).map(drop)
    }

    /// Adds a row with entry `index` of a foreign dictionary, whose `value` is
    /// only asked for at its first row.
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
        self.collector.push_entry(known, index, value)
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
        self.collected.row_count() + self.collector.row_count()
    }

    /// Tells `watcher` how far writing the file is, after every few blocks and lists.
    pub fn watch(&mut self, watcher: impl Fn(Progress) + Send + Sync + 'static) {
        self.watch = Watch::of(watcher);
    }

    /// Writes the ordinary form, which is searched in place, even where
    /// [`Profile::Smallest`] would pack the column.
    pub fn never_pack(&mut self) {
        self.never_packs = true;
    }

    /// Writes the file without a technique, to measure what it saves. The ordinary form is written, and readers know
    /// nothing of what was left out.
    pub fn leave_out(&mut self, technique: Technique) {
        self.left_out.insert(technique);
        self.never_packs = true;
    }

    /// Keeps what the column is called in the table that it comes from; an empty name is none.
    ///
    /// # Errors
    /// [`ColumnError::Limit`](crate::ColumnError::Limit) for more than
    /// [`NAME_BYTES_LIMIT`](crate::NAME_BYTES_LIMIT) bytes.
    pub fn set_name(&mut self, name: &str) -> Result<()> {
        self.name = name::to_write(name)?;
        Ok(())
    }

    /// The rows with their values numbered, and who wants to know how far writing them is.
    fn into_numbered(mut self) -> Result<(NumberedRows, Watch)> {
        if self.collector.row_count() > 0 {
            self.collected.push(self.collector);
        }
        let rows = self.collected.numbered(self.options.threads)?;
        let (left_out, name) = (self.left_out, self.name);
        let rows = NumberedRows {
            left_out,
            name,
            ..rows
        };
        Ok((rows, self.watch))
    }

    /// Writes the column to `out` from its start.
    ///
    /// # Errors
    /// What `out` reports, and [`ColumnError::Limit`](crate::ColumnError::Limit) for 2^32 − 1 rows or more.
    pub fn finish(self, out: &mut dyn WriteAt) -> Result<EncodeReport> {
        let options = self.options;
        let packs = (options.profile, options.index) == (Profile::Smallest, Index::None) && !self.never_packs;
        let (rows, watch) = self.into_numbered()?;
        let packable = packs.then(|| PackableRows::of(&rows)).flatten();
        let name = rows.name.clone();
        let mut file = Vec::new();
        let target = if packable.is_some() { &mut file } else { &mut *out };
        let (segment, file_bytes) = rows.write_file(&options, &watch, None, target)?;
        let mut report = EncodeReport::of_segment(&segment, file_bytes);
        let Some(packable) = packable else {
            return Ok(report);
        };
        if let Some((form, mut packed)) = packable.pack(file.len(), &watch)? {
            packed.extend(name.as_deref().map(name::behind_packed).unwrap_or_default());
            (report.packed, report.file_bytes) = (Some(form), packed.len() as u64);
            file = packed;
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

    /// Appends the rows as a new segment to an existing file: `existing` reads the file that `out` writes.
    ///
    /// The old content stays valid until the last step overwrites the header (64 bytes). A
    /// packed file becomes an ordinary one.
    ///
    /// # Errors
    /// As [`Encoder::finish`]; [`ColumnError::Corrupt`](crate::ColumnError::Corrupt) and others if the file
    /// cannot be read; [`ColumnError::Unsupported`](crate::ColumnError::Unsupported) if it uses a feature
    /// that this writer does not know.
    pub fn append(self, existing: &dyn ReadAt, out: &mut dyn WriteAt) -> Result<EncodeReport> {
        let options = self.options;
        let existing = existing_segments(existing, options, out)?;
        let (rows, watch) = self.into_numbered()?;
        let (segment, file_bytes) = rows.write_file(&options, &watch, Some(existing), out)?;
        Ok(EncodeReport::of_segment(&segment, file_bytes))
    }

    /// [`Encoder::append`] to the file at `path`, once no other writer is appending to it.
    ///
    /// # Errors
    /// As there, and [`ColumnError::Path`](crate::ColumnError::Path).
    pub fn append_to(self, path: &Path) -> Result<EncodeReport> {
        let mut file = ExclusiveFile::open(path)?;
        let appended = self.append(&file.reader()?, &mut file);
        appended.inspect_err(|_| file.cut_back())
    }
}

/// What an encode wrote. Of a packed file, the sections are those that the ordinary form would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EncodeReport {
    /// Rows, nulls included.
    pub row_count: u64,
    /// Distinct values, null not counted.
    pub value_count: u64,
    /// Rows that are null.
    pub null_count: u64,
    /// Bytes of all rows' values, separators not counted.
    pub text_bytes: u64,
    /// Bytes of the dictionary section.
    pub dictionary_bytes: u64,
    /// Bytes of the class map section; 0 where there is none.
    pub class_map_bytes: u64,
    /// Bytes of the forward codes; 0 where there are none.
    pub codes_bytes: u64,
    /// Bytes of the postings; 0 where there are none.
    pub postings_bytes: u64,
    /// Size of the whole file in bytes.
    pub file_bytes: u64,
    /// The packed form of the file; `None` if it has the ordinary form.
    pub packed: Option<PackedForm>,
    /// log2 of the multinomial coefficient of the value counts, in bytes: the least that the order of the
    /// rows takes in any coding that knows only the counts, without the dictionary.
    pub floor_bytes: u64,
}

impl EncodeReport {
    /// What a segment holds, in a file of that size.
    pub(crate) fn of_segment(entry: &SegmentEntry, file_bytes: u64) -> Self {
        let bytes = |kind| entry.section(kind).map_or(0, |section| section.length);
        Self {
            row_count: entry.row_count,
            value_count: entry.value_count,
            null_count: entry.null_count,
            text_bytes: entry.text_bytes,
            dictionary_bytes: bytes(SectionKind::Dictionary),
            class_map_bytes: bytes(SectionKind::ClassMap),
            codes_bytes: bytes(SectionKind::Codes),
            postings_bytes: bytes(SectionKind::Postings),
            file_bytes,
            packed: None,
            floor_bytes: entry.floor_bits.div_ceil(8),
        }
    }

    /// Adds the figures of another segment of the same file.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.row_count, other.row_count),
            (&mut self.value_count, other.value_count),
            (&mut self.null_count, other.null_count),
            (&mut self.text_bytes, other.text_bytes),
            (&mut self.dictionary_bytes, other.dictionary_bytes),
            (&mut self.class_map_bytes, other.class_map_bytes),
            (&mut self.codes_bytes, other.codes_bytes),
            (&mut self.postings_bytes, other.postings_bytes),
            (&mut self.floor_bytes, other.floor_bytes),
        ] {
            *sum += part;
        }
    }
}

/// The segments of a file that is appended to, and where it ends. Those of a packed file are first written
/// behind it, as `options` say but without index.
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
