//! What of a run can be compared with a publication: for who shows the two next to each other, by the rule of `compare`.

use std::slice;

use super::cells::{self, Cell};
use super::{Comparand, CompareOptions, ComparisonRow, NotComparable, Side, Verdict, pairs};
use crate::references::{Reference, ReferenceRow};
use crate::view::RunView;

/// A published figure, with the rows that comparing a run with it gives: one for each cell of the run that it meets.
#[derive(Clone, Debug)]
pub struct BesidePublished<'r> {
    /// The figure.
    pub published: &'r ReferenceRow,
    /// The rows, comparable or not. Those of cells that meet none of the publication's are left out.
    pub rows: Vec<ComparisonRow>,
}

/// The figures of a publication, each with what of a run meets it.
pub fn beside_published<'r>(reference: &'r Reference, run: &RunView) -> Vec<BesidePublished<'r>> {
    let options = CompareOptions::default();
    let published = cells::of(Comparand::Reference(reference), &options);
    let mut ours = cells::of(Comparand::Run(run), &options);
    ours.retain(|cell| published.iter().any(|published| published.layer == cell.layer));
    let met: Vec<(&Cell, Vec<ComparisonRow>)> = published
        .iter()
        .map(|cell| {
            (
                cell,
                pairs::pair(slice::from_ref(cell), &ours, (false, false)).rows,
            )
        })
        .collect();
    let rows_of = |row: &ReferenceRow| {
        let is_its = |cell: &Cell| {
            cell.layer == row.layer && cell.subject == row.subject && cell.factors == row.factors
        };
        let its = met.iter().filter(|(cell, _)| is_its(cell));
        let its = its
            .flat_map(|(_, rows)| rows)
            .filter(|of| of.metric == row.metric);
        its.cloned().collect()
    };
    let beside = |published| BesidePublished {
        published,
        rows: rows_of(published),
    };
    reference.rows.iter().map(beside).collect()
}

impl ComparisonRow {
    /// Whether the two cells measured the same, as far as publications go: there may be no ratio all the same, as the published figure does not
    /// say what it covers, or is published with several values.
    pub fn is_of_like_cells(&self) -> bool {
        let is_of_wording = |reason: &NotComparable| {
            let side = match reason {
                NotComparable::UndefinedMetric { .. } => return true,
                NotComparable::Unavailable { side, .. } => side,
                _ => return false,
            };
            *side == Side::Baseline
        };
        let Verdict::NotComparable(reasons) = &self.verdict else {
            return true;
        };
        self.candidate_subject.is_some() && reasons.iter().all(is_of_wording)
    }
}
