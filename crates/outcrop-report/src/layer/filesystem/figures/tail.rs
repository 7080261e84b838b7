//! How the tail of the latency grows with an offered load.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_schema::filesystem::{ARRIVAL, OFFERED_SHARE, PUBLISHED_TAIL};
use outcrop_workload::Arrivals;
use outcrop_workload::filesystem::OfferedLoad;

use super::super::cell::{is_closed, is_cold_read, is_fresh, words};
use super::super::naming::Naming;
use super::super::published::{DASHED, Published, has};
use super::{Beside, OF_LOADS, PLAN_OF_LOAD, left_out, offered_to};
use crate::cell::{Cell, families};
use crate::chart::{LineChart, Point, Quantity, Scale, Series, axis};
use crate::section::{FigureSlot, LeastEffort};

/// Which percentile a tail is drawn of, and what it is called: the highest that all cells of the chart have enough operations for.
const TAILS: [(f64, &str); 2] = [(0.999, "p99.9 − p50"), (0.99, "p99 − p50")];

/// Why the tail of a chart is that of a p99.
const NOT_FURTHER: &str = " Not p99.9: some cells have fewer than 10,000 reads.";

/// The reason if no line can be drawn.
const NONE: &str = "no configuration was offered two shares of its highest rate.";

/// The tail of cold reads by the share of the closed loop's rate that was offered, with what was published of a p99.9.
///
/// Of all trials of a cell together: a single one has too few reads for a p99.9.
pub(super) fn tail_by_load(cells: &[Cell<'_>], published: &Published) -> Beside {
    const TITLE: &str = "Tail of the latency by offered load";
    let offered = cells
        .iter()
        .filter(|cell| is_cold_read(cell) && is_fresh(cell) && !is_closed(cell) && share(cell).is_some());
    let lines: Vec<(Vec<&Cell<'_>>, Vec<LatencyHistogram>)> = families(offered, &[&ARRIVAL])
        .into_iter()
        .map(|family| {
            let latencies = family.iter().map(|cell| cell.latencies()).collect();
            (family, latencies)
        })
        .collect();
    let supports = |quantile: f64| {
        let curves = lines.iter().filter(|(family, _)| family.len() > 1);
        let mut all = curves.flat_map(|(_, latencies)| latencies);
        all.all(|latencies| latencies.percentile(quantile).is_some())
    };
    let Some((quantile, name)) = TAILS.into_iter().find(|(quantile, _)| supports(*quantile)) else {
        let reason = "some cells have too few reads for a p99, in all of their trials together.";
        return Beside {
            slot: FigureSlot::missing(TITLE, reason, PLAN_OF_LOAD).with_effort(LeastEffort::Default),
            has_published: false,
        };
    };
    let naming = Naming::among(lines.iter().flat_map(|(family, _)| family).copied(), OF_LOADS);
    let line = |(family, latencies): &(Vec<&Cell<'_>>, Vec<LatencyHistogram>)| {
        let points = family.iter().zip(latencies).filter_map(|(cell, latencies)| {
            let tail_ns = latencies.percentile(quantile)? - latencies.percentile(0.5)?;
            let note = format!(
                "{}: {name} {:.1} µs of {} reads",
                words(cell),
                tail_ns as f64 / 1e3,
                latencies.count()
            );
            Some(Point::bare(share(cell)?, tail_ns as f64, note))
        });
        let mut points: Vec<Point> = points.collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        let name = family.first().map(|cell| offered_to(cell, &naming));
        (name.unwrap_or_default(), points)
    };
    let (mut series, left_out) = left_out::lines(lines.iter().map(line).collect(), 2);
    let (lines, whose) = match name == TAILS[0].1 && series.iter().any(Series::is_curve) {
        true => (
            published.lines(&OFFERED_SHARE, &PUBLISHED_TAIL, series.len()),
            published.caption(DASHED, has(&OFFERED_SHARE, &PUBLISHED_TAIL)),
        ),
        false => (Vec::new(), String::new()),
    };
    let has_published = !lines.is_empty();
    series.extend(lines);
    let chart = LineChart {
        x: axis(
            "Share of the closed loop's rate",
            Quantity::Percent,
            Scale::Linear,
        ),
        y: axis(name, Quantity::Latency, Scale::Log10),
        series,
    };
    let why = if name == TAILS[0].1 { "" } else { NOT_FURTHER };
    let caption = format!(
        "{name} of all trials of a cell together, from when a read was due. It has no interval.{why}{left_out}{whose}"
    );
    let slot = chart.curves("fs-tail-by-load", TITLE, caption, PLAN_OF_LOAD, NONE);
    Beside {
        slot: slot.with_effort(LeastEffort::Default),
        has_published,
    }
}

/// The offered load in per cent of what a closed loop gets.
fn share(cell: &Cell<'_>) -> Option<f64> {
    match cell.get(&ARRIVAL)? {
        OfferedLoad::Operations(Arrivals::Share(_, percent)) => Some(*percent),
        _ => None,
    }
}
