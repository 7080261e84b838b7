//! What a column file holds, as a `dict`.

use outcrop_column::{ColumnReport, SegmentReport};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

pub(super) fn to_python<'py>(py: Python<'py>, report: &ColumnReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", report.name.as_deref())?;
    dict.set_item("file_bytes", report.file_bytes)?;
    dict.set_item("row_count", report.row_count)?;
    dict.set_item("packed", report.packed.map(|packed| packed.form.name()))?;
    let segments = PyList::empty(py);
    for segment in &report.segments {
        segments.append(of_segment(py, segment)?)?;
    }
    dict.set_item("segments", segments)?;
    Ok(dict)
}

fn of_segment<'py>(py: Python<'py>, segment: &SegmentReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("row_count", segment.row_count)?;
    dict.set_item("value_count", segment.value_count)?;
    dict.set_item("null_count", segment.null_count)?;
    dict.set_item("text_bytes", segment.text_bytes)?;
    dict.set_item("floor_bytes", segment.floor_bytes)?;
    let sections = PyDict::new(py);
    for (name, bytes) in &segment.section_bytes {
        sections.set_item(name, bytes)?;
    }
    dict.set_item("section_bytes", sections)?;
    let encodings = PyDict::new(py);
    for (name, encoding) in &segment.encodings {
        let one = PyDict::new(py);
        one.set_item("block_count", encoding.block_count)?;
        one.set_item("bytes", encoding.bytes)?;
        encodings.set_item(name, one)?;
    }
    dict.set_item("encodings", encodings)?;
    Ok(dict)
}
