//! Reads the rows of a reference file; every complaint names the line, what is there and what belongs there.

use std::collections::BTreeMap;

use csv::StringRecord;
use outcrop_measure::metric::Provenance;
use outcrop_schema::{LayerSchema, Vocabulary, device};

use super::{NOT_STATED, ReferenceKind, ReferenceRow, unit_scale};
use crate::error::ResultsError;
use crate::factors;
use crate::trial::LARGEST;

/// Columns without which a figure means nothing.
const REQUIRED: [&str; 5] = ["subject", "metric", "unit", "value", "source"];
/// Columns that are not factors.
const NOT_FACTORS: [&str; 7] = [
    "layer",
    "subject",
    "metric",
    "unit",
    "value",
    "provenance",
    "source",
];
/// The layer of files that do not name one.
const DEFAULT_LAYER: &LayerSchema = &device::SCHEMA;

pub(super) fn read(
    file: &str,
    conditions: &[(&str, &str)],
    csv: &[u8],
) -> Result<(ReferenceKind, Vec<ReferenceRow>), ResultsError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(csv);
    let bad = |line, reason| ResultsError::BadReference {
        file: file.to_owned(),
        line,
        reason,
    };
    let header = reader
        .headers()
        .map_err(|error| csv_error(file, csv, &error))?
        .clone();
    let missing: Vec<_> = REQUIRED
        .into_iter()
        .filter(|name| !header.iter().any(|h| h == *name))
        .collect();
    if !missing.is_empty() {
        let seen = header.iter().collect::<Vec<_>>().join(", ");
        return Err(bad(
            1,
            format!("the header lacks {}; it has: {seen}", missing.join(", ")),
        ));
    }
    if let Some(twice) = header
        .iter()
        .enumerate()
        .find(|(i, name)| header.iter().take(*i).any(|h| h == *name))
    {
        return Err(bad(1, format!("the header has the column {:?} twice", twice.1)));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| csv_error(file, csv, &error))?;
        let line = record.position().map_or(0, |position| line_of(csv, position));
        let row = Row {
            header: &header,
            record: &record,
            conditions,
        };
        rows.push(row.read(line).map_err(|reason| bad(line, reason))?);
    }
    if rows.is_empty() {
        return Err(bad(1, "there are no rows below the header".to_owned()));
    }
    let is_datasheet = header.iter().any(|name| name == device::SKU.name);
    Ok((
        if is_datasheet {
            ReferenceKind::Datasheet
        } else {
            ReferenceKind::Measurement
        },
        rows,
    ))
}

fn csv_error(file: &str, csv: &[u8], error: &csv::Error) -> ResultsError {
    let line = error.position().map_or(1, |position| line_of(csv, position));
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!(
                "{len} columns, but the header has {expected_len}; put values with a comma in double quotes"
            )
        }
        csv::ErrorKind::Utf8 { .. } => "not UTF-8 text".to_owned(),
        _ => error.to_string(),
    };
    ResultsError::BadReference {
        file: file.to_owned(),
        line,
        reason,
    }
}

/// The line of a record. The reader's position may lie before the line feeds that end the line above.
fn line_of(csv: &[u8], position: &csv::Position) -> u64 {
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = csv.get(start..).unwrap_or_default();
    let skipped = rest
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'))
        .filter(|byte| **byte == b'\n');
    position.line() + skipped.count() as u64
}

struct Row<'a> {
    header: &'a StringRecord,
    record: &'a StringRecord,
    conditions: &'a [(&'a str, &'a str)],
}

impl Row<'_> {
    fn read(&self, line: u64) -> Result<ReferenceRow, String> {
        let published_unit = self.required("unit")?;
        let (unit, scale) = unit_scale::base_of(published_unit).ok_or_else(|| {
            format!(
                "unknown unit {published_unit:?}; expected one of {}",
                unit_scale::known()
            )
        })?;
        let text = self.required("value")?;
        let value: f64 = text
            .parse()
            .map_err(|_| format!("the value {text:?} is not a number"))?;
        if !value.is_finite() || value < 0.0 {
            return Err(format!(
                "the value {text:?} is not a figure: it must be finite and not negative"
            ));
        }
        let value = value * scale;
        if value > LARGEST {
            return Err(format!(
                "the value {text:?} {published_unit} is impossible; expected at most {LARGEST:e} in {}",
                unit.symbol()
            ));
        }
        if let Some(other) = self.optional("provenance").filter(|other| *other != "published") {
            return Err(format!(
                "the provenance {other:?} is not that of a reference; expected published"
            ));
        }
        let layer = self.optional("layer").unwrap_or(DEFAULT_LAYER.name).to_owned();
        Ok(ReferenceRow {
            line,
            subject: self.required("subject")?.to_owned(),
            factors: self.factors(&layer)?,
            layer,
            metric: self.required("metric")?.to_owned(),
            unit,
            value,
            provenance: Provenance::Published,
            source: self.required("source")?.to_owned(),
        })
    }

    fn optional(&self, column: &str) -> Option<&str> {
        let index = self.header.iter().position(|name| name == column)?;
        self.record.get(index).filter(|text| !text.is_empty())
    }

    fn required(&self, column: &str) -> Result<&str, String> {
        self.optional(column)
            .ok_or_else(|| format!("the column {column} is empty; every figure needs one"))
    }

    fn factors(&self, layer: &str) -> Result<BTreeMap<String, String>, String> {
        let layer = Vocabulary::default().layer(layer);
        // What decides whether two figures may be compared at all, and a publication often leaves out.
        let to_state = layer.map_or(&[][..], |layer| layer.to_state);
        let mut result: BTreeMap<String, String> = to_state
            .iter()
            .map(|factor| (factor.name.to_owned(), NOT_STATED.to_owned()))
            .collect();
        let stated = self.conditions.iter().map(|(name, value)| (*name, *value));
        let columns = self.header.iter().zip(self.record);
        let columns = columns.filter(|(name, text)| !text.is_empty() && !NOT_FACTORS.contains(name));
        for (name, text) in stated.chain(columns) {
            let (name, value) = factors::canonical(layer, name, text)?;
            result.insert(name, value);
        }
        Ok(result)
    }
}
