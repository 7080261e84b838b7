//! Runs the jobs of a specification: one thread each, started together, drained before the call returns.

mod assemble;
mod closed;
pub(crate) mod counted;
mod gate;
mod hand_over;
mod open;
mod placement;
mod polling;
mod recorder;
mod request_stream;
mod timeline;
mod together;
mod worker;
mod write_buffers;

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::block_counters::Counters;
use outcrop_probe::clock::Clock;
use outcrop_probe::cpu_time::{CpuTime, CpuUsage};

use crate::engine::Engine;
use crate::engine::libaio::LibaioEngine;
use crate::engine::noop::NoopEngine;
use crate::engine::psync::PsyncEngine;
use crate::engine::uring::{RingOptions, UringEngine, UringRing};
use crate::error::DeviceError;
use crate::job::counted::{Counted, Moment};
use crate::job::gate::{Announcer, Gate, Listener};
use crate::job::recorder::Record;
use crate::job::timeline::Timeline;
pub use crate::job::together::TogetherReport;
use crate::job::worker::{JobContext, Preparation, Worker, WriteAllowance};
use crate::pause;
use crate::report::{DiskBelow, Ended, Feature, JobReport};
use crate::spec::JobSpec;
use crate::target::Target;
use outcrop_workload::filesystem::FileAccess;
use outcrop_workload::{Completions, EngineKind};

/// Runs one job specification against a target, and returns when nothing is in flight any more.
///
/// `stop` is looked at within a millisecond while requests complete, and at least every 50 ms; a raised flag ends the job with
/// [`Ended::Interrupted`] and what was measured until then. (Exception: psync in the middle of a call that
/// the device does not answer.) Requests that fail are counted in [`JobReport::errors`].
///
/// # Errors
/// The job does not fit the target (see [`Target::check`]), the engine cannot be set up, or requests do
/// not come back. Nothing is written in the first two cases.
pub fn run_job(
    target: &Target,
    spec: &JobSpec,
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<JobReport, DeviceError> {
    Ok(run_together(&[target], spec, clock, stop)?.total)
}

/// Runs the specification against several targets at the same time: on each its jobs and, in an open loop, its rate. All start together.
///
/// # Errors
/// Those of [`run_job`], of any target; no target at all.
pub fn run_together(
    targets: &[&Target],
    spec: &JobSpec,
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<TogetherReport, DeviceError> {
    let places = targets.iter().map(|target| Place::of(target, spec));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let halt = AtomicBool::new(false);
    let writes = WriteAllowance::of(spec.write_limit_bytes);
    let contexts: Vec<JobContext<'_>> = (0..)
        .zip(&places)
        .map(|(number, place)| JobContext {
            spec,
            span_bytes: place.span_bytes,
            jobs_before: spec.jobs.saturating_mul(number),
            cpus: place.cpus.as_deref(),
            clock,
            stop,
            halt: &halt,
            writes: &writes,
        })
        .collect();
    let gate = Gate::new();
    let thread_count = spec.jobs.saturating_mul(places.len() as u32);
    let (announcers, mut listener) = Gate::announcers(thread_count);

    let (results, observed) = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut outcome = Ok(());
        for (number, announcer) in (0..).zip(announcers) {
            let (place, index) = (number / spec.jobs, number % spec.jobs);
            let (context, descriptor) = (&contexts[place as usize], places[place as usize].descriptor());
            let gate = &gate;
            let name = format!("outcrop-job-{number}");
            let spawned = std::thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, move || {
                    run_one(descriptor, context, index, gate, announcer)
                });
            match spawned {
                Ok(thread) => threads.push(thread),
                // The announcer went down with the closure and told the listener.
                Err(error) => {
                    outcome = Err(DeviceError::Thread {
                        reason: error.to_string(),
                    });
                }
            }
        }
        let observed = conduct(spec, clock, &gate, &mut listener, &places);
        let results: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(panicked))
            .collect();
        let after: Vec<_> = places.iter().map(|place| place.counted.now()).collect();
        (results, outcome.and(observed).map(|observed| (observed, after)))
    });
    let (observed, after) = observed?;
    let records = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut records = records.into_iter();
    let each = places
        .iter()
        .zip(observed)
        .zip(after)
        .map(|((place, observed), after)| {
            let jobs = records.by_ref().take(spec.jobs as usize).flatten().collect();
            assemble::report(place.target, spec, clock, jobs, place.observed(observed, &after))
        });
    TogetherReport::of(each.collect()).ok_or_else(|| DeviceError::spec("targets", 0, "at least one"))
}

/// One target, and what its jobs need of it.
struct Place<'t> {
    target: &'t Target,
    span_bytes: u64,
    cpus: Option<Vec<u32>>,
    buffered: Option<File>,
    counted: Counted,
}

impl<'t> Place<'t> {
    fn of(target: &'t Target, spec: &JobSpec) -> Result<Self, DeviceError> {
        let span_bytes = target.check(spec)?;
        polling::check(target, spec)?;
        let buffered = match (spec.access, target.direct()) {
            (FileAccess::Buffered, Some(direct)) => Some(direct.through_page_cache()?),
            _ => None,
        };
        Ok(Self {
            target,
            span_bytes,
            cpus: placement::cpus(target, spec)?,
            buffered,
            counted: Counted::behind(target, spec),
        })
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let buffered = self.buffered.as_ref().map(AsFd::as_fd);
        buffered.or_else(|| self.target.descriptor())
    }

    /// What was seen of this target.
    fn observed(&self, before: Before, after: &Moment) -> Observed {
        let Before { cpu, counters } = before;
        let device = self.counted.device.as_ref().ok();
        Observed {
            cpu,
            counters: self.counted.moved(&counters, after),
            counted_device: device.map(|device| device.name().to_owned()),
            disk_below: self.counted.moved_below(&counters, after),
            page_cache: self.counted.page_cache.clone(),
        }
    }
}

