//! `outcrop.Column`: encode, open, find and read `.ocol` files.

mod encode;
mod html;
mod report;

use std::ops::Bound as End;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt64Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use outcrop_column::ColumnError;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyDict, PyString, PyTuple, PyType};

pub(crate) use encode::EncodeReport;

use crate::errors::of_column;
use crate::exchange::{Array, Table};
use crate::selection::Selection;
use crate::words::{self, Memory};

/// Name of the only field of the stream of rows.
const FIELD: &str = "value";

/// Rows of a batch of the stream. Each batch costs its consumer several microseconds; a batch has 4 MiB of keys.
const BATCH_ROWS: usize = 1 << 20;

/// An opened column file. Threads can share it.
#[pyclass(frozen, module = "outcrop", weakref)]
pub(crate) struct Column {
    path: PathBuf,
    is_preloaded: bool,
    memory: Memory,
    column: Arc<outcrop_column::Column>,
}

/// A value to search for: the bytes of a `str` or of `bytes`; none for null.
fn value_of<'v>(value: &'v Bound<'_, PyAny>) -> PyResult<Option<&'v [u8]>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(text.to_str()?.as_bytes()));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes()));
    }
    if value.is_none() {
        return Ok(None);
    }
    let seen = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "the value is a {seen}; expected str, bytes or None"
    )))
}

/// A value that is not null.
fn bytes_of<'v>(value: &'v Bound<'_, PyAny>) -> PyResult<&'v [u8]> {
    value_of(value)?.ok_or_else(|| PyTypeError::new_err("the value is None; expected str or bytes"))
}

/// A value of the column as Python has it: `str` where it is UTF-8, else `bytes`.
fn to_python<'py>(py: Python<'py>, value: Option<&[u8]>) -> Bound<'py, PyAny> {
    match value.map(|value| (value, std::str::from_utf8(value))) {
        None => py.None().into_bound(py),
        Some((_, Ok(text))) => PyString::new(py, text).into_any(),
        Some((bytes, Err(_))) => PyBytes::new(py, bytes).into_any(),
    }
}

/// [`Column::open`] with positional arguments, as pickles call it.
#[pyfunction(name = "_reopen")]
#[pyo3(signature = (path, preload, memory="on-disk"))]
pub(crate) fn reopen(py: Python<'_>, path: PathBuf, preload: bool, memory: &str) -> PyResult<Column> {
    let memory = words::memory(memory)?;
    let column = py.detach(|| {
        let mut column = match memory {
            Memory::OnDisk => outcrop_column::Column::open_on_disk(&path)?,
            Memory::InMemory => outcrop_column::Column::open(&path)?,
        };
        if preload {
            column.preload()?;
        }
        Ok(column)
    });
    // A pickle is opened in another working directory.
    let path = std::path::absolute(&path).unwrap_or(path);
    Ok(Column {
        path,
        is_preloaded: preload,
        memory,
        column: Arc::new(column.map_err(of_column)?),
    })
}

#[pymethods]
impl Column {
    /// Opens a file. `preload` decompresses the dictionary, and builds an index where there is none. `memory` is "on-disk", which
    /// reads what a search needs, or "in-memory", which maps the file: a search takes less time, but a program that truncates the
    /// file meanwhile ends this process (SIGBUS).
    #[classmethod]
    #[pyo3(signature = (path, *, preload=false, memory="on-disk"))]
    fn open(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        path: PathBuf,
        preload: bool,
        memory: &str,
    ) -> PyResult<Self> {
        reopen(py, path, preload, memory)
    }

    /// Writes a column file and says what it takes. The file appears under its name whole or not at all, and replaces one that is
    /// already there.
    #[staticmethod]
    #[pyo3(signature = (data, path, *, column=None, index="none", profile="balanced", null=None, threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn encode(
        data: &Bound<'_, PyAny>,
        path: PathBuf,
        column: Option<String>,
        index: &str,
        profile: &str,
        null: Option<&str>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<EncodeReport> {
        let options = encode::options(index, profile, threads)?;
        encode::encode(data, &path, encode::Input { column, null }, options, progress)
    }

    /// Where the file is.
    #[getter]
    fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Rows that are null.
    #[getter]
    fn null_count(&self) -> u64 {
        self.column.null_count()
    }

    /// Whether rows are found without a scan.
    #[getter]
    fn has_index(&self) -> bool {
        self.column.has_index()
    }

    /// Whether values can be read by row: not in a file with the index only.
    #[getter]
    fn has_codes(&self) -> bool {
        self.column.has_codes()
    }

    fn __len__(&self) -> PyResult<usize> {
        usize::try_from(self.column.row_count())
            .map_err(|_| PyIndexError::new_err("more rows than addresses"))
    }

