//! The open loop: requests are due by a schedule, whether or not earlier ones have completed.
//!
//! Every request that was due is accounted for. One that finds no empty slot waits in the schedule, and its
//! wait counts; when the measured time ends, what was due before is still issued and completed; what the
//! drain's limit or a stop leaves undone is filed with its age.

use std::time::Duration;

use outcrop_probe::clock::Clock;
use outcrop_workload::Schedule;

use crate::engine::{Engine, TICK_NS, Wait};
use crate::error::DeviceError;
use crate::job::worker::Worker;

/// So long before a request is due, the thread stops sleeping and polls: a wake-up is late by tens of microseconds on many
/// machines, and that would be reported as the device's latency.
const POLLED_NS: u64 = 50_000;
/// The backlog of an overloaded target is worked off for as long as the measured time, and at least this.
const MIN_GRACE: Duration = Duration::from_secs(5);

/// Runs one job to its end and drains it.
pub(crate) fn run<E: Engine>(worker: &mut Worker<'_, E>, schedule: Schedule) -> Result<(), DeviceError> {
    let mut dues = Dues::new(schedule, worker.context.clock, worker.timeline.start);
    let outcome = serve(worker, &mut dues);
    // Also after an error: the kernel must be done with the buffers before anybody else may have them.
    let drained = worker.drain();
    outcome.and(drained)
}

/// The schedule in ticks, with a look at the next entry.
struct Dues<'c> {
    schedule: Schedule,
    clock: &'c Clock,
    start: u64,
    next: u64,
}

impl<'c> Dues<'c> {
    fn new(schedule: Schedule, clock: &'c Clock, start: u64) -> Self {
        let mut dues = Self {
            schedule,
            clock,
            start,
            next: 0,
        };
        dues.advance();
        dues
    }

    fn advance(&mut self) {
        let offset = Duration::from_nanos(self.schedule.next_ns());
        self.next = self.start.saturating_add(self.clock.ticks_in(offset));
    }
}

fn serve<E: Engine>(worker: &mut Worker<'_, E>, dues: &mut Dues<'_>) -> Result<(), DeviceError> {
    let clock = worker.context.clock;
    let end = worker.timeline.measure_to;
    let give_up = end.saturating_add(clock.ticks_in(worker.context.spec.duration.max(MIN_GRACE)));
    let mut empty: Vec<u32> = (0..worker.context.spec.queue_depth).rev().collect();
    let mut now = clock.ticks();
    // A request that finds no empty slot waits for the target; only from here on does it wait for us.
    let mut freed = 0;
    loop {
        while dues.next <= now && dues.next < end {
            let Some(slot) = empty.pop() else { break };
            worker.recorder.take_due(dues.next);
            worker.recorder.issued_late(dues.next, freed, now);
            worker.issue(slot, dues.next, now)?;
            dues.advance();
        }
        let is_all_issued = dues.next >= end;
        // With a wait for the next due time, rather than until a completion that may come later.
        let wait = if is_all_issued || empty.is_empty() {
            Wait::Completions(1)
        } else {
            match clock.nanos(dues.next.saturating_sub(now)) {
                ahead_ns if ahead_ns <= POLLED_NS => Wait::Poll,
                ahead_ns => Wait::Nanoseconds((ahead_ns - POLLED_NS).min(TICK_NS)),
            }
        };
        if is_all_issued && worker.in_flight() == 0 {
            return Ok(());
        }
        worker.submit(wait, now)?;
        while let Some((slot, seen)) = worker.reap()? {
            if empty.is_empty() {
                freed = seen;
            }
            empty.push(slot);
        }
        now = clock.ticks();
        if worker.must_stop(now) {
            abandon(worker, dues, now.min(end), now);
            worker.recorder.cut_short(now);
            return Ok(());
        }
        if now > give_up {
            abandon(worker, dues, end, now);
            return Ok(());
        }
    }
}

/// Files everything that was due before `until` and was not issued.
fn abandon<E: Engine>(worker: &mut Worker<'_, E>, dues: &mut Dues<'_>, until: u64, now: u64) {
    while dues.next < until {
        let is_write = worker.skip_request();
        worker.recorder.take_due(dues.next);
        worker.recorder.abandon(is_write, dues.next, now);
        dues.advance();
    }
}
