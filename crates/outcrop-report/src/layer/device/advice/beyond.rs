//! What lies beyond the load that is advised: loads of more jobs, and those that were not measured.

use outcrop_schema::device::{Direction, IOPS, JOBS, QUEUE_DEPTH};

use super::super::cell::{DeviceCell, P99};
use super::super::curve::{is_deepest, ties};
use crate::cell::{Cell, best};
use crate::number::Number;

/// That more than the most measured may give more throughput, as a clause; nothing where the load that is advised is a smaller one.
pub(super) fn deeper(advised: &Cell<'_>, curve: &[&Cell<'_>], is_of_jobs: bool) -> &'static str {
    match (is_deepest(advised, curve), is_of_jobs) {
        (false, _) => "",
        (true, true) => "; more jobs may give more",
        (true, false) => "; deeper queues may give more",
    }
}

/// Whether two cells differ in nothing but their jobs and their depth.
pub(super) fn differs_in_load_alone(cell: &Cell<'_>, like: &Cell<'_>) -> bool {
    cell.is_like(like, &[&QUEUE_DEPTH, &JOBS])
}

/// What the best of the cells gives that have more jobs and differ in nothing but their depth, where that is more for sure.
pub(super) fn with_more_jobs(
    cells: &[Cell<'_>],
    like: &Cell<'_>,
    reached: &Number,
    direction: Direction,
) -> Option<String> {
    let alike = |cell: &&Cell<'_>| cell.jobs() > like.jobs() && differs_in_load_alone(cell, like);
    let (cell, iops) = best(cells.iter().filter(alike), &IOPS.both)?;
    let is_more = iops.value > reached.value && !ties(reached, iops);
    let tail = cell
        .directed(direction, &P99)
        .map_or_else(String::new, |p99| format!(" at a p99 of {p99}"));
    is_more.then(|| format!("; {} gives {iops}{tail}", cell.depth_words()))
}
