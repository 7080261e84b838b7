//! The device figures: curves over depth, size and mix, the latency tail, and the course of time.

mod mix;
mod over_time;
mod tail;

pub(super) use mix::mix_curve;

use super::cell::{Cell, Direction};
use super::curve::{Along, Curve, curves, longest};
use super::references::Published;
pub(super) use crate::chart::axis;
use crate::chart::{LineChart, Point, Quantity, Scale, Series, SeriesKind};
use crate::number::Number;
use crate::section::FigureSlot;

/// Figures of the page in reading order.
pub(super) fn all(cells: &[Cell<'_>], published: &[Published]) -> Vec<FigureSlot> {
    let mut slots = vec![
        bandwidth_and_latency(cells),
        latency_by_depth(cells),
        iops_by_depth(cells, published),
        bandwidth_by_size(cells, published),
        mix::mix(cells),
        tail::latency_tail(cells),
    ];
    slots.extend(over_time::both(cells));
    slots
}

/// Colours by meaning, the same in every figure.
const READ_HUE: usize = 0;
const WRITE_HUE: usize = 1;

pub(super) fn hue(direction: Direction) -> usize {
    match direction {
        Direction::Read => READ_HUE,
        Direction::Write => WRITE_HUE,
    }
}

pub(super) fn missing(title: &str, reason: &str, plan: &str) -> FigureSlot {
    FigureSlot::missing(title, reason, plan)
}

/// A chart as a slot; a chart that came out empty says what would fill it.
pub(super) fn slot(chart: LineChart, id: &str, title: &str, caption: String, plan: &str) -> FigureSlot {
    FigureSlot::of(chart.draw(id, title, caption), title, plan)
}

fn point(x: f64, y: &Number, cell: &Cell<'_>) -> Point {
    Point {
        x,
        y: y.value,
        interval: y.interval.map(|interval| (interval.low, interval.high)),
        note: format!("{}: {y} ({})", cell.words(), y.certainty()),
    }
}

fn pure(direction: Direction) -> impl Fn(&Cell<'_>) -> bool {
    move |cell| cell.read_percent == Some(direction.read_percent()) && cell.access_pattern == "random"
}

/// The depth curve of one direction that figures and the answer use: the longest, of the smallest access.
pub(super) fn depth_curve<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<Curve<'c, 'a>> {
    longest(cells, Along::Depth, pure(direction))
}

fn bandwidth_and_latency(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Bandwidth against latency";
    let of_reads = |curve: &Curve<'_, '_>| curve.first().is_some_and(pure(Direction::Read));
    let curves: Vec<_> = curves(cells, Along::Depth)
        .into_iter()
        .filter(of_reads)
        .take(5)
        .collect();
    if curves.is_empty() {
        return missing(
            TITLE,
            "no access size was read at two or more queue depths.",
            "ssd-queue-depth",
        );
    }
    let mut series: Vec<(Option<u64>, Series)> = curves
        .iter()
        .map(|curve| {
            let points = curve.cells.iter().filter_map(|cell| {
                let latency = cell.number("latency_mean")?;
                Some(point(cell.value("bandwidth")?, latency, cell))
            });
            let size = curve.first().and_then(|cell| cell.block_size_bytes);
            let name = curve
                .first()
                .map_or_else(String::new, |cell| format!("{} read", cell.access()));
            (
                size,
                Series {
                    name,
                    hue: 0,
                    points: points.collect(),
                    kind: SeriesKind::Measured,
                },
            )
        })
        .collect();
    series.sort_by_key(|(size, _)| *size);
    let with_hue = |(hue, (_, series)): (usize, (_, Series))| Series { hue, ..series };
    let chart = LineChart {
        x: axis("Bandwidth", Quantity::Bandwidth, Scale::Linear),
        y: axis("Mean latency", Quantity::Latency, Scale::Log10),
        series: series.into_iter().enumerate().map(with_hue).collect(),
    };
    let caption = "Each line is one access size over rising queue depth. Where a line turns upwards, more depth buys \
                   waiting and no bandwidth.";
    slot(
        chart,
        "bandwidth-vs-latency",
        TITLE,
        caption.to_owned(),
        "ssd-queue-depth",
    )
}

fn latency_by_depth(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Latency by queue depth";
    let mut series = Vec::new();
    let mut held = Vec::new();
    for direction in Direction::BOTH {
        let Some(curve) = depth_curve(cells, direction) else {
            continue;
        };
        held.extend(
            curve
                .first()
                .map(|cell| format!("{} {}s", cell.access(), direction.name())),
        );
        for (metric, name, offset) in [("latency_p50", "p50", 0), ("latency_p99", "p99", 2)] {
            let points = curve.cells.iter().filter_map(|cell| {
                Some(point(
                    f64::from(cell.queue_depth?),
                    cell.directed(direction, metric)?,
                    cell,
                ))
            });
            series.push(Series {
                name: format!("{} {name}", direction.name()),
                hue: hue(direction) + offset,
                points: points.collect(),
                kind: SeriesKind::Measured,
            });
        }
    }
    if series.is_empty() {
        return missing(
            TITLE,
            "no cell was measured at two or more queue depths.",
            "ssd-queue-depth",
        );
    }
    let chart = LineChart {
        x: axis("Queue depth", Quantity::QueueDepth, Scale::Log2),
        y: axis("Latency", Quantity::Latency, Scale::Log10),
        series,
    };
    let caption = format!(
        "{}. A percentile is shown only where at least ten operations lie beyond it.",
        held.join(", ")
    );
    slot(chart, "latency-by-depth", TITLE, caption, "ssd-queue-depth")
}

fn iops_by_depth(cells: &[Cell<'_>], published: &[Published]) -> FigureSlot {
    const TITLE: &str = "IOPS by queue depth";
    let mut series = Vec::new();
    let mut size = None;
    for direction in Direction::BOTH {
        let Some(curve) = depth_curve(cells, direction) else {
            continue;
        };
        size = size.or_else(|| curve.first().and_then(|cell| cell.block_size_bytes));
        let name = curve.first().map_or_else(String::new, |cell| {
            format!("{} {}", cell.access(), direction.name())
        });
        series.push(by_depth(&curve, name, direction, SeriesKind::Measured));
    }
    if series.is_empty() {
        return missing(
            TITLE,
            "no cell was measured at two or more queue depths.",
            "ssd-queue-depth",
        );
    }
    for reference in published {
        let same = |direction: Direction| {
            longest(&reference.cells, Along::Depth, move |cell| {
                pure(direction)(cell) && cell.block_size_bytes == size
            })
        };
        for direction in Direction::BOTH {
            let Some(curve) = same(direction) else { continue };
            let name = format!("published: {} {}", reference.short_title, direction.name());
            series.push(by_depth(&curve, name, direction, SeriesKind::Published));
        }
    }
    let chart = LineChart {
        x: axis("Queue depth", Quantity::QueueDepth, Scale::Log2),
        y: axis("IOPS", Quantity::Iops, Scale::Linear),
        series,
    };
    let caption = "Shaded: confidence interval of the median. Dashed: published by others for another device and span; \
                   it shows the shape to expect and is no comparison.";
    slot(
        chart,
        "iops-by-depth",
        TITLE,
        caption.to_owned(),
        "ssd-queue-depth",
    )
}

fn by_depth(curve: &Curve<'_, '_>, name: String, direction: Direction, kind: SeriesKind) -> Series {
    let points = curve.cells.iter().filter_map(|cell| {
        Some(point(
            f64::from(cell.queue_depth?),
            cell.directed(direction, "iops")?,
            cell,
        ))
    });
    Series {
        name,
        hue: hue(direction),
        points: points.collect(),
        kind,
    }
}

fn bandwidth_by_size(cells: &[Cell<'_>], published: &[Published]) -> FigureSlot {
    const TITLE: &str = "Bandwidth by access size";
    let mut series = Vec::new();
    let mut depth = None;
    for direction in Direction::BOTH {
        let Some(curve) = longest(cells, Along::Size, pure(direction)) else {
            continue;
        };
        depth = depth.or_else(|| curve.first().and_then(|cell| cell.queue_depth));
        let name = curve.first().map_or_else(String::new, |cell| {
            format!(
                "{} {}, {}",
                cell.access_pattern,
                direction.name(),
                cell.depth_words()
            )
        });
        series.push(by_size(&curve, name, direction, SeriesKind::Measured));
    }
    if series.is_empty() {
        return missing(
            TITLE,
            "no cell was measured at two or more access sizes.",
            "ssd-access-size",
        );
    }
    for reference in published {
        for direction in Direction::BOTH {
            let same_depth = |cell: &Cell<'_>| pure(direction)(cell) && cell.queue_depth == depth;
            let Some(curve) = longest(&reference.cells, Along::Size, same_depth) else {
                continue;
            };
            let name = format!("published: {} {}", reference.short_title, direction.name());
            series.push(by_size(&curve, name, direction, SeriesKind::Published));
        }
    }
    let chart = LineChart {
        x: axis("Access size", Quantity::AccessSize, Scale::Log2),
        y: axis("Bandwidth", Quantity::Bandwidth, Scale::Linear),
        series,
    };
    let caption = "The size at which a line flattens is the smallest that uses the device's bandwidth.";
    slot(
        chart,
        "bandwidth-by-size",
        TITLE,
        caption.to_owned(),
        "ssd-access-size",
    )
}

fn by_size(curve: &Curve<'_, '_>, name: String, direction: Direction, kind: SeriesKind) -> Series {
    let points = curve.cells.iter().filter_map(|cell| {
        Some(point(
            cell.block_size_bytes? as f64,
            cell.directed(direction, "bandwidth")?,
            cell,
        ))
    });
    Series {
        name,
        hue: hue(direction),
        points: points.collect(),
        kind,
    }
}
