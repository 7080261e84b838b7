//! Two runs, or a run and a reference, held side by side: a ratio with its interval, or the reason why none.
//!
//! Cells meet when layer and workload factors are the same in one spelling ([`crate::factors`]). A run and a
//! reference meet on the factors that both have. Then the *conditions* decide whether a ratio means anything:
//! span, state of the device, open or closed loop, what was measured and what was modelled. Where one differs
//! or is not stated the answer is *not comparable*, with every reason.
//!
//! The ratio is candidate ÷ baseline of the medians, with a 95 % bootstrap interval; `Same` means that the
//! interval contains 1, not that the two were shown to be equal. Between two equal
//! systems a row looks different by chance in 10 % of cases with three repetitions a side, 4 % with five and 3 %
//! with ten (simulated, normal noise): look at how many rows agree before believing one.

mod cells;
mod conditions;
mod environment;
mod rows;

use std::collections::BTreeMap;

use outcrop_measure::interval::Interval;
use outcrop_measure::metric::{Provenance, Unit};
use serde::Serialize;

pub use environment::EnvironmentDifference;

use crate::references::Reference;
use crate::view::RunView;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Comparand<'a> {
    /// A run of ours.
    Run(&'a RunView),
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
    pub fn name(&self) -> &str {
        match self {
            Self::Run(run) => &run.name,
            Self::Reference(reference) => &reference.name,
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

/// Why there is no ratio.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotComparable {
    /// Only one side has the metric.
    #[error("the {} does not have {metric}", side.name())]
    MetricMissing {
        /// The side that lacks it.
        side: Side,
        /// The metric.
        metric: String,
    },
    /// The figure is published under a name whose definition nobody knows.
    #[error("the publication does not say what {metric} covers")]
    UndefinedMetric {
        /// The metric.
        metric: String,
    },
    /// A side could not measure the metric.
    #[error("unavailable in the {}: {reason}", side.name())]
    Unavailable {
        /// The side.
        side: Side,
        /// Its reason.
        reason: String,
    },
    /// The units are not of one kind.
    #[error("the baseline is in {}, the candidate in {}", baseline.symbol(), candidate.symbol())]
    UnitDiffers {
        /// Unit of the baseline.
        baseline: Unit,
        /// Unit of the candidate.
        candidate: Unit,
    },
    /// One is modelled and the other is not.
    #[error("the {} is modelled and the other side is not", side.name())]
    Modelled {
        /// The side that is modelled.
        side: Side,
    },
    /// A condition differs.
    #[error("{condition} differs: {baseline} in the baseline, {candidate} in the candidate")]
    ConditionDiffers {
        /// The condition (`span`, `state`, `arrival`).
        condition: String,
        /// Its value in the baseline.
        baseline: String,
        /// Its value in the candidate.
        candidate: String,
    },
    /// A condition is not known on one side.
    #[error("the {} does not state its {}", side.name(), condition.replace('_', " "))]
    ConditionNotStated {
        /// The condition (`span`, `state`, `queue_depth`).
        condition: String,
        /// The side that does not state it.
        side: Side,
    },
    /// A median of zero has no ratio.
    #[error("the median of the {} is 0, which has no ratio", side.name())]
    Zero {
        /// The side.
        side: Side,
    },
}

/// What a row says about the candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is on the good side of 1; where the same data have one value, the ratio is.
    Better,
    /// The whole interval is on the bad side of 1.
    Worse,
    /// The interval contains 1.
    Same,
    /// The interval excludes 1, and neither direction is an improvement as such.
    Different,
    /// A side has a single value: a ratio, but nothing to say how sure it is.
    Undecided,
    /// A ratio would mean nothing, for these reasons.
    NotComparable(Vec<NotComparable>),
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
    /// The baseline's figure, also when the two cannot be compared.
    pub baseline: Option<Figure>,
    /// The candidate's figure, also when the two cannot be compared.
    pub candidate: Option<Figure>,
    /// Candidate ÷ baseline of the medians; none when not comparable.
    pub ratio: Option<f64>,
    /// The ratio's interval; none also when a side has a single value.
    pub interval: Option<Interval>,
    /// What it says.
    pub verdict: Verdict,
}

impl ComparisonRow {
    /// What the ratio lies between: its interval, or itself where the verdict needs none; nothing where there is no verdict.
    pub(crate) fn bounds(&self) -> Option<(f64, f64)> {
        let of_interval = self.interval.map(|interval| (interval.low, interval.high));
        let is_exact = !matches!(self.verdict, Verdict::Undecided | Verdict::NotComparable(_));
        of_interval.or_else(|| self.ratio.filter(|_| is_exact).map(|ratio| (ratio, ratio)))
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
}

/// The result of [`compare`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the candidate.
    pub candidate: String,
    /// Metrics of the cells that met, and of reference cells that state too little to meet any.
    pub rows: Vec<ComparisonRow>,
    /// Cells that met no other.
    pub unmatched: Vec<UnmatchedCell>,
    /// What differs between the two machines; empty when a side is a reference, which has none.
    pub environment_differences: Vec<EnvironmentDifference>,
    /// The differences say that these are two machines: ratios compare machines, not only configurations.
    pub is_different_machine: bool,
}

/// Compares `candidate` with `baseline`.
///
/// Deterministic: the bootstrap is seeded by cell and metric.
pub fn compare<'a>(baseline: impl Into<Comparand<'a>>, candidate: impl Into<Comparand<'a>>) -> Comparison {
    let (baseline, candidate) = (baseline.into(), candidate.into());
    let paired = rows::pair(&cells::of(baseline), &cells::of(candidate));
    let environment_differences = match (baseline, candidate) {
        (Comparand::Run(a), Comparand::Run(b)) => environment::differences(&a.environment, &b.environment),
        _ => Vec::new(),
    };
    Comparison {
        baseline: baseline.name().to_owned(),
        candidate: candidate.name().to_owned(),
        rows: paired.rows,
        unmatched: paired.unmatched,
        is_different_machine: environment_differences
            .iter()
            .any(|difference| difference.is_machine),
        environment_differences,
    }
}
