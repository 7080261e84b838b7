//! zstd's stages over the blocks: match finding, literals, sequences, and the whole beside them.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_codec::CodecSpec;
use outcrop_codec::stages::{StageReport, StageTimer};
use outcrop_probe::Clock;
use outcrop_probe::cpu_time::thread_time_ns;

use crate::blocks::Blocks;
use crate::caches::Evictor;
use crate::cpus::{allowed_cpus, pin};
use crate::error::CompressError;
use crate::size::SizeReport;
use crate::speed::assumed_compress_ns;
use outcrop_workload::Caches;

/// Largest block that has stages: one block of zstd's own.
const LARGEST_BLOCK_BYTES: usize = 128 << 10;

/// What is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagesSpec {
    /// zstd's level.
    pub level: i32,
    /// What the caches hold before each stage.
    pub caches: Caches,
    /// Time measured.
    pub duration: Duration,
    /// Which of the blocks are taken when all of them take too long.
    pub selection: u64,
}

/// Mean times of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct StagesReport {
    /// Sums over all blocks, in nanoseconds of the thread's CPU time.
    pub total: StageReport,
    /// Blocks that went into the sums, repeated passes counted.
    pub blocks: u64,
    /// Incompressible blocks, which have no stages; each once.
    pub skipped: u64,
    /// What a reader of the figures must know.
    pub notes: Vec<String>,
}

impl StagesReport {
    /// Nanoseconds per block of one of the sums.
    pub fn mean_ns(&self, sum_ns: u64) -> f64 {
        sum_ns as f64 / self.blocks as f64
    }
}

/// Times the stages of every block with `size`, what the blocks become by the same level.
///
/// Times are the thread's CPU time: a stage of milliseconds seldom passes on a busy machine without being taken off its CPU, and
/// sums of parts that waited say nothing. Each block's stage is the median of three runs. Warm: a run ahead of the three does not count. Cold: before each *stage* the caches are
/// filled with other data and the block is flushed from them, so that no stage profits from the one before.
///
/// # Errors
/// When a block is larger than 128 KiB or no block has stages, the library fails, or `stop` is raised.
pub fn run_stages(
    blocks: &Blocks<'_>,
    spec: &StagesSpec,
    size: &SizeReport,
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<StagesReport, CompressError> {
    if blocks.block_bytes() > LARGEST_BLOCK_BYTES {
        let expected = "at most 128KiB: zstd splits larger ones into several blocks";
        return Err(CompressError::spec(
            "compression_block_size",
            &blocks.block_bytes(),
            expected,
        ));
    }
    let has_stages = |&index: &usize| (size.lengths[index] as usize) < blocks.as_slice()[index].bytes.len();
    let all: Vec<usize> = (0..blocks.as_slice().len()).filter(has_stages).collect();
    if all.is_empty() {
        return Err(CompressError::spec(
            "content",
            &"incompressible in every block",
            "data that zstd compresses: blocks that it stores uncompressed have no stages",
        ));
    }
    let indices = choose(&all, blocks, spec)?;
    let cpu = allowed_cpus()?.first().copied().unwrap_or(0);
    let timed = std::thread::scope(|scope| {
        let handle = scope.spawn(|| {
            pin(cpu)?;
            time(blocks, spec, &indices, clock, stop)
        });
        // A panic in the worker is a bug, and goes on as one.
        handle
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let (total, timed) = timed?;
    let skipped = (blocks.as_slice().len() - all.len()) as u64;
    let mut notes: Vec<String> = Vec::new();
    if indices.len() < all.len() {
        notes.push(format!(
            "time for {} of {} blocks only, spread evenly; other repetitions take other blocks",
            indices.len(),
            all.len()
        ));
    }
    if spec.caches == Caches::Cold {
        notes.extend(Evictor::note());
    }
    Ok(StagesReport {
        total,
        blocks: timed,
        skipped,
        notes,
    })
}

/// Every n-th block, such that one pass takes no longer than the duration.
fn choose(all: &[usize], blocks: &Blocks<'_>, spec: &StagesSpec) -> Result<Vec<usize>, CompressError> {
    // The whole and its parts, a little more than twice the whole, four times over when warm.
    const RUNS_PER_BLOCK: u64 = 9;
    let codec: CodecSpec = format!("zstd:{}", spec.level).parse()?;
    let pass_ns = assumed_compress_ns(&codec, blocks.total_bytes()).saturating_mul(RUNS_PER_BLOCK);
    let room_ns = u64::try_from(spec.duration.as_nanos()).unwrap_or(u64::MAX).max(1);
    let stride = usize::try_from(pass_ns / room_ns + 1)
        .unwrap_or(usize::MAX)
        .min(all.len().div_ceil(4));
    let offset = (spec.selection % stride as u64) as usize;
    Ok(all.iter().skip(offset).step_by(stride).copied().collect())
}

fn time(
    blocks: &Blocks<'_>,
    spec: &StagesSpec,
    indices: &[usize],
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<(StageReport, u64), CompressError> {
    let mut timer = StageTimer::new(spec.level)?;
    let evictor = (spec.caches == Caches::Cold).then(Evictor::new);
    let budget = clock.ticks_in(spec.duration);
    let started = clock.ticks();
    let (mut total, mut count): (Option<StageReport>, u64) = (None, 0);
    loop {
        for &index in indices {
            if stop.load(Ordering::Relaxed) {
                return Err(CompressError::Interrupted);
            }
            let block = blocks.as_slice()[index].bytes;
            let failed = |source| CompressError::Codec {
                origin: blocks.origin(index),
                source,
            };
            let mut run = || match &evictor {
                Some(evictor) => timer.run(block, chilling(evictor, block)),
                None => timer.run(block, thread_time_ns),
            };
            if evictor.is_none() {
                run().map_err(failed)?;
            }
            let mut another = || run().map_err(failed);
            let report = StageReport::median([another()?, another()?, another()?]);
            total = Some(total.map_or(report, |sum| sum.plus(report)));
            count += 1;
        }
        let took = clock.ticks().saturating_sub(started);
        if took >= budget
            && let Some(total) = total
        {
            return Ok((total, count));
        }
    }
}

/// Time of this thread that chills the caches ahead of every start. The timer reads it in pairs: a stage's start, its end.
fn chilling<'c>(evictor: &'c Evictor, block: &'c [u8]) -> impl Fn() -> u64 + 'c {
    let is_start = Cell::new(true);
    move || {
        if is_start.replace(!is_start.get()) {
            evictor.evict(block, &[]);
        }
        thread_time_ns()
    }
}
