//! A time budget: trials are shortened evenly until the run fits.

use std::time::Duration;

use outcrop_measure::units::TimeSpan;

use super::PlanSet;
use super::check::default_interval;
use crate::error::LabError;

/// Trials are not made shorter than this.
const SHORTEST_TRIAL: Duration = Duration::from_millis(100);
/// A run that takes between the first and the second share of its budget is long enough.
const AIM: [f64; 2] = [0.995, 0.998];
/// Steps in which such a run is looked for; estimates are close to straight lines, on which the first one finds it.
const MOST_STEPS: u32 = 20;

impl PlanSet {
    /// Shortens warm-up and duration of every plan by one factor, so that the plans keep their proportions and shared
    /// cells stay shared. Repetitions are kept: without them there is no interval.
    pub(super) fn shorten_to(&mut self, budget: TimeSpan) -> Result<(), LabError> {
        let whole = self.estimate().total();
        if whole <= budget.0 {
            return Ok(());
        }
        let trials = self.plans.iter().map(|plan| &plan.trial);
        let planned: Vec<[TimeSpan; 2]> = trials.map(|trial| [trial.warm_up, trial.duration]).collect();
        let shortest = planned.iter().map(|[_, duration]| duration.0).min();
        let shortest = shortest.unwrap_or_default().max(Duration::from_nanos(1));
        let shortened = SHORTEST_TRIAL.min(shortest).div_duration_f64(shortest);
        let least = self.total_at(shortened, &planned);
        if least > budget.0 {
            return Err(LabError::OverBudget {
                budget: budget.to_string(),
                trials: self.estimate().trials,
                shortest: TimeSpan::seconds(least.as_secs() + 1).to_string(),
            });
        }
        // What a trial takes is its layer's to say: some have a second pass that is as long, and some do not follow their duration at all.
        let [enough, aim] = AIM.map(|share| budget.0.as_secs_f64() * share);
        let mut fits = (shortened, least.as_secs_f64());
        let mut exceeds = (1.0, whole.as_secs_f64());
        for step in 0..MOST_STEPS {
            if fits.1 >= enough {
                break;
            }
            // Halves help where the line bends.
            let share = match step % 2 {
                0 => (aim - fits.1) / (exceeds.1 - fits.1),
                _ => 0.5,
            };
            let between = fits.0 + (exceeds.0 - fits.0) * share;
            let takes = self.total_at(between, &planned);
            let found = (between, takes.as_secs_f64());
            match takes <= budget.0 {
                true => fits = found,
                false => exceeds = found,
            }
        }
        self.total_at(fits.0, &planned);
        Ok(())
    }

    /// Shortens the plans to this share of what was planned; the time that the run then takes.
    fn total_at(&mut self, factor: f64, planned: &[[TimeSpan; 2]]) -> Duration {
        for (plan, [warm_up, duration]) in self.plans.iter_mut().zip(planned) {
            let trial = &mut plan.trial;
            trial.warm_up = scaled(*warm_up, factor);
            trial.duration = scaled(*duration, factor);
            trial.interval = default_interval(trial.duration);
        }
        self.recount();
        self.estimate().total()
    }
}

/// Rounded to whole milliseconds, for plans that people read.
fn scaled(span: TimeSpan, factor: f64) -> TimeSpan {
    let milliseconds = (span.0.as_secs_f64() * factor * 1e3).round();
    TimeSpan::milliseconds(milliseconds as u64)
}