    /// Rows with exactly `value`; of `None`, rows that are null.
    fn find(&self, value: &Bound<'_, PyAny>) -> PyResult<Selection> {
        let wanted = value_of(value)?;
        Selection::of(value.py(), &self.column, |column| match wanted {
            Some(value) => column.find(value),
            None => column.find_null(),
        })
    }

    /// Rows with any of `values`, which may have `None` among them.
    fn find_in(&self, values: &Bound<'_, PyAny>) -> PyResult<Selection> {
        if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
            let seen = values.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "values are one {seen}; expected an iterable of str, bytes and None (find takes one value)"
            )));
        }
        let items = match values.hasattr("to_pylist")? {
            true => values
                .call_method0("to_pylist")?
                .try_iter()?
                .collect::<PyResult<Vec<_>>>()?,
            false => values.try_iter()?.collect::<PyResult<Vec<_>>>()?,
        };
        let wanted = items.iter().map(value_of).collect::<PyResult<Vec<_>>>()?;
        Selection::of(values.py(), &self.column, |column| column.find_in(wanted))
    }

    /// Rows whose value begins with `prefix`.
    fn find_prefix(&self, prefix: &Bound<'_, PyAny>) -> PyResult<Selection> {
        let wanted = bytes_of(prefix)?;
        Selection::of(prefix.py(), &self.column, |column| column.find_prefix(wanted))
    }

    /// Rows whose value is at least `low` and below `high`, compared byte by byte. `closed` says which ends belong to it:
    /// `"left"`, `"right"`, `"both"` or `"neither"`.
    #[pyo3(signature = (low=None, high=None, *, closed="left"))]
    fn find_range(
        &self,
        py: Python<'_>,
        low: Option<&Bound<'_, PyAny>>,
        high: Option<&Bound<'_, PyAny>>,
        closed: &str,
    ) -> PyResult<Selection> {
        let (takes_low, takes_high) = words::closed(closed)?;
        let end = |value: Option<&Bound<'_, PyAny>>, is_taken| -> PyResult<End<Vec<u8>>> {
            Ok(match value.map(bytes_of).transpose()? {
                None => End::Unbounded,
                Some(value) if is_taken => End::Included(value.to_vec()),
                Some(value) => End::Excluded(value.to_vec()),
            })
        };
        let (low, high) = (end(low, takes_low)?, end(high, takes_high)?);
        Selection::of(py, &self.column, |column| {
            column.find_range((low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice)))
        })
    }

    /// Rows whose value satisfies `predicate`, which is called once for each distinct value of a segment. An exception that it raises is
    /// raised here.
    fn matching(&self, py: Python<'_>, predicate: &Bound<'_, PyAny>) -> PyResult<Selection> {
        let mut raised = None;
        let codes = self.column.matching(|value| {
            let answer =
                (raised.is_none()).then(|| predicate.call1((to_python(py, Some(value)),))?.is_truthy());
            match answer {
                Some(Ok(is_wanted)) => is_wanted,
                Some(Err(error)) => {
                    raised = Some(error);
                    false
                }
                None => false,
            }
        });
        let codes = codes
            .map(outcrop_column::Selection::into_codes)
            .map_err(of_column)?;
        match raised {
            Some(error) => Err(error),
            None => Ok(Selection::new(&self.column, codes)),
        }
    }

    /// The value of a row, or the values of several: an `int` gives `str`, `bytes` or `None`; rows as an Arrow array, a list or what
    /// [`Selection.rows`] gives, a table with the columns `row` and `value` in the order asked for.
    fn get<'py>(&self, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = rows.py();
        // An array of numpy has `__index__` too, for the case that it has one element alone.
        if rows.hasattr("__index__")? && !rows.hasattr("__len__")? {
            let row = row_of(rows)?;
            let value = py.detach(|| self.column.get(row)).map_err(of_column)?;
            return Ok(to_python(py, value.as_deref()));
        }
        let rows = rows_of(rows)?;
        let batch = py.detach(|| self.column.get_batch(&rows)).map_err(of_column)?;
        Ok(Bound::new(py, Table::new(batch))?.into_any())
    }

    /// The distinct values in byte order, each with the number of its rows: columns `value` and `rows`.
    fn values(&self, py: Python<'_>) -> PyResult<Table> {
        let batch = py.detach(|| {
            let nulls = self.column.find_null()?;
            let all = self.column.find_range(..)?;
            outcrop_column::arrow::batch_of_values(&[all, nulls], usize::MAX)
        });
        Ok(Table::new(batch.map_err(of_column)?))
    }

    /// All rows in order as one Arrow dictionary array. *Cost*: four bytes a row, and the distinct values once.
    fn array(&self, py: Python<'_>) -> PyResult<Array> {
        py.detach(|| self.joined()).map(Array::new).map_err(of_column)
    }

    /// What the file holds and how: a `dict`, sizes in bytes. *Cost*: one read of each block of codes.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = py.detach(|| self.column.report()).map_err(of_column)?;
        report::to_python(py, &report)
    }

    /// Reads and checks the whole file: the sentences about what is damaged, none for a sound file.
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let report = py.detach(|| self.column.verify()).map_err(of_column)?;
        Ok(report.damage.iter().map(ToString::to_string).collect())
    }

    /// All rows as Arrow batches of one column, `value`: dictionary arrays that share their dictionary.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let (schema, batches) = py.detach(|| self.batches()).map_err(of_column)?;
        Table::of_batches(schema, batches).__arrow_c_stream__(py, requested_schema)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let reopen = py.import("outcrop._outcrop")?.getattr("_reopen")?;
        Ok((
            reopen,
            (self.path.as_path(), self.is_preloaded, self.memory.word()).into_pyobject(py)?,
        ))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let report = py.detach(|| self.column.report()).map_err(of_column)?;
        Ok(html::column(&self.path, &report))
    }

    fn __repr__(&self) -> String {
        format!(
            "<outcrop.Column of {} rows: {}>",
            self.column.row_count(),
            self.path.display()
        )
    }
}

