//! Why cells of a table lack a figure, and which.

use outcrop_results::{CellGroup, CellRow, Figure};
use outcrop_schema::FactorRef;

use crate::number::counted;

/// Why figures are missing, and in which or how many cells where not in all.
pub(super) type Reason<'r> = (&'r str, Option<String>);

/// A reason without its numbers.
fn kind(reason: &str) -> String {
    reason.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Why cells lack a figure, how many for which reason, and the first of them; of reasons that differ in numbers alone the first.
pub(super) fn reasons<'r>(
    figures: impl Iterator<Item = (&'r CellRow, &'r Figure)>,
) -> Vec<(&'r str, usize, &'r CellRow)> {
    let mut found: Vec<(&str, usize, &CellRow)> = Vec::new();
    for (row, why) in figures.filter_map(|(row, figure)| Some((row, reason(figure)?))) {
        match found.iter_mut().find(|(known, ..)| kind(known) == kind(why)) {
            Some((_, cells, _)) => *cells += 1,
            None => found.push((why, 1, row)),
        }
    }
    found
}

/// ` in 2 cells`; a single one is named, by what tells it from the others: ` in 1 cell (queue depth 8)`.
pub(super) fn in_cells(group: &CellGroup<'_>, cells: usize, first: &CellRow) -> String {
    let setting = |factor: &FactorRef| {
        let value = first.setting(*factor)?;
        Some(format!("{} {}", factor.words(), factor.shown(value.spelling())))
    };
    let name: Vec<String> = group.factors.iter().filter_map(setting).collect();
    match (cells, name.is_empty()) {
        (1, false) => format!(" in 1 cell ({})", name.join(", ")),
        _ => format!(" in {}", counted(cells, "cell")),
    }
}

fn reason(figure: &Figure) -> Option<&str> {
    match figure {
        Figure::Unavailable { reason, .. } => Some(reason.trim_end_matches('.')),
        Figure::Known(_) => None,
    }
}
