//! `outcrop run PLAN…` and `outcrop run --resume RUN`.

use super::plan_flags::PlanFlags;
use crate::exit::{Ending, bad_input};
use crate::session;
use outcrop_lab::{Effort, PlanOptions, PlanSet, PlanSource, shipped_plans};
use outcrop_measure::units::ByteSize;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  outcrop run ssd-queue-depth                         a plan that ships, by name
  outcrop run mine.toml --path /mnt/data --dry-run    what it would do, how long, how many bytes
  outcrop run ssd-matrix ssd-max --effort quick       two plans; cells they share are measured once
  outcrop run ratio-percentiles --data /srv/dump      on your own data
  outcrop run --resume runs/20261121T020304Z-mine     only what is missing is measured";

/// Run one or more plans, or resume a run that was interrupted
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Plan files, or names of plans that ship (`outcrop plans` lists them)
    #[arg(required_unless_present = "resume")]
    plans: Vec<String>,
    /// Go on with a run folder: finished trials are neither lost nor repeated
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = ["plans", "effort", "path", "data", "size", "repetitions", "warm_up", "duration", "budget", "seed", "out", "no_save", "dry_run"]
    )]
    resume: Option<PathBuf>,
    /// Which of a plan's values to take
    #[arg(long, value_enum)]
    effort: Option<EffortFlag>,
    /// Directory for scratch files [default: the working directory]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Your own data for the plans that take some: a file, a directory, a block device, or - for stdin
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Size of the file that is measured [default: as the plan says]
    #[arg(long, value_name = "BYTES")]
    size: Option<ByteSize>,
    #[command(flatten)]
    flags: PlanFlags,
}

/// `--effort`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum EffortFlag {
    /// Short trials, few repetitions
    Quick,
    /// Default: minutes per plan
    Default,
    /// As long as the method asks for
    Full,
}

impl From<EffortFlag> for Effort {
    fn from(flag: EffortFlag) -> Self {
        match flag {
            EffortFlag::Quick => Self::Quick,
            EffortFlag::Default => Self::Default,
            EffortFlag::Full => Self::Full,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if let Some(dir) = &args.resume {
        return session::resume(dir, &args.flags);
    }
    let sources = args
        .plans
        .iter()
        .map(|name| source(name))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let options = PlanOptions {
        effort: args.effort.map(Into::into),
        directory: args.path.clone(),
        data: args.data.clone(),
        size: args.size,
        ..args.flags.options()
    };
    let set = PlanSet::from_sources(&sources, &options).map_err(session::lab_error)?;
    let name = match set.plans() {
        [only] => only.name.clone(),
        plans => format!("{}-plans", plans.len()),
    };
    session::start(&set, &name, &args.flags)
}

/// A file of that name wins; otherwise a plan that ships.
pub(super) fn source(name: &str) -> anyhow::Result<PlanSource> {
    let path = Path::new(name);
    let shipped = shipped_plans().iter().find(|plan| plan.name == name);
    match shipped {
        Some(plan) if !path.is_file() => Ok(plan.source()),
        None if !path.exists() && !name.contains(['/', '.']) => {
            let names: Vec<_> = shipped_plans().iter().map(|plan| plan.name).collect();
            Err(bad_input(anyhow::anyhow!(
                "no plan `{name}`: not a file, and those that ship are {}",
                names.join(", ")
            )))
        }
        _ => PlanSource::read(path).map_err(session::lab_error),
    }
}
