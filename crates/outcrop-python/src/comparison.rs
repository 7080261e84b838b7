//! `outcrop.compare`: two runs, or a run and a published reference, as ratios with intervals.

use std::collections::BTreeMap;

use maud::html;
use outcrop_report::comparison::{
    Detail, comparison_csv, comparison_in_envelope, comparison_markdown, comparison_text,
};
use outcrop_results::compare::{self as comparing, Comparand};
use outcrop_results::{CompareOptions, Envelope, FailIf, Reference, RunView, references};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{ConditionMet, RunError, of_results};
use crate::json;
use crate::run::Run;

/// How a comparison is judged.
pub(crate) struct Conditions {
    pub(crate) fail_if: Vec<String>,
    pub(crate) margin: f64,
    pub(crate) drift: f64,
    pub(crate) assumed: BTreeMap<String, String>,
}

/// The ratios of a candidate to a baseline, each with its interval and verdict, or the reason why there is none.
#[pyclass(frozen, module = "outcrop")]
pub(crate) struct Comparison {
    comparison: comparing::Comparison,
}

#[pymethods]
impl Comparison {
    /// Name of the baseline.
    #[getter]
    fn baseline(&self) -> &str {
        &self.comparison.baseline
    }

    /// Name of the candidate.
    #[getter]
    fn candidate(&self) -> &str {
        &self.comparison.candidate
    }

    /// One `dict` per metric of each cell that both sides have.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let envelope = comparison_in_envelope(&self.comparison, Envelope::of("compare"));
        let envelope = envelope.map_err(|error| RunError::new_err(error.to_string()))?;
        json::to_python(py, &serde_json::Value::Array(envelope.rows))
    }

    /// CSV with a header, one line per row.
    fn to_csv(&self) -> String {
        comparison_csv(&self.comparison)
    }

    /// A Markdown table of the headline metrics; with `all`, of every metric.
    #[pyo3(signature = (*, all=false))]
    fn to_markdown(&self, all: bool) -> String {
        comparison_markdown(
            &self.comparison,
            &Detail {
                is_all: all,
                ..Detail::default()
            },
        )
    }

    fn _repr_html_(&self) -> String {
        html! { pre { (comparison_text(&self.comparison, &Detail::default())) } }.into_string()
    }

    fn __len__(&self) -> usize {
        self.comparison.rows.len()
    }

    fn __str__(&self) -> String {
        comparison_text(&self.comparison, &Detail::default())
    }

    fn __repr__(&self) -> String {
        format!(
            "<outcrop.Comparison of {} rows: {} with {}>",
            self.__len__(),
            self.candidate(),
            self.baseline()
        )
    }
}

/// One side.
enum Side<'a> {
    Opened(PyRef<'a, Run>),
    Loaded(Box<RunView>),
    Published(Box<Reference>),
}

impl<'a> Side<'a> {
    /// A run, the path of a run folder, the name of a published reference that ships, or a reference's CSV file.
    fn of(value: &Bound<'a, PyAny>) -> PyResult<Self> {
        if let Ok(run) = value.cast::<Run>() {
            return Ok(Self::Opened(run.borrow()));
        }
        let path: std::path::PathBuf = value.extract()?;
        let loaded = match path.is_dir() {
            true => RunView::load(&path).map(|run| Self::Loaded(Box::new(run))),
            false => references::load(&path.to_string_lossy())
                .map(|published| Self::Published(Box::new(published))),
        };
        loaded.map_err(|error| of_results(&error))
    }

    fn comparand(&self) -> Comparand<'_> {
        match self {
            Self::Opened(run) => Comparand::Run(&run.view),
            Self::Loaded(run) => Comparand::Run(run),
            Self::Published(reference) => Comparand::Reference(reference),
        }
    }
}

/// Compares a candidate with a baseline: runs, paths of run folders, or names of published references.
///
/// A row is the same where the interval of its ratio lies within `margin` of 1. Two separate runs may differ by `drift` even if nothing changed: a row is
/// better or worse, and a condition on a ratio met, only beyond it. `fail_if` takes conditions such as
/// `"p99 > +5%"`, and limits on the candidate such as `"p99 > 1ms"`; one that is met raises `ConditionMet`. If none is met,
/// but cells cannot be checked because they failed or lack the figure in the candidate, it raises `RunError`.
#[pyfunction]
#[pyo3(signature = (baseline, candidate, *, fail_if=None, margin=0.05, drift=0.05, assume=None))]
pub(crate) fn compare(
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
    fail_if: Option<Vec<String>>,
    margin: f64,
    drift: f64,
    assume: Option<BTreeMap<String, String>>,
) -> PyResult<Comparison> {
    let conditions = Conditions {
        fail_if: fail_if.unwrap_or_default(),
        margin,
        drift,
        assumed: assume.unwrap_or_default(),
    };
    of(baseline, candidate, &conditions)
}

pub(crate) fn of(
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
    conditions: &Conditions,
) -> PyResult<Comparison> {
    let py = baseline.py();
    let margin = conditions.margin;
    if !(margin > 0.0 && margin <= 1.0) {
        return Err(PyValueError::new_err(format!(
            "margin is {margin}; expected a share above 0 and up to 1, such as 0.05"
        )));
    }
    let drift = conditions.drift;
    if !(0.0..=1.0).contains(&drift) {
        return Err(PyValueError::new_err(format!(
            "drift is {drift}; expected a share from 0 to 1, such as 0.05"
        )));
    }
    let wanted: Result<Vec<FailIf>, _> = conditions.fail_if.iter().map(|text| text.parse()).collect();
    let wanted = wanted.map_err(|error| of_results(&error))?;
    let (baseline, candidate) = (Side::of(baseline)?, Side::of(candidate)?);
    let options = CompareOptions {
        margin,
        drift,
        asked: FailIf::metrics(&wanted),
        assumed: conditions.assumed.clone(),
    };
    let (one, other) = (baseline.comparand(), candidate.comparand());
    let comparison = py.detach(|| comparing::compare_with(one, other, &options));
    let comparison = comparison.map_err(|error| of_results(&error))?;
    let (mut met, mut unchecked) = (Vec::new(), None);
    for (report, text) in FailIf::check_each(&wanted, &comparison)
        .into_iter()
        .zip(&conditions.fail_if)
    {
        match report {
            Ok(found) if found.met() > 0 => met.push(format!(
                "'{text}' is met by {} of {} cells",
                found.met(),
                found.checked
            )),
            Ok(found) => {
                let why = found.passed_over();
                unchecked = unchecked.or(why.map(|why| RunError::new_err(format!("'{text}': {why}"))));
            }
            Err(error) => unchecked = unchecked.or(Some(of_results(&error))),
        }
    }
    // One that cannot be checked hides no other that is met.
    match unchecked {
        _ if !met.is_empty() => Err(ConditionMet::new_err(met.join("; "))),
        Some(error) => Err(error),
        None => Ok(Comparison { comparison }),
    }
}
