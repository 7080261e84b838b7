//! An opened column: finding rows by value, values by row, and everything in order.

mod append;
mod batches;
mod decode;
mod merged;
mod report;
mod segment;
mod selection;
mod verify;
mod without_index;

use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::Mutex;

#[cfg(feature = "arrow")]
pub(crate) use batches::Upcoming;
pub use batches::{Batch, Batches};
pub use decode::push_csv_field;
#[cfg(feature = "arrow")]
pub(crate) use merged::{MergedValues, StoredValues};
pub use report::{ColumnReport, EncodingReport, SegmentReport};
pub use selection::{SelectedCodes, Selection};
pub use verify::VerifyReport;

#[cfg(feature = "arrow")]
use crate::arrow::ArrowValues;
use crate::codes::Scratch;
use crate::error::{ColumnError, Result};
use crate::format::{Footer, Header};
use crate::packed::{PackedReport, unpack};
use crate::progress::{Progress, Watch};
use crate::segment::{EncodeOptions, Profile};
use crate::storage::{FileReader, MappedFile, ReadAt};
use segment::Segment;

/// An opened column file. It can be shared between threads.
///
/// *Cost*: opening reads the header, the footer and the section tables (about 40 bytes for each 65,536 rows
/// and for each few hundred distinct values); blocks are read, and their checksums compared, when a query
/// first needs them. A packed file, at most 4 MiB of at most 2 MiB of text, is unpacked into memory when it
/// is opened, and queries read that.
pub struct Column {
    /// The file, or what a packed one is unpacked to.
    source: Box<dyn ReadAt>,
    file_bytes: u64,
    packed: Option<PackedReport>,
    segments: Vec<Segment>,
    /// Incompatible features that a reader of the segments must know.
    features: u64,
    /// What scans as Arrow arrays share; kept where the column is preloaded.
    #[cfg(feature = "arrow")]
    arrow_values: std::sync::OnceLock<ArrowValues>,
    is_preloaded: bool,
    /// The group of blocks that the last [`Column::get`] decompressed.
    last_group: Mutex<Scratch>,
    watch: Watch,
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column")
            .field("rows", &self.row_count())
            .field("segments", &self.segments.len())
            .finish_non_exhaustive()
    }
}

