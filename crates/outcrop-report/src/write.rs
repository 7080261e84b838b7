//! The report in its run folder: `report.html` and `figures/*.svg`, each replaced whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use outcrop_results::{is_our_figure, write_atomically};

use crate::chart::FileFormat;
use crate::error::ReportError;
use crate::report::Report;

/// Width of the figures in the run folder: the text width of a page of A4.
const FILE_WIDTH_MM: f64 = 150.0;

/// Where a report was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The page.
    pub html: PathBuf,
    /// The figures, in the order of the page.
    pub figures: Vec<PathBuf>,
}

/// Writes the page and its figures into a run folder and removes figures that an earlier report left there.
///
/// Every file replaces its predecessor in one step: a reader never sees half a page. Under other limits than the run's, the page has another
/// name, and nothing that is there is replaced by what was not asked for again.
///
/// # Errors
/// [`ReportError::Write`] and [`ReportError::Io`], with the file or folder.
pub fn write(report: &Report, run_dir: &Path) -> Result<Paths, ReportError> {
    let html = run_dir.join(report.page_name("report"));
    if report.is_under_other_limits() {
        write_atomically(&html, report.to_html().as_bytes())?;
        let figures = Vec::new();
        return Ok(Paths { html, figures });
    }
    let figures_dir = run_dir.join("figures");
    fs::create_dir_all(&figures_dir).map_err(io_error("create", &figures_dir))?;
    let mut figures = Vec::new();
    for figure in report.figures() {
        let path = figures_dir.join(format!("{}.svg", figure.id));
        let svg = figure.to_file(FileFormat::Svg, FILE_WIDTH_MM, &report.label_of(&figure.id))?;
        write_atomically(&path, &svg)?;
        figures.push(path);
    }
    remove_others(&figures_dir, &figures)?;
    write_atomically(&html, report.to_html().as_bytes())?;
    Ok(Paths { html, figures })
}

/// Removes figures of an earlier report that this one does not have; pictures that somebody else put there stay.
fn remove_others(figures_dir: &Path, kept: &[PathBuf]) -> Result<(), ReportError> {
    let entries = fs::read_dir(figures_dir).map_err(io_error("read", figures_dir))?;
    for entry in entries {
        let path = entry.map_err(io_error("read", figures_dir))?.path();
        if !kept.contains(&path) && is_our_figure(&path) {
            match fs::remove_file(&path) {
                // Another report of the same run was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(io_error("remove", &path))?,
            }
        }
    }
    Ok(())
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ReportError {
    let path = path.to_owned();
    move |source| ReportError::Io { action, path, source }
}
