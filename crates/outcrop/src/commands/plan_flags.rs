//! The flags that every command which runs plans has in common.

use super::report::Beside;
use super::table_flags::TableFlags;
use crate::commands::whole::whole;
use crate::endurance::rated;
use crate::output::Format;
use outcrop_lab::{Effort, PlanOptions};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::{ByteSize, TimeSpan};
use std::path::PathBuf;

/// Which values of a plan to take, and what to measure: the same for `outcrop run` and `outcrop ab`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanChoices {
    /// How thorough the run is, where a plan gives values for each effort
    #[arg(long, value_enum)]
    effort: Option<EffortFlag>,
    /// Directory for scratch files [default: that of a run's plan.toml, else the working directory]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Your own data, for the plans that use data: a file, a directory, a block device, or - for stdin
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    #[command(flatten)]
    table: TableFlags,
    /// Size of the file that is measured [default: the plan's, shown by --dry-run]
    #[arg(long, value_name = "BYTES")]
    size: Option<ByteSize>,
    /// Maximum sample size, for codecs on data that are larger [default: the plan's, shown by --dry-run]
    #[arg(long, value_name = "BYTES")]
    sample_size: Option<ByteSize>,
}

impl PlanChoices {
    /// What they and the flags decide, for the lab.
    pub(crate) fn options(&self, flags: &PlanFlags) -> PlanOptions {
        PlanOptions {
            effort: self.effort.map(Into::into),
            directory: self.path.clone(),
            data: self.data.clone(),
            data_form: self.table.data_form(),
            size: self.size,
            sample_size: self.sample_size,
            ..flags.options()
        }
    }
}

/// `--effort`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EffortFlag {
    /// Short trials, few repetitions
    Quick,
    /// Minutes per plan
    Default,
    /// As long as the method requires: hours
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

/// What a resumed run has decided already: its plan says it.
pub(crate) const DECIDED_BY_A_RUN: [&str; 17] = [
    "effort",
    "path",
    "data",
    "delimiter",
    "header",
    "no_header",
    "no_quotes",
    "null",
    "size",
    "sample_size",
    "repetitions",
    "warm_up",
    "duration",
    "budget",
    "seed",
    "out",
    "no_save",
];

/// How much of everything, from which seed, and where the run goes.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanFlags {
    /// Trials per cell [default: the plan's, shown by --dry-run]
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub(crate) repetitions: Option<u32>,
    /// Time before measuring starts in each trial [default: the plan's, shown by --dry-run]
    #[arg(long, value_name = "TIME")]
    pub(crate) warm_up: Option<TimeSpan>,
    /// Time measured in each trial [default: the plan's, shown by --dry-run]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<TimeSpan>,
    /// Shorten trials so that the whole run fits this time; plans of where to compress, such as kv-compression, run as many trials as fit instead
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<TimeSpan>,
    /// Write at most this much to the device; a resume keeps the limit for what it writes itself [default: no limit]
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_written: Option<ByteSize>,
    /// Rated endurance (TBW) from the drive's datasheet, such as 600TB: bytes written are shown as a share of it
    #[arg(long, value_name = "BYTES", value_parser = rated)]
    pub(crate) tbw: Option<ByteSize>,
    /// Seed of all random choices [default: a new one, printed and stored]
    #[arg(long)]
    pub(crate) seed: Option<Seed>,
    /// Folder to create the run folder in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// Show the cells, the time and the bytes to be written without measuring
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not keep the run folder: only print the results
    #[arg(long, conflicts_with = "out")]
    pub(crate) no_save: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Output format
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
