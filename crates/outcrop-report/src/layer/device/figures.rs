//! The device figures: curves over depth, size and mix, the latency tail, and the course of time.

mod lines;
mod offered;
mod over_time;
mod sweeps;
mod tail;

use std::iter;

use outcrop_measure::metric::Metric;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    ACCESS_PATTERN, BANDWIDTH, ByDirection, Direction, IO_BLOCK_SIZE, IOPS, LATENCY, QUEUE_DEPTH,
    READ_WRITE_MIX,
};

use super::cell::{DeviceCell, P50, P99, P99_9};
use super::curve::{
    Curve, curves, depth_curve, mix_curve, mixed_depth_curve, mixed_depth_curves, others_along, pure_curves,
};
use super::findings::weighted_mean_iops;
use super::references::Published;
use crate::cell::Cell;
use crate::chart::{COLOURS, LineChart, Point, Quantity, Scale, Series, SeriesKind, axis};
use crate::number::Number;
use crate::section::FigureSlot;

/// Figures of the page in reading order.
pub(super) fn all(cells: &[Cell<'_>], published: &[Published]) -> Vec<FigureSlot> {
    let mut slots = vec![
        bandwidth_and_latency(cells),
        latency_by_depth(cells),
        iops_by_depth(cells, published),
        bandwidth_by_size(cells, published),
        iops_by_mix(cells, published),
    ];
    slots.extend(sweeps::all(cells));
    slots.extend(offered::both(cells));
    slots.extend([tail::latency_tail(cells)]);
    slots.extend(over_time::both(cells));
    slots
}

/// A colour by meaning, the same in every figure.
fn hue(direction: Direction) -> usize {
    match direction {
        Direction::Read => 0,
        Direction::Write => 1,
    }
}

/// The points of some cells: where they stand, and the number there.
fn points<'c, 'a: 'c>(
    cells: impl IntoIterator<Item = &'c &'c Cell<'a>>,
    x: impl Fn(&Cell<'_>) -> Option<f64>,
    y: impl Fn(&'c Cell<'a>) -> Option<&'c Number>,
) -> Vec<Point> {
    let point = |cell: &&'c Cell<'a>| Some(Point::of(x(cell)?, y(cell)?, &cell.words()));
    cells.into_iter().filter_map(point).collect()
}

/// Why a curve by queue depth is missing.
const ONE_DEPTH: &str =
    "neither random reads, random writes nor a mix of them were measured at two or more queue depths.";
/// The same where mixes are not drawn: their figures would average two kinds of request.
const ONE_DEPTH_ALONE: &str =
    "neither random reads alone nor random writes alone were measured at two or more queue depths.";
/// Mixes that are drawn in one figure.
const MOST_MIXES: usize = 3;
/// Other curves that are drawn in one figure.
const MOST_OTHERS: usize = 4;

/// That a figure leaves out mixes, as a sentence with a blank before it; nothing where there are none at several depths.
fn without_mixes(cells: &[Cell<'_>]) -> &'static str {
    match mixed_depth_curves(cells).is_empty() {
        true => "",
        false => " Mixes are drawn in IOPS by queue depth.",
    }
}

/// What else was measured at several depths, of reads or writes alone, and is not drawn: a sentence behind a blank.
fn other_depth_curves(cells: &[Cell<'_>], drawn: &[&Cell<'_>]) -> String {
    others_along(cells, &QUEUE_DEPTH, drawn, |cell| cell.only().is_some())
}

/// The drives and jobs behind a line over the queue depth, which is that of each of them; nothing of one.
fn at_work(cell: &Cell<'_>) -> String {
    let drives = cell.drives();
    match (drives, cell.jobs() / drives) {
        (1, 1) => String::new(),
        (1, jobs) => format!(", {jobs} jobs"),
        (drives, 1) => format!(", {drives} drives"),
        (drives, jobs) => format!(", {drives} drives, {jobs} jobs each"),
    }
}

/// The requests of a line over the queue depth: `4 KiB random reads, 2 jobs`.
fn in_words(cell: &Cell<'_>) -> String {
    format!("{}{}{}", cell.requests(), at_work(cell), cell.circumstances())
}

/// The name of a line of one direction over the queue depth: `4 KiB random read, 2 jobs`.
fn line_name(cell: &Cell<'_>, direction: Direction) -> String {
    let access = cell.access();
    format!("{access} {direction}{}{}", at_work(cell), cell.circumstances())
}

fn bandwidth_and_latency(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Bandwidth against latency";
    let mut curves = Vec::new();
    for direction in Direction::ALL {
        // Lines of one colour would be one to their reader.
        let most = COLOURS / Direction::ALL.len();
        let of_one = pure_curves(cells, &QUEUE_DEPTH, direction).take(most);
        let mut of_one: Vec<_> = of_one.map(|curve| (direction, curve)).collect();
        of_one.sort_by_key(|(_, curve)| curve[0].get(&IO_BLOCK_SIZE));
        curves.extend(of_one);
    }
    if curves.is_empty() {
        return FigureSlot::missing(TITLE, ONE_DEPTH_ALONE, "ssd-queue-depth");
    }
    let drawn: Vec<&Cell<'_>> = curves.iter().map(|(_, curve)| curve[0]).collect();
    let series = curves.iter().enumerate().map(|(hue, (direction, curve))| {
        let x = |cell: &Cell<'_>| cell.value(&BANDWIDTH.both);
        let points = points(curve, x, |cell| cell.number(&LATENCY.both.mean));
        Series::new(line_name(curve[0], *direction), hue, SeriesKind::Measured, points)
    });
    let chart = LineChart {
        x: axis("Bandwidth", Quantity::Bandwidth, Scale::Linear),
        y: axis("Mean latency", Quantity::Latency, Scale::Log10),
        series: series.collect(),
    };
    let caption = format!(
        "Along each line, the queue depth rises. Where it turns upwards, more depth adds waiting but no bandwidth.{}{}",
        without_mixes(cells),
        other_depth_curves(cells, &drawn)
    );
    chart.slot("bandwidth-vs-latency", TITLE, caption, "ssd-queue-depth")
}

fn latency_by_depth(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Latency by queue depth";
    let (mut series, mut held) = (Vec::new(), Vec::new());
    let alone = Direction::ALL.map(|direction| Some((depth_curve(cells, direction)?, direction)));
    let mut curves: Vec<_> = alone.into_iter().flatten().collect();
    let is_of_mix = curves.is_empty();
    if is_of_mix && let Some(mixed) = mixed_depth_curve(cells) {
        curves.extend(Direction::ALL.map(|direction| (mixed.clone(), direction)));
    }
    let drawn: Vec<&Cell<'_>> = curves.iter().map(|(curve, _)| curve[0]).collect();
    let others = match is_of_mix {
        true => others_along(cells, &QUEUE_DEPTH, &drawn, |_| true),
        false => format!("{}{}", without_mixes(cells), other_depth_curves(cells, &drawn)),
    };
    for (curve, direction) in curves {
        let requests = in_words(curve[0]);
        if !held.contains(&requests) {
            held.push(requests);
        }
        for (metric, name, offset) in [(&P50, "p50", 0), (&P99, "p99", 2), (&P99_9, "p99.9", 4)] {
            let x = |cell: &Cell<'_>| cell.place(&QUEUE_DEPTH);
            let points = points(&curve, x, |cell| cell.directed(direction, metric));
            // Short trials have too few operations for it at any depth.
            if name == "p99.9" && points.is_empty() {
                continue;
            }
            let name = format!("{direction} {name}");
            let hue = hue(direction) + offset;
            series.push(Series::new(name, hue, SeriesKind::Measured, points));
        }
    }
    if series.is_empty() {
        return FigureSlot::missing(TITLE, ONE_DEPTH, "ssd-queue-depth");
    }
    let chart = LineChart {
        x: axis("Queue depth", Quantity::QueueDepth, Scale::Log2),
        y: axis("Latency", Quantity::Latency, Scale::Log10),
        series,
    };
    let caption = format!(
        "{}. A percentile needs ten operations beyond it.{others}",
        held.join(", ")
    );
    chart.slot("latency-by-depth", TITLE, caption, "ssd-queue-depth")
}

/// A metric of each direction along a factor, measured and published. Of the published curves it takes those where the `held`
/// factor is what it is in ours.
fn by_direction(
    cells: &[Cell<'_>],
    published: &[Published],
    (along, held): (FactorRef, FactorRef),
    metric: &ByDirection<Metric>,
    name: impl Fn(&Cell<'_>, Direction) -> String,
) -> Vec<Series> {
    let (mut series, mut held_at) = (Vec::new(), None);
    let others = published
        .iter()
        .map(|(_, cells)| (cells.as_slice(), SeriesKind::Published));
    for (cells, kind) in iter::once((cells, SeriesKind::Measured)).chain(others) {
        for direction in Direction::ALL {
            let is_ours = kind == SeriesKind::Measured;
            let mut curves = pure_curves(cells, along, direction);
            let Some(curve) = curves.find(|curve| is_ours || held_at == Some(curve[0].place(held))) else {
                continue;
            };
            held_at = held_at.or(Some(curve[0].place(held)));
            let name = match is_ours {
                true => name(curve[0], direction),
                false => format!("published: {} {direction}", curve[0].subject()),
            };
            let x = |cell: &Cell<'_>| cell.place(along);
            let points = points(&curve, x, |cell| cell.directed(direction, metric));
            series.push(Series::new(name, hue(direction), kind, points));
        }
    }
    series
}

/// Whose the dashed lines are, as a sentence with a blank before it; nothing where there are none.
fn whose(series: &[Series], published: &[Published]) -> String {
    if series.iter().all(|series| series.kind != SeriesKind::Published) {
        return String::new();
    }
    let sources = published
        .iter()
        .filter_map(|(reference, _)| reference.rows.first());
    let sources: Vec<&str> = sources.map(|row| row.source.as_str()).collect();
    format!(
        " Dashed: published by others ({}), of another device and span. Compare the shapes, not the heights.",
        sources.join("; ")
    )
}

fn iops_by_depth(cells: &[Cell<'_>], published: &[Published]) -> FigureSlot {
    const TITLE: &str = "IOPS by queue depth";
    let mut series = by_direction(cells, published, (&QUEUE_DEPTH, &IO_BLOCK_SIZE), &IOPS, line_name);
    let mut mixes = mixed_depth_curves(cells);
    mixes.truncate(MOST_MIXES);
    let alone = Direction::ALL.map(|direction| depth_curve(cells, direction));
    let drawn = alone.iter().flatten().chain(&mixes).map(|curve| curve[0]);
    let mut drawn: Vec<&Cell<'_>> = drawn.collect();
    series.extend(mixes.iter().enumerate().map(|(index, curve)| {
        let x = |cell: &Cell<'_>| cell.place(&QUEUE_DEPTH);
        let points = points(curve, x, |cell| cell.number(&IOPS.both));
        let name = in_words(curve[0]);
        Series::new(name, 4 + index, SeriesKind::Measured, points)
    }));
    // What else was swept by depth, such as another pattern or more jobs; access sizes have a figure.
    let mut others = Vec::new();
    for curve in curves(cells, &QUEUE_DEPTH) {
        let has_figure = |one: &&Cell<'_>| one.is_like(curve[0], &[&QUEUE_DEPTH, &IO_BLOCK_SIZE]);
        let Some(direction) = curve[0].only().filter(|_| !drawn.iter().any(has_figure)) else {
            continue;
        };
        if others.len() < MOST_OTHERS.min(COLOURS.saturating_sub(series.len())) {
            drawn.push(curve[0]);
            others.push((curve, direction));
        }
    }
    // In colours that no other line has.
    let taken: Vec<usize> = series.iter().map(|line| line.hue).collect();
    let free: Vec<usize> = (0..COLOURS).filter(|hue| !taken.contains(hue)).collect();
    series.extend(free.into_iter().zip(&others).map(|(hue, (curve, direction))| {
        let x = |cell: &Cell<'_>| cell.place(&QUEUE_DEPTH);
        let points = points(curve, x, |cell| cell.number(&IOPS.both));
        let name = line_name(curve[0], *direction);
        Series::new(name, hue, SeriesKind::Measured, points)
    }));
    if series.is_empty() {
        return FigureSlot::missing(TITLE, ONE_DEPTH, "ssd-queue-depth");
    }
    let chart = LineChart {
        x: axis("Queue depth", Quantity::QueueDepth, Scale::Log2),
        y: axis("IOPS", Quantity::Iops, Scale::Linear),
        series,
    };
    let caption = format!(
        "{}{}",
        others_along(cells, &QUEUE_DEPTH, &drawn, |_| true),
        whose(&chart.series, published)
    );
    let caption = caption.trim_start();
    chart.slot("iops-by-depth", TITLE, caption, "ssd-queue-depth")
}

fn bandwidth_by_size(cells: &[Cell<'_>], published: &[Published]) -> FigureSlot {
    const ID: &str = "bandwidth-by-size";
    const TITLE: &str = "Bandwidth by access size";
    let name = |cell: &Cell<'_>, direction: Direction| {
        let pattern = cell.spelling(&ACCESS_PATTERN);
        format!(
            "{pattern} {direction}, {}{}",
            cell.depth_words(),
            cell.circumstances()
        )
    };
    let factors: (FactorRef, FactorRef) = (&IO_BLOCK_SIZE, &QUEUE_DEPTH);
    let series = by_direction(cells, published, factors, &BANDWIDTH, name);
    if series.is_empty() {
        let reason =
            "neither random reads alone nor random writes alone were measured at two or more access sizes.";
        return FigureSlot::missing(TITLE, reason, "ssd-access-size");
    }
    let chart = LineChart {
        x: axis("Access size", Quantity::AccessSize, Scale::Log2),
        y: axis("Bandwidth", Quantity::Bandwidth, Scale::Linear),
        series,
    };
    let caption = format!(
        "The size at which a line flattens is the smallest one that uses the full bandwidth.{}{}",
        lines::other_sizes(cells, ID),
        whose(&chart.series, published)
    );
    chart.slot(ID, TITLE, caption, "ssd-access-size")
}

/// The published curve over mixes at the access and the depth of ours.
fn published_mix<'p>(cells: &'p [Cell<'static>], ours: &Cell<'_>) -> Option<Curve<'p, 'static>> {
    const HELD: [FactorRef; 3] = [&ACCESS_PATTERN, &IO_BLOCK_SIZE, &QUEUE_DEPTH];
    let is_like = |cell: &Cell<'_>| {
        HELD.into_iter()
            .all(|factor| cell.spelling(factor) == ours.spelling(factor))
    };
    let mut all = curves(cells, &READ_WRITE_MIX).into_iter();
    let mut curve = all.find(|curve| is_like(curve[0]))?;
    curve.reverse();
    Some(curve)
}

/// What a mix gives, and what its parts would suggest.
fn iops_by_mix(cells: &[Cell<'_>], published: &[Published]) -> FigureSlot {
    const TITLE: &str = "IOPS by share of reads";
    let Some(curve) = mix_curve(cells) else {
        let reason = "no cell was measured at more than one mix of reads and writes.";
        return FigureSlot::missing(TITLE, reason, "ssd-read-write-mix");
    };
    let x = |cell: &Cell<'_>| cell.read_percent().map(f64::from);
    let total = points(&curve, x, |cell| cell.number(&IOPS.both));
    let mut series = vec![Series::new("both", 2, SeriesKind::Measured, total)];
    for direction in Direction::ALL {
        let points = points(&curve, x, |cell| cell.directed(direction, &IOPS));
        let name = format!("{direction}s");
        series.push(Series::new(name, hue(direction), SeriesKind::Measured, points));
    }
    let weighted = curve.iter().filter_map(|cell| {
        let (x, expected) = (x(cell)?, weighted_mean_iops(&curve, cell)?);
        let note = format!("weighted mean at {x:.0} % reads: {expected}");
        Some(Point::bare(x, expected.value, note))
    });
    let weighted = Series::new("weighted mean", 3, SeriesKind::Derived, weighted);
    let suggestion = match weighted.points.is_empty() {
        true => "",
        false => "; the dotted line is what the two pure runs would suggest",
    };
    series.push(weighted);
    for (_, theirs) in published {
        let theirs = published_mix(theirs, curve[0]).unwrap_or_default();
        let points = points(&theirs, x, |cell| cell.number(&IOPS.both));
        let subject = theirs.first().map_or("", |cell| cell.subject());
        let name = format!("published: {subject}, both");
        series.push(Series::new(name, 2, SeriesKind::Published, points));
    }
    series.retain(|series| !series.points.is_empty());
    let chart = LineChart {
        x: axis("Share of reads", Quantity::Percent, Scale::Linear),
        y: axis("IOPS", Quantity::Iops, Scale::Linear),
        series,
    };
    let caption = format!(
        "{}, {}{}. Measured with both in one stream{suggestion}.{}{}",
        curve[0].access(),
        curve[0].depth_words(),
        curve[0].circumstances(),
        others_along(cells, &READ_WRITE_MIX, &[curve[0]], |_| true),
        whose(&chart.series, published)
    );
    chart.slot("iops-by-mix", TITLE, caption, "ssd-read-write-mix")
}
