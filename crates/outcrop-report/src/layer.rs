//! What each layer knows about reading its own records: one module per layer.
//!
//! A new layer adds its module here and a line in `layers.rs`; page, screen, figures and findings' form stay.

pub(crate) mod cache;
mod cautions;
pub(crate) mod column;
pub(crate) mod compression;
pub(crate) mod device;
pub(crate) mod filesystem;
pub(crate) mod kv;
mod lateness;
pub(crate) mod not_drawn;
mod overload;
mod sensitivity;
mod unapplied;
pub(crate) mod undecided;

use std::collections::BTreeMap;

use outcrop_results::references::{self, Reference};
use outcrop_results::{CellRow, CellTable, CellView, RunView};
use outcrop_schema::{FactorRef, LayerSchema};

use crate::answer::Answer;
use crate::cell::Cell;
use crate::cell_table::{self, Grid};
use crate::command::Commands;
use crate::finding::Finding;
use crate::placement::{Bounds, Constraints, Limit};
use crate::report::{LayerSection, Note};
use crate::section::{FigureSlot, Matrix, Method, Missing, ReferenceSection};

pub use cautions::cautions;
use cautions::may_lack_cells;

/// How the records of one layer become an answer, findings and sections.
///
/// Nothing here may fail: what the records cannot support is returned as missing or not testable, with the
/// reason and the plan that would fill it.
pub trait LayerReport {
    /// What the reader came for. Advice on compression keeps the limits, or says which it breaks.
    fn answer(&self, bounds: &Bounds<'_>) -> Answer;
    /// Which limits that is; the report says that others do not apply to it.
    fn applied_limits(&self) -> &'static [Limit] {
        &[]
    }
    /// Sentences checked against the records.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
    /// Figures, or what is missing for them. Published values are drawn of those references alone whose names are given.
    fn figures(&self, _beside: &[String]) -> Vec<FigureSlot> {
        Vec::new()
    }
    /// Matrices that could be filled, and those that could not.
    fn matrices(&self) -> (Vec<Matrix>, Vec<Missing>) {
        (Vec::new(), Vec::new())
    }
    /// Published figures, run through the same checks.
    fn references(&self) -> Vec<ReferenceSection> {
        Vec::new()
    }
    /// How each quantity was obtained.
    fn methods(&self) -> Vec<Method> {
        Vec::new()
    }
}

/// A layer that can be reported.
#[derive(Clone, Copy, Debug)]
pub struct ReportedLayer {
    /// Its vocabulary.
    pub schema: &'static LayerSchema,
    /// By which factors its cells are ordered, before all others.
    pub order: &'static [FactorRef],
    /// Reads the cells of a run that have a completed trial.
    pub read: for<'a> fn(&'a RunView, Vec<Cell<'a>>) -> Box<dyn LayerReport + 'a>,
    /// How the value of a factor stands in tables of its cells, where that is not as it is spelled.
    pub shown: Option<Shown>,
}

/// How the value of a factor stands in a row of a table; none where it stands as it is spelled.
pub type Shown = fn(FactorRef, &CellRow) -> Option<String>;

/// The sections of every layer that has a completed trial in this run.
pub(crate) fn sections(
    layers: &[&ReportedLayer],
    run: &RunView,
    views: &[CellView<'_>],
    beside: &[String],
    bounds: &Bounds<'_>,
) -> Vec<LayerSection> {
    let table = CellTable::of(run);
    let of_layer = |layer: &&ReportedLayer| {
        let mut cells = cells_of(layer.schema, views);
        cells.sort_by(|one, other| one.compare(other, layer.order));
        let grids = || cell_table::grids(&table.clone().of_layer(layer.schema), layer);
        (!cells.is_empty()).then(|| {
            let read = (layer.read)(run, cells);
            let section = section(layer.schema.name, run, &*read, (beside, bounds), grids());
            (section, read.applied_limits())
        })
    };
    unapplied::named(layers.iter().filter_map(of_layer).collect(), bounds)
}

/// The cells of a layer that have a completed trial.
pub(crate) fn cells_of<'a>(schema: &'static LayerSchema, views: &'a [CellView<'a>]) -> Vec<Cell<'a>> {
    let is_ours = |view: &&CellView<'_>| view.layer == schema.name && !view.completed.is_empty();
    let ours = views.iter().filter(is_ours);
    let mut cells: Vec<Cell<'a>> = ours.map(|view| Cell::measured(schema, view)).collect();
    Cell::compare_factors(&mut cells);
    cells
}

