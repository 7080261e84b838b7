//! Figures over the seconds of trials: does the level hold?

use outcrop_measure::LatencyHistogram;
use outcrop_results::{HistogramKind, SeriesPoint};

use super::{axis, missing, slot};
use crate::chart::{LineChart, Point, Quantity, Scale, Series, SeriesKind};
use crate::section::FigureSlot;

use super::super::cell::{Cell, Direction};

/// Fewest intervals of a trial for which a course of time is drawn.
const FEWEST_INTERVALS: usize = 4;
/// Most lines in one figure.
const MOST_LINES: usize = 5;

const IOPS_TITLE: &str = "IOPS over the seconds of each trial";
const P99_TITLE: &str = "p99 latency over the seconds of each trial";

/// IOPS and p99 over time, of the busiest write cell (reads if nothing was written).
pub(super) fn both(cells: &[Cell<'_>]) -> [FigureSlot; 2] {
    let Some((cell, direction, points)) = busiest(cells) else {
        let reason = format!("no trial has {FEWEST_INTERVALS} or more intervals; a longer trial has.");
        return [
            missing(IOPS_TITLE, &reason, "ssd-matrix"),
            missing(P99_TITLE, &reason, "ssd-matrix"),
        ];
    };
    let words = cell.words();
    let iops = lines(&points, SeriesPoint::operations_per_second);
    let p99 = lines(&points, |point| p99(&point.histogram));
    let seconds = || {
        axis(
            "Time since the end of the warm-up",
            Quantity::Seconds,
            Scale::Linear,
        )
    };
    let caption = |what: &str, turn: &str| {
        format!(
            "{words}: {what} in each interval of each trial. Lines that {turn} are a device running out of cache."
        )
    };
    let iops_chart = LineChart {
        x: seconds(),
        y: axis("IOPS", Quantity::Iops, Scale::Linear),
        series: iops,
    };
    let p99_chart = LineChart {
        x: seconds(),
        y: axis("p99 latency", Quantity::Latency, Scale::Log10),
        series: p99,
    };
    let what = format!("{} IOPS", direction.name());
    [
        slot(
            iops_chart,
            "iops-over-time",
            IOPS_TITLE,
            caption(&what, "fall"),
            "ssd-matrix",
        ),
        slot(
            p99_chart,
            "p99-over-time",
            P99_TITLE,
            caption("p99 latency", "rise"),
            "ssd-matrix",
        ),
    ]
}

/// The cell with the most intervals per trial, writes before reads, then the one with the most IOPS.
fn busiest<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<(&'c Cell<'a>, Direction, Vec<SeriesPoint>)> {
    [Direction::Write, Direction::Read]
        .into_iter()
        .find_map(|direction| {
            let pure = cells
                .iter()
                .filter(|cell| cell.read_percent == Some(direction.read_percent()));
            let with_series = pure.filter(|cell| intervals(cell, direction) >= FEWEST_INTERVALS);
            let cell = with_series.max_by(|one, other| {
                let rank = |cell: &Cell<'_>| (intervals(cell, direction), cell.value("iops").unwrap_or(0.0));
                rank(one)
                    .partial_cmp(&rank(other))
                    .unwrap_or(std::cmp::Ordering::Equal)
            })?;
            let series = cell.view?.series(direction.name(), HistogramKind::Latency).ok()?;
            Some((cell, direction, series))
        })
}

/// Intervals of the first completed trial.
fn intervals(cell: &Cell<'_>, direction: Direction) -> usize {
    let first = cell.view.and_then(|view| view.completed.first());
    first.map_or(0, |trial| {
        let wanted = |entry: &&outcrop_results::HistogramEntry| {
            entry.operation == direction.name() && entry.kind == HistogramKind::Latency
        };
        trial.histograms.iter().filter(wanted).count()
    })
}

fn lines(points: &[SeriesPoint], value: impl Fn(&SeriesPoint) -> Option<f64>) -> Vec<Series> {
    let trials = points.chunk_by(|one, other| one.repetition == other.repetition);
    trials
        .take(MOST_LINES)
        .enumerate()
        .map(|(index, trial)| Series {
            name: format!("trial {}", trial.first().map_or(0, |point| point.repetition) + 1),
            hue: index,
            points: trial.iter().filter_map(|point| dot(point, &value)).collect(),
            kind: SeriesKind::Dense,
        })
        .collect()
}

fn dot(point: &SeriesPoint, value: impl Fn(&SeriesPoint) -> Option<f64>) -> Option<Point> {
    let y = value(point)?;
    Some(Point {
        x: point.start_s + point.duration_s / 2.0,
        y,
        interval: None,
        note: String::new(),
    })
}

fn p99(histogram: &LatencyHistogram) -> Option<f64> {
    histogram.percentile(0.99).map(|latency_ns| latency_ns as f64)
}
