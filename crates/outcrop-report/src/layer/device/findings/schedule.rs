//! Whether the generator of an open loop kept its own schedule.

use outcrop_measure::metric::Unit;
use outcrop_results::TrialEntry;
use outcrop_schema::device::{LATENESS_P99, SERVICE_LATENCY};

use super::super::cell::{DeviceCell, trial_words, value_of};
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// The p99 of our own lateness may be this share of the median time that a request takes once it is issued.
const LATE: f64 = 0.10;

/// A trial whose requests we issued late.
pub(in super::super) struct Late {
    /// The cell and the trial in words.
    pub(in super::super) words: String,
    /// p99 of the delay, in nanoseconds.
    pub(in super::super) late_ns: f64,
    /// Median time from issue to completion.
    pub(in super::super) service_ns: f64,
}

impl Late {
    fn of(cell: &Cell<'_>, trial: &TrialEntry) -> Option<Self> {
        Some(Self {
            words: trial_words(cell, trial),
            late_ns: value_of(trial, &LATENESS_P99)?,
            service_ns: value_of(trial, &SERVICE_LATENCY.both.p50)?,
        })
    }

    fn share(&self) -> f64 {
        self.late_ns / self.service_ns
    }
}

/// How many open-loop trials on a device could be checked, and those that were late, worst first.
pub(in super::super) fn late_trials(cells: &[Cell<'_>]) -> (usize, Vec<Late>) {
    let open = cells
        .iter()
        .filter(|cell| !cell.is_closed_loop() && cell.reaches_device());
    let of = |cell| move |trial: &&TrialEntry| Late::of(cell, trial);
    let mut trials: Vec<Late> = open
        .flat_map(|cell| cell.trials().iter().filter_map(of(cell)))
        .collect();
    let checked = trials.len();
    trials.retain(|trial| trial.share() > LATE);
    trials.sort_by(|one, other| other.share().total_cmp(&one.share()));
    (checked, trials)
}

/// Requests were issued when they were due.
pub(super) fn on_time(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "generator-was-on-time";
    const SENTENCE: &str = "Open loops issued their requests on time.";
    let (checked, late) = late_trials(cells);
    if checked == 0 {
        let reason = match cells
            .iter()
            .any(|cell| !cell.is_closed_loop() && cell.reaches_device())
        {
            false => "no open loop was run on a device.",
            true => "no trial has enough requests for a p99 of its lateness.",
        };
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let tested = format!(
        "p99 of the delay between the moment when a request was due and had a slot and the moment when it was issued, in \
         {}: in each, at most {:.0} % of the median time from issue to completion; {} later.",
        counted(checked, "open-loop trial"),
        LATE * 100.0,
        late.len()
    );
    let count = Number::derived("trials that were late", late.len() as f64, Unit::Count, checked);
    let worst = late.first().into_iter().flat_map(|trial| {
        let time = |what: &str, value| {
            Number::derived(format!("{what} ({})", trial.words), value, Unit::Nanoseconds, 1)
        };
        [
            time("p99 of the generator's delay", trial.late_ns),
            time("median service time", trial.service_ns),
        ]
    });
    Finding::tested(ID, SENTENCE, late.is_empty(), tested)
        .otherwise(
            "The latencies of these trials include delays of this machine: the thread woke late, or had no CPU. The service latencies do not include them.",
        )
        .numbers([count].into_iter().chain(worst))
}
