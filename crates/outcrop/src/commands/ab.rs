//! `outcrop ab PLAN --a … --b …`: two variants of a plan in one run, measured in pairs, and compared.

use super::compare::{Beside, ComparisonFormat, Judging};
use super::plan_flags::{DECIDED_BY_A_RUN, PlanChoices, PlanFlags};
use super::run::source;
use crate::exit::{Ending, bad_input};
use crate::output::{self, Format, note};
use crate::session::{self, Conclusion};
use outcrop_lab::{PlanSet, VariantFactors, VariantName};
use outcrop_measure::ratio::least_p_value_of_pairs;
use outcrop_report::Report;
use outcrop_report::comparison::examined;
use outcrop_results::compare::verdict::LEVEL;
use outcrop_results::compare::{Comparand, Side, compare_with};
use outcrop_results::{FailIf, RunView};
use outcrop_schema::metrics::hint;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  outcrop ab ssd-queue-depth --a submission=refill --b submission=batch
  outcrop ab cache-etc --a target=memcached://old:11211 --b target=memcached://new:11211
  outcrop ab codec-choice --data dump --a codec=zstd:1 --b codec=zstd:3 --repetitions 20
  outcrop ab mine.toml --a queue_depth=8 --b queue_depth=32 --fail-if 'p99 > +5%' --markdown
  outcrop ab mine.toml --a codec=lz4 --b codec=zstd:1 --fail-if 'compress_latency_p99 > 1ms'
  outcrop ab --resume runs/20261121T020304Z-mine-ab

Each repetition measures both variants of a cell, one directly after the other, in random order and with the same seed. Drift of the machine cancels within a pair, which it cannot do between two runs. Ratios are B ÷ A, the median over the pairs. A decision in a single cell needs at least six pairs; more cells need more (9 for 10 cells). A property of the data, such as a size, needs one. The number of pairs is the plan's number of repetitions if that is six or more, else ten. Undecided cells do not meet a --fail-if condition; their number is printed. The run folder is an ordinary one: `outcrop report` works on it.

Exit codes: 0 no condition is met, 1 one is, 2 none is met and nothing could be compared or a condition could be checked in no cell, or a cell of the candidate failed, lacks the figure that the baseline has or, for a limit, completed too few operations for it or, with --strict, is undecided or was not checked, 3 the measurement failed.";

/// What `--repetitions` is where trials come in pairs.
const PAIRS_HELP: &str = "Pairs of trials per cell [default: as the plan says if that is 6 or more, else 10]";

/// Measure two variants of a plan in pairs, and compare them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("repetitions", |arg| arg.help(PAIRS_HELP)))]
pub(crate) struct Args {
    /// A plan file, or the name of a plan that ships
    #[arg(required_unless_present = "resume")]
    plan: Option<String>,
    /// Factors of variant A, the baseline: FACTOR=VALUE[,FACTOR=VALUE…]
    #[arg(long, value_name = "FACTORS", required_unless_present = "resume")]
    a: Option<VariantFactors>,
    /// Factors of variant B, the candidate: the same factors with other values
    #[arg(long, value_name = "FACTORS", required_unless_present = "resume")]
    b: Option<VariantFactors>,
    /// Resume an interrupted run of two variants, then compare them
    #[arg(long, value_name = "RUN", conflicts_with_all = DECIDED_BY_A_RUN, conflicts_with_all = ["plan", "a", "b", "dry_run"])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    choices: PlanChoices,
    /// Print the comparison as a table in Markdown
    #[arg(long, conflicts_with = "format")]
    markdown: bool,
    #[command(flatten)]
    flags: PlanFlags,
    #[command(flatten)]
    judging: Judging,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let conditions = args.judging.gate.conditions()?;
    // Loaded while its folder is there: with --no-save it is removed before the comparison.
    let measured = RefCell::new(None);
    let write_report = |dir: &Path, flags: &PlanFlags| -> anyhow::Result<()> {
        let view = RunView::load(dir).map_err(bad_input)?;
        let report = Report::beside(&view, flags.beside.checked()?);
        flags.beside.note_absence(&report.figures(), None);
        if !flags.no_save {
            let paths = outcrop_report::write(&report, dir)?;
            outcrop_results::cells::write_files(&view, dir)?;
            note(&format!("report: {}", paths.html.display()));
        }
        *measured.borrow_mut() = Some(view);
        Ok(())
    };
    let conclusion = Conclusion {
        command: "outcrop ab",
        conclude: &write_report,
    };
    let ending = match (&args.resume, &args.plan, &args.a, &args.b) {
        (Some(dir), ..) => {
            let resumed = outcrop_lab::resume(dir).map_err(session::lab_error)?;
            if !resumed.set.has_variants() {
                return Err(bad_input(anyhow::anyhow!(
                    "{} does not have two variants to compare; resume it with `outcrop run --resume`",
                    dir.display()
                )));
            }
            refuse_unknown_metrics(&conditions, &resumed.set)?;
            session::resume_and(resumed, &args.flags, &conclusion)?
        }
        (None, Some(plan), Some(a), Some(b)) => {
            let options = args.choices.options(&args.flags);
            let set = PlanSet::of_variants(&source(plan)?, a, b, &options).map_err(session::lab_error)?;
            refuse_unknown_metrics(&conditions, &set)?;
            if let Some(few) = too_few(&set) {
                note(&few);
            }
            let first = &set.plans()[0].name;
            let name = format!("{}-ab", first.strip_suffix("-a").unwrap_or(first));
            session::start_and(&set, &name, &args.flags, &conclusion)?
        }
        _ => unreachable!("the grammar asks for a plan and two variants, or for a run"),
    };
    match (ending, measured.into_inner()) {
        // A comparison of nothing gives the reasons.
        (Ending::Done | Ending::NothingMeasured, Some(view)) => compare_variants(&view, args, &conditions),
        // Nothing was measured (--dry-run), or not all: what is missing of pairs is measured when the run is resumed.
        (ending, _) => Ok(ending),
    }
}

