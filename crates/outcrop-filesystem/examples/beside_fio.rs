//! Our cold reads and fio's, on the same mount and the same offsets, in turns: what `benchmarks/filesystem` prints.
//!
//! `beside_fio DIRECTORY ROUNDS DEPTHS [DATA]`, as root; depths are separated by commas.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use outcrop_filesystem::{Costs, Filesystem, Image, JobSpec, Prepared, image_bytes};
use outcrop_measure::interval::{median, median_interval};
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

/// What one pass of one tool said and cost.
#[derive(Clone, Copy)]
struct Pass {
    iops: f64,
    operations: f64,
    /// CPU time of the process, for each operation.
    process_us: f64,
    /// The same as fio prints it, without what it cuts off; of ours there is nothing to add.
    process_as_printed_us: f64,
    kernel_ns: f64,
    read_bytes: f64,
}

impl Pass {
    /// The same without what a tool costs that starts and reads a single block.
    fn less(self, start: &Self) -> Self {
        Self {
            operations: self.operations - start.operations,
            kernel_ns: self.kernel_ns - start.kernel_ns,
            read_bytes: self.read_bytes - start.read_bytes,
            ..self
        }
    }

    fn kernel_us(&self) -> f64 {
        self.kernel_ns / self.operations / 1e3
    }

    fn amplification(&self) -> f64 {
        self.read_bytes / (self.operations * 4096.0)
    }
}

/// The passes of one configuration, by tool.
#[derive(Default)]
struct Passes {
    ours: Vec<Pass>,
    fio: Vec<Pass>,
    /// fio with one read: what its start costs, and what the kernel's threads do anyway in that time.
    start: Vec<Pass>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments
        .next()
        .ok_or("usage: beside_fio DIRECTORY ROUNDS DEPTHS [DATA]")?;
    let rounds: u64 = arguments.next().unwrap_or_default().parse()?;
    let depths = arguments.next().unwrap_or_default();
    let depths: Vec<u32> = depths.split(',').map(str::parse).collect::<Result<_, _>>()?;
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
        "| btrfs | depth | IOPS | process CPU | and with fio's as printed | kernel-thread CPU | and with fio's start | start of fio, ms | read \
         for each: ours, fio | stored ratio |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for compression in ["none", "zstd:3"] {
        let filesystem = Filesystem::new(FilesystemKind::Btrfs).with(compression.parse()?);
        for depth in depths.iter().copied() {
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
            let passes = in_turns(&prepared, &spec, rounds, Path::new(&directory))?;
            print(compression, depth, &passes, &prepared);
        }
    }
    Ok(())
}

/// Rounds of ours, fio and fio with one read. Every second round has the order of the one before it from behind (A B C C B A), so that a
/// machine that grows slower all the while slows each as much; each pair of rounds begins with another one, since what the first leaves
/// behind would be the other's advantage.
fn in_turns(
    prepared: &Prepared<'_>,
    spec: &JobSpec,
    rounds: u64,
    directory: &Path,
) -> Result<Passes, Box<dyn Error>> {
    let mut passes = Passes::default();
    for round in 0..rounds {
        let seed = Seed(100 + round);
        for turn in 0..3 {
            prepared.evict()?;
            rustix::event::poll(&mut [], Some(&PAUSE))?;
            let place = if round % 2 == 0 { turn } else { 2 - turn };
            match (round / 2 + place) % 3 {
                0 => passes.ours.push(ours(prepared, seed)?),
                1 => passes.fio.push(fio(prepared, spec, usize::MAX, seed, directory)?),
                _ => passes.start.push(fio(prepared, spec, 1, seed, directory)?),
            }
        }
    }
    Ok(passes)
}

/// One row: medians over the rounds, of ours over fio's in the same round.
///
/// Ours is counted from the first read to the last, fio's from its start to its end: the median cost of the start is taken off.
fn print(compression: &str, depth: u32, passes: &Passes, prepared: &Prepared<'_>) {
    let middle = |of: &[Pass], figure: fn(&Pass) -> f64| {
        let each: Vec<f64> = of.iter().map(figure).collect();
        median(&each).unwrap_or(f64::NAN)
    };
    // With its interval: a round varies by more than the difference that is looked for.
    let quotient = |fio: &[Pass], ours: fn(&Pass) -> f64, theirs: fn(&Pass) -> f64| {
        let pairs = passes.ours.iter().zip(fio);
        let each: Vec<f64> = pairs.map(|(one, other)| ours(one) / theirs(other)).collect();
        match median_interval(&each) {
            Some(found) => format!("{:.3} ({:.3}–{:.3})", found.estimate, found.low, found.high),
            None => format!("{:.3}", median(&each).unwrap_or(f64::NAN)),
        }
    };
    let Some(one) = passes.start.first() else { return };
    let start = Pass {
        kernel_ns: middle(&passes.start, |pass| pass.kernel_ns),
        read_bytes: middle(&passes.start, |pass| pass.read_bytes),
        ..*one
    };
    let whole = passes.fio.as_slice();
    let fio: Vec<Pass> = whole.iter().map(|pass| pass.less(&start)).collect();
    println!(
        "| {compression} | {depth} | {} | {} | {} | {} | {} | {:.1} | {:.3}, {:.3} | {:.3} |",
        quotient(whole, |ours| ours.iops, |fio| fio.iops),
        quotient(whole, |ours| ours.process_us, |fio| fio.process_us),
        quotient(whole, |ours| ours.process_us, |fio| fio.process_as_printed_us),
        quotient(&fio, Pass::kernel_us, Pass::kernel_us),
        quotient(whole, Pass::kernel_us, Pass::kernel_us),
        start.kernel_ns / 1e6,
        middle(&passes.ours, Pass::amplification),
        middle(&fio, Pass::amplification),
        prepared.stored().map_or(f64::NAN, |stored| stored.ratio())
    );
}

/// A pass whose process took `process_ns`, and as its tool prints it `printed_ns`.
fn of(
    iops: f64,
    operations: u64,
    (process_ns, printed_ns): (f64, f64),
    costs: &Costs,
) -> Result<Pass, Box<dyn Error>> {
    let operations = operations.max(1) as f64;
    Ok(Pass {
        iops,
        operations,
        process_us: process_ns / operations / 1e3,
        process_as_printed_us: printed_ns / operations / 1e3,
        kernel_ns: costs.kernel_ns.clone()? as f64,
        read_bytes: costs.device.clone()?.read_bytes as f64,
    })
}

/// One pass of ours.
fn ours(prepared: &Prepared<'_>, seed: Seed) -> Result<Pass, Box<dyn Error>> {
    let phase = prepared.pass(seed)?;
    let process_ns = phase.costs.process_ns as f64;
    of(
        phase.per_second(),
        phase.operations,
        (process_ns, process_ns),
        &phase.costs,
    )
}

/// One pass of fio over the same offsets, or the first few of them, from a log.
fn fio(
    prepared: &Prepared<'_>,
    spec: &JobSpec,
    most: usize,
    seed: Seed,
    directory: &Path,
) -> Result<Pass, Box<dyn Error>> {
    let path = prepared.path().ok_or("there is no file")?.display().to_string();
    let mut offsets = prepared.offsets(seed);
    offsets.truncate(most);
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
    let printed_ns = runtime_ns * cpu_percent / 100.0;
    let process_ns = (printed_ns + CUT_NS, printed_ns);
    of(number("iops")?, offsets.len() as u64, process_ns, &costs)
}
