//! What the caches give, what to configure, and how sure that is.

use std::collections::BTreeSet;

use outcrop_results::RunView;

use super::cell::Cell;
use super::{advice, cautions};
use crate::answer::{Answer, Capability, Reading, ReadingOutcome};

/// Columns of the table: more servers than these are a plan of the user's, and in the figures.
const MOST_SERVERS: usize = 4;

/// Row, metric, whether more is better, and which cells count.
type Row = (&'static str, &'static str, bool, fn(&Cell<'_>) -> bool);

const ROWS: [Row; 5] = [
    ("Highest hit ratio", "hit_ratio", true, |_| true),
    ("Highest throughput, closed loop", "throughput", true, is_closed),
    ("Lowest p95, closed loop", "latency_p95", false, is_closed),
    ("Lowest p99, open loop", "latency_p99", false, |cell| {
        !cell.is_closed_loop()
    }),
    ("Least CPU per request", "server_cpu_per_request", false, |_| true),
];

fn is_closed(cell: &Cell<'_>) -> bool {
    cell.is_closed_loop()
}

/// The answer of a run with caches.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>]) -> Answer {
    let subjects: BTreeSet<&str> = cells.iter().map(|cell| cell.view().subject).collect();
    let mut servers: Vec<(usize, String)> = cells
        .iter()
        .filter(|cell| matches!(cell.factor("build"), "" | "this"))
        .map(|cell| (cell.rank(), cell.server()))
        .collect();
    servers.sort();
    servers.dedup();
    servers.truncate(MOST_SERVERS);
    Answer {
        subject: format!("caches · {}", subjects.into_iter().collect::<Vec<_>>().join(", ")),
        capabilities: ROWS.iter().map(|row| capability(row, &servers, cells)).collect(),
        advice: advice::claims(cells),
        cautions: cautions::cautions(run, cells),
    }
}

fn capability(row: &Row, servers: &[(usize, String)], cells: &[Cell<'_>]) -> Capability {
    let readings = servers.iter().map(|(_, server)| Reading {
        column: server.clone(),
        outcome: best(row, server, cells),
    });
    Capability {
        label: row.0.to_owned(),
        readings: readings.collect(),
    }
}

/// The best value of a metric among the cells of a server, with the cell that it was reached in.
fn best(row: &Row, server: &str, cells: &[Cell<'_>]) -> ReadingOutcome {
    let (_, metric, is_highest, counts) = row;
    let of_server = || cells.iter().filter(|cell| cell.server() == server);
    let found = of_server()
        .filter(|cell| counts(cell))
        .filter_map(|cell| Some((cell, cell.number(metric)?)))
        .reduce(|best, next| {
            let is_better = (next.1.value > best.1.value) == *is_highest && next.1.value != best.1.value;
            if is_better { next } else { best }
        });
    match found {
        Some((cell, number)) => ReadingOutcome::Measured {
            number: number.clone(),
            conditions: conditions(cell),
        },
        None => ReadingOutcome::Missing {
            reason: of_server()
                .find_map(Cell::absent)
                .map_or_else(|| "see the cache- plans".to_owned(), str::to_owned),
        },
    }
}

/// `64MiB, 50 connections × 8, closed loop`.
fn conditions(cell: &Cell<'_>) -> String {
    let words = [
        cell.factor("memory").to_owned(),
        cell.concurrency_words(),
        cell.loop_words(),
    ];
    let given: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    given.join(", ")
}
