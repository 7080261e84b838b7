//! Reading back what was written: a trial writes blocks for as long as it will read, then reads the same blocks in the same order.
//!
//! No list of offsets is kept. Each job draws its blocks from the trial's seed, which gives the same sequence again; how far
//! each job came with writing is counted, and there its reads begin anew.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_device::{DeviceError, JobSpec, Target, TogetherReport, run_together};
use outcrop_probe::Clock;
use outcrop_schema::Settings;
use outcrop_schema::device::{READ_WRITE_MIX, REPLAY};
use outcrop_workload::{Arrival, ReadWriteMix, Replay};

use super::is_read_only;
use crate::cell::Subject;
use crate::layer::Refusal;

/// Whether reads go to what the trial wrote.
pub(super) fn is_asked(factors: &Settings) -> bool {
    *factors.value(&REPLAY) == Replay::Written
}

/// Refuses what cannot be read back.
pub(super) fn check(factors: &Settings, subject: &Subject) -> Result<(), Refusal> {
    if !is_asked(factors) {
        return Ok(());
    }
    let mix = *factors.value(&READ_WRITE_MIX);
    if mix != ReadWriteMix::READ_ONLY {
        let message = format!(
            "a replay writes first and then reads, but the mix {mix} writes while it reads; use 100:0, or leave `replay` out"
        );
        return Err(Refusal::of(&REPLAY, message));
    }
    if is_read_only(subject) {
        let message = "a replay writes what it reads, but this subject is only read; measure a scratch file or a device that may be \
                       overwritten, or leave `replay` out";
        return Err(Refusal::of(&REPLAY, message));
    }
    Ok(())
}

/// Writes the blocks of a trial in a closed loop, and tells the trial how far each job came.
pub(super) fn write(
    targets: &[&Target],
    spec: &mut JobSpec,
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<TogetherReport, DeviceError> {
    let writing = JobSpec {
        read_write_mix: ReadWriteMix::WRITE_ONLY,
        arrival: Arrival::Closed,
        warm_up: Duration::ZERO,
        duration: spec.warm_up + spec.duration,
        ..spec.clone()
    };
    let report = run_together(targets, &writing, clock, stop)?;
    targets.iter().try_for_each(|target| target.flush())?;
    spec.repeat_after.clone_from(&report.total.issued);
    Ok(report)
}
