//! `outcrop run PLAN…` and `outcrop run --resume RUN`.

use super::placement_flags::{self, PlacementFlags};
use super::plan_flags::{DECIDED_BY_A_RUN, PlanChoices, PlanFlags};
use crate::exit::Ending;
use crate::session;
use outcrop_lab::{PlanOptions, PlanSet, PlanSource, plan_source};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop run ssd-queue-depth                         a shipped plan, by name
  outcrop run mine.toml --path /mnt/data --dry-run    cells, time and bytes to be written
  outcrop run ssd-matrix ssd-max --effort quick       two plans; shared cells are measured once
  outcrop run ratio-percentiles --data /srv/dump      on your own data
  outcrop run ssd-snia-wsat                           is there a write cliff?
  outcrop run placement --budget 5m                   where to compress; trials go to contenders
  outcrop run runs/…/plan.toml --repetitions 9        repeat a run with more trials per cell
  outcrop run --resume runs/20261121T020304Z-mine     measures only what is missing";

/// Run one or more plans, or resume a run that was interrupted
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Plan files, or names of shipped plans (`outcrop plans` lists them)
    #[arg(required_unless_present = "resume")]
    plans: Vec<String>,
    /// Resume an interrupted run: finished trials are neither lost nor repeated; refused if their data have changed
    #[arg(long, value_name = "RUN", conflicts_with_all = DECIDED_BY_A_RUN, conflicts_with_all = placement_flags::NAMES, conflicts_with_all = ["plans", "dry_run"])]
    resume: Option<PathBuf>,
    /// Run only the plans of these layers [default: all]
    #[arg(
        long = "layer",
        value_name = "LAYER",
        value_delimiter = ',',
        conflicts_with = "resume"
    )]
    layers: Vec<String>,
    #[command(flatten)]
    choices: PlanChoices,
    #[command(flatten)]
    flags: PlanFlags,
    #[command(flatten)]
    placement: PlacementFlags,
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
        constraints: args.placement.constraints(),
        prices: args.placement.prices()?,
        only_layers: args.layers.clone(),
        ..args.choices.options(&args.flags)
    };
    let set = PlanSet::from_sources(&sources, &options).map_err(session::lab_error)?;
    session::start(&set, &set.name(), &args.flags)
}

/// A file of that name wins; otherwise a plan that ships.
pub(super) fn source(name: &str) -> anyhow::Result<PlanSource> {
    plan_source(name.as_ref()).map_err(session::lab_error)
}
