//! Steady state over rounds: the repetitions of a preconditioned subject, judged by the rule of the SNIA PTS.

use outcrop_measure::metric::Unit;
use outcrop_measure::steady_state::{self, WINDOW_ROUNDS, Window};
use outcrop_schema::device::{Direction, IO_BLOCK_SIZE, IOPS, PRECONDITIONED, STATE, TRACKED_SIZE};

use super::super::cell::{DeviceCell, value_of};
use super::departures::{self, Drive, ROUND_S};
use crate::answer::Claim;
use crate::cell::Cell;
use crate::finding::{Finding, as_sentence};
use crate::number::{Number, counted};

const ID: &str = "rounds-are-steady";
const TOPIC: &str = "Steady state";
const SENTENCE: &str = "The rounds reached steady state as SNIA PTS defines it.";
/// How many rounds the PTS waits for steady state.
const MOST_ROUNDS: usize = 25;

/// Whether all of its subject was written before the first trial.
pub(super) fn is_preconditioned(cell: &Cell<'_>) -> bool {
    cell.spelling(&STATE).starts_with(PRECONDITIONED)
}

/// The rounds of the cell that the PTS tracks, judged.
struct Judged<'c, 'a> {
    tracked: &'c Cell<'a>,
    /// How many there are.
    count: usize,
    /// How many there are in a row at most: a round may have failed.
    in_a_row: usize,
    /// The first five that are steady, or the last five in a row; none where there are fewer.
    window: Option<(usize, Window)>,
}

impl<'c, 'a> Judged<'c, 'a> {
    fn of(tracked: &'c Cell<'a>) -> Self {
        let mut trials: Vec<_> = tracked.trials().to_vec();
        trials.sort_by_key(|trial| trial.repetition);
        // Rounds in a row; a trial in which no operation completed has no figure, and the device stood still.
        let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
        for trial in &trials {
            let (round, iops) = (
                trial.repetition as usize,
                value_of(trial, &IOPS.both).unwrap_or(0.0),
            );
            match rows.last_mut() {
                Some((first, row)) if *first + row.len() == round => row.push(iops),
                _ => rows.push((round, vec![iops])),
            }
        }
        let steady = rows.iter().find_map(|(first, row)| {
            let (end, window) = first_steady(row)?;
            Some((first + end, window))
        });
        let last = || {
            let mut windows = rows.iter().rev();
            windows.find_map(|(first, row)| Some((first + row.len(), last_window(row)?)))
        };
        Self {
            tracked,
            count: trials.len(),
            in_a_row: rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0),
            window: steady.or_else(last),
        }
    }

    /// How many rounds the rule needs, and how many there are: `5 rounds in a row, and of 7 there are at most 4 in a row`.
    fn too_few(&self) -> String {
        let (count, in_a_row) = (self.count, self.in_a_row);
        match in_a_row == count {
            true => format!("{WINDOW_ROUNDS} rounds, and there are {count}"),
            false => format!(
                "{WINDOW_ROUNDS} rounds in a row, and of {count} there are at most {in_a_row} in a row, because a round failed between them"
            ),
        }
    }

    /// The number of the last steady round.
    fn steady_after(&self) -> Option<usize> {
        let steady = self.window.as_ref().filter(|(_, window)| window.is_steady());
        steady.map(|(end, _)| *end)
    }
}

/// Cells of preconditioned subjects, and the one that the PTS tracks.
fn tracked<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<Result<Judged<'c, 'a>, &'c Cell<'a>>> {
    let mut preconditioned = cells.iter().filter(|cell| is_preconditioned(cell)).peekable();
    let first = *preconditioned.peek()?;
    let tracked = preconditioned.find(|cell| {
        let is_capability = cell.is_closed_loop() && cell.only() == Some(Direction::Write);
        is_capability && cell.is_random() && cell.is(&IO_BLOCK_SIZE, &TRACKED_SIZE)
    });
    Some(tracked.map(Judged::of).ok_or(first))
}

