//! What columns take and how fast they answer, what to do about it, and how sure that is.

use std::collections::BTreeSet;

use outcrop_measure::units::format_ratio;
use outcrop_results::RunView;

use super::cell::Cell;
use super::judgement::judge;
use super::{advice, cautions};
use crate::answer::{Answer, Capability, Reading, ReadingOutcome};

/// Columns of a file that the table names; the figure has them all.
const MOST_ROWS: usize = 6;

/// The answer of a run with columns.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>]) -> Answer {
    let subjects: BTreeSet<&str> = cells.iter().map(|cell| cell.view().subject).collect();
    let mut capabilities = of_files(cells);
    if capabilities.is_empty() {
        capabilities = of_generated(cells);
    }
    Answer {
        subject: format!(
            "string columns · {}",
            subjects.into_iter().collect::<Vec<_>>().join(", ")
        ),
        capabilities,
        advice: advice::claims(cells),
        cautions: cautions::cautions(run, cells),
    }
}

/// The columns of files, the largest first: their size, and how soon rows of a value are found.
fn of_files(cells: &[Cell<'_>]) -> Vec<Capability> {
    let mut judged = judge(cells);
    judged.retain(|judgement| !judgement.best.is_generated());
    judged.sort_by(|left, right| right.text_bytes.total_cmp(&left.text_bytes));
    let row = judged.iter().take(MOST_ROWS).map(|judgement| {
        let size = judgement.best.number("file_bytes").map_or_else(
            || missing("not encoded"),
            |number| ReadingOutcome::Measured {
                number: number.clone(),
                conditions: format!(
                    "{}, 1/{} of text",
                    judgement.best.factor("profile"),
                    format_ratio(judgement.text_bytes / number.value)
                ),
            },
        );
        let lookup = judgement.index.as_ref().map_or_else(
            || missing("no search"),
            |gain| ReadingOutcome::Measured {
                number: gain.with.clone(),
                conditions: format!("postings; by scan {}", gain.without),
            },
        );
        capability(
            &judgement.words,
            [("size", size), ("rows of a value, p50", lookup)],
        )
    });
    row.collect()
}

fn of_generated(cells: &[Cell<'_>]) -> Vec<Capability> {
    let one = |label: &str, reading: ReadingOutcome| capability(label, [("generated columns", reading)]);
    let lookup = |wanted: &[(&str, &str)]| {
        let all = [&[("operation", "equality")], wanted].concat();
        extreme(cells, "latency_p50", false, |cell| cell.is(&all))
    };
    let is_random_code_file =
        |cell: &Cell<'_>| cell.is(&[("operation", "encode"), ("index", "none"), ("order", "random")]);
    vec![
        one(
            "Largest size ÷ floor",
            extreme(cells, "size_over_floor", true, is_random_code_file),
        ),
        one("Fastest encode", extreme(cells, "encode_speed", true, |_| true)),
        one(
            "Rows of a value, in memory",
            lookup(&[("index", "postings"), ("search_mode", "in-memory")]),
        ),
        one(
            "Rows of a value, on disk",
            lookup(&[("index", "postings"), ("search_mode", "on-disk")]),
        ),
        one("Rows of a value, by scan", lookup(&[("search_mode", "scan")])),
    ]
}

fn capability<const N: usize>(label: &str, readings: [(&str, ReadingOutcome); N]) -> Capability {
    let readings = readings.map(|(column, outcome)| Reading {
        column: column.to_owned(),
        outcome,
    });
    Capability {
        label: label.to_owned(),
        readings: readings.into(),
    }
}

fn missing(reason: &str) -> ReadingOutcome {
    ReadingOutcome::Missing {
        reason: reason.to_owned(),
    }
}

/// The highest (or lowest) value of a metric among the cells that are wanted.
fn extreme(
    cells: &[Cell<'_>],
    metric: &str,
    is_highest: bool,
    is_wanted: impl Fn(&Cell<'_>) -> bool,
) -> ReadingOutcome {
    let found = cells
        .iter()
        .filter(|cell| is_wanted(cell))
        .filter_map(|cell| Some((cell, cell.number(metric)?)));
    let best = found.reduce(|best, next| {
        let is_better = (next.1.value > best.1.value) == is_highest;
        if is_better { next } else { best }
    });
    best.map_or_else(
        || missing("see the column- plans"),
        |(cell, number)| ReadingOutcome::Measured {
            number: number.clone(),
            conditions: cell.column_words(),
        },
    )
}
