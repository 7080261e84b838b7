//! Runs and references in the one form that comparing needs: cells with factors in one spelling.

use std::collections::BTreeMap;

use outcrop_schema::{LayerSchema, RemarkKind, Vocabulary, device};

use super::load::{self, LoadBefore};
use super::options;
use super::{Comparand, CompareOptions};
use crate::factors;
use crate::references::{NOT_STATED, Reference, ReferenceRow};
use crate::trial::{DataIdentity, HistogramKind, TrialEntry};
use crate::view::{CellView, RunView, Samples, Uncertainty};
use outcrop_measure::interval::median;
use outcrop_measure::metric::{Metric, Provenance, Scope};

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
    /// The repetitions that completed, in the order of the metrics' values.
    pub(super) repetitions: Vec<u32>,
    /// The data, where the run recorded what tells them apart.
    pub(super) data: Option<DataIdentity>,
    /// What joins it to the cell of the run's other variant.
    pub(super) pair: Option<String>,
    pub(super) is_reference: bool,
    /// Another program measured it.
    pub(super) is_imported: bool,
    /// The latencies that begin where the submission ends, with the share of the trials in which they do.
    pub(super) from_submission_end: BTreeMap<&'static str, f64>,
    /// How long its trials were, in the median.
    pub(super) trial_s: Option<f64>,
    /// How many operations a trial completed, in the median, where that is known.
    pub(super) operations: Option<f64>,
    /// Share of the CPUs that others used while its trials ran.
    pub(super) others_share: Option<f64>,
    /// The machine before the run.
    pub(super) before: LoadBefore,
    /// Conditions that a publication does not state and that were assumed of it.
    pub(super) assumed: Vec<String>,
}

pub(super) fn of(comparand: Comparand<'_>, options: &CompareOptions) -> Vec<Cell> {
    match comparand {
        Comparand::Run(run) => of_run(run, None),
        Comparand::Variant(run, variant) => of_run(run, Some(variant)),
        Comparand::Reference(reference) => of_reference(reference, options),
    }
}

/// Values by factor.
type Spellings = BTreeMap<String, String>;

/// The factors in which the sides differ as a whole: one value on one side, another on the other.
pub(super) fn settings(a: &[Cell], b: &[Cell]) -> (Spellings, Spellings) {
    let only = |cells: &[Cell]| {
        let mut common = cells.first().map(|cell| cell.factors.clone()).unwrap_or_default();
        common.retain(|name, value| cells.iter().all(|cell| cell.factors.get(name) == Some(value)));
        common
    };
    let (mut of_a, mut of_b) = (only(a), only(b));
    let differs =
        |name: &String, value: &String, other: &Spellings| other.get(name).is_some_and(|v| v != value);
    let all_of_a = of_a.clone();
    of_a.retain(|name, value| differs(name, value, &of_b));
    of_b.retain(|name, value| differs(name, value, &all_of_a));
    (of_a, of_b)
}

/// How long a trial was, in the median over the cells.
pub(super) fn trial_s(cells: &[Cell]) -> Option<f64> {
    let known: Vec<f64> = cells.iter().filter_map(|cell| cell.trial_s).collect();
    median(&known)
}

fn of_run(run: &RunView, variant: Option<&str>) -> Vec<Cell> {
    let before = LoadBefore::of(&run.environment);
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
        repetitions: view.completed.iter().map(|trial| trial.repetition).collect(),
        data: view.completed.first().and_then(|trial| trial.data.clone()),
        pair: variant.and_then(|_| Some(view.variant()?.pair.clone())),
        is_reference: false,
        is_imported: is_imported(view),
        from_submission_end: from_submission_end(view),
        trial_s: median(
            &view
                .completed
                .iter()
                .map(|trial| trial.duration_s)
                .collect::<Vec<_>>(),
        ),
        operations: median(
            &view
                .completed
                .iter()
                .copied()
                .filter_map(operations)
                .collect::<Vec<_>>(),
        ),
        others_share: load::others_share(view.completed.iter().map(|trial| trial.others_cpu_share)),
        before,
        assumed: Vec::new(),
    };
    run.cells()
        .iter()
        .filter(|view| !view.completed.is_empty())
        .filter(|view| variant.is_none_or(|variant| view.variant().is_some_and(|own| own.name == variant)))
        .map(cell)
        .collect()
}

/// How many operations a trial completed: those of its histograms or, without any, by its rate.
fn operations(trial: &TrialEntry) -> Option<f64> {
    let of_latency = trial
        .histograms
        .iter()
        .filter(|entry| entry.kind == HistogramKind::Latency);
    match of_latency.map(|entry| entry.count).sum::<u64>() {
        0 => Some(trial.number(&device::IOPS.both)? * trial.duration_s),
        counted => Some(counted as f64),
    }
}

