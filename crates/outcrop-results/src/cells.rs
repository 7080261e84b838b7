//! The table of a run's cells: a row per cell, with every figure's median, interval, confidence and n.
//!
//! It is built once and read by all who show cells: `cells.csv` and `cells.parquet` in the run folder, `--format csv`, the
//! cells of the JSON that every command prints, and the report, which lays it out for terminals and pages.

mod json;
mod wide;

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::interval::Interval;
use outcrop_measure::metric::{Provenance, Unit};
use outcrop_schema::{FactorRef, Label, LayerSchema, Setting, Settings, TableColumn, Vocabulary};

pub use json::{CellJson, FigureJson};
pub(crate) use wide::typed_columns;
pub use wide::{write_csv, write_files};

use crate::view::{CellView, RunView};

/// One row per cell of a run.
#[derive(Clone, Debug)]
pub struct CellTable {
    /// The run's name.
    pub run: String,
    /// The cells: layers in the order of the stack, in each the factors that vary decide.
    pub rows: Vec<CellRow>,
}

/// One cell: what it was and what it gave.
#[derive(Clone, Debug)]
pub struct CellRow {
    /// Its identifier.
    pub id: String,
    /// Layer measured.
    pub layer: String,
    /// That layer's vocabulary; none for a layer that this version does not know.
    pub schema: Option<&'static LayerSchema>,
    /// What was measured.
    pub subject: String,
    /// Its factors.
    pub factors: Settings,
    /// Names of the plans that asked for it; in a run of a job file, the names of its jobs.
    pub plans: Vec<String>,
    /// Completed trials that have a figure: none of a cell that cannot be measured here, whose trials have only the reasons.
    pub trials: usize,
    /// How long its longest trial was, in seconds.
    pub longest_trial_s: f64,
    /// Whether its run has fewer trials than its plan asks for.
    pub is_of_unfinished_run: bool,
    /// The message of the last failed trial, if no trial completed.
    pub failure: Option<String>,
    /// What it gave, by the name of the metric.
    pub figures: BTreeMap<String, Figure>,
}

/// A figure of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// It has a value.
    Known(Estimate),
    /// It has none.
    Unavailable {
        /// Unit of the value that is missing.
        unit: Unit,
        /// Why there is none.
        reason: String,
    },
}

/// A median with what is needed to judge it.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The median of the samples.
    pub value: f64,
    /// Unit of the value and of the interval.
    pub unit: Unit,
    /// Interval of the median, or of all the data where a sample of them was taken; none where neither can be given.
    pub interval: Option<Interval>,
    /// Why there is no interval, where the reason is not that there are too few repetitions.
    pub no_interval: Option<String>,
    /// Samples that the value rests on.
    pub n: usize,
    /// Where it came from.
    pub provenance: Provenance,
}

