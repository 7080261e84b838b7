//! Two runs, or a run and a reference, compared: a ratio with its interval, or the reason why there is none.
//!
//! Cells meet when layer and workload factors are the same in one spelling ([`crate::factors`]). A run and a
//! reference meet on the factors that both have. Then the *conditions* decide whether a ratio means anything: the data,
//! span, state of the device, open or closed loop, what was measured and what was modelled. Where one differs
//! or is not stated the answer is *not comparable*, with every reason.
//!
//! The ratio is candidate ÷ baseline of the medians. [`verdict`] says how it is judged: by an exact test, a margin, and a
//! correction for the number of rows.

mod beside;
mod cells;
mod conditions;
mod definitions;
mod environment;
pub(crate) mod failed;
pub(crate) mod load;
mod options;
mod pairs;
mod reason;
mod remedy;
mod rows;
mod side_cell;
mod unlike;
pub mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::interval::Interval;
use outcrop_measure::metric::{Better, Provenance, Unit};
use serde::Serialize;

pub use beside::{BesidePublished, beside_published};
pub use definitions::LatencyDifference;
pub use environment::EnvironmentDifference;
pub use load::{Crowding, LoadDifference, LoadMeasure};
pub use options::CompareOptions;
pub use reason::{NotComparable, Whose};
pub use remedy::about_repetitions;
pub(crate) use remedy::{enough, enough_for, repeat, suffices, to_be_beyond, with_drift};
pub use rows::are_unlike_lengths;
pub use side_cell::SideCell;
pub use unlike::UnlikeFactor;
pub use verdict::{Undecided, Verdict};

use crate::error::ResultsError;
use crate::references::Reference;
use crate::view::RunView;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Comparand<'a> {
    /// A run of ours.
    Run(&'a RunView),
    /// The trials of one variant of a run that measured two, interleaved.
    Variant(&'a RunView, &'a str),
    /// Published figures.
    Reference(&'a Reference),
}

impl<'a> From<&'a RunView> for Comparand<'a> {
    fn from(run: &'a RunView) -> Self {
        Self::Run(run)
    }
}

impl<'a> From<&'a Reference> for Comparand<'a> {
    fn from(reference: &'a Reference) -> Self {
        Self::Reference(reference)
    }
}

impl Comparand<'_> {
    /// The run's or the reference's name.
    pub fn name(&self) -> String {
        match self {
            Self::Run(run) => run.name.clone(),
            Self::Variant(run, variant) => format!("{} of {}", variant, run.name),
            Self::Reference(reference) => reference.name.clone(),
        }
    }
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// What is compared with: the denominator of every ratio.
    Baseline,
    /// What is judged: the numerator.
    Candidate,
}

impl Side {
    /// `baseline`, `candidate`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Candidate => "candidate",
        }
    }

    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::Baseline => Self::Candidate,
            Self::Candidate => Self::Baseline,
        }
    }
}

/// A metric of one side's cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Median over the repetitions, in the unit.
    pub median: f64,
    /// Unit of the median.
    pub unit: Unit,
    /// Repetitions.
    pub n: usize,
    /// Where it came from.
    pub provenance: Provenance,
}

/// One metric of one cell on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// Layer measured.
    pub layer: String,
    /// Subject of the baseline; none when it has no such cell.
    pub baseline_subject: Option<String>,
    /// Subject of the candidate; none when it has no such cell.
    pub candidate_subject: Option<String>,
    /// The cell, in one spelling.
    pub factors: BTreeMap<String, String>,
    /// Metric.
    pub metric: String,
    /// Which way is better, where there is one.
    #[serde(skip)]
    pub better: Option<Better>,
    /// It is among the figures that its layer is known by.
    pub is_headline: bool,
    /// It says again what another row of the cell says, as the bandwidth does what the IOPS do.
    pub is_repeated: bool,
    /// The baseline's figure, also when the two cannot be compared.
    pub baseline: Option<Figure>,
    /// The candidate's figure, also when the two cannot be compared.
    pub candidate: Option<Figure>,
    /// Candidate ÷ baseline of the medians; none when not comparable.
    pub ratio: Option<f64>,
    /// The ratio's interval; none also when a side has a single value.
    pub interval: Option<Interval>,
    /// Probability that two equal sides differ at least this much; none where nothing is left to chance, or nothing is known.
    pub p_value: Option<f64>,
    /// What two equal sides may differ by, as the machine may have drifted between their runs; 0 where nothing can: in pairs of trials, and for
    /// all but times and rates.
    #[serde(skip)]
    pub drift: f64,
    /// The sides on which the machine or the device had more to do for others, by what.
    #[serde(skip)]
    pub busier: BTreeSet<(Side, LoadMeasure)>,
    /// The shares of the CPUs that others used under both sides, where that widened the drift that is allowed for: two equal runs differ by it.
    #[serde(skip)]
    pub crowding: Option<Crowding>,
    /// The side whose figure is lower by its definition, where the two define it differently.
    #[serde(skip)]
    pub lower_by_definition: Option<Side>,
    /// The sides that were measured by another program, and imported.
    #[serde(skip)]
    pub imported: BTreeSet<Side>,
    /// The interval is that of samples of the data: repetitions do not narrow it.
    #[serde(skip)]
    pub is_of_sample: bool,
    /// About how many repetitions of each side would decide it, if the ratio stays what it is; none where it is decided, or that is not known.
    pub repetitions_needed: Option<usize>,
    /// What it says.
    pub verdict: Verdict,
}

