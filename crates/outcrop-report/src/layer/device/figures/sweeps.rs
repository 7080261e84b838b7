//! Figures of sweeps over one factor, drawn only where it was swept: latency by size, bandwidth and latency by mix, bandwidth by
//! content.

use std::cmp::Reverse;

use outcrop_measure::metric::Metric;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    BANDWIDTH, ByDirection, CONTENT, Direction, IO_BLOCK_SIZE, IOPS, LATENCY, READ_WRITE_MIX, SYNC,
};

use super::{hue, lines, points};
use crate::cell::{Cell, families};
use crate::chart::{
    Axis, Bar, BarChart, BarGroup, Facet, LineChart, Part, Quantity, Scale, Segment, Series, SeriesKind, axis,
};
use crate::layer::device::cell::{DeviceCell, P50, P99};
use crate::layer::device::curve::{Curve, mix_curve, others_along, pure_curves};
use crate::layer::not_drawn::cells_not_drawn;
use crate::section::FigureSlot;

/// Every figure that these cells have.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    let mut slots: Vec<FigureSlot> = latency_by_size(cells).into_iter().collect();
    if let Some(curve) = mix_curve(cells) {
        let others = others_along(cells, &READ_WRITE_MIX, &[curve[0]], |_| true);
        slots.extend([bandwidth_by_mix(&curve, &others), latency_by_mix(&curve, &others)]);
    }
    slots.extend(lines::all(cells));
    slots.extend(bandwidth_by_content(cells));
    slots.extend(iops_by_sync(cells));
    slots
}

/// Reads beside writes at one depth.
fn latency_by_size(cells: &[Cell<'_>]) -> Option<FigureSlot> {
    const ID: &str = "latency-by-size";
    let (mut series, mut held) = (Vec::new(), Vec::new());
    for direction in Direction::ALL {
        let Some(curve) = pure_curves(cells, &IO_BLOCK_SIZE, direction).next() else {
            continue;
        };
        held.push(format!(
            "{direction}s: {}{}",
            curve[0].depth_words(),
            curve[0].circumstances()
        ));
        for (metric, name, offset) in [(&P50, "p50", 0), (&P99, "p99", 2)] {
            let x = |cell: &Cell<'_>| cell.place(&IO_BLOCK_SIZE);
            let points = points(&curve, x, |cell| cell.directed(direction, metric));
            let name = format!("{direction} {name}");
            series.push(Series::new(
                name,
                hue(direction) + offset,
                SeriesKind::Measured,
                points,
            ));
        }
    }
    if series.is_empty() {
        return None;
    }
    let chart = LineChart {
        x: axis("Access size", Quantity::AccessSize, Scale::Log2),
        y: axis("Latency", Quantity::Latency, Scale::Log10),
        series,
    };
    let others = lines::other_sizes(cells, ID);
    let caption = format!("Random accesses; {}.{others}", held.join("; "));
    Some(chart.slot(ID, "Latency by access size", caption, "ssd-access-size"))
}

/// What is held along a curve over mixes.
fn held(curve: &Curve<'_, '_>) -> String {
    let first = curve[0];
    format!(
        "{}, {}{}",
        first.access(),
        first.depth_words(),
        first.circumstances()
    )
}

fn read_percent(cell: &Cell<'_>) -> Option<f64> {
    cell.read_percent().map(f64::from)
}

fn bandwidth_by_mix(curve: &Curve<'_, '_>, others: &str) -> FigureSlot {
    let total = points(curve, read_percent, |cell| cell.number(&BANDWIDTH.both));
    let mut series = vec![Series::new("both", 2, SeriesKind::Measured, total)];
    for direction in Direction::ALL {
        let points = points(curve, read_percent, |cell| cell.directed(direction, &BANDWIDTH));
        let name = format!("{direction}s");
        series.push(Series::new(name, hue(direction), SeriesKind::Measured, points));
    }
    let chart = LineChart {
        x: axis("Share of reads", Quantity::Percent, Scale::Linear),
        y: axis("Bandwidth", Quantity::Bandwidth, Scale::Linear),
        series,
    };
    let caption = format!("{}. Both directions are in one stream.{others}", held(curve));
    chart.slot(
        "bandwidth-by-mix",
        "Bandwidth by share of reads",
        caption,
        "ssd-read-write-mix",
    )
}

fn latency_by_mix(curve: &Curve<'_, '_>, others: &str) -> FigureSlot {
    const MEAN: ByDirection<Metric> = ByDirection {
        both: LATENCY.both.mean,
        read: LATENCY.read.mean,
        write: LATENCY.write.mean,
    };
    let mut series = Vec::new();
    for direction in Direction::ALL {
        for (metric, name, offset) in [(&MEAN, "mean", 0), (&P99, "p99", 2)] {
            let points = points(curve, read_percent, |cell| cell.directed(direction, metric));
            let name = format!("{direction} {name}");
            series.push(Series::new(
                name,
                hue(direction) + offset,
                SeriesKind::Measured,
                points,
            ));
        }
    }
    let chart = LineChart {
        x: axis("Share of reads", Quantity::Percent, Scale::Linear),
        y: axis("Latency", Quantity::Latency, Scale::Log10),
        series,
    };
    let caption = format!(
        "{}. A mean of reads and writes together would hide which of them waits.{others}",
        held(curve)
    );
    chart.slot(
        "latency-by-mix",
        "Latency by share of reads",
        caption,
        "ssd-read-write-mix",
    )
}

/// Writes alone that went to a device.
fn writes<'c, 'a>(cells: &'c [Cell<'a>]) -> impl Iterator<Item = &'c Cell<'a>> {
    let writes = cells.iter().filter(|cell| cell.only() == Some(Direction::Write));
    writes.filter(|cell| cell.reaches_device())
}

