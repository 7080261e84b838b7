//! The time that a whole run promises to take, whatever else the machine does.

use std::fmt;
use std::time::Duration;

use outcrop_measure::units::TimeSpan;

use super::{PlanOptions, PlanSet};

/// A budget is met by trials that are short enough by forecast, which end a little later.
const TOLERANCE: f64 = 1.1;

/// The time that a whole run may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeLimit {
    limit: Duration,
    /// The budget that its user chose, where the time follows from one.
    budget: Option<TimeSpan>,
}

/// As its user knows it: the budget that was asked for, not the time that follows from it.
impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.budget {
            Some(budget) => write!(
                f,
                "the budget of {budget} plus {:.0} %",
                (TOLERANCE - 1.0) * 100.0
            ),
            None => write!(f, "{:.0} s", self.limit.as_secs_f64()),
        }
    }
}

/// The time that a run may take: what its user chose, or what a profile promises. Where effort follows doubt, the budget ends the trials of any
/// run but a profile.
pub(super) fn time_limit(options: &PlanOptions, follows_doubt: bool) -> Option<TimeLimit> {
    let chosen = options.budget.map(|budget| TimeLimit {
        limit: budget.0.mul_f64(TOLERANCE),
        budget: Some(budget),
    });
    match options.promised {
        Some(promised) => Some(chosen.unwrap_or(TimeLimit {
            limit: promised.0,
            budget: None,
        })),
        None => chosen.filter(|_| !follows_doubt),
    }
}

impl PlanSet {
    /// The time that the whole run promised to take; none where it takes as long as its trials.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit.map(|time| time.limit)
    }

    /// The same, as its user knows it.
    pub(crate) fn time_limit_in_words(&self) -> Option<String> {
        self.time_limit.map(|time| time.to_string())
    }

    /// The same plans with another such promise.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Option<Duration>) -> Self {
        let time_limit = time_limit.map(|limit| TimeLimit { limit, budget: None });
        Self { time_limit, ..self }
    }

    /// What is left of the promise once the plans are checked.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        Some(self.time_limit()?.saturating_sub(self.checking_took))
    }

    /// Takes note of how long checking took, where that is a part of what was promised.
    pub(super) fn checked_in(self, took: Duration) -> Self {
        let checking_took = self.time_limit.map_or(Duration::ZERO, |_| took);
        Self {
            checking_took,
            ..self
        }
    }
}
