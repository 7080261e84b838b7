//! A column of a Parquet file, its dictionary pages used as they are.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;

use super::as_text::{ValueKind, as_strings};
use super::parquet_errors::{FORMAT, damaged, foreign, of_batch, of_parquet};
use super::parquet_pages::{RowBytes, StoredPage, for_each_page, is_elsewhere};
use super::{ForeignField, fields_of, find_column, guarded, parquet_counts, parquet_footer};
use crate::encode::InputColumn;
use crate::error::{ColumnError, Result};

/// What a file begins and ends with.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";
/// The same where the footer is encrypted.
const ENCRYPTED_MAGIC: &[u8; 4] = b"PARE";

/// Bytes of decoded column that a batch should stay below.
const BATCH_BYTES: u64 = 32 << 20;
/// A batch of long values may have a single row; above a million rows, a larger batch is no faster.
const BATCH_ROWS: std::ops::RangeInclusive<u64> = 1..=1 << 20;

/// Iterator over the arrays of one column of a Parquet file: dictionary arrays that
/// share their row group's dictionary, or the text forms of numbers, dates and booleans.
///
/// *Cost in memory*: a batch of at most 32 MiB and what two pages hold, whatever the footer says of sizes; the dictionary page of a row group. A
/// page is as large as its header says: [`ParquetStrings::check_pages`] can refuse it.
///
/// An example is at [`crate::Column::write_parquet`].
pub struct ParquetStrings<'c, R> {
    metadata: ArrowReaderMetadata,
    /// What opens each row group: a copy of the file's handle.
    input: Arc<R>,
    column: usize,
    next_group: usize,
    reader: Option<ParquetRecordBatchReader>,
    /// Rows that the row group at hand promises, less those that were read.
    rows_left: u64,
    keeps_types: bool,
    check: Option<PageCheck<'c>>,
}

/// Looks at a page before it is read.
type PageCheck<'c> = Box<dyn FnMut(&StoredPage) -> Result<()> + Send + 'c>;

impl<R> std::fmt::Debug for ParquetStrings<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetStrings")
            .field("column", &self.column)
            .field("next_group", &self.next_group)
            .finish_non_exhaustive()
    }
}

