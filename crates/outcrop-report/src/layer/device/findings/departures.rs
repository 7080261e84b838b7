//! In what a run differs from the test of the SNIA PTS whose rule judges it.

use outcrop_measure::units::format_nanoseconds;
use outcrop_results::TrialEntry;
use outcrop_schema::device::{BYTES_WRITTEN, Direction, Kind, SPAN};

use super::super::cell::{DeviceCell, value_of};
use crate::cell::Cell;

/// What the PTS takes for a round.
pub(super) const ROUND_S: f64 = 60.0;
/// For how long its write saturation test writes …
const SATURATION_S: f64 = 6.0 * 3600.0;
/// … or how often the capacity of the drive.
const SATURATION_PASSES: f64 = 4.0;

/// All of them in a sentence.
pub(super) fn sentence(departures: &[String]) -> String {
    format!(
        "This is the procedure, not a PTS result: {}.",
        departures.join("; ")
    )
}

/// On a file, or a device that nobody purged.
pub(super) fn place(cell: &Cell<'_>) -> String {
    let subject = cell.subject();
    match is_whole_device(cell) {
        true => format!("{subject}, which Outcrop did not purge"),
        false => format!("{subject} on a filesystem, not all of a purged drive"),
    }
}

fn is_whole_device(cell: &Cell<'_>) -> bool {
    cell.subject().starts_with(Kind::Destroyed.name())
}

/// Of writes that are judged by intervals of this length: shorter rounds, and less than saturates a drive.
pub(super) fn of_writes(cells: &[Cell<'_>], interval_s: f64) -> String {
    let writes = || cells.iter().filter(|cell| cell.only() == Some(Direction::Write));
    let mut departures: Vec<String> = writes().take(1).map(place).collect();
    if interval_s < ROUND_S {
        let interval = format_nanoseconds(interval_s * 1e9);
        departures.push(format!("intervals of {interval}, not of a minute"));
    }
    let trials = writes().flat_map(|cell| cell.trials().iter().map(move |trial| (cell, trial)));
    let unsaturated = trials.filter(|(cell, trial)| !is_saturated(cell, trial));
    let shortest_s = unsaturated
        .map(|(_, trial)| trial.duration_s)
        .fold(f64::INFINITY, f64::min);
    if shortest_s.is_finite() {
        departures.push(format!(
            "{} of writes, not six hours or four times the drive's capacity",
            format_nanoseconds(shortest_s * 1e9)
        ));
    }
    sentence(&departures)
}

/// A file's size says nothing of the drive's capacity.
fn is_saturated(cell: &Cell<'_>, trial: &TrialEntry) -> bool {
    let capacity = cell.place(&SPAN).filter(|_| is_whole_device(cell));
    let wrote_enough = value_of(trial, &BYTES_WRITTEN)
        .zip(capacity)
        .is_some_and(|(written, capacity)| written >= SATURATION_PASSES * capacity);
    wrote_enough || trial.duration_s >= SATURATION_S
}
