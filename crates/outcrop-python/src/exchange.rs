//! Arrow in and out by the PyCapsule interface: pyarrow, Polars, pandas and DuckDB take these objects without a copy.
#![expect(unsafe_code, reason = "the buffer protocol is one of addresses")]

mod buffer;
mod html;
mod values;

use std::ffi::c_int;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};

use crate::errors::OutcropError;
use crate::source::Source;

fn of_arrow(error: &ArrowError) -> PyErr {
    OutcropError::new_err(error.to_string())
}

/// One Arrow array. `pyarrow.array(a)` and `polars.Series(a)` take it without a copy.
#[pyclass(frozen, module = "outcrop")]
pub(crate) struct Array {
    array: ArrayRef,
}

impl Array {
    pub(crate) fn new(array: ArrayRef) -> Self {
        Self { array }
    }
}

#[pymethods]
impl Array {
    /// The type, as Arrow calls it.
    #[getter]
    fn r#type(&self) -> String {
        self.array.data_type().to_string()
    }

    /// Nulls among the elements.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.logical_null_count()
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let length = self.array.len();
        let place = if index < 0 {
            index.checked_add_unsigned(length)
        } else {
            Some(index)
        };
        let place = place
            .and_then(|place| usize::try_from(place).ok())
            .filter(|place| *place < length);
        let place = place.ok_or_else(|| {
            PyIndexError::new_err(format!("index {index}: the array has {length} elements"))
        })?;
        values::to_python(py, &self.array, place)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.to_pylist(py)?.try_iter()?.into_any())
    }

    /// The elements as a list.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for row in 0..self.array.len() {
            list.append(values::to_python(py, &self.array, row)?)?;
        }
        Ok(list)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The protocol lets a producer answer with its own type.
        drop(requested_schema);
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&self.array.to_data()).map_err(|error| of_arrow(&error))?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        PyTuple::new(py, [schema, array])
    }

    /// Numbers as a buffer, for numpy and others that know no Arrow.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: Python calls this with a view to be filled.
        unsafe { buffer::fill(slf, view, flags) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python calls this once for each view that was filled.
        unsafe { buffer::release(view) }
    }

    fn __repr__(&self) -> String {
        format!(
            "<outcrop.Array of {} elements, {}>",
            self.array.len(),
            self.array.data_type()
        )
    }
}

/// A table in memory. `pyarrow.table(t)`, `polars.DataFrame(t)`, `pandas.DataFrame.from_arrow(t)` and DuckDB, by the
/// variable's name, take it without a copy.
#[pyclass(frozen, module = "outcrop")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(batch: RecordBatch) -> Self {
        Self::of_batches(batch.schema(), vec![batch])
    }

    pub(crate) fn of_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    fn row_count(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

#[pymethods]
impl Table {
    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    fn __len__(&self) -> usize {
        self.row_count()
    }

    /// The elements of a column as a list.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        let number = self.schema.index_of(column).map_err(|_| {
            PyKeyError::new_err(format!(
                "no column {column:?}; there are {}",
                self.column_names().join(", ")
            ))
        })?;
        let list = PyList::empty(py);
        for batch in &self.batches {
            let array = batch.column(number);
            for row in 0..array.len() {
                list.append(values::to_python(py, array, row)?)?;
            }
        }
        Ok(list)
    }

    #[pyo3(signature = (requested_schema=None))]
    pub(crate) fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(reader)),
            c"arrow_array_stream",
        )
    }

    fn _repr_html_(&self) -> PyResult<String> {
        html::table(&self.schema, &self.batches, self.row_count()).map_err(|error| of_arrow(&error))
    }

    fn __repr__(&self) -> String {
        format!(
            "<outcrop.Table of {} rows: {}>",
            self.row_count(),
            self.column_names().join(", ")
        )
    }
}

/// The addresses of the buffers that Arrow data arrive in, for tests that nothing is copied.
#[pyfunction(name = "_buffer_addresses")]
pub(crate) fn buffer_addresses(data: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let mut addresses = Vec::new();
    for array in Source::of(data, None)?.arrays()? {
        push_addresses(&array.to_data(), &mut addresses);
    }
    Ok(addresses)
}

fn push_addresses(data: &ArrayData, addresses: &mut Vec<usize>) {
    addresses.extend(data.buffers().iter().map(|buffer| buffer.as_ptr().addr()));
    for child in data.child_data() {
        push_addresses(child, addresses);
    }
}
