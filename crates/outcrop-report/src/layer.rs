//! What each layer knows about reading its own records: one module per layer.
//!
//! A new layer adds its module here and a line in [`LAYERS`]; page, screen, figures and findings' form stay.

mod cache;
mod cautions;
mod column;
mod compression;
mod device;
mod readings;

use std::collections::BTreeMap;

use outcrop_results::{CellView, RunView};

use crate::answer::Answer;
use crate::finding::Finding;
use crate::report::{LayerSection, Note};
use crate::section::{FigureSlot, Matrix, Method, Missing, ReferenceSection};

/// How the records of one layer become an answer, findings and sections.
///
/// Nothing here may fail: what the records cannot support is returned as missing or not testable, with the
/// reason and the plan that would fill it.
pub(crate) trait LayerReport {
    /// What the reader came for.
    fn answer(&self) -> Answer;
    /// Sentences checked against the records.
    fn findings(&self) -> Vec<Finding>;
    /// Figures, or what is missing for them.
    fn figures(&self) -> Vec<FigureSlot>;
    /// Matrices that could be filled, and those that could not.
    fn matrices(&self) -> (Vec<Matrix>, Vec<Missing>) {
        (Vec::new(), Vec::new())
    }
    /// Published figures, run through the same checks.
    fn references(&self) -> Vec<ReferenceSection> {
        Vec::new()
    }
    /// How each quantity was obtained.
    fn methods(&self) -> Vec<Method>;
}

/// Reads the cells of one layer of a run.
type Reader = for<'a> fn(&'a RunView, &'a [CellView<'a>]) -> Box<dyn LayerReport + 'a>;

/// Every layer that can be reported, in the order of the page.
const LAYERS: &[(&str, Reader)] = &[
    ("device", device::read),
    ("compression", compression::read),
    ("column", column::read),
    ("cache", cache::read),
];

/// The sections of every layer that has a completed trial in this run.
pub(crate) fn sections(run: &RunView, cells: &[CellView<'_>]) -> Vec<LayerSection> {
    let has_trials = |name: &str| {
        cells
            .iter()
            .any(|cell| cell.layer == name && !cell.completed.is_empty())
    };
    let known = LAYERS.iter().filter(|(name, _)| has_trials(name));
    known
        .map(|(name, read)| section(name, run, cells, *read))
        .collect()
}

fn section(name: &str, run: &RunView, cells: &[CellView<'_>], read: Reader) -> LayerSection {
    let layer = read(run, cells);
    let (matrices, missing_matrices) = layer.matrices();
    LayerSection {
        layer: name.to_owned(),
        answer: layer.answer(),
        findings: layer.findings(),
        figures: layer.figures(),
        matrices,
        missing_matrices,
        references: layer.references(),
        methods: layer.methods(),
        notes: notes(run, name),
    }
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
        let (example, count, differ) = kinds.entry(without_numbers(note)).or_insert((note, 0, false));
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
