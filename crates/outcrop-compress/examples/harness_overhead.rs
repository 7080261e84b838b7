//! What measuring costs: the codec `none` in 4 KiB blocks through the profiler, beside a plain loop of memcpy over the
//! same bytes, in turns. Prints the median of the rounds' ratios and their range.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_compress::{Blocks, JobSpec, Source, run_job};
use outcrop_measure::interval::median;
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;

const BLOCK_BYTES: usize = 4096;
const ROUNDS: usize = 31;
const ROUND: Duration = Duration::from_millis(60);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stop = AtomicBool::new(false);
    let clock = Clock::new();
    let sample = Source::embedded()?.draw(16 << 20, BLOCK_BYTES as u64, Seed(1), &stop)?;
    let blocks = Blocks::cut(&sample, BLOCK_BYTES);
    let spec = JobSpec {
        warm_up: Duration::from_millis(10),
        ..JobSpec::new("none".parse()?, ROUND)
    };
    let first = run_job(&blocks, &spec, None, &clock, &stop)?;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let before = memcpy_bytes_per_second(&blocks, &clock);
        let report = run_job(&blocks, &spec, Some(first.size.clone()), &clock, &stop)?;
        let after = memcpy_bytes_per_second(&blocks, &clock);
        let memcpy = f64::midpoint(before, after);
        ratios.push(memcpy / report.compress.bytes_per_second());
    }
    let median = median(&ratios).unwrap_or(f64::NAN);
    ratios.sort_by(f64::total_cmp);
    println!(
        "none through the profiler takes {median:.4} of a memcpy's time at {BLOCK_BYTES} B (middle half of {ROUNDS} rounds: {:.4} to {:.4})",
        ratios[ROUNDS / 4],
        ratios[ROUNDS * 3 / 4]
    );
    println!(
        "memcpy {:.2} GB/s, {} blocks of {:.0} ns",
        memcpy_bytes_per_second(&blocks, &clock) / 1e9,
        blocks.as_slice().len(),
        BLOCK_BYTES as f64 / memcpy_bytes_per_second(&blocks, &clock) * 1e9
    );
    Ok(())
}

/// The same blocks, copied one behind the other.
fn memcpy_bytes_per_second(blocks: &Blocks<'_>, clock: &Clock) -> f64 {
    let mut target = vec![1_u8; blocks.total_bytes()];
    let until = clock.ticks_in(ROUND * 30 / 100);
    let mut copy = || {
        let mut rest = target.as_mut_slice();
        for block in blocks.as_slice() {
            let (front, behind) = rest.split_at_mut(block.bytes.len());
            front.copy_from_slice(black_box(block.bytes));
            rest = behind;
        }
        black_box(&mut target);
    };
    copy();
    let (started, mut passes) = (clock.ticks(), 0);
    loop {
        copy();
        passes += 1;
        let took = clock.ticks() - started;
        if took >= until {
            let bytes = (blocks.total_bytes() * passes) as f64;
            return bytes / (clock.nanos(took) as f64 / 1e9);
        }
    }
}
