//! Cells as the JSON of every command has them: factors typed, figures with unit, interval and n.

use std::collections::BTreeMap;

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_schema::{Column, LayerSchema, Settings};
use serde::Serialize;
use serde_json::{Number, Value};

use super::{CellRow, CellTable, Estimate, Figure};

/// A cell of `outcrop/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellJson {
    /// Layer measured.
    pub layer: String,
    /// What was measured.
    pub subject: String,
    /// Its identifier in a run; none for a one-off without a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// Completed trials that have a figure; none where there is no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    /// The message of the last failed trial, if no trial completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Factors: numbers as numbers, sizes in bytes under names that end in `_bytes`.
    pub factors: BTreeMap<String, Value>,
    /// Figures by the name of their metric.
    pub metrics: BTreeMap<String, FigureJson>,
}

/// A figure of `outcrop/1`: a value, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FigureJson {
    /// It has a value.
    Known {
        /// The median in `unit`.
        value: f64,
        /// Base unit of value and interval.
        unit: Unit,
        /// Lower end of the interval.
        #[serde(skip_serializing_if = "Option::is_none")]
        low: Option<f64>,
        /// Upper end of the interval.
        #[serde(skip_serializing_if = "Option::is_none")]
        high: Option<f64>,
        /// Confidence of the interval, 0 to 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        confidence: Option<f64>,
        /// Why there is no interval, where a sample of the data supports none.
        #[serde(skip_serializing_if = "Option::is_none")]
        no_interval: Option<String>,
        /// Samples that it rests on.
        n: usize,
        /// Where it came from.
        provenance: Provenance,
    },
    /// It has none.
    Unavailable {
        /// Unit of the value that is missing.
        unit: Unit,
        /// Why there is none.
        unavailable: String,
    },
}

impl CellTable {
    /// The cells for the JSON of every command.
    pub fn to_json(&self) -> Vec<CellJson> {
        self.rows.iter().map(CellJson::of).collect()
    }
}

impl CellJson {
    /// A cell of a one-off that has no run.
    pub fn one_off(layer: &'static LayerSchema, subject: impl Into<String>, factors: &Settings) -> Self {
        Self {
            layer: layer.name.to_owned(),
            subject: subject.into(),
            cell: None,
            trials: None,
            failure: None,
            factors: typed(Some(layer), factors),
            metrics: BTreeMap::new(),
        }
    }

    /// The same cell with one more figure.
    #[must_use]
    pub fn with(mut self, metric: &outcrop_measure::metric::Metric, figure: FigureJson) -> Self {
        self.metrics.insert(metric.name.to_owned(), figure);
        self
    }

    fn of(row: &CellRow) -> Self {
        let figures = row.figures.iter();
        Self {
            layer: row.layer.clone(),
            subject: row.subject.clone(),
            cell: Some(row.id.clone()),
            trials: Some(row.trials),
            failure: row.failure.clone(),
            factors: typed(row.schema, &row.factors),
            metrics: figures
                .map(|(name, figure)| (name.clone(), FigureJson::of(figure)))
                .collect(),
        }
    }
}

impl FigureJson {
    /// A single value that was measured once.
    pub fn once(value: f64, unit: Unit) -> Self {
        Self::of(&Figure::Known(Estimate {
            value,
            unit,
            interval: None,
            no_interval: None,
            n: 1,
            provenance: Provenance::Measured,
        }))
    }

    /// A value that is missing, and why.
    pub fn unavailable(unit: Unit, reason: impl Into<String>) -> Self {
        Self::Unavailable {
            unit,
            unavailable: reason.into(),
        }
    }

    /// A figure of a cell.
    pub fn of(figure: &Figure) -> Self {
        match figure {
            Figure::Known(estimate) => Self::Known {
                value: estimate.value,
                unit: estimate.unit,
                low: estimate.interval.map(|interval| interval.low),
                high: estimate.interval.map(|interval| interval.high),
                confidence: estimate.interval.map(|interval| interval.confidence),
                no_interval: estimate.no_interval.clone(),
                n: estimate.n,
                provenance: estimate.provenance,
            },
            Figure::Unavailable { unit, reason } => Self::unavailable(*unit, reason),
        }
    }
}

/// Factors with their types; one whose text is not what its factor accepts stays text under the factor's own name.
fn typed(schema: Option<&'static LayerSchema>, factors: &Settings) -> BTreeMap<String, Value> {
    let one = |(name, setting): (&str, &outcrop_schema::Setting)| {
        let factor = schema.and_then(|schema| schema.factor(name));
        let number = factor.zip(setting.place()).and_then(|(factor, place)| {
            let number = match factor.column() {
                Column::Text => None,
                // Counts and sizes are far below 2^53: the conversion is exact.
                Column::Whole | Column::Bytes => Some(Number::from(place as u64)),
                Column::Real => Number::from_f64(place),
            };
            Some((factor.column_name(factor.column()), Value::Number(number?)))
        });
        number.unwrap_or_else(|| (name.to_owned(), setting.spelling().into()))
    };
    factors.iter().map(one).collect()
}
