//! Why a ratio would mean nothing.

use outcrop_measure::metric::Unit;
use outcrop_measure::units::{format_bytes, format_nanoseconds};
use serde::Serialize;

use super::Side;

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
    /// The two sides worked on other data.
    #[error("the data differ: {baseline} in the baseline, {candidate} in the candidate{}",
        if baseline == candidate { " (same name and size, different content)" } else { "" })]
    DataDiffer {
        /// The data of the baseline, by name and size.
        baseline: String,
        /// The data of the candidate.
        candidate: String,
    },
    /// The two sides took samples of other sizes from the same data.
    #[error(
        "the sample sizes differ: {} in the baseline, {} in the candidate; give both the same --sample-size", format_bytes(*baseline), format_bytes(*candidate)
    )]
    SampleSizeDiffers {
        /// Bytes that the baseline took.
        baseline: u64,
        /// Bytes that the candidate took.
        candidate: u64,
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
    #[error("the {} does not state its {}{}", side.name(), condition.replace('_', " "), whose.remedy(condition))]
    ConditionNotStated {
        /// The condition (`span`, `state`, `queue_depth`).
        condition: String,
        /// The side that does not state it.
        side: Side,
        /// Whose figures it is a condition of.
        #[serde(skip)]
        whose: Whose,
    },
    /// The trials differ in length, and the figure is the largest of a trial: a longer one has a larger.
    #[error(
        "a longer trial has a larger maximum, and the lengths differ: {} in the baseline, {} in the candidate; measure both for the same time", format_nanoseconds(*baseline_ns as f64), format_nanoseconds(*candidate_ns as f64)
    )]
    TrialLengthDiffers {
        /// The baseline's, in the median.
        baseline_ns: u64,
        /// The candidate's.
        candidate_ns: u64,
    },
    /// Several cells of the baseline are as the candidate's, and none is of the same subject.
    #[error(
        "the subjects differ, and several cells of the baseline match one of the candidate ({baseline} and {candidate} among them); compare runs of one subject each"
    )]
    SeveralSubjects {
        /// The baseline's subject.
        baseline: String,
        /// The candidate's.
        candidate: String,
    },
    /// A factor differs that sets the figure by what it asks for.
    #[error(
        "the {factor} sets this figure, and differs: {baseline} in the baseline, {candidate} in the candidate; compare the latencies instead"
    )]
    SetByFactor {
        /// The factor, in words (`read write mix`).
        factor: String,
        /// Its value in the baseline.
        baseline: String,
        /// Its value in the candidate.
        candidate: String,
    },
    /// A median of zero has no ratio.
    #[error("the median of the {} is 0, so there is no ratio", side.name())]
    Zero {
        /// The side.
        side: Side,
        /// Each of its trials is 0, and not only the median.
        is_always: bool,
    },
}

/// Whose figures a condition belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    /// A publication's.
    #[default]
    Publication,
    /// Those of another program, imported.
    Import,
    /// Those of a run of ours.
    Run,
}

impl Whose {
    /// Who knows the condition can state it in this way; a run of ours says all that it will.
    fn remedy(self, condition: &str) -> String {
        match self {
            Self::Publication => format!("; if you know it, give --assume {condition}=VALUE"),
            Self::Import => format!(
                "; if you know it, import the results again with `outcrop import fio FILE --assume {condition}=VALUE`"
            ),
            Self::Run => String::new(),
        }
    }
}

impl NotComparable {
    /// The kind of reason, without what differs from row to row.
    pub fn in_short(&self) -> String {
        match self {
            Self::MetricMissing { .. } => "a side does not have the metric".to_owned(),
            Self::UndefinedMetric { .. } => "the publication does not say what the metric covers".to_owned(),
            Self::Unavailable { .. } => "unavailable in a run".to_owned(),
            Self::UnitDiffers { .. } => "the units differ".to_owned(),
            Self::Modelled { .. } => "one side is modelled".to_owned(),
            Self::DataDiffer { .. } => "the data differ".to_owned(),
            Self::SampleSizeDiffers { .. } => "the sample sizes differ".to_owned(),
            Self::ConditionDiffers { condition, .. } => format!("{condition} differs"),
            Self::ConditionNotStated { condition, .. } => format!("a side does not state its {condition}"),
            Self::TrialLengthDiffers { .. } => "the trials differ in length".to_owned(),
            Self::SeveralSubjects { .. } => "several cells of other subjects match".to_owned(),
            Self::SetByFactor { factor, .. } => format!("the {factor} sets the figure, and differs"),
            Self::Zero { .. } => "a median is 0".to_owned(),
        }
    }
}
