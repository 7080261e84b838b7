//! Records and comparisons as CSV and JSON, for `--format csv` and `--format json`.

use std::collections::BTreeSet;
use std::io::Write;

use crate::error::ResultsError;
use crate::record::Record;
use crate::references::Reference;

/// Columns of a record before its factors.
const BEFORE_FACTORS: [&str; 7] = ["run", "trial", "cell", "layer", "subject", "repetition", "seed"];
/// Columns of a record behind its factors.
const BEHIND_FACTORS: [&str; 7] = [
    "metric",
    "unit",
    "value",
    "provenance",
    "source",
    "started_at",
    "duration_s",
];

/// Writes records as CSV with a header: one column per record column, the factors one by one between them.
///
/// A record without a factor or without a value has an empty cell there. A factor whose name is that of a
/// record column (`source`) is written as `factor_source`.
///
/// # Errors
/// [`ResultsError::Export`] when the sink fails.
pub fn write_csv(records: &[Record], sink: impl Write) -> Result<(), ResultsError> {
    let factors: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| record.factors.keys())
        .map(String::as_str)
        .collect();
    let mut writer = csv::Writer::from_writer(sink);
    let factor_columns = factors.iter().map(|name| factor_column(name));
    let before = BEFORE_FACTORS.map(str::to_owned);
    let behind = BEHIND_FACTORS.map(str::to_owned);
    writer
        .write_record(before.into_iter().chain(factor_columns).chain(behind))
        .map_err(failed)?;
    for record in records {
        let before = [
            record.run.clone(),
            record.trial.to_string(),
            record.cell.clone(),
            record.layer.clone(),
            record.subject.clone(),
            record.repetition.to_string(),
            record.seed.to_string(),
        ];
        let values = factors
            .iter()
            .map(|name| record.factors.get(*name).cloned().unwrap_or_default());
        let behind = [
            record.metric.clone(),
            record.unit.symbol().to_owned(),
            record.value.map(|value| value.to_string()).unwrap_or_default(),
            record.provenance_name().to_owned(),
            record.source.clone().unwrap_or_default(),
            record.started_at.clone(),
            record.duration_s.to_string(),
        ];
        writer
            .write_record(before.into_iter().chain(values).chain(behind))
            .map_err(failed)?;
    }
    writer.flush().map_err(failed)
}

/// Writes anything of this crate that serialises (records, a comparison, references) as indented JSON.
///
/// # Errors
/// [`ResultsError::Export`] when the sink fails.
pub fn write_json(value: &impl serde::Serialize, mut sink: impl Write) -> Result<(), ResultsError> {
    serde_json::to_writer_pretty(&mut sink, value).map_err(failed)?;
    sink.write_all(b"\n").and_then(|()| sink.flush()).map_err(failed)
}

/// Writes the figures of a reference as CSV, in base units, in the form that [`crate::references::load`] reads.
///
/// # Errors
/// [`ResultsError::Export`] when the sink fails.
pub fn write_reference_csv(reference: &Reference, sink: impl Write) -> Result<(), ResultsError> {
    let rows = &reference.rows;
    let factors: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.factors.keys())
        .map(String::as_str)
        .collect();
    let mut writer = csv::Writer::from_writer(sink);
    let header = ["layer", "subject"].into_iter().chain(factors.iter().copied());
    writer
        .write_record(header.chain(["metric", "unit", "value", "source"]))
        .map_err(failed)?;
    for row in rows {
        let value = row.value.to_string();
        let factor = |name: &&str| row.factors.get(*name).map_or("", String::as_str);
        let before = [row.layer.as_str(), &row.subject]
            .into_iter()
            .chain(factors.iter().map(factor));
        let behind = [row.metric.as_str(), row.unit.symbol(), &value, &row.source];
        writer.write_record(before.chain(behind)).map_err(failed)?;
    }
    writer.flush().map_err(failed)
}

fn factor_column(name: &str) -> String {
    let is_taken = BEFORE_FACTORS.contains(&name) || BEHIND_FACTORS.contains(&name);
    if is_taken {
        format!("factor_{name}")
    } else {
        name.to_owned()
    }
}

fn failed(error: impl Into<std::io::Error>) -> ResultsError {
    ResultsError::Export { cause: error.into() }
}
