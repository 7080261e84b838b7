//! `outcrop profile [PATH]`: the main job.

use super::plan_flags::PlanFlags;
use crate::exit::{Ending, bad_input};
use crate::session;
use outcrop_lab::{Effort, PlanOptions, PlanSet, profile_plans};
use outcrop_measure::units::ByteSize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop profile                        the filesystem of this directory, in at most ten minutes
  outcrop profile /mnt/data --quick      another one, in 90 seconds
  outcrop profile --data /srv/dump       your own data; tables among them, column by column
  outcrop profile --layer compression    one layer alone
  outcrop profile --layer cache --server redis://127.0.0.1
                                         a cache that runs already: writes keys beginning with oc-
  outcrop profile --full --size 64GiB    as long as the plans say
  outcrop profile --dry-run              what would be measured and written

A scratch file is written on the filesystem of PATH, measured and removed. Nothing else is touched; data are only \
read. Without --data, the built-in sample is used. Ctrl-C ends the trial cleanly and keeps the run; `outcrop run --resume RUN` goes on.";

/// Measure the storage stack at PATH and say what it can do and what to configure
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A directory on the filesystem to be profiled
    #[arg(default_value = ".")]
    path: PathBuf,
    /// At most 90 seconds in all
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// As long as the plans say (hours)
    #[arg(long)]
    full: bool,
    /// Your own data for the plans that take some: a file, a directory, a block device, or - for stdin
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// URL of a running cache to measure in place of ours: memcached://HOST:PORT, redis://…, http://…
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Only these layers [default: all of them]
    #[arg(long = "layer", value_name = "LAYER", value_delimiter = ',')]
    layers: Vec<String>,
    /// Size of the file that is measured [default: as the plan says]
    #[arg(long, value_name = "BYTES")]
    size: Option<ByteSize>,
    #[command(flatten)]
    flags: PlanFlags,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let effort = match (args.quick, args.full) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Full,
        _ => Effort::Default,
    };
    let options = PlanOptions {
        effort: Some(effort),
        directory: Some(args.path.clone()),
        data: args.data.clone(),
        server: args.server.clone(),
        size: args.size,
        ..args.flags.options()
    };
    let plans = profile_plans(&args.layers, args.data.as_deref())
        .map_err(|message| bad_input(anyhow::anyhow!("--layer: {message}")))?;
    let set = PlanSet::from_sources(&plans, &options).map_err(session::lab_error)?;
    session::start(&set, "profile", &args.flags)
}