/// Refuses conditions on metrics that no layer of the plans has, before anything is measured.
fn refuse_unknown_metrics(conditions: &[FailIf], set: &PlanSet) -> anyhow::Result<()> {
    let schemas: Vec<_> = set.plans().iter().map(|plan| plan.layer.schema()).collect();
    for condition in conditions {
        let metric = condition.metric.as_str();
        if schemas.iter().any(|schema| schema.metric(metric).is_some()) {
            continue;
        }
        let all = schemas.iter().flat_map(|schema| schema.all_metrics());
        let names: BTreeSet<&str> = all.map(|metric| metric.name).collect();
        let hint = hint(metric, &names.into_iter().collect::<Vec<_>>());
        return Err(bad_input(anyhow::anyhow!(
            "--fail-if: the plan measures no metric {metric:?}; {hint}"
        )));
    }
    Ok(())
}

/// Why fewer pairs than a decision takes leave all but properties of the data undecided; none where there are enough.
fn too_few(set: &PlanSet) -> Option<String> {
    let fewest = set.cells().iter().map(|cell| cell.trial.repetitions).min()?;
    let enough = (1..100).find(|pairs| least_p_value_of_pairs(*pairs) <= LEVEL)?;
    ((fewest as usize) < enough).then(|| {
        format!(
            "warning: {}, such as a time or a rate; give --repetitions {enough} or more",
            match fewest {
                1 => "1 repetition decides no figure that it measures".to_owned(),
                fewest => format!("{fewest} repetitions decide no figure that each of them measures"),
            }
        )
    })
}

fn compare_variants(view: &RunView, args: &Args, conditions: &[FailIf]) -> anyhow::Result<Ending> {
    let variants = [VariantName::A, VariantName::B].map(VariantName::name);
    let sides = variants.map(|variant| Comparand::Variant(view, variant));
    let options = args.judging.options(conditions);
    let comparison = compare_with(sides[0], sides[1], &options).map_err(bad_input)?;
    let format = match args.flags.format {
        _ if args.markdown => ComparisonFormat::Markdown,
        Format::Text => ComparisonFormat::Text,
        Format::Json => ComparisonFormat::Json,
        Format::Csv => ComparisonFormat::Csv,
    };
    let envelope = output::envelope().on(view.environment.clone());
    let of_variants = [Side::Baseline, Side::Candidate].into_iter().zip(variants);
    let of_variants = of_variants.map(|(side, variant)| examined(side, &view.of_variant(variant)));
    // Nothing drifts within a pair.
    args.judging.report(
        &comparison,
        conditions,
        (format, envelope),
        Beside::of(of_variants, None),
    )
}
