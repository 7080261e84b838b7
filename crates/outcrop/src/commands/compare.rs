//! `outcrop compare BASELINE CANDIDATE`: ratios with intervals, or why there is none.

use super::fail_if;
use super::gate::Gate;
use super::references::note_caveats;
use crate::exit::{Ending, bad_input};
use crate::output::{self, note};
use outcrop_report::comparison::{
    Detail, Examined, comparison_csv, comparison_in_envelope, comparison_markdown, comparison_text, examined,
};
use outcrop_results::compare::{Comparand, Comparison, Side, compare_with};
use outcrop_results::{CompareOptions, Envelope, FailIf, Reference, RunView, references};
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  outcrop compare runs/before runs/after
  outcrop compare runs/A runs/B --all --margin 2%                              every metric
  outcrop compare runs/A runs/B --fail-if 'p99 > +5%' --fail-if 'iops < -3%'   exit code 1 when met
  outcrop compare runs/A runs/B --fail-if 'p99 > 1ms'                          a limit for B
  outcrop compare runs/mine toshiba-kxg60znv256g-fio                           a published reference
  outcrop compare datasheets runs/mine --assume state='as found'               state what it omits

Every ratio is the candidate's median ÷ the baseline's, with its interval and the confidence of that interval. \
A row is the same if the interval lies within the margin. It is better or worse if the interval lies beyond the drift that is allowed for (outside 1/1.05 to 1.05), after correction for the number of rows tested. With fewer than 5 repetitions it is undecided, unless it is of a property of the data, such as a size. The rows of --fail-if are corrected together, so a verdict can differ from one without it. A condition is met if a whole interval is beyond its threshold: the interval of the ratio or, for a limit such as 'p99 > 1ms', that of the candidate's median. Undecided cells do not meet it; their number is printed. Cells beyond a limit are printed with their figures.

Exit codes: 0 no condition is met, 1 one is, 2 none is met and nothing could be compared or a condition could be checked in no cell, or a cell of the candidate failed, was cut short or missed by the end of its run, lacks the figure that the baseline has or, for a limit, completed too few operations for it, has no interval of it or was imported without it. Cells that only the baseline has are counted, and not checked, unless the candidate's run ended before it came to them. With --strict, also 2 if none is met and a cell is undecided or was not checked, or only the baseline has it. With --format json, details.conditions has the same for each condition, with its outcome: met, not-met, not-checked or, with --strict, undecided.

A time or rate that is worse, or the same, on the side where the machine or its storage was busier with other work is undecided. A side whose load was not recorded, such as an import, counts as idle here.
Two separate runs also differ by drift of the machine, which no interval includes. So a condition on a ratio of times or rates is met only if the whole interval is beyond its threshold by more than --drift: 'iops < -3%' takes about -8 %. Where others used more than 10 % of the CPUs under both runs, the allowance is larger: a factor of 1 ÷ the share of a CPU that they may have left, so 2 from 25 % on. Where a factor differs, `outcrop ab` measures both variants in one run and needs no allowance for drift.";

/// Compare a run with another run or a published reference
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A run folder, the name of a shipped reference, or a reference's CSV file
    baseline: String,
    /// The same, for the run to compare with the baseline
    candidate: String,
    #[command(flatten)]
    judging: Judging,
    /// How much two separate runs may differ even if nothing changed: a row is better or worse, and a condition on a ratio is met, only beyond ± this; 0% makes no allowance
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = drift)]
    drift: f64,
    /// Supply a condition that a publication does not state, such as state='as found' or span=1GiB
    #[arg(long, value_name = "CONDITION=VALUE", value_parser = assumption)]
    assume: Vec<(String, String)>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: ComparisonFormat,
}

/// How a comparison is judged and printed; the same for `outcrop ab`.
#[derive(Debug, clap::Args)]
pub(crate) struct Judging {
    #[command(flatten)]
    pub(crate) gate: Gate,
    /// What counts as the same: the interval of the ratio lies within ± this
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = margin)]
    margin: f64,
    /// Show every metric, not only the headline metrics of each layer, and each reason why rows cannot be compared
    #[arg(long)]
    all: bool,
}

/// Forms of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ComparisonFormat {
    /// Aligned columns
    #[default]
    Text,
    /// One JSON document with everything
    Json,
    /// CSV, one line per row
    Csv,
    /// A Markdown table
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
    share(text)
        .filter(|share| *share > 0.0)
        .ok_or_else(|| "expected a percentage above 0 and up to 100, such as 5%".to_owned())
}

fn drift(text: &str) -> Result<f64, String> {
    share(text).ok_or_else(|| "expected a percentage from 0 to 100, such as 5%".to_owned())
}