/// What a device that compresses makes of what is written to it.
fn bandwidth_by_content(cells: &[Cell<'_>]) -> Option<FigureSlot> {
    let families = families(writes(cells), &[&CONTENT]).into_iter();
    let family = families.min_by_key(|family| (family[0].is_synced(), Reverse(family.len())))?;
    let value = axis("Bandwidth", Quantity::Bandwidth, Scale::Linear);
    let chart = bars(&family, &CONTENT, &BANDWIDTH.both, value)?;
    let caption = format!(
        "{}. Content that compresses is written faster only where something below compresses: the drive, or the filesystem.{}",
        held_but_for(family[0], &CONTENT),
        without_bar(cells, &family, &BANDWIDTH.both)
    );
    Some(chart.slot(
        "bandwidth-by-content",
        "Bandwidth by content",
        caption,
        "ssd-content",
    ))
}

/// What it costs to wait for a sync: the same writes under each policy.
fn iops_by_sync(cells: &[Cell<'_>]) -> Option<FigureSlot> {
    let closed = writes(cells).filter(|cell| cell.is_closed_loop());
    let families = families(closed, &[&SYNC]).into_iter();
    let family = families.min_by_key(|family| Reverse(family.len()))?;
    let value = axis("IOPS of writes", Quantity::Iops, Scale::Linear);
    let chart = bars(&family, &SYNC, &IOPS.both, value)?;
    let caption = format!(
        "{}. Each bar is a sync policy: after how many writes, or with which call, writes are made durable.{}",
        held_but_for(family[0], &SYNC),
        without_bar(cells, &family, &IOPS.both)
    );
    Some(chart.slot(
        "iops-by-sync",
        "IOPS of writes by sync policy",
        caption,
        "ssd-durability",
    ))
}

/// The writes that have no bar, as a sentence behind a blank; nothing where all have one. A cell of the figure's own family has none
/// either where it has no value, or nothing completed in it.
fn without_bar(cells: &[Cell<'_>], family: &[&Cell<'_>], metric: &Metric) -> String {
    let has_bar = |cell: &&&Cell<'_>| cell.value(metric).is_some_and(|value| value > 0.0);
    let drawn: Vec<&Cell<'_>> = family.iter().filter(has_bar).copied().collect();
    match cells_not_drawn(writes(cells), &drawn) {
        all if all.is_empty() => all,
        some => format!(" {some}"),
    }
}

/// The requests and circumstances of a cell, but for the factor that a figure is over.
fn held_but_for(cell: &Cell<'_>, factor: FactorRef) -> String {
    let others = cell.circumstances_but_for(factor);
    format!("{}, {}{others}", cell.requests(), cell.depth_words())
}

/// A bar for each value of a factor in which cells differ alone; none of fewer than two.
fn bars(family: &[&Cell<'_>], factor: FactorRef, metric: &Metric, value: Axis) -> Option<BarChart> {
    let group = |cell: &&Cell<'_>| {
        let number = cell.number(metric)?;
        let note = format!("{}: {number} ({})", cell.words(), number.certainty());
        Some(BarGroup {
            label: cell.spelling(factor).to_owned(),
            bars: vec![Bar::single(SeriesKind::Measured, Segment::of(0, number), note)],
        })
    };
    let groups: Vec<BarGroup> = family.iter().filter_map(group).collect();
    (groups.len() >= 2).then(|| BarChart {
        value,
        parts: Part::all(["writes"]),
        facets: vec![Facet {
            title: String::new(),
            groups,
        }],
    })
}
