//! The tables of a run in memory, as Arrow: with the columns of the Parquet files.

use std::collections::BTreeSet;
use std::path::Path;

use arrow_array::RecordBatch;

use super::factor_columns::FactorColumns;
use super::histograms::{HistogramRow, rows_of};
use super::plain::batch_of_columns;
use super::table::{TableRow, damage};
use crate::cells::{CellTable, typed_columns};
use crate::error::ResultsError;
use crate::record::Record;
use crate::view::RunView;

/// The records of all completed trials, with the columns of `records.parquet`. *Cost*: all of them in memory.
///
/// # Errors
/// [`ResultsError::Parquet`] for a trial whose time cannot be read.
pub fn record_batch(run: &RunView) -> Result<RecordBatch, ResultsError> {
    let records: Vec<Record> = run.records().collect();
    let names = |record: &Record| {
        let names = record
            .factors
            .keys()
            .map(|name| (record.layer.clone(), name.clone()));
        names.collect::<Vec<_>>()
    };
    let occurring: BTreeSet<(String, String)> = records.iter().flat_map(names).collect();
    batch(&FactorColumns::of(run.vocabulary, &occurring), &records, &run.dir)
}

/// The histograms of all completed trials, with the columns of `histograms.parquet`. *Cost*: all of them in memory.
///
/// # Errors
/// [`ResultsError::Parquet`] for a row that does not fit its column.
pub fn histogram_batch(run: &RunView) -> Result<RecordBatch, ResultsError> {
    let rows: Vec<HistogramRow> = run
        .trials
        .iter()
        .flat_map(|entry| rows_of(&run.name, entry))
        .collect();
    batch(&(), &rows, &run.dir)
}

/// A row per cell, with the columns of `cells.parquet`.
///
/// # Errors
/// [`ResultsError::Parquet`] if columns differ in length, which none should.
pub fn cell_batch(table: &CellTable) -> Result<RecordBatch, ResultsError> {
    batch_of_columns(&typed_columns(table)).map_err(|error| damage(Path::new(&table.run), &error))
}

fn batch<R: TableRow>(columns: &R::Columns, rows: &[R], dir: &Path) -> Result<RecordBatch, ResultsError> {
    let arrays = R::arrays(columns, rows).map_err(|reason| damage(dir, &reason))?;
    RecordBatch::try_new(R::schema(columns), arrays).map_err(|error| damage(dir, &error))
}
