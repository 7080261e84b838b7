//! One column of a user's file: CSV, TSV, lines, Parquet or Arrow IPC, recognised as the command line does.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use arrow_array::ArrayRef;
use outcrop_column::arrow::{ArrowStrings, ParquetStrings};
use outcrop_column::{ColumnError, CsvOptions, EncodeOptions, Encoder, InputColumn, encode_csv, encode_text};
use outcrop_column_bench::tabular::{Table, TableColumn, TableFormat, ValueKind};
use outcrop_input::Input;
use pyo3::prelude::*;

use super::{attend, pushed};
use crate::errors::{ColumnError as PyColumnError, of_column, of_table};

/// Reads the column that is called `wanted`, or the only one that can be meant.
pub(super) fn encoder(
    path: &Path,
    wanted: Option<&str>,
    null: Option<&str>,
    options: EncodeOptions,
) -> PyResult<Encoder> {
    let table = Table::describe(path).map_err(of_table)?;
    let column = InputColumn::Numbered(chosen(&table, wanted)?.number);
    match table.format {
        TableFormat::Lines => encode_text(attentive(open(path)?), options).map_err(of_column),
        TableFormat::Delimited {
            delimiter,
            has_header,
            has_quotes,
        } => {
            let csv = CsvOptions {
                column,
                delimiter,
                has_header,
                has_quotes,
                null,
                ..CsvOptions::default()
            };
            encode_csv(attentive(open(path)?), &csv, options).map_err(of_column)
        }
        TableFormat::Arrow => of_arrays(ArrowStrings::open(open(path)?, column), options),
        TableFormat::Parquet => of_arrays(ParquetStrings::open(open_file(path)?, column), options),
        TableFormat::Folder => Err(PyColumnError::new_err(format!(
            "{}: a folder; name one of its tables",
            path.display()
        ))),
    }
}

fn of_arrays(
    arrays: outcrop_column::Result<impl Iterator<Item = outcrop_column::Result<ArrayRef>>>,
    options: EncodeOptions,
) -> PyResult<Encoder> {
    pushed(arrays.map_err(of_column)?, options)
}

/// The column of that name or position; without one the only column, or the only one of strings where columns have types.
fn chosen<'t>(table: &'t Table, wanted: Option<&str>) -> PyResult<&'t TableColumn> {
    let is_typed = matches!(table.format, TableFormat::Parquet | TableFormat::Arrow);
    let only = |is_meant: &dyn Fn(&TableColumn) -> bool| {
        let mut found = table.columns.iter().filter(|column| is_meant(column));
        found.next().filter(|_| found.next().is_none())
    };
    let found = match wanted {
        Some(name) => table.column(name),
        None => only(&|_| true).or_else(|| only(&|column| is_typed && column.kind == ValueKind::Strings)),
    };
    found.ok_or_else(|| {
        let delimiter = match table.format {
            TableFormat::Delimited { delimiter, .. } => Some(char::from(delimiter)),
            _ => None,
        };
        of_column(ColumnError::NoSuchColumn {
            wanted: wanted.map(|name| format!("{name:?}")),
            existing: table.columns.iter().map(|column| column.name.clone()).collect(),
            delimiter,
        })
    })
}

fn open_file(path: &Path) -> PyResult<File> {
    outcrop_probe::user_file::open(path).map_err(|source| {
        of_column(ColumnError::Path {
            path: path.to_owned(),
            source,
        })
    })
}

/// The content, decompressed where the file is compressed.
fn open(path: &Path) -> PyResult<Input<File>> {
    let input = Input::open(path.display().to_string(), open_file(path)?);
    input.map_err(|source| {
        of_column(ColumnError::Path {
            path: path.to_owned(),
            source,
        })
    })
}

/// Bytes read between two looks at Ctrl-C.
const BYTES_BETWEEN_SIGNALS: usize = 8 << 20;

/// Reads text and looks for Ctrl-C on the way.
struct Attentive<R> {
    inner: R,
    bytes: usize,
}

fn attentive<R: Read>(inner: R) -> Attentive<R> {
    Attentive { inner, bytes: 0 }
}

impl<R: Read> Read for Attentive<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes >= BYTES_BETWEEN_SIGNALS {
            self.bytes = 0;
            attend().map_err(io::Error::other)?;
        }
        let length = self.inner.read(buffer)?;
        self.bytes += length;
        Ok(length)
    }
}
