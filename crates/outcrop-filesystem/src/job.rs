//! Runs operations on files: jobs on threads with a common start, each over its own part, for a time or until its part is done.

pub(crate) mod overwrite;
pub(crate) mod read;
pub(crate) mod small_files;
mod uring;
pub(crate) mod write;

use std::num::NonZeroU64;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_probe::Clock;
use outcrop_workload::Schedule;
use rustix::thread::{ClockId, Timespec};

use crate::costs::{Costs, process_ns};
use crate::error::FilesystemError;
use crate::report::Phase;

/// What every job of a pass needs.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a AtomicBool,
    /// No operation begins after this many nanoseconds.
    pub(crate) limit_ns: u64,
    /// Requests that a job keeps in flight.
    pub(crate) depth: u32,
}

/// What one job recorded of its part of a pass.
#[derive(Debug)]
pub(crate) struct JobRecord {
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) latency: LatencyHistogram,
    pub(crate) service: Option<LatencyHistogram>,
    pub(crate) lateness: Option<LatencyHistogram>,
    pub(crate) unfinished: u64,
    started: u64,
    ended: u64,
    /// CPU time of the process just before the common start, and just after the job's last operation.
    process_ns: (u64, u64),
}

impl JobRecord {
    pub(crate) fn new() -> Self {
        Self {
            operations: 0,
            bytes: 0,
            latency: LatencyHistogram::new(),
            service: None,
            lateness: None,
            unfinished: 0,
            started: 0,
            ended: 0,
            process_ns: (0, 0),
        }
    }

    /// One completed operation.
    pub(crate) fn record(&mut self, bytes: u64, latency_ns: u64) {
        self.operations += 1;
        self.bytes += bytes;
        self.latency.record(latency_ns);
    }
}

impl Pass<'_> {
    /// Whether no further operation may begin.
    pub(crate) fn is_over(&self, started: u64, now: u64) -> bool {
        self.clock.nanos(now.saturating_sub(started)) >= self.limit_ns || self.stop.load(Ordering::Relaxed)
    }

    /// Runs a closure for each item on its own thread, started together, and adds up what they recorded.
    ///
    /// `work` gets an item, the common start, and its record.
    pub(crate) fn run<T: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T, u64, &mut JobRecord) -> Result<(), FilesystemError> + Sync,
    ) -> Result<Phase, FilesystemError> {
        self.run_prepared(
            items,
            |_| Ok(()),
            |item, &mut (), started, record| work(item, started, record),
        )
    }

    /// The same; each thread makes what its work needs before the common start, and lets it go after its end: a ring, memory that it
    /// touches itself.
    pub(crate) fn run_prepared<T: Send, P>(
        &self,
        items: Vec<T>,
        prepare: impl Fn(&mut T) -> Result<P, FilesystemError> + Sync,
        work: impl Fn(T, &mut P, u64, &mut JobRecord) -> Result<(), FilesystemError> + Sync,
    ) -> Result<Phase, FilesystemError> {
        let barrier = Barrier::new(items.len());
        let (barrier, prepare, work) = (&barrier, &prepare, &work);
        let clock = self.clock;
        let job = move |mut item: T| {
            let mut record = JobRecord::new();
            // Late wake-ups would be part of an offered load's latency.
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
            let mut prepared = prepare(&mut item);
            record.process_ns.0 = process_ns();
            // Whoever failed to prepare comes too: the others wait for all.
            barrier.wait();
            record.started = clock.ticks();
            let started = record.started;
            let result = match &mut prepared {
                Ok(prepared) => work(item, prepared, started, &mut record),
                Err(_) => Ok(()),
            };
            record.ended = clock.ticks();
            record.process_ns.1 = process_ns();
            prepared.and(result).map(|()| record)
        };
        let records: Result<Vec<JobRecord>, FilesystemError> = std::thread::scope(|scope| {
            let threads: Vec<_> = items
                .into_iter()
                .map(|item| scope.spawn(move || job(item)))
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    let panicked = |_| FilesystemError::Unavailable("a job's thread failed".to_owned());
                    thread.join().map_err(panicked)?
                })
                .collect()
        });
        Ok(self.phase(records?))
    }

    fn phase(&self, records: Vec<JobRecord>) -> Phase {
        let started = records.iter().map(|record| record.started).min().unwrap_or(0);
        let ended = records.iter().map(|record| record.ended).max().unwrap_or(0);
        let duration_ns = self.clock.nanos(ended.saturating_sub(started));
        let busy: u64 = records
            .iter()
            .map(|record| record.ended.saturating_sub(record.started))
            .sum();
        let busy_ns = self.clock.nanos(busy) as f64;
        // The last to come to the start, and the last to end: what begins and ends the others is then not between them.
        let last = |of: fn(&JobRecord) -> u64| records.iter().map(of).max().unwrap_or(0);
        let process_ns =
            last(|record| record.process_ns.1).saturating_sub(last(|record| record.process_ns.0));
        let mut phase = Phase {
            duration_ns,
            achieved_depth: busy_ns * f64::from(self.depth) / duration_ns.max(1) as f64,
            costs: Costs {
                process_ns,
                ..Costs::NONE
            },
            passes: 1,
            ..Phase::empty()
        };
        for record in records {
            phase.operations += record.operations;
            phase.bytes += record.bytes;
            phase.latency.merge(&record.latency);
            phase.unfinished += record.unfinished;
            for (sum, part) in [
                (&mut phase.service, record.service),
                (&mut phase.lateness, record.lateness),
            ] {
                if let Some(part) = part {
                    sum.get_or_insert_with(LatencyHistogram::new).merge(&part);
                }
            }
        }
        phase
    }
}