impl ComparisonRow {
    /// What the ratio lies between: its interval, or itself where it is exact; nothing where it decides nothing.
    pub(crate) fn bounds(&self) -> Option<(f64, f64)> {
        match &self.verdict {
            Verdict::NotComparable(_) => None,
            Verdict::Undecided(reason) if !reason.is_of_test() => None,
            _ => {
                let of_interval = self.interval.map(|interval| (interval.low, interval.high));
                of_interval.or_else(|| self.ratio.map(|ratio| (ratio, ratio)))
            }
        }
    }
}

/// A cell that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnmatchedCell {
    /// The side that has it.
    pub side: Side,
    /// Layer measured.
    pub layer: String,
    /// What was measured.
    pub subject: String,
    /// The cell, in one spelling.
    pub factors: BTreeMap<String, String>,
    /// Metrics of which it has enough values to be judged beside another cell.
    #[serde(skip)]
    pub judgeable: BTreeSet<String>,
}

/// A cell with failed trials: all of them, or enough that too few completed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedCell {
    /// The sides on which it failed; none where there is one run alone.
    pub sides: BTreeSet<Side>,
    /// Layer measured.
    pub layer: String,
    /// What was measured.
    pub subject: String,
    /// The cell, in one spelling; of variants, that of the first.
    pub factors: BTreeMap<String, String>,
    /// Why its first trial failed.
    pub message: String,
}

/// The result of [`compare`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the candidate.
    pub candidate: String,
    /// What the baseline measured, each with its layer: `device: scratch-file 1GiB`.
    pub baseline_subjects: BTreeSet<String>,
    /// What the candidate measured.
    pub candidate_subjects: BTreeSet<String>,
    /// Factors that all cells of the baseline have with one value, and all of the candidate with another: what variants set.
    pub baseline_settings: BTreeMap<String, String>,
    /// The candidate's values of the same factors.
    pub candidate_settings: BTreeMap<String, String>,
    /// How long a trial of the baseline was, in seconds, in the median over its cells; none for a publication.
    pub baseline_trial_s: Option<f64>,
    /// The same of the candidate.
    pub candidate_trial_s: Option<f64>,
    /// The sides were measured in pairs within one run.
    pub is_paired: bool,
    /// What counts as the same: 0.05 for ± 5 %.
    pub margin: f64,
    /// What two separate runs may differ by with nothing changed, 0.05 for ± 5 %; 0 for sides that were measured in pairs.
    pub drift: f64,
    /// What was assumed of publications that do not state it: `state = as found`. What they state is not among it.
    pub assumed: BTreeMap<String, String>,
    /// Metrics of the cells that met, and of reference cells that state too little to meet any. In JSON they are beside the
    /// rest, where the rows of every document are.
    #[serde(skip)]
    pub rows: Vec<ComparisonRow>,
    /// The candidate's cells, those that met none of the baseline too: limits on their figures need no baseline.
    #[serde(skip)]
    pub candidate_cells: Vec<SideCell>,
    /// Cells that met no other.
    pub unmatched: Vec<UnmatchedCell>,
    /// Why cells of a layer met none: the factors in which they have nothing in common.
    pub unlike: Vec<UnlikeFactor>,
    /// Cells without a completed trial on a side.
    pub failed: Vec<FailedCell>,
    /// Cells in which failures left the candidate some trials, but too few to decide anything; the baseline too, where it is among the sides.
    #[serde(skip)]
    pub depleted: Vec<FailedCell>,
    /// Cells of which the candidate has too few trials to decide anything because its run ended, or its time was over, before; their message says how
    /// many.
    #[serde(skip)]
    pub cut_short: Vec<FailedCell>,
    /// How many cells of each layer the candidate's run did not come to.
    #[serde(skip)]
    pub without_trials: BTreeMap<String, usize>,
    /// What differs between the two machines; empty when a side is a reference, which has none.
    pub environment_differences: Vec<EnvironmentDifference>,
    /// The machine had more to do for others on one side.
    pub loads: Vec<LoadDifference>,
    /// Latencies that are compared although one side leaves the submission out.
    pub latency_differences: Vec<LatencyDifference>,
    /// The differences say that these are two machines: ratios compare machines, not only configurations.
    pub is_different_machine: bool,
    /// The differences say that the storage is another one, of one machine or two.
    pub is_different_storage: bool,
}

