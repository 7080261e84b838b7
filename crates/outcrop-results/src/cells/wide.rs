//! `cells.csv` and `cells.parquet`: a row per cell, a column per factor, and six columns per headline figure, with two more where they say
//! something.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_schema::{Column, FactorRef};

use super::{CellRow, CellTable, Estimate, Figure, are_told_by_plan};
use crate::atomic_file::write_with;
use crate::error::ResultsError;
use crate::layout::{CELLS_CSV_FILE, CELLS_PARQUET_FILE};
use crate::parquet::{PlainColumn, write_columns};
use crate::view::RunView;

/// Columns of every cell.
const FIRST: [&str; 5] = ["run", "layer", "subject", "cell", "trials"];
/// The column of the plan that asked for a cell, where it tells cells apart.
const PLAN: &str = "plan";
/// The column of the reason why a cell has no completed trial, where trials failed.
const FAILURE: &str = "failure";

/// Writes `cells.csv` and `cells.parquet` of a run into a folder, as a rule the run's, replacing older ones.
///
/// # Errors
/// [`ResultsError::Io`], [`ResultsError::Parquet`].
pub fn write_files(run: &RunView, folder: &Path) -> Result<(), ResultsError> {
    let columns = typed_columns(&CellTable::of(run));
    let csv_path = folder.join(CELLS_CSV_FILE);
    let mut csv = Vec::new();
    write_columns_as_csv(&columns, &mut csv)?;
    crate::atomic_file::write_atomically(&csv_path, &csv)?;
    let path = folder.join(CELLS_PARQUET_FILE);
    write_with(&path, |file| write_columns("cells/1", &columns, file, &path))
}

/// Writes the table as CSV with a header: what stands in `cells.csv`.
///
/// # Errors
/// [`ResultsError::Export`] when the sink fails.
pub fn write_csv(table: &CellTable, sink: impl Write) -> Result<(), ResultsError> {
    write_columns_as_csv(&typed_columns(table), sink)
}

fn write_columns_as_csv(columns: &[(String, PlainColumn)], sink: impl Write) -> Result<(), ResultsError> {
    let failed = |error: csv::Error| ResultsError::Export { cause: error.into() };
    let mut writer = csv::Writer::from_writer(sink);
    writer
        .write_record(columns.iter().map(|(name, _)| name))
        .map_err(failed)?;
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    for row in 0..rows {
        writer
            .write_record(columns.iter().map(|(_, column)| column.spelled(row)))
            .map_err(failed)?;
    }
    writer.flush().map_err(|cause| ResultsError::Export { cause })
}

/// The table's columns, typed, with their names.
pub(crate) fn typed_columns(table: &CellTable) -> Vec<(String, PlainColumn)> {
    let rows = &table.rows;
    let text = |of: fn(&CellRow) -> &str| {
        PlainColumn::Text(rows.iter().map(|row| Some(of(row).to_owned())).collect())
    };
    let [run, layer, subject, cell, trials] = FIRST.map(str::to_owned);
    let mut columns = vec![
        (run, PlainColumn::Text(vec![Some(table.run.clone()); rows.len()])),
        (layer, text(|row| &row.layer)),
        (subject, text(|row| &row.subject)),
        (cell, text(|row| &row.id)),
        (
            trials,
            PlainColumn::Whole(rows.iter().map(|row| i64::try_from(row.trials).ok()).collect()),
        ),
    ];
    if are_told_by_plan(&rows.iter().collect::<Vec<_>>()) {
        let plans = rows.iter().map(|row| Some(row.plans.join(", ")));
        columns.push((PLAN.to_owned(), PlainColumn::Text(plans.collect())));
    }
    if rows.iter().any(|row| row.failure.is_some()) {
        let failures = rows.iter().map(|row| row.failure.clone());
        columns.push((FAILURE.to_owned(), PlainColumn::Text(failures.collect())));
    }
    columns.extend(factor_columns(rows));
    let taken: BTreeSet<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    for (name, unit) in shown_metrics(rows) {
        let mut of_figure = figure_columns(rows, &name, unit);
        // What was asked for has the plain name: the rows of a column, and how many were measured.
        if of_figure.iter().any(|(name, _)| taken.contains(name)) {
            for (name, _) in &mut of_figure {
                *name = format!("measured_{name}");
            }
        }
        columns.extend(of_figure);
    }
    columns
}

