//! What a search found, kept apart from the column that it was found in.

use std::sync::Arc;

use arrow_array::UInt64Array;
use outcrop_column::{Column, SelectedCodes};
use pyo3::prelude::*;

use crate::errors::of_column;
use crate::exchange::{Array, Table};

/// The rows that a search selected, not yet materialised.
#[pyclass(frozen, module = "outcrop")]
pub(crate) struct Selection {
    column: Arc<Column>,
    codes: SelectedCodes,
}

impl Selection {
    pub(crate) fn new(column: &Arc<Column>, codes: SelectedCodes) -> Self {
        Self {
            column: Arc::clone(column),
            codes,
        }
    }

    /// Runs a search without the interpreter's lock.
    pub(crate) fn of(
        py: Python<'_>,
        column: &Arc<Column>,
        search: impl FnOnce(&Column) -> outcrop_column::Result<outcrop_column::Selection<'_>> + Send,
    ) -> PyResult<Self> {
        let codes = py.detach(|| search(column).map(outcrop_column::Selection::into_codes));
        Ok(Self::new(column, codes.map_err(of_column)?))
    }
}

#[pymethods]
impl Selection {
    /// Number of rows. *Cost*: with postings, two reads a value; without, a scan of the codes.
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.column.selection(&self.codes).count())
            .map_err(of_column)
    }

    /// The rows, ascending, as an Arrow array of unsigned 64-bit numbers.
    fn rows(&self, py: Python<'_>) -> PyResult<Array> {
        let rows = py
            .detach(|| self.column.selection(&self.codes).rows())
            .map_err(of_column)?;
        Ok(Array::new(Arc::new(UInt64Array::from(rows))))
    }

    /// The distinct values selected, in byte order, each with the number of its rows: columns `value` and `rows`.
    fn values(&self, py: Python<'_>) -> PyResult<Table> {
        let batch = py.detach(|| self.column.selection(&self.codes).values_batch());
        Ok(Table::new(batch.map_err(of_column)?))
    }

    fn __repr__(&self) -> String {
        format!(
            "<outcrop.Selection of {} distinct values>",
            self.column.selection(&self.codes).value_count()
        )
    }
}
