//! The tail: how many operations take longer than any latency.

use outcrop_results::HistogramKind;

use super::super::cell::{Cell, Direction};
use super::{axis, depth_curve, hue, missing, slot};
use crate::chart::{LineChart, Point, Quantity, Scale, Series, SeriesKind, thinned};
use crate::section::FigureSlot;

/// Cells whose tails are worth seeing: the least and a deep one of each direction's depth curve.
pub(super) fn latency_tail(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Latency tail";
    let mut series = Vec::new();
    for direction in Direction::BOTH {
        let chosen: Vec<&Cell<'_>> = match depth_curve(cells, direction) {
            Some(curve) => {
                let deep = curve
                    .cells
                    .iter()
                    .rev()
                    .find(|cell| cell.queue_depth.is_some_and(|depth| depth <= 32));
                curve.first().into_iter().chain(deep.copied()).collect()
            }
            None => cells
                .iter()
                .filter(|cell| cell.read_percent == Some(direction.read_percent()))
                .take(1)
                .collect(),
        };
        for (index, cell) in chosen.into_iter().enumerate() {
            let points = tail(cell, direction);
            let name = format!("{} {}", direction.name(), cell.depth_words());
            series.push(Series {
                name,
                hue: hue(direction) + 2 * index,
                points,
                kind: SeriesKind::Dense,
            });
        }
    }
    series.retain(|series| !series.points.is_empty());
    if series.is_empty() {
        return missing(TITLE, "no cell kept a latency histogram.", "ssd-queue-depth");
    }
    let chart = LineChart {
        x: axis("Latency", Quantity::Latency, Scale::Log10),
        y: axis("Operations slower than that", Quantity::Share, Scale::Log10),
        series,
    };
    let caption = "How many operations take longer (1 % is p99). All trials of a cell together; a line ends where fewer \
                   than ten operations lie beyond, because more would be chance.";
    slot(
        chart,
        "latency-tail",
        TITLE,
        caption.to_owned(),
        "ssd-queue-depth",
    )
}

/// The share of operations beyond each latency, thinned to what a screen can show.
fn tail(cell: &Cell<'_>, direction: Direction) -> Vec<Point> {
    let Some(histogram) = cell
        .view
        .and_then(|view| view.histogram(direction.name(), HistogramKind::Latency).ok())
    else {
        return Vec::new();
    };
    let count = histogram.count() as f64;
    let supported = histogram
        .ccdf()
        .filter(|point| point.fraction_above * count >= 10.0);
    let points: Vec<Point> = supported
        .map(|point| Point {
            x: point.latency_ns as f64,
            y: point.fraction_above,
            interval: None,
            note: String::new(),
        })
        .collect();
    thinned(points)
}
