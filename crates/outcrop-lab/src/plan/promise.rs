//! The time that a whole run promises to take, whatever else the machine does.

use std::time::Duration;

use super::{PlanOptions, PlanSet};

/// A budget is met by trials that are short enough by forecast, which end a little later.
const TOLERANCE: f64 = 1.1;

/// The time that a run may take: what its user chose, or what a profile promises. Where effort follows doubt, the budget ends the trials of any
/// run but a profile.
pub(super) fn time_limit(options: &PlanOptions, follows_doubt: bool) -> Option<Duration> {
    let chosen = options.budget.map(|budget| budget.0.mul_f64(TOLERANCE));
    match options.promised {
        Some(promised) => Some(chosen.unwrap_or(promised.0)),
        None => chosen.filter(|_| !follows_doubt),
    }
}

impl PlanSet {
    /// The time that the whole run promised to take; none where it takes as long as its trials.
    pub const fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// The same plans with another such promise.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Option<Duration>) -> Self {
        Self { time_limit, ..self }
    }

    /// What is left of the promise once the plans are checked.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        Some(self.time_limit?.saturating_sub(self.checking_took))
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
