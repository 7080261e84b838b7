//! Cells that differ in some factors only, and the best of some cells.

use std::collections::BTreeMap;

use outcrop_measure::metric::{Better, Metric};
use outcrop_schema::{FactorRef, Settings};

use super::Cell;
use crate::number::Number;

/// Sets of cells of one subject that differ in these factors only, each in the order of its cells; the set whose first cell is the
/// earliest comes first.
pub fn families<'c, 'a>(
    cells: impl IntoIterator<Item = &'c Cell<'a>>,
    along: &[FactorRef],
) -> Vec<Vec<&'c Cell<'a>>> {
    let mut families: Vec<Vec<&'c Cell<'a>>> = Vec::new();
    let mut place_of: BTreeMap<(&str, Settings), usize> = BTreeMap::new();
    for cell in cells {
        let place = *place_of.entry(cell.but_for(along)).or_insert(families.len());
        match families.get_mut(place) {
            Some(family) => family.push(cell),
            None => families.push(vec![cell]),
        }
    }
    families
}

/// The largest of the [`families`]; the first of those that are as large.
pub fn largest_family<'c, 'a>(
    cells: impl IntoIterator<Item = &'c Cell<'a>>,
    along: &[FactorRef],
) -> Vec<&'c Cell<'a>> {
    largest_family_that(cells, along, |_| true).unwrap_or_default()
}

/// The same of the families that are wanted; none where there is none.
pub fn largest_family_that<'c, 'a>(
    cells: impl IntoIterator<Item = &'c Cell<'a>>,
    along: &[FactorRef],
    is_wanted: impl Fn(&[&Cell<'a>]) -> bool,
) -> Option<Vec<&'c Cell<'a>>> {
    let families = families(cells, along).into_iter();
    families
        .filter(|family| is_wanted(family))
        .reduce(|best, next| if next.len() > best.len() { next } else { best })
}

/// The cell in which a metric is best, by the metric's own direction, and its number; the first among equals.
pub fn best<'c, 'a: 'c>(
    cells: impl IntoIterator<Item = &'c Cell<'a>>,
    metric: &Metric,
) -> Option<(&'c Cell<'a>, &'c Number)> {
    let is_better = |one: f64, other: f64| match metric.better {
        Some(Better::Lower) => one < other,
        _ => one > other,
    };
    cells
        .into_iter()
        .filter_map(|cell| Some((cell, cell.number(metric)?)))
        .reduce(|best, next| {
            if is_better(next.1.value, best.1.value) {
                next
            } else {
                best
            }
        })
}