fn section(
    name: &str,
    run: &RunView,
    layer: &dyn LayerReport,
    (beside, bounds): (&[String], &Bounds<'_>),
    cells: Vec<Grid>,
) -> LayerSection {
    let of_layer = undecided::LayerOfRun {
        run,
        name,
        limits: bounds.flags(),
    };
    let (matrices, missing_matrices) = layer.matrices();
    let measured_instead = Commands::of(run).measured_instead(name);
    // Limits are those of the user's data: others neither keep nor break them.
    let no_limits = Constraints::default();
    let mut answer = match &measured_instead {
        Some(_) => layer.answer(&Bounds::new(&no_limits, None, None)),
        None => layer.answer(bounds),
    };
    if let Some(other) = &measured_instead {
        answer.is_of_other_data(other);
    }
    answer.advice = undecided::withhold(answer.advice, &of_layer);
    answer.mark_undecided();
    LayerSection {
        layer: name.to_owned(),
        measured_instead,
        answer,
        cells,
        findings: undecided::untestable(layer.findings(), &of_layer),
        figures: layer.figures(beside),
        matrices,
        missing_matrices,
        references: layer.references(),
        methods: layer.methods(),
        notes: notes(run, name),
    }
}

/// The references about a layer that ship.
pub fn published(schema: &LayerSchema) -> Vec<Reference> {
    // A test of the results crate reads every shipped file; a broken one would only be missing here.
    let mut shipped = references::shipped().unwrap_or_default();
    shipped.retain(|reference| reference.rows.iter().any(|row| row.layer == schema.name));
    shipped
}

/// The subjects of some cells, each once, in a line.
pub fn subjects(cells: &[Cell<'_>]) -> String {
    let subjects: std::collections::BTreeSet<&str> = cells.iter().map(Cell::subject).collect();
    subjects.into_iter().collect::<Vec<_>>().join(", ")
}

/// What the trials of a layer remarked. Remarks that differ in their numbers only are told once, with the first
/// as the example.
fn notes(run: &RunView, layer: &str) -> Vec<Note> {
    let trials = || {
        run.trials
            .iter()
            .filter(|trial| trial.layer == layer && trial.is_completed())
    };
    let total = trials().count();
    let mut kinds: BTreeMap<String, (&str, usize, bool)> = BTreeMap::new();
    for note in trials().flat_map(|trial| &trial.notes) {
        let note = &note.text;
        let (example, count, differ) =
            kinds
                .entry(without_numbers(note))
                .or_insert((note.as_str(), 0, false));
        *count += 1;
        *differ |= example != note;
    }
    let mut kinds: Vec<_> = kinds.into_values().collect();
    kinds.sort_by_key(|(text, count, _)| (std::cmp::Reverse(*count), *text));
    kinds
        .into_iter()
        .map(|(text, count, differ)| Note {
            text: if differ {
                format!("for example: {text}")
            } else {
                text.to_owned()
            },
            trials: if count >= total {
                format!("all {total} trials")
            } else {
                format!("{count} of {total} trials")
            },
        })
        .collect()
}

/// A remark without its quantities: what is the same in all remarks of its kind.
fn without_numbers(note: &str) -> String {
    let is_quantity = |word: &&str| {
        let bare = word.trim_end_matches([',', ';', '.']);
        let is_unit = bare.ends_with('B') && bare.len() <= 3;
        word.contains(|letter: char| letter.is_ascii_digit()) || is_unit
    };
    note.split_whitespace()
        .filter(|word| !is_quantity(word))
        .collect::<Vec<_>>()
        .join(" ")
}
