//! What `outcrop compare` and `outcrop ab` found, as text for a terminal, as Markdown, CSV and JSON.

mod checks;
mod circumstances;
mod head;
mod labels;
mod left_out;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use outcrop_results::compare::{
    Comparand, Comparison, ComparisonRow, Figure, NotComparable, Verdict, compare,
};
use outcrop_results::{Envelope, RunView};
use serde_json::Value;

use crate::error::ReportError;
pub use checks::{Examined, FailedCheck, GraveWarning, examined};
pub use text::{Detail, comparison_markdown, comparison_text};

/// The two variants of a run that measured two in pairs, compared; none of any other run.
pub fn of_variants(run: &RunView) -> Option<Comparison> {
    let variants = run.trials.iter().filter_map(|trial| trial.variant.as_ref());
    let names: BTreeSet<&str> = variants.map(|variant| variant.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let [baseline, candidate] = names[..] else {
        return None;
    };
    Some(compare(
        Comparand::Variant(run, baseline),
        Comparand::Variant(run, candidate),
    ))
}

/// One line per row, with a header; ratio and interval empty where there is none. The last column is the drift that is allowed for: 0.05 for ± 5 %.
pub fn comparison_csv(comparison: &Comparison) -> String {
    let mut text = "layer,baseline_subject,candidate_subject,factors,metric,unit,baseline,baseline_n,baseline_provenance,candidate,candidate_n,candidate_provenance,ratio,ratio_low,ratio_high,confidence,p_value,verdict,reason,drift\n"
        .to_owned();
    for row in &comparison.rows {
        let figure = |figure: &Option<Figure>| {
            figure.as_ref().map_or([const { String::new() }; 3], |f| {
                [
                    f.median.to_string(),
                    f.n.to_string(),
                    f.provenance.name().to_owned(),
                ]
            })
        };
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let unit = row
            .baseline
            .as_ref()
            .or(row.candidate.as_ref())
            .map_or("", |figure| figure.unit.symbol());
        let [baseline, baseline_n, baseline_provenance] = figure(&row.baseline);
        let [candidate, candidate_n, candidate_provenance] = figure(&row.candidate);
        let fields = [
            row.layer.clone(),
            row.baseline_subject.clone().unwrap_or_default(),
            row.candidate_subject.clone().unwrap_or_default(),
            spell(&row.factors),
            row.metric.clone(),
            unit.to_owned(),
            baseline,
            baseline_n,
            baseline_provenance,
            candidate,
            candidate_n,
            candidate_provenance,
            number(row.ratio),
            number(row.interval.map(|interval| interval.low)),
            number(row.interval.map(|interval| interval.high)),
            number(row.interval.map(|interval| interval.confidence)),
            number(row.p_value),
            verdict_name(&row.verdict).to_owned(),
            row.why().join("; "),
            row.drift.to_string(),
        ];
        text.push_str(&fields.map(|field| quoted(&field)).join(","));
        text.push('\n');
    }
    text
}

/// Puts the comparison into the JSON shape of all commands: its rows where the rows of a list are, what was measured among the
/// subjects, and the rest as details.
///
/// # Errors
/// [`ReportError::Json`] if a value cannot be written, which none should be.
pub fn comparison_in_envelope(
    comparison: &Comparison,
    mut envelope: Envelope,
) -> Result<Envelope, ReportError> {
    let subjects = comparison.baseline_subjects.union(&comparison.candidate_subjects);
    envelope.subjects = subjects.cloned().collect();
    for row in &comparison.rows {
        envelope.rows.push(serde_json::to_value(row)?);
    }
    if let Value::Object(details) = serde_json::to_value(comparison)? {
        envelope.details = details;
    }
    Ok(envelope)
}

fn spell(factors: &BTreeMap<String, String>) -> String {
    factors
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a row is not compared because a factor that differs sets its figure.
fn is_set_by_factor(row: &ComparisonRow) -> bool {
    let Verdict::NotComparable(reasons) = &row.verdict else {
        return false;
    };
    let is_set = |reason: &NotComparable| matches!(reason, NotComparable::SetByFactor { .. });
    reasons.iter().any(is_set)
}

const fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::Different => "different",
        Verdict::Undecided(_) => "undecided",
        Verdict::NotComparable(_) => "not comparable",
    }
}

/// A CSV field, quoted where it has to be.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
