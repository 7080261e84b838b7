//! What stands above a comparison: the two sides, what they are, and what was not alike when they were measured.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_results::compare::{Comparison, EnvironmentDifference};

use super::circumstances::circumstances;
use super::labels::common_factors;
use super::spell;
use super::text::{Detail, wrapped};
use crate::number::counted;

/// Differences between two environments that stand above the rows unasked.
const MOST_DIFFERENCES: usize = 5;

/// A side with what it set: `b of runs/…-ab: queue_depth=32`.
pub(super) fn named(name: &str, settings: &BTreeMap<String, String>) -> String {
    match settings.is_empty() {
        true => name.to_owned(),
        false => format!("{name}: {}", spell(settings)),
    }
}

pub(super) fn head(comparison: &Comparison, detail: &Detail) -> String {
    let mut text = String::new();
    let baseline = named(&comparison.baseline, &comparison.baseline_settings);
    let candidate = named(&comparison.candidate, &comparison.candidate_settings);
    let sides = [
        ("baseline: ", baseline, &comparison.baseline_subjects),
        ("candidate:", candidate, &comparison.candidate_subjects),
    ];
    for (what, name, subjects) in sides {
        text.push_str(&format!("{what} {name}\n"));
        for subject in subjects {
            text.push_str(&format!("           {subject}\n"));
        }
    }
    for assumed in assumptions(comparison) {
        text.push_str(&wrapped("assumed:   ", &assumed));
    }
    text.push_str(&differences(&comparison.environment_differences, detail.is_all));
    for (head, sentence) in doubts(comparison, detail) {
        text.push_str(&wrapped(head, &sentence));
    }
    if let Some(sentence) = of_two_machines(comparison) {
        text.push_str(&format!("{sentence}\n"));
    }
    let common = common_factors(comparison);
    if !common.is_empty() {
        text.push_str(&wrapped("in all:    ", &spell(&common)));
    }
    text
}

/// A side with what it measured, for a line of Markdown.
pub(super) fn of_subjects(
    name: &str,
    settings: &BTreeMap<String, String>,
    subjects: &BTreeSet<String>,
) -> String {
    let name = named(name, settings);
    match subjects.is_empty() {
        true => name,
        false => {
            let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
            format!("{name} ({})", subjects.join("; "))
        }
    }
}

/// What was not alike, and what was in all cells, as paragraphs in Markdown.
pub(super) fn head_in_markdown(comparison: &Comparison, detail: &Detail) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    let assumed = assumptions(comparison);
    if !assumed.is_empty() {
        paragraphs.push(format!("assumed: {}.", assumed.join("; ")));
    }
    let (shown, more) = shown(&comparison.environment_differences, detail.is_all);
    if !shown.is_empty() {
        let readings: Vec<String> = shown
            .iter()
            .map(|difference| {
                let EnvironmentDifference {
                    path,
                    baseline,
                    candidate,
                    ..
                } = difference;
                format!("`{path}`: {baseline} in the baseline, {candidate} in the candidate")
            })
            .collect();
        paragraphs.push(format!(
            "differs: {}.",
            readings.into_iter().chain(more).collect::<Vec<_>>().join("; ")
        ));
    }
    let doubts = doubts(comparison, detail).into_iter();
    paragraphs.extend(doubts.map(|(head, sentence)| format!("{} {sentence}", head.trim_end())));
    paragraphs.extend(of_two_machines(comparison).map(str::to_owned));
    let common = common_factors(comparison);
    if !common.is_empty() {
        paragraphs.push(format!("in all: `{}`.", spell(&common)));
    }
    paragraphs
        .iter()
        .map(|paragraph| format!("{}\n\n", paragraph.replace('|', "\\|")))
        .collect()
}

fn assumptions(comparison: &Comparison) -> Vec<String> {
    let assumed = comparison.assumed.iter();
    assumed
        .map(|(name, value)| format!("{name}={value}, which the publication does not state"))
        .collect()
}

/// What differed while the sides were measured, and what their reports say against their figures, each with its head.
fn doubts(comparison: &Comparison, detail: &Detail) -> Vec<(&'static str, String)> {
    let mut doubts = circumstances(comparison);
    doubts.extend(detail.against_figures(comparison));
    doubts
}

const fn of_two_machines(comparison: &Comparison) -> Option<&'static str> {
    match (comparison.is_different_machine, comparison.is_different_storage) {
        (true, _) => Some("The machines differ: every ratio compares machines, not only configurations."),
        (false, true) => {
            Some("The storage differs: ratios compare devices or filesystems, not only settings.")
        }
        (false, false) => None,
    }
}

/// The readings that differ: where there are many, those that tell machines or storage apart come first, and the others are counted.
fn shown(all: &[EnvironmentDifference], is_all: bool) -> (Vec<&EnvironmentDifference>, Option<String>) {
    let mut shown: Vec<&EnvironmentDifference> = all.iter().collect();
    if !is_all && all.len() > MOST_DIFFERENCES {
        shown.sort_by_key(|difference| !(difference.is_machine || difference.is_storage));
        shown.truncate(MOST_DIFFERENCES);
    }
    let more = all.len() - shown.len();
    let said = format!(
        "and {} of the environment: --all or --format json",
        counted(more, "more reading")
    );
    (shown, (more > 0).then_some(said))
}

/// The same, a line for each reading and one for its values.
fn differences(all: &[EnvironmentDifference], is_all: bool) -> String {
    let (shown, more) = shown(all, is_all);
    let mut text = String::new();
    for difference in &shown {
        let EnvironmentDifference {
            path,
            baseline,
            candidate,
            ..
        } = difference;
        text.push_str(&format!(
            "differs:   {path}:\n           {baseline} in the baseline, {candidate} in the candidate\n"
        ));
    }
    if let Some(more) = more {
        text.push_str(&format!("           {more}\n"));
    }
    text
}
