//! `outcrop compare BASELINE CANDIDATE`: ratios with intervals, or why there is none.

use crate::exit::{Ending, bad_input};
use crate::output::{self, note};
use outcrop_report::comparison::{
    comparison_csv, comparison_in_envelope, comparison_markdown, comparison_text,
};
use outcrop_results::compare::{Comparand, Comparison, compare_with};
use outcrop_results::{CompareOptions, Envelope, FailIf, Reference, RunView, references};
use std::collections::BTreeMap;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  outcrop compare runs/before runs/after
  outcrop compare runs/A runs/B --all --margin 2%                              every metric
  outcrop compare runs/A runs/B --fail-if 'p99 > +5%' --fail-if 'iops < -3%'   exit code 1 when met
  outcrop compare runs/mine toshiba-kxg60znv256g-fio                           a published reference
  outcrop compare datasheets runs/mine --assume state='as found'               what it leaves out

Every ratio is CANDIDATE ÷ BASELINE of medians, with its interval and the confidence that it really has. \
A row is the same where the interval lies within the margin. It is better or worse where the interval \
excludes 1, after correction for the number of rows tested; with fewer than 5 repetitions it is undecided. \
A condition counts by the same rule. Where nothing can be compared, that is an error (exit code 2).

Two runs at two times also differ by what the machine did meanwhile. `outcrop ab` measures both in one run.";

/// Compare a run with another run or a published reference
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A run folder, the name of a reference that ships, or a reference's CSV file
    baseline: String,
    /// The same: what is judged
    candidate: String,
    #[command(flatten)]
    judging: Judging,
    /// Condition of a publication that does not state it, such as state='as found' or span=1GiB
    #[arg(long, value_name = "CONDITION=VALUE", value_parser = assumption)]
    assume: Vec<(String, String)>,
    /// Form of what goes to stdout
    #[arg(long, value_enum, default_value_t)]
    format: ComparisonFormat,
}

/// How a comparison is judged and printed; the same for `outcrop ab`.
#[derive(Debug, clap::Args)]
pub(crate) struct Judging {
    /// End with exit code 1 when a ratio meets this, for example 'p99 > +5%', 'iops < -3%', 'read_latency_p99 > 1.05x'
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<String>,
    /// What counts as the same: an interval of the ratio within ± so much
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = margin)]
    margin: f64,
    /// Show every metric, not only the headline metrics of each layer
    #[arg(long)]
    all: bool,
}

/// Forms of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ComparisonFormat {
    /// For a terminal
    #[default]
    Text,
    /// Everything, as JSON
    Json,
    /// One line per row
    Csv,
    /// A table for a document
    Markdown,
}

fn assumption(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected CONDITION=VALUE, such as state='as found'".to_owned()),
    }
}

fn margin(text: &str) -> Result<f64, String> {
    let percent = text
        .trim()
        .strip_suffix('%')
        .map(|digits| digits.trim().parse::<f64>());
    match percent {
        Some(Ok(percent)) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err("expected a percentage above 0 and up to 100, such as 5%".to_owned()),
    }
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
    let conditions = args.judging.conditions()?;
    let (baseline, candidate) = (load(&args.baseline)?, load(&args.candidate)?);
    let options = args.judging.options(args.assume.iter().cloned().collect());
    let comparison =
        compare_with(baseline.comparand(), candidate.comparand(), &options).map_err(bad_input)?;
    args.judging
        .report(&comparison, &conditions, args.format, output::envelope())
}

impl Judging {
    /// The conditions, read.
    pub(crate) fn conditions(&self) -> anyhow::Result<Vec<FailIf>> {
        let conditions = self.fail_if.iter().map(|text| text.parse());
        conditions.collect::<Result<Vec<FailIf>, _>>().map_err(bad_input)
    }

    /// What the comparison is to do.
    pub(crate) fn options(&self, assumed: BTreeMap<String, String>) -> CompareOptions {
        CompareOptions {
            margin: self.margin,
            assumed,
        }
    }

    /// Prints a comparison, as JSON in this envelope, and checks the conditions on it.
    pub(crate) fn report(
        &self,
        comparison: &Comparison,
        conditions: &[FailIf],
        format: ComparisonFormat,
        envelope: Envelope,
    ) -> anyhow::Result<Ending> {
        output::print(&match format {
            ComparisonFormat::Text => comparison_text(comparison, self.all),
            ComparisonFormat::Json => output::pretty_json(&comparison_in_envelope(comparison, envelope)?)?,
            ComparisonFormat::Csv => comparison_csv(comparison),
            ComparisonFormat::Markdown => comparison_markdown(comparison, self.all),
        })?;
        let mut ending = Ending::Done;
        let reports = FailIf::check_all(conditions, comparison).map_err(bad_input)?;
        for (found, text) in reports.iter().zip(&self.fail_if) {
            let needed = found.needed.map_or_else(String::new, |needed| {
                format!("; a change in one cell alone takes {needed} repetitions to be found")
            });
            note(&format!(
                "--fail-if '{text}': met by {} of {} cells, {} could not be checked{needed}",
                found.offending.len(),
                found.checked,
                found.unchecked
            ));
            if !found.offending.is_empty() {
                ending = Ending::ConditionMet;
            }
        }
        if comparison.comparable().next().is_none() {
            return Err(bad_input(anyhow::anyhow!(
                "no cell of the two can be compared: the reasons are above; runs meet where they measured the same factors"
            )));
        }
        Ok(ending)
    }
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
