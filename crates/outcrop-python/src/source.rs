//! What a column is made from: Arrow data of any library, an iterable, or a file.

mod file;

use std::path::PathBuf;

use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::{
    Array as _, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray, make_array,
};
use arrow_data::ArrayData;
use arrow_pyarrow::FromPyArrow as _;
use arrow_schema::DataType;
use outcrop_column::arrow::{BatchStrings, ValueKind, strings_of};
use outcrop_column::{ColumnError, EncodeOptions, Encoder, InputColumn};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::errors::of_column;

/// Values taken between two looks at Ctrl-C.
const VALUES_BETWEEN_SIGNALS: usize = 1 << 18;
/// What a series becomes the only column of.
const SERIES: &str = "value";

/// Where the rows come from.
pub(crate) enum Source<'py> {
    File {
        path: PathBuf,
        column: Option<String>,
    },
    Batches {
        batches: Box<dyn RecordBatchReader + Send>,
        column: Option<String>,
    },
    Arrays(Vec<ArrayRef>),
    Values(Bound<'py, PyAny>),
}

impl<'py> Source<'py> {
    /// Recognises `data` by what it can do, not by its type: no library is imported.
    pub(crate) fn of(data: &Bound<'py, PyAny>, column: Option<String>) -> PyResult<Self> {
        if data.is_instance_of::<PyString>() || data.hasattr("__fspath__")? {
            return Ok(Self::File {
                path: data.extract()?,
                column,
            });
        }
        if data.hasattr("__arrow_c_stream__")? {
            // A stream of a series or a chunked array has no columns, which is more than readers of streams expect.
            if data.hasattr("to_frame")? {
                let frame = data.call_method1("to_frame", (SERIES,))?;
                return Self::of_batches(&frame, Some(SERIES.to_owned()));
            }
            if data.hasattr("chunks")? {
                let chunks = data.getattr("chunks")?.try_iter()?;
                return chunks
                    .map(|chunk| of_array(&chunk?))
                    .collect::<PyResult<_>>()
                    .map(Self::Arrays);
            }
            return Self::of_batches(data, column);
        }
        if data.hasattr("__arrow_c_array__")? {
            let array = of_array(data)?;
            return Ok(match array.data_type() {
                DataType::Struct(_) if array.null_count() > 0 => {
                    return Err(PyTypeError::new_err(
                        "data is a struct array with nulls, which are rows of no column; give a table, or one of its fields",
                    ));
                }
                DataType::Struct(_) => {
                    let batch = RecordBatch::from(StructArray::from(array.to_data()));
                    let schema = batch.schema();
                    let batches = Box::new(RecordBatchIterator::new([Ok(batch)], schema));
                    Self::Batches { batches, column }
                }
                _ => Self::Arrays(vec![array]),
            });
        }
        if data.is_instance_of::<PyDict>() {
            return Err(PyTypeError::new_err(
                "data is a dict, whose keys would be encoded; give a table (pyarrow.table(data)) or one of its columns",
            ));
        }
        if data.is_instance_of::<PyBytes>() || !data.hasattr("__iter__")? {
            let seen = data.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "data is a {seen}; expected Arrow data (a table, series or array of pyarrow, Polars, pandas or DuckDB), \
                 an iterable of str, bytes and None, or the path of a CSV, Parquet, Arrow or text file"
            )));
        }
        Ok(Self::Values(data.clone()))
    }

    fn of_batches(data: &Bound<'py, PyAny>, column: Option<String>) -> PyResult<Self> {
        let batches = Box::new(ArrowArrayStreamReader::from_pyarrow_bound(data)?);
        Ok(Self::Batches { batches, column })
    }

    /// The rows in an encoder. `null` is the text that stands for null in a text table.
    pub(crate) fn encoder(
        self,
        py: Python<'py>,
        options: EncodeOptions,
        null: Option<&str>,
    ) -> PyResult<Encoder> {
        match self {
            Self::File { path, column } => {
                py.detach(|| file::encoder(&path, column.as_deref(), null, options))
            }
            Self::Batches { batches, column } => py.detach(|| {
                let arrays = BatchStrings::open(batches, wanted(column.as_deref())).map_err(of_column)?;
                pushed(arrays, options)
            }),
            Self::Arrays(arrays) => {
                for array in &arrays {
                    let seen = array.data_type();
                    if *seen != DataType::Null && !ValueKind::of(seen).has_text_form() {
                        return Err(PyTypeError::new_err(format!(
                            "data is an array of {seen}; expected strings, bytes, whole numbers, decimals, dates, times or booleans"
                        )));
                    }
                }
                py.detach(|| pushed(arrays.into_iter().map(strings_of), options))
            }
            Self::Values(values) => of_values(&values, options),
        }
    }

    /// The arrays of one column.
    ///
    /// # Errors
    /// `TypeError` for a table of several columns.
    pub(crate) fn single_arrays(self) -> PyResult<Vec<ArrayRef>> {
        if let Self::Batches { batches, .. } = &self {
            let columns = batches.schema().fields().len();
            if columns != 1 {
                return Err(PyTypeError::new_err(format!(
                    "rows are a table of {columns} columns; give the column of row numbers"
                )));
            }
        }
        self.arrays()
    }

    /// The Arrow arrays as they arrive; none for what is not Arrow.
    pub(crate) fn arrays(self) -> PyResult<Vec<ArrayRef>> {
        match self {
            Self::Arrays(arrays) => Ok(arrays),
            Self::Batches { batches, .. } => {
                let batches = batches.collect::<Result<Vec<RecordBatch>, _>>();
                let batches = batches.map_err(|error| of_column(ColumnError::from(error)))?;
                Ok(batches
                    .iter()
                    .flat_map(|batch| batch.columns().to_vec())
                    .collect())
            }
            Self::File { .. } | Self::Values(_) => Ok(Vec::new()),
        }
    }
}

