//! A job: one codec over the blocks, verified, then timed in both directions.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_codec::{CodecSpec, ContextUse};
use outcrop_measure::metric::Unavailable;
use outcrop_probe::Clock;
use outcrop_probe::energy::Meter;

use crate::blocks::Blocks;
use crate::caches::Evictor;
use crate::cpus::allowed_cpus;
use crate::error::CompressError;
use crate::phase::{Budget, PhaseReport, Stage};
use crate::size::SizeReport;
use crate::speed::assumed_compress_ns;
use crate::worker::{Direction, Worker};
use outcrop_workload::Caches;

/// What is to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Codec and level.
    pub codec: CodecSpec,
    /// Threads, each bound to a CPU of its own.
    pub threads: usize,
    /// Whether contexts live from block to block.
    pub context: ContextUse,
    /// What the caches hold before each block.
    pub caches: Caches,
    /// Time before each direction is measured.
    pub warm_up: Duration,
    /// Time measured, both directions together.
    pub duration: Duration,
    /// Which of the blocks are timed when all of them take too long: another number takes others.
    pub selection: u64,
}

impl JobSpec {
    /// One thread, a reused context, warm caches, no warm-up beyond the first pass.
    pub const fn new(codec: CodecSpec, duration: Duration) -> Self {
        Self {
            codec,
            threads: 1,
            context: ContextUse::Reused,
            caches: Caches::Warm,
            warm_up: Duration::ZERO,
            duration,
            selection: 0,
        }
    }

    /// Checks what does not depend on the data.
    ///
    /// # Errors
    /// More threads than CPUs, or cold caches with several threads.
    pub fn validate(&self) -> Result<(), CompressError> {
        let cpus = allowed_cpus()?.len();
        if self.threads == 0 || self.threads > cpus {
            let expected =
                format!("1 to {cpus}, the CPUs that this process may run on: each thread is bound to one");
            return Err(CompressError::spec("threads", &self.threads, expected));
        }
        if self.caches == Caches::Cold && self.threads > 1 {
            return Err(CompressError::spec(
                "caches",
                &self.caches,
                "warm with several threads: chilling the caches of one disturbs the others",
            ));
        }
        Ok(())
    }
}

/// What a job yielded.
#[derive(Clone, Debug, PartialEq)]
pub struct JobReport {
    /// How small the blocks became; every one of them was verified.
    pub size: Arc<SizeReport>,
    /// Compressing.
    pub compress: PhaseReport,
    /// Decompressing.
    pub decompress: PhaseReport,
    /// Energy of the metered packages over both phases, with all that was done between their timed parts; unavailable with cold
    /// caches, where most of it went into chilling them.
    pub energy_j: Result<f64, Unavailable>,
    /// Uncompressed bytes of all passes that the energy was used for: warm-up and completing output included.
    pub metered_bytes: u64,
    /// How many of the blocks were timed.
    pub timed_blocks: usize,
    /// What a reader of the figures must know.
    pub notes: Vec<String>,
}

/// Parts of a job's duration, in per cent: each direction takes both.
const SPEED_PERCENT: u64 = 30;
const LATENCY_PERCENT: u64 = 20;
/// Fewer blocks than this are not a sample of the others.
const FEWEST_TIMED: usize = 8;

impl JobReport {
    /// Energy per uncompressed byte, both directions together.
    ///
    /// # Errors
    /// Where there is no energy.
    pub fn joules_per_byte(&self) -> Result<f64, Unavailable> {
        let joules = self.energy_j.clone()?;
        Ok(joules / self.metered_bytes as f64)
    }
}

