//! Measuring from Python: `run`, `resume`, `profile` and `codec`, on a thread that Ctrl-C ends cleanly.

mod options;
mod session;

use std::ffi::{CString, OsString};
use std::path::{Path, PathBuf};

use outcrop_column::storage::check_place;
use outcrop_lab::{PlanSet, one_off, plan_source, profile_options, profile_plans};
use outcrop_results::{CellTable, RunView, parquet};
use pyo3::exceptions::{PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(crate) use session::Event;

use crate::errors::{PlanError, of_lab, of_results};
use crate::exchange::Table;
use crate::run::Run;
use crate::words;
use options::PlanArguments;
use session::measure;

/// Measures plans in a new run folder: names of plans that ship, or paths of plan files.
#[pyfunction(name = "_run")]
#[pyo3(signature = (plans, out, on_event, **arguments))]
pub(crate) fn run(
    py: Python<'_>,
    plans: Vec<PathBuf>,
    out: PathBuf,
    on_event: Option<Py<PyAny>>,
    arguments: Option<&Bound<'_, PyDict>>,
) -> PyResult<Run> {
    let sources = plans
        .iter()
        .map(|plan| plan_source(plan))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| of_lab(&error))?;
    let options = PlanArguments::of(arguments)?.options;
    let set = py
        .detach(|| PlanSet::from_sources(&sources, &options))
        .map_err(|error| of_lab(&error))?;
    measure(py, &set, new_folder(&set, &set.name(), &out)?, on_event)
}

/// Resumes a run that was interrupted: finished trials are neither lost nor repeated. Refused if their data have changed.
#[pyfunction(name = "_resume")]
pub(crate) fn resume(py: Python<'_>, path: PathBuf, on_event: Option<Py<PyAny>>) -> PyResult<Run> {
    let path = std::path::absolute(&path).unwrap_or(path);
    let resumed = outcrop_lab::resume(&path).map_err(|error| of_lab(&error))?;
    measure(
        py,
        &resumed.set,
        session::Folder::existing(resumed.folder),
        on_event,
    )
}

/// Measures the storage stack at a path.
#[pyfunction(name = "_profile")]
#[pyo3(signature = (layers, out, on_event, **arguments))]
pub(crate) fn profile(
    py: Python<'_>,
    layers: Vec<String>,
    out: PathBuf,
    on_event: Option<Py<PyAny>>,
    arguments: Option<&Bound<'_, PyDict>>,
) -> PyResult<Run> {
    let options = profile_options(PlanArguments::of(arguments)?.options);
    let directory = options.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let chosen = profile_plans(&layers, options.data.as_deref(), &directory)
        .map_err(|sentence| PlanError::new_err(format!("layer: {sentence}")))?;
    for note in &chosen.notes {
        let note = CString::new(note.as_str()).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &note, 1)?;
    }
    let set = py
        .detach(|| PlanSet::from_sources(&chosen.plans, &options))
        .map_err(|error| of_lab(&error))?;
    measure(py, &set, new_folder(&set, "profile", &out)?, on_event)
}

/// Measures codecs once, on the user's data or the built-in sample, and gives the table of cells.
#[pyfunction(name = "_codec")]
#[pyo3(signature = (factors, out, on_event, **arguments))]
pub(crate) fn codec(
    py: Python<'_>,
    factors: &Bound<'_, PyDict>,
    out: PathBuf,
    on_event: Option<Py<PyAny>>,
    arguments: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let question = &one_off::CODEC;
    let options = question.timed(PlanArguments::of(arguments)?.options);
    let schema = question.schema;
    let mut draft = question.draft("outcrop.codec");
    for (factor, values) in question.defaults {
        if !factors.contains(factor.name)? {
            draft = draft.with_workload(factor.about(), values.iter().copied(), factor.name);
        }
    }
    for (name, value) in factors {
        let name: String = name.extract()?;
        let known = schema.workload.iter().find(|factor| factor.name == name);
        let factor = known.ok_or_else(|| {
            let names: Vec<&str> = schema.workload.iter().map(|factor| factor.name).collect();
            PlanError::new_err(format!(
                "codecs have no factor {name:?}; there are {}",
                names.join(", ")
            ))
        })?;
        draft = draft.with_workload(factor.about(), words::several(&value)?, &name);
    }
    let set = PlanSet::from_drafts(vec![draft], &options).map_err(|error| of_lab(&error))?;
    let run = measure(py, &set, new_folder(&set, question.name, &out)?, on_event)?;
    let batch = py.detach(|| parquet::cell_batch(&CellTable::of(&run.view)));
    batch.map(Table::new).map_err(|error| of_results(&error))
}

fn new_folder(set: &PlanSet, name: &str, out: &Path) -> PyResult<session::Folder> {
    let out = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
    check_place(&out).map_err(|error| PlanError::new_err(format!("out: {} {error}", out.display())))?;
    let folder = outcrop_lab::new_run(&out, name, set).map_err(|error| of_lab(&error))?;
    Ok(session::Folder::new(folder))
}

/// Says how this interpreter is started again to hold a database; called once, when the package is imported.
#[pyfunction(name = "_start_workers_by")]
pub(crate) fn start_workers_by(program: PathBuf, arguments: Vec<OsString>) {
    outcrop_lab::layer::kv::start_workers_by(program, arguments);
}

/// Holds a database for the process that started this one, until that ends.
#[pyfunction(name = "_hold_database")]
pub(crate) fn hold_database(py: Python<'_>) -> PyResult<()> {
    py.detach(outcrop_kv::serve_parent)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// What a run wrote, opened for reading.
fn opened(dir: &Path) -> PyResult<RunView> {
    RunView::load(dir).map_err(|error| of_results(&error))
}
