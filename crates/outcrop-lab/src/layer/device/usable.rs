//! Whether the targets of a trial that failed can still be measured: a device that was removed, that shrank, that has no room left or that
//! fails every request will not do better in the next trial.

use std::fmt::Display;
use std::path::Path;

use outcrop_device::{DeviceError, JobReport, JobSpec, Target, TogetherReport};
use outcrop_measure::units::format_bytes;
use outcrop_results::Outcome;

use super::bench::outcome;
use crate::layer::TrialFailure;

/// What a drive answers that was pulled, or that does not work any more: EIO, ENXIO and ENODEV.
const GONE: [i32; 3] = [5, 6, 19];
/// What it answers where it has no room for what is written to it: ENOSPC.
const FULL: i32 = 28;

/// No later trial can succeed either where a target is gone, failed every request of a trial, or has no room left.
pub(super) fn check(
    report: &TogetherReport,
    targets: &[&Target],
    spec: &JobSpec,
) -> Result<(), TrialFailure> {
    let mut each = report.each.iter().zip(targets);
    each.try_for_each(|(report, target)| check_one(report, target, spec))
}

fn check_one(report: &JobReport, target: &Target, spec: &JobSpec) -> Result<(), TrialFailure> {
    let Some(failure) = report.failure() else {
        return Ok(());
    };
    if let Some(lost) = lost(target, spec, &failure) {
        return Err(fatal(&lost));
    }
    let completed = report.traffic.reads + report.traffic.writes;
    let place = place(target);
    let message = match report.errors.first_errno {
        Some(FULL) if matches!(outcome(report), Outcome::Failed { .. }) => format!(
            "{place} has no room left for what is written to it, as a thin device or a filesystem that copies on write may have none \
             although nothing grows: {failure}; free some space"
        ),
        Some(errno) if completed == 0 && GONE.contains(&errno) => format!(
            "{place} was removed or has failed (see `dmesg`): none of the trial's requests completed, {failure}"
        ),
        _ => return Ok(()),
    };
    Err(fatal(&message))
}

/// What became of a device that no longer has the bytes that requests go to. The kernel sets the size of a device that is removed to 0: then
/// reads return nothing and writes find no space, as past the end of every device, and only the size tells.
fn lost(target: &Target, spec: &JobSpec, failure: &impl Display) -> Option<String> {
    let needed = spec.span_bytes.unwrap_or_else(|| target.size_bytes());
    let now = target.current_size_bytes().filter(|now| *now < needed)?;
    let place = place(target);
    if now == 0 {
        return Some(format!(
            "{place} was removed or has failed (see `dmesg`): its size is now 0, {failure}"
        ));
    }
    Some(format!(
        "{place} became smaller during the run: it has {} now, and requests go to its first {}; {failure}",
        format_bytes(now),
        format_bytes(needed)
    ))
}

fn place(target: &Target) -> impl Display {
    target.place().unwrap_or(Path::new("the target")).display()
}

fn fatal(message: &impl ToString) -> TrialFailure {
    TrialFailure {
        is_fatal: true,
        ..TrialFailure::of(message)
    }
}

/// What a job that could not run or go on is to the trial; a lost device is the reason of whatever failed on it.
pub(super) fn failure(error: &DeviceError, targets: &[&Target], spec: &JobSpec) -> TrialFailure {
    if let Some(lost) = targets.iter().find_map(|target| lost(target, spec, error)) {
        return fatal(&lost);
    }
    let is_fatal = match error {
        DeviceError::NoSpace { .. }
        | DeviceError::DirectUnsupported { .. }
        | DeviceError::ReadOnlyTarget { .. }
        | DeviceError::Path { .. }
        | DeviceError::InUse { .. }
        | DeviceError::HoldsData { .. }
        | DeviceError::Hung { .. } => true,
        // The rest may depend on the cell: a ring or buffers too large, a size that the device does not take.
        _ => false,
    };
    TrialFailure {
        is_fatal,
        ..TrialFailure::of(error)
    }
}