/// Cells that one table can show.
#[derive(Clone, Debug)]
pub struct CellGroup<'t> {
    /// Its layer.
    pub layer: &'static LayerSchema,
    /// What was measured, where that is the same in all cells.
    pub subject: Option<&'t str>,
    /// Factors that have one value in all cells, in the order of labels.
    pub constants: Vec<(FactorRef, &'t Setting)>,
    /// Factors that some cells lack, and that have their usual value in all others.
    pub usual: Vec<(FactorRef, &'t Setting)>,
    /// Factors that vary, in the same order.
    pub factors: Vec<FactorRef>,
    /// Figures that a cell has, in the order of columns.
    pub columns: Vec<TableColumn>,
    /// The cells.
    pub rows: Vec<&'t CellRow>,
}

impl CellTable {
    /// The table of a run.
    pub fn of(run: &RunView) -> Self {
        let lacks_trials = run.lacks_any_trials();
        let row = |cell: &CellView<'_>| CellRow {
            is_of_unfinished_run: lacks_trials,
            ..CellRow::of(cell)
        };
        Self::of_rows(run.name.clone(), run.cells().iter().map(row).collect())
    }

    /// A table of cells in the order that tables have.
    pub fn of_rows(run: String, mut rows: Vec<CellRow>) -> Self {
        let layers: Vec<String> = rows.iter().map(|row| row.layer.clone()).collect();
        let place_of = |layer: &str| {
            let stack = Vocabulary::default().layers();
            let place = stack.iter().position(|known| known.name == layer);
            // A layer that does not ship comes behind those that do, in the order of the run.
            place.or_else(|| Some(stack.len() + layers.iter().position(|known| known == layer)?))
        };
        let varying: BTreeMap<String, Vec<FactorRef>> = rows
            .iter()
            .filter_map(|row| Some((row.layer.clone(), row.schema?)))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .map(|(layer, schema)| {
                let ours: Vec<&CellRow> = rows.iter().filter(|row| row.layer == layer).collect();
                let factors = ordered_factors(schema).filter(|factor| varies(&ours, *factor));
                (layer, factors.collect())
            })
            .collect();
        rows.sort_by(|one, other| {
            let layers = (place_of(&one.layer), &one.layer).cmp(&(place_of(&other.layer), &other.layer));
            let factors = varying.get(&one.layer).map_or(&[][..], Vec::as_slice);
            let by_factors = factors
                .iter()
                .map(|factor| one.setting(*factor).cmp(&other.setting(*factor)))
                .fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
            layers
                .then(by_factors)
                .then_with(|| one.subject.cmp(&other.subject))
        });
        Self { run, rows }
    }

    /// The same table with the cells of one layer alone.
    #[must_use]
    pub fn of_layer(mut self, layer: &LayerSchema) -> Self {
        self.rows.retain(|row| row.layer == layer.name);
        self
    }

    /// Whether it has no cell.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cells in groups that one table each can show, in the order of the rows: those that have the same of their layer's
    /// first figures. Encoding and searching a column are two tables.
    ///
    /// Cells without a completed trial are in none, nor are those of a layer that this version does not know.
    pub fn groups(&self) -> Vec<CellGroup<'_>> {
        let mut groups: Vec<(&'static LayerSchema, BTreeSet<&str>, Vec<&CellRow>)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.has_completed_trial()) {
            let Some(layer) = row.schema else { continue };
            let first = layer.table.iter().filter(|column| column.rank == 0);
            let names = first.map(|column| column.metric.name);
            let names: BTreeSet<&str> = names.filter(|name| row.figures.contains_key(*name)).collect();
            let is_its = |group: &&mut (&'static LayerSchema, BTreeSet<&str>, Vec<&CellRow>)| {
                group.0.name == layer.name && group.1 == names
            };
            match groups.iter_mut().find(is_its) {
                Some(group) => group.2.push(row),
                None => groups.push((layer, names, vec![row])),
            }
        }
        groups
            .into_iter()
            .map(|(layer, _, rows)| CellGroup::of(layer, rows))
            .collect()
    }
}

impl<'t> CellGroup<'t> {
    fn of(layer: &'static LayerSchema, rows: Vec<&'t CellRow>) -> Self {
        let (factors, constants): (Vec<FactorRef>, Vec<FactorRef>) =
            ordered_factors(layer).partition(|factor| varies(&rows, *factor));
        let (usual, factors): (Vec<_>, Vec<_>) = factors
            .into_iter()
            .map(|factor| (factor, usual(&rows, factor)))
            .partition(|(_, usual)| usual.is_some());
        let usual = usual
            .into_iter()
            .filter_map(|(factor, value)| Some((factor, value?)));
        let first = rows.first().copied();
        let constants = constants
            .into_iter()
            .filter_map(|factor| Some((factor, first?.setting(factor)?)))
            .collect();
        let subjects: BTreeSet<&str> = rows.iter().map(|row| row.subject.as_str()).collect();
        let columns = layer.table.iter().copied();
        let columns = columns.filter(|column| rows.iter().any(|row| row.shows(column)));
        Self {
            layer,
            subject: (subjects.len() == 1)
                .then(|| first.map(|row| row.subject.as_str()))
                .flatten(),
            constants,
            usual: usual.collect(),
            factors: factors.into_iter().map(|(factor, _)| factor).collect(),
            columns: columns.collect(),
            rows,
        }
    }
}

impl CellGroup<'_> {
    /// Whether the names of plans tell its cells from each other, as the jobs of a job file do.
    pub fn is_told_by_plan(&self) -> bool {
        are_told_by_plan(&self.rows)
    }
}

