//! Parquet and Arrow IPC, read by the column codec's own readers.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use arrow_array::ArrayRef;
use outcrop_column::arrow::{
    ArrowStrings, ForeignField, ParquetStrings, StoredColumn, StoredPage, array_parts, arrow_fields,
    for_each_page, parquet_fields, parquet_stored, refuse_longer_values,
};
use outcrop_column::{ColumnError, InputColumn, LINE_BYTES_LIMIT};
use outcrop_input::Input;
use outcrop_measure::units::format_bytes;

use super::parts::{Ended, Part, Visit};
use super::{Extent, Table, TableColumn, TableFormat, open, open_file, table_error};
use crate::error::BenchError;

/// Bytes of the text form of a number or a date, where nothing better is known.
const TEXT_FORM_BYTES: u64 = 8;

/// Reads the schema, and the footer of a Parquet file.
pub(super) fn describe(path: &Path, format: TableFormat) -> Result<Table, BenchError> {
    let failed = |error: ColumnError| table_error(path, error.to_string());
    let (fields, extents): (Vec<ForeignField>, Vec<Extent>) = if format == TableFormat::Parquet {
        let file = open_file(path)?;
        let stored = parquet_stored(&file).map_err(failed)?;
        (
            parquet_fields(&file).map_err(failed)?,
            stored.iter().map(extent_of).collect(),
        )
    } else {
        let fields = arrow_fields(BufReader::new(open(path)?)).map_err(failed)?;
        let file_bytes = open_file(path)?.metadata().map_or(0, |file| file.len());
        let share = file_bytes / fields.len().max(1) as u64;
        // Its footer says nothing of single columns.
        let extent = Extent {
            row_count: share / TEXT_FORM_BYTES,
            text_bytes: share,
            file_bytes: share,
            distinct_bytes: share,
            read_bytes: file_bytes,
        };
        let extents = vec![extent; fields.len()];
        (fields, extents)
    };
    let column = |(number, (field, extent)): (usize, (ForeignField, Extent))| TableColumn {
        number,
        name: field.name,
        kind: field.kind,
        type_name: Some(field.type_name),
        extent,
    };
    let columns = fields.into_iter().zip(extents).enumerate().map(column);
    Ok(Table::of_file(format, columns.collect()))
}

/// What a dictionary repeats, a footer does not say.
fn extent_of(stored: &StoredColumn) -> Extent {
    let row_count = stored.row_count();
    Extent {
        row_count,
        text_bytes: stored
            .uncompressed_bytes
            .max(row_count.saturating_mul(TEXT_FORM_BYTES)),
        file_bytes: stored.bytes(),
        // A dictionary that was worth it is in these bytes already.
        distinct_bytes: stored.uncompressed_bytes,
        read_bytes: stored.bytes(),
    }
}

/// How the file holds the column.
pub(crate) fn stored(path: &Path, column: &TableColumn) -> Result<StoredColumn, BenchError> {
    let failed = |error: ColumnError| table_error(path, error.to_string());
    let columns = parquet_stored(&open_file(path)?).map_err(failed)?;
    let found = columns.into_iter().nth(column.number);
    found.ok_or_else(|| table_error(path, "fewer columns than before; the file has changed"))
}

fn parquet(path: &Path, column: &TableColumn) -> Result<ParquetStrings<File>, BenchError> {
    refuse_large_pages(path, column)?;
    let arrays = ParquetStrings::open(open_file(path)?, InputColumn::Numbered(column.number));
    arrays.map_err(|error| table_error(path, error.to_string()))
}

/// A page is decompressed as a whole, and takes some three times its size then. Writers make pages of a few megabytes; long values make
/// larger ones, which are larger in the file, too.
const PAGE_BYTES_LIMIT: u64 = 512 << 20;
const TIMES_PAGE: u64 = 16;
/// No gzip file becomes more times as large, and no LZ4 frame a fourth of that.
const GZIP_RATIO_LIMIT: u64 = 1032;

/// Magic number of LZ4's legacy frames, which the Parquet reader decodes and `outcrop_input` does not.
const LZ4_OLD_MAGIC: [u8; 4] = 0x184c_2102_u32.to_le_bytes();

/// The most bytes that a page may decompress to.
fn limit_of(page: &StoredPage) -> u64 {
    page.bytes.saturating_mul(TIMES_PAGE).max(PAGE_BYTES_LIMIT)
}