/// A percentage from 0 to 100, as a share.
fn share(text: &str) -> Option<f64> {
    let digits = text.trim().strip_suffix('%')?;
    let percent: f64 = digits.trim().parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
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
    let conditions = args.judging.gate.conditions()?;
    let (baseline, candidate) = (load(&args.baseline)?, load(&args.candidate)?);
    refuse_one_run(&baseline, &candidate)?;
    let options = CompareOptions {
        drift: args.drift,
        assumed: args.assume.iter().cloned().collect(),
        ..args.judging.options(&conditions)
    };
    let comparison =
        compare_with(baseline.comparand(), candidate.comparand(), &options).map_err(bad_input)?;
    // Two runs of ours may be variants of one plan; a publication has none.
    let in_pairs = match (&baseline, &candidate) {
        (Loaded::Run(run), Loaded::Run(_)) => outcrop_report::command_in_pairs(run),
        _ => None,
    };
    let runs = [(Side::Baseline, &baseline), (Side::Candidate, &candidate)];
    let of_sides = runs.into_iter().filter_map(|(side, loaded)| match loaded {
        Loaded::Run(run) => Some(examined(side, run)),
        Loaded::Reference(_) => None,
    });
    for loaded in [&baseline, &candidate] {
        if let Loaded::Reference(reference) = loaded {
            note_caveats(reference);
        }
    }
    let beside = Beside::of(of_sides, in_pairs);
    let printed = (args.format, output::envelope());
    args.judging.report(&comparison, &conditions, printed, beside)
}

/// What a comparison says in addition to its rows.
#[derive(Debug)]
pub(crate) struct Beside {
    examined: Examined,
    /// The command that measures two variants in pairs; that of variants has none.
    in_pairs: Option<String>,
}

impl Beside {
    /// With what the reports of the sides say against their figures.
    pub(crate) fn of(sides: impl Iterator<Item = Examined>, in_pairs: Option<String>) -> Self {
        let mut examined = Examined::default();
        examined.extend(sides);
        Self { examined, in_pairs }
    }
}

impl Judging {
    /// What the comparison is to do.
    pub(crate) fn options(&self, conditions: &[FailIf]) -> CompareOptions {
        CompareOptions {
            margin: self.margin,
            asked: FailIf::metrics(conditions),
            ..CompareOptions::default()
        }
    }

    /// Prints a comparison, as JSON in this envelope, and checks the conditions on it. Where they are undecided because two runs may drift, a
    /// command that measures in pairs is named.
    pub(crate) fn report(
        &self,
        comparison: &Comparison,
        conditions: &[FailIf],
        (format, envelope): (ComparisonFormat, Envelope),
        Beside { examined, in_pairs }: Beside,
    ) -> anyhow::Result<Ending> {
        let detail = Detail {
            is_all: self.all,
            named: conditions
                .iter()
                .map(|condition| condition.metric.clone())
                .collect(),
            failed_checks: Some(examined.failed_checks),
            warnings: examined.warnings,
        };
        let checked = FailIf::check_each(conditions, comparison);
        let is_data = format == ComparisonFormat::Csv;
        let text = match format {
            ComparisonFormat::Text => comparison_text(comparison, &detail),
            ComparisonFormat::Json => {
                let document = comparison_in_envelope(comparison, envelope)?;
                let document = match (detail.checks_in_json()?, detail.warnings_in_json()?) {
                    (Some(failed), Some(warnings)) => document
                        .with_detail("failed_checks", failed)
                        .with_detail("warnings", warnings),
                    _ => document,
                };
                output::pretty_json(&match conditions {
                    [] => document,
                    _ => document.with_detail("conditions", self.gate.in_json(&checked)),
                })?
            }
            ComparisonFormat::Csv => comparison_csv(comparison),
            ComparisonFormat::Markdown => comparison_markdown(comparison, &detail),
        };
        match is_data {
            true => output::to_stdout(text.as_bytes())?,
            false => output::print(&text)?,
        }
        let is_within_drift = checked.iter().flatten().any(|found| found.open_for_drift() > 0);
        let ending = self.gate.announce(checked);
        if is_within_drift {
            note(&fail_if::without_drift(in_pairs.as_deref()));
        }
        let ending = ending?;
        if comparison.comparable().next().is_none() {
            let error = anyhow::anyhow!(
                "no cell can be compared{}; compare runs that measured the same factors on the same data",
                why_not(comparison, format)
            );
            // A limit needs no baseline: one that is met decides how the command ends.
            match ending {
                Ending::ConditionMet => note(&format!("warning: {error}")),
                _ => return Err(bad_input(error)),
            }
        }
        Ok(ending)
    }
}

/// Where the reasons are that no cell can be compared, where there are any.
fn why_not(comparison: &Comparison, format: ComparisonFormat) -> &'static str {
    let has_reasons = !comparison.rows.is_empty() || !comparison.unmatched.is_empty();
    match (has_reasons, format) {
        (true, ComparisonFormat::Text | ComparisonFormat::Markdown) => ", for the reasons above",
        (true, ComparisonFormat::Json | ComparisonFormat::Csv) => ", for the reasons in the output",
        (false, _) => ": neither side has a cell with a completed trial",
    }
}

/// A run compared with itself, or with a copy, has no ratio but 1, and no gate would ever fail.
fn refuse_one_run(baseline: &Loaded, candidate: &Loaded) -> anyhow::Result<()> {
    match (baseline, candidate) {
        (Loaded::Run(a), Loaded::Run(b)) if !a.trials.is_empty() && a.trials == b.trials => {
            Err(bad_input(anyhow::anyhow!(
                "{} and {} are the same run: every trial is the same; give two runs",
                a.dir.display(),
                b.dir.display()
            )))
        }
        _ => Ok(()),
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