impl<'c, R: ChunkReader + 'static> ParquetStrings<'c, R> {
    /// Reads the footer and finds the column. `input` is a [`std::fs::File`], or bytes in memory.
    ///
    /// # Errors
    /// [`ColumnError::NoSuchColumn`] and [`ColumnError::NotStrings`] with the columns that there are;
    /// [`ColumnError::Foreign`] for bytes that are not Parquet; what `input` reports.
    pub fn open(input: R, column: InputColumn<'_>) -> Result<Self> {
        guarded(FORMAT, || {
            let metadata = footer(&input)?;
            let column = find_column(metadata.schema(), column)?;
            let dictionaries = with_dictionaries(metadata.schema());
            let options = ArrowReaderOptions::new()
                .with_skip_arrow_metadata(true)
                .with_schema(dictionaries);
            let metadata =
                ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(of_parquet)?;
            Ok(Self {
                metadata,
                input: Arc::new(input),
                column,
                next_group: 0,
                reader: None,
                rows_left: 0,
                keeps_types: false,
                check: None,
            })
        })
    }

    /// The same arrays with the types that the file has, for whoever writes the column again.
    ///
    /// # Errors
    /// As [`ParquetStrings::open`].
    pub fn open_typed(input: R, column: InputColumn<'_>) -> Result<Self> {
        let mut arrays = Self::open(input, column)?;
        arrays.metadata = guarded(FORMAT, || footer(arrays.input.as_ref()))?;
        arrays.keeps_types = true;
        Ok(arrays)
    }

    /// The arrays of the column at a position, whatever its type: of one without a text form, too.
    ///
    /// # Errors
    /// [`ColumnError::NoSuchColumn`] and [`ColumnError::Foreign`], as [`ParquetStrings::open`].
    pub fn open_any(input: R, number: usize) -> Result<Self> {
        guarded(FORMAT, || {
            let metadata = footer(&input)?;
            let fields = metadata.schema().fields();
            if number >= fields.len() {
                return Err(ColumnError::NoSuchColumn {
                    wanted: InputColumn::Numbered(number).wanted(),
                    existing: fields.iter().map(|field| field.name().clone()).collect(),
                    delimiter: None,
                });
            }
            Ok(Self {
                metadata,
                input: Arc::new(input),
                column: number,
                next_group: 0,
                reader: None,
                rows_left: 0,
                keeps_types: true,
                check: None,
            })
        })
    }

    /// Has `check` look at each page of a row group before the first of them is read, by its header; its error ends the iterator.
    #[must_use]
    pub fn check_pages(mut self, check: impl FnMut(&StoredPage) -> Result<()> + Send + 'c) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Rows that the footer promises.
    pub fn row_count(&self) -> u64 {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Counts rows that were read of the row group at hand; it may have no more than it promises …
    fn count(&mut self, rows: usize) -> Result<()> {
        let left = self.rows_left.checked_sub(rows as u64);
        self.rows_left = left.ok_or_else(|| damaged("a row group has more rows than its footer says"))?;
        Ok(())
    }

    /// … and, once it is read, no fewer.
    fn end_group(&self) -> Result<()> {
        match self.rows_left {
            0 => Ok(()),
            left => Err(damaged(&format!(
                "a row group has {left} rows fewer than its footer says"
            ))),
        }
    }

    fn next_array(&mut self) -> Result<Option<ArrayRef>> {
        loop {
            if let Some(reader) = &mut self.reader {
                match reader.next() {
                    Some(batch) => {
                        let array = ArrayRef::clone(batch.map_err(of_batch)?.column(0));
                        self.count(array.len())?;
                        let array = if self.keeps_types {
                            array
                        } else {
                            as_strings(array)?
                        };
                        return Ok(Some(array));
                    }
                    None => self.reader = None,
                }
                self.end_group()?;
            }
            let metadata = self.metadata.metadata();
            if self.next_group >= metadata.num_row_groups() {
                return Ok(None);
            }
            // A reader of its own for each row group: its batches then share one dictionary.
            let group = metadata.row_group(self.next_group);
            let parquet_schema = metadata.file_metadata().schema_descr();
            let mask = ProjectionMask::roots(parquet_schema, [self.column]);
            let (mut bytes, check) = (RowBytes::default(), &mut self.check);
            let mut has_lengths = false;
            for_each_page(self.input.as_ref(), group, &mask, |page| {
                bytes.count(page);
                has_lengths |= page.encoding.has_lengths();
                check.as_mut().map_or(Ok(()), |check| check(page))
            })?;
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            for leaf in (0..group.num_columns()).filter(|&leaf| mask.leaf_included(leaf)) {
                let pages = || {
                    let input = Shared(Arc::clone(&self.input));
                    parquet_counts::pages(input, group.column(leaf), rows as usize)
                };
                if has_lengths {
                    parquet_counts::check(pages()?, group.column(leaf))?;
                }
                let is_of_strings = group.column(leaf).column_type() == Type::BYTE_ARRAY;
                if is_of_strings && bytes.is_expanded(self.keeps_types) {
                    bytes.expand(parquet_counts::longest_in_dictionary(pages()?)?);
                }
            }
            let row_bytes = bytes.of_row(rows).saturating_add(8);
            let batch_rows = (BATCH_BYTES / row_bytes).clamp(*BATCH_ROWS.start(), *BATCH_ROWS.end());
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                Shared(Arc::clone(&self.input)),
                self.metadata.clone(),
            );
            let reader = builder
                .with_projection(mask)
                .with_row_groups(vec![self.next_group])
                .with_batch_size(batch_rows as usize)
                .build()
                .map_err(of_parquet)?;
            self.reader = Some(reader);
            self.rows_left = rows;
            self.next_group += 1;
        }
    }
}

impl<R: ChunkReader + 'static> Iterator for ParquetStrings<'_, R> {
    type Item = Result<ArrayRef>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = guarded(FORMAT, || self.next_array());
        if next.is_err() {
            self.reader = None;
            self.next_group = usize::MAX;
        }
        next.transpose()
    }
}

