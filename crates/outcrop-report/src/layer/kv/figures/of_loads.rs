//! What a figure of one load has no room for, and how many figures a page can bear.

use super::workers::Curves;
use crate::cell::Cell;
use crate::layer::not_drawn::{cells_not_drawn, not_drawn};
use crate::section::FigureSlot;

/// Figures that a page can bear.
const MOST_FIGURES: usize = 12;
/// Groups of bars that fit a page.
pub(super) const MOST_GROUPS: usize = 16;

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
