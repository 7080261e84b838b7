//! The course of time within trials: steady state and shifts of level.

use outcrop_measure::change_point::{self, LEAST_SHIFT};
use outcrop_measure::interval::mean;
use outcrop_measure::metric::Unit;
use outcrop_measure::steady_state::{self, WINDOW_ROUNDS};
use outcrop_measure::units::format_iops;
use outcrop_probe::OthersCpu;
use outcrop_results::{HistogramEntry, HistogramKind, TrialEntry};
use outcrop_schema::device::{Direction, IO_BLOCK_SIZE};

use super::super::cell::{DeviceCell, trial_words};
use super::super::most_rounds;
use super::departures::{self, Drive};
use super::fall;
use crate::cell::Cell;
use crate::disturbed;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// Shortest interval that counts as a round: shorter ones show the scheduler, not the device.
const SHORTEST_ROUND_S: f64 = 0.95;
/// Fewest intervals in which a shift can be told from noise.
const FEWEST_INTERVALS: usize = 2 * change_point::MIN_SEGMENT;

/// Operations per second in every interval of one trial.
struct Course {
    /// The cell and the trial in words.
    words: String,
    rates: Vec<f64>,
    round_s: f64,
    /// Bytes of a write; none for reads, which fill no cache of the drive.
    written_bytes: Option<f64>,
    /// The share of the CPUs that other programs used meanwhile; none where that is not recorded.
    others_cpu_share: Option<f64>,
}

