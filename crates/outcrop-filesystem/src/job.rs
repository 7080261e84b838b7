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
    pub(crate) unfinished: u64,
    started: u64,
    ended: u64,
}

impl JobRecord {
    pub(crate) fn new() -> Self {
        Self {
            operations: 0,
            bytes: 0,
            latency: LatencyHistogram::new(),
            service: None,
            unfinished: 0,
            started: 0,
            ended: 0,
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
    /// Memory and descriptors are made before: `work` gets an item, the common start, and its record.
    pub(crate) fn run<T: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T, u64, &mut JobRecord) -> Result<(), FilesystemError> + Sync,
    ) -> Result<Phase, FilesystemError> {
        let barrier = Barrier::new(items.len());
        let (barrier, work) = (&barrier, &work);
        let clock = self.clock;
        let job = move |item: T| {
            let mut record = JobRecord::new();
            // Late wake-ups would be part of an offered load's latency.
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
            barrier.wait();
            record.started = clock.ticks();
            let started = record.started;
            let result = work(item, started, &mut record);
            record.ended = clock.ticks();
            result.map(|()| record)
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
        let mut phase = Phase {
            duration_ns,
            achieved_depth: busy_ns * f64::from(self.depth) / duration_ns.max(1) as f64,
            passes: 1,
            ..Phase::empty()
        };
        for record in records {
            phase.operations += record.operations;
            phase.bytes += record.bytes;
            phase.latency.merge(&record.latency);
            phase.unfinished += record.unfinished;
            if let Some(service) = record.service {
                phase
                    .service
                    .get_or_insert_with(LatencyHistogram::new)
                    .merge(&service);
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