/// Whether and in which rounds the device was steady, which is what whoever measured in rounds asks first.
pub(in super::super) fn claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let judged = tracked(cells)?.ok()?;
    let count = judged.count;
    let rounds = counted(count, "round");
    let figures = format!("figures are medians of all {rounds}");
    let Some((end, window)) = &judged.window else {
        let why = format!("not judged: the rule of the SNIA PTS takes {}", judged.too_few());
        let text = format!("{} {}", as_sentence(&why), as_sentence(&figures));
        return Some(Claim::new(TOPIC, why, text, Vec::new()));
    };
    let begin = end + 1 - WINDOW_ROUNDS;
    let (excursion, drift) = (100.0 * window.excursion, 100.0 * window.drift.abs());
    let by = format!(
        "{}: max − min {excursion:.1} % of the mean, at most 20 %; fitted line {drift:.1} %, at most 10 %",
        judged.tracked.words()
    );
    let brief = match judged.steady_after() {
        Some(_) => format!("rounds {begin} to {end} are steady ({by}); {figures}"),
        None => format!("not steady after {rounds} (rounds {begin} to {end}, {by}); {figures}"),
    };
    let text = format!("By the rule of the SNIA PTS: {brief}.");
    Some(Claim::new(
        TOPIC,
        brief,
        text,
        numbers(begin, *end, window).into(),
    ))
}

/// The finding; none in a run without a preconditioned subject.
pub(super) fn steady_state(cells: &[Cell<'_>], drive: Option<Drive<'_>>) -> Option<Finding> {
    let judged = match tracked(cells)? {
        Ok(judged) => judged,
        Err(first) => {
            let reason = format!(
                "{} was preconditioned, and no cell has 4 KiB random writes in a closed loop, which the PTS tracks",
                first.subject()
            );
            return Some(Finding::not_testable(ID, SENTENCE, reason));
        }
    };
    let Some((end, window)) = &judged.window else {
        let reason = format!("it takes {}; `--repetitions` sets their number", judged.too_few());
        return Some(Finding::not_testable(ID, SENTENCE, reason));
    };
    let begin = end + 1 - WINDOW_ROUNDS;
    let steady = judged.steady_after();
    let tested = format!(
        "IOPS of {} in {}: in five rounds in a row, max − min ≤ 20 % of the mean and the fitted line changes by ≤ 10 %. {}",
        judged.tracked.words(),
        counted(judged.count, "round"),
        departures(judged.tracked, judged.count, steady, drive)
    );
    let meaning = match steady {
        Some(_) => format!("Steady from round {begin} to {end}; medians of cells are those of all rounds."),
        None => format!(
            "No five rounds in a row are steady; the PTS allows {MOST_ROUNDS}. The numbers are those of rounds {begin} to {end}."
        ),
    };
    Some(
        Finding::tested(ID, SENTENCE, steady.is_some(), tested)
            .meaning(meaning)
            .numbers(numbers(begin, *end, window)),
    )
}

/// What the rule looks at.
fn numbers(begin: usize, end: usize, window: &Window) -> [Number; 3] {
    let of = |what: &str, value, unit| Number::derived(what.to_owned(), value, unit, WINDOW_ROUNDS);
    [
        of(
            &format!("IOPS in rounds {begin} to {end}"),
            window.mean,
            Unit::PerSecond,
        ),
        of(
            "(max − min) ÷ mean of these rounds",
            window.excursion,
            Unit::Ratio,
        ),
        of(
            "change of the fitted line over them ÷ mean",
            window.drift,
            Unit::Ratio,
        ),
    ]
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
fn departures(
    tracked: &Cell<'_>,
    rounds: usize,
    steady_after: Option<usize>,
    drive: Option<Drive<'_>>,
) -> String {
    let mut departures = vec![
        departures::place(tracked, drive),
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
