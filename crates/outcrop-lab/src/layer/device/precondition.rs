//! Preconditioning: all of a scratch file or a device is written in order, in large requests, some times over.
//!
//! *Source*: SNIA PTS 2.0.1, workload-independent preconditioning: twice the capacity in sequential writes of 128 KiB. What depends on the
//! workload, the rounds of the plan are themselves.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_device::{DeviceError, Ended, EngineKind, JobSpec, Target, run_job};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_schema::Settings;
use outcrop_schema::device::{PRECONDITION, PRECONDITIONED, SIZE};
use outcrop_workload::{AccessPattern, ReadWriteMix};

use crate::error::LabError;

/// Size of the requests.
const REQUEST_BYTES: u64 = 128 << 10;
/// A pass ends when everything is written; this only bounds a device that hardly writes at all.
const LONGEST_PASS: Duration = Duration::from_secs(7 * 24 * 3600);

/// Passes that a subject asks for.
pub(super) fn passes(subject: &Settings) -> u32 {
    subject.get(&PRECONDITION).copied().unwrap_or(0)
}

/// The state that they leave, as records have it; none without a pass.
pub(super) fn state(subject: &Settings) -> Option<String> {
    let passes = passes(subject);
    (passes > 0).then(|| format!("{PRECONDITIONED} {passes}×"))
}

/// Writes all passes; `written` is told the bytes after each.
pub(super) fn write(
    target: &Target,
    subject: &Settings,
    seed: Seed,
    clock: &Clock,
    stop: &AtomicBool,
    written: &mut dyn FnMut(u64),
) -> Result<(), LabError> {
    let size_bytes = subject.value(&SIZE).0;
    let request_bytes = REQUEST_BYTES.min(size_bytes);
    for pass in 0..passes(subject) {
        let spec = JobSpec {
            io_block_size_bytes: request_bytes,
            access_pattern: AccessPattern::Sequential,
            read_write_mix: ReadWriteMix::WRITE_ONLY,
            warm_up: Duration::ZERO,
            duration: LONGEST_PASS,
            interval: LONGEST_PASS,
            // A device may be larger than the part that is measured.
            span_bytes: Some(size_bytes),
            write_limit_bytes: Some(size_bytes / request_bytes * request_bytes),
            ..JobSpec::new(seed.derive("precondition").derive_index(pass.into()))
        };
        let report = match run_job(target, &spec, clock, stop) {
            // Writing all of it needs no particular engine: where io_uring is forbidden, one request at a time does.
            Err(DeviceError::RingSetup { .. }) => {
                let spec = JobSpec {
                    engine: EngineKind::Psync,
                    queue_depth: 1,
                    ..spec
                };
                run_job(target, &spec, clock, stop)
            }
            other => other,
        };
        let report = report.map_err(failure)?;
        match report.ended {
            Ended::WriteLimit | Ended::Completed => {}
            Ended::Interrupted => return Err(LabError::StoppedInPreparation),
            Ended::Failed => {
                let why = report.failure().unwrap_or_default();
                return Err(LabError::preparing(&format!("preconditioning failed: {why}")));
            }
        }
        target.flush().map_err(failure)?;
        written(u64::from(pass + 1) * size_bytes);
    }
    Ok(())
}

fn failure(error: DeviceError) -> LabError {
    match error {
        DeviceError::Interrupted { .. } => LabError::StoppedInPreparation,
        error => LabError::preparing(&error),
    }
}