/// The schedule of one job under offered load.
pub(crate) struct Due<'a> {
    schedule: Schedule,
    clock: &'a Clock,
    started: u64,
}

impl<'a> Due<'a> {
    pub(crate) const fn new(schedule: Schedule, clock: &'a Clock, started: u64) -> Self {
        Self {
            schedule,
            clock,
            started,
        }
    }

    /// When the next operation is due, after waiting for it.
    pub(crate) fn wait_for_next(&mut self) -> u64 {
        /// Below this the clock is watched: a sleep is that much late.
        const WATCH_NS: u64 = 60_000;
        let due_ns = self.schedule.next_ns();
        loop {
            let now_ns = self.clock.nanos(self.clock.ticks().saturating_sub(self.started));
            let Some(left_ns) = due_ns.checked_sub(now_ns).filter(|left| *left > 0) else {
                return due_ns;
            };
            if left_ns > WATCH_NS {
                let pause_ns = left_ns - WATCH_NS;
                let request = Timespec {
                    tv_sec: (pause_ns / 1_000_000_000) as i64,
                    tv_nsec: (pause_ns % 1_000_000_000) as i64,
                };
                // Early or late, the clock is read again.
                let _ = rustix::thread::clock_nanosleep_relative(ClockId::Monotonic, &request);
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than tests that run meanwhile add between two readings.
    const WORK_NS: u64 = 60_000_000;

    /// Uses so much CPU time.
    fn work() {
        let begin_ns = outcrop_probe::cpu_time::thread_time_ns();
        while outcrop_probe::cpu_time::thread_time_ns() - begin_ns < WORK_NS {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn cpu_time_of_operations_is_without_what_jobs_prepare_and_with_what_makes_them_durable() {
        let (clock, stop) = (Clock::new(), AtomicBool::new(false));
        let pass = Pass {
            clock: &clock,
            stop: &stop,
            limit_ns: u64::MAX,
            depth: 1,
        };
        let prepare = |(): &mut ()| {
            work();
            Ok(7)
        };
        let read = |(), prepared: &mut u64, _, record: &mut JobRecord| {
            record.record(*prepared, 1);
            Ok(())
        };
        let mut phase = pass.run_prepared(vec![(), ()], prepare, read).unwrap();
        assert_eq!((phase.operations, phase.bytes), (2, 14));
        assert!(phase.costs.process_ns < WORK_NS, "{}", phase.costs.process_ns);
        let before_ns = phase.costs.process_ns;
        phase
            .end_with(|| {
                work();
                Ok(())
            })
            .unwrap();
        assert!(phase.costs.process_ns - before_ns >= WORK_NS / 2);
        // Between the edges there is more; it stays apart.
        let between = Costs {
            process_ns: phase.costs.process_ns + 5,
            ..Costs::NONE
        };
        let of_operations_ns = phase.costs.process_ns;
        phase.cost(between);
        assert_eq!(
            (phase.costs.process_ns, phase.costs.around_ns),
            (of_operations_ns, 5)
        );
    }

    #[test]
    fn a_job_that_cannot_prepare_is_an_error_and_nobody_waits_for_it() {
        let (clock, stop) = (Clock::new(), AtomicBool::new(false));
        let pass = Pass {
            clock: &clock,
            stop: &stop,
            limit_ns: u64::MAX,
            depth: 1,
        };
        let prepare = |is_able: &mut bool| match is_able {
            true => Ok(()),
            false => Err(FilesystemError::Unavailable("no ring".to_owned())),
        };
        let error = pass.run_prepared(vec![true, false], prepare, |_, &mut (), _, _| Ok(()));
        assert!(matches!(error, Err(FilesystemError::Unavailable(_))));
    }
}
