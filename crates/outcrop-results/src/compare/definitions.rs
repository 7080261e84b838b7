//! Figures of one name that two sides define differently: one of them is lower by that alone.

use std::collections::BTreeSet;

use outcrop_schema::device::{LATENCY, SERVICE_LATENCY};
use serde::Serialize;

use super::{ComparisonRow, Side, Undecided, Verdict};

/// Latencies that include the submission of a request on one side and begin where it ends on the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyDifference {
    /// The side that leaves the submission out: its latencies are lower by definition.
    pub lower: Side,
    /// The metrics that are compared in spite of it.
    pub metrics: BTreeSet<String>,
    /// The same in sentences.
    pub note: String,
}

/// One for each side that leaves the submission out of latencies that the other side has with it.
pub(super) fn latencies(rows: &[ComparisonRow]) -> Vec<LatencyDifference> {
    let of_side = |lower: Side| {
        let is_its = |row: &&ComparisonRow| {
            let is_compared = !matches!(row.verdict, Verdict::NotComparable(_));
            is_compared && row.lower_by_definition == Some(lower)
        };
        let metrics: BTreeSet<String> = rows.iter().filter(is_its).map(|row| row.metric.clone()).collect();
        (!metrics.is_empty()).then(|| LatencyDifference {
            lower,
            note: note(lower, &metrics),
            metrics,
        })
    };
    [Side::Baseline, Side::Candidate]
        .into_iter()
        .filter_map(of_side)
        .collect()
}

/// The verdict of a row, unless the definitions may explain it: what leaves the submission out looks better by that alone, or the same. What is
/// worse in spite of that is worse.
pub(super) fn unless_explained(row: &ComparisonRow, verdict: Verdict) -> Verdict {
    let may_explain = match (&verdict, row.lower_by_definition) {
        (Verdict::Better, Some(lower)) => lower == Side::Candidate,
        (Verdict::Worse, Some(lower)) => lower == Side::Baseline,
        (Verdict::Same, Some(_)) => true,
        _ => false,
    };
    match may_explain {
        true => Verdict::Undecided(Undecided::Definition),
        false => verdict,
    }
}

fn note(lower: Side, metrics: &BTreeSet<String>) -> String {
    let are_means_too = [LATENCY, SERVICE_LATENCY]
        .iter()
        .any(|family| metrics.contains(family.both.mean.name));
    let what = match are_means_too {
        true => "latencies",
        false => "percentiles of latency",
    };
    let (lower, other) = (lower.name(), lower.other().name());
    format!(
        "The {what} of the {lower} are lower by definition, by the time of the submission: they begin where the submission of a request ends (fio's \
         clat), while those of the {other} begin before it."
    )
}
