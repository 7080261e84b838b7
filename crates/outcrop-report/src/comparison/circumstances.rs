//! What was not alike when two runs were measured: how long their trials were, what else the machine did, and what a latency includes.

use std::collections::BTreeSet;

use outcrop_measure::metric::Unit;
use outcrop_measure::units::format_nanoseconds;
use outcrop_results::compare::{
    Comparison, ComparisonRow, LoadDifference, LoadMeasure, Side, Verdict, are_unlike_lengths,
};

use super::labels::Labels;

/// Cells that are named of those that a load affects.
const MOST_CELLS: usize = 4;

/// A paragraph for each circumstance that differs, with its head; none where they are alike.
pub(super) fn circumstances(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let mut told = Vec::new();
    if let Some((a, b)) = comparison.baseline_trial_s.zip(comparison.candidate_trial_s)
        && are_unlike_lengths(a, b)
    {
        let [a, b] = [a, b].map(|seconds| format_nanoseconds(1e9 * seconds));
        let sentence = format!("{a} in the baseline, {b} in the candidate (medians).");
        told.push(("trials:    ", sentence));
    }
    for load in &comparison.loads {
        told.push(("load:      ", load_in_words(load, comparison)));
    }
    told.extend(crowded(comparison).map(|sentence| ("load:      ", sentence)));
    told.extend(unrecorded(comparison).map(|sentence| ("load:      ", sentence)));
    for latency in &comparison.latency_differences {
        told.push(("latency:   ", latency.note.clone()));
    }
    told
}

/// How much others used under both sides, where two equal runs differ by that.
fn crowded(comparison: &Comparison) -> Option<String> {
    let widened = || comparison.comparable().filter(|row| row.drift > comparison.drift);
    let (row, crowding) = widened()
        .filter(|row| row.drift.is_finite())
        .filter_map(|row| Some((row, row.crowding?)))
        .max_by(|(one, _), (other, _)| one.drift.total_cmp(&other.drift))?;
    let share = |value: f64| format!("{:.0} %", 100.0 * value);
    let is_other = |other: &ComparisonRow| (&other.layer, &other.factors) != (&row.layer, &row.factors);
    let most = match comparison.comparable().any(is_other) {
        true => " (in the cell where both sides were most crowded)",
        false => "",
    };
    let used = match (crowding.baseline, crowding.candidate) {
        (Some(a), Some(b)) => format!(
            "{} of the CPUs in the baseline, {} in the candidate",
            share(a),
            share(b)
        ),
        (Some(a), None) => format!(
            "{} of the CPUs in the baseline, and may have in the candidate",
            share(a)
        ),
        (None, b) => format!(
            "{} of the CPUs in the candidate, and may have in the baseline",
            share(b.unwrap_or_default())
        ),
    };
    let tails = match widened().any(|row| row.drift.is_infinite()) {
        true => " Percentiles from p90 on and maxima may differ by more, and stay undecided.",
        false => "",
    };
    Some(format!(
        "other processes used {used}{most}. Under such a load, times and rates of two equal runs may differ by a factor of {:.1}.{tails}",
        1.0 + row.drift
    ))
}

/// Of which side nobody recorded the load, where a time or a rate of it is decided: a busy machine would explain what is worse there.
fn unrecorded(comparison: &Comparison) -> Option<String> {
    let is_decided = |row: &&ComparisonRow| !matches!(row.verdict, Verdict::Undecided(_)) && row.drift > 0.0;
    let decided = comparison.comparable().filter(is_decided);
    let sides: BTreeSet<Side> = decided.flat_map(|row| row.imported.iter().copied()).collect();
    let names: Vec<String> = sides.iter().map(|side| format!("the {}", side.name())).collect();
    let which = match names.as_slice() {
        [] => return None,
        [one] => one.clone(),
        _ => "either side".to_owned(),
    };
    Some(format!(
        "the load was not recorded for {which}, which another program measured. If the machine or its disk was busy then, times and rates are \
         worse there for that reason alone: before you act on a difference, measure both again, in turn."
    ))
}

