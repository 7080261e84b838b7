//! What this device can do, what to configure and how sure that is.

use outcrop_results::RunView;

use super::advice;
use super::cautions;
use super::cell::{Cell, Direction};
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

fn capabilities(cells: &[Cell<'_>]) -> Vec<Capability> {
    vec![
        row("Highest IOPS", |direction| {
            most(cells, direction, "iops", "IOPS", "ssd-max")
        }),
        row("Highest bandwidth", |direction| {
            most(cells, direction, "bandwidth", "bandwidth", "ssd-max")
        }),
        row("QD 1 latency, p50", |direction| {
            alone(cells, direction, "latency_p50", "p50 latency at QD 1")
        }),
        row("QD 1 latency, p99", |direction| {
            alone(cells, direction, "latency_p99", "p99 latency at QD 1")
        }),
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

/// The largest median of a metric over the cells that do nothing but this direction.
fn most(cells: &[Cell<'_>], direction: Direction, metric: &str, words: &str, plan: &str) -> ReadingOutcome {
    let pure = cells
        .iter()
        .filter(|cell| cell.read_percent == Some(direction.read_percent()));
    let found = highest(pure, metric).and_then(|cell| Some((cell, cell.number(metric)?)));
    reading(found, direction, words, plan)
}

/// A latency of one request at a time, of the smallest random access.
fn alone(cells: &[Cell<'_>], direction: Direction, metric: &str, words: &str) -> ReadingOutcome {
    let found = lone_cell(cells, direction).and_then(|cell| Some((cell, cell.directed(direction, metric)?)));
    reading(found, direction, words, "ssd-queue-depth")
}

/// The cell of one request at a time of a direction: random before sequential, then the smallest access.
pub(super) fn lone_cell<'c, 'a>(cells: &'c [Cell<'a>], direction: Direction) -> Option<&'c Cell<'a>> {
    cells
        .iter()
        .filter(|cell| cell.read_percent == Some(direction.read_percent()))
        .filter(|cell| cell.concurrency() == Some(1.0) && cell.is_closed_loop())
        .min_by_key(|cell| (cell.access_pattern != "random", cell.block_size_bytes))
}

fn reading(
    found: Option<(&Cell<'_>, &crate::number::Number)>,
    direction: Direction,
    words: &str,
    plan: &str,
) -> ReadingOutcome {
    match found {
        Some((cell, number)) => ReadingOutcome::Measured {
            number: number.clone().named(format!("{} {words}", direction.name())),
            conditions: format!("{}, {}", cell.access(), cell.depth_words()),
        },
        None => ReadingOutcome::Missing {
            reason: format!("no such cell in this run; plans/{plan}.toml has it"),
        },
    }
}
