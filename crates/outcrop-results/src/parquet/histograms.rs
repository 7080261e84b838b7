//! The columns of `histograms.parquet`: one row per interval, operation and kind of a trial.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::columns::{Batch, factors, factors_field, field, numbers, spelled, text, text_field};
use super::table::TableRow;
use crate::trial::{HistogramEntry, TrialEntry};

/// A histogram of a trial with the trial's identity.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramRow {
    /// Name of the run folder.
    pub run: String,
    /// Number of the trial in the order of the run, from 0.
    pub trial: u32,
    /// Identifier of the cell; empty in files that were written before rows had it.
    pub cell: String,
    /// Layer measured.
    pub layer: String,
    /// What was measured.
    pub subject: String,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// The cell: factor name to value.
    pub factors: BTreeMap<String, String>,
    /// The histogram.
    pub histogram: HistogramEntry,
}

/// The rows of one trial; none for a trial that did not complete.
pub(super) fn rows_of(run: &str, entry: &TrialEntry) -> Vec<HistogramRow> {
    if !entry.is_completed() {
        return Vec::new();
    }
    let row = |histogram: &HistogramEntry| HistogramRow {
        run: run.to_owned(),
        trial: entry.trial,
        cell: entry.cell.clone(),
        layer: entry.layer.clone(),
        subject: entry.subject.clone(),
        repetition: entry.repetition,
        factors: entry.factors.clone(),
        histogram: histogram.clone(),
    };
    entry.histograms.iter().map(row).collect()
}

impl TableRow for HistogramRow {
    const SCHEMA_NAME: &'static str = "histograms/2";
    const EARLIER: &'static [&'static str] = &["histograms/1"];
    type Columns = ();

    fn schema((): &()) -> SchemaRef {
        Arc::new(Schema::new(vec![
            text_field("run"),
            field("trial", DataType::UInt32),
            text_field("cell"),
            text_field("layer"),
            text_field("subject"),
            field("repetition", DataType::UInt32),
            factors_field(),
            text_field("operation"),
            text_field("kind"),
            field("interval_index", DataType::UInt32),
            field("start_s", DataType::Float64),
            field("duration_s", DataType::Float64),
            field("count", DataType::UInt64),
            field("min_ns", DataType::UInt64),
            field("max_ns", DataType::UInt64),
            field("sum_ns", DataType::UInt64),
            text_field("hdr"),
        ]))
    }

    fn arrays((): &(), rows: &[Self]) -> Result<Vec<ArrayRef>, String> {
        let entries = || rows.iter().map(|row| &row.histogram);
        Ok(vec![
            text(rows.iter().map(|row| row.run.as_str())),
            numbers::<UInt32Type>(rows.iter().map(|row| row.trial)),
            text(rows.iter().map(|row| row.cell.as_str())),
            text(rows.iter().map(|row| row.layer.as_str())),
            text(rows.iter().map(|row| row.subject.as_str())),
            numbers::<UInt32Type>(rows.iter().map(|row| row.repetition)),
            factors(rows.iter().map(|row| &row.factors))?,
            text(entries().map(|entry| entry.operation.as_str())),
            text(entries().map(|entry| entry.kind.name())),
            numbers::<UInt32Type>(entries().map(|entry| entry.interval_index)),
            numbers::<Float64Type>(entries().map(|entry| entry.start_s)),
            numbers::<Float64Type>(entries().map(|entry| entry.duration_s)),
            numbers::<UInt64Type>(entries().map(|entry| entry.count)),
            numbers::<UInt64Type>(entries().map(|entry| entry.min_ns)),
            numbers::<UInt64Type>(entries().map(|entry| entry.max_ns)),
            numbers::<UInt64Type>(entries().map(|entry| entry.sum_ns)),
            text(entries().map(|entry| entry.hdr.as_str())),
        ])
    }

    fn from_batch(batch: &Batch<'_>) -> Result<Vec<Self>, String> {
        let (run, layer, subject) = (batch.text("run")?, batch.text("layer")?, batch.text("subject")?);
        let cell = batch.text_if_there("cell")?;
        let (trial, repetition) = (batch.u32("trial")?, batch.u32("repetition")?);
        let (operation, kind, hdr) = (batch.text("operation")?, batch.text("kind")?, batch.text("hdr")?);
        let interval_index = batch.u32("interval_index")?;
        let (start_s, duration_s) = (batch.f64("start_s")?, batch.f64("duration_s")?);
        let (count, sum_ns) = (batch.u64("count")?, batch.u64("sum_ns")?);
        let (min_ns, max_ns) = (batch.u64("min_ns")?, batch.u64("max_ns")?);
        let row = |(i, factors)| {
            let histogram = HistogramEntry {
                operation: operation.value(i).to_owned(),
                kind: spelled("kind", kind.value(i))?,
                interval_index: interval_index.value(i),
                start_s: start_s.value(i),
                duration_s: duration_s.value(i),
                count: count.value(i),
                min_ns: min_ns.value(i),
                max_ns: max_ns.value(i),
                sum_ns: sum_ns.value(i),
                hdr: hdr.value(i).to_owned(),
            };
            Ok(Self {
                run: run.value(i).to_owned(),
                trial: trial.value(i),
                cell: cell.map(|cell| cell.value(i).to_owned()).unwrap_or_default(),
                layer: layer.value(i).to_owned(),
                subject: subject.value(i).to_owned(),
                repetition: repetition.value(i),
                factors,
                histogram,
            })
        };
        batch
            .factors()?
            .into_iter()
            .enumerate()
            .take(batch.row_count())
            .map(row)
            .collect()
    }
}
