//! `outcrop compare BASELINE CANDIDATE`: ratios with intervals, or why there is none.

use crate::exit::{Ending, bad_input};
use crate::output::{self, Format, note};
use outcrop_results::compare::{Comparand, compare};
use outcrop_results::{FailIf, Reference, RunView, references};
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  outcrop compare runs/before runs/after
  outcrop compare runs/A runs/B --fail-if 'p99 > +5%' --fail-if 'iops < -3%'   exit code 1 when met
  outcrop compare runs/mine toshiba-kxg60znv256g-fio                           a published reference

Every ratio is CANDIDATE ÷ BASELINE of medians with a 95 % interval. A condition counts only where the \
whole interval is on its side of 1; where nothing can be compared it is an error, not a pass.";

/// Hold a run beside another run or a published reference
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A run folder, the name of a reference that ships, or a reference's CSV file
    baseline: String,
    /// The same: what is judged
    candidate: String,
    /// End with exit code 1 when a ratio meets this, for example 'p99 > +5%', 'iops < -3%', 'read_latency_p99 > 1.05x'
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Form of what goes to stdout
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// One side, loaded.
enum Loaded {
    Run(Box<RunView>),
    Reference(Reference),
}

impl Loaded {
    fn comparand(&self) -> Comparand<'_> {
        match self {
            Self::Run(run) => Comparand::Run(run),
            Self::Reference(reference) => Comparand::Reference(reference),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let conditions = args
        .fail_if
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<FailIf>, _>>()
        .map_err(bad_input)?;
    let (baseline, candidate) = (load(&args.baseline)?, load(&args.candidate)?);
    let comparison = compare(baseline.comparand(), candidate.comparand());
    output::print(&match args.format {
        Format::Text => outcrop_report::comparison::comparison_text(&comparison),
        Format::Json => output::pretty_json(&outcrop_report::comparison::comparison_json(&comparison)?)?,
        Format::Csv => outcrop_report::comparison::comparison_csv(&comparison),
    })?;
    let mut ending = Ending::Done;
    for (condition, text) in conditions.iter().zip(&args.fail_if) {
        let found = condition.check(&comparison).map_err(bad_input)?;
        note(&format!(
            "--fail-if '{text}': met by {} of {} cells, {} could not be checked",
            found.offending.len(),
            found.checked,
            found.unchecked
        ));
        if !found.offending.is_empty() {
            ending = Ending::ConditionMet;
        }
    }
    Ok(ending)
}

fn load(name_or_path: &str) -> anyhow::Result<Loaded> {
    if Path::new(name_or_path).is_dir() {
        let run = RunView::load(Path::new(name_or_path)).map_err(bad_input)?;
        return Ok(Loaded::Run(Box::new(run)));
    }
    Ok(Loaded::Reference(
        references::load(name_or_path).map_err(bad_input)?,
    ))
}
