//! `outcrop device`: one layer, one-off, a flag for each factor.

use super::factor_flags::{FactorFlags, OneOff, Spell};
use super::fio_words::{self, FioWords};
use super::plan_flags::PlanFlags;
use crate::exit::Ending;
use crate::session;
use outcrop_lab::{Draft, PlanOptions, PlanSet};
use outcrop_measure::units::ByteSize;
use outcrop_schema::{FactorRef, LayerSchema, device};
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
    /// A directory on the filesystem to measure, through a scratch file that is removed
    #[arg(default_value = ".", conflicts_with = "read_only")]
    path: PathBuf,
    /// Measure an existing file or block device instead; it is opened for reading only
    #[arg(long, value_name = "FILE")]
    read_only: Option<PathBuf>,
    #[command(flatten)]
    factors: FactorFlags<Device>,
    /// Size of the file that is measured [default: as the plan says]
    #[arg(long, value_name = "BYTES")]
    size: Option<ByteSize>,
    #[command(flatten)]
    fio: FioWords,
    #[command(flatten)]
    flags: PlanFlags,
}

#[derive(Debug)]
pub(crate) struct Device;

impl OneOff for Device {
    const SCHEMA: &'static LayerSchema = &device::SCHEMA;
    const ALIASES: &'static [(FactorRef, &'static str)] = fio_words::ALIASES;
    const SPELL: Spell = fio_words::SPELL;
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let options = PlanOptions {
        directory: Some(args.path.clone()),
        size: args.size,
        ..args.flags.options()
    };
    let set = PlanSet::from_drafts(vec![draft(args)?], &options).map_err(session::lab_error)?;
    session::start(&set, "device", &args.flags)
}

fn draft(args: &Args) -> anyhow::Result<Draft> {
    let mut draft = Draft::new(
        "device",
        "What does this device give?",
        device::SCHEMA.name,
        "outcrop device",
    );
    draft = match &args.read_only {
        Some(path) => draft
            .with_subject(&device::KIND, device::Kind::ReadOnly.name(), "--read-only")
            .with_subject(&device::PATH, &path.to_string_lossy(), "--read-only"),
        None => draft.with_subject(&device::KIND, device::Kind::ScratchFile.name(), "PATH"),
    };
    // What our own flags say stands over what fio's do.
    Ok(args.factors.write_over(args.fio.write_over(draft)?))
}