/// Runs a job. `known` is the size report of an earlier job with the same blocks, codec and context: what is
/// timed is verified again, but blocks that are not timed are spared.
///
/// # Errors
/// When the job is not possible, the codec fails or gives back other bytes, or `stop` is raised.
pub fn run_job(
    blocks: &Blocks<'_>,
    spec: &JobSpec,
    known: Option<Arc<SizeReport>>,
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<JobReport, CompressError> {
    run_metered_job(blocks, spec, known, clock, stop, Meter::start)
}

/// As [`run_job`], with an energy meter of the caller's, started when the passes start.
///
/// # Errors
/// As [`run_job`].
pub fn run_metered_job(
    blocks: &Blocks<'_>,
    spec: &JobSpec,
    known: Option<Arc<SizeReport>>,
    clock: &Clock,
    stop: &AtomicBool,
    start_meter: impl FnOnce() -> Result<Meter, Unavailable>,
) -> Result<JobReport, CompressError> {
    spec.validate()?;
    let size = match known {
        Some(size) => size,
        None => Arc::new(SizeReport::measure(blocks, &spec.codec, spec.context, stop)?),
    };
    let (budget, indices) = plan(blocks, spec, clock);
    let timed_blocks = indices.len();
    let mut workers = workers(blocks, spec, &indices)?;
    let stage = Stage {
        blocks,
        caches: spec.caches,
        clock,
        stop,
        budget,
    };
    let meter = start_meter();
    let compress = stage.run(&mut workers, Direction::Compress)?;
    let decompress = stage.run(&mut workers, Direction::Decompress)?;
    let metered = meter.and_then(Meter::stop).map(|energy| energy.total.0);
    let energy_j = match spec.caches {
        Caches::Warm => metered,
        Caches::Cold => Err(Unavailable::because(
            "most of the energy was spent on making the caches cold",
        )),
    };
    for worker in &workers {
        worker.check(blocks, &spec.codec, &size.lengths)?;
    }
    Ok(JobReport {
        compress,
        decompress,
        energy_j,
        metered_bytes: workers.iter().map(Worker::passed_bytes).sum(),
        timed_blocks,
        notes: notes(blocks, spec, timed_blocks),
        size,
    })
}

/// How long each part lasts, and which blocks are timed: all of them, or every n-th when one pass over all would
/// not fit into the shortest part. That is a matter of arithmetic: by a timing, two runs of the same job would time other blocks.
fn plan(blocks: &Blocks<'_>, spec: &JobSpec, clock: &Clock) -> (Budget, Vec<usize>) {
    let total = clock.ticks_in(spec.duration);
    let budget = Budget {
        warm_up: clock.ticks_in(spec.warm_up),
        speed: total * SPEED_PERCENT / 100,
        latency: total * LATENCY_PERCENT / 100,
    };
    let count = blocks.as_slice().len();
    let mut pass_ns = assumed_compress_ns(&spec.codec, blocks.total_bytes());
    let mut percent = LATENCY_PERCENT;
    if spec.caches == Caches::Cold {
        pass_ns += Evictor::assumed_ns() * count as u64;
        percent += SPEED_PERCENT;
    }
    let room_ns = spec.duration.as_nanos() * u128::from(percent) / 100;
    let room_ns = u64::try_from(room_ns).unwrap_or(u64::MAX);
    // Threads share a pass.
    let fits = room_ns.saturating_mul(spec.threads as u64).max(1);
    let stride = (pass_ns / fits + 1).min((count / FEWEST_TIMED.max(spec.threads)).max(1) as u64);
    let stride = usize::try_from(stride).unwrap_or(usize::MAX);
    let offset = (spec.selection % stride as u64) as usize;
    (budget, (offset..count).step_by(stride).collect())
}

/// Thread i of T gets blocks i, i + T, …: the same mix for all. With fewer blocks than threads, several get the same.
fn workers<'s>(
    blocks: &Blocks<'s>,
    spec: &JobSpec,
    indices: &[usize],
) -> Result<Vec<Worker<'s>>, CompressError> {
    let cpus = allowed_cpus()?;
    (0..spec.threads)
        .map(|thread| {
            let mut share: Vec<usize> = indices
                .iter()
                .skip(thread)
                .step_by(spec.threads)
                .copied()
                .collect();
            if share.is_empty() {
                share = vec![indices[thread % indices.len()]];
            }
            Worker::new(
                cpus[thread % cpus.len()],
                &spec.codec,
                spec.context,
                blocks,
                share,
            )
        })
        .collect()
}

fn notes(blocks: &Blocks<'_>, spec: &JobSpec, timed: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let count = blocks.as_slice().len();
    if timed < count {
        notes.push(format!(
            "time for {timed} of {count} blocks only, spread evenly; other repetitions take other blocks"
        ));
    }
    let longest = blocks.as_slice().iter().map(|block| block.bytes.len()).max();
    if let Some(longest) = longest.filter(|longest| *longest < blocks.block_bytes()) {
        notes.push(format!(
            "no file fills a block of {} B: the longest block has {longest} B",
            blocks.block_bytes()
        ));
    }
    if spec.caches == Caches::Cold {
        notes.extend(Evictor::note());
    }
    notes
}
