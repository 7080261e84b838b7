//! What stands above a comparison: the two sides, what they are, and what was not alike when they were measured.

use std::collections::BTreeMap;

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
    for (name, value) in &comparison.assumed {
        text.push_str(&format!(
            "assumed:   {name}={value}, which the publication does not state\n"
        ));
    }
    text.push_str(&differences(&comparison.environment_differences, detail.is_all));
    text.push_str(&circumstances(comparison));
    text.push_str(&detail.checks_in_text(comparison));
    if comparison.is_different_machine {
        text.push_str("The machines differ: every ratio compares machines, not only configurations.\n");
    } else if comparison.is_different_storage {
        text.push_str("The storage differs: ratios compare devices or filesystems, not only settings.\n");
    }
    let common = common_factors(comparison);
    if !common.is_empty() {
        text.push_str(&wrapped("in all:    ", &spell(&common)));
    }
    text
}

/// The readings that differ: where there are many, those that tell machines or storage apart come first, and the others are counted.
fn differences(all: &[EnvironmentDifference], is_all: bool) -> String {
    let is_all = is_all || all.len() <= MOST_DIFFERENCES;
    let mut shown: Vec<&EnvironmentDifference> = all.iter().collect();
    if !is_all {
        shown.sort_by_key(|difference| !(difference.is_machine || difference.is_storage));
        shown.truncate(MOST_DIFFERENCES);
    }
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
    if shown.len() < all.len() {
        let more = counted(all.len() - shown.len(), "more reading");
        text.push_str(&format!(
            "           and {more} of the environment: --all or --format json\n"
        ));
    }
    text
}
