//! Trials in which the subject stood still while the other repetitions of the cell went on.

use outcrop_measure::interval::median;

use crate::trial::{HistogramKind, TrialEntry};

/// A trial that completed less than this share of the operations of its cell's median trial stalled.
const STALLED_SHARE: f64 = 0.1;
/// Fewer trials do not say what is usual.
const LEAST_TRIALS: usize = 3;

/// The trials of a cell that stalled; none where the layer keeps no latencies.
pub(super) fn stalled<'a>(completed: &[&'a TrialEntry]) -> Vec<&'a TrialEntry> {
    let rates: Vec<f64> = completed.iter().map(|trial| rate(trial)).collect();
    let usual = median(&rates).filter(|_| rates.len() >= LEAST_TRIALS);
    let least = usual.unwrap_or(0.0) * STALLED_SHARE;
    let trials = completed.iter().zip(rates);
    trials
        .filter(|(_, rate)| *rate < least)
        .map(|(trial, _)| *trial)
        .collect()
}

/// The longest latency that a trial saw, in nanoseconds; where nothing completed, the trial's duration.
pub(super) fn longest_ns(trial: &TrialEntry) -> f64 {
    let entries = trial.histograms.iter().filter(|entry| entry.count > 0);
    let longest = entries.map(|entry| entry.max_ns).max();
    longest.map_or(trial.duration_s * 1e9, |longest| longest as f64)
}

/// Completed operations per second of the trial.
fn rate(trial: &TrialEntry) -> f64 {
    let entries = trial.histograms.iter();
    let latencies = entries.filter(|entry| entry.kind == HistogramKind::Latency);
    let count: u64 = latencies.map(|entry| entry.count).sum();
    count as f64 / trial.duration_s.max(f64::MIN_POSITIVE)
}
