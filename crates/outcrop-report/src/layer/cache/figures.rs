//! The figures of the cache layer.

mod cost;
mod hit_ratio;
mod latency;
mod sensitivity;

use super::cell::Cell;
use crate::chart::Point;
use crate::number::Number;
use crate::section::FigureSlot;

/// Factors of a server that others do not have: peers are alike but for these.
pub(super) const OF_PEERS: [&str; 7] = [
    "server",
    "build",
    "policy",
    "load_factor",
    "protocol",
    "server_threads",
    "oracle",
];

/// All figures, in the order of the page; those about what the run did not measure say which plan would.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    vec![
        latency::distribution(cells),
        hit_ratio::by_memory(cells),
        latency::by_offered_load(cells),
        cost::by_pipeline(cells),
        cost::by_connections(cells),
        sensitivity::multiples(cells),
    ]
}

/// A number at a place of the other axis.
fn point(x: f64, number: &Number, cell: &Cell<'_>) -> Point {
    Point {
        x,
        y: number.value,
        interval: number.interval.map(|interval| (interval.low, interval.high)),
        note: format!("{}: {number}; {}", cell.words(), number.certainty()),
    }
}

/// Names of series: what tells these cells apart, the server first.
fn distinguishing(cells: &[&Cell<'_>], cell: &Cell<'_>) -> String {
    let differs = |name: &str| cells.iter().any(|other| other.factor(name) != cell.factor(name));
    let mut words = Vec::new();
    if differs("server") || differs("build") {
        words.push(cell.server());
    }
    for name in ["policy", "memory", "workload", "keys", "request_mix"] {
        if differs(name) && !cell.factor(name).is_empty() {
            let unit = if name == "keys" { " keys" } else { "" };
            words.push(format!("{}{unit}", cell.factor(name)));
        }
    }
    if differs("connections") || differs("pipeline") {
        words.push(cell.concurrency_words());
    }
    // Always: a latency without it says nothing.
    words.push(cell.loop_words());
    words.join(", ")
}
