//! Runs and references in the one form that comparing needs: cells with factors in one spelling.

use std::collections::BTreeMap;

use crate::compare::Comparand;
use crate::factors;
use crate::references::{Reference, ReferenceRow};
use crate::view::{CellView, RunView, Samples};

/// A cell of either kind.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) layer: String,
    pub(super) subject: String,
    /// In one spelling.
    pub(super) factors: BTreeMap<String, String>,
    pub(super) metrics: BTreeMap<String, Samples>,
    pub(super) is_reference: bool,
}

pub(super) fn of(comparand: Comparand<'_>) -> Vec<Cell> {
    match comparand {
        Comparand::Run(run) => of_run(run),
        Comparand::Reference(reference) => of_reference(reference),
    }
}

fn of_run(run: &RunView) -> Vec<Cell> {
    let cell = |view: &CellView<'_>| Cell {
        layer: view.layer.to_owned(),
        subject: view.subject.to_owned(),
        factors: view
            .factors
            .iter()
            .map(|(name, value)| one_spelling(name, value))
            .collect(),
        metrics: view
            .metric_names()
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), view.metric(name)?)))
            .collect(),
        is_reference: false,
    };
    run.cells()
        .iter()
        .filter(|view| !view.completed.is_empty())
        .map(cell)
        .collect()
}

fn of_reference(reference: &Reference) -> Vec<Cell> {
    let mut cells: BTreeMap<(&str, &str, &BTreeMap<String, String>), Cell> = BTreeMap::new();
    for row in &reference.rows {
        let cell = cells
            .entry((&row.layer, &row.subject, &row.factors))
            .or_insert_with(|| Cell {
                layer: row.layer.clone(),
                subject: row.subject.clone(),
                factors: row.factors.clone(),
                metrics: BTreeMap::new(),
                is_reference: true,
            });
        cell.metrics
            .entry(row.metric.clone())
            .or_insert_with(|| no_samples(row))
            .values
            .push(row.value);
    }
    cells.into_values().collect()
}

fn no_samples(row: &ReferenceRow) -> Samples {
    Samples {
        unit: row.unit,
        provenance: row.provenance,
        values: Vec::new(),
        unavailable: None,
    }
}

/// A run may carry a factor in a spelling that we do not know: it stays as it is.
fn one_spelling(name: &str, value: &str) -> (String, String) {
    factors::canonical(name, value).unwrap_or_else(|_| (name.to_owned(), value.to_owned()))
}
