//! Stores of a run that the answer is not about: it is about one.

use outcrop_schema::kv::{ENGINE, THROUGHPUT};
use outcrop_workload::store::StoreEngine;

use super::Essential;
use super::candidate;
use super::words::Said;
use crate::cell::Cell;
use crate::number::counted;

/// What is said where a run has several stores.
pub(super) struct NotCompared {
    sentence: String,
    short: String,
}

impl NotCompared {
    /// By which rule the store of the answer was taken, and what was measured of the others; none where there are no others.
    pub(super) fn of(cells: &[Cell<'_>], family: &[&Cell<'_>]) -> Option<Self> {
        let (others, engine) = (other_stores(cells, family), candidate::engine(family));
        let each = |store: &OtherStore| {
            let (cells, trials) = (counted(store.cells, "cell"), counted(store.trials, "trial"));
            format!("{} ({cells}, at most {trials} each)", store.engine)
        };
        let named = others.iter().map(each).collect::<Vec<_>>().join(", ");
        let flag = &others.first()?.engine;
        let verb = if others.len() == 1 { "is" } else { "are" };
        Some(Self {
            sentence: format!(
                "The answer is about {engine}, the store of this run with the most candidates that were measured with and without compression; \
                 {named} {verb} not compared with it, and `--engine {flag}` alone gives its own answer."
            ),
            short: format!("Not compared: {named}."),
        })
    }

    /// Names the store in the answer, and says what is not compared.
    pub(super) fn added_to(&self, mut said: Said, engine: &str) -> Said {
        let Some(first) = said.answer.first_mut() else {
            return said;
        };
        *first = format!("For {engine}: {}", within_a_sentence(first));
        said.answer.push(self.sentence.clone());
        said.essentials.push(Essential {
            sentence: self.sentence.clone(),
            short: self.short.clone(),
            can_wait: false,
        });
        said
    }
}

/// A sentence of ours behind a colon.
fn within_a_sentence(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A store that was measured beside the one whose candidates are compared.
struct OtherStore {
    engine: String,
    cells: usize,
    /// Of the cell with the most.
    trials: usize,
}

/// The stores of the run that the answer is not about.
fn other_stores(cells: &[Cell<'_>], family: &[&Cell<'_>]) -> Vec<OtherStore> {
    let own = candidate::engine(family);
    let mut stores: Vec<OtherStore> = Vec::new();
    for cell in cells {
        let name = cell.label(&[&ENGINE]);
        let is_store = !cell.is(&ENGINE, &StoreEngine::None) && cell.number(&THROUGHPUT).is_some();
        if name == own || !is_store {
            continue;
        }
        let trials = cell.trials().len();
        match stores.iter_mut().find(|store| store.engine == name) {
            Some(store) => {
                store.cells += 1;
                store.trials = store.trials.max(trials);
            }
            None => stores.push(OtherStore {
                engine: name,
                cells: 1,
                trials,
            }),
        }
    }
    stores
}
