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
            until_due(clock.nanos(dues.next.saturating_sub(now)))
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

/// How to wait for a request that is due in so many nanoseconds.
const fn until_due(ahead_ns: u64) -> Wait {
    match ahead_ns.checked_sub(POLLED_NS) {
        None | Some(0) => Wait::Poll,
        Some(asleep_ns) if asleep_ns < TICK_NS => Wait::Nanoseconds(asleep_ns),
        Some(_) => Wait::Nanoseconds(TICK_NS),
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use outcrop_measure::seed::Seed;
    use outcrop_workload::EngineKind;

    use super::*;
    use crate::engine::noop::{Listening, NoopEngine};
    use crate::job::timeline::Timeline;
    use crate::job::worker::{JobContext, Preparation, WriteAllowance};
    use crate::spec::JobSpec;

    /// For how long an open loop tells its engine to sleep, each time. With a slot for every request it waits for due times alone.
    fn sleeps(arrival: &str, duration: Duration) -> Vec<u64> {
        let spec = JobSpec {
            engine: EngineKind::Noop,
            queue_depth: 4096,
            arrival: arrival.parse().unwrap(),
            warm_up: Duration::ZERO,
            duration,
            ..JobSpec::new(Seed(3))
        };
        let (clock, no) = (Clock::new(), AtomicBool::new(false));
        let context = JobContext {
            spec: &spec,
            span_bytes: 1 << 20,
            jobs_before: 0,
            cpus: None,
            clock: &clock,
            stop: &no,
            halt: &no,
            writes: &WriteAllowance::of(None),
        };
        let prepared = Preparation::new(&context, 0).unwrap();
        let mut asleep_ns = Vec::new();
        let engine = Listening {
            engine: NoopEngine::new(spec.queue_depth),
            asleep_ns: &mut asleep_ns,
        };
        let timeline = Timeline::starting_at(clock.ticks(), &spec, &clock);
        let schedule = spec.arrival.schedule_of_job(0, 1, spec.seed).unwrap();
        let mut worker = Worker::new(engine, &context, timeline, prepared);
        run(&mut worker, schedule).unwrap();
        drop(worker);
        asleep_ns
    }

    #[test]
    fn before_a_request_is_due_the_thread_polls() {
        assert_eq!(until_due(0), Wait::Poll);
        assert_eq!(until_due(POLLED_NS), Wait::Poll);
        assert_eq!(until_due(POLLED_NS + 1), Wait::Nanoseconds(1));
        assert_eq!(until_due(1_000_000), Wait::Nanoseconds(950_000));
        assert_eq!(until_due(u64::MAX), Wait::Nanoseconds(TICK_NS));
    }

    #[test]
    fn between_requests_that_follow_closely_the_thread_never_sleeps() {
        // 40 µs apart, which is less than the time that is polled.
        assert_eq!(sleeps("constant:25000", Duration::from_millis(20)), [0; 0]);
    }

    #[test]
    fn between_requests_that_are_far_apart_the_thread_sleeps_and_wakes_before_the_next_is_due() {
        let asleep_ns = sleeps("constant:100", Duration::from_millis(100));
        assert!(!asleep_ns.is_empty());
        let most_ns = 10_000_000 - POLLED_NS;
        assert!(asleep_ns.iter().all(|ns| *ns <= most_ns), "{asleep_ns:?}");
    }
}
