//! A time budget: trials are shortened evenly until the run fits.

use std::time::Duration;

use outcrop_measure::units::TimeSpan;

use super::PlanSet;
use super::check::default_interval;
use crate::error::LabError;
use crate::estimate;

/// Trials are not made shorter than this.
const SHORTEST_TRIAL: Duration = Duration::from_millis(100);

impl PlanSet {
    /// Shortens warm-up and duration of every plan by one factor, so that the plans keep their proportions and shared
    /// cells stay shared. Repetitions are kept: without them there is no interval.
    pub(super) fn shorten_to(&mut self, budget: TimeSpan) -> Result<(), LabError> {
        let estimate = self.estimate();
        if estimate.total() <= budget.0 {
            return Ok(());
        }
        let scalable = estimate::under_load(&self.cells);
        let fixed = estimate.total().saturating_sub(scalable);
        let factor = budget.0.saturating_sub(fixed).as_secs_f64() / scalable.as_secs_f64();
        let shortest = self
            .plans
            .iter()
            .map(|plan| plan.trial.duration.0)
            .min()
            .unwrap_or_default();
        if shortest.mul_f64(factor) < SHORTEST_TRIAL.min(shortest) {
            let least = SHORTEST_TRIAL.min(shortest).as_secs_f64() / shortest.as_secs_f64();
            let needed = (fixed + scalable.mul_f64(least)).as_secs() + 1;
            return Err(LabError::OverBudget {
                budget: budget.to_string(),
                trials: estimate.trials,
                shortest: TimeSpan::seconds(needed).to_string(),
            });
        }
        for plan in &mut self.plans {
            let trial = &mut plan.trial;
            trial.warm_up = scaled(trial.warm_up, factor);
            trial.duration = scaled(trial.duration, factor);
            trial.interval = default_interval(trial.duration);
        }
        self.recount();
        Ok(())
    }
}

/// Rounded down to whole milliseconds, for plans that people read.
fn scaled(span: TimeSpan, factor: f64) -> TimeSpan {
    let milliseconds = span.0.mul_f64(factor).as_millis();
    TimeSpan::milliseconds(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}
