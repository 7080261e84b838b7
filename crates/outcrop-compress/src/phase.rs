//! A phase: every thread does the same to its own share, from a common start to the first one's end.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_probe::Clock;
use outcrop_probe::cpu_time::thread_time_ns;

use crate::blocks::Blocks;
use crate::caches::Evictor;
use crate::cpus::pin;
use crate::error::CompressError;
use crate::worker::{Direction, Nothing, Stopwatch, Watch, Worker};
use outcrop_workload::Caches;

/// Compressing or decompressing, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseReport {
    /// Uncompressed bytes of all threads.
    pub bytes: u64,
    /// Wall time, from the first thread's start to the last one's end; with cold caches, the sum of the blocks' own times.
    pub wall_ns: u64,
    /// CPU time of the threads; none with cold caches, where most of it is the chilling.
    pub cpu_ns: Option<u64>,
    /// Time of each block, from passes of their own. One read of the counter is part of each.
    pub latency: LatencyHistogram,
    /// Time that the passes for latency took.
    pub latency_wall_ns: u64,
    /// Uncompressed bytes of the passes for latency.
    pub latency_bytes: u64,
}

impl PhaseReport {
    /// Uncompressed bytes per second.
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / (self.wall_ns.max(1) as f64 / 1e9)
    }

    /// CPU time per uncompressed byte.
    pub fn cpu_ns_per_byte(&self) -> Option<f64> {
        Some(self.cpu_ns? as f64 / self.bytes as f64)
    }
}

/// How long the parts of a phase last, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) warm_up: u64,
    pub(crate) speed: u64,
    pub(crate) latency: u64,
}

/// What all threads of all phases of a job share.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'j> {
    pub(crate) blocks: &'j Blocks<'j>,
    pub(crate) caches: Caches,
    pub(crate) clock: &'j Clock,
    pub(crate) stop: &'j AtomicBool,
    pub(crate) budget: Budget,
}

