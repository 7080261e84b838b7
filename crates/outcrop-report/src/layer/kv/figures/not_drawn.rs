//! What a figure has no room for, or cannot compare: its caption says how much that is, and what.

use std::ptr;

use outcrop_schema::FactorRef;
use outcrop_schema::kv::SCHEMA;

use super::workers::Curves;
use crate::cell::Cell;
use crate::number::counted;
use crate::section::FigureSlot;

/// Figures that a page can bear.
const MOST_FIGURES: usize = 12;
/// Groups of bars that fit a page.
pub(super) const MOST_GROUPS: usize = 16;
/// Names that a caption can bear.
const MOST_NAMES: usize = 4;

/// `Not drawn: 2 loads (ycsb-e, 1 thread; mixgraph, 1 thread); the table of cells has them.`; nothing of none.
pub(super) fn not_drawn(names: &[String], noun: &str) -> String {
    sentence(names.len(), noun, &some(names, "; "))
}

/// Of all cells that a figure could have, those that it has not: how many, and by which values of which factors they differ from all that it has.
/// `Not drawn: 12 cells (threads 2, 4; workload ycsb-f); the table of cells has them.`
pub(super) fn cells_not_drawn<'c, 'a: 'c>(
    all: impl IntoIterator<Item = &'c Cell<'a>>,
    drawn: &[&Cell<'_>],
) -> String {
    let is_drawn = |cell: &Cell<'_>| drawn.iter().any(|one| ptr::addr_eq(*one, cell));
    let left_out: Vec<&Cell<'_>> = all.into_iter().filter(|cell| !is_drawn(cell)).collect();
    let factors = SCHEMA.workload.iter().copied();
    let subjects = only_in(&left_out, drawn, |cell| cell.subject().to_owned());
    let differing = factors.map(|factor| values_only_in(&left_out, drawn, factor));
    let differing = differing.chain([some(&subjects, ", ")]);
    let differing: Vec<String> = differing.filter(|words| !words.is_empty()).collect();
    sentence(left_out.len(), "cell", &differing.join("; "))
}

/// `threads 2, 4`: the values of a factor that cells have and none of the others; empty where there are none. What none of the others has at all
/// is a setting of another engine, whose name says enough.
fn values_only_in(cells: &[&Cell<'_>], others: &[&Cell<'_>], factor: FactorRef) -> String {
    if others.iter().all(|cell| cell.shown(factor).is_empty()) {
        return String::new();
    }
    let values = only_in(cells, others, |cell| cell.shown(factor));
    match values.as_slice() {
        [] => String::new(),
        values => format!("{} {}", factor.words(), some(values, ", ")),
    }
}

/// What is said of cells and of none of the others, each once and in the order of the cells.
fn only_in(cells: &[&Cell<'_>], others: &[&Cell<'_>], of: impl Fn(&Cell<'_>) -> String) -> Vec<String> {
    let mut known: Vec<String> = others.iter().map(|cell| of(cell)).collect();
    let mut found = Vec::new();
    for words in cells.iter().map(|cell| of(cell)) {
        if !words.is_empty() && !known.contains(&words) {
            known.push(words.clone());
            found.push(words);
        }
    }
    found
}

/// The first names of a list, and how many more there are.
fn some(names: &[String], between: &str) -> String {
    let first = names.iter().take(MOST_NAMES).map(String::as_str);
    let first: Vec<&str> = first.collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => first.join(between),
        more => format!("{} and {more} more", first.join(between)),
    }
}

fn sentence(count: usize, noun: &str, which: &str) -> String {
    let which = match which {
        "" => String::new(),
        which => format!(" ({which})"),
    };
    match count {
        0 => String::new(),
        count => format!(
            "Not drawn: {}{which}; the table of cells has them.",
            counted(count, noun)
        ),
    }
}

/// Sentences of a caption with spaces between them; those that are empty are left out.
pub(super) fn sentences(all: impl IntoIterator<Item = String>) -> String {
    let given = all.into_iter().filter(|sentence| !sentence.is_empty());
    given.collect::<Vec<_>>().join(" ")
}

/// A figure for each load, as many as a page can bear. Each gets a sentence about what has no figure, which is empty but for the last: loads,
/// and of all the cells those that are in no load.
pub(super) fn of_loads<'c, 'a: 'c>(
    all: impl IntoIterator<Item = &'c Cell<'a>>,
    loads: &[Curves<'c, 'a>],
    figure: impl Fn(&Curves<'c, 'a>, String) -> FigureSlot,
) -> Vec<FigureSlot> {
    let (drawn, others) = loads.split_at(loads.len().min(MOST_FIGURES));
    let others: Vec<String> = others.iter().map(|load| load.load.clone()).collect();
    let in_loads: Vec<&Cell<'_>> = loads.iter().flat_map(|load| load.cells.iter().copied()).collect();
    let left_out = sentences([not_drawn(&others, "load"), cells_not_drawn(all, &in_loads)]);
    let slot = |(index, load): (usize, &Curves<'c, 'a>)| match index + 1 == drawn.len() {
        true => figure(load, left_out.clone()),
        false => figure(load, String::new()),
    };
    drawn.iter().enumerate().map(slot).collect()
}
