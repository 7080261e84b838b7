//! A column part by part as its file gives it, so that one of any length passes through bounded memory.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{Array as _, ArrayRef};
use outcrop_column::arrow::for_each_value;

use super::{Table, TableColumn, TableFormat, delimited, folder, foreign};
use crate::error::BenchError;
use crate::input::ColumnInput;

/// Some rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'p> {
    /// Those of an array of strings or bytes.
    Array(&'p ArrayRef),
    /// One row of a text file, and how much text was read up to its end.
    Value(&'p [u8], u64),
    /// The same of a row that is null because its text says so.
    Null(u64),
}

/// Takes parts in order, and breaks when it wants no more.
pub(crate) type Visit<'v> = dyn FnMut(Part<'_>) -> Result<ControlFlow<()>, BenchError> + 'v;

/// Where a visit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// After the last row.
    AtTheEnd,
    /// At a break; there may be more rows.
    Before,
}

impl Part<'_> {
    /// A value with the text of a null is one.
    fn or_null(self, null: Option<&[u8]>) -> Self {
        match self {
            Self::Value(value, read_bytes) if null == Some(value) => Self::Null(read_bytes),
            other => other,
        }
    }

    pub(crate) fn row_count(&self) -> u64 {
        match self {
            Self::Array(array) => array.len() as u64,
            Self::Value(..) | Self::Null(_) => 1,
        }
    }

    /// Text of the file up to here, all columns together; none of a file whose columns are read alone.
    pub(crate) const fn read_bytes(&self) -> u64 {
        match self {
            Self::Array(_) => 0,
            Self::Value(_, read_bytes) | Self::Null(read_bytes) => *read_bytes,
        }
    }

    pub(crate) fn for_each(&self, mut visit: impl FnMut(Option<&[u8]>)) -> Result<(), BenchError> {
        match self {
            Self::Value(value, _) => visit(Some(value)),
            Self::Null(_) => visit(None),
            Self::Array(array) => for_each_value(array, |value| {
                visit(value);
                Ok(())
            })?,
        }
        Ok(())
    }
}

impl Table {
    /// Gives `visit` the rows of a column in order.
    pub(crate) fn for_each(
        &self,
        path: &Path,
        column: &TableColumn,
        visit: &mut Visit<'_>,
    ) -> Result<Ended, BenchError> {
        match self.format {
            TableFormat::Delimited {
                delimiter,
                has_header,
                has_quotes,
            } => {
                let null = self.null.as_deref().map(str::as_bytes);
                delimited::for_each(
                    path,
                    (delimiter, has_header, has_quotes),
                    column.number,
                    &mut |part| visit(part.or_null(null)),
                )
            }
            TableFormat::Lines => delimited::for_each_line(path, visit),
            TableFormat::Parquet => foreign::for_each_of_parquet(path, column, visit),
            TableFormat::Arrow => foreign::for_each_of_arrow(path, column, visit),
            TableFormat::Folder => {
                let (table, path, column) = folder::inner(self, path, column)?;
                table.for_each(&path, column, visit)
            }
        }
    }

    /// The first `row_limit` rows of a column of the table at `path`, which this describes.
    ///
    /// # Errors
    /// [`BenchError::Path`], [`BenchError::Table`] for a row without the column, and [`BenchError::Interrupted`] when `stop` was raised.
    pub fn load(
        &self,
        path: &Path,
        column: &TableColumn,
        row_limit: u64,
        stop: &AtomicBool,
    ) -> Result<ColumnInput, BenchError> {
        let (table, in_table) = folder::table_and_column(self, column).unwrap_or((self, column));
        let name = if table.format.has_names() {
            &*in_table.name
        } else {
            ""
        };
        let mut input = ColumnInput::named(name);
        self.for_each(path, column, &mut |part| {
            if stop.load(Ordering::Relaxed) {
                return Err(BenchError::Interrupted);
            }
            part.for_each(|value| {
                if input.row_count() < row_limit {
                    input.push(value);
                }
            })?;
            Ok(if input.row_count() < row_limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        Ok(input)
    }
}
