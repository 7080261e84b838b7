//! A cell: one combination of factor values, known by a short name that is stable over resumes and machines.

use std::fmt::Write as _;

use outcrop_results::{TrialEntry, Variant};
use outcrop_schema::Settings;

use crate::layer::LayerRef;
use crate::plan::VariantName;

/// How often and for how long a cell is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialOptions {
    /// Trials per cell, at least 1.
    pub repetitions: u32,
    /// Time before measuring starts, excluded from every figure.
    pub warm_up: outcrop_measure::TimeSpan,
    /// Time measured.
    pub duration: outcrop_measure::TimeSpan,
    /// Length of the intervals that a trial's histograms are kept by.
    pub interval: outcrop_measure::TimeSpan,
    /// Whether repetitions end when five rounds in a row were steady.
    pub stops_when_steady: bool,
}

impl TrialOptions {
    /// The larger of each.
    fn most_thorough(&self, other: &Self) -> Self {
        Self {
            repetitions: self.repetitions.max(other.repetitions),
            warm_up: self.warm_up.max(other.warm_up),
            duration: self.duration.max(other.duration),
            interval: self.interval.max(other.interval),
            stops_when_steady: self.stops_when_steady && other.stops_when_steady,
        }
    }
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// Its factors.
    pub settings: Settings,
    /// How records name it: `scratch-file 2GiB`.
    pub label: String,
}

/// One combination of factor values on one subject; what a trial repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Short hash of layer, subject and factors: equal cells of several plans have equal identifiers.
    pub id: String,
    /// The layer that measures it.
    pub layer: LayerRef,
    /// What is measured.
    pub subject: Subject,
    /// Every factor of the workload, the fixed ones too.
    pub factors: Settings,
    /// Names of the plans that asked for it.
    pub plans: Vec<String>,
    /// How often and how long; where plans differ, the most thorough of each.
    pub trial: TrialOptions,
    /// Whether a budget gives it trials for as long as it may be the answer.
    pub follows_doubt: bool,
    /// Which of two variants it is of, and what joins it to its partner.
    pub variant: Option<Variant>,
}

impl Cell {
    /// A cell that one plan asks for.
    pub fn new(
        layer: LayerRef,
        subject: &Subject,
        factors: Settings,
        plan: &str,
        trial: TrialOptions,
    ) -> Self {
        Self {
            id: identify(layer.name(), subject, &factors),
            layer,
            subject: subject.clone(),
            factors,
            plans: vec![plan.to_owned()],
            trial,
            follows_doubt: false,
            variant: None,
        }
    }

    /// The same as one of a pair: the cell of a number among those of its plan.
    pub(crate) fn of_variant(mut self, variant: VariantName, plan: &str, index: usize) -> Self {
        let of_both = plan.strip_suffix(&format!("-{variant}")).unwrap_or(plan);
        // Variants may be alike, and are two cells all the same.
        self.id = hash(&format!("{} {variant} {of_both} {index}", self.id));
        self.variant = Some(Variant {
            name: variant.name().to_owned(),
            pair: format!("{of_both}-{index}"),
        });
        self
    }

    /// The cell in a few words, for people who watch.
    pub fn label(&self) -> String {
        self.layer.schema().label(&self.factors)
    }

    /// Whether the duration of its trials decides, or may decide, when they end.
    pub fn takes_duration(&self) -> bool {
        let end = self.layer.ends_by(&self.factors);
        end.is_none_or(|end| end.or_by_time)
    }

    /// What a trial of it reached, spelled: the first of its layer's headline metrics that it has.
    pub fn reached(&self, entry: &TrialEntry) -> Option<String> {
        self.layer.schema().headline(|metric| {
            let found = entry.values.iter().find(|value| value.metric == metric.name);
            found.and_then(|value| value.value)
        })
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
                known.follows_doubt |= cell.follows_doubt;
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
    for (name, setting) in subject.settings.iter().chain(factors.iter()) {
        // Writing to a String cannot fail.
        let _ = write!(text, "{name}\x01{}\0", setting.spelling());
    }
    hash(&text)
}

fn hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
