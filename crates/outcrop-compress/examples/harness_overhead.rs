//! What measuring costs: the codec `none` in 4 KiB blocks through the profiler, beside a plain loop of memcpy over the
//! same bytes, in short turns on one CPU, by CPU time. Prints the median of the rounds' ratios and its 95 % interval.
//!
//! `harness_overhead [ROUNDS]`: 1000 take half a minute.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_compress::{Blocks, JobSpec, Source, allowed_cpus, run_job};
use outcrop_measure::interval::{median, median_interval};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_probe::cpu_time::thread_time_ns;
use rustix::thread::{CpuSet, sched_setaffinity};

const BLOCK_BYTES: usize = 4096;
const ROUNDS: usize = 1000;
/// A job: three tenths of it compress.
const ROUND: Duration = Duration::from_millis(10);
const MEMCPY: Duration = Duration::from_millis(3);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(ROUNDS), |text| text.parse())?;
    let mut only = CpuSet::new();
    only.set(*allowed_cpus()?.last().ok_or("no CPU")?);
    sched_setaffinity(None, &only)?;
    let stop = AtomicBool::new(false);
    let clock = Clock::new();
    let sample = Source::embedded()?.draw(16 << 20, BLOCK_BYTES as u64, Seed(1), &stop)?;
    let blocks = Blocks::cut(&sample, BLOCK_BYTES);
    let spec = JobSpec::new("none".parse()?, ROUND);
    let first = run_job(&blocks, &spec, None, &clock, &stop)?;
    let (mut ratios, mut memcpys) = (Vec::new(), Vec::new());
    let mut before = in_a_thread(&blocks, &clock)?;
    for _ in 0..rounds {
        let report = run_job(&blocks, &spec, Some(first.size.clone()), &clock, &stop)?;
        let after = in_a_thread(&blocks, &clock)?;
        let memcpy = f64::midpoint(before, after);
        let none = report.compress.cpu_ns_per_byte().ok_or("no CPU time")?;
        ratios.push(none / memcpy);
        memcpys.push(memcpy);
        before = after;
    }
    let interval = median_interval(&ratios).ok_or("too few rounds")?;
    println!(
        "none through the profiler takes {:.4} of a memcpy's CPU time at {BLOCK_BYTES} B (median of {rounds} rounds, 95 % interval {:.4} to {:.4})",
        median(&ratios).unwrap_or(f64::NAN),
        interval.low,
        interval.high
    );
    let memcpy = median(&memcpys).unwrap_or(f64::NAN);
    println!(
        "memcpy {:.2} GB/s, {} blocks of {:.0} ns",
        1.0 / memcpy,
        blocks.as_slice().len(),
        BLOCK_BYTES as f64 * memcpy
    );
    Ok(())
}

/// In a thread that was made a moment ago, as the profiler's are.
fn in_a_thread(blocks: &Blocks<'_>, clock: &Clock) -> Result<f64, &'static str> {
    let joined = std::thread::scope(|scope| scope.spawn(|| memcpy_ns_per_byte(blocks, clock)).join());
    joined.map_err(|_| "the memcpy panicked")
}

/// The same blocks, copied one behind the other into memory of their own, as the profiler's is.
///
/// Like the profiler's, a pass costs one reading of the counter; CPU time is asked of the kernel at both ends only.
fn memcpy_ns_per_byte(blocks: &Blocks<'_>, clock: &Clock) -> f64 {
    let mut target = vec![1_u8; blocks.total_bytes()];
    let mut copy = || {
        let mut rest = target.as_mut_slice();
        for block in blocks.as_slice() {
            let (front, behind) = rest.split_at_mut(block.bytes.len());
            front.copy_from_slice(block.bytes);
            rest = behind;
        }
        black_box(&mut target);
    };
    copy();
    let until = clock.ticks_in(MEMCPY);
    let (cpu_before, started, mut bytes) = (thread_time_ns(), clock.ticks(), 0);
    while clock.ticks() - started < until {
        copy();
        bytes += blocks.total_bytes();
    }
    (thread_time_ns() - cpu_before) as f64 / bytes as f64
}
