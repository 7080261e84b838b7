//! An open loop at a share of the highest rate: in each trial a closed loop of the same cell says right before what that rate is.

use std::sync::atomic::AtomicBool;

use outcrop_device::{DeviceError, JobReport, JobSpec, Target, TogetherReport, run_together};
use outcrop_measure::units::Rate;
use outcrop_probe::Clock;
use outcrop_workload::Arrival;

use super::values::too_short;
use crate::layer::TrialFailure;

/// The trial as a closed loop, for as long as the trial itself, and flushed like one.
pub(super) fn closed_loop(
    targets: &[&Target],
    spec: &JobSpec,
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<TogetherReport, DeviceError> {
    let closed = JobSpec {
        arrival: Arrival::Closed,
        ..spec.clone()
    };
    let report = run_together(targets, &closed, clock, stop)?;
    if spec.read_write_mix.has_writes() {
        targets.iter().try_for_each(|target| target.flush())?;
    }
    Ok(report)
}

/// The process at this share of what the closed loop reached; where there are several drives, each is offered its part of it.
pub(super) fn of(process: Arrival, percent: f64, closed: &TogetherReport) -> Result<Arrival, TrialFailure> {
    if let Some(reason) = too_short(&closed.total) {
        return Err(TrialFailure::of(&format!(
            "the closed loop, of which {percent} % are to be offered, was {reason}; measure longer"
        )));
    }
    let of_each = per_second(&closed.total) / closed.each.len() as f64;
    let rate = Rate::new(of_each * percent / 100.0).ok();
    let rate = rate.filter(|rate| rate.per_second() > 0.0).ok_or_else(|| {
        TrialFailure::of(&format!(
            "nothing completed in the closed loop, of which {percent} % are to be offered; measure longer"
        ))
    })?;
    Ok(process.at(rate))
}

/// Operations per second of a closed loop.
pub(super) fn per_second(closed: &JobReport) -> f64 {
    let total = closed.total();
    let operations = total.reads.operations + total.writes.operations;
    operations as f64 * 1e9 / closed.duration_ns.max(1) as f64
}
