//! How the latency of reads grows with a load that is offered in bytes per second.

use outcrop_schema::filesystem::{ARRIVAL, LATENCY, OFFERED, PUBLISHED_LATENCY};
use outcrop_workload::filesystem::OfferedLoad;

use super::super::cell::{is_cold_read, is_fresh, words};
use super::super::naming::Naming;
use super::super::published::{DASHED, Published, has};
use super::{Beside, OF_LOADS, PLAN_OF_LOAD, left_out, offered_to};
use crate::cell::{Cell, families};
use crate::chart::{LineChart, Point, Quantity, Scale, Series, axis};
use crate::section::FigureSlot;

/// p50 of cold reads, random or from end to end, by the bytes per second that were offered; none where no load was offered in bytes.
pub(super) fn latency_by_bytes(cells: &[Cell<'_>], published: &Published) -> Option<Beside> {
    let offered = cells
        .iter()
        .filter(|cell| is_cold_read(cell) && is_fresh(cell) && megabytes(cell).is_some());
    let families = families(offered, &[&ARRIVAL]);
    if families.is_empty() {
        return None;
    }
    let naming = Naming::among(families.iter().flatten().copied(), OF_LOADS);
    let line = |family: Vec<&Cell<'_>>| {
        let name = family
            .first()
            .map_or_else(String::new, |cell| offered_to(cell, &naming));
        (name, Point::of_cells(family, megabytes, &LATENCY.p50, words))
    };
    let (mut series, left_out) = left_out::lines(families.into_iter().map(line).collect(), 2);
    let is_measured = series.iter().any(Series::is_curve);
    let (lines, whose) = match is_measured {
        true => (
            published.lines(&OFFERED, &PUBLISHED_LATENCY, series.len()),
            published.caption(DASHED, has(&OFFERED, &PUBLISHED_LATENCY)),
        ),
        false => (Vec::new(), String::new()),
    };
    let has_published = !lines.is_empty();
    series.extend(lines);
    let chart = LineChart {
        x: axis("Offered load, MB/s", Quantity::Count, Scale::Linear),
        y: axis("p50", Quantity::Latency, Scale::Log10),
        series,
    };
    let caption =
        "Cold reads whose load was given in bytes per second; latency counts from when a read was due.";
    let slot = chart.curves(
        "fs-latency-by-bytes",
        "Latency by offered bytes per second",
        format!("{caption}{left_out}{whose}"),
        PLAN_OF_LOAD,
        "no configuration was offered two loads in bytes per second.",
    );
    // No shipped plan offers loads in bytes: one load of a user's own has no figure, and nothing to run for one.
    matches!(slot, FigureSlot::Drawn(_)).then_some(Beside { slot, has_published })
}

/// The offered load in MB/s.
fn megabytes(cell: &Cell<'_>) -> Option<f64> {
    match cell.get(&ARRIVAL)? {
        OfferedLoad::Bytes(_, bandwidth) => Some(bandwidth.0 / 1e6),
        OfferedLoad::Operations(_) => None,
    }
}
