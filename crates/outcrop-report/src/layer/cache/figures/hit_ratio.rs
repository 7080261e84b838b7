//! Hit ratio against memory, measured and simulated.

use std::collections::BTreeSet;

use super::{OF_PEERS, point};
use crate::chart::{LineChart, Quantity, Scale, Series, SeriesKind, axis};
use crate::layer::cache::cell::{Cell, largest_family};
use crate::section::FigureSlot;

/// One line per policy, and one per peer; the simulation of each in its colour.
pub(super) fn by_memory(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Hit ratio against memory";
    const PLAN: &str = "cache-policies";
    let mut along = OF_PEERS.to_vec();
    along.push("memory");
    let has_hits = |cell: &&Cell<'_>| cell.number("hit_ratio").is_some() && cell.memory_bytes().is_some();
    let family = largest_family(cells.iter().filter(has_hits), &along);
    let names: BTreeSet<(usize, String)> = family.iter().map(|cell| (cell.rank(), name(cell))).collect();
    let mut series = Vec::new();
    for (hue, (_, line)) in names.iter().enumerate() {
        let of_line = || family.iter().copied().filter(|cell| name(cell) == *line);
        let of_metric = |metric: &str| -> Vec<_> {
            of_line()
                .filter_map(|cell| Some(point(cell.memory_bytes()?, cell.number(metric)?, cell)))
                .collect()
        };
        series.push(Series {
            name: line.clone(),
            hue,
            points: of_metric("hit_ratio"),
            kind: SeriesKind::Measured,
        });
        series.push(Series {
            name: format!("{line}, simulated"),
            hue,
            points: of_metric("simulated_hit_ratio"),
            kind: SeriesKind::Modelled,
        });
    }
    if !series.iter().any(|line| line.points.len() > 1) {
        return FigureSlot::missing(
            TITLE,
            "no server was measured with two or more memory limits.",
            PLAN,
        );
    }
    let chart = LineChart {
        x: axis("Memory limit", Quantity::AccessSize, Scale::Log2),
        y: axis("Hit ratio", Quantity::Share, Scale::Fitted),
        series,
    };
    let caption = "Dashes and dots: a textbook simulation of the policy with as many items as the server held (for memcached and \
                   Redis of LRU, which is near to what they do). The limit is the one given: what else a process takes is its \
                   own matter.";
    FigureSlot::of(
        chart.draw("cache-hit-ratio", TITLE, caption.to_owned()),
        TITLE,
        PLAN,
    )
}

/// The policy where there is a choice of one, the server otherwise.
fn name(cell: &Cell<'_>) -> String {
    match cell.factor("policy") {
        "" => cell.server(),
        policy if cell.server() == "outcrop" => policy.to_owned(),
        policy => format!("{}, {policy}", cell.server()),
    }
}
