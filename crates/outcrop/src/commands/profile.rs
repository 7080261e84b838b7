//! `outcrop profile [PATH]`: the main job.

use super::placement_flags::PlacementFlags;
use super::plan_flags::PlanFlags;
use super::table_flags::TableFlags;
use crate::exit::{Ending, bad_input};
use crate::output;
use crate::session;
use outcrop_lab::{Effort, PlanOptions, PlanSet, profile_options, profile_plans_for};
use outcrop_measure::units::ByteSize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop profile                        the filesystem of this directory, in at most ten minutes
  outcrop profile /mnt/data --quick      another filesystem, in at most 90 seconds
  outcrop profile --data /srv/dump       your own data; tables column by column
  outcrop profile --layer compression    only one layer
  outcrop profile --layer cache --server redis://127.0.0.1
                                         a running cache: writes keys that begin with oc-
  outcrop profile --layer kv --data /srv/dump --min-ratio 2.5 --p99 2ms
                                         where to compress, under these limits
  outcrop profile --layer kv --budget 5m where to compress; trials go to contenders
  outcrop profile --full --size 64GiB    as long as the plans say
  outcrop profile --dry-run              show what would be measured and written

A quick profile writes 7 to 28 GB, depending on disk speed; --dry-run estimates the others.
A scratch file is written on the filesystem of PATH, measured and removed. Nothing else is touched; data are only \
read. Without --data, the built-in sample is used. Ctrl-C ends the trial cleanly and keeps the run; `outcrop run --resume RUN` continues it.";

/// Measure the storage stack at PATH: what it can do, and what to configure
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A directory on the filesystem to profile
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Take at most 90 seconds in total, unless --repetitions, --warm-up, --duration or --budget says otherwise
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Take as long as the plans require (hours)
    #[arg(long)]
    full: bool,
    /// Your own data, for the plans that use data: a file, a directory, a block device, or - for stdin
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    #[command(flatten)]
    table: TableFlags,
    /// URL of a running cache to measure instead of Outcrop's own: memcached://HOST:PORT, redis://…, http://…
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Measure only these layers [default: all]
    #[arg(long = "layer", value_name = "LAYER", value_delimiter = ',')]
    layers: Vec<String>,
    /// Size of the file that is measured [default: the plan's, shown by --dry-run]
    #[arg(long, value_name = "BYTES")]
    size: Option<ByteSize>,
    /// Maximum sample size, for codecs on data that are larger [default: the plan's, shown by --dry-run]
    #[arg(long, value_name = "BYTES")]
    sample_size: Option<ByteSize>,
    #[command(flatten)]
    flags: PlanFlags,
    #[command(flatten)]
    placement: PlacementFlags,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let effort = match (args.quick, args.full) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Full,
        _ => Effort::Default,
    };
    let options = profile_options(PlanOptions {
        effort: Some(effort),
        directory: Some(args.path.clone()),
        data: args.data.clone(),
        data_form: args.table.data_form(),
        server: args.server.clone(),
        size: args.size,
        sample_size: args.sample_size,
        constraints: args.placement.constraints(),
        prices: args.placement.prices()?,
        ..args.flags.options()
    });
    let data = (args.data.as_deref(), &options.data_form);
    let chosen = profile_plans_for(&args.layers, data, &args.path)
        .map_err(|message| bad_input(anyhow::anyhow!("--layer: {message}")))?;
    for note in &chosen.notes {
        output::note(&format!("note: {note}"));
    }
    let set = PlanSet::from_sources(&chosen.plans, &options).map_err(session::lab_error)?;
    session::start(&set, "profile", &args.flags)
}
