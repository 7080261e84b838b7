//! What was not alike when two runs were measured: how long their trials were, what else the machine did, and what a latency includes.

use outcrop_measure::metric::Unit;
use outcrop_measure::units::format_nanoseconds;
use outcrop_results::compare::{Comparison, LoadDifference, LoadMeasure};

use super::text::wrapped;

/// Trials of lengths that differ by less than this factor are as long as each other.
const SAME_LENGTH: f64 = 1.1;

/// A paragraph for each circumstance that differs; none where they are alike.
pub(super) fn circumstances(comparison: &Comparison) -> String {
    let mut text = String::new();
    if let Some((a, b)) = comparison.baseline_trial_s.zip(comparison.candidate_trial_s)
        && a.max(b) > a.min(b) * SAME_LENGTH
    {
        let [a, b] = [a, b].map(|seconds| format_nanoseconds(1e9 * seconds));
        let sentence = format!("{a} in the baseline, {b} in the candidate (medians).");
        text.push_str(&wrapped("trials:    ", &sentence));
    }
    for load in &comparison.loads {
        text.push_str(&wrapped("load:      ", &load_in_words(load)));
    }
    for latency in &comparison.latency_differences {
        text.push_str(&wrapped("latency:   ", &latency.note));
    }
    text
}

/// On which side the machine was busier, by which figures, and what follows.
fn load_in_words(load: &LoadDifference) -> String {
    let share = |value: f64| format!("{:.0} %", 100.0 * value);
    let figures = match load.measure {
        LoadMeasure::OthersCpuShare => format!(
            "other processes used {} of the CPUs in the baseline, {} in the candidate",
            share(load.baseline),
            share(load.candidate)
        ),
        LoadMeasure::CpuPressureBefore => format!(
            "tasks waited for a CPU during {} of the 10 s before the baseline, {} before the candidate",
            share(load.baseline),
            share(load.candidate)
        ),
        LoadMeasure::TasksPerCpuBefore => format!(
            "{:.1} tasks per CPU ran or waited before the baseline, {:.1} before the candidate",
            load.baseline, load.candidate
        ),
        LoadMeasure::DeviceBytesOfOthers => format!(
            "for each byte of the trials the device moved {} for others in the baseline, {} in the candidate",
            Unit::Ratio.format(load.baseline),
            Unit::Ratio.format(load.candidate)
        ),
    };
    let cells = match load.cells_count {
        1 => String::new(),
        count => format!(" (of {count} cells, the one where they differ most)"),
    };
    format!(
        "{figures}{cells}. Where the {} is worse in a time or a rate, the row is undecided.",
        load.busier.name()
    )
}
