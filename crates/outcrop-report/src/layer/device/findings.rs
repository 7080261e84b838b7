//! Findings over device cells: the same checks for this run and for published figures.

mod arithmetic;
mod quality;
mod schedule;
mod shape;
mod time;

pub(super) use quality::{contaminated, unchecked};
pub(super) use schedule::late_trials;
pub(super) use shape::weighted_mean_iops;
pub(super) use time::unsteady;

use crate::cell::Cell;
use crate::finding::{About, Finding};

/// Every finding of a run, in reading order.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<Finding> {
    let of_the_subject = [shape::knee(cells), shape::mix(cells)];
    let of_the_run = [
        arithmetic::bandwidth(cells),
        arithmetic::littles_law(cells),
        quality::counters(cells),
        quality::cpu(cells),
        schedule::on_time(cells),
        quality::repeatability(cells),
        quality::percentiles(cells),
        time::steady_state(cells),
        time::level_shifts(cells),
    ];
    let of_the_run = of_the_run.map(|finding| finding.about(About::Run));
    of_the_subject.into_iter().chain(of_the_run).collect()
}

/// The findings that published figures can be held to as well.
pub(super) fn of_published(cells: &[Cell<'_>]) -> Vec<Finding> {
    vec![
        arithmetic::bandwidth(cells),
        arithmetic::littles_law(cells),
        shape::knee(cells),
        shape::mix(cells),
    ]
}
