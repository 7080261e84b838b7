//! `outcrop.Run`: a run folder opened for reading.

use std::path::PathBuf;

use maud::html;
use outcrop_report::{FileFormat, Report};
use outcrop_results::{CellTable, RunView, parquet};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::comparison::{self, Comparison, Conditions};
use crate::errors::{RunError, of_results};
use crate::exchange::Table;
use crate::json;

/// Columns of the summary that `str` gives.
const SCREEN_COLUMNS: usize = 80;
/// Width of a figure: the text width of a page of A4.
const FIGURE_WIDTH_MM: f64 = 150.0;
/// Height of the report's first page in a notebook, in CSS pixels.
const PAGE_HEIGHT_PX: u32 = 640;

/// A run: its plan, its environment, and everything that it measured.
#[pyclass(frozen, module = "outcrop")]
pub(crate) struct Run {
    pub(crate) view: RunView,
}

/// Opens a run folder. A run that is still being measured is read as far as it has come.
#[pyfunction]
pub(crate) fn open_run(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    let path = std::path::absolute(&path).unwrap_or(path);
    let view = py.detach(|| RunView::load(&path));
    Ok(Run {
        view: view.map_err(|error| of_results(&error))?,
    })
}

#[pymethods]
impl Run {
    /// The folder.
    #[getter]
    fn path(&self) -> &PathBuf {
        &self.view.dir
    }

    /// The run's name: that of the folder.
    #[getter]
    fn name(&self) -> &str {
        &self.view.name
    }

    /// The plan with every default written out, TOML. Running it again repeats the run.
    #[getter]
    fn plan(&self) -> &str {
        &self.view.plan
    }

    /// The machine that the run was measured on.
    #[getter]
    fn environment<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.view.environment)
    }

    /// How many trials completed, were interrupted, and failed.
    #[getter]
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = Report::of(&self.view).trials;
        let dict = PyDict::new(py);
        dict.set_item("completed", counts.completed)?;
        dict.set_item("interrupted", counts.interrupted)?;
        dict.set_item("failed", counts.failed)?;
        Ok(dict)
    }

    /// One row per metric of each completed trial: the columns of `records.parquet`.
    fn records(&self, py: Python<'_>) -> PyResult<Table> {
        let batch = py.detach(|| parquet::record_batch(&self.view));
        batch.map(Table::new).map_err(|error| of_results(&error))
    }

    /// Latency histograms, one row per interval, operation and kind of each completed trial: the columns of `histograms.parquet`.
    fn histograms(&self, py: Python<'_>) -> PyResult<Table> {
        let batch = py.detach(|| parquet::histogram_batch(&self.view));
        batch.map(Table::new).map_err(|error| of_results(&error))
    }

    /// One row per cell, with medians and intervals: the columns of `cells.parquet`.
    fn cells(&self, py: Python<'_>) -> PyResult<Table> {
        let batch = py.detach(|| parquet::cell_batch(&CellTable::of(&self.view)));
        batch.map(Table::new).map_err(|error| of_results(&error))
    }

    /// What each layer can do and what to configure, with the findings: a `dict` by layer.
    fn answer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let report = py.detach(|| Report::of(&self.view));
        let answers = PyDict::new(py);
        for layer in &report.layers {
            let section = serde_json::json!({"answer": layer.answer, "findings": layer.findings});
            answers.set_item(&layer.layer, json::to_python(py, &section)?)?;
        }
        Ok(answers.into_any())
    }

    /// The figures of the report as SVG text, by name.
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let drawn = py.detach(|| {
            let report = Report::of(&self.view);
            let draw = |figure: &&outcrop_report::Figure| {
                let svg = figure.to_file(FileFormat::Svg, FIGURE_WIDTH_MM, &report.label_of(&figure.id));
                svg.map(|svg| (figure.id.clone(), svg))
            };
            report.figures().iter().map(draw).collect::<Result<Vec<_>, _>>()
        });
        let figures = PyDict::new(py);
        for (name, svg) in drawn.map_err(|error| RunError::new_err(error.to_string()))? {
            figures.set_item(name, String::from_utf8_lossy(&svg))?;
        }
        Ok(figures)
    }

    /// This run as the baseline of a comparison. See [`compare`].
    #[pyo3(signature = (other, *, fail_if=None, margin=0.05, drift=0.05, assume=None))]
    fn compare(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        fail_if: Option<Vec<String>>,
        margin: f64,
        drift: f64,
        assume: Option<std::collections::BTreeMap<String, String>>,
    ) -> PyResult<Comparison> {
        let conditions = Conditions {
            fail_if: fail_if.unwrap_or_default(),
            margin,
            drift,
            assumed: assume.unwrap_or_default(),
        };
        comparison::of(slf.as_any(), other, &conditions)
    }

    /// The report's page: one HTML document that needs nothing else.
    fn to_html(&self, py: Python<'_>) -> String {
        py.detach(|| Report::of(&self.view).to_html())
    }

    /// The report's first page, in a frame: its style stays its own.
    fn _repr_html_(&self, py: Python<'_>) -> String {
        let page = py.detach(|| Report::of(&self.view).to_one_page_html());
        let style = format!("width: 100%; height: {PAGE_HEIGHT_PX}px; border: 0");
        html! { iframe title=(self.view.name) srcdoc=(page) sandbox="" style=(style) {} }.into_string()
    }

    fn __str__(&self, py: Python<'_>) -> String {
        py.detach(|| Report::of(&self.view).screen(SCREEN_COLUMNS, false))
    }

    fn __repr__(&self) -> String {
        format!(
            "<outcrop.Run {} of {} trials>",
            self.view.name,
            self.view.trials.len()
        )
    }
}
