//! The tail: how many operations take longer than any latency.

use std::collections::BTreeSet;

use outcrop_results::HistogramKind;
use outcrop_schema::device::{Direction, QUEUE_DEPTH, READ_WRITE_MIX};

use super::super::cell::DeviceCell;
use super::super::curve::{Curve, mix_curve, mixed_depth_curve};
use super::{depth_curve, hue};
use crate::cell::Cell;
use crate::chart::{LineChart, Point, Quantity, Scale, Series, SeriesKind, axis, thinned};
use crate::number::{counted, enumerated};
use crate::section::FigureSlot;

/// Queues that are deeper show how long requests wait in them, and not the device.
const DEEP: u32 = 32;

/// Cells whose tails are worth seeing: the least and a deep one of the depth curve of each direction, and of a mix of both.
pub(super) fn latency_tail(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Latency tail";
    let mut drawn: Vec<(&Cell<'_>, Series)> = Vec::new();
    for direction in Direction::ALL {
        let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
        let shown = match depth_curve(cells, direction) {
            Some(curve) => least_and_deep(&curve),
            None => pure.min_by_key(|cell| cell.is_synced()).into_iter().collect(),
        };
        for (index, cell) in shown.into_iter().enumerate() {
            let name = format!("{direction} {}{}", cell.depth_words(), cell.circumstances());
            let hue = hue(direction) + 2 * index;
            let series = Series::new(name, hue, SeriesKind::Dense, tail(cell, direction));
            drawn.push((cell, series));
        }
    }
    // Reads next to writes have another tail than reads alone.
    let mixed = match mixed_depth_curve(cells) {
        Some(curve) => least_and_deep(&curve),
        None => {
            let curve = mix_curve(cells).unwrap_or_default();
            let mut mixed = curve.into_iter().chain(cells).filter(|cell| cell.is_mixed());
            mixed.next().into_iter().collect()
        }
    };
    for (index, cell, direction) in mixed
        .into_iter()
        .enumerate()
        .flat_map(|(index, cell)| Direction::ALL.map(|way| (index, cell, way)))
    {
        let (mix, depth) = (cell.spelling(&READ_WRITE_MIX), cell.depth_words());
        let name = format!("{direction} in a {mix} mix, {depth}{}", cell.circumstances());
        let points = tail(cell, direction);
        let series = Series::new(name, hue(direction) + 4 + 2 * index, SeriesKind::Dense, points);
        drawn.push((cell, series));
    }
    drawn.retain(|(_, series)| !series.points.is_empty());
    if drawn.is_empty() {
        return FigureSlot::missing(TITLE, "no cell kept a latency histogram.", "ssd-queue-depth");
    }
    let (of_cells, series): (Vec<&Cell<'_>>, Vec<Series>) = drawn.into_iter().unzip();
    let chart = LineChart {
        x: axis("Latency", Quantity::Latency, Scale::Log10),
        y: axis("Operations slower than that", Quantity::Share, Scale::Log10),
        series,
    };
    let caption = format!(
        "The share of operations that take longer (1 % is p99), over all trials of a cell. A line ends where fewer than ten operations lie beyond.{}",
        not_drawn(cells, &of_cells)
    );
    chart.slot("latency-tail", TITLE, caption, "ssd-queue-depth")
}

/// The first cell of a depth curve, and the deepest that is not too deep.
fn least_and_deep<'c, 'a>(curve: &Curve<'c, 'a>) -> Vec<&'c Cell<'a>> {
    let is_deep = |cell: &&&Cell<'_>| cell.get(&QUEUE_DEPTH).is_some_and(|depth| *depth <= DEEP);
    let deep = curve[1..].iter().rev().find(is_deep);
    std::iter::once(&curve[0]).chain(deep).copied().collect()
}

/// How many cells have lines, and which queue depths those are of, as a sentence behind a blank; nothing where all have one.
fn not_drawn(cells: &[Cell<'_>], drawn: &[&Cell<'_>]) -> String {
    let is_drawn = |cell: &&Cell<'_>| drawn.iter().any(|other| std::ptr::eq(*other, *cell));
    let count = cells.iter().filter(is_drawn).count();
    if count == cells.len() {
        return String::new();
    }
    let depths: BTreeSet<u32> = cells
        .iter()
        .filter_map(|cell| cell.get(&QUEUE_DEPTH).copied())
        .collect();
    let of_depths = match depths.len() {
        0 | 1 => String::new(),
        _ => {
            let depths: Vec<String> = depths.iter().map(u32::to_string).collect();
            format!(
                ": for {}, the lowest queue depth and the highest up to {DEEP}, of those that were measured (QD {})",
                kinds(drawn),
                depths.join(", ")
            )
        }
    };
    format!(
        " It shows {count} of the {} of this run{of_depths}.",
        counted(cells.len(), "cell")
    )
}

/// What the lines are of: `reads and one mix of reads and writes`.
fn kinds(drawn: &[&Cell<'_>]) -> String {
    let of = |direction: Direction| {
        let is_drawn = drawn.iter().any(|cell| cell.only() == Some(direction));
        is_drawn.then(|| format!("{direction}s"))
    };
    let mix = drawn.iter().any(|cell| cell.is_mixed());
    let mix = mix.then(|| "one mix of reads and writes".to_owned());
    let kinds: Vec<String> = [of(Direction::Read), of(Direction::Write), mix]
        .into_iter()
        .flatten()
        .collect();
    enumerated(&kinds)
}

/// The share of operations beyond each latency, thinned to what a screen can show.
fn tail(cell: &Cell<'_>, direction: Direction) -> Vec<Point> {
    let merged = cell
        .view()
        .and_then(|view| view.histogram(direction.name(), HistogramKind::Latency).ok());
    let Some(histogram) = merged else {
        return Vec::new();
    };
    let count = histogram.count() as f64;
    let supported = histogram
        .ccdf()
        .filter(|point| point.fraction_above * count >= 10.0);
    let point = supported.map(|point| Point::bare(point.latency_ns as f64, point.fraction_above, ""));
    thinned(point.collect())
}