impl Column {
    fn batches(&self) -> outcrop_column::Result<(SchemaRef, Vec<RecordBatch>)> {
        let scan = self.column.scan()?.with_batch_rows(BATCH_ROWS);
        let schema = Arc::new(Schema::new(vec![Field::new(FIELD, scan.data_type(), true)]));
        let batches = scan.map(|array| {
            let array: ArrayRef = Arc::new(array?);
            Ok(RecordBatch::try_new(Arc::clone(&schema), vec![array])?)
        });
        let batches = batches.collect::<outcrop_column::Result<_>>()?;
        Ok((schema, batches))
    }

    /// The rows as one array.
    fn joined(&self) -> outcrop_column::Result<ArrayRef> {
        let mut scan = self.column.scan()?.with_batch_rows(usize::MAX);
        let data_type = scan.data_type();
        scan.next().map_or_else(
            || Ok(arrow_array::new_empty_array(&data_type)),
            |array| Ok(Arc::new(array?)),
        )
    }
}

/// Row numbers: Arrow data of whole numbers, or an iterable of `int`.
fn rows_of(rows: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if !(rows.hasattr("__arrow_c_array__")? || rows.hasattr("__arrow_c_stream__")?) {
        if rows.is_instance_of::<PyBytes>()
            || rows.is_instance_of::<PyString>()
            || !rows.hasattr("__iter__")?
        {
            return Err(no_row(rows.get_type().name()?));
        }
        return rows.try_iter()?.map(|row| row_of(&row?)).collect();
    }
    let arrays = crate::source::Source::of(rows, None)?.single_arrays()?;
    let mut all = Vec::new();
    for array in arrays {
        if !array.data_type().is_integer() {
            return Err(no_row(array.data_type()));
        }
        if array.null_count() > 0 {
            return Err(PyTypeError::new_err("a row number is null"));
        }
        let numbers = arrow_cast::cast(&array, &DataType::UInt64)
            .map_err(|error| of_column(ColumnError::from(error)))?;
        // What does not fit becomes null.
        if numbers.null_count() > 0 {
            return Err(PyIndexError::new_err(BELOW_0));
        }
        all.extend_from_slice(numbers.as_primitive::<UInt64Type>().values());
    }
    Ok(all)
}

const BELOW_0: &str = "a row number is negative: rows are numbered from 0";

fn no_row(seen: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!(
        "rows are {seen}; expected an int, an iterable of int, or Arrow data of whole numbers (of a mask, take the rows that it selects)"
    ))
}

/// One row number. `True` is an `int` to Python, and a mask to whoever writes it.
fn row_of(row: &Bound<'_, PyAny>) -> PyResult<u64> {
    if row.is_instance_of::<PyBool>() {
        return Err(no_row("bool"));
    }
    match row.extract::<i64>() {
        Ok(row) => u64::try_from(row).map_err(|_| PyIndexError::new_err(format!("row {row}: {BELOW_0}"))),
        Err(error) if error.is_instance_of::<PyOverflowError>(row.py()) => Err(PyIndexError::new_err(
            format!("row {row}: there are not as many rows"),
        )),
        Err(_) => Err(no_row(row.get_type().name()?)),
    }
}
