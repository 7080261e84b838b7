//! The closed loop: a fixed number of requests in flight, a new one for each that completes.

use crate::engine::{Engine, Wait};
use crate::error::DeviceError;
use crate::job::worker::Worker;
use outcrop_workload::Submission;

/// Runs one job to its end and drains it.
pub(crate) fn run<E: Engine>(worker: &mut Worker<'_, E>) -> Result<(), DeviceError> {
    let outcome = keep_busy(worker);
    // Also after an error: the kernel must be done with the buffers before anybody else may have them.
    let drained = worker.drain();
    outcome.and(drained)
}

fn keep_busy<E: Engine>(worker: &mut Worker<'_, E>) -> Result<(), DeviceError> {
    let depth = worker.context.spec.queue_depth;
    let wanted = match worker.context.spec.submission {
        Submission::Refill => 1,
        Submission::Batch => depth.div_ceil(2),
    };
    let end = worker.timeline.measure_to;
    let mut now = worker.context.clock.ticks();
    for slot in 0..depth {
        worker.issue(slot, now, now)?;
    }
    loop {
        worker.submit(Wait::Completions(wanted), now)?;
        let mut last_seen = None;
        while let Some((slot, seen)) = worker.reap()? {
            last_seen = Some(seen);
            // The moment of completion is the start of the next request in this slot.
            if seen < end {
                worker.issue(slot, seen, seen)?;
            }
        }
        now = last_seen.unwrap_or_else(|| worker.context.clock.ticks());
        if now >= end {
            return Ok(());
        }
        if worker.must_stop(now) {
            worker.recorder.cut_short(now);
            return Ok(());
        }
    }
}
