//! What the lab asks of a layer: a new layer is one module here, beside its engine's crate.

pub mod cache;
pub mod column;
pub mod compression;
pub mod device;
mod latencies;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_results::{HistogramEntry, Outcome, Value};

use crate::cell::Cell;
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::order::Trial;
use crate::parameter::{Parameter, Refusal, Settings};
use crate::plan::{Subject, TrialOptions};

/// Constants of what a trial of a layer yields: name in records, unit and meaning of each, then anything else to be said of it.
macro_rules! metrics {
    ($($(#[$note:meta])* $constant:ident = $name:literal, $unit:ident, $meaning:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $meaning, ".")]
            #[doc = ""]
            $(#[$note])*
            pub const $constant: outcrop_measure::metric::Metric = outcrop_measure::metric::Metric {
                name: $name,
                unit: outcrop_measure::metric::Unit::$unit,
                meaning: $meaning,
            };
        )*
    };
}
use metrics;

/// A layer as plans see it: its vocabulary, its checks, its costs, and the way to a [`Bench`].
pub trait Layer: Sync {
    /// Its name in plans and records.
    fn name(&self) -> &'static str;

    /// What may be said about its subject.
    fn subject_parameters(&self) -> &'static [Parameter];

    /// What may be said about its workload, fixed or as a factor.
    fn workload_parameters(&self) -> &'static [Parameter];

    /// How a plan of the layer is told of the user's data; `None` where it measures something else altogether.
    ///
    /// # Errors
    /// Why it does not take these data, in words that follow "the LAYER layer".
    fn take_data(&self, _path: &str) -> Result<Option<DataSettings>, String> {
        Ok(None)
    }

    /// How its subject is told of a server of the user's, by URL. None where it measures no servers.
    fn server_settings(&self, _url: &str) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Completes a subject whose values are canonical, and gives it its name.
    ///
    /// # Errors
    /// When the values do not go together, or the subject does not exist.
    fn complete_subject(&self, settings: Settings) -> Result<Subject, Refusal>;

    /// Completes the factors of one cell, whose values are canonical.
    ///
    /// # Errors
    /// When the values do not go together, or not with the subject.
    fn complete_factors(
        &self,
        subject: &Subject,
        factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal>;

    /// What it costs to make the subject before the first trial: nothing where trials make what they need, in their own time.
    fn forecast_preparation(&self, _subject: &Subject) -> Forecast {
        Forecast::default()
    }

    /// What one trial of a cell costs.
    fn forecast_trial(&self, cell: &Cell) -> Forecast;

    /// Makes the subjects of a run.
    ///
    /// # Errors
    /// When a subject cannot be made; nothing of it is left behind.
    fn prepare<'r>(
        &self,
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Box<dyn Bench + 'r>, LabError>;
}

/// What the user's data put in the place of what a plan says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataSettings {
    /// Parameters of the subject and their values.
    pub subject: Vec<(&'static str, String)>,
    /// Workload parameters that the data decide: what a plan says of them is dropped.
    pub decided: &'static [&'static str],
    /// A workload parameter and its values, unless the plan names it.
    pub factor: Option<(&'static str, Vec<String>)>,
    /// What of the data is not measured and why, in words that follow "the LAYER layer".
    pub left_out: Option<String>,
}

/// What a layer is given to make its subjects with.
///
/// `'r` is the run; `'p` is the preparation alone.
pub struct Preparation<'r, 'p> {
    /// Where files of our own are made.
    pub directory: &'r Path,
    /// Content of the subject derives from it.
    pub seed: outcrop_measure::seed::Seed,
    /// Raised when the user wants to stop.
    pub stop: &'r AtomicBool,
    /// Called as it goes on.
    pub report: &'p mut dyn FnMut(PreparationStep<'_>),
}

/// What a preparation tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreparationStep<'s> {
    /// Bytes written so far, and in all.
    Written {
        /// So far.
        bytes_done: u64,
        /// In all.
        bytes_total: u64,
    },
    /// Something the user should know.
    Note(&'s str),
}

/// A layer whose subjects stand ready.
///
/// It removes what it made when it is dropped, on every way out.
pub trait Bench {
    /// Runs one trial.
    ///
    /// # Errors
    /// See [`TrialFailure`]: whether later trials can still succeed.
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure>;
}

/// What one trial yielded, in the terms of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Measured time in seconds.
    pub duration_s: f64,
    /// Metrics.
    pub values: Vec<Value>,
    /// Latency histograms.
    pub histograms: Vec<HistogramEntry>,
    /// Remarks.
    pub notes: Vec<String>,
}

impl TrialReport {
    /// A trial that was stopped before it measured anything.
    pub const fn interrupted() -> Self {
        Self::empty(Outcome::Interrupted)
    }

    /// A trial without figures.
    pub const fn empty(outcome: Outcome) -> Self {
        Self {
            outcome,
            duration_s: 0.0,
            values: Vec::new(),
            histograms: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Why a trial yielded nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialFailure {
    /// One sentence with what to do.
    pub message: String,
    /// Whether no later trial can succeed either (no space, no permission).
    pub is_fatal: bool,
}

/// Every layer, in the order of the stack.
pub fn all() -> &'static [&'static dyn Layer] {
    &[
        &device::Device,
        &compression::Compression,
        &column::Column,
        &cache::Cache,
    ]
}

/// The layer of a name.
pub fn named(name: &str) -> Option<&'static dyn Layer> {
    all().iter().copied().find(|layer| layer.name() == name)
}

/// The layer of a checked plan's cell.
pub(crate) fn of(name: &str) -> &'static dyn Layer {
    named(name).expect("the layer of a checked plan exists")
}

/// Reads a value that was checked when the plan was.
pub(crate) fn parsed<T: std::str::FromStr>(value: &str) -> T {
    let Ok(parsed) = value.parse() else {
        unreachable!("{value} was stored in its canonical spelling, which parses");
    };
    parsed
}

/// The path as a plan may be run from anywhere.
pub(crate) fn absolute(path: &str) -> Result<String, Refusal> {
    let absolute =
        std::path::absolute(path).map_err(|error| Refusal::of("path", format!("{path}: {error}")))?;
    absolute.into_os_string().into_string().map_err(|path| {
        Refusal::of(
            "path",
            format!(
                "{} is not UTF-8 and cannot stand in a plan",
                path.to_string_lossy()
            ),
        )
    })
}
