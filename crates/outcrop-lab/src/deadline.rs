//! The time that a run promised to take, kept with any load of the machine: trials that do not fit are left out, and one that runs beyond it
//! is cut.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use outcrop_measure::units::format_nanoseconds;
use outcrop_results::RunFolder;

use crate::error::LabError;
use crate::eta::{Compared, Eta};
use crate::order::Trial;
use crate::plan::PlanSet;

/// Cells without a figure that are named.
const MOST_NAMED: usize = 12;

/// How long trials may run, and those that did not fit.
pub(crate) struct Deadline<'d> {
    /// None where nothing was promised.
    limit: Option<Duration>,
    promised: Duration,
    is_over: &'d AtomicBool,
    left_out: Vec<Trial>,
    /// Those among them that ran when the time was over.
    cut_count: usize,
}

/// Does `work`, and raises `stop` once the time for trials is over, if there is a limit. What was raised here is lowered again; the flag that `work` gets says
/// whether it was.
pub(crate) fn watched<T>(
    limit: Option<Duration>,
    stop: &AtomicBool,
    work: impl FnOnce(&AtomicBool) -> T,
) -> T {
    let is_over = &AtomicBool::new(false);
    let Some(limit) = limit else {
        return work(is_over);
    };
    let result = std::thread::scope(|scope| {
        let (working, ended) = channel::<()>();
        scope.spawn(move || {
            // It ends at once when the work has ended, whichever way: then there is no sender any more.
            if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                is_over.store(true, Ordering::Relaxed);
                stop.store(true, Ordering::Relaxed);
            }
        });
        let result = work(is_over);
        drop(working);
        result
    });
    if is_over.load(Ordering::Relaxed) {
        stop.store(false, Ordering::Relaxed);
    }
    result
}

