//! Elements of the arrays that we make, as Python's values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::of_arrow;

/// The array with times in UTC by their offset: names of time zones need a table of them, and records have no other.
pub(super) fn printable(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Timestamp(unit, Some(zone)) if &**zone == "UTC" => {
            arrow_cast::cast(array, &DataType::Timestamp(*unit, Some("+00:00".into())))
        }
        _ => Ok(Arc::clone(array)),
    }
}

/// Element `row`, which is in range. Types without a counterpart here, such as times, come as text.
pub(super) fn to_python<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::UInt64 => array
            .as_primitive::<UInt64Type>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
        DataType::UInt32 => array
            .as_primitive::<UInt32Type>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
        DataType::Int64 => array
            .as_primitive::<Int64Type>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
        DataType::Float64 => array
            .as_primitive::<Float64Type>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
        DataType::Utf8 => PyString::new(py, array.as_string::<i32>().value(row)).into_any(),
        DataType::LargeUtf8 => PyString::new(py, array.as_string::<i64>().value(row)).into_any(),
        DataType::Binary => PyBytes::new(py, array.as_binary::<i32>().value(row)).into_any(),
        DataType::LargeBinary => PyBytes::new(py, array.as_binary::<i64>().value(row)).into_any(),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            // One key: those of the whole array, for each element, would take quadratic time.
            let key = arrow_cast::cast(&dictionary.keys().slice(row, 1), &DataType::UInt64)
                .map_err(|error| of_arrow(&error))?;
            let key = key.as_primitive::<UInt64Type>().value(0) as usize;
            to_python(py, dictionary.values(), key)?
        }
        DataType::Map(_, _) => {
            let entries = array.as_map().value(row);
            let dict = PyDict::new(py);
            for entry in 0..entries.len() {
                dict.set_item(
                    to_python(py, entries.column(0), entry)?,
                    to_python(py, entries.column(1), entry)?,
                )?;
            }
            dict.into_any()
        }
        _ => {
            let array = printable(&array.slice(row, 1)).map_err(|error| of_arrow(&error))?;
            let text = array_value_to_string(&array, 0).map_err(|error| of_arrow(&error))?;
            PyString::new(py, &text).into_any()
        }
    })
}
