//! Trials in which the subject stood still while the other repetitions of the cell went on.

use std::collections::BTreeSet;

use outcrop_measure::interval::median;

use crate::trial::{HistogramEntry, HistogramKind, TrialEntry};

/// A trial that completed less than this share of the operations of its cell's median trial stalled.
const STALLED_SHARE: f64 = 0.1;
/// Fewer trials do not say what is usual: of two, only one in which nothing completed stalled.
const LEAST_TRIALS: usize = 3;
/// Nor do fewer operations in the median trial: of some tens a tenth does not come about by chance.
const LEAST_OPERATIONS: f64 = 30.0;

/// The trials of a cell that stalled, in one kind of operation at least; none where the layer keeps no latencies.
pub(super) fn stalled<'a>(completed: &[&'a TrialEntry]) -> Vec<&'a TrialEntry> {
    let share = match completed.len() {
        0 | 1 => return Vec::new(),
        few if few < LEAST_TRIALS => 0.0,
        _ => STALLED_SHARE,
    };
    let latencies = completed.iter().flat_map(|trial| of_latency(trial));
    // Each on its own: a load before the run has other operations than the run.
    let operations: BTreeSet<&str> = latencies.map(|entry| entry.operation.as_str()).collect();
    let least: Vec<(&str, f64)> = operations
        .into_iter()
        .filter_map(|operation| {
            let counts: Vec<f64> = completed.iter().map(|trial| count(trial, operation)).collect();
            let usual = median(&counts).filter(|usual| *usual >= LEAST_OPERATIONS)?;
            Some((operation, usual * share))
        })
        .collect();
    let has_stalled = |trial: &&&TrialEntry| {
        let mut counts = least
            .iter()
            .map(|(operation, least)| (count(trial, operation), *least));
        counts.any(|(count, least)| count <= 0.0 || count < least)
    };
    completed.iter().filter(has_stalled).copied().collect()
}

/// The longest latency that a trial saw, in nanoseconds; where nothing completed, the trial's duration.
pub(super) fn longest_ns(trial: &TrialEntry) -> f64 {
    let entries = trial.histograms.iter().filter(|entry| entry.count > 0);
    let longest = entries.map(|entry| entry.max_ns).max();
    longest.map_or(trial.duration_s * 1e9, |longest| longest as f64)
}

fn of_latency(trial: &TrialEntry) -> impl Iterator<Item = &HistogramEntry> {
    let entries = trial.histograms.iter();
    entries.filter(|entry| entry.kind == HistogramKind::Latency)
}

/// Completed operations of a kind.
fn count(trial: &TrialEntry, operation: &str) -> f64 {
    let of_kind = of_latency(trial).filter(|entry| entry.operation == operation);
    of_kind.map(|entry| entry.count).sum::<u64>() as f64
}