impl<'d> Deadline<'d> {
    pub(crate) fn of(set: &PlanSet, is_over: &'d AtomicBool) -> Self {
        Self {
            limit: set.time_for_trials(),
            promised: set.time_limit().unwrap_or_default(),
            is_over,
            left_out: Vec::new(),
            cut_count: 0,
        }
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Whether a trial that is expected to take so long still fits.
    pub(crate) fn has_room(&self, elapsed: Duration, expected: Duration) -> bool {
        !self.is_over() && self.limit.is_none_or(|limit| elapsed + expected <= limit)
    }

    /// A time that is left, no longer than what is left of the promise.
    pub(crate) fn at_most(&self, remaining: Duration, elapsed: Duration) -> Duration {
        self.limit
            .map_or(remaining, |limit| remaining.min(limit.saturating_sub(elapsed)))
    }

    /// Nothing was measured, as the time was over before.
    pub(crate) fn no_time_left(&self) -> LabError {
        LabError::NoTimeLeft {
            seconds: self.promised.as_secs_f64().round() as u64,
        }
    }

    /// A trial is not measured, or was cut while it ran.
    pub(crate) fn leave_out(&mut self, trial: &Trial, is_cut: bool) {
        self.left_out.push(*trial);
        self.cut_count += usize::from(is_cut);
    }

    /// How many are not.
    pub(crate) const fn left_out_count(&self) -> usize {
        self.left_out.len()
    }

    /// What was left out and why, and which cells have no figure at all; none where everything fitted.
    pub(crate) fn in_words(&self, set: &PlanSet, folder: &RunFolder, eta: &Eta) -> Option<String> {
        let count = self.left_out.len();
        if count == 0 {
            return None;
        }
        let has_figure = |cell: usize| {
            let id = &set.cells()[cell].id;
            folder.finished().iter().any(|(finished, _)| finished == id)
        };
        let cells: BTreeSet<usize> = self.left_out.iter().map(|trial| trial.cell).collect();
        let without: Vec<usize> = cells.into_iter().filter(|cell| !has_figure(*cell)).collect();
        let name = |cell: &usize| {
            let cell = &set.cells()[*cell];
            format!("{} {}", cell.layer.name(), cell.label())
        };
        let named: Vec<String> = without.iter().take(MOST_NAMED).map(name).collect();
        let more = match without.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let without = match without.len() {
            0 => "every cell has at least one trial".to_owned(),
            1 => format!("not measured at all: {}", named.join("")),
            cells => format!("{cells} cells not measured at all: {}{more}", named.join("; ")),
        };
        // Where effort follows doubt, what could be measured at most was never planned.
        let trials = match set.follows_doubt() {
            Some(_) => folder.finished().len() + count,
            None => set.trials().len(),
        };
        let time = set.time_for_trials_in_words().unwrap_or_default();
        let checking = set.checking_took();
        let beyond = self.limit.map_or(Duration::ZERO, |limit| {
            set.estimate().total().saturating_sub(limit + checking)
        });
        let why = why(eta.of_preparation(), eta.of_trials(), checking, beyond);
        let cut = match self.cut_count {
            0 => "",
            _ if count == 1 => "it was stopped while it ran, so it does not count; ",
            _ => "one of them was stopped while it ran, so it does not count; ",
        };
        let noun = if trials == 1 { "trial" } else { "trials" };
        Some(format!(
            "{count} of {trials} {noun} did not fit into {time}{why}; {cut}{without}"
        ))
    }
}

/// Why trials did not fit, in a clause: what took longest beyond its forecast, which checking has not, or that the forecast of the run was
/// `beyond` the time by more.
fn why(preparation: Compared, trials: Compared, checking: Duration, beyond: Duration) -> String {
    let (what, time) = match trials.over() >= preparation.over() {
        true => ("trials", trials),
        false => ("preparing", preparation),
    };
    if beyond > time.over().max(checking) {
        return ", because the run was expected to take longer".to_owned();
    }
    if checking > time.over() {
        let took = format_nanoseconds(checking.as_nanos() as f64);
        return format!(", because checking the plans and their data took {took}");
    }
    let [took, forecast] = [time.took, time.forecast].map(|time| format_nanoseconds(time.as_nanos() as f64));
    match time.over().is_zero() || took == forecast {
        true => String::new(),
        false => format!(", because {what} took {took} instead of the expected {forecast}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_that_did_not_fit_are_explained_by_what_took_longer_than_expected() {
        let of = |forecast_ms, took_ms| Compared {
            forecast: Duration::from_millis(forecast_ms),
            took: Duration::from_millis(took_ms),
        };
        for (preparation, trials, [checking_ms, beyond_ms], expected) in [
            (
                of(340, 2000),
                of(14_650, 14_000),
                [20, 0],
                ", because preparing took 2.00 s instead of the expected 340 ms",
            ),
            (
                of(340, 2000),
                of(5000, 9000),
                [20, 3000],
                ", because trials took 9.00 s instead of the expected 5.00 s",
            ),
            (
                of(340, 360),
                of(0, 0),
                [20, 3000],
                ", because the run was expected to take longer",
            ),
            (
                of(340, 360),
                of(14_650, 14_600),
                [1500, 0],
                ", because checking the plans and their data took 1.50 s",
            ),
            // Nothing took longer: no reason is known.
            (of(340, 300), of(14_650, 14_600), [0, 0], ""),
        ] {
            let [checking, beyond] = [checking_ms, beyond_ms].map(Duration::from_millis);
            assert_eq!(why(preparation, trials, checking, beyond), expected);
        }
    }

    #[test]
    fn the_flag_is_raised_when_the_time_is_over_and_lowered_again() {
        let stop = AtomicBool::new(false);
        let seen = watched(Some(Duration::from_millis(1)), &stop, |is_over| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            is_over.load(Ordering::Relaxed)
        });
        assert!(seen && !stop.load(Ordering::Relaxed));
        // The user's own stop stays.
        let stop = AtomicBool::new(true);
        assert!(!watched(Some(Duration::from_secs(3600)), &stop, |is_over| {
            is_over.load(Ordering::Relaxed)
        }));
        assert!(stop.load(Ordering::Relaxed));
    }
}
