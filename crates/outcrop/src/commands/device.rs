//! `outcrop device`: one layer, one-off, a flag for each factor.

use super::plan_flags::PlanFlags;
use crate::exit::Ending;
use crate::session;
use outcrop_lab::{Draft, PlanOptions, PlanSet};
use outcrop_measure::units::ByteSize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop device --queue-depth 1,32,256                        4 KiB random reads at three depths
  outcrop device --io-block-size 4k,64k --read-write-mix 70:30 --queue-depth 8
  outcrop device --read-only /dev/nvme0n1 --queue-depth 32     what is there, never written
  outcrop device --arrival poisson:20k --queue-depth 64        open loop: latency from the schedule
  outcrop device --engine noop --format json                   what measuring itself costs

Several values, separated by commas, make a factor: every combination is a cell.";

/// Measure a storage device once, with flags for each factor
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A directory on the filesystem where a file of our own is made, measured and removed
    #[arg(default_value = ".", conflicts_with = "read_only")]
    path: PathBuf,
    /// Measure an existing file or block device instead; it is opened for reading only
    #[arg(long, value_name = "FILE")]
    read_only: Option<PathBuf>,
    /// How operations reach the kernel: io_uring, psync, noop
    #[arg(long, value_delimiter = ',', value_name = "ENGINE")]
    engine: Vec<String>,
    /// Where: random, sequential, zipfian:THETA, strided:BYTES
    #[arg(long, value_delimiter = ',', value_name = "PATTERN")]
    access_pattern: Vec<String>,
    /// Bytes per operation: 4k, 128KiB
    #[arg(long, value_delimiter = ',', value_name = "BYTES")]
    io_block_size: Vec<String>,
    /// Reads to writes in per cent: 100:0, 70:30
    #[arg(long, value_delimiter = ',', value_name = "R:W")]
    read_write_mix: Vec<String>,
    /// Operations in flight per job
    #[arg(long, value_delimiter = ',', value_name = "N")]
    queue_depth: Vec<String>,
    /// Threads, each with its own queue
    #[arg(long, value_delimiter = ',', value_name = "N")]
    jobs: Vec<String>,
    /// When operations start: closed, constant:RATE, poisson:RATE, etc:RATE
    #[arg(long, value_delimiter = ',', value_name = "ARRIVAL")]
    arrival: Vec<String>,
    /// What is written: random, zeros, entropy:BITS, compressible:RATIO
    #[arg(long, value_delimiter = ',', value_name = "CONTENT")]
    content: Vec<String>,
    /// Size of the file that is measured [default: as the plan says]
    #[arg(long, value_name = "BYTES")]
    size: Option<ByteSize>,
    #[command(flatten)]
    flags: PlanFlags,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let options = PlanOptions {
        directory: Some(args.path.clone()),
        size: args.size,
        ..args.flags.options()
    };
    let set = PlanSet::from_drafts(vec![draft(args)], &options).map_err(session::lab_error)?;
    session::start(&set, "device", &args.flags)
}

fn draft(args: &Args) -> Draft {
    let mut draft = Draft::new(
        "device",
        "What does this device give?",
        "device",
        "outcrop device",
    );
    draft = match &args.read_only {
        Some(path) => draft
            .with_subject("kind", "read-only", "--read-only")
            .with_subject("path", &path.to_string_lossy(), "--read-only"),
        None => draft.with_subject("kind", "scratch-file", "PATH"),
    };
    draft.with_flags(&[
        ("engine", "--engine", &args.engine),
        ("access_pattern", "--access-pattern", &args.access_pattern),
        ("io_block_size", "--io-block-size", &args.io_block_size),
        ("read_write_mix", "--read-write-mix", &args.read_write_mix),
        ("queue_depth", "--queue-depth", &args.queue_depth),
        ("jobs", "--jobs", &args.jobs),
        ("arrival", "--arrival", &args.arrival),
        ("content", "--content", &args.content),
    ])
}
