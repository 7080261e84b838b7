//! The figure over the share of reads: what a mix gives, and what its parts would suggest.

use super::super::cell::{Cell, Direction};
use super::super::curve::{Along, Curve, curves};
use super::super::findings::weighted_mean_line;
use super::{axis, hue, missing, point, slot};
use crate::chart::{LineChart, Quantity, Scale, Series, SeriesKind};
use crate::number::Number;
use crate::section::FigureSlot;

/// The mix curve of the page: the longest one with both ends.
pub(in super::super) fn mix_curve<'c, 'a>(cells: &'c [Cell<'a>]) -> Option<Curve<'c, 'a>> {
    let has_middle = |curve: &Curve<'_, '_>| {
        curve
            .cells
            .iter()
            .any(|cell| cell.read_percent.is_some_and(|read| (1..100).contains(&read)))
    };
    curves(cells, Along::Mix).into_iter().find(has_middle)
}

pub(super) fn mix(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "IOPS by share of reads";
    let Some(curve) = mix_curve(cells) else {
        return missing(
            TITLE,
            "no cell was measured at more than one mix of reads and writes.",
            "ssd-read-write-mix",
        );
    };
    let at = |cell: &Cell<'_>, number: &Number| Some(point(f64::from(cell.read_percent?), number, cell));
    let total = curve
        .cells
        .iter()
        .filter_map(|cell| at(cell, cell.number("iops")?));
    let mut series = vec![Series {
        name: "both".into(),
        hue: 2,
        points: total.collect(),
        kind: SeriesKind::Measured,
    }];
    for direction in Direction::BOTH {
        let points = curve
            .cells
            .iter()
            .filter_map(|cell| at(cell, cell.directed(direction, "iops")?));
        series.push(Series {
            name: format!("{}s", direction.name()),
            hue: hue(direction),
            points: points.collect(),
            kind: SeriesKind::Measured,
        });
    }
    if let Some(weighted) = weighted_mean_line(&curve) {
        series.push(Series {
            name: "weighted mean".into(),
            hue: 3,
            points: weighted,
            kind: SeriesKind::Derived,
        });
    }
    let chart = LineChart {
        x: axis("Share of reads", Quantity::Percent, Scale::Linear),
        y: axis("IOPS", Quantity::Iops, Scale::Linear),
        series,
    };
    let held = curve.first().map_or_else(String::new, |cell| {
        format!("{}, {}", cell.access(), cell.depth_words())
    });
    let caption = format!(
        "{held}. Measured with both in one stream; the dotted line is what the two pure runs would suggest."
    );
    slot(chart, "iops-by-mix", TITLE, caption, "ssd-read-write-mix")
}