impl Stage<'_> {
    /// Runs one direction: warm-up, speed, latency.
    pub(crate) fn run(
        &self,
        workers: &mut [Worker<'_>],
        direction: Direction,
    ) -> Result<PhaseReport, CompressError> {
        let (watches, speed) = match self.caches {
            Caches::Warm => {
                let warm_up = Some(self.budget.warm_up);
                let (_, speed) = self.timed(workers, direction, warm_up, self.budget.speed, || Nothing)?;
                let stopwatch = || Stopwatch::new(self.clock, None);
                let (watches, latency) =
                    self.timed(workers, direction, None, self.budget.latency, stopwatch)?;
                ((watches, latency), Some(speed))
            }
            Caches::Cold => {
                let all = self.budget.speed + self.budget.latency;
                let stopwatch = || Stopwatch::new(self.clock, Some(Evictor::new()));
                (self.timed(workers, direction, Some(0), all, stopwatch)?, None)
            }
        };
        let (watches, latency_span) = watches;
        let mut latency = LatencyHistogram::new();
        for watch in &watches {
            latency.merge(&watch.histogram);
        }
        let blocks_ns = latency.totals().map_or(0, |totals| totals.sum_ns) as u64;
        Ok(PhaseReport {
            bytes: speed.as_ref().map_or(latency_span.bytes, |span| span.bytes),
            wall_ns: speed.as_ref().map_or(blocks_ns, |span| span.wall_ns(self.clock)),
            cpu_ns: speed.as_ref().map(|span| span.cpu_ns),
            latency,
            latency_wall_ns: latency_span.wall_ns(self.clock),
            latency_bytes: latency_span.bytes,
        })
    }

    /// Lets every worker pass over its share until the first one has filled the budget with whole passes.
    ///
    /// Unless `warm_up` is none, each does at least one whole pass before the start.
    fn timed<W: Watch>(
        &self,
        workers: &mut [Worker<'_>],
        direction: Direction,
        warm_up: Option<u64>,
        budget: u64,
        watch: impl Fn() -> W,
    ) -> Result<(Vec<W>, Span), CompressError> {
        let start = Barrier::new(workers.len());
        let halt = AtomicBool::new(false);
        let results: Vec<Result<(W, Span), CompressError>> = std::thread::scope(|scope| {
            let handles: Vec<_> = workers
                .iter_mut()
                .map(|worker| {
                    let (start, halt) = (&start, &halt);
                    let mut watch = watch();
                    scope.spawn(move || {
                        let warmed = self.warm(worker, direction, warm_up);
                        start.wait();
                        let span =
                            warmed.and_then(|()| self.passes(worker, direction, budget, &mut watch, halt));
                        // Whoever is done, or failed, ends the phase for all.
                        halt.store(true, Ordering::Relaxed);
                        self.complete(worker, direction)?;
                        Ok((watch, span?))
                    })
                })
                .collect();
            handles
                .into_iter()
                // A panic in a worker is a bug, and goes on as one.
                .map(|handle| {
                    handle
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        });
        if self.stop.load(Ordering::Relaxed) {
            return Err(CompressError::Interrupted);
        }
        let (mut watches, mut span) = (Vec::new(), Span::EMPTY);
        for result in results {
            let (watch, own) = result?;
            watches.push(watch);
            span = span.and(&own);
        }
        Ok((watches, span))
    }

    fn warm(
        &self,
        worker: &mut Worker<'_>,
        direction: Direction,
        warm_up: Option<u64>,
    ) -> Result<(), CompressError> {
        pin(worker.cpu)?;
        let Some(warm_up) = warm_up else { return Ok(()) };
        let started = self.clock.ticks();
        loop {
            let pass = worker.pass(direction, &mut Nothing, self.stop);
            pass.map_err(|error| worker.failed(self.blocks, error))?;
            if self.clock.ticks().saturating_sub(started) >= warm_up || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }

    /// Leaves whole output behind. A pass that was cut short does not: compressors write behind the block that they answer,
    /// over the one that the pass before left there.
    fn complete(&self, worker: &mut Worker<'_>, direction: Direction) -> Result<(), CompressError> {
        if worker.is_whole() {
            return Ok(());
        }
        let pass = worker.pass(direction, &mut Nothing, self.stop);
        pass.map(|_| ())
            .map_err(|error| worker.failed(self.blocks, error))
    }

    fn passes<W: Watch>(
        &self,
        worker: &mut Worker<'_>,
        direction: Direction,
        budget: u64,
        watch: &mut W,
        halt: &AtomicBool,
    ) -> Result<Span, CompressError> {
        let cpu_before = thread_time_ns();
        let started = self.clock.ticks();
        let (mut bytes, mut passes) = (0, 0);
        loop {
            let pass = worker.pass(direction, watch, halt);
            let pass = pass.map_err(|error| worker.failed(self.blocks, error))?;
            bytes += pass.bytes;
            passes += 1;
            let ended = self.clock.ticks();
            let took = ended.saturating_sub(started);
            // As many passes as come nearest to the budget: another one would overshoot by more than it misses now.
            let is_filled = took + took / passes / 2 >= budget;
            if !pass.is_whole || is_filled || self.stop.load(Ordering::Relaxed) {
                return Ok(Span {
                    started,
                    ended,
                    bytes,
                    cpu_ns: thread_time_ns().saturating_sub(cpu_before),
                });
            }
        }
    }
}

/// What one thread, or all of them, did in a phase.
#[derive(Clone, Copy, Debug)]
struct Span {
    started: u64,
    ended: u64,
    bytes: u64,
    cpu_ns: u64,
}

impl Span {
    const EMPTY: Self = Self {
        started: u64::MAX,
        ended: 0,
        bytes: 0,
        cpu_ns: 0,
    };

    /// From the first start to the last end.
    fn and(&self, other: &Self) -> Self {
        Self {
            started: self.started.min(other.started),
            ended: self.ended.max(other.ended),
            bytes: self.bytes + other.bytes,
            cpu_ns: self.cpu_ns + other.cpu_ns,
        }
    }

    fn wall_ns(&self, clock: &Clock) -> u64 {
        clock.nanos(self.ended.saturating_sub(self.started))
    }
}
