//! Parquet and Arrow IPC, read by the column codec's own readers.

use std::io::BufReader;
use std::path::Path;

use arrow_array::ArrayRef;
use outcrop_column::arrow::{
    ArrowStrings, ForeignField, ParquetStrings, arrow_fields, for_each_value, parquet_fields,
};
use outcrop_column::{ColumnError, InputColumn};

use super::{Table, TableColumn, TableFormat, open, open_file, table_error};
use crate::error::BenchError;
use crate::input::ColumnInput;

/// Reads the schema. `format` is one of the two.
pub(super) fn describe(path: &Path, format: TableFormat) -> Result<Table, BenchError> {
    let fields = match format {
        TableFormat::Parquet => parquet_fields(&open_file(path)?),
        _ => arrow_fields(BufReader::new(open(path)?)),
    };
    let fields = fields.map_err(|error| table_error(path, error.to_string()))?;
    let column = |(number, field): (usize, ForeignField)| TableColumn {
        number,
        name: field.name,
        kind: field.kind,
        type_name: Some(field.type_name),
    };
    let columns = fields.into_iter().enumerate().map(column);
    Ok(Table::of_file(format, columns.collect()))
}

pub(super) fn load_parquet(
    path: &Path,
    column: &TableColumn,
    row_limit: u64,
) -> Result<ColumnInput, BenchError> {
    let arrays = ParquetStrings::open(open_file(path)?, InputColumn::Numbered(column.number));
    let arrays = arrays.map_err(|error| table_error(path, error.to_string()))?;
    load(path, arrays, row_limit)
}

pub(super) fn load_arrow(
    path: &Path,
    column: &TableColumn,
    row_limit: u64,
) -> Result<ColumnInput, BenchError> {
    let arrays = ArrowStrings::open(
        BufReader::with_capacity(1 << 20, open(path)?),
        InputColumn::Numbered(column.number),
    );
    let arrays = arrays.map_err(|error| table_error(path, error.to_string()))?;
    load(path, arrays, row_limit)
}

fn load(
    path: &Path,
    arrays: impl Iterator<Item = Result<ArrayRef, ColumnError>>,
    row_limit: u64,
) -> Result<ColumnInput, BenchError> {
    let mut input = ColumnInput::default();
    for array in arrays {
        let read = array.and_then(|array| {
            for_each_value(&array, |value| {
                if input.row_count() < row_limit {
                    input.push(value);
                }
                Ok(())
            })
        });
        read.map_err(|error| table_error(path, error.to_string()))?;
        if input.row_count() >= row_limit {
            break;
        }
    }
    Ok(input)
}
