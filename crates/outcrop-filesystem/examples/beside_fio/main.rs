//! Our cold reads and fio's, on the same mount, the same offsets and the same CPU, in turns: what `benchmarks/filesystem` prints.
//!
//! `beside_fio DIRECTORY ROUNDS DEPTHS [DATA]`, as root; depths are separated by commas.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

mod fio;
mod pass;
mod table;

use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_compress::allowed_cpus;
use outcrop_filesystem::{Filesystem, Image, JobSpec, Prepared, image_bytes};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_workload::EngineKind;
use outcrop_workload::filesystem::FilesystemKind;
use rustix::event::Timespec;

use fio::{Fio, HandsOver};
use pass::{Pass, Placement};
use table::Configuration;

/// Enough reads for fio's clocks, which count whole milliseconds: 2,048 in a pass.
const DATA_BYTES: usize = 256 << 20;
/// Between eviction and the first read: fio takes a part of it to start, and in it the kernel lets go what eviction left to it.
const PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 300_000_000,
};

/// What all tools did with the same offsets, with their readers in the same place.
struct Round {
    placement: Placement,
    ours: Pass,
    /// By how it hands over.
    fio: Vec<Pass>,
}

/// The rounds of one configuration, and fio with one read: what its start costs, and what the kernel's threads do anyway in that time.
struct Rounds {
    rounds: Vec<Round>,
    starts: Vec<Pass>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments
        .next()
        .ok_or("usage: beside_fio DIRECTORY ROUNDS DEPTHS [DATA]")?;
    let rounds: u64 = arguments.next().unwrap_or_default().parse()?;
    if rounds < 6 {
        return Err("give 6 rounds or more: a pair in each of three placements".into());
    }
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
    let mut measured = Vec::new();
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
            let hands_over = HandsOver::of_depth(depth);
            measured.push(Configuration {
                compression,
                depth,
                hands_over,
                stored_ratio: prepared.stored().map_or(f64::NAN, |stored| stored.ratio()),
                rounds: in_turns(&prepared, &spec, rounds, hands_over, Path::new(&directory))?,
            });
        }
    }
    table::print(&measured);
    Ok(())
}

/// Rounds of ours and of fio's, with both readers on one CPU, on another, and where the scheduler likes.
///
/// Placements change from pair to pair of rounds. The second round of a pair has the order of the first from behind (A B B A), so that a
/// machine that grows slower all the while slows each as much; the pairs of a placement begin with another one each, since what the
/// first leaves behind would be the other's advantage.
fn in_turns(
    prepared: &Prepared<'_>,
    spec: &JobSpec,
    rounds: u64,
    hands_over: &[HandsOver],
    directory: &Path,
) -> Result<Rounds, Box<dyn Error>> {
    let cpus = allowed_cpus()?;
    let (Some(first), Some(last)) = (cpus.first(), cpus.last()) else {
        return Err("there is no CPU".into());
    };
    let placements = [Placement::Bound(*first), Placement::Bound(*last), Placement::Free];
    let path = prepared.path().ok_or("there is no file")?;
    let fio = |hands_over, placement| Fio {
        prepared,
        path: &path,
        spec,
        directory,
        hands_over,
        placement,
    };
    let make_cold = || -> Result<(), Box<dyn Error>> {
        prepared.evict()?;
        rustix::event::poll(&mut [], Some(&PAUSE))?;
        Ok(())
    };
    let mut measured = Rounds {
        rounds: Vec::new(),
        starts: Vec::new(),
    };
    for round in 0..rounds {
        let (seed, pair) = (Seed(100 + round), (round / 2) as usize);
        let placement = placements[pair % placements.len()];
        let tools = hands_over.len() + 1;
        let mut order: Vec<usize> = (0..tools).collect();
        order.rotate_left(pair / placements.len() % tools);
        if round % 2 == 1 {
            order.reverse();
        }
        let mut passes = vec![None; tools];
        for tool in order {
            make_cold()?;
            passes[tool] = Some(match tool.checked_sub(1) {
                None => Pass::of_ours(prepared, placement, &cpus, seed)?,
                Some(way) => fio(hands_over[way], placement).pass(usize::MAX, seed)?,
            });
        }
        let mut passes = passes.into_iter().flatten();
        measured.rounds.push(Round {
            placement,
            ours: passes.next().ok_or("ours did not run")?,
            fio: passes.collect(),
        });
        if round % 2 == 0 {
            make_cold()?;
            measured
                .starts
                .push(fio(HandsOver::OneByOne, placement).pass(1, seed)?);
        }
    }
    Ok(measured)
}