fn of_array(data: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    Ok(make_array(ArrayData::from_pyarrow_bound(data)?))
}

fn wanted(column: Option<&str>) -> InputColumn<'_> {
    column.map_or(InputColumn::Only, InputColumn::Named)
}

/// Looks for Ctrl-C.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is not general over the lifetime that attaching asks for"
)]
fn attend() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Pushes arrays, piece by piece; Ctrl-C is seen between two pieces.
fn pushed(
    arrays: impl IntoIterator<Item = outcrop_column::Result<ArrayRef>>,
    options: EncodeOptions,
) -> PyResult<Encoder> {
    let mut encoder = Encoder::new(options);
    for array in arrays {
        let array = array.map_err(of_column)?;
        for first in (0..array.len()).step_by(VALUES_BETWEEN_SIGNALS) {
            let length = VALUES_BETWEEN_SIGNALS.min(array.len() - first);
            encoder
                .push_array(&array.slice(first, length))
                .map_err(of_column)?;
            attend()?;
        }
    }
    Ok(encoder)
}

fn of_values(values: &Bound<'_, PyAny>, options: EncodeOptions) -> PyResult<Encoder> {
    let mut encoder = Encoder::new(options);
    for (row, value) in values.try_iter()?.enumerate() {
        let value = value?;
        let pushed = if let Ok(text) = value.cast::<PyString>() {
            encoder.push(text.to_str()?.as_bytes())
        } else if let Ok(bytes) = value.cast::<PyBytes>() {
            encoder.push(bytes.as_bytes())
        } else if value.is_none() {
            encoder.push_null()
        } else {
            let seen = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "row {row} is a {seen}; expected str, bytes or None"
            )));
        };
        pushed.map_err(of_column)?;
        if row % VALUES_BETWEEN_SIGNALS == 0 {
            values.py().check_signals()?;
        }
    }
    Ok(encoder)
}