/// Refuses a column with a page that is larger than it may be in memory.
fn refuse_large_pages(path: &Path, column: &TableColumn) -> Result<(), BenchError> {
    let file = open_file(path)?;
    let mut large = None;
    let visit = |page: StoredPage| {
        let claims_more = page.uncompressed_bytes > limit_of(&page);
        if claims_more || !page.is_bounded && is_longer(&file, &page)? {
            large = Some(page);
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    };
    for_each_page(&file, column.number, visit).map_err(|error| table_error(path, error.to_string()))?;
    let Some(page) = large else {
        return Ok(());
    };
    let detail = format!(
        "column {} has a page of {} that decompresses to more than {}, but a page is held in memory as a whole; write the file with smaller pages, \
         or leave the column out",
        column.name,
        format_bytes(page.bytes),
        format_bytes(limit_of(&page))
    );
    Err(table_error(path, detail))
}

/// Whether a page decompresses to more than is allowed, whatever its header says.
fn is_longer(file: &File, page: &StoredPage) -> Result<bool, ColumnError> {
    let limit = limit_of(page);
    if page.bytes.saturating_mul(GZIP_RATIO_LIMIT) <= limit {
        return Ok(false);
    }
    let mut file = file;
    let mut magic = [0; LZ4_OLD_MAGIC.len()];
    file.read_exact_at(&mut magic, page.offset)?;
    if magic == LZ4_OLD_MAGIC {
        // Only a decoder tells, and nothing that is known writes these into Parquet.
        return Ok(true);
    }
    file.seek(SeekFrom::Start(page.offset))?;
    // What is damaged, the reader of the column says.
    let page = Input::open("page", BufReader::new(file.take(page.bytes)));
    let bytes = page.and_then(|page| io::copy(&mut page.take(limit + 1), &mut io::sink()));
    Ok(bytes.is_ok_and(|bytes| bytes > limit))
}

fn buffered(path: &Path) -> Result<BufReader<Input<File>>, BenchError> {
    Ok(BufReader::with_capacity(1 << 20, open(path)?))
}

pub(super) fn for_each_of_parquet(
    path: &Path,
    column: &TableColumn,
    visit: &mut Visit<'_>,
) -> Result<Ended, BenchError> {
    for_each(path, parquet(path, column)?, visit)
}

pub(super) fn for_each_of_arrow(
    path: &Path,
    column: &TableColumn,
    visit: &mut Visit<'_>,
) -> Result<Ended, BenchError> {
    let arrays = ArrowStrings::open(buffered(path)?, InputColumn::Numbered(column.number));
    for_each(
        path,
        arrays.map_err(|error| table_error(path, error.to_string()))?,
        visit,
    )
}

/// Arrays of a column of a Parquet or Arrow IPC file with the types of the file.
pub(crate) type TypedArrays = Box<dyn Iterator<Item = Result<ArrayRef, ColumnError>>>;

/// The column with the types of the file.
pub(crate) fn typed(
    path: &Path,
    format: TableFormat,
    column: &TableColumn,
) -> Result<TypedArrays, BenchError> {
    let number = InputColumn::Numbered(column.number);
    let failed = |error: ColumnError| table_error(path, error.to_string());
    Ok(if format == TableFormat::Parquet {
        refuse_large_pages(path, column)?;
        Box::new(ParquetStrings::open_typed(open_file(path)?, number).map_err(failed)?)
    } else {
        Box::new(ArrowStrings::open_typed(buffered(path)?, number).map_err(failed)?)
    })
}

/// Gives `visit` the arrays of a file in parts: a dictionary of one long value may stand for gigabytes of rows. A value may be as long as a line
/// of text.
fn for_each(
    path: &Path,
    arrays: impl Iterator<Item = Result<ArrayRef, ColumnError>>,
    visit: &mut Visit<'_>,
) -> Result<Ended, BenchError> {
    for array in arrays {
        let short =
            array.and_then(|array| refuse_longer_values(&array, LINE_BYTES_LIMIT as u64).map(|()| array));
        let array = short.map_err(|error| table_error(path, error.to_string()))?;
        for part in array_parts(&array) {
            if visit(Part::Array(&part))?.is_break() {
                return Ok(Ended::Before);
            }
        }
    }
    Ok(Ended::AtTheEnd)
}
