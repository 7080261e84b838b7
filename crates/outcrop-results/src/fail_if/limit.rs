//! What stands behind the sign of a condition: a change, a ratio, or a value of the metric.

use std::collections::BTreeSet;

use outcrop_measure::metric::Unit;
use outcrop_schema::Vocabulary;
use serde::Serialize;

/// What a condition holds a figure against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The ratio of candidate to baseline beyond which a row fails: 1.05 for `+5%`.
    Ratio(f64),
    /// The value beyond which a cell fails, whatever a baseline has.
    Value {
        /// The value, in the unit.
        value: f64,
        /// Unit of the value.
        unit: Unit,
    },
}

impl Limit {
    /// Reads `+5%`, `-3%`, `1.05x`, or a value as the metric's unit is written: `1ms`, `5000`, `100MB/s`.
    pub(super) fn read(text: &str, metric: &str) -> Result<Self, String> {
        if let Some(percent) = text.strip_suffix('%') {
            let change = number(text, percent)?;
            if !percent.starts_with(['+', '-']) {
                return Err(format!(
                    "{text:?} has no sign; write `+{text}` for an increase or `-{text}` for a decrease"
                ));
            }
            return ratio(text, 1.0 + change / 100.0);
        }
        match text.strip_suffix('x') {
            Some(factor) => ratio(text, number(text, factor)?),
            None => value(text, metric),
        }
    }
}

/// How limits are written that need a baseline.
const RELATIVE: &str = "a change as `+5%` or `-3%`, or a ratio as `1.05x`";

fn number(text: &str, digits: &str) -> Result<f64, String> {
    let value = digits.trim().parse::<f64>().ok();
    let value = value.filter(|value| value.is_finite());
    value.ok_or_else(|| format!("{text:?} is not a threshold; expected {RELATIVE}"))
}

fn ratio(text: &str, ratio: f64) -> Result<Limit, String> {
    match ratio > 0.0 {
        true => Ok(Limit::Ratio(ratio)),
        false => Err(format!("{text:?} leaves nothing; expected {RELATIVE}")),
    }
}

fn value(text: &str, metric: &str) -> Result<Limit, String> {
    // A name means the same in every layer, and most have one unit in all of them.
    let units: BTreeSet<Unit> = Vocabulary::default()
        .layers()
        .iter()
        .filter_map(|layer| Some(layer.metric(metric)?.unit))
        .collect();
    let mut problem = None;
    for unit in units {
        match unit.parse(text) {
            Ok(value) => return Ok(Limit::Value { value, unit }),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    Err(match problem {
        Some(problem) => format!("{problem}, or relative to a baseline: {RELATIVE}"),
        None => format!(
            "no layer has a metric {metric:?}, so the unit of {text:?} is not known; `outcrop results export` lists the metrics of a run"
        ),
    })
}
