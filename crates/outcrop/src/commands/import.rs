//! `outcrop import fio PATH…`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use outcrop_fio::{FioError, ImportOptions};
use outcrop_report::number::counted;
use outcrop_schema::device;

use super::report::Beside;
use crate::exit::{Ending, bad_input};
use crate::output::{Format, note};
use crate::output_file::refuse_system_folder;
use crate::session;

/// Files that could not be imported and are named one by one.
const MOST_NAMED: usize = 50;

/// Turn the results of another program into a run
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop import fio results/                    a folder of fio JSON becomes a run and its report"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, clap::Subcommand)]
enum From {
    /// fio results (versions 2 and 3), written with --output-format=json
    Fio(Fio),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop import fio results/                       every .json file in it and its subfolders
  outcrop import fio randread.json randwrite.json --format csv
  outcrop import fio old/ --assume access_pattern=random,engine=libaio
  outcrop import fio results/ --dry-run             which files would be left out, and why

Each job is a cell of the device layer, and jobs with the same options are its repetitions, or, if
they ran at the same time, one load. Where a report lacks the options, the name of its file is read:
outfile_blk4k_qlen32_rw70_30.json. Figures are fio's own, and percentiles that it did not report are
unavailable. See docs/from-fio.md.")]
struct Fio {
    /// fio result files, and folders that contain them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Values to assume where a result does not state them: FACTOR=VALUE of `outcrop device`
    #[arg(long, value_name = "FACTOR=VALUE", value_delimiter = ',')]
    assume: Vec<String>,
    /// Folder to create the run folder in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    /// Name of the run folder, after the first job's start time
    #[arg(long, default_value = "fio")]
    name: String,
    /// Show what would be imported without writing anything
    #[arg(long)]
    dry_run: bool,
    /// Do not print how many jobs were read
    #[arg(long, short)]
    quiet: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    beside: Beside,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let From::Fio(args) = &args.from;
    // What is imported is of this layer.
    args.beside.check_for(&BTreeSet::from([device::SCHEMA.name]))?;
    if args.dry_run && args.format != Format::Text {
        return Err(bad_input(anyhow::anyhow!(
            "--dry-run only says which files would be left out, and has no tables; leave --format out"
        )));
    }
    let beside = args.beside.checked()?;
    let options = ImportOptions {
        assume: args.assume.clone(),
    };
    let imported = outcrop_fio::import(&args.paths, &options).map_err(bad_input)?;
    for why in imported.left_out.iter().take(MOST_NAMED) {
        note(&format!("warning: left out: {why}"));
    }
    if let Some(more) = imported
        .left_out
        .len()
        .checked_sub(MOST_NAMED)
        .filter(|more| *more > 0)
    {
        note(&format!("warning: and {more} more"));
    }
    for assumption in &imported.unused_assumptions {
        note(&format!(
            "note: --assume {assumption} has no effect: every imported job states it"
        ));
    }
    // What is left out is said in any case, and a dry run has nothing else to say.
    if !args.quiet || args.dry_run {
        note(&format!(
            "{} from {} of {}{}",
            counted(imported.trials.len(), "job"),
            counted(imported.files.len(), "file"),
            imported.version_words(),
            match imported.left_out.len() {
                0 => String::new(),
                left_out => format!(", {left_out} left out"),
            }
        ));
    }
    if args.dry_run {
        return Ok(Ending::Done);
    }
    refuse_system_folder("--out", &args.out)?;
    let now = outcrop_probe::clock::utc_timestamp();
    let dir = imported
        .write_run(&args.out, &args.name, &now)
        .map_err(|error| match error {
            FioError::Results(error) => bad_input(error),
            other => other.into(),
        })?;
    let shown = session::Shown {
        references: beside,
        constraints: &outcrop_report::Constraints::default(),
        prices: None,
    };
    session::conclude(&dir, args.format, session::Destination::Run, &shown)?;
    Ok(Ending::Done)
}
