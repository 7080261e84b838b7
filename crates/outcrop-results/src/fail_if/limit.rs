//! What stands behind the sign of a condition: a change, a ratio, or a value of the metric.

use std::collections::BTreeSet;

use outcrop_measure::metric::Unit;
use outcrop_schema::{LayerSchema, Vocabulary};
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
    /// Reads `+5%`, `-3%`, `1.05x`, or a value as the metric's unit is written: `1ms`, `5000`, `100MB/s`. `head` is what stands before it.
    pub(super) fn read(text: &str, metric: &str, head: &str) -> Result<Self, String> {
        if let Some(percent) = text.strip_suffix('%') {
            let change = number(text, percent)?;
            if !percent.starts_with(['+', '-']) {
                let instead = figure_itself(text, metric, head).unwrap_or_else(|| {
                    format!(
                        "write `+{text}` for an increase or `-{text}` for a decrease from a baseline; for a single run, give a value with its unit, as in `1ms`"
                    )
                });
                return Err(format!("{text:?} has no sign; {instead}"));
            }
            return ratio(text, 1.0 + change / 100.0);
        }
        match text.strip_suffix('x') {
            Some(factor) => ratio(text, number(text, factor)?),
            None => value(text, metric),
        }
    }
}

/// How a limit is meant, perhaps, that is written as a change of a metric whose figures are ratios: `give the figure itself, as in
/// `hit_ratio < 0.9``.
pub(super) fn figure_itself(text: &str, metric: &str, head: &str) -> Option<String> {
    let is_change = text.starts_with(['+', '-']);
    if is_change || !units(metric).contains(&Unit::Ratio) {
        return None;
    }
    let figure = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.strip_suffix('x')?.trim().parse().ok()?,
    };
    // A hundredth of a decimal is not always the nearest binary fraction.
    let figure = (figure * 1e9).round() / 1e9;
    Some(format!("give the figure itself, as in `{head} {figure}`"))
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

/// The units of a metric: a name means the same in every layer, and most have one unit in all of them.
pub(super) fn units(metric: &str) -> BTreeSet<Unit> {
    Vocabulary::default()
        .layers()
        .iter()
        .filter_map(|layer| Some(layer.metric(metric)?.unit))
        .collect()
}

/// The figures under this heading of a table, written with `_` for blanks: `` `compression_ratio` ``; none where no table has it.
pub(super) fn headed(heading: &str) -> Option<String> {
    let headed = Vocabulary::default().under_heading(heading).into_iter();
    let headed: Vec<String> = headed.map(|metric| format!("`{metric}`")).collect();
    (!headed.is_empty()).then(|| headed.join(" or "))
}

/// What somebody means with a name that no metric has: the figure under this heading of a table.
fn meant(name: &str) -> String {
    let has = |layer: &&&LayerSchema| {
        let mut columns = layer.table.iter();
        columns.any(|column| column.heading.replace(' ', "_") == name)
    };
    let layers: Vec<&str> = Vocabulary::default()
        .layers()
        .iter()
        .filter(has)
        .map(|layer| layer.name)
        .collect();
    match headed(name) {
        None => "`outcrop results export` lists the metrics of a run".to_owned(),
        // Another layer has no such figure, and one of another name may be what is meant.
        Some(metrics) => format!(
            "did you mean {metrics} (layer {})? `outcrop results export` lists the metrics of a run",
            layers.join(", ")
        ),
    }
}

fn value(text: &str, metric: &str) -> Result<Limit, String> {
    let mut problem = None;
    for unit in units(metric) {
        match unit.parse(text) {
            Ok(value) => return Ok(Limit::Value { value, unit }),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    Err(match problem {
        Some(problem) => format!("{problem}, or relative to a baseline: {RELATIVE}"),
        None => format!(
            "no layer has a metric {metric:?}, so the unit of {text:?} is not known; {}",
            meant(metric)
        ),
    })
}
