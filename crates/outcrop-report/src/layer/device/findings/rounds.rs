//! Steady state over rounds: the repetitions of a preconditioned subject, judged by the rule of the SNIA PTS.

use outcrop_measure::metric::Unit;
use outcrop_measure::steady_state::{self, WINDOW_ROUNDS, Window};
use outcrop_schema::device::{Direction, IO_BLOCK_SIZE, IOPS, PRECONDITIONED, STATE, TRACKED_SIZE};

use super::super::cell::{DeviceCell, value_of};
use super::departures::{self, ROUND_S};
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::{Number, counted};

const ID: &str = "rounds-are-steady";
const SENTENCE: &str = "The rounds reached steady state as SNIA PTS defines it.";
/// How many rounds the PTS waits for steady state.
const MOST_ROUNDS: usize = 25;

/// Whether all of its subject was written before the first trial.
pub(super) fn is_preconditioned(cell: &Cell<'_>) -> bool {
    cell.spelling(&STATE).starts_with(PRECONDITIONED)
}

/// The finding; none in a run without a preconditioned subject.
pub(super) fn steady_state(cells: &[Cell<'_>]) -> Option<Finding> {
    let preconditioned: Vec<&Cell<'_>> = cells.iter().filter(|cell| is_preconditioned(cell)).collect();
    let first = preconditioned.first()?;
    let tracked = preconditioned.iter().find(|cell| {
        cell.only() == Some(Direction::Write) && cell.is_random() && cell.is(&IO_BLOCK_SIZE, &TRACKED_SIZE)
    });
    let Some(tracked) = tracked else {
        let reason = format!(
            "{} was preconditioned, and no cell has 4 KiB random writes, which the PTS tracks",
            first.subject()
        );
        return Some(Finding::not_testable(ID, SENTENCE, reason));
    };
    let mut trials: Vec<_> = tracked.trials().to_vec();
    trials.sort_by_key(|trial| trial.repetition);
    let rounds: Vec<f64> = trials
        .iter()
        .filter_map(|trial| value_of(trial, &IOPS.both))
        .collect();
    if rounds.len() < WINDOW_ROUNDS {
        let reason = format!(
            "it takes {WINDOW_ROUNDS} rounds, and there are {}; `--repetitions` is their number",
            rounds.len()
        );
        return Some(Finding::not_testable(ID, SENTENCE, reason));
    }
    let steady = first_steady(&rounds);
    let (end, window) = steady.unwrap_or((rounds.len(), last_window(&rounds)?));
    let begin = end + 1 - WINDOW_ROUNDS;
    let mean = |what: String, value, unit, n| Number::derived(what, value, unit, n);
    let numbers = [
        mean(
            format!("IOPS in rounds {begin} to {end}"),
            window.mean,
            Unit::PerSecond,
            WINDOW_ROUNDS,
        ),
        mean(
            "(max − min) ÷ mean of these rounds".to_owned(),
            window.excursion,
            Unit::Ratio,
            WINDOW_ROUNDS,
        ),
        mean(
            "change of the fitted line over them ÷ mean".to_owned(),
            window.drift,
            Unit::Ratio,
            WINDOW_ROUNDS,
        ),
    ];
    let tested = format!(
        "IOPS of {} in {}: in five rounds in a row, max − min ≤ 20 % of the mean and the fitted line changes by ≤ 10 %. {}",
        tracked.words(),
        counted(rounds.len(), "round"),
        departures(tracked, rounds.len(), steady.map(|(end, _)| end))
    );
    let meaning = match steady {
        Some(_) => format!("Steady from round {begin} to {end}; medians of cells are those of all rounds."),
        None => format!(
            "No five rounds in a row are steady; the PTS allows {MOST_ROUNDS}. The numbers are those of the last five."
        ),
    };
    Some(
        Finding::tested(ID, SENTENCE, steady.is_some(), tested)
            .meaning(meaning)
            .numbers(numbers),
    )
}

/// The first five rounds in a row that are steady, by the number of their last.
fn first_steady(rounds: &[f64]) -> Option<(usize, Window)> {
    (WINDOW_ROUNDS..=rounds.len()).find_map(|end| {
        let window = last_window(&rounds[..end])?;
        window.is_steady().then_some((end, window))
    })
}

fn last_window(rounds: &[f64]) -> Option<Window> {
    steady_state::steady_state(rounds).last()
}

/// In what this run is not a PTS test: on a file, or a device that nobody purged, in an order that is drawn.
fn departures(tracked: &Cell<'_>, rounds: usize, steady_after: Option<usize>) -> String {
    let mut departures = vec![
        departures::place(tracked),
        "the order of cells drawn again for each round".to_owned(),
    ];
    let shortest_s = tracked
        .trials()
        .iter()
        .map(|trial| trial.duration_s)
        .fold(f64::INFINITY, f64::min);
    if shortest_s < ROUND_S {
        departures.push(format!("{shortest_s:.2} s per cell and round, not a minute"));
    }
    match steady_after {
        Some(end) if end < rounds => {
            departures.push(format!(
                "rounds went on after round {end}, with which the PTS ends"
            ));
        }
        None if rounds < MOST_ROUNDS => {
            departures.push(format!("{rounds} rounds at most, not {MOST_ROUNDS}"));
        }
        _ => {}
    }
    departures::sentence(&departures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_five_steady_rounds_are_found_behind_a_cliff() {
        let cliff = [900.0, 700.0, 400.0, 210.0, 200.0, 201.0, 199.0, 202.0, 200.0];
        let (end, window) = first_steady(&cliff).unwrap();
        assert_eq!(end, 8);
        assert!((window.mean - 202.4).abs() < 1e-9, "{window:?}");
        let falling = [1000.0, 900.0, 800.0, 700.0, 600.0, 500.0, 400.0];
        assert_eq!(first_steady(&falling), None);
        assert_eq!(first_steady(&[100.0; 5]).map(|(end, _)| end), Some(5));
    }
}
