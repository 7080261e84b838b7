//! The course of time within trials: steady state and shifts of level.

use outcrop_measure::change_point;
use outcrop_measure::metric::Unit;
use outcrop_measure::steady_state::{self, SteadyState, WINDOW_ROUNDS};
use outcrop_results::{HistogramKind, TrialEntry};
use outcrop_schema::device::Direction;

use super::super::cell::DeviceCell;
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::Number;

/// Shortest interval that counts as a round: shorter ones show the scheduler, not the device.
const SHORTEST_ROUND_S: f64 = 0.95;
/// Fewest intervals in which a shift can be told from noise.
const FEWEST_INTERVALS: usize = 2 * change_point::MIN_SEGMENT;
/// Least change of level that is worth a word.
const LEAST_SHIFT: f64 = 0.20;

/// Operations per second in every interval of one trial.
struct Course {
    /// The cell and the trial in words.
    words: String,
    rates: Vec<f64>,
    round_s: f64,
}

/// Every trial's course of one direction, in cells that do nothing else.
fn courses(cells: &[Cell<'_>], direction: Direction) -> Vec<Course> {
    let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
    let of = |cell| move |trial: &&TrialEntry| course(cell, trial, direction);
    pure.flat_map(|cell| cell.trials().iter().map(of(cell))).collect()
}

/// One trial, from counts alone: no histogram has to be decoded.
fn course(cell: &Cell<'_>, trial: &TrialEntry, direction: Direction) -> Course {
    let entries = trial.histograms.iter();
    let mut entries: Vec<_> = entries
        .filter(|entry| entry.operation == direction.name() && entry.kind == HistogramKind::Latency)
        .filter(|entry| entry.duration_s > 0.0)
        .collect();
    entries.sort_by_key(|entry| entry.interval_index);
    let round_s = entries.first().map_or(0.0, |entry| entry.duration_s);
    // The last interval is the rest of the trial, and counts only if it is nearly a whole one.
    entries.retain(|entry| entry.duration_s > 0.9 * round_s);
    let rates = entries.iter().map(|entry| entry.count as f64 / entry.duration_s);
    Course {
        words: format!("{}, trial {}", cell.words(), trial.repetition + 1),
        rates: rates.collect(),
        round_s,
    }
}

/// Writes have reached the state that a drive keeps (SNIA PTS).
pub(super) fn steady_state(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "writes-are-steady";
    const SENTENCE: &str = "Write cells reached steady state as SNIA PTS defines it.";
    let mut courses = courses(cells, Direction::Write);
    if courses.is_empty() {
        return Finding::not_testable(ID, SENTENCE, "nothing was written in this run.");
    }
    courses.retain(|course| course.round_s >= SHORTEST_ROUND_S && course.rates.len() >= WINDOW_ROUNDS);
    if courses.is_empty() {
        let reason = format!(
            "no write trial has {WINDOW_ROUNDS} rounds of a second or more. What this run says about writes is what the \
             device takes in a burst; outcrop profile --full writes for longer."
        );
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let total = courses.len();
    let state = |course: &Course| steady_state::steady_state(&course.rates);
    let reached = courses.iter().filter(|course| state(course).is_reached()).count();
    let tested = format!(
        "write IOPS per interval of {total} trials; in five rounds, max − min ≤ 20 % of the mean and the fitted line \
         changes by ≤ 10 %. The device was not preconditioned."
    );
    let steady = Number::derived("trials that are steady", reached as f64, Unit::Count, total);
    let excursion = courses.iter().find_map(|course| {
        let SteadyState::NotReached(window) = state(course) else {
            return None;
        };
        let name = format!("excursion in the last five rounds ({})", course.words);
        Some(Number::derived(
            name,
            window.excursion,
            Unit::Ratio,
            WINDOW_ROUNDS,
        ))
    });
    Finding::tested(ID, SENTENCE, reached == total, tested).numbers([steady].into_iter().chain(excursion))
}

/// Throughput stays at one level within each trial.
pub(super) fn level_shifts(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "one-level-per-trial";
    const SENTENCE: &str = "IOPS stay at one level from the start to the end of each trial.";
    let of = |direction| courses(cells, direction);
    let mut courses: Vec<Course> = Direction::ALL.into_iter().flat_map(of).collect();
    courses.retain(|course| course.rates.len() >= FEWEST_INTERVALS);
    if courses.is_empty() {
        let reason =
            format!("no trial has {FEWEST_INTERVALS} or more intervals of pure reads or pure writes.");
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let size = |shift: &Number| (shift.value - 1.0).abs();
    let mut shifts: Vec<Number> = courses.iter().filter_map(largest_shift).collect();
    shifts.retain(|shift| size(shift) > LEAST_SHIFT);
    shifts.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let total = courses.len();
    let tested = format!(
        "change points of the IOPS per interval in {total} trials; neighbouring levels that differ by more than \
         {:.0} % count.",
        LEAST_SHIFT * 100.0
    );
    let count = Number::derived("trials with a shift", shifts.len() as f64, Unit::Count, total);
    Finding::tested(ID, SENTENCE, shifts.is_empty(), tested)
        .otherwise(
            "A fall in write IOPS after some gigabytes is the end of the drive's fast cache; a fall in reads, or a rise, \
             is a neighbour or a power state.",
        )
        .numbers([count].into_iter().chain(shifts.into_iter().take(3)))
}

/// The largest step between neighbouring levels of a trial, as the ratio of the levels.
fn largest_shift(course: &Course) -> Option<Number> {
    let segments = change_point::segments(&course.rates);
    let steps = segments.windows(2).filter(|pair| pair[0].mean > 0.0);
    let (ratio, index) = steps
        .map(|pair| (pair[1].mean / pair[0].mean, pair[1].start))
        .max_by(|one, other| (one.0 - 1.0).abs().total_cmp(&(other.0 - 1.0).abs()))?;
    let at_s = index as f64 * course.round_s;
    let name = format!("{}, level after {at_s:.1} s ÷ before", course.words);
    Some(Number::derived(name, ratio, Unit::Ratio, course.rates.len()))
}