/// Whether each of several cells has plans of its own, that asked for no other of them.
fn are_told_by_plan(rows: &[&CellRow]) -> bool {
    let mut seen = BTreeSet::new();
    let mut plans = rows.iter().flat_map(|row| &row.plans);
    rows.len() > 1 && rows.iter().all(|row| !row.plans.is_empty()) && plans.all(|plan| seen.insert(plan))
}

impl CellRow {
    fn of(cell: &CellView<'_>) -> Self {
        let figures = cell.metric_names().into_iter();
        let figures = figures.filter_map(|name| Some((name.to_owned(), figure(cell, name)?)));
        Self {
            id: cell.id.to_owned(),
            layer: cell.layer.to_owned(),
            schema: cell.schema,
            subject: cell.subject.to_owned(),
            factors: match cell.schema {
                Some(schema) => schema.read(cell.factors),
                None => Settings::of_record(|_| None, cell.factors),
            },
            plans: cell.plans.iter().map(|plan| (*plan).to_owned()).collect(),
            trials: cell.completed.iter().filter(|trial| trial.is_measured()).count(),
            longest_trial_s: cell
                .completed
                .iter()
                .map(|trial| trial.duration_s)
                .fold(0.0, f64::max),
            is_of_unfinished_run: false,
            failure: cell.failure().map(str::to_owned),
            figures: figures.collect(),
        }
    }

    /// Whether a trial of it completed, measured or with the reasons why nothing could be.
    pub fn has_completed_trial(&self) -> bool {
        self.trials > 0 || !self.figures.is_empty()
    }

    /// The value of a factor; none where the cell does not have it.
    pub fn setting(&self, factor: FactorRef) -> Option<&Setting> {
        self.factors.setting(factor.name)
    }

    /// Whether it has a figure, or should have, that says what no other one says.
    fn shows(&self, column: &TableColumn) -> bool {
        let metric = column.metric.name;
        let is_unusual = |factor: &FactorRef| {
            let setting = self.setting(*factor);
            setting.is_some_and(|setting| factor.default != Some(setting.spelling()))
        };
        if column.is_exported_only {
            return false;
        }
        if !column.only_with.is_empty() && !column.only_with.iter().any(is_unusual) {
            return false;
        }
        let repeats = || {
            let spellings = self.factors.spellings();
            self.schema
                .is_some_and(|schema| (schema.repeats)(&spellings, metric))
        };
        self.figures.contains_key(metric) && !repeats()
    }
}

impl Figure {
    /// The estimate, where there is one.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            Self::Known(estimate) => Some(estimate),
            Self::Unavailable { .. } => None,
        }
    }

    /// Unit of the value, also of one that is missing.
    pub fn unit(&self) -> Unit {
        match self {
            Self::Known(estimate) => estimate.unit,
            Self::Unavailable { unit, .. } => *unit,
        }
    }
}

/// What a cell gave of a metric: its median over the repetitions with its interval, or why it gave none.
fn figure(cell: &CellView<'_>, name: &str) -> Option<Figure> {
    let samples = cell.metric(name)?;
    let Some(summary) = samples.summary() else {
        let reason = samples.unavailable;
        return Some(Figure::Unavailable {
            unit: samples.unit,
            reason: reason.unwrap_or_else(|| "no trial gave a value".to_owned()),
        });
    };
    Some(Figure::Known(Estimate {
        value: summary.median,
        unit: samples.unit,
        interval: summary.interval,
        no_interval: samples.no_interval().map(str::to_owned),
        n: summary.n,
        provenance: samples.provenance,
    }))
}

/// The factors of a layer's cells, in the order of labels.
fn ordered_factors(layer: &'static LayerSchema) -> impl Iterator<Item = FactorRef> {
    layer.workload.iter().copied()
}

fn varies(rows: &[&CellRow], factor: FactorRef) -> bool {
    let mut values = rows.iter().map(|row| row.setting(factor));
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// The default, where every row that has the factor has it, and labels leave it out: what a cell without it lacks is decided by another factor.
fn usual<'t>(rows: &[&'t CellRow], factor: FactorRef) -> Option<&'t Setting> {
    let values: BTreeSet<&Setting> = rows.iter().filter_map(|row| row.setting(factor)).collect();
    let only = values.first().copied().filter(|_| values.len() == 1)?;
    let is_named = matches!(factor.label, Label::Always(_));
    (!is_named && factor.default == Some(only.spelling())).then_some(only)
}