impl Column {
    /// Opens a file through a memory map: lowest latency, memory use up to the system's page cache.
    ///
    /// # Errors
    /// [`ColumnError::Path`]; [`ColumnError::NotAColumn`], [`ColumnError::Unsupported`] or
    /// [`ColumnError::Corrupt`] for its content.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_in(MappedFile::open(path.as_ref())?)
    }

    /// Opens a file that stays on disk: smallest memory, a few reads a query.
    ///
    /// # Errors
    /// As [`Column::open`].
    pub fn open_on_disk(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_in(FileReader::open(path.as_ref())?)
    }

    /// Refuses blocks of values that would become longer than `bytes`, decompressed. A file may hold values of 2 GiB in some
    /// kilobytes, by the format; reading one takes up to three times its block.
    pub fn limit_blocks(&mut self, bytes: u64) {
        for segment in &mut self.segments {
            segment.dictionary.limit_blocks(bytes);
        }
    }

    /// Opens a column in any source, such as a `Vec<u8>`.
    ///
    /// # Errors
    /// [`ColumnError::NotAColumn`], [`ColumnError::Unsupported`] or [`ColumnError::Corrupt`] for its
    /// content, and what the source reports.
    pub fn open_in(source: impl ReadAt + 'static) -> Result<Self> {
        let mut source: Box<dyn ReadAt> = Box::new(source);
        let file_bytes = source.size_bytes();
        let quick = EncodeOptions {
            profile: Profile::Fastest,
            ..EncodeOptions::default()
        };
        let unpacked = unpack(&*source, quick)?;
        let packed = unpacked.map(|unpacked| {
            let memory_bytes = unpacked.image.len() as u64;
            source = Box::new(unpacked.image);
            PackedReport {
                form: unpacked.form,
                memory_bytes,
            }
        });
        let header = Header::read(&*source)?;
        let Footer {
            segments: entries,
            features,
        } = Footer::read(&*source, &header)?;
        let mut first_row = 0;
        let mut segments = Vec::with_capacity(entries.len());
        for entry in entries {
            let row_count = entry.row_count;
            segments.push(Segment::open(&*source, entry, first_row, features)?);
            first_row += row_count;
        }
        Ok(Self {
            source,
            file_bytes,
            packed,
            segments,
            features,
            #[cfg(feature = "arrow")]
            arrow_values: std::sync::OnceLock::new(),
            is_preloaded: false,
            last_group: Mutex::default(),
            watch: Watch::default(),
        })
    }

    /// Trades memory for latency: decompresses the dictionary, keeps the offsets of the postings, and where
    /// the file has no postings builds them in memory.
    ///
    /// *Cost*: the dictionary's bytes, and once more from the first [`Column::scan`] on; without postings in the file, also one
    /// decode of the column and four bytes per row.
    ///
    /// # Errors
    /// [`ColumnError::Corrupt`] and what the source reports.
    pub fn preload(&mut self) -> Result<()> {
        let source = &*self.source;
        self.segments
            .iter_mut()
            .try_for_each(|segment| segment.preload(source))?;
        self.is_preloaded = true;
        Ok(())
    }

    /// What scans as Arrow arrays share: made by `make`, or kept from an earlier scan of a preloaded column.
    #[cfg(feature = "arrow")]
    pub(crate) fn arrow_values(&self, make: impl FnOnce() -> Result<ArrowValues>) -> Result<ArrowValues> {
        if let Some(kept) = self.arrow_values.get() {
            return Ok(kept.clone());
        }
        let made = make()?;
        if self.is_preloaded {
            // Another thread may have been faster with the same values.
            return Ok(self.arrow_values.get_or_init(|| made).clone());
        }
        Ok(made)
    }

    /// Tells `watcher` after each block how far [`Column::decode_text`], [`Column::verify`],
    /// [`Column::compact`] and the like have come.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// # let mut file = Vec::new();
    /// # encode_text("a\nb\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// let rows_done = Arc::new(AtomicU64::new(0));
    /// let seen = Arc::clone(&rows_done);
    /// let mut column = Column::open_in(file)?;
    /// column.watch(move |progress| seen.store(progress.done, Ordering::Relaxed));
    /// column.verify()?;
    /// assert_eq!(rows_done.load(Ordering::Relaxed), 2);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    pub fn watch(&mut self, watcher: impl Fn(Progress) + Send + Sync + 'static) {
        self.watch = Watch::of(watcher);
    }

    /// Says that the rows up to `done` are decoded.
    #[cfg(feature = "arrow")]
    pub(crate) fn report_rows(&self, done: u64) {
        self.watch.report(crate::Step::Rows, done, self.row_count());
    }

    /// Rows, nulls included.
    pub fn row_count(&self) -> u64 {
        self.segments.iter().map(Segment::row_count).sum()
    }

    /// Rows that are null.
    pub fn null_count(&self) -> u64 {
        self.segments.iter().map(|segment| segment.entry.null_count).sum()
    }

    /// Whether rows can be had from values without a scan.
    pub fn has_index(&self) -> bool {
        self.segments.iter().all(Segment::has_index)
    }

    /// The same of some rows, if not of all: each segment is written with an index or without one.
    pub fn has_any_index(&self) -> bool {
        self.segments.iter().any(Segment::has_index)
    }

    /// Whether values can be had from rows: false for a file written with the index only.
    pub fn has_codes(&self) -> bool {
        self.segments.iter().all(|segment| segment.codes.is_some())
    }

    /// Rows with exactly `value`.
    ///
    /// # Errors
    /// [`ColumnError::Corrupt`] and what the source reports, as all searches.
    pub fn find(&self, value: &[u8]) -> Result<Selection<'_>> {
        self.select(|segment| {
            let code = segment.find(&*self.source, value)?;
            Ok(code.map(|code| (code, code)).into_iter().collect())
        })
    }

    /// Rows with any of `values`, of which `None` is null.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// # let mut file = Vec::new();
    /// # encode_text("a\nb\nc\na\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// # let column = Column::open_in(file)?;
    /// let selected = column.find_in([Some(&b"c"[..]), Some(b"a"), Some(b"no such"), None])?;
    /// assert_eq!(selected.rows()?, [0, 2, 3]);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Column::find`].
    pub fn find_in<'v>(&self, values: impl IntoIterator<Item = Option<&'v [u8]>>) -> Result<Selection<'_>> {
        let mut wanted: Vec<Option<&[u8]>> = values.into_iter().collect();
        wanted.sort_unstable();
        wanted.dedup();
        self.select(|segment| {
            let mut codes = Vec::new();
            for value in &wanted {
                codes.extend(match value {
                    Some(value) => segment.find(&*self.source, value)?,
                    None => segment.null_code(),
                });
            }
            codes.sort_unstable();
            Ok(codes.into_iter().map(|code| (code, code)).collect())
        })
    }

    /// Rows that are null.
    ///
    /// # Errors
    /// As [`Column::find`].
    pub fn find_null(&self) -> Result<Selection<'_>> {
        self.select(|segment| Ok(segment.null_code().map(|code| (code, code)).into_iter().collect()))
    }

    /// Rows whose value begins with `prefix`.
    ///
    /// # Errors
    /// As [`Column::find`].
    pub fn find_prefix(&self, prefix: &[u8]) -> Result<Selection<'_>> {
        self.select(|segment| {
            let codes = segment.dictionary.prefix(&*self.source, prefix)?;
            Ok(inclusive(codes.start, codes.end))
        })
    }

    /// Rows whose value lies in `range`, compared byte by byte.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// # let mut file = Vec::new();
    /// # encode_text("a\nb\nc\nd\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// # let column = Column::open_in(file)?;
    /// assert_eq!(column.find_range(&b"b"[..]..&b"d"[..])?.rows()?, [1, 2]);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Column::find`].
    pub fn find_range<'v>(&self, range: impl RangeBounds<&'v [u8]>) -> Result<Selection<'_>> {
        self.select(|segment| {
            let source = &*self.source;
            let start = match range.start_bound() {
                Bound::Included(value) => segment.dictionary.lower_bound(source, value)?,
                Bound::Excluded(value) => segment.dictionary.upper_bound(source, value)?,
                Bound::Unbounded => 0,
            };
            let end = match range.end_bound() {
                Bound::Included(value) => segment.dictionary.upper_bound(source, value)?,
                Bound::Excluded(value) => segment.dictionary.lower_bound(source, value)?,
                Bound::Unbounded => segment.dictionary.value_count() as u32,
            };
            Ok(inclusive(start, end))
        })
    }

    /// Rows whose value satisfies `predicate`, which is asked once for each distinct value of a segment.
    ///
    /// # Errors
    /// As [`Column::find`].
    pub fn matching(&self, mut predicate: impl FnMut(&[u8]) -> bool) -> Result<Selection<'_>> {
        self.select(|segment| {
            let mut ranges: Vec<(u32, u32)> = Vec::new();
            let all = 0..segment.dictionary.value_count() as u32;
            segment.dictionary.for_each(&*self.source, all, |code, value| {
                if predicate(value) {
                    match ranges.last_mut() {
                        Some((_, last)) if *last + 1 == code => *last = code,
                        _ => ranges.push((code, code)),
                    }
                }
                Ok(())
            })?;
            Ok(ranges)
        })
    }

    fn select(
        &self,
        mut ranges_of: impl FnMut(&Segment) -> Result<Vec<(u32, u32)>>,
    ) -> Result<Selection<'_>> {
        let parts = self
            .segments
            .iter()
            .map(|segment| Ok((segment, ranges_of(segment)?)))
            .collect::<Result<_>>()?;
        Ok(Selection::new(&*self.source, parts))
    }

    /// The value of `row`; `None` if it is null. *Cost*: one code block and one dictionary block.
    ///
    /// # Errors
    /// [`ColumnError::NoSuchRow`]; [`ColumnError::NoCodes`] in a file with the index only;
    /// [`ColumnError::Corrupt`]; what the source reports.
    pub fn get(&self, row: u64) -> Result<Option<Vec<u8>>> {
        let row_count = self.row_count();
        let index = self
            .segments
            .partition_point(|segment| segment.first_row + segment.row_count() <= row);
        let segment = self
            .segments
            .get(index)
            .ok_or(ColumnError::NoSuchRow { row, row_count })?;
        // Another thread may be at it: then the group is decompressed for this row alone.
        let (mut kept, mut own) = (self.last_group.try_lock().ok(), Scratch::default());
        let scratch = kept.as_deref_mut().unwrap_or(&mut own);
        let code = segment.code_at(&*self.source, row - segment.first_row, scratch)?;
        if Some(code) == segment.null_code() {
            return Ok(None);
        }
        let mut value = Vec::new();
        segment.dictionary.get(&*self.source, code, &mut value)?;
        Ok(Some(value))
    }

    /// All rows in order, as dictionary codes, a block at a time.
    ///
    /// # Errors
    /// [`ColumnError::NoCodes`] in a file with the index only.
    pub fn scan_codes(&self) -> Result<Batches<'_>> {
        if self.has_codes() {
            Ok(Batches::new(&*self.source, &self.segments))
        } else {
            Err(ColumnError::NoCodes)
        }
    }

    /// Calls `action` with each block of rows in order: [`Column::scan_codes`]
    /// without an allocation for each block.
    ///
    /// # Errors
    /// Those of `action`; [`ColumnError::NoCodes`] in a file with the index only;
    /// [`ColumnError::Corrupt`]; what the source reports.
    pub fn for_each_batch(&self, mut action: impl FnMut(&Batch) -> Result<()>) -> Result<()> {
        let mut batches = self.scan_codes()?;
        let mut batch = Batch::default();
        while batches.next_into(&mut batch)? {
            action(&batch)?;
        }
        Ok(())
    }

    /// Calls `action` with each distinct value, in byte order within each segment, and the
    /// number of its segment and code.
    ///
    /// # Errors
    /// Those of `action`; [`ColumnError::Corrupt`]; what the source reports.
    pub fn for_each_value(&self, mut action: impl FnMut(usize, u32, &[u8]) -> Result<()>) -> Result<()> {
        for (index, segment) in self.segments.iter().enumerate() {
            let all = 0..segment.dictionary.value_count() as u32;
            segment
                .dictionary
                .for_each(&*self.source, all, |code, value| action(index, code, value))?;
        }
        Ok(())
    }
}

/// The codes `start..end` as at most one inclusive range.
fn inclusive(start: u32, end: u32) -> Vec<(u32, u32)> {
    if start < end {
        vec![(start, end - 1)]
    } else {
        Vec::new()
    }
}
