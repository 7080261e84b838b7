//! In what a run differs from the test of the SNIA PTS whose rule judges it.

use outcrop_measure::units::{format_bytes, format_nanoseconds};
use outcrop_results::TrialEntry;
use outcrop_schema::device::{BYTES_WRITTEN, Direction, Kind, SPAN};

use super::super::cell::{DeviceCell, value_of};
use crate::cell::Cell;
use crate::environment::measured_device;

/// What the PTS takes for a round.
pub(super) const ROUND_S: f64 = 60.0;
/// For how long its write saturation test writes …
const SATURATION_S: f64 = 6.0 * 3600.0;
/// … or how often the capacity of the drive.
const SATURATION_PASSES: f64 = 4.0;
/// From this share on it is all of a device: the last bytes may be no whole block.
const WHOLE: f64 = 0.999;

/// All of them in a sentence.
pub(super) fn sentence(departures: &[String]) -> String {
    format!(
        "This is the procedure, not a PTS result: {}.",
        departures.join("; ")
    )
}

/// The device of a run, by its path, and its size.
#[derive(Clone, Copy)]
pub(in super::super) struct Drive<'r> {
    path: &'r str,
    size_bytes: u64,
}

impl<'r> Drive<'r> {
    /// Where the run's environment has it.
    pub(in super::super) fn of(environment: &'r serde_json::Value) -> Option<Self> {
        let (path, size_bytes) = measured_device(environment)?;
        Some(Self { path, size_bytes })
    }
}

/// On a file, or a device that nobody purged, or a part of one.
pub(super) fn place(cell: &Cell<'_>, drive: Option<Drive<'_>>) -> String {
    let subject = cell.subject();
    if !is_device(cell) {
        return format!("{subject} on a filesystem, not all of a purged drive");
    }
    let not_purged = "which Outcrop did not purge";
    let (accessed, size) = (cell.place(&SPAN), size_of(cell, drive));
    match accessed.zip(size) {
        Some((accessed, size)) if accessed < WHOLE * size => format!(
            "{subject}, {} of a device of {}, {not_purged}",
            format_bytes(accessed as u64),
            format_bytes(size as u64)
        ),
        Some(_) => format!("{subject}, {not_purged}"),
        None => format!("{subject}, of a device whose size is not recorded, {not_purged}"),
    }
}

fn is_device(cell: &Cell<'_>) -> bool {
    cell.subject().starts_with(Kind::Destroyed.name())
}

/// The size of the device that a cell writes, where it is recorded; a file's says nothing of the drive's.
fn size_of(cell: &Cell<'_>, drive: Option<Drive<'_>>) -> Option<f64> {
    let path = cell.subject().strip_prefix(Kind::Destroyed.name())?.trim_start();
    let drive = drive?;
    let is_this = path
        .strip_prefix(drive.path)
        .is_some_and(|rest| rest.starts_with(' '));
    is_this.then_some(drive.size_bytes as f64)
}

/// Of writes that are judged by intervals of this length: shorter rounds, and less than saturates a drive.
pub(super) fn of_writes(cells: &[Cell<'_>], interval_s: f64, drive: Option<Drive<'_>>) -> String {
    let writes = || cells.iter().filter(|cell| cell.only() == Some(Direction::Write));
    let mut departures: Vec<String> = writes().take(1).map(|cell| place(cell, drive)).collect();
    if interval_s < ROUND_S {
        let interval = format_nanoseconds(interval_s * 1e9);
        departures.push(format!("intervals of {interval}, not of a minute"));
    }
    let trials = writes().flat_map(|cell| cell.trials().iter().map(move |trial| (cell, trial)));
    let unsaturated = trials.filter(|(cell, trial)| !is_saturated(cell, trial, drive));
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

/// By time, or by what was written of the whole drive, however small a part of it was written.
fn is_saturated(cell: &Cell<'_>, trial: &TrialEntry, drive: Option<Drive<'_>>) -> bool {
    let capacity = size_of(cell, drive).map(|size| size * f64::from(cell.drives()));
    let wrote_enough = value_of(trial, &BYTES_WRITTEN)
        .zip(capacity)
        .is_some_and(|(written, capacity)| written >= SATURATION_PASSES * capacity);
    wrote_enough || trial.duration_s >= SATURATION_S
}
