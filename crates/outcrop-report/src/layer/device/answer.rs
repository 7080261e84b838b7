//! What this device can do, what to configure and how sure that is.

use outcrop_results::RunView;

use super::advice;
use super::cautions;
use super::cell::{Cell, Direction, words_for};
use super::curve::highest;
use crate::answer::{Answer, Capability, Reading, ReadingOutcome};
use crate::environment::storage_line;

/// The answer of a device run.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>]) -> Answer {
    let subjects: std::collections::BTreeSet<&str> = cells
        .iter()
        .filter_map(|cell| cell.view)
        .map(|view| view.subject)
        .collect();
    let subjects = subjects.into_iter().collect::<Vec<_>>().join(", ");
    let storage = storage_line(&run.environment);
    Answer {
        subject: [subjects, storage]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" · "),
        capabilities: capabilities(cells),
        advice: advice::claims(cells),
        cautions: cautions::cautions(run, cells),
    }
}

/// The rows: what is highest, and the latency of a lone request, or of the fastest cell where none was lone.
fn capabilities(cells: &[Cell<'_>]) -> Vec<Capability> {
    let has_lone = Direction::BOTH
        .into_iter()
        .any(|direction| lone_cell(cells, direction).is_some());
    let latency_row = |percentile: &str| {
        let metric = format!("latency_{percentile}");
        if has_lone {
            row(&format!("QD 1 latency, {percentile}"), |direction| {
                reading(lone_cell(cells, direction), direction, &metric, "ssd-queue-depth")
            })
        } else {
            row(&format!("Latency, {percentile}"), |direction| {
                reading(
                    fastest(cells, direction, "iops"),
                    direction,
                    &metric,
                    "ssd-queue-depth",
                )
            })
        }
    };
    let highest_row = |label: &str, metric: &str| {
        row(label, |direction| {
            reading(fastest(cells, direction, metric), direction, metric, "ssd-max")
        })
    };
    vec![
        highest_row("Highest IOPS", "iops"),
        highest_row("Highest bandwidth", "bandwidth"),
        latency_row("p50"),
        latency_row("p99"),
    ]
}

fn row(label: &str, reading: impl Fn(Direction) -> ReadingOutcome) -> Capability {
    let column = |direction: Direction| Reading {
        column: match direction {
            Direction::Read => "Reads".to_owned(),
            Direction::Write => "Writes".to_owned(),
        },
        outcome: reading(direction),
    };
    Capability {
        label: label.to_owned(),
        readings: Direction::BOTH.map(column).to_vec(),
    }
}

/// The cell with the largest median of a metric among those that do nothing but this direction, or, where
/// there are none, among the mixes.
fn fastest<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction, metric: &str) -> Option<&'c Cell<'a>> {
    let pure = cells
        .iter()
        .filter(|cell| cell.read_percent == Some(direction.read_percent()));
    highest(pure, metric).or_else(|| highest(cells.iter(), &format!("{}_{metric}", direction.name())))
}

/// The cell of one request at a time of a direction: random before sequential, then the smallest access.
pub(super) fn lone_cell<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<&'c Cell<'a>> {
    cells
        .iter()
        .filter(|cell| cell.read_percent == Some(direction.read_percent()))
        .filter(|cell| cell.concurrency() == Some(1.0) && cell.is_closed_loop())
        .min_by_key(|cell| (cell.access_pattern != "random", cell.block_size_bytes))
}

fn reading(cell: Option<&Cell<'_>>, direction: Direction, metric: &str, plan: &str) -> ReadingOutcome {
    match cell.and_then(|cell| Some((cell, cell.directed(direction, metric)?))) {
        Some((cell, number)) => ReadingOutcome::Measured {
            number: number
                .clone()
                .named(format!("{} {}", direction.name(), words_for(metric))),
            conditions: conditions(cell),
        },
        None => ReadingOutcome::Missing {
            reason: format!("no such cell in this run; plans/{plan}.toml has it"),
        },
    }
}

/// Where a number was reached; the column says the direction, unless it was a mix.
fn conditions(cell: &Cell<'_>) -> String {
    match cell.read_percent {
        Some(0 | 100) => format!("{}, {}", cell.access(), cell.depth_words()),
        _ => cell.words(),
    }
}