/// Whether figures of it are those of another program.
fn is_imported(view: &CellView<'_>) -> bool {
    let mut values = view.completed.iter().flat_map(|trial| &trial.values);
    values.any(|value| value.provenance == Provenance::Imported)
}

/// The share of the trials in which a latency begins where the submission ends, which only devices have.
fn from_submission_end(view: &CellView<'_>) -> BTreeMap<&'static str, f64> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let of_device = view
        .completed
        .iter()
        .filter(|_| view.layer == device::SCHEMA.name);
    for trial in of_device {
        let has_remark = |kind: &RemarkKind| trial.notes.iter().any(|remark| kind.is_kind_of(remark));
        for metric in device::from_submission_end(has_remark) {
            *counts.entry(metric).or_default() += 1;
        }
    }
    let share = |count: usize| count as f64 / view.completed.len() as f64;
    counts
        .into_iter()
        .map(|(metric, count)| (metric, share(count)))
        .collect()
}

fn of_reference(reference: &Reference, options: &CompareOptions) -> Vec<Cell> {
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
                repetitions: Vec::new(),
                data: None,
                pair: None,
                is_reference: true,
                is_imported: false,
                from_submission_end: BTreeMap::new(),
                trial_s: None,
                operations: None,
                others_share: None,
                before: LoadBefore::default(),
                assumed: Vec::new(),
            });
        cell.metrics
            .entry(row.metric.clone())
            .or_insert_with(|| no_samples(row))
            .values
            .push(row.value);
    }
    let mut cells: Vec<Cell> = cells.into_values().collect();
    for cell in &mut cells {
        cell.metrics.values_mut().for_each(one_value);
        assume(cell, &options.assumed);
    }
    cells
}

/// A publication that repeats a value in another table has measured it once, and one that gives several for one cell says too little of them
/// to tell them apart: they are not repetitions.
fn one_value(samples: &mut Samples) {
    samples.values.sort_by(f64::total_cmp);
    samples.values.dedup();
    if samples.values.len() > 1 {
        let values = samples.values.iter().map(f64::to_string).collect::<Vec<_>>();
        samples.unavailable = Some(format!(
            "the publication gives several values for it ({})",
            values.join(", ")
        ));
        samples.values.clear();
    }
}

/// Puts assumptions in the place of the conditions that a publication does not state.
fn assume(cell: &mut Cell, assumed: &BTreeMap<String, String>) {
    let Some(schema) = cell.schema else { return };
    for (name, value) in assumed {
        let is_stated = cell.factors.get(name).is_some_and(|stated| stated != NOT_STATED);
        if !is_stated && options::to_state(schema).any(|factor| factor.name == name) {
            cell.factors.insert(name.clone(), value.clone());
            cell.assumed.push(name.clone());
        }
    }
}

/// The assumptions that some cell took.
pub(super) fn assumed(sides: [&[Cell]; 2], options: &CompareOptions) -> BTreeMap<String, String> {
    let is_taken = |name: &String| {
        let mut cells = sides.into_iter().flatten();
        cells.any(|cell| cell.assumed.contains(name))
    };
    let taken = options.assumed.iter().filter(|(name, _)| is_taken(name));
    taken.map(|(name, value)| (name.clone(), value.clone())).collect()
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
pub(super) fn one_spelling(layer: Option<&'static LayerSchema>, name: &str, value: &str) -> (String, String) {
    factors::canonical(layer, name, value).unwrap_or_else(|_| (name.to_owned(), value.to_owned()))
}

impl Cell {
    /// Whether two cells worked on the same bytes: they were taken alike from the same data; where a run recorded no fingerprint, what tells
    /// data apart is equal; where a layer has nothing that does, the seed that made them.
    pub(super) fn took_what(&self, other: &Self) -> bool {
        if let (Some(one), Some(two)) = (&self.data, &other.data) {
            return one.taken == two.taken;
        }
        match (self.told_apart_by(), other.told_apart_by()) {
            (Some(one), Some(two)) => one == two,
            _ => self.draws.is_some() && self.draws == other.draws,
        }
    }

    /// The metrics that tell data apart, where the layer has such and the run has them all.
    pub(super) fn told_apart_by(&self) -> Option<Vec<f64>> {
        let metrics = self.schema?.data_identity;
        if metrics.is_empty() {
            return None;
        }
        let value = |metric: &Metric| self.metrics.get(metric.name)?.median();
        metrics.iter().map(value).collect()
    }
}
