//! `outcrop filesystem`: filesystems on the user's data, one-off, a flag for each factor.

use super::factor_flags::{FactorFlags, OneOff, help_of};
use super::plan_flags::PlanFlags;
use crate::exit::{Ending, bad_input};
use crate::session;
use outcrop_lab::{Draft, PlanOptions, PlanSet};
use outcrop_measure::units::TimeSpan;
use outcrop_schema::LayerSchema;
use outcrop_schema::filesystem::{self, Kind};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop filesystem --compression none,zstd:3             btrfs: cold 4 KiB reads, space, CPU
  outcrop filesystem --filesystem 'ext4,btrfs zstd:3,squashfs zstd:19 16KiB'
  outcrop filesystem --data /srv/dump --compression zstd:1,zstd:3,lzo
  outcrop filesystem --operation overwrite --sync end,each:1 --filesystem ext4,xfs,btrfs
  outcrop filesystem --rate 20MB/s,50% --jobs 4            offered load: latency from the schedule
  outcrop filesystem --directory /mnt/data                 an existing filesystem, as any user

Several values, separated by commas, make a factor: every combination is a cell. Filesystems are created in an \
unnamed file in PATH and mounted without a mount point, which requires root. Nothing else is touched, and nothing is left behind.";

/// Measure filesystems, with a flag for each factor
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("repetitions", |arg| arg.help("Trials per cell [default: 5]")))]
#[command(mut_arg("warm_up", |arg| arg.help("Trials of filesystems have no warm-up: 0s only")))]
#[command(mut_arg("duration", |arg| arg.help("Time measured in each trial, where it does not end with the data [default: 500ms]")))]
pub(crate) struct Args {
    /// A directory on the disk to measure; filesystems are created in an unnamed file there
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Measure the existing filesystem of this directory, with unnamed files; needs no privileges
    #[arg(long, value_name = "DIR", conflicts_with = "path")]
    directory: Option<PathBuf>,
    /// Data to fill the files with: a file, a directory or a block device [default: the built-in sample, repeated]
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    #[arg(long, value_name = "BYTES", help = help_of(&filesystem::SAMPLE_SIZE))]
    sample_size: Option<String>,
    /// Offered load: bytes per second (2GB/s), reads per second (20k), or a share of the highest (50%)
    #[arg(long, value_name = "RATE", value_delimiter = ',', conflicts_with = filesystem::ARRIVAL.name)]
    rate: Vec<String>,
    #[command(flatten)]
    factors: FactorFlags<Filesystems>,
    #[command(flatten)]
    flags: PlanFlags,
}

#[derive(Debug)]
pub(crate) struct Filesystems;

impl OneOff for Filesystems {
    const SCHEMA: &'static LayerSchema = &filesystem::SCHEMA;
}

/// A one-off answers soon: a trial of this length, five times.
const DURATION: TimeSpan = TimeSpan::milliseconds(500);

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if args.directory.is_some() {
        refuse_what_is_made(args)?;
    }
    let options = PlanOptions {
        directory: Some(args.directory.clone().unwrap_or_else(|| args.path.clone())),
        data: args.data.clone(),
        duration: args.flags.duration.or(Some(DURATION)),
        ..args.flags.options()
    };
    let set = PlanSet::from_drafts(vec![draft(args)], &options).map_err(session::lab_error)?;
    session::start(&set, "filesystem", &args.flags)
}

/// Refuses flags of filesystems that are made, where one that is there is measured.
fn refuse_what_is_made(args: &Args) -> anyhow::Result<()> {
    let mut given = filesystem::OF_IMAGES
        .iter()
        .filter_map(|factor| args.factors.of(factor.about()));
    match given.next() {
        Some(given) => Err(bad_input(anyhow::anyhow!(
            "{}: --directory measures an existing filesystem as it is; leave out one of the two",
            given.as_typed()
        ))),
        None => Ok(()),
    }
}

fn draft(args: &Args) -> Draft {
    let mut draft = Draft::new(
        "filesystem",
        "How do these filesystems perform on these data?",
        filesystem::SCHEMA.name,
        "outcrop filesystem",
    );
    if let Some(directory) = &args.directory {
        draft = draft
            .with_subject(&filesystem::KIND, Kind::Directory.name(), "--directory")
            .with_subject(&filesystem::PATH, &directory.to_string_lossy(), "--directory");
    }
    if let Some(size) = &args.sample_size {
        draft = draft.with_subject(&filesystem::SAMPLE_SIZE, size, "--sample-size");
    }
    if !args.rate.is_empty() {
        let arrivals = args.rate.iter().map(|rate| format!("constant:{rate}"));
        draft = draft.with_workload(&filesystem::ARRIVAL, arrivals, "--rate");
    }
    args.factors.write_over(draft)
}