/// Every trial's course of one direction, in cells that do nothing else.
fn courses(cells: &[Cell<'_>], direction: Direction) -> Vec<Course> {
    let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
    let of = |cell| move |trial: &&TrialEntry| course(cell, trial, direction);
    pure.flat_map(|cell| cell.trials().iter().map(of(cell))).collect()
}

/// One trial, from counts alone: no histogram has to be decoded. An interval in which nothing completed has no entry, and its rate is 0.
fn course(cell: &Cell<'_>, trial: &TrialEntry, direction: Direction) -> Course {
    let of_course = |entry: &&HistogramEntry| {
        entry.operation == direction.name() && entry.kind == HistogramKind::Latency && entry.duration_s > 0.0
    };
    let entries = || trial.histograms.iter().filter(of_course);
    let round_s = entries().map(|entry| entry.duration_s).fold(0.0, f64::max);
    let end_s = entries()
        .map(|entry| entry.start_s + entry.duration_s)
        .fold(trial.duration_s, f64::max);
    // The last interval is the rest of the trial, and counts only if it is nearly a whole one.
    let count = if round_s > 0.0 {
        (end_s / round_s + 0.1) as usize
    } else {
        0
    };
    // Of what is nearly all gaps no course is judged.
    let count = if count <= most_rounds(entries().count()) {
        count
    } else {
        0
    };
    let mut rates = vec![0.0; count];
    for entry in entries() {
        if let Some(rate) = rates.get_mut(entry.interval_index as usize) {
            *rate = entry.count as f64 / entry.duration_s;
        }
    }
    Course {
        words: trial_words(cell, trial),
        rates,
        round_s,
        written_bytes: cell
            .get(&IO_BLOCK_SIZE)
            .filter(|_| direction == Direction::Write)
            .map(|size| size.0 as f64),
        others_cpu_share: trial.others_cpu_share,
    }
}

/// Write trials of closed loops that last for enough rounds to be judged: a schedule sets the rate of the others.
fn judged_writes(cells: &[Cell<'_>]) -> Vec<Course> {
    let mut courses = courses(&closed_loops(cells), Direction::Write);
    courses.retain(|course| course.round_s >= SHORTEST_ROUND_S && course.rates.len() >= WINDOW_ROUNDS);
    courses
}

/// A write trial that was still changing when it ended, or that changed its level: its figure is of no state.
pub(in super::super) struct Unsteady {
    /// The cell and the trial in words.
    pub(in super::super) words: String,
    /// IOPS of the whole trial.
    pub(in super::super) whole: f64,
    /// IOPS of the last five rounds.
    pub(in super::super) at_end: f64,
    /// None where nothing was done in them.
    excursion: Option<f64>,
    /// What others did meanwhile; none where that was little.
    disturbed: Option<String>,
}

/// How many write trials could be judged, and those that were not steady, the furthest from their end's level first.
pub(in super::super) fn unsteady(cells: &[Cell<'_>]) -> (usize, Vec<Unsteady>) {
    let courses = judged_writes(cells);
    let judge = |course: &Course| {
        let state = steady_state::steady_state(&course.rates);
        let last = state.last().filter(|_| !state.is_steady())?;
        Some(Unsteady {
            words: course.words.clone(),
            whole: mean(&course.rates),
            at_end: last.mean,
            excursion: (last.mean > 0.0).then_some(last.excursion),
            disturbed: disturbed::in_words(course.others_cpu_share.into_iter()),
        })
    };
    let mut unsteady: Vec<Unsteady> = courses.iter().filter_map(judge).collect();
    let change = |trial: &Unsteady| (trial.at_end / trial.whole).ln().abs();
    unsteady.sort_by(|one, other| change(other).total_cmp(&change(one)));
    (courses.len(), unsteady)
}

/// Why no course of writes is that of the device; none where one may be.
fn no_writes(cells: &[Cell<'_>]) -> Option<&'static str> {
    let writes = |cell: &Cell<'_>| cell.only() == Some(Direction::Write);
    match cells.iter().any(writes) {
        true if closed_loops(cells).iter().any(writes) => None,
        true => Some("a schedule set the rate of every write trial, not the device."),
        false if cells.iter().all(|cell| cell.only() == Some(Direction::Read)) => {
            Some("this run measured no writes.")
        }
        false => Some("this run wrote only in mixes."),
    }
}

/// Writes have reached the state that a drive keeps (SNIA PTS).
pub(super) fn steady_state(cells: &[Cell<'_>], drive: Option<Drive<'_>>) -> Finding {
    const ID: &str = "writes-are-steady";
    const SENTENCE: &str = "Write cells reached steady state as SNIA PTS defines it.";
    if let Some(reason) = no_writes(cells) {
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let (total, unsteady) = unsteady(cells);
    // Any that was left alone decides it.
    let first = unsteady
        .iter()
        .find(|trial| trial.disturbed.is_none())
        .or(unsteady.first());
    if let Some(why) = first.and_then(|trial| trial.disturbed.as_ref()) {
        let reason = match unsteady.len() {
            1 => format!("1 write trial was not steady, and {why}."),
            several => format!("{several} write trials were not steady, and {why}."),
        };
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    if total == 0 {
        if cells.iter().any(Cell::is_imported) {
            let reason = "the JSON of fio has no intervals, so whether writes kept their rate is not known.";
            return Finding::not_testable(ID, SENTENCE, reason);
        }
        let reason = format!(
            "no write trial has {WINDOW_ROUNDS} rounds of a second or more. The write figures of this run are burst rates; with full effort, writes last longer."
        );
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let shortest_s = judged_writes(cells)
        .iter()
        .map(|course| course.round_s)
        .fold(f64::INFINITY, f64::min);
    let tested = format!(
        "write IOPS per interval of {}; in the last five rounds, max − min ≤ 20 % of the mean and the fitted line \
         changes by ≤ 10 %, and the level did not shift by more than {:.0} % before them.{} {}",
        counted(total, "trial"),
        LEAST_SHIFT * 100.0,
        if cells.iter().any(super::rounds::is_preconditioned) {
            ""
        } else {
            " The device was not preconditioned."
        },
        departures::of_writes(cells, shortest_s, drive)
    );
    let steady = total - unsteady.len();
    let steady = Number::derived("trials that are steady", steady as f64, Unit::Count, total);
    let worst = first.into_iter().flat_map(|trial| {
        let iops = |what: &str, value| {
            let name = format!("IOPS {what} ({})", trial.words);
            Number::derived(name, value, Unit::PerSecond, 1)
        };
        let name = format!("excursion in the last five rounds ({})", trial.words);
        let excursion = trial
            .excursion
            .map(|excursion| Number::derived(name, excursion, Unit::Ratio, WINDOW_ROUNDS));
        let rates = [
            iops("of the whole trial", trial.whole),
            iops("of its last five rounds", trial.at_end),
        ];
        rates.into_iter().chain(excursion)
    });
    Finding::tested(ID, SENTENCE, unsteady.is_empty(), tested)
        .otherwise(
            "The IOPS of these trials average over a change; the device never runs steadily at that rate.",
        )
        .numbers([steady].into_iter().chain(worst))
}

/// Throughput stays at one level within each trial.
pub(super) fn level_shifts(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "one-level-per-trial";
    const SENTENCE: &str = "IOPS stay at one level from the start to the end of each trial.";
    let closed = closed_loops(cells);
    if closed.is_empty() {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "a schedule set the rate of every trial, not the device.",
        );
    }
    let of = |direction| courses(&closed, direction);
    let mut courses: Vec<Course> = Direction::ALL.into_iter().flat_map(of).collect();
    courses.retain(|course| course.rates.len() >= FEWEST_INTERVALS);
    if courses.is_empty() {
        if cells.iter().any(Cell::is_imported) {
            let reason = "the JSON of fio has no intervals, so whether the IOPS kept one level is not known.";
            return Finding::not_testable(ID, SENTENCE, reason);
        }
        let reason = format!(
            "no trial of a closed loop has {FEWEST_INTERVALS} or more intervals of pure reads or pure writes."
        );
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let size = |shift: &Number| shift.value.ln().abs();
    let shifted: Vec<(&Course, Number)> = courses
        .iter()
        .filter_map(|course| Some((course, shift(course)?)))
        .collect();
    if let Some(why) = disturbed_alone(&shifted) {
        return Finding::not_testable(ID, SENTENCE, why);
    }
    let mut shifts: Vec<Number> = shifted.into_iter().map(|(_, shift)| shift).collect();
    shifts.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let total = courses.len();
    let hidden = courses.iter().filter_map(|course| {
        let least = change_point::least_visible_shift(&course.rates)?;
        Some((least, course))
    });
    let hidden = hidden.max_by(|one, other| one.0.total_cmp(&other.0));
    if let Some((least, course)) = hidden.filter(|(least, _)| shifts.is_empty() && *least > LEAST_SHIFT) {
        return Finding::not_testable(ID, SENTENCE, undecided(course, least));
    }
    let tested = format!(
        "change points of the IOPS per interval in {} of closed loops; a shift is dated at the first of them, and counts if the level \
         before it and the last one differ by more than {:.0} %.",
        counted(total, "trial"),
        LEAST_SHIFT * 100.0
    );
    let cliffs = courses.iter().filter_map(cliff);
    let steepest = cliffs.min_by(|one, other| one.0.total_cmp(&other.0));
    let cliff = steepest.into_iter().flat_map(|(_, numbers)| numbers);
    let count = Number::derived("trials with a shift", shifts.len() as f64, Unit::Count, total);
    let hidden = hidden.filter(|_| shifts.is_empty()).map(|(least, course)| {
        let name = format!("change of level that could have gone unseen ({})", course.words);
        Number::derived(name, least, Unit::Ratio, course.rates.len())
    });
    Finding::tested(ID, SENTENCE, shifts.is_empty(), tested)
        .otherwise(
            "A fall in write IOPS after some gigabytes may be the end of the drive's fast cache, or other load on the device. A fall in reads, or a rise, comes from other load or a power state.",
        )
        .numbers(
            [count]
                .into_iter()
                .chain(hidden)
                .chain(shifts.into_iter().take(3))
                .chain(cliff),
        )
}

/// Why no shift is known to be the device's: other programs used the CPUs during each trial that has one. None where a trial that was left alone
/// has one, or none has.
fn disturbed_alone(shifted: &[(&Course, Number)]) -> Option<String> {
    let shares = shifted.iter().map(|(course, _)| course.others_cpu_share);
    let much: Option<Vec<f64>> = shares
        .map(|share| share.filter(|share| *share > OthersCpu::MATTER))
        .collect();
    let why = disturbed::in_words(much?.into_iter())?;
    Some(match shifted.len() {
        1 => format!("1 trial changed its level, and {why}."),
        several => format!("{several} trials changed their level, and {why}."),
    })
}

/// Why no level can be told: the noise of a trial hides any change below this share of its mean.
fn undecided(course: &Course, least: f64) -> String {
    let rates = || course.rates.iter().copied();
    let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    format!(
        "no trial shows a change of level, but in some the intervals differ too much for one of {:.0} % to be seen. They differ most in {}, from {} to {}: only a \
         change by more than about {:.0} % of their mean would have been seen there. Longer trials show smaller ones.",
        LEAST_SHIFT * 100.0,
        course.words,
        format_iops(low),
        format_iops(high),
        least * 100.0
    )
}

/// The cells whose rate is the device's and not a schedule's.
fn closed_loops<'a>(cells: &[Cell<'a>]) -> Vec<Cell<'a>> {
    cells
        .iter()
        .filter(|cell| cell.is_closed_loop())
        .cloned()
        .collect()
}

/// The fall of a trial of writes, as the ratio of the means on its sides, and what a drive's cache gave: the mean until then, the bytes that it
/// took, and the mean behind it.
fn cliff(course: &Course) -> Option<(f64, [Number; 3])> {
    let written_bytes = course.written_bytes?;
    let fall = fall::of(&course.rates)?;
    let burst = &course.rates[..fall.at];
    let bytes = burst.iter().sum::<f64>() * course.round_s * written_bytes;
    let number =
        |what: &str, value, unit, n| Number::derived(format!("{what} ({})", course.words), value, unit, n);
    let numbers = [
        number("mean until it falls", fall.before, Unit::PerSecond, burst.len()),
        number("written until it falls", bytes, Unit::Bytes, burst.len()),
        number(
            "mean after it",
            fall.after,
            Unit::PerSecond,
            course.rates.len() - burst.len(),
        ),
    ];
    Some((fall.ratio(), numbers))
}

/// A trial of writes that is long enough to show whether its level falls.
pub(in super::super) struct WriteCourse {
    /// The cell and the trial in words.
    pub(in super::super) words: String,
    pub(in super::super) length_s: f64,
    pub(in super::super) written_bytes: f64,
    /// None where it did not fall.
    pub(in super::super) fall: Option<Fall>,
    /// The least change of level that its rounds do not hide, as a share of their mean.
    pub(in super::super) least_visible: Option<f64>,
    /// The share of the CPUs that other programs used meanwhile; none where that is not recorded.
    pub(in super::super) others_cpu_share: Option<f64>,
}

impl WriteCourse {
    /// The least change of level that counts, as a share of the level before it.
    pub(in super::super) const LEAST_FALL: f64 = LEAST_SHIFT;
}

/// A fall of the level of writes.
pub(in super::super) struct Fall {
    /// Seconds since the trial began.
    pub(in super::super) at_s: f64,
    pub(in super::super) written_bytes: f64,
    /// IOPS of the level that the trial began with.
    pub(in super::super) first_level: f64,
    /// Mean IOPS of all rounds before it: those that wrote `written_bytes`.
    pub(in super::super) before: f64,
    /// Mean IOPS of all rounds after it.
    pub(in super::super) after: f64,
    /// None where the level stayed low.
    pub(in super::super) recovery: Option<Recovery>,
    numbers: Vec<Number>,
}

/// A stretch of a trial in which writes that had fallen were back at their first level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Recovery {
    /// Seconds since the trial began.
    pub(in super::super) at_s: f64,
    pub(in super::super) length_s: f64,
    /// Mean IOPS of the stretch.
    pub(in super::super) level: f64,
}

impl Fall {
    pub(in super::super) fn ratio(&self) -> f64 {
        self.after / self.before
    }

    pub(in super::super) fn numbers(&self) -> Vec<Number> {
        self.numbers.clone()
    }
}

/// Every trial of nothing but writes in a closed loop with enough rounds for a fall to be told from noise.
pub(in super::super) fn write_courses(cells: &[Cell<'_>]) -> Vec<WriteCourse> {
    let long = judged_writes(&closed_loops(cells)).into_iter();
    let long = long.filter(|course| course.rates.len() >= FEWEST_INTERVALS);
    let course = |course: Course| {
        let written =
            |rates: &[f64]| rates.iter().sum::<f64>() * course.round_s * course.written_bytes.unwrap_or(0.0);
        WriteCourse {
            length_s: course.rates.len() as f64 * course.round_s,
            written_bytes: written(&course.rates),
            least_visible: change_point::least_visible_shift(&course.rates),
            fall: fall::of(&course.rates).map(|fall| Fall {
                at_s: fall.at as f64 * course.round_s,
                written_bytes: written(&course.rates[..fall.at]),
                first_level: fall.first_level,
                before: fall.before,
                after: fall.after,
                recovery: fall.recovered.as_ref().map(|back| Recovery {
                    at_s: back.start as f64 * course.round_s,
                    length_s: back.len() as f64 * course.round_s,
                    level: mean(&course.rates[back.clone()]),
                }),
                numbers: cliff(&course).map_or_else(Vec::new, |(_, numbers)| numbers.into()),
            }),
            words: course.words,
            others_cpu_share: course.others_cpu_share,
        }
    };
    long.map(course).collect()
}

/// The shift of a trial's level, as the ratio of the levels.
fn shift(course: &Course) -> Option<Number> {
    let shift = change_point::level_shift(&course.rates).filter(|shift| shift.before > 0.0)?;
    let at_s = shift.at as f64 * course.round_s;
    // A rise may end the first level: what comes right behind it is then not the level that it is compared with.
    let name = format!("{}, later level ÷ level until {at_s:.1} s", course.words);
    Some(Number::derived(
        name,
        shift.ratio(),
        Unit::Ratio,
        course.rates.len(),
    ))
}