impl Comparison {
    /// Rows that can be compared.
    pub fn comparable(&self) -> impl Iterator<Item = &ComparisonRow> {
        let is_comparable = |row: &&ComparisonRow| !matches!(row.verdict, Verdict::NotComparable(_));
        self.rows.iter().filter(is_comparable)
    }
}

/// Compares `candidate` with `baseline`, by default within ± 5 % and without assumptions.
pub fn compare<'a>(baseline: impl Into<Comparand<'a>>, candidate: impl Into<Comparand<'a>>) -> Comparison {
    of_sides(baseline.into(), candidate.into(), &CompareOptions::default())
}

/// Compares `candidate` with `baseline`.
///
/// # Errors
/// [`ResultsError::BadAssumption`] where an assumption names no condition, its value cannot be one, or no publication leaves it out.
pub fn compare_with<'a>(
    baseline: impl Into<Comparand<'a>>,
    candidate: impl Into<Comparand<'a>>,
    options: &CompareOptions,
) -> Result<Comparison, ResultsError> {
    let (baseline, candidate, options) = (baseline.into(), candidate.into(), options.checked()?);
    let comparison = of_sides(baseline, candidate, &options);
    let mut assumed = options.assumed.iter();
    match assumed.find(|(name, _)| !comparison.assumed.contains_key(*name)) {
        Some(unused) => Err(options::unused(unused, [baseline, candidate])),
        None => Ok(comparison),
    }
}

fn of_sides(baseline: Comparand<'_>, candidate: Comparand<'_>, options: &CompareOptions) -> Comparison {
    let (a, b) = (cells::of(baseline, options), cells::of(candidate, options));
    let is_paired = matches!(
        (baseline, candidate),
        (Comparand::Variant(..), Comparand::Variant(..))
    );
    // Within a pair of trials, drift cancels.
    let drift = if is_paired { 0.0 } else { options.drift };
    let environment_differences = match (baseline, candidate) {
        (Comparand::Run(a), Comparand::Run(b)) => environment::differences(&a.environment, &b.environment),
        _ => Vec::new(),
    };
    let any = |is: fn(&EnvironmentDifference) -> bool| environment_differences.iter().any(is);
    let is_different_storage = any(|difference| difference.is_storage);
    let mut paired = pairs::pair(&a, &b, (is_paired, !is_different_storage));
    verdict::allow_for_drift(&mut paired.rows, drift);
    verdict::judge(&mut paired.rows, options.margin, &options.asked, is_paired);
    let subjects = |cells: &[cells::Cell]| {
        cells
            .iter()
            .map(|cell| format!("{}: {}", cell.layer, cell.subject))
            .collect()
    };
    let (baseline_settings, candidate_settings) = match is_paired {
        true => cells::settings(&a, &b),
        false => Default::default(),
    };
    let [failed, depleted, cut_short] = failed::of(baseline, candidate);
    let without_trials = match candidate {
        Comparand::Run(run) => run.cells_without_trials(),
        Comparand::Variant(..) | Comparand::Reference(_) => BTreeMap::new(),
    };
    Comparison {
        baseline_settings,
        candidate_settings,
        baseline_trial_s: cells::trial_s(&a),
        candidate_trial_s: cells::trial_s(&b),
        baseline: baseline.name(),
        candidate: candidate.name(),
        baseline_subjects: subjects(&a),
        candidate_subjects: subjects(&b),
        is_paired,
        margin: options.margin,
        drift,
        assumed: cells::assumed([&a, &b], options),
        latency_differences: definitions::latencies(&paired.rows),
        rows: paired.rows,
        unlike: unlike::factors(&a, &b, &paired.unmatched),
        unmatched: paired.unmatched,
        loads: load::summed(&paired.loads),
        failed,
        depleted,
        cut_short,
        without_trials,
        is_different_machine: any(|difference| difference.is_machine),
        is_different_storage,
        environment_differences,
        candidate_cells: b.into_iter().map(SideCell::of).collect(),
    }
}