/// On which side the machine was busier, by which figures, and what follows.
fn load_in_words(load: &LoadDifference, comparison: &Comparison) -> String {
    let share = |value: f64| format!("{:.0} %", 100.0 * value);
    let (Some(a), Some(b)) = (load.baseline, load.candidate) else {
        return load_of_one_side(load, comparison);
    };
    let figures = match load.measure {
        LoadMeasure::OthersCpuShare => format!(
            "other processes used {} of the CPUs in the baseline, {} in the candidate",
            share(a),
            share(b)
        ),
        LoadMeasure::CpuPressureBefore => format!(
            "tasks waited for a CPU during {} of the 10 s before the baseline, {} before the candidate",
            share(a),
            share(b)
        ),
        LoadMeasure::TasksPerCpuBefore => {
            format!("{a:.1} tasks per CPU ran or waited before the baseline, {b:.1} before the candidate")
        }
        LoadMeasure::DeviceBytesOfOthers => format!(
            "for each byte of the trials the device moved {} for others in the baseline, {} in the candidate",
            Unit::Ratio.format(a),
            Unit::Ratio.format(b)
        ),
        LoadMeasure::TrialsBesideOthers => format!(
            "the device moved more for others in {} of the trials of the baseline, in {} of those of the candidate",
            share(a),
            share(b)
        ),
    };
    let most = match load.cells_count {
        1 => "",
        _ => " (in the cell where they differ most)",
    };
    format!("{figures}{most}. {}", affected(load, comparison))
}

/// The same where only the busier side has a record of its load.
fn load_of_one_side(load: &LoadDifference, comparison: &Comparison) -> String {
    let side = load.busier.name();
    let other = match load.busier {
        Side::Baseline => Side::Candidate,
        Side::Candidate => Side::Baseline,
    };
    let value = load.baseline.or(load.candidate).unwrap_or_default();
    let share = format!("{:.0} %", 100.0 * value);
    let figure = match load.measure {
        LoadMeasure::OthersCpuShare => format!("other processes used {share} of the CPUs in the {side}"),
        LoadMeasure::CpuPressureBefore => {
            format!("tasks waited for a CPU during {share} of the 10 s before the {side}")
        }
        LoadMeasure::TasksPerCpuBefore => {
            format!("{value:.1} tasks per CPU ran or waited before the {side}")
        }
        LoadMeasure::DeviceBytesOfOthers => format!(
            "for each byte of the trials the device moved {} for others in the {side}",
            Unit::Ratio.format(value)
        ),
        LoadMeasure::TrialsBesideOthers => {
            format!("the device moved bytes for others in {share} of the trials of the {side}")
        }
    };
    format!(
        "{figure}; the load of the {} was not recorded. {}",
        other.name(),
        affected(load, comparison)
    )
}

/// Which rows follow from it: those of all cells, or of the cells that had the load.
fn affected(load: &LoadDifference, comparison: &Comparison) -> String {
    let side = load.busier.name();
    let cells = |is: &dyn Fn(&ComparisonRow) -> bool| {
        let mut seen = BTreeSet::new();
        let mut rows: Vec<&ComparisonRow> = comparison.comparable().filter(|row| is(row)).collect();
        rows.retain(|row| {
            let subjects = (&row.baseline_subject, &row.candidate_subject);
            seen.insert((&row.layer, subjects, &row.factors))
        });
        rows
    };
    let had_it = cells(&|row| row.busier.contains(&(load.busier, load.measure)));
    let all_count = cells(&|_| true).len();
    if had_it.len() == all_count {
        return format!("Where the {side} is worse or the same in a time or a rate, the row is undecided.");
    }
    let labels = Labels::of(comparison);
    let named = had_it.iter().take(MOST_CELLS).map(|row| labels.of_row(row));
    let named = named.collect::<Vec<_>>().join("; ");
    let more = match had_it.len().saturating_sub(MOST_CELLS) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!(
        "This applies to {} of {all_count} cells: {named}{more}. Where the {side} is worse or the same there in a time or a rate, the row is undecided.",
        had_it.len()
    )
}