/// The columns of a Parquet file, in order; only its footer is read.
///
/// # Errors
/// [`ColumnError::Foreign`] for bytes that are not Parquet; what `input` reports.
pub fn parquet_fields<R: ChunkReader>(input: &R) -> Result<Vec<ForeignField>> {
    guarded(FORMAT, || Ok(fields_of(footer(input)?.schema())))
}

/// Schema and row groups as Parquet has them, without what an Arrow writer added.
pub(super) fn footer<R: ChunkReader>(input: &R) -> Result<ArrowReaderMetadata> {
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    parquet_footer::check(input).map_err(|why| {
        foreign(format!(
            "the file is damaged, or a later version of Parquet wrote it: {why}; write the file again"
        ))
    })?;
    let metadata = ArrowReaderMetadata::load(input, plain).map_err(|error| match ends_of(input) {
        Some((true, false)) => foreign(format!(
            "the file is truncated, or still being written: it ends at byte {} without the footer that every Parquet file ends with; copy it \
             again in full",
            input.len()
        )),
        Some((false, false)) => foreign(
            "the file is not Parquet: it neither begins nor ends with PAR1; give it the ending of what it is, such as .csv or .arrow".to_owned(),
        ),
        _ => of_parquet(error),
    })?;
    match contradiction(metadata.metadata(), input.len()) {
        None => Ok(metadata),
        Some(what) => Err(damaged(&what)),
    }
}

/// What a footer says of its row groups and columns that cannot be, in a file of this size.
fn contradiction(footer: &ParquetMetaData, file_bytes: u64) -> Option<String> {
    let groups = || footer.row_groups().iter();
    let chunks = || groups().flat_map(RowGroupMetaData::columns);
    // The library asserts that they are not.
    let has_number_below_zero = |chunk: &ColumnChunkMetaData| {
        let dictionary = chunk.dictionary_page_offset().unwrap_or(0);
        let numbers = [chunk.compressed_size(), chunk.data_page_offset(), dictionary];
        numbers.into_iter().any(|number| number < 0)
    };
    if chunks().any(has_number_below_zero) {
        return Some("a column begins or ends below zero".to_owned());
    }
    // A summary of several files has their columns.
    let own = || chunks().filter(|chunk| !is_elsewhere(chunk));
    if own().any(|chunk| chunk.byte_range().0 > file_bytes) {
        return Some("a column begins beyond the end of the file".to_owned());
    }
    let promised = footer.file_metadata().num_rows();
    let rows = groups().fold(0_i64, |sum, group| sum.saturating_add(group.num_rows()));
    if rows != promised {
        return Some(format!(
            "its footer promises {promised} rows, and its row groups {rows}"
        ));
    }
    // Pages that several columns or row groups share would be read once for each.
    let sizes = own().fold(0_u64, |sum, chunk| {
        sum.saturating_add(chunk.compressed_size() as u64)
    });
    (sizes > file_bytes).then(|| "its columns take more bytes than the file has".to_owned())
}

/// Whether the file begins, and whether it ends, as Parquet does, encrypted or not; none where that cannot be read.
fn ends_of<R: ChunkReader>(input: &R) -> Option<(bool, bool)> {
    let size = input.len();
    let is_magic = |bytes: &[u8]| bytes == MAGIC || bytes == ENCRYPTED_MAGIC;
    let begins = is_magic(&input.get_bytes(0, MAGIC.len().min(size as usize)).ok()?);
    let Some(last) = size.checked_sub(MAGIC.len() as u64) else {
        return Some((begins, false));
    };
    // The beginning of a shorter file is its end, too.
    let is_long_enough = size >= 3 * MAGIC.len() as u64;
    let ends = is_magic(&input.get_bytes(last, MAGIC.len()).ok()?);
    Some((begins, ends && is_long_enough))
}

/// One file, read by one row group's reader after the other.
struct Shared<R>(Arc<R>);

impl<R: ChunkReader> parquet::file::reader::Length for Shared<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Shared<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// The same schema with each column of strings asked for as a dictionary, so that pages are not expanded.
fn with_dictionaries(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        if ValueKind::of(field.data_type()) != ValueKind::Strings {
            return field.as_ref().clone();
        }
        let data_type = DataType::Dictionary(Box::new(DataType::Int32), Box::new(field.data_type().clone()));
        Field::new(field.name(), data_type, field.is_nullable())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
