//! The course of time within trials: steady state and shifts of level.

use outcrop_measure::change_point;
use outcrop_measure::metric::Unit;
use outcrop_measure::steady_state::{self, SteadyState, WINDOW_ROUNDS};
use outcrop_results::{HistogramEntry, HistogramKind, TrialEntry};

use super::super::cell::{Cell, Direction};
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// Shortest interval that counts as a round: shorter ones show the scheduler, not the device.
const SHORTEST_ROUND_S: f64 = 0.95;
/// Fewest intervals in which a shift can be told from noise.
const FEWEST_INTERVALS: usize = 2 * change_point::MIN_SEGMENT;
/// Least change of level that is worth a word.
const LEAST_SHIFT: f64 = 0.20;

/// Operations per second in every interval of one trial.
struct Course<'c, 'a> {
    cell: &'c Cell<'a>,
    repetition: u32,
    rates: Vec<f64>,
    round_s: f64,
}

/// Every trial's course of one direction, in cells that do nothing else.
fn courses<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Vec<Course<'c, 'a>> {
    let pure = cells
        .iter()
        .filter(|cell| cell.read_percent == Some(direction.read_percent()));
    pure.filter_map(|cell| Some((cell, cell.view?)))
        .flat_map(|(cell, view)| {
            view.completed
                .iter()
                .map(move |trial| course(cell, trial, direction))
        })
        .collect()
}

/// One trial, from counts alone: no histogram has to be decoded.
fn course<'c, 'a>(cell: &'c Cell<'a>, trial: &TrialEntry, direction: Direction) -> Course<'c, 'a> {
    let is_wanted =
        |entry: &&HistogramEntry| entry.operation == direction.name() && entry.kind == HistogramKind::Latency;
    let mut entries: Vec<_> = trial
        .histograms
        .iter()
        .filter(is_wanted)
        .filter(|entry| entry.duration_s > 0.0)
        .collect();
    entries.sort_by_key(|entry| entry.interval_index);
    let round_s = entries.first().map_or(0.0, |entry| entry.duration_s);
    // The last interval is the rest of the trial, and counts only if it is nearly a whole one.
    entries.retain(|entry| entry.duration_s > 0.9 * round_s);
    let rates = entries
        .iter()
        .map(|entry| entry.count as f64 / entry.duration_s)
        .collect();
    Course {
        cell,
        repetition: trial.repetition,
        rates,
        round_s,
    }
}

/// Writes have reached the state that a drive keeps (SNIA PTS).
pub(super) fn steady_state(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "writes-are-steady";
    const SENTENCE: &str = "Write cells reached steady state as SNIA PTS defines it.";
    let courses = courses(cells, Direction::Write);
    if courses.is_empty() {
        return Finding::not_testable(ID, SENTENCE, "nothing was written in this run.");
    }
    let long: Vec<_> = courses
        .iter()
        .filter(|course| course.round_s >= SHORTEST_ROUND_S && course.rates.len() >= WINDOW_ROUNDS)
        .collect();
    if long.is_empty() {
        let reason = format!(
            "no write trial has {WINDOW_ROUNDS} rounds of a second or more. What this run says about writes is what the \
             device takes in a burst; outcrop profile --full writes for longer."
        );
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let states: Vec<(SteadyState, String)> = long
        .iter()
        .map(|course| {
            let words = format!("{}, trial {}", course.cell.words(), course.repetition + 1);
            (steady_state::steady_state(&course.rates), words)
        })
        .collect();
    let reached = states.iter().filter(|(state, _)| state.is_reached()).count();
    let mut numbers = vec![Number::derived(
        "trials that are steady",
        reached as f64,
        Unit::Count,
        states.len(),
    )];
    numbers.extend(states.iter().find_map(|(state, words)| match state {
        SteadyState::NotReached(window) => {
            let name = format!("excursion in the last five rounds ({words})");
            Some(Number::derived(
                name,
                window.excursion,
                Unit::Ratio,
                WINDOW_ROUNDS,
            ))
        }
        SteadyState::Reached(_) | SteadyState::TooFewRounds { .. } => None,
    }));
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(reached == states.len()),
        tested: format!(
            "write IOPS per interval of {} trials; in five rounds, max − min ≤ 20 % of the mean and the fitted line \
             changes by ≤ 10 %. The device was not preconditioned.",
            states.len()
        ),
        meaning: String::new(),
        numbers,
    }
}

/// Throughput stays at one level within each trial.
pub(super) fn level_shifts(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "one-level-per-trial";
    const SENTENCE: &str = "IOPS stay at one level from the start to the end of each trial.";
    let mut tested = 0;
    let mut shifts: Vec<(f64, Number)> = Vec::new();
    for direction in Direction::BOTH {
        for course in courses(cells, direction)
            .iter()
            .filter(|course| course.rates.len() >= FEWEST_INTERVALS)
        {
            tested += 1;
            shifts.extend(largest_shift(course));
        }
    }
    if tested == 0 {
        let reason =
            format!("no trial has {FEWEST_INTERVALS} or more intervals of pure reads or pure writes.");
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    shifts.sort_by(|one, other| other.0.total_cmp(&one.0));
    let meaning = if shifts.is_empty() {
        ""
    } else {
        "A fall in write IOPS after some gigabytes is the end of the drive's fast cache; a fall in reads, or a rise, is a \
         neighbour or a power state."
    };
    let mut numbers = vec![Number::derived(
        "trials with a shift",
        shifts.len() as f64,
        Unit::Count,
        tested,
    )];
    numbers.extend(shifts.iter().take(3).map(|(_, number)| number.clone()));
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(shifts.is_empty()),
        tested: format!(
            "change points of the IOPS per interval in {tested} trials; neighbouring levels that differ by more than \
             {:.0} % count.",
            LEAST_SHIFT * 100.0
        ),
        meaning: meaning.to_owned(),
        numbers,
    }
}

/// The largest relative step between neighbouring levels of a trial, and the ratio of the levels.
fn largest_shift(course: &Course<'_, '_>) -> Option<(f64, Number)> {
    let segments = change_point::segments(&course.rates);
    let step = segments
        .windows(2)
        .filter(|pair| pair[0].mean > 0.0)
        .map(|pair| (pair[1].mean / pair[0].mean, pair[1].start))
        .max_by(|one, other| (one.0 - 1.0).abs().total_cmp(&(other.0 - 1.0).abs()))?;
    let (ratio, index) = step;
    let at_s = index as f64 * course.round_s;
    let name = format!(
        "{}, trial {}, level after {at_s:.1} s ÷ before",
        course.cell.words(),
        course.repetition + 1
    );
    let size = (ratio - 1.0).abs();
    (size > LEAST_SHIFT).then(|| {
        (
            size,
            Number::derived(name, ratio, Unit::Ratio, course.rates.len()),
        )
    })
}
