//! The column layer: string columns, made or the user's, in the dictionary codec and beside it.

mod bench;
mod data;
mod forecast;
pub mod metrics;
mod parameters;
mod values;

use std::path::Path;

use outcrop_column_bench::BenchError;
use outcrop_column_bench::tabular::{ENDINGS, Table, column_name, is_table};

use crate::cell::Cell;
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{Bench, DataSettings, Layer, Preparation};
use crate::parameter::{Parameter, Refusal, Settings, hint};
use crate::plan::{Subject, TrialOptions};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Column;

/// A column that the workload describes.
const GENERATED: &str = "generated";
/// Columns of a file of the user's.
const FILE: &str = "file";
/// Rows of a generated column when a plan says nothing.
const DEFAULT_ROWS: &str = "1000000";
/// What describes the rows of a generated column; a file has its own.
const OF_GENERATED: [&str; 3] = ["distinct", "skew", "order"];
/// The value of `rows` that stands for the whole file.
const ALL_ROWS: &str = "all";

impl Layer for Column {
    fn name(&self) -> &'static str {
        "column"
    }

    fn subject_parameters(&self) -> &'static [Parameter] {
        parameters::SUBJECT
    }

    fn workload_parameters(&self) -> &'static [Parameter] {
        parameters::WORKLOAD
    }

    fn take_data(&self, path: &str) -> Result<Option<DataSettings>, String> {
        let path = Path::new(path);
        if !is_table(path) && !path.is_dir() {
            let endings = ENDINGS.join(", .");
            return Err(format!(
                "takes a table (.{endings}) or a folder of tables, and {} is none",
                path.display()
            ));
        }
        let table = Table::describe(path).map_err(|error| format!("says: {error}"))?;
        let columns: Vec<String> = table.string_columns().map(|column| column.name.clone()).collect();
        if columns.is_empty() {
            return Err(format!("finds no column of strings in {}", path.display()));
        }
        let (columns, left_out) = data::chosen(columns, &table.left_out);
        Ok(Some(DataSettings {
            subject: vec![
                ("kind", FILE.to_owned()),
                ("path", path.to_string_lossy().into_owned()),
            ],
            decided: &OF_GENERATED,
            factor: Some(("column", columns)),
            left_out,
        }))
    }

    fn complete_subject(&self, mut settings: Settings) -> Result<Subject, Refusal> {
        let is_generated = settings["kind"] == GENERATED;
        match settings.get("path").cloned() {
            Some(_) if is_generated => Err(Refusal::of(
                "path",
                "a generated column is made in memory and has no path; leave `path` out, or take kind = \"file\"",
            )),
            None if is_generated => Ok(Subject {
                settings,
                label: "generated column".to_owned(),
            }),
            None => Err(Refusal::of(
                "kind",
                "a subject of kind \"file\" needs `path`, the table to be read",
            )),
            Some(path) => {
                let path = super::absolute(&path)?;
                Table::describe(Path::new(&path)).map_err(|error| Refusal::of("path", error.to_string()))?;
                let name = Path::new(&path).file_name().map(std::ffi::OsStr::to_string_lossy);
                let kind = if Path::new(&path).is_dir() { "folder" } else { FILE };
                let label = format!("{kind} {}", name.unwrap_or_default());
                settings.insert("path".to_owned(), path);
                Ok(Subject { settings, label })
            }
        }
    }

    fn complete_factors(
        &self,
        subject: &Subject,
        mut factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        if subject.settings["kind"] == GENERATED {
            complete_generated(&mut factors)?;
        } else {
            complete_file(subject, &mut factors)?;
        }
        parameters::check(&factors, trial)?;
        parameters::drop_meaningless(&mut factors);
        Ok(factors)
    }

    fn forecast_trial(&self, cell: &Cell) -> Forecast {
        forecast::trial(cell)
    }

    fn prepare<'r>(
        &self,
        _: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Box<dyn Bench + 'r>, LabError> {
        Ok(Box::new(bench::ColumnBench::new(preparation)))
    }
}

fn complete_generated(factors: &mut Settings) -> Result<(), Refusal> {
    if let Some(column) = factors.get("column") {
        let message = format!(
            "a generated column has no name, but `column` is {column:?}; take a subject of kind \"file\""
        );
        return Err(Refusal::of("column", message));
    }
    for (name, value) in [
        ("rows", DEFAULT_ROWS),
        ("distinct", "10000"),
        ("skew", "0"),
        ("order", "random"),
    ] {
        factors.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
    if factors["rows"] == ALL_ROWS {
        return Err(Refusal::of(
            "rows",
            "a generated column needs a number of rows; \"all\" is for files",
        ));
    }
    Ok(())
}

fn complete_file(subject: &Subject, factors: &mut Settings) -> Result<(), Refusal> {
    for name in OF_GENERATED {
        if let Some(value) = factors.get(name) {
            let message = format!(
                "`{name}` is {value}, but the rows are those of the file; leave it out, or take kind = \"{GENERATED}\""
            );
            return Err(Refusal::of(name, message));
        }
    }
    factors
        .entry("rows".to_owned())
        .or_insert_with(|| ALL_ROWS.to_owned());
    let path = Path::new(&subject.settings["path"]);
    let refused = |error: BenchError| Refusal::of("path", error.to_string());
    let wanted = factors.get("column");
    if let Some(called) = wanted
        && let Some(name) = column_name(path, called).map_err(refused)?
    {
        // A number and a name of the same column are the same cell.
        factors.insert("column".to_owned(), name);
        return Ok(());
    }
    let table = Table::describe(path).map_err(refused)?;
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let message = match wanted {
        None => format!("which column? Give `column`: {}", names.join(", ")),
        Some(called) => format!("the file has no column {called:?}; {}", hint(called, &names)),
    };
    Err(Refusal::of("column", message))
}
