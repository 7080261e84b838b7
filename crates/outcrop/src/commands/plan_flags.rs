//! The flags that every command which runs plans has in common.

use super::report::Beside;
use crate::output::Format;
use outcrop_lab::PlanOptions;
use outcrop_measure::seed::Seed;
use outcrop_measure::units::{ByteSize, TimeSpan};
use std::path::PathBuf;

/// How much of everything, from which seed, and where the run goes.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanFlags {
    /// Trials per cell [default: as the plan says]
    #[arg(long, value_name = "N")]
    pub(crate) repetitions: Option<u32>,
    /// Time before measuring starts in each trial [default: as the plan says]
    #[arg(long, value_name = "TIME")]
    pub(crate) warm_up: Option<TimeSpan>,
    /// Time measured in each trial [default: as the plan says]
    #[arg(long, value_name = "TIME", alias = "runtime")]
    pub(crate) duration: Option<TimeSpan>,
    /// Shorten the trials evenly until the whole run fits into this time
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<TimeSpan>,
    /// Stop before more than this is written to the device [default: no limit]
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_written: Option<ByteSize>,
    /// Seed of every random choice [default: fresh; it is printed and stored]
    #[arg(long)]
    pub(crate) seed: Option<Seed>,
    /// Folder in which the run folder is made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// Show the cells, the time and the bytes to be written, and measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep no run folder: print the figures and remove it
    #[arg(long, conflicts_with = "out")]
    pub(crate) no_save: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Form of what goes to stdout
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) beside: Beside,
}

impl PlanFlags {
    /// What the flags decide, for the lab; effort, directory, size and data are the command's own.
    pub(crate) fn options(&self) -> PlanOptions {
        PlanOptions {
            seed: self.seed,
            repetitions: self.repetitions,
            warm_up: self.warm_up,
            duration: self.duration,
            budget: self.budget,
            max_written: self.max_written,
            ..PlanOptions::default()
        }
    }
}
