//! The time that a whole run promises to take, whatever else the machine does.

use std::fmt;
use std::time::Duration;

use outcrop_measure::units::{TimeSpan, format_nanoseconds};

use super::{PlanOptions, PlanSet};

/// A budget is met by trials that are short enough by forecast, which end a little later.
const TOLERANCE: f64 = 1.1;
/// Time of the promise that is kept for the report, at most, and as a share.
const FOR_THE_REPORT: (Duration, f64) = (Duration::from_secs(8), 0.1);

/// The time that a whole run may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeLimit {
    limit: Duration,
    /// The budget that its user chose, where the time follows from one.
    budget: Option<TimeSpan>,
}

impl TimeLimit {
    /// What is kept for the report. Trials that are short enough for a budget by forecast have the other half of what it may be exceeded by.
    fn for_the_report(&self) -> Duration {
        let (most, share) = FOR_THE_REPORT;
        let kept = self.limit.mul_f64(share).min(most);
        let beyond = self.budget.map(|budget| self.limit.saturating_sub(budget.0));
        beyond.map_or(kept, |beyond| kept.min(beyond / 2))
    }
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

    /// The time that the trials of such a run have, in words.
    pub(crate) fn time_for_trials_in_words(&self) -> Option<String> {
        let time = self.time_limit?;
        let kept = format_nanoseconds(time.for_the_report().as_nanos() as f64);
        Some(format!("{time}, less {kept} for the report"))
    }

    /// The same plans with another such promise.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Option<Duration>) -> Self {
        let time_limit = time_limit.map(|limit| TimeLimit { limit, budget: None });
        Self { time_limit, ..self }
    }

    /// What is left of the promise once the plans are checked.
    fn time_left(&self) -> Option<Duration> {
        Some(self.time_limit()?.saturating_sub(self.checking_took))
    }

    /// The part of it in which trials run.
    pub(crate) fn time_for_trials(&self) -> Option<Duration> {
        let kept = self.time_limit?.for_the_report();
        Some(self.time_left()?.saturating_sub(kept))
    }

    /// How long checking took, where that is a part of what was promised.
    pub(crate) const fn checking_took(&self) -> Duration {
        self.checking_took
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_promise_leaves_a_share_for_the_report_and_a_long_one_some_seconds() {
        for (promised_s, kept_s) in [(10, 1), (90, 8), (600, 8)] {
            let limit = Duration::from_secs(promised_s);
            let time = TimeLimit { limit, budget: None };
            assert_eq!(time.for_the_report(), Duration::from_secs(kept_s));
        }
    }

    #[test]
    fn trials_that_take_all_of_a_budget_by_forecast_have_time_to_end_a_little_later() {
        for seconds in [1, 15, 80, 600, 36_000] {
            let budget = Some(TimeSpan::seconds(seconds));
            let options = PlanOptions {
                budget,
                ..PlanOptions::default()
            };
            let time = time_limit(&options, false).unwrap();
            let for_trials = time.limit.saturating_sub(time.for_the_report());
            assert!(
                for_trials.as_secs_f64() > 1.04 * seconds as f64,
                "{seconds} s: {for_trials:?}"
            );
        }
    }
}
