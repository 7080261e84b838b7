//! Latency, and what was answered, against the load that an open loop offered.

use outcrop_schema::device::IOPS;

use super::super::cell::{DeviceCell, P50, P99};
use super::super::curve::{Curve, offered_curve};
use crate::cell::Cell;
use crate::chart::{LineChart, Point, Quantity, Scale, Series, SeriesKind, axis};
use crate::section::FigureSlot;

/// Both figures; none where no open loop was run, since most runs have none and lack nothing.
pub(super) fn both(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    match offered_curve(cells) {
        Some(curve) => vec![latency(&curve), answered(&curve)],
        None => Vec::new(),
    }
}

/// The cells of the curve in words, without the rate that varies.
fn held(curve: &Curve<'_, '_>) -> String {
    format!("{}, {}", curve[0].requests(), curve[0].depth_words())
}

/// What a cell is and what it answered.
fn words(cell: &Cell<'_>) -> String {
    let answered = cell.number(&IOPS.both);
    let answered = answered.map_or_else(String::new, |iops| format!(", {iops} answered"));
    let overloaded = if cell.is_overloaded() { ", overloaded" } else { "" };
    format!("{}{answered}{overloaded}", cell.words())
}

fn latency(curve: &Curve<'_, '_>) -> FigureSlot {
    let series = [(&P50, "p50", 0), (&P99, "p99", 2)].map(|(metric, name, hue)| {
        let point = |cell: &&Cell<'_>| Some(Point::of(cell.offered()?, cell.latency(metric)?, &words(cell)));
        Series::new(name, hue, SeriesKind::Measured, curve.iter().filter_map(point))
    });
    let chart = LineChart {
        x: axis("Offered load", Quantity::Iops, Scale::Linear),
        y: axis("Latency", Quantity::Latency, Scale::Log10),
        series: series.into(),
    };
    let overloaded = curve.iter().filter(|cell| cell.is_overloaded()).count();
    let overload = match overloaded {
        0 => String::new(),
        _ => format!(
            " Where less is answered than offered ({overloaded} of {} rates), the latency grows with the length of the trial.",
            curve.len()
        ),
    };
    let caption = format!(
        "{}, from the moment when a request was due.{overload}",
        held(curve)
    );
    chart.slot(
        "latency-by-offered-load",
        "Latency by offered load",
        caption,
        "ssd-queue-depth",
    )
}

fn answered(curve: &Curve<'_, '_>) -> FigureSlot {
    let point = |cell: &&Cell<'_>| {
        Some(Point::of(
            cell.offered()?,
            cell.number(&IOPS.both)?,
            &cell.words(),
        ))
    };
    let answered = curve.iter().filter_map(point);
    let asked = curve.iter().filter_map(|cell| {
        let rate = cell.offered()?;
        Some(Point::bare(rate, rate, ""))
    });
    let chart = LineChart {
        x: axis("Offered load", Quantity::Iops, Scale::Linear),
        y: axis("Answered load", Quantity::Iops, Scale::Linear),
        series: vec![
            Series::new("answered", 0, SeriesKind::Measured, answered),
            Series::new("all of it", 3, SeriesKind::Derived, asked),
        ],
    };
    let caption = format!(
        "{}. Where the line leaves the dotted one, the device is overloaded.",
        held(curve)
    );
    chart.slot(
        "answered-by-offered-load",
        "Answered by offered load",
        caption,
        "ssd-queue-depth",
    )
}
