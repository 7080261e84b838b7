//! Why cells of a table lack a figure, and which.

use outcrop_results::{CellGroup, CellRow, Figure};
use outcrop_schema::FactorRef;

use crate::alike::{kind, ranged};
use crate::number::counted;

/// Why figures are missing, and in which or how many cells where not in all.
pub(super) type Reason = (String, Option<String>);

/// Why cells lack a figure, how many for which reason, and the first of them; reasons that differ in numbers alone are one, with the
/// ranges of these.
pub(super) fn reasons<'r>(
    figures: impl Iterator<Item = (&'r CellRow, &'r Figure)>,
) -> Vec<(String, usize, &'r CellRow)> {
    let mut found: Vec<(Vec<&str>, &CellRow)> = Vec::new();
    for (row, why) in figures.filter_map(|(row, figure)| Some((row, reason(figure)?))) {
        match found.iter_mut().find(|(alike, _)| kind(alike[0]) == kind(why)) {
            Some((alike, _)) => alike.push(why),
            None => found.push((vec![why], row)),
        }
    }
    let one = |(alike, row): (Vec<&str>, &'r CellRow)| (ranged(&alike), alike.len(), row);
    found.into_iter().map(one).collect()
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