/// What one job's thread brings back; `None` when another job could not be set up.
type JobOutcome = Result<Option<JobRecord>, DeviceError>;

/// What one job recorded, how it ended and what its engine could use.
#[derive(Debug)]
struct JobRecord {
    ended: Ended,
    record: Record,
    features: Vec<Feature>,
}

/// What the conducting thread saw of one target.
#[derive(Debug)]
struct Observed {
    cpu: CpuUsage,
    counters: Result<Counters, Unavailable>,
    counted_device: Option<String>,
    disk_below: Option<Result<DiskBelow, Unavailable>>,
    page_cache: Option<String>,
}

/// The CPU time of all jobs in the measured time, and a target's counters before them.
#[derive(Debug)]
struct Before {
    cpu: CpuUsage,
    counters: Moment,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the signature of what `join` gives back on failure"
)]
fn panicked(payload: Box<dyn std::any::Any + Send>) -> JobOutcome {
    let reason = payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "it panicked".to_owned());
    Err(DeviceError::Thread { reason })
}

/// Starts the jobs together, and reads CPU time at the edges of the measured time.
fn conduct(
    spec: &JobSpec,
    clock: &Clock,
    gate: &Gate,
    listener: &mut Listener,
    places: &[Place<'_>],
) -> Result<Vec<Before>, DeviceError> {
    if let Err(error) = listener.all_ready() {
        gate.abort();
        return Err(error);
    }
    let counters: Vec<_> = places.iter().map(|place| place.counted.now()).collect();
    let timeline = Timeline::starting_at(clock.ticks(), spec, clock);
    gate.open(timeline);
    let until = |point: u64| Duration::from_nanos(clock.nanos(point.saturating_sub(clock.ticks())));
    listener.wait(until(timeline.measure_from));
    let cpu_before = CpuTime::now();
    listener.wait(until(timeline.measure_to));
    let cpu = CpuTime::now().since(&cpu_before);
    let before = counters.into_iter().map(|counters| Before {
        cpu: cpu.clone(),
        counters,
    });
    Ok(before.collect())
}

/// One job on its own thread, from set-up to drain.
fn run_one(
    target: Option<BorrowedFd<'_>>,
    context: &JobContext<'_>,
    index: u32,
    gate: &Gate,
    mut announcer: Announcer,
) -> JobOutcome {
    match set_up_and_run(target, context, index, gate, &mut announcer) {
        Err(error) if !announcer.has_announced() => {
            // Whoever listens returns the reason.
            announcer.failed(error);
            Ok(None)
        }
        Err(error) => {
            context.halt.store(true, std::sync::atomic::Ordering::Relaxed);
            Err(error)
        }
        ok => ok,
    }
}

#[expect(unsafe_code, reason = "the ring keeps the buffers registered")]
fn set_up_and_run(
    target: Option<BorrowedFd<'_>>,
    context: &JobContext<'_>,
    index: u32,
    gate: &Gate,
    announcer: &mut Announcer,
) -> JobOutcome {
    let spec = context.spec;
    if let Some(cpus) = context.cpus {
        placement::bind(cpus)?;
    }
    let prepared = Preparation::new(context, index)?;
    if spec.arrival.is_open_loop() {
        pause::wake_precisely();
    }
    match (spec.engine, target) {
        (EngineKind::Noop, _) | (_, None) => {
            announcer.ready();
            let Some(timeline) = gate.wait() else {
                return Ok(None);
            };
            let engine = NoopEngine::new(spec.queue_depth);
            drive(engine, context, index, timeline, prepared, Vec::new())
        }
        (EngineKind::Psync, Some(target)) => {
            announcer.ready();
            let Some(timeline) = gate.wait() else {
                return Ok(None);
            };
            let engine = PsyncEngine::new(target);
            drive(engine, context, index, timeline, prepared, Vec::new())
        }
        (EngineKind::Libaio, Some(target)) => {
            let engine = LibaioEngine::set_up(target, spec.queue_depth)?;
            announcer.ready();
            let Some(timeline) = gate.wait() else {
                return Ok(None);
            };
            drive(engine, context, index, timeline, prepared, Vec::new())
        }
        (EngineKind::IoUring, Some(target)) => {
            let options = RingOptions {
                target,
                queue_depth: spec.queue_depth,
                has_timed_waits: spec.arrival.is_open_loop(),
                is_polled: spec.completions == Completions::Polled,
            };
            // SAFETY: `prepared` holds the mappings, and leaks them rather than unmap them under a request.
            let mut ring = unsafe { UringRing::set_up(options, &prepared.slots.memory()) }?;
            let (engine, features) = UringEngine::start(&mut ring);
            announcer.ready();
            let Some(timeline) = gate.wait() else {
                return Ok(None);
            };
            drive(engine, context, index, timeline, prepared, features)
        }
    }
}

fn drive<E: Engine>(
    engine: E,
    context: &JobContext<'_>,
    index: u32,
    timeline: Timeline,
    prepared: Preparation,
    features: Vec<Feature>,
) -> JobOutcome {
    let spec = context.spec;
    let mut worker = Worker::new(engine, context, timeline, prepared);
    match spec
        .arrival
        .schedule_of_job(index, spec.jobs, spec.seed.derive("arrivals"))
    {
        None => closed::run(&mut worker)?,
        Some(schedule) => open::run(&mut worker, schedule)?,
    }
    let (ended, record) = worker.finish();
    Ok(Some(JobRecord {
        ended,
        record,
        features,
    }))
}
