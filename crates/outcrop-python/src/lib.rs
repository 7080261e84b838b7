//! Outcrop for Python: the extension module `outcrop._outcrop`.
//!
//! It translates: Python's arguments into those of the crates below, their results into Python objects and Arrow capsules,
//! their errors into exceptions with the same sentences. It decides nothing about measuring, encoding or reporting, and it
//! releases the interpreter's lock around all work of theirs.

#![allow(
    clippy::needless_pass_by_value,
    reason = "PyO3 converts arguments into values that the function owns"
)]

mod cache;
mod column;
mod comparison;
mod errors;
mod exchange;
mod json;
mod measure;
mod run;
mod selection;
mod source;
mod words;

use pyo3::prelude::*;

#[pymodule]
mod _outcrop {
    use super::{Bound, PyModule, PyModuleMethods as _, PyResult};

    #[pymodule_export]
    use super::cache::{CacheClient, CacheServer};
    #[pymodule_export]
    use super::column::{Column, EncodeReport, reopen};
    #[pymodule_export]
    use super::comparison::{Comparison, compare};
    #[pymodule_export]
    use super::errors::{
        CacheError, ColumnError, ConditionMet, DamagedError, OutcropError, PlanError, RunError,
    };
    #[pymodule_export]
    use super::exchange::{Array, Table, buffer_addresses};
    #[pymodule_export]
    use super::measure::{Event, codec, hold_database, profile, resume, run, start_workers_by};
    #[pymodule_export]
    use super::run::{Run, open_run};
    #[pymodule_export]
    use super::selection::Selection;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        outcrop_column::arrow::silence_decoders();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
