//! The time that a run still takes: forecasts, corrected by how long things really took in this session.

use std::time::Duration;

use crate::cell::Cell;
use crate::order::Trial;
use crate::plan::PlanSet;

/// Forecasts count as this much evidence, so that the first odd trial does not upset the whole estimate.
const PRIOR: Duration = Duration::from_secs(2);

/// A time as it was forecast, and as it really was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compared {
    /// By the forecast.
    pub(crate) forecast: Duration,
    /// By the clock.
    pub(crate) took: Duration,
}

impl Compared {
    /// How much longer it took.
    pub(crate) fn over(&self) -> Duration {
        self.took.saturating_sub(self.forecast)
    }
}

/// Remaining time of one session.
#[derive(Debug)]
pub(crate) struct Eta {
    preparation: Duration,
    /// As it was forecast, and as it took.
    of_preparation: Compared,
    pending: Duration,
    forecast_done: Duration,
    really_done: Duration,
}

impl Eta {
    pub(crate) fn new(set: &PlanSet, pending: &[Trial]) -> Self {
        let preparation = if pending.is_empty() {
            Duration::ZERO
        } else {
            set.estimate().preparation
        };
        let pending = pending
            .iter()
            .map(|trial| {
                let cell = &set.cells()[trial.cell];
                cell.layer.forecast_trial(cell).time
            })
            .sum();
        Self {
            preparation,
            of_preparation: Compared {
                forecast: preparation,
                took: Duration::ZERO,
            },
            pending,
            forecast_done: Duration::ZERO,
            really_done: Duration::ZERO,
        }
    }

    /// Progress of the preparation; its rate so far replaces the forecast.
    pub(crate) fn preparing(&mut self, done: u64, total: u64, elapsed: Duration) -> Duration {
        if done > 0 && done <= total {
            self.preparation = elapsed.mul_f64((total - done) as f64 / done as f64);
        }
        self.remaining()
    }

    pub(crate) fn prepared(&mut self, took: Duration) {
        self.preparation = Duration::ZERO;
        self.of_preparation.took = took;
    }

    /// Preparing, as forecast and as it was.
    pub(crate) const fn of_preparation(&self) -> Compared {
        self.of_preparation
    }

    /// The trials that were started, as forecast and as they were.
    pub(crate) const fn of_trials(&self) -> Compared {
        Compared {
            forecast: self.forecast_done,
            took: self.really_done,
        }
    }

    pub(crate) fn trial_took(&mut self, cell: &Cell, time: Duration) {
        let forecast = cell.layer.forecast_trial(cell).time;
        self.pending = self.pending.saturating_sub(forecast);
        self.forecast_done += forecast;
        self.really_done += time;
    }

    /// These trials are not measured after all.
    pub(crate) fn leave_out<'c>(&mut self, cells: impl Iterator<Item = &'c Cell>) {
        let forecast: Duration = cells.map(|cell| cell.layer.forecast_trial(cell).time).sum();
        self.pending = self.pending.saturating_sub(forecast);
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.preparation + self.pending.mul_f64(self.ratio())
    }

    /// What a trial of a cell will take.
    pub(crate) fn expected(&self, cell: &Cell) -> Duration {
        cell.layer.forecast_trial(cell).time.mul_f64(self.ratio())
    }

    /// How much longer things took than forecast.
    fn ratio(&self) -> f64 {
        (self.really_done + PRIOR).as_secs_f64() / (self.forecast_done + PRIOR).as_secs_f64()
    }
}