/// One column per factor that a cell has; text where layers type it differently, or where a value is not a number.
fn factor_columns(rows: &[CellRow]) -> Vec<(String, PlainColumn)> {
    let names: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.factors.iter().map(|(name, _)| name))
        .collect();
    let column = |name: &str| {
        let known = rows.iter().filter(|row| row.factors.setting(name).is_some());
        let factors: Vec<Option<FactorRef>> = known.map(|row| row.schema?.factor(name)).collect();
        let kinds: Vec<Option<Column>> = factors
            .iter()
            .map(|factor| Some(factor.as_ref()?.column()))
            .collect();
        let kind = kinds.first().copied().flatten();
        let kind = kind.filter(|kind| kinds.iter().all(|other| *other == Some(*kind)));
        let places: Vec<Option<f64>> = rows
            .iter()
            .map(|row| row.factors.setting(name)?.place())
            .collect();
        let is_read =
            |row: &CellRow, place: &Option<f64>| row.factors.setting(name).is_none() || place.is_some();
        let is_number = rows.iter().zip(&places).all(|(row, place)| is_read(row, place));
        let values = match kind.filter(|_| is_number) {
            // Counts and sizes are far below 2^53: the conversion is exact.
            Some(Column::Whole | Column::Bytes) => PlainColumn::Whole(
                places
                    .iter()
                    .map(|place| place.map(|place| place as i64))
                    .collect(),
            ),
            Some(Column::Real) => PlainColumn::Real(places),
            _ => PlainColumn::Text(
                rows.iter()
                    .map(|row| Some(row.factors.setting(name)?.spelling().to_owned()))
                    .collect(),
            ),
        };
        let factor = factors.into_iter().flatten().next();
        let full = match (&values, factor) {
            (PlainColumn::Whole(_) | PlainColumn::Real(_), Some(factor)) => {
                factor.column_name(factor.column())
            }
            _ => name.to_owned(),
        };
        let is_taken = FIRST.contains(&full.as_str()) || full == PLAN || full == FAILURE;
        (if is_taken { format!("factor_{full}") } else { full }, values)
    };
    names.into_iter().map(column).collect()
}

/// The headline figures of the layers that there are, in the order of their tables, each once.
fn shown_metrics(rows: &[CellRow]) -> Vec<(String, Unit)> {
    let mut seen = BTreeSet::new();
    let schemas = rows.iter().filter_map(|row| row.schema);
    schemas
        .flat_map(|schema| schema.table)
        // First, so that the rows are looked through once for a figure and not once for each row.
        .filter(|column| seen.insert(column.metric.name))
        .filter(|column| {
            rows.iter()
                .any(|row| row.figures.contains_key(column.metric.name))
        })
        .map(|column| (column.metric.name.to_owned(), column.metric.unit))
        .collect()
}

/// A figure's median, interval, confidence, n, and why there is none; why a figure has no interval and where it comes from, where a cell
/// has such to say.
fn figure_columns(rows: &[CellRow], name: &str, unit: Unit) -> Vec<(String, PlainColumn)> {
    let figures: Vec<Option<&Figure>> = rows.iter().map(|row| row.figures.get(name)).collect();
    let estimate = |figure: &Option<&Figure>| figure.and_then(|figure| figure.estimate()).cloned();
    let estimates: Vec<_> = figures.iter().map(estimate).collect();
    let real = |of: fn(&Estimate) -> Option<f64>| {
        PlainColumn::Real(estimates.iter().map(|estimate| of(estimate.as_ref()?)).collect())
    };
    let reasons = figures.iter().map(|figure| match figure {
        Some(Figure::Unavailable { reason, .. }) => Some(reason.clone()),
        _ => None,
    });
    let counts = estimates
        .iter()
        .map(|estimate| i64::try_from(estimate.as_ref()?.n).ok());
    let full = with_unit(name, unit);
    let part = |of: &str, what: &str| [of, what].join("_");
    let of_estimates = |what: &str, of: fn(&Estimate) -> Option<String>| {
        let words: Vec<Option<String>> = estimates.iter().map(|estimate| of(estimate.as_ref()?)).collect();
        // Most runs have nothing to say in these, and no column.
        let is_said = words.iter().any(Option::is_some);
        is_said.then(|| (part(name, what), PlainColumn::Text(words)))
    };
    let mut columns = vec![
        (full.clone(), real(|estimate| Some(estimate.value))),
        (part(&full, "low"), real(|estimate| Some(estimate.interval?.low))),
        (
            part(&full, "high"),
            real(|estimate| Some(estimate.interval?.high)),
        ),
        (
            part(name, "confidence"),
            real(|estimate| Some(estimate.interval?.confidence)),
        ),
        (part(name, "n"), PlainColumn::Whole(counts.collect())),
        (part(name, "unavailable"), PlainColumn::Text(reasons.collect())),
    ];
    columns.extend(of_estimates("no_interval", |one| one.no_interval.clone()));
    columns.extend(of_estimates("provenance", |one| {
        let is_other = one.provenance != Provenance::Measured;
        is_other.then(|| one.provenance.name().to_owned())
    }));
    columns
}

/// A metric's column: its name and its unit, which is left out where the name says it and for rates, ratios and counts.
fn with_unit(name: &str, unit: Unit) -> String {
    let unit = match unit {
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "bytes_per_s",
        Unit::Nanoseconds => "ns",
        Unit::NanosecondsPerOperation => "ns_per_operation",
        Unit::NanosecondsPerByte => "ns_per_byte",
        Unit::BitsPerByte => "bits_per_byte",
        Unit::Joules => "joules",
        Unit::Watts => "watts",
        _ => return name.to_owned(),
    };
    let is_said = name.strip_suffix(unit).is_some_and(|rest| rest.ends_with('_'));
    if is_said {
        name.to_owned()
    } else {
        [name, unit].join("_")
    }
}
