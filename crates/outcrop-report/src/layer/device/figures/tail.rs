//! The tail: how many operations take longer than any latency.

use std::collections::BTreeSet;

use outcrop_results::HistogramKind;
use outcrop_schema::device::{Direction, QUEUE_DEPTH, READ_WRITE_MIX, SYNC};

use super::super::cell::DeviceCell;
use super::super::curve::{Curve, mix_curve, mixed_depth_curve};
use super::{depth_curve, hue};
use crate::cell::Cell;
use crate::chart::{LineChart, Point, Quantity, Scale, Series, SeriesKind, axis, thinned};
use crate::layer::not_drawn::cells_not_drawn;
use crate::section::FigureSlot;

/// Queues that are deeper show how long requests wait in them, and not the device.
const DEEP: u32 = 32;

/// Cells whose tails are worth seeing: the least and a deep one of the depth curve of each direction, and of a mix of both.
pub(super) fn latency_tail(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Latency tail";
    let chosen = worth_seeing(cells)
        .into_iter()
        .map(|(cell, direction, hue)| Tail {
            cell,
            direction,
            hue,
            points: tail(cell, direction),
        });
    let chosen: Vec<Tail<'_, '_>> = chosen.filter(|tail| !tail.points.is_empty()).collect();
    if chosen.is_empty() {
        return FigureSlot::missing(TITLE, "no cell kept a latency histogram.", "ssd-queue-depth");
    }
    let accesses: BTreeSet<String> = chosen.iter().map(|tail| tail.cell.access()).collect();
    let drawn: Vec<&Cell<'_>> = chosen.iter().map(|tail| tail.cell).collect();
    let line = |Tail {
                    cell,
                    direction,
                    hue,
                    points,
                }: Tail<'_, '_>| {
        let mix = match cell.is_mixed() {
            true => format!(" in a {} mix,", cell.spelling(&READ_WRITE_MIX)),
            false => String::new(),
        };
        let access = match accesses.len() {
            1 => String::new(),
            _ => format!(" {},", cell.access()),
        };
        let name = format!(
            "{direction}{mix}{access} {}{}",
            cell.depth_words(),
            cell.circumstances()
        );
        Series::new(name, hue, SeriesKind::Dense, points)
    };
    let chart = LineChart {
        x: axis("Latency", Quantity::Latency, Scale::Log10),
        y: axis("Operations slower than that", Quantity::Share, Scale::Log10),
        series: chosen.into_iter().map(line).collect(),
    };
    let access = match accesses.first() {
        Some(access) if accesses.len() == 1 => format!("{access}. "),
        _ => String::new(),
    };
    let caption = format!(
        "{access}The share of operations that take longer (1 % is p99), over all trials of a cell. A line ends where fewer than ten operations lie beyond.{}",
        choice(cells, &drawn)
    );
    chart.slot("latency-tail", TITLE, caption, "ssd-queue-depth")
}

/// A line of the figure.
struct Tail<'c, 'a> {
    cell: &'c Cell<'a>,
    direction: Direction,
    hue: usize,
    points: Vec<Point>,
}

/// Each with the direction of a line, and its colour.
fn worth_seeing<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<(&'c Cell<'a>, Direction, usize)> {
    let mut chosen = Vec::new();
    for direction in Direction::ALL {
        let pure = cells.iter().filter(|cell| cell.only() == Some(direction));
        let shown = match depth_curve(cells, direction) {
            Some(curve) => least_and_deep(&curve),
            None => of_each_policy(pure.collect(), !cells.iter().any(DeviceCell::is_mixed)),
        };
        let lines = shown.into_iter().enumerate();
        chosen.extend(lines.map(|(index, cell)| (cell, direction, hue(direction) + 2 * index)));
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
    for (index, cell) in mixed.into_iter().enumerate() {
        chosen.extend(Direction::ALL.map(|direction| (cell, direction, hue(direction) + 4 + 2 * index)));
    }
    chosen
}

/// Where no depth differs, the cells that differ in their sync policy alone, those that wait for none first; one where mixes need the colours.
fn of_each_policy<'c, 'a>(mut cells: Vec<&'c Cell<'a>>, has_room: bool) -> Vec<&'c Cell<'a>> {
    /// As many as the palette tells apart.
    const MOST: usize = 4;
    cells.sort_by_key(|cell| cell.is_synced());
    let Some(first) = cells.first().copied() else {
        return Vec::new();
    };
    cells.retain(|cell| cell.is_like(first, &[&SYNC]));
    cells.truncate(if has_room { MOST } else { 1 });
    cells
}

/// The first cell of a depth curve, and the deepest that is not too deep.
fn least_and_deep<'c, 'a>(curve: &Curve<'c, 'a>) -> Vec<&'c Cell<'a>> {
    let is_deep = |cell: &&&Cell<'_>| cell.get(&QUEUE_DEPTH).is_some_and(|depth| *depth <= DEEP);
    let deep = curve[1..].iter().rev().find(is_deep);
    std::iter::once(&curve[0]).chain(deep).copied().collect()
}

/// How the cells were chosen and which ones have no line, as sentences behind blanks; nothing where all have one.
fn choice(cells: &[Cell<'_>], drawn: &[&Cell<'_>]) -> String {
    let others = cells_not_drawn(cells, drawn);
    let depths: BTreeSet<_> = cells.iter().map(|cell| cell.get(&QUEUE_DEPTH)).collect();
    match (others.is_empty(), depths.len()) {
        (true, _) => String::new(),
        (false, ..=1) => format!(" {others}"),
        (false, _) => format!(" Of each, the lowest queue depth and the highest up to {DEEP}. {others}"),
    }
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
