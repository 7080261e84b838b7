//! The time that a run promised to take, kept with any load of the machine: trials that do not fit are left out, and one that runs beyond it
//! is cut.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use outcrop_results::RunFolder;

use crate::error::LabError;
use crate::order::Trial;
use crate::plan::PlanSet;

/// Time of the promise that is kept for the report, at most, and as a share.
const FOR_THE_REPORT: (Duration, f64) = (Duration::from_secs(8), 0.1);
/// Cells without a figure that are named.
const MOST_NAMED: usize = 12;

/// How long trials may run, and those that did not fit.
pub(crate) struct Deadline<'d> {
    /// None where nothing was promised.
    limit: Option<Duration>,
    promised: Duration,
    is_over: &'d AtomicBool,
    left_out: Vec<Trial>,
}

/// The part of a promised time in which trials run.
fn for_trials(promised: Duration) -> Duration {
    let (most, share) = FOR_THE_REPORT;
    promised.saturating_sub(promised.mul_f64(share).min(most))
}

/// Does `work`, and raises `stop` once the time for trials is over. What was raised here is lowered again; the flag that `work` gets says
/// whether it was.
pub(crate) fn watched<T>(
    promised: Option<Duration>,
    stop: &AtomicBool,
    work: impl FnOnce(&AtomicBool) -> T,
) -> T {
    let is_over = &AtomicBool::new(false);
    let Some(promised) = promised else {
        return work(is_over);
    };
    let result = std::thread::scope(|scope| {
        let (working, ended) = channel::<()>();
        scope.spawn(move || {
            // It ends at once when the work has ended, whichever way: then there is no sender any more.
            if ended.recv_timeout(for_trials(promised)) == Err(RecvTimeoutError::Timeout) {
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
            limit: set.time_left().map(for_trials),
            promised: set.time_limit().unwrap_or_default(),
            is_over,
            left_out: Vec::new(),
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

    /// A trial is not measured.
    pub(crate) fn leave_out(&mut self, trial: &Trial) {
        self.left_out.push(*trial);
    }

    /// How many are not.
    pub(crate) const fn left_out_count(&self) -> usize {
        self.left_out.len()
    }

    /// What was left out, and which cells have no figure at all; none where everything fitted.
    pub(crate) fn in_words(&self, set: &PlanSet, folder: &RunFolder) -> Option<String> {
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
        let time = set.time_limit_in_words().unwrap_or_default();
        Some(format!(
            "{count} of {trials} trials did not fit into {time}, because trials took longer than expected; {without}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_promise_leaves_a_share_for_the_report_and_a_long_one_some_seconds() {
        assert_eq!(for_trials(Duration::from_secs(10)), Duration::from_secs(9));
        assert_eq!(for_trials(Duration::from_secs(90)), Duration::from_secs(82));
        assert_eq!(for_trials(Duration::from_secs(600)), Duration::from_secs(592));
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
