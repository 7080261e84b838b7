//! Parquet and Arrow IPC, read by the column codec's own readers.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use arrow_array::ArrayRef;
use outcrop_column::arrow::{
    ArrowStrings, ForeignField, ParquetStrings, StoredColumn, array_parts, arrow_fields, parquet_fields,
    parquet_stored, refuse_longer_values,
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
    if let Some((bytes, uncompressed)) = stored(path, column)?.bomb() {
        let (bytes, uncompressed) = (format_bytes(bytes), format_bytes(uncompressed));
        return Err(table_error(
            path,
            format!(
                "column {} has a part of {bytes} that decompresses to {uncompressed}; it is left out, because a page that large is held in memory as \
                 a whole",
                column.name
            ),
        ));
    }
    let arrays = ParquetStrings::open(open_file(path)?, InputColumn::Numbered(column.number));
    arrays.map_err(|error| table_error(path, error.to_string()))
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
