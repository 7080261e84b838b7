//! How a run is measured again with more of what its figures lack.

use std::fmt;

use outcrop_measure::ByteSize;
use outcrop_measure::units::TimeSpan;
use outcrop_results::RunView;

use crate::report::plan_setting;

/// How to measure more, as the flag that does it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum More {
    /// So many repetitions of each cell.
    Repetitions(usize),
    /// So much time, which goes where the answer is open.
    Budget(TimeSpan),
    /// So many bytes of the data, and so many repetitions where those are open too.
    Sample(ByteSize, Option<usize>),
    /// A warm-up of so much time.
    WarmUp(TimeSpan),
}

impl More {
    /// More than a budget allowed.
    pub(crate) fn after(budget: TimeSpan) -> Self {
        Self::Budget(TimeSpan(budget.0 * 3))
    }

    /// More of the stores of a run whose effort followed doubt; none where the number of its trials was fixed before.
    pub(crate) fn by_budget_of(run: &RunView) -> Option<Self> {
        budget_of(run).map(Self::after)
    }

    /// What gives both what they need.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Repetitions(one), Self::Repetitions(other)) => Self::Repetitions(one.max(other)),
            (Self::Sample(one, more), Self::Sample(other, others)) => {
                Self::Sample(one.max(other), more.max(others))
            }
            (Self::Sample(size, more), Self::Repetitions(count))
            | (Self::Repetitions(count), Self::Sample(size, more)) => {
                Self::Sample(size, more.max(Some(count)))
            }
            (first @ (Self::Budget(_) | Self::WarmUp(_)), _)
            | (_, first @ (Self::Budget(_) | Self::WarmUp(_))) => first,
        }
    }

    /// Whether it is a larger sample that is needed.
    pub(crate) const fn is_of_sample(self) -> bool {
        matches!(self, Self::Sample(..))
    }
}

impl fmt::Display for More {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repetitions(count) => write!(formatter, "--repetitions {count}"),
            Self::Budget(time) => write!(formatter, "--budget {time}"),
            Self::WarmUp(time) => write!(formatter, "--warm-up {time}"),
            Self::Sample(size, None) => write!(formatter, "--sample-size {size}"),
            Self::Sample(size, Some(count)) => {
                write!(formatter, "--sample-size {size} --repetitions {count}")
            }
        }
    }
}

/// The time that a run was given whose effort followed doubt.
pub(crate) fn budget_of(run: &RunView) -> Option<TimeSpan> {
    plan_setting(&run.plan, "budget").and_then(|text| text.parse().ok())
}
