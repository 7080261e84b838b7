//! Findings over device cells: the same checks for this run and for published figures.

mod bandwidth;
mod littles_law;
mod quality;
mod shape;
mod time;

pub(super) use quality::{CONTAMINATION, contaminated};
pub(super) use shape::{weighted_mean_iops, weighted_mean_line};

use super::cell::Cell;
use crate::finding::Finding;

/// Every finding of a run, in reading order.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<Finding> {
    let mut findings = of_published(cells);
    findings.push(quality::counters(cells));
    findings.push(quality::cpu(cells));
    findings.push(quality::repeatability(cells));
    findings.push(quality::percentiles(cells));
    findings.push(time::steady_state(cells));
    findings.push(time::level_shifts(cells));
    findings
}

/// The findings that published figures can be held to as well.
pub(super) fn of_published(cells: &[Cell<'_>]) -> Vec<Finding> {
    vec![
        bandwidth::bandwidth(cells),
        littles_law::littles_law(cells),
        shape::knee(cells),
        shape::mix(cells),
    ]
}
