//! The columns of `records.parquet`.

use std::sync::Arc;

use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use outcrop_measure::metric::Provenance;

use super::columns::{
    Batch, factors, factors_field, field, numbers, spelled, text, text_field, timestamp_type, timestamps,
};
use super::factor_columns::FactorColumns;
use super::table::TableRow;
use crate::record::{Record, UNAVAILABLE};

impl TableRow for Record {
    const SCHEMA_NAME: &'static str = "records/2";
    const EARLIER: &'static [&'static str] = &["records/1"];
    type Columns = FactorColumns;

    fn schema(columns: &FactorColumns) -> SchemaRef {
        let mut fields = vec![
            text_field("run"),
            field("trial", DataType::UInt32),
            text_field("cell"),
            text_field("layer"),
            text_field("subject"),
            field("repetition", DataType::UInt32),
            field("seed", DataType::UInt64),
            factors_field(),
            text_field("metric"),
            text_field("unit"),
            Field::new("value", DataType::Float64, true),
            text_field("provenance"),
            Field::new("source", DataType::Utf8, true),
            field("started_at", timestamp_type()),
            field("duration_s", DataType::Float64),
        ];
        fields.extend(columns.fields());
        Arc::new(Schema::new(fields))
    }

    fn arrays(columns: &FactorColumns, rows: &[Self]) -> Result<Vec<ArrayRef>, String> {
        let mut arrays: Vec<ArrayRef> = vec![
            text(rows.iter().map(|row| row.run.as_str())),
            numbers::<UInt32Type>(rows.iter().map(|row| row.trial)),
            text(rows.iter().map(|row| row.cell.as_str())),
            text(rows.iter().map(|row| row.layer.as_str())),
            text(rows.iter().map(|row| row.subject.as_str())),
            numbers::<UInt32Type>(rows.iter().map(|row| row.repetition)),
            numbers::<UInt64Type>(rows.iter().map(|row| row.seed)),
            factors(rows.iter().map(|row| &row.factors))?,
            text(rows.iter().map(|row| row.metric.as_str())),
            text(rows.iter().map(|row| row.unit.symbol())),
            Arc::new(rows.iter().map(|row| row.value).collect::<Float64Array>()),
            text(rows.iter().map(Record::provenance_name)),
            Arc::new(
                rows.iter()
                    .map(|row| row.source.as_deref())
                    .collect::<StringArray>(),
            ),
            timestamps(rows.iter().map(|row| row.started_at.as_str()))?,
            numbers::<Float64Type>(rows.iter().map(|row| row.duration_s)),
        ];
        arrays.extend(columns.arrays(rows));
        Ok(arrays)
    }

    fn from_batch(batch: &Batch<'_>) -> Result<Vec<Self>, String> {
        let (run, layer, subject) = (batch.text("run")?, batch.text("layer")?, batch.text("subject")?);
        let cell = batch.text_if_there("cell")?;
        let (trial, repetition, seed) = (batch.u32("trial")?, batch.u32("repetition")?, batch.u64("seed")?);
        let (metric, unit, value) = (
            batch.text("metric")?,
            batch.text("unit")?,
            batch.optional_f64("value")?,
        );
        let (provenance, source) = (batch.text("provenance")?, batch.optional_text("source")?);
        let (factors, times) = (batch.factors()?, batch.times("started_at")?);
        let duration_s = batch.f64("duration_s")?;
        let row = |(i, (factors, started_at))| {
            Ok(Self {
                run: run.value(i).to_owned(),
                trial: trial.value(i),
                cell: cell.map(|cell| cell.value(i).to_owned()).unwrap_or_default(),
                layer: layer.value(i).to_owned(),
                subject: subject.value(i).to_owned(),
                repetition: repetition.value(i),
                seed: seed.value(i),
                factors,
                metric: metric.value(i).to_owned(),
                unit: spelled("unit", unit.value(i))?,
                value: value.is_valid(i).then(|| value.value(i)),
                provenance: match provenance.value(i) {
                    // The value says that there is none.
                    UNAVAILABLE => Provenance::Measured,
                    name => spelled("provenance", name)?,
                },
                source: source.is_valid(i).then(|| source.value(i).to_owned()),
                started_at,
                duration_s: duration_s.value(i),
            })
        };
        factors
            .into_iter()
            .zip(times)
            .enumerate()
            .take(batch.row_count())
            .map(row)
            .collect()
    }
}
