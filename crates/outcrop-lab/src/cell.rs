//! A cell: one combination of factor values, known by a short name that is stable over resumes and machines.

use std::fmt::Write as _;

use crate::parameter::Settings;
use crate::plan::{Subject, TrialOptions};

/// One combination of factor values on one subject; what a trial repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Short hash of layer, subject and factors: equal cells of several plans have equal identifiers.
    pub id: String,
    /// The layer that measures it.
    pub layer: String,
    /// What is measured.
    pub subject: Subject,
    /// Every workload parameter, the fixed ones too, in canonical spelling.
    pub factors: Settings,
    /// Names of the plans that asked for it.
    pub plans: Vec<String>,
    /// How often and how long; where plans differ, the most thorough of each.
    pub trial: TrialOptions,
}

impl Cell {
    /// A cell that one plan asks for.
    pub fn new(layer: &str, subject: &Subject, factors: Settings, plan: &str, trial: TrialOptions) -> Self {
        let id = identify(layer, subject, &factors);
        Self {
            id,
            layer: layer.to_owned(),
            subject: subject.clone(),
            factors,
            plans: vec![plan.to_owned()],
            trial,
        }
    }

    /// The value of a workload parameter.
    ///
    /// # Panics
    /// When the layer does not have the parameter: a checked cell carries all of them.
    pub fn factor(&self, parameter: &str) -> &str {
        self.factors
            .get(parameter)
            .expect("a checked cell carries every parameter of its layer")
    }
}

/// The union of cells that several plans ask for: each once, in the order of first mention.
///
/// Cost: linear in the number of cells.
pub(crate) fn merge(cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
    let mut merged: Vec<Cell> = Vec::new();
    let mut index_of = std::collections::BTreeMap::new();
    for cell in cells {
        let index = *index_of.entry(cell.id.clone()).or_insert(merged.len());
        match merged.get_mut(index) {
            None => merged.push(cell),
            Some(known) => {
                known.trial = known.trial.most_thorough(&cell.trial);
                for plan in cell.plans {
                    if !known.plans.contains(&plan) {
                        known.plans.push(plan);
                    }
                }
            }
        }
    }
    merged
}

/// FNV-1a over an unambiguous rendering: among 10,000 cells, two collide with odds of 1 : 300,000,000,000.
fn identify(layer: &str, subject: &Subject, factors: &Settings) -> String {
    let mut text = format!("{layer}\0");
    for (name, value) in subject.settings.iter().chain(factors) {
        // Writing to a String cannot fail.
        let _ = write!(text, "{name}\x01{value}\0");
    }
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
