//! Figures over the seconds of trials: does the level hold?

use std::cmp::Ordering;
use std::collections::BTreeSet;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_results::{HistogramKind, SeriesPoint};
use outcrop_schema::device::{Direction, IOPS};

use super::super::cell::DeviceCell;
use super::super::most_rounds;
use crate::cell::Cell;
use crate::chart::{Axis, LineChart, Point, Quantity, Scale, Series, SeriesKind, axis};
use crate::section::FigureSlot;

/// Fewest intervals of a trial for which a course of time is drawn.
const FEWEST_INTERVALS: usize = 4;
/// Most lines in one figure.
const MOST_LINES: usize = 5;

const IOPS_TITLE: &str = "IOPS over the seconds of each trial";
const P99_TITLE: &str = "p99 latency over the seconds of each trial";

/// IOPS and p99 over time, of the busiest write cell (reads if nothing was written).
pub(super) fn both(cells: &[Cell<'_>]) -> [FigureSlot; 2] {
    let Some((cell, direction, points)) = busiest(cells) else {
        let reason = match cells.iter().any(Cell::is_imported) {
            // No length of a job gives them.
            true => "the JSON of fio has no intervals, however long a job runs.".to_owned(),
            false => format!(
                "no trial of reads alone or writes alone has {FEWEST_INTERVALS} or more intervals: measure longer trials, or reads or writes alone."
            ),
        };
        return [IOPS_TITLE, P99_TITLE].map(|title| FigureSlot::missing(title, &reason, "ssd-matrix"));
    };
    let (falling, rising) = meaning(cell, direction);
    let left_out = match cell.trials().len() {
        all if all > MOST_LINES => format!(" Drawn: the first {MOST_LINES} of {all} trials."),
        _ => String::new(),
    };
    let slot = |id: &str, title: &str, y: Axis, what: &str, value: fn(&SeriesPoint) -> Option<f64>| {
        let x = "Time since the end of the warm-up";
        let (series, intervals) = lines(cell, &points, value);
        let caption = format!(
            "{}: {what}{left_out}{}",
            cell.words(),
            not_drawn(&series, intervals, cell.is_closed_loop())
        );
        let chart = LineChart {
            x: axis(x, Quantity::Seconds, Scale::Linear),
            y,
            series,
        };
        chart.slot(id, title, caption, "ssd-matrix")
    };
    let iops = axis("IOPS", Quantity::Iops, Scale::Linear);
    let p99 = axis("p99 latency", Quantity::Latency, Scale::Log10);
    let of_iops = format!("{direction} IOPS in each interval of each trial. {falling}");
    let of_p99 = format!("p99 latency in each interval of each trial. {rising}");
    [
        slot(
            "iops-over-time",
            IOPS_TITLE,
            iops,
            &of_iops,
            SeriesPoint::operations_per_second,
        ),
        slot("p99-over-time", P99_TITLE, p99, &of_p99, |point| {
            Some(point.histogram.percentile(0.99)? as f64)
        }),
    ]
}

/// What it may mean if IOPS fall, and if the p99 rises; of an open loop a backlog. Lines alone do not show a cause.
fn meaning(cell: &Cell<'_>, direction: Direction) -> (&'static str, &'static str) {
    match (cell.is_closed_loop(), direction) {
        (true, Direction::Write) => (
            "A line that falls and stays low may be a full write cache or garbage collection; so may other load on the device, or heat.",
            "A line that rises and stays high may be a full write cache or garbage collection; so may other load on the device, or heat.",
        ),
        (true, Direction::Read) => (
            "A line that falls may be other load on the device, garbage collection, heat or a power state.",
            "A line that rises may be other load on the device, garbage collection, heat or a power state.",
        ),
        (false, _) => (
            "The schedule sets the level; a line below it is a device that falls behind.",
            "Lines that keep rising are a backlog: more is offered than answered.",
        ),
    }
}

/// The cell with the most intervals per trial, writes before reads, then the one with the most IOPS.
fn busiest<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<(&'c Cell<'a>, Direction, Vec<SeriesPoint>)> {
    let of = |direction: Direction| {
        let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
        let long = pure.filter(|cell| intervals(cell, direction) >= FEWEST_INTERVALS);
        let rank = |cell: &Cell<'_>| (intervals(cell, direction), cell.value(&IOPS.both));
        let order = |one: &&Cell<'_>, other: &&Cell<'_>| rank(one).partial_cmp(&rank(other));
        let cell = long.max_by(|one, other| order(one, other).unwrap_or(Ordering::Equal))?;
        let series = cell.view()?.series(direction.name(), HistogramKind::Latency);
        Some((cell, direction, series.ok()?))
    };
    of(Direction::Write).or_else(|| of(Direction::Read))
}

/// Intervals of the first completed trial.
fn intervals(cell: &Cell<'_>, direction: Direction) -> usize {
    let first = cell.trials().iter().take(1);
    first
        .flat_map(|trial| &trial.histograms)
        .filter(|entry| entry.operation == direction.name() && entry.kind == HistogramKind::Latency)
        .count()
}

/// Starts of the intervals in which nothing completed: they have no record, and no operation is what was measured. Where there are far
/// more of those than of others, each gap has only its first and its last.
fn idle_starts(trial: &[SeriesPoint], length_s: f64, ran_s: f64) -> Vec<f64> {
    let length_s = length_s.max(1e-9);
    let last_s = trial.last().map_or(0.0, |point| point.start_s + point.duration_s);
    let count = (ran_s.max(last_s) / length_s).round() as u64;
    let are_few = count <= most_rounds(trial.len()) as u64;
    let recorded = trial
        .iter()
        .map(|point| (point.start_s / length_s).round() as u64);
    let recorded: BTreeSet<u64> = recorded.chain([count]).collect();
    let (mut idle, mut next) = (Vec::new(), 0);
    for index in recorded {
        let gap = next..index.min(count);
        match are_few || gap.end.saturating_sub(gap.start) <= 2 {
            true => idle.extend(gap),
            false => idle.extend([gap.start, gap.end - 1]),
        }
        next = index.saturating_add(1);
    }
    idle.into_iter().map(|index| index as f64 * length_s).collect()
}

/// How many intervals have no value to draw. In a closed loop those are the slow ones: a line that passes over them looks better than the
/// trial was. In an open loop, fewer operations may have been due.
fn not_drawn(series: &[Series], intervals: usize, is_closed_loop: bool) -> String {
    let drawn: usize = series.iter().map(|line| line.points.len()).sum();
    let (are, them, slow) = match intervals - drawn {
        0 => return String::new(),
        1 => ("is", "it", " It is a slow one, and the lines pass over it."),
        _ => (
            "are",
            "them",
            " These are the slow ones, and the lines pass over them.",
        ),
    };
    let slow = if is_closed_loop { slow } else { "" };
    format!(
        " {} of {intervals} intervals {are} not drawn, because too few operations completed in {them}.{slow}",
        intervals - drawn
    )
}

/// A line for each trial, and how many intervals all of them have.
fn lines(
    cell: &Cell<'_>,
    points: &[SeriesPoint],
    value: impl Fn(&SeriesPoint) -> Option<f64>,
) -> (Vec<Series>, usize) {
    let words = cell.words();
    let length_s = points.iter().map(|point| point.duration_s).fold(0.0, f64::max);
    let ran_s = |repetition: u32| {
        let mut trials = cell.trials().iter();
        let trial = trials.find(|trial| trial.repetition == repetition);
        trial.map_or(0.0, |trial| trial.duration_s)
    };
    let nothing = SeriesPoint {
        repetition: 0,
        start_s: 0.0,
        duration_s: length_s,
        histogram: LatencyHistogram::new(),
    };
    let dot = |start_s: f64, point: &SeriesPoint| {
        let middle_s = start_s + point.duration_s / 2.0;
        Some(Point {
            cell: words.clone(),
            ..Point::bare(middle_s, value(point)?, "")
        })
    };
    let mut intervals = 0;
    let series = points
        .chunk_by(|one, other| one.repetition == other.repetition)
        .take(MOST_LINES)
        .enumerate()
        .map(|(hue, trial)| {
            let repetition = trial.first().map_or(0, |point| point.repetition);
            let idle = idle_starts(trial, length_s, ran_s(repetition)).into_iter();
            let idle = idle.map(|start_s| (start_s, &nothing));
            let mut all: Vec<(f64, &SeriesPoint)> =
                trial.iter().map(|point| (point.start_s, point)).collect();
            all.extend(idle);
            all.sort_by(|one, other| one.0.total_cmp(&other.0));
            intervals += all.len();
            let dots = all.into_iter().filter_map(|(start_s, point)| dot(start_s, point));
            let name = format!("trial {}", repetition + 1);
            Series::new(name, hue, SeriesKind::Dense, dots)
        })
        .collect();
    (series, intervals)
}
