//! What a figure has no room for, or cannot compare: its caption says how much that is, and what.

use std::ptr;

use outcrop_schema::FactorRef;

use crate::cell::Cell;
use crate::number::counted;

/// Names that a caption can bear.
const MOST_NAMES: usize = 4;

/// A sentence with a blank before it; nothing of none.
pub(in crate::layer) fn behind_blank(sentence: String) -> String {
    match sentence.is_empty() {
        true => sentence,
        false => format!(" {sentence}"),
    }
}

/// `Not drawn: 2 loads (ycsb-e, 1 thread; mixgraph, 1 thread).`; nothing of none.
pub(in crate::layer) fn not_drawn(names: &[String], noun: &str) -> String {
    sentence(names.len(), noun, &some(names, "; "))
}

/// Of all cells that a figure could have, those that it has not: how many, and by which values of which factors they differ from all that it has.
/// `Not drawn: 12 cells (threads 2, 4; workload ycsb-f).`
pub(in crate::layer) fn cells_not_drawn<'c, 'a: 'c>(
    all: impl IntoIterator<Item = &'c Cell<'a>>,
    drawn: &[&Cell<'_>],
) -> String {
    let is_drawn = |cell: &Cell<'_>| drawn.iter().any(|one| ptr::addr_eq(*one, cell));
    let left_out: Vec<&Cell<'_>> = all.into_iter().filter(|cell| !is_drawn(cell)).collect();
    sentence(left_out.len(), "cell", &values_beyond(&left_out, drawn))
}

/// Of all curves along a factor that a figure could have, each by a cell of it, those that it has not, in the same words:
/// `Not drawn: 2 curves (content zeros); …`
pub(in crate::layer) fn curves_not_drawn(
    left_out: &[&Cell<'_>],
    drawn: &[&Cell<'_>],
    along: FactorRef,
) -> String {
    // A curve has several values of that factor, and the cell that stands for it one of them.
    let which = values_beyond_but_for(left_out, drawn, &[along]);
    sentence(left_out.len(), "curve", &which)
}

/// The values of factors, and the subjects, that cells have and none of the others: `threads 2, 4; workload ycsb-f`.
pub(crate) fn values_beyond(cells: &[&Cell<'_>], others: &[&Cell<'_>]) -> String {
    values_beyond_but_for(cells, others, &[])
}

/// The same without the values of some factors.
fn values_beyond_but_for(cells: &[&Cell<'_>], others: &[&Cell<'_>], but_for: &[FactorRef]) -> String {
    let factors = cells.first().map_or(&[][..], |cell| cell.schema().workload);
    let is_told = |factor: &&FactorRef| but_for.iter().all(|one| one.name != factor.name);
    let factors = factors.iter().filter(is_told);
    let subjects = only_in(cells, others, |cell| cell.subject().to_owned());
    let differing = factors.map(|factor| values_only_in(cells, others, *factor));
    let differing = differing.chain([some(&subjects, ", ")]);
    let differing: Vec<String> = differing.filter(|words| !words.is_empty()).collect();
    differing.join("; ")
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
        count => format!("Not drawn: {}{which}.", counted(count, noun)),
    }
}
