//! Why the cells of a layer met none: the factors in which the two sides have no value in common.

use std::collections::BTreeSet;

use outcrop_schema::device::{Kind, READ_WRITE_MIX, SYNC};
use serde::Serialize;

use super::cells::Cell;
use super::{Side, UnmatchedCell, conditions};
use crate::references::NOT_STATED;
use crate::trial::{LAYOUT, OPTION_OF_FIO, SHARED_WITH};

/// Cells of a side among which the nearest are looked for.
const MOST_CELLS: usize = 100;
/// What a cell was measured with that ran beside no other job.
const ALONE: &str = "alone";
/// What is shown of a file that was written in full before synced writes to it were measured.
const WRITTEN: &str = "written in full first";
/// The same of a device, which is there before.
const A_DEVICE: &str = "a block device";

/// A factor in which no cell of one side is like a cell of the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnlikeFactor {
    /// The layer of the cells.
    pub layer: String,
    /// The factor.
    pub factor: String,
    /// Its values in the baseline; `not stated` for a cell without it, `alone` for one that ran with no other job.
    pub baseline: BTreeSet<String>,
    /// Its values in the candidate.
    pub candidate: BTreeSet<String>,
    /// Whether results of another program do not state it: who imports them can.
    #[serde(skip)]
    pub is_unstated_by_import: bool,
}

/// The factors of each layer of which both sides have cells and none met. Where each factor has some value in common, those in which the two
/// nearest cells differ.
pub(super) fn factors(
    baseline: &[Cell],
    candidate: &[Cell],
    unmatched: &[UnmatchedCell],
) -> Vec<UnlikeFactor> {
    let layers: BTreeSet<&str> = unmatched.iter().map(|cell| cell.layer.as_str()).collect();
    let mut unlike = Vec::new();
    for layer in layers {
        let its = |cells: &'_ [Cell]| -> usize { cells.iter().filter(|cell| cell.layer == layer).count() };
        let left_over = |side: Side| {
            let is_its = |cell: &&UnmatchedCell| cell.side == side && cell.layer == layer;
            unmatched.iter().filter(is_its).count()
        };
        let counts = (its(baseline), its(candidate));
        let is_without_any = counts.0 > 0 && counts.1 > 0;
        if is_without_any && (left_over(Side::Baseline), left_over(Side::Candidate)) == counts {
            let of_layer = |cells: &'_ [Cell]| -> Vec<Cell> {
                let its = cells.iter().filter(|cell| cell.layer == layer);
                its.cloned().collect()
            };
            unlike.extend(of_cells(&of_layer(baseline), &of_layer(candidate)));
        }
    }
    unlike
}

fn of_cells(baseline: &[Cell], candidate: &[Cell]) -> Vec<UnlikeFactor> {
    let apart = without_common_value(baseline, candidate);
    if !apart.is_empty() {
        return apart;
    }
    let pairs = baseline
        .iter()
        .take(MOST_CELLS)
        .flat_map(|a| candidate.iter().take(MOST_CELLS).map(move |b| (a, b)));
    let differences =
        pairs.map(|(a, b)| without_common_value(std::slice::from_ref(a), std::slice::from_ref(b)));
    let nearest = differences.filter(|factors| !factors.is_empty());
    nearest.min_by_key(Vec::len).unwrap_or_default()
}

fn without_common_value(baseline: &[Cell], candidate: &[Cell]) -> Vec<UnlikeFactor> {
    let both = || baseline.iter().chain(candidate);
    let is_published = both().any(|cell| cell.is_reference);
    let names: BTreeSet<&String> = both().flat_map(|cell| cell.factors.keys()).collect();
    let values = |cells: &[Cell], name: &String| -> BTreeSet<String> {
        let none = |cell| match name.strip_prefix(OPTION_OF_FIO) {
            Some(SHARED_WITH) => Some(ALONE),
            Some(LAYOUT) => layout(cell),
            _ => Some(NOT_STATED),
        };
        let value = |cell| conditions::value_of(cell, name).or_else(|| none(cell));
        cells.iter().filter_map(value).map(str::to_owned).collect()
    };
    let mut unlike = Vec::new();
    for name in names {
        let schema = baseline.first().and_then(|cell| cell.schema);
        // What a publication leaves out is no objection.
        let is_left_out = is_published && both().any(|cell| !cell.factors.contains_key(name));
        if is_left_out || !conditions::names_a_cell(schema, name, is_published) {
            continue;
        }
        let (a, b) = (values(baseline, name), values(candidate, name));
        // Cells of which a layout says nothing differ in another factor.
        if a.is_disjoint(&b) && !a.is_empty() && !b.is_empty() {
            unlike.push(UnlikeFactor {
                layer: baseline
                    .first()
                    .map(|cell| cell.layer.clone())
                    .unwrap_or_default(),
                factor: name.clone(),
                baseline: a,
                candidate: b,
                is_unstated_by_import: both().any(|cell| is_unstated_by_import(cell, name)),
            });
        }
    }
    unlike
}

/// What a cell wrote to of which no layout is noted; none where it did not sync writes alone, because a layout is noted only there.
fn layout(cell: &Cell) -> Option<&'static str> {
    let mix = conditions::value_of(cell, READ_WRITE_MIX.name)?;
    let sync = conditions::value_of(cell, SYNC.name)?;
    let is_only_written = READ_WRITE_MIX.parse(mix).is_ok_and(|mix| !mix.has_reads());
    let is_device = ["/dev/", Kind::Destroyed.name()]
        .iter()
        .any(|start| cell.subject.starts_with(start));
    match is_only_written && ![SYNC.default, Some(NOT_STATED)].contains(&Some(sync)) {
        true if is_device => Some(A_DEVICE),
        true => Some(WRITTEN),
        false => None,
    }
}

/// `import` accepts no assumption about an option of fio that has no factor.
fn is_unstated_by_import(cell: &Cell, name: &str) -> bool {
    !name.starts_with(OPTION_OF_FIO)
        && cell.is_imported
        && conditions::value_of(cell, name).is_none_or(|value| value == NOT_STATED)
}
