//! Runs one job on a file and prints its report as JSON: for comparing with other tools and for looking at
//! the engine alone.
//!
//! `device_job PATH|null key=value…`, keys: engine, io_block_size, queue_depth, jobs, access_pattern,
//! read_write_mix, arrival, warm_up, duration, submission (refill, batch), seed. A directory as PATH means
//! a scratch file in it, with `size`.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_device::{JobSpec, ReadOnlyTarget, ScratchFile, Submission, Target, run_job};
use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::seed::Seed;
use outcrop_measure::units::{ByteSize, TimeSpan};
use outcrop_probe::clock::Clock;

#[expect(clippy::print_stdout, reason = "an example's output is its purpose")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: device_job PATH|null key=value…")?;
    let mut spec = JobSpec::new(Seed(1));
    let mut size = ByteSize::mib(256);
    for argument in arguments {
        let (key, value) = argument
            .split_once('=')
            .ok_or_else(|| format!("`{argument}` is not key=value"))?;
        match key {
            "size" => size = value.parse()?,
            _ => set(&mut spec, key, value)?,
        }
    }
    let stop = AtomicBool::new(false);
    let target = match Path::new(&path) {
        _ if path == "null" => Target::Null,
        directory if directory.is_dir() => Target::Scratch(ScratchFile::create(
            directory,
            size.bytes(),
            &spec.content,
            spec.seed,
            &stop,
            &mut |_, _| {},
        )?),
        file => Target::ReadOnly(ReadOnlyTarget::open(file)?),
    };
    let report = run_job(&target, &spec, &Clock::new(), &stop)?;
    let total = report.total();
    let operations = total.reads.operations + total.writes.operations;
    let seconds = report.duration_ns as f64 / 1e9;
    let features: Vec<String> = report
        .engine_features
        .iter()
        .map(|feature| format!("\"{feature}\""))
        .collect();
    println!(
        "{{\"iops\": {:.1}, \"operations\": {operations}, \"cpu_us_per_io\": {:.4}, \"user_us_per_io\": {:.4}, \
         \"achieved_queue_depth\": {:.3}, \"reads\": {}, \"writes\": {}, \"errors\": {}, \"features\": [{}], \
         \"warnings\": {:?}, \"arrival\": \"{:?}\"}}",
        operations as f64 / seconds,
        report.cpu.total_ns() as f64 / 1e3 / operations.max(1) as f64,
        report.cpu.user_ns as f64 / 1e3 / operations.max(1) as f64,
        report.achieved_queue_depth,
        latency(&total.reads.latency),
        latency(&total.writes.latency),
        report.errors.reads + report.errors.writes,
        features.join(", "),
        report.warnings,
        report.arrival,
    );
    Ok(())
}

fn set(spec: &mut JobSpec, key: &str, value: &str) -> Result<(), Box<dyn Error>> {
    match key {
        "engine" => spec.engine = value.parse()?,
        "io_block_size" => spec.io_block_size_bytes = value.parse::<ByteSize>()?.bytes(),
        "queue_depth" => spec.queue_depth = value.parse()?,
        "jobs" => spec.jobs = value.parse()?,
        "access_pattern" => spec.access_pattern = value.parse()?,
        "read_write_mix" => spec.read_write_mix = value.parse()?,
        "arrival" => spec.arrival = value.parse()?,
        "content" => spec.content = value.parse()?,
        "warm_up" => spec.warm_up = value.parse::<TimeSpan>()?.duration(),
        "duration" => spec.duration = value.parse::<TimeSpan>()?.duration(),
        "seed" => spec.seed = value.parse()?,
        "submission" => {
            spec.submission = match value {
                "refill" => Submission::Refill,
                "batch" => Submission::Batch,
                other => return Err(format!("submission `{other}` is neither refill nor batch").into()),
            }
        }
        other => return Err(format!("unknown key `{other}`").into()),
    }
    Ok(())
}

fn latency(histogram: &LatencyHistogram) -> String {
    let quantile = |q| {
        histogram
            .percentile(q)
            .map_or_else(|| "null".to_owned(), |ns| ns.to_string())
    };
    format!(
        "{{\"p50_ns\": {}, \"p99_ns\": {}, \"p999_ns\": {}, \"max_ns\": {}}}",
        quantile(0.5),
        quantile(0.99),
        quantile(0.999),
        histogram
            .max()
            .map_or_else(|| "null".to_owned(), |ns| ns.to_string())
    )
}
