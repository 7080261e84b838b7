//! A column part by part as its file gives it, so that one of any length passes through bounded memory.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{Array as _, ArrayRef};
use outcrop_column::arrow::for_each_value;
use outcrop_measure::units::format_bytes;
use outcrop_probe::memory::allowed_bytes;

use super::{Table, TableColumn, TableFormat, delimited, folder, foreign};
use crate::error::BenchError;
use crate::input::ColumnInput;

/// Text that any file may have in memory to be timed, and the limit of large files in multiples of them: what searches, an encoder and its
/// peers hold of it is several times as much, and a file of some hundred bytes can hold any number of rows.
const LEAST_TEXT_BYTES: u64 = 512 << 20;
const TIMES_FILE: u64 = 256;

/// What is missing is said by whoever opens it.
fn size_of(file: &Path) -> u64 {
    file.metadata().map_or(0, |file| file.len())
}

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
    /// Gives `visit` the rows of a column in order. `stop` ends what looks at a file before there are rows; `visit` looks at it for itself.
    pub(crate) fn for_each(
        &self,
        path: &Path,
        column: &TableColumn,
        stop: &AtomicBool,
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
            TableFormat::Parquet => foreign::for_each_of_parquet(path, column, stop, visit),
            TableFormat::Arrow => foreign::for_each_of_arrow(path, column, visit),
            TableFormat::Folder => {
                let (table, path, column) = folder::inner(self, path, column)?;
                table.for_each(&path, column, stop, visit)
            }
        }
    }

    /// The first `row_limit` rows of a column of the table at `path`, which this describes.
    ///
    /// # Errors
    /// [`BenchError::Path`], [`BenchError::Table`] for a row without the column, [`BenchError::Unavailable`] where the text of these rows takes
    /// more than an eighth of the memory that this process may have, or more than 512 MiB and 256 times the file, and
    /// [`BenchError::Interrupted`] when `stop` was raised.
    pub fn load(
        &self,
        path: &Path,
        column: &TableColumn,
        row_limit: u64,
        stop: &AtomicBool,
    ) -> Result<ColumnInput, BenchError> {
        let of_memory = allowed_bytes().map_or(u64::MAX, |total| total / 8);
        let is_folder = self.format == TableFormat::Folder;
        let file_bytes = match is_folder.then(|| folder::inner(self, path, column)).transpose()? {
            Some((_, file, _)) => size_of(&file),
            None => size_of(path),
        };
        let of_file = file_bytes.saturating_mul(TIMES_FILE).max(LEAST_TEXT_BYTES);
        let limit = match of_memory < of_file {
            true => (of_memory, "an eighth of the memory here"),
            false => (of_file, "the limit for a file of this size"),
        };
        self.load_within(path, column, (row_limit, limit), stop)
    }

    /// The same with rows of at most `most_bytes` in memory, which a small file with a dictionary can exceed by far.
    fn load_within(
        &self,
        path: &Path,
        column: &TableColumn,
        (row_limit, (most_bytes, limit)): (u64, (u64, &str)),
        stop: &AtomicBool,
    ) -> Result<ColumnInput, BenchError> {
        let (table, in_table) = folder::table_and_column(self, column).unwrap_or((self, column));
        let name = if table.format.has_names() {
            &*in_table.name
        } else {
            ""
        };
        let mut input = ColumnInput::named(name);
        self.for_each(path, column, stop, &mut |part| {
            if stop.load(Ordering::Relaxed) {
                return Err(BenchError::Interrupted);
            }
            // Of a part, too: its values may be longer than all before it.
            let mut is_too_much = false;
            part.for_each(|value| {
                let bytes = input.held_bytes() + value.map_or(0, <[u8]>::len);
                is_too_much |= bytes as u64 > most_bytes;
                if input.row_count() < row_limit && !is_too_much {
                    input.push(value);
                }
            })?;
            if is_too_much && input.row_count() < row_limit {
                return Err(BenchError::Unavailable(format!(
                    "its first {} rows take more than {} in memory, {limit}; measure fewer rows (`rows` in the plan)",
                    input.row_count() + 1,
                    format_bytes(most_bytes),
                )));
            }
            Ok(if input.row_count() < row_limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        Ok(input)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Int32Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;

    use super::*;

    /// A file with these rows.
    fn file_of(rows: ArrayRef) -> tempfile::NamedTempFile {
        let batch = RecordBatch::try_from_iter_with_nullable([("rock", rows, true)]).unwrap();
        let file = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
        let mut writer = ArrowWriter::try_new(&file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        file
    }

    /// Loads its first rows within a limit on their bytes.
    fn load(file: &tempfile::NamedTempFile, rows: u64, bytes: u64) -> Result<ColumnInput, BenchError> {
        let table = Table::describe(file.path()).unwrap();
        let column = table.column("rock").unwrap();
        let limits = (rows, (bytes, "as in a test"));
        table.load_within(file.path(), column, limits, &AtomicBool::new(false))
    }

    #[test]
    fn rows_that_take_more_text_than_is_allowed_are_refused_before_they_are_held() {
        let values = StringArray::from(vec!["x".repeat(1 << 20)]);
        let rows = DictionaryArray::<Int32Type>::try_new(Int32Array::from(vec![0; 3000]), Arc::new(values));
        let file = file_of(Arc::new(rows.unwrap()));
        assert_eq!(load(&file, 10, 20 << 20).unwrap().row_count(), 10);
        let refused = load(&file, 3000, 20 << 20).unwrap_err().to_string();
        assert_eq!(
            refused,
            "its first 20 rows take more than 20 MiB in memory, as in a test; measure fewer rows (`rows` in the plan)"
        );
    }

    #[test]
    fn rows_that_are_null_count_as_what_is_kept_of_them() {
        let file = file_of(Arc::new(StringArray::from(vec![None::<&str>; 100_000])));
        // A newline and 16 bytes for each.
        assert_eq!(load(&file, u64::MAX, 1_700_000).unwrap().row_count(), 100_000);
        assert!(load(&file, u64::MAX, 1_600_000).is_err());
    }
}
