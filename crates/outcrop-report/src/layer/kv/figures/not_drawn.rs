//! What a figure has no room for: its caption says so.

use super::workers::Curves;
use crate::number::counted;
use crate::section::FigureSlot;

/// Figures that a page can bear.
const MOST_FIGURES: usize = 12;
/// Groups of bars that fit a page.
pub(super) const MOST_GROUPS: usize = 16;

/// `Not drawn: 3 loads; the table of cells has them.`; nothing of none.
pub(super) fn not_drawn(count: usize, noun: &str) -> String {
    match count {
        0 => String::new(),
        count => format!(
            "Not drawn: {}; the table of cells has them.",
            counted(count, noun)
        ),
    }
}

/// The same of cells beyond the groups of bars that fit.
pub(super) fn cells_not_drawn(cells: usize) -> String {
    not_drawn(cells.saturating_sub(MOST_GROUPS), "cell")
}

/// Sentences of a caption with spaces between them; those that are empty are left out.
pub(super) fn sentences(all: impl IntoIterator<Item = String>) -> String {
    let given = all.into_iter().filter(|sentence| !sentence.is_empty());
    given.collect::<Vec<_>>().join(" ")
}

/// A figure for each load, as many as a page can bear; each gets the sentence about loads without one, which is empty but for the last.
pub(super) fn of_loads<'c, 'a>(
    loads: &[Curves<'c, 'a>],
    figure: impl Fn(&Curves<'c, 'a>, String) -> FigureSlot,
) -> Vec<FigureSlot> {
    let drawn = loads.len().min(MOST_FIGURES);
    let slot = |(index, load): (usize, &Curves<'c, 'a>)| {
        let left_out = match index + 1 == drawn {
            true => loads.len() - drawn,
            false => 0,
        };
        figure(load, not_drawn(left_out, "load"))
    };
    loads.iter().take(drawn).enumerate().map(slot).collect()
}
