//! A cell of one side with all of its figures, for limits that need no other side.

use std::collections::{BTreeMap, BTreeSet};

use super::cells::{self, Cell};
use super::{Comparand, CompareOptions};
use crate::view::Samples;

/// A cell of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideCell {
    /// Layer measured.
    pub layer: String,
    /// What was measured.
    pub subject: String,
    /// The cell, in one spelling.
    pub factors: BTreeMap<String, String>,
    /// Its figures, by the name of the metric.
    pub metrics: BTreeMap<String, Samples>,
    /// Share of the CPUs that others used while it was measured, in the median of its trials; none where that is not known.
    pub others_cpu_share: Option<f64>,
    /// Whether a publication has it.
    pub is_published: bool,
    /// Whether another program measured it.
    pub is_imported: bool,
    /// Metrics whose values begin where the submission of a request ends, in some of its trials or all: they are lower by that.
    pub from_submission_end: BTreeSet<&'static str>,
}

impl SideCell {
    /// The cells of a side that have a completed trial.
    pub(crate) fn all_of(side: Comparand<'_>) -> Vec<Self> {
        let cells = cells::of(side, &CompareOptions::default());
        cells.into_iter().map(Self::of).collect()
    }

    pub(super) fn of(cell: Cell) -> Self {
        Self {
            layer: cell.layer,
            subject: cell.subject,
            factors: cell.factors,
            metrics: cell.metrics,
            others_cpu_share: cell.others_share,
            is_published: cell.is_reference,
            is_imported: cell.is_imported,
            from_submission_end: cell.from_submission_end.into_keys().collect(),
        }
    }
}
