//! Our cold reads and fio's, on the same mount and the same offsets, in turns: what `benchmarks/filesystem` prints.
//!
//! `beside_fio DIRECTORY ROUNDS [DATA]`, as root.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use outcrop_filesystem::{Costs, Filesystem, Image, JobSpec, Prepared, image_bytes};
use outcrop_measure::interval::median;
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_workload::EngineKind;
use outcrop_workload::filesystem::FilesystemKind;
use rustix::event::Timespec;

/// Enough reads for fio's clocks, which count whole milliseconds: 2,048 in a pass.
const DATA_BYTES: usize = 256 << 20;
/// Between eviction and the first read: fio takes a part of it to start, and in it the kernel lets go what eviction left to it.
const PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 300_000_000,
};
/// fio cuts user time and system time to whole milliseconds: on average it loses half of one each.
const CUT_NS: f64 = 1e6;

/// What one round of one tool gave.
#[derive(Clone, Copy)]
struct Round {
    iops: f64,
    process_us: f64,
    kernel_us: f64,
    amplification: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments
        .next()
        .ok_or("usage: beside_fio DIRECTORY ROUNDS [DATA]")?;
    let rounds: u64 = arguments.next().unwrap_or_default().parse()?;
    let stop = AtomicBool::new(false);
    let source = match arguments.next() {
        Some(path) => outcrop_compress::Source::open(Path::new(&path))?,
        None => outcrop_compress::Source::embedded()?,
    };
    let sample = source.draw(DATA_BYTES as u64, 128 << 10, Seed(1), &stop)?;
    let data: Vec<u8> = sample.bytes().iter().copied().cycle().take(DATA_BYTES).collect();
    let bytes = image_bytes(DATA_BYTES as u64);
    let image = Image::create(Path::new(&directory), bytes, Seed(1), &stop, &mut |_, _| {})?;
    let clock = Clock::new();
    println!(
        "| btrfs | depth | IOPS | process CPU | kernel-thread CPU | read for each: ours, fio | stored ratio |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for compression in ["none", "zstd:3"] {
        let filesystem = Filesystem::new(FilesystemKind::Btrfs).with(compression.parse()?);
        for depth in [1, 16] {
            let engine = if depth > 1 {
                EngineKind::IoUring
            } else {
                EngineKind::Psync
            };
            let spec = JobSpec {
                queue_depth: depth,
                engine,
                ..JobSpec::new(Seed(2))
            };
            let prepared = Prepared::new(&image, &filesystem, &spec, &data, &clock, &stop)?;
            let (mut ours, mut fios) = (Vec::new(), Vec::new());
            for round in 0..rounds {
                let seed = Seed(100 + round);
                // Who comes first changes: what the first leaves behind would be the other's advantage.
                for turn in 0..2 {
                    prepared.evict()?;
                    rustix::event::poll(&mut [], Some(&PAUSE))?;
                    if (round + turn) % 2 == 0 {
                        let phase = prepared.pass(seed)?;
                        let process_ns = phase.costs.process_ns as f64;
                        ours.push(of(
                            phase.per_second(),
                            phase.operations,
                            process_ns,
                            &phase.costs,
                        )?);
                    } else {
                        fios.push(fio(&prepared, &spec, seed, Path::new(&directory))?);
                    }
                }
            }
            print(compression, depth, &ours, &fios, &prepared);
        }
    }
    Ok(())
}

/// One row: medians over the rounds, of ours over fio's in the same round.
fn print(compression: &str, depth: u32, ours: &[Round], fios: &[Round], prepared: &Prepared<'_>) {
    let quotient = |figure: fn(&Round) -> f64| {
        let pairs = ours.iter().zip(fios);
        let each: Vec<f64> = pairs.map(|(ours, fio)| figure(ours) / figure(fio)).collect();
        median(&each).unwrap_or(f64::NAN)
    };
    let middle = |rounds: &[Round]| {
        let each: Vec<f64> = rounds.iter().map(|round| round.amplification).collect();
        median(&each).unwrap_or(f64::NAN)
    };
    println!(
        "| {compression} | {depth} | {:.3} | {:.2} | {:.2} | {:.3}, {:.3} | {:.3} |",
        quotient(|round| round.iops),
        quotient(|round| round.process_us),
        quotient(|round| round.kernel_us),
        middle(ours),
        middle(fios),
        prepared.stored().map_or(f64::NAN, |stored| stored.ratio())
    );
}

fn of(iops: f64, operations: u64, process_ns: f64, costs: &Costs) -> Result<Round, Box<dyn Error>> {
    let operations = operations.max(1) as f64;
    Ok(Round {
        iops,
        process_us: process_ns / operations / 1e3,
        kernel_us: costs.kernel_ns.clone()? as f64 / operations / 1e3,
        amplification: costs.device.clone()?.read_bytes as f64 / (operations * 4096.0),
    })
}

/// One pass of fio over the same offsets, from a log of them.
fn fio(
    prepared: &Prepared<'_>,
    spec: &JobSpec,
    seed: Seed,
    directory: &Path,
) -> Result<Round, Box<dyn Error>> {
    let path = prepared.path().ok_or("there is no file")?.display().to_string();
    let offsets = prepared.offsets(seed);
    let mut log = format!("fio version 2 iolog\n{path} add\n{path} open\n");
    for offset in &offsets {
        writeln!(log, "{path} read {offset} {}", spec.io_block_bytes)?;
    }
    writeln!(log, "{path} close")?;
    let place = tempfile::NamedTempFile::new_in(directory)?;
    std::fs::write(place.path(), log)?;
    let engine = if spec.queue_depth > 1 { "io_uring" } else { "psync" };
    let mut command = Command::new("fio");
    command
        .args([
            "--name=beside",
            "--readonly",
            "--fadvise_hint=random",
            "--replay_no_stall=1",
        ])
        .arg("--output-format=json")
        .arg(format!("--read_iolog={}", place.path().display()))
        .arg(format!("--ioengine={engine}"))
        .arg(format!("--iodepth={}", spec.queue_depth));
    let (output, costs) = prepared.costs_of(|| command.output());
    let output = output?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |name: &str| -> Result<f64, Box<dyn Error>> {
        let after = text.split(&format!("\"{name}\" : ")).nth(1);
        let after = after.ok_or_else(|| format!("fio says no {name}: {text}"))?;
        let digits = after.split(|c: char| !(c.is_ascii_digit() || c == '.')).next();
        Ok(digits.unwrap_or_default().parse()?)
    };
    let runtime_ns = number("job_runtime")? * 1e6;
    let cpu_percent = number("usr_cpu")? + number("sys_cpu")?;
    let process_ns = runtime_ns * cpu_percent / 100.0 + CUT_NS;
    of(number("iops")?, offsets.len() as u64, process_ns, &costs)
}
