//! The tidy record: one metric of one completed trial, the row that every reader of results sees.

use std::collections::BTreeMap;

use outcrop_measure::metric::{Provenance, Unit};
use serde::{Deserialize, Serialize};

use crate::trial::TrialEntry;

/// One metric of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the run folder.
    pub run: String,
    /// Number of the trial in the order of the run, from 0.
    pub trial: u32,
    /// Identifier of the cell; empty in files that were written before records had it.
    #[serde(default)]
    pub cell: String,
    /// Layer measured.
    pub layer: String,
    /// What was measured.
    pub subject: String,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Seed of every random choice of the trial.
    pub seed: u64,
    /// The cell: factor name to value.
    pub factors: BTreeMap<String, String>,
    /// Stable metric name.
    pub metric: String,
    /// Unit of the value.
    pub unit: Unit,
    /// The value; `None` where there is none, with the reason in `source`.
    pub value: Option<f64>,
    /// Where the value came from.
    pub provenance: Provenance,
    /// The source of a value, or the reason why there is none.
    pub source: Option<String>,
    /// When the trial began, RFC 3339 in UTC.
    pub started_at: String,
    /// How long the trial ran, in seconds.
    pub duration_s: f64,
}

/// The records of one trial, in the order of its values; none for a trial that did not complete.
pub fn records_of(run_name: &str, entry: &TrialEntry) -> Vec<Record> {
    if !entry.is_completed() {
        return Vec::new();
    }
    let record = |value: &crate::trial::Value| Record {
        run: run_name.to_owned(),
        trial: entry.trial,
        cell: entry.cell.clone(),
        layer: entry.layer.clone(),
        subject: entry.subject.clone(),
        repetition: entry.repetition,
        seed: entry.seed,
        factors: entry.factors.clone(),
        metric: value.metric.clone(),
        unit: value.unit,
        value: value.value,
        provenance: value.provenance,
        source: value.source.clone(),
        started_at: entry.started_at.clone(),
        duration_s: entry.duration_s,
    };
    entry.values.iter().map(record).collect()
}

/// Stands for the provenance of a value that there is not.
pub const UNAVAILABLE: &str = "unavailable";

impl Record {
    /// Where the value came from, as tables spell it; a value that is missing came from nowhere.
    pub const fn provenance_name(&self) -> &'static str {
        match self.value {
            Some(_) => self.provenance.name(),
            None => UNAVAILABLE,
        }
    }
}
