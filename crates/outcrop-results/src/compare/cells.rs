//! Runs and references in the one form that comparing needs: cells with factors in one spelling.

use std::collections::BTreeMap;

use outcrop_schema::{LayerSchema, Vocabulary};

use crate::compare::Comparand;
use crate::factors;
use crate::references::{Reference, ReferenceRow};
use crate::view::{CellView, RunView, Samples, Uncertainty};
use outcrop_measure::metric::Scope;

/// A cell of either kind.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) layer: String,
    /// The vocabulary of that layer.
    pub(super) schema: Option<&'static LayerSchema>,
    pub(super) subject: String,
    /// In one spelling.
    pub(super) factors: BTreeMap<String, String>,
    pub(super) metrics: BTreeMap<String, Samples>,
    /// Seed of its first repetition; none for a reference.
    pub(super) draws: Option<u64>,
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
        schema: view.schema,
        subject: view.subject.to_owned(),
        factors: view
            .factors
            .iter()
            .map(|(name, value)| one_spelling(view.schema, name, value))
            .collect(),
        metrics: view
            .metric_names()
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), view.metric(name)?)))
            .collect(),
        draws: view.completed.first().map(|trial| trial.seed),
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
                schema: Vocabulary::default().layer(&row.layer),
                subject: row.subject.clone(),
                factors: row.factors.clone(),
                metrics: BTreeMap::new(),
                draws: None,
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
        scope: Scope::Trial,
        values: Vec::new(),
        unavailable: None,
        uncertainty: Uncertainty::Repetitions,
    }
}

/// A run may carry a factor in a spelling that we do not know: it stays as it is.
fn one_spelling(layer: Option<&'static LayerSchema>, name: &str, value: &str) -> (String, String) {
    factors::canonical(layer, name, value).unwrap_or_else(|_| (name.to_owned(), value.to_owned()))
}

impl Cell {
    /// Whether two cells worked on the same data: what tells data apart is equal; where a layer has nothing that does, the seed that made them.
    pub(super) fn has_data_of(&self, other: &Self) -> bool {
        let identity = |cell: &Self| -> Option<Vec<f64>> {
            let metrics = cell.schema?.data_identity.iter();
            metrics
                .map(|metric| cell.metrics.get(metric.name)?.median())
                .collect()
        };
        match (identity(self), identity(other)) {
            (Some(one), Some(two)) if !one.is_empty() => one == two,
            _ => self.draws.is_some() && self.draws == other.draws,
        }
    }
}
