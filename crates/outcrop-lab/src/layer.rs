//! What the lab asks of a layer: a new layer is one module here, beside its engine's crate.

pub mod cache;
pub mod column;
pub mod compression;
pub mod device;
mod dropped;
pub mod filesystem;
mod image;
mod kept;
pub mod kv;

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_column::storage::check_place;
use outcrop_measure::Metric;
use outcrop_results::{DataIdentity, HistogramEntry, Outcome, Value};
use outcrop_schema::{About, FactorRef, LayerSchema, Remark, Setting, Settings};

use crate::cell::{Cell, Subject, TrialOptions};
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::order::Trial;

/// A layer as plans see it: its vocabulary, its checks, its costs, and the way to a [`Bench`].
pub trait Layer: Sync {
    /// Its vocabulary.
    fn schema(&self) -> &'static LayerSchema;

    /// What `outcrop profile` measures of it; `None` where it takes no part.
    fn profile(&self) -> Option<Profile> {
        None
    }

    /// What `outcrop profile` measures instead in a directory that lacks what the profile needs, and why; none where nothing is lacking.
    fn profile_instead(&self, _directory: &Path) -> Option<(&'static [&'static str], String)> {
        None
    }

    /// Reads a value of one of its factors: where its engine knows more spellings than the schema, here they get their canonical one.
    ///
    /// # Errors
    /// A sentence with the text seen and what is accepted.
    fn read(&self, factor: FactorRef, text: &str) -> Result<Setting, String> {
        factor.read(text)
    }

    /// How a plan of the layer takes the user's data, which `form` says how to read where a subject has factors for it; `None` where it measures something else altogether.
    ///
    /// # Errors
    /// Why it does not take these data, in words that follow "the LAYER layer".
    fn take_data(&self, _path: &str, _form: &Settings) -> Result<Option<DataSettings>, String> {
        Ok(None)
    }

    /// Completes a subject, and gives it its name.
    ///
    /// # Errors
    /// When the values do not go together, or the subject does not exist.
    fn complete_subject(&self, settings: Settings) -> Result<Subject, Refusal>;

    /// Completes the factors of one cell: nothing where any value goes with any other.
    ///
    /// # Errors
    /// When the values do not go together, or not with the subject.
    fn complete_factors(
        &self,
        _subject: &Subject,
        factors: Settings,
        _trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        Ok(factors)
    }

    /// Refuses a plan that asks for something which none of its combinations can measure; gives notes on what only some of them can.
    ///
    /// `origin` says where the value of a factor is from, even if it is the default.
    ///
    /// # Errors
    /// The first combination at fault, and the value with what is accepted.
    fn check_combinations(
        &self,
        _subject: &Subject,
        _combinations: &[Settings],
        _origin: &dyn Fn(&str) -> Origin,
    ) -> Result<Vec<String>, (usize, Refusal)> {
        Ok(Vec::new())
    }

    /// Whether trials of these factors begin with a warm-up of a given time.
    fn warms_up(&self, _factors: &Settings) -> bool {
        self.has_warm_up()
    }

    /// Why a cell cannot be measured on this machine, whatever is tried; none where it can, or where only trying tells.
    fn hindrance(&self, _cell: &Cell) -> Option<String> {
        None
    }

    /// Why the subject of a cell is refused in that directory before anything is made of it; none where it can be made, or where only trying
    /// tells.
    fn refusal_in(&self, _cell: &Cell, _directory: &Path) -> Option<LabError> {
        None
    }

    /// Whether files of this subject are made in the directory of the run: not if the subject names a path.
    fn is_in_directory(&self, _subject: &Subject) -> bool {
        true
    }

    /// Whether any trial of the layer warms up before it measures.
    fn has_warm_up(&self) -> bool {
        true
    }

    /// What ends a trial of a cell of these factors; none where its duration does.
    fn ends_by(&self, _factors: &Settings) -> Option<EndsBy> {
        None
    }

    /// What a trial of a cell holds at once, as far as that is known before.
    fn holds(&self, _cell: &Cell) -> Holds {
        Holds::default()
    }

    /// The metric that decides whether rounds are steady, where a cell of these factors is one that is tracked.
    fn tracked(&self, _factors: &Settings) -> Option<Metric> {
        None
    }

    /// What is tracked, in words that follow "decided by"; `None` where the layer has no rule of steady state.
    fn tracks(&self) -> Option<&'static str> {
        None
    }

    /// What it costs to make the subject for these cells before the first trial: nothing where trials make what they need, in their own time.
    fn forecast_preparation(&self, _subject: &Subject, _cells: &[&Cell]) -> Forecast {
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

/// A layer, known by its name.
#[derive(Clone, Copy)]
pub struct LayerRef(pub &'static dyn Layer);

impl LayerRef {
    /// Its name in plans and records.
    pub fn name(self) -> &'static str {
        self.0.schema().name
    }
}

impl Deref for LayerRef {
    type Target = dyn Layer;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for LayerRef {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for LayerRef {}

impl fmt::Debug for LayerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What ends a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndsBy {
    /// In words that follow "until".
    pub what: &'static str,
    /// Whether the duration ends it if it is over before.
    pub or_by_time: bool,
}

/// Bytes that a trial holds at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// In the run's directory, before anything compresses them.
    pub disk_bytes: u64,
    /// In memory that was asked for.
    pub memory_bytes: u64,
}

/// What `outcrop profile` measures of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The shipped plans that are run for it.
    pub plans: &'static [&'static str],
    /// The shipped plans that are run instead when the user's data are given.
    pub plans_for_data: &'static [&'static str],
    /// Seconds that it may take with `--quick`. All layers together stay below 90.
    pub quick_s: u64,
    /// Seconds that it may take by default. All layers together stay below 600.
    pub default_s: u64,
}

/// A value that a layer does not accept in its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the factor at fault; it decides which line of the plan is shown.
    pub factor: &'static str,
    /// What was seen and what is accepted.
    pub message: String,
}

/// Where the value of a factor is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is the default.
    Default,
    /// In a plan, which somebody wrote or we did: the expanded plan of a run has every default.
    Plan,
    /// As a flag.
    Flag,
}

impl Origin {
    /// That of a value which was given at a place: a flag, or a line of a plan.
    pub(crate) fn of(place: Option<&str>) -> Self {
        match place {
            None => Self::Default,
            Some(place) if place.starts_with("--") => Self::Flag,
            Some(_) => Self::Plan,
        }
    }
}

impl Refusal {
    /// A refusal of one factor's value.
    pub fn of(factor: &About, message: impl Into<String>) -> Self {
        Self {
            factor: factor.name,
            message: message.into(),
        }
    }
}

/// What the user's data put in the place of what a plan says.
#[derive(Clone, Debug, Default)]
pub struct DataSettings {
    /// Factors of the subject and their values.
    pub subject: Vec<(FactorRef, String)>,
    /// Factors of the workload that the data decide: what a plan says of them is dropped.
    pub decided: &'static [FactorRef],
    /// A factor of the workload and its values, the most important first, unless the plan names it.
    pub factor: Option<(FactorRef, Vec<String>)>,
    /// What of the data is not measured and why, in words that follow "the LAYER layer".
    pub left_out: Option<String>,
    /// How the values of `factor` are measured that there is no time for.
    pub otherwise: String,
}

/// What a layer is given to make its subjects with.
///
/// `'r` is the run; `'p` is the preparation alone.
pub struct Preparation<'r, 'p> {
    /// The cells of the layer that will be measured.
    pub cells: &'p [&'r Cell],
    /// Where files of our own are made.
    pub directory: &'r Path,
    /// Content of the subject derives from it.
    pub seed: outcrop_measure::seed::Seed,
    /// Raised when the user wants to stop.
    pub stop: &'r AtomicBool,
    /// The layer writes at most this, preparation included.
    pub write_limit_bytes: Option<u64>,
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

    /// What it has written to its subjects so far, preparation included.
    fn bytes_written(&self) -> u64 {
        0
    }

    /// The data that a cell was measured on, once a trial of it ran; none where the layer has no data but what its factors say.
    fn data(&self, _cell: &Cell) -> Option<DataIdentity> {
        None
    }

    /// The same before any trial of it; none also where only a trial shows it.
    ///
    /// # Errors
    /// When the data cannot be read.
    fn identify(&mut self, cell: &Cell) -> Result<Option<DataIdentity>, TrialFailure> {
        Ok(self.data(cell))
    }

    /// The share of the CPUs that others used while its last trial was measured; `of_machine` is all that this process did not use. A bench
    /// that knows what else is no others', such as a server that is a process of its own, answers by itself, also that it is not known.
    fn others_cpu_share(&self, of_machine: Option<f64>) -> Option<f64> {
        of_machine
    }
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
    pub notes: Vec<Remark>,
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
    /// Whether the user named something that cannot be measured.
    pub is_bad_input: bool,
    /// Whether the trial was not begun, because it would write more than may be written: the run is unfinished, and it is not among its trials.
    pub is_refused: bool,
}

impl TrialFailure {
    /// A failure of this trial alone.
    pub fn of(error: &impl ToString) -> Self {
        Self {
            message: error.to_string(),
            is_fatal: false,
            is_bad_input: false,
            is_refused: false,
        }
    }
}

/// The path as a plan may be run from anywhere; `factor` names it in a refusal.
pub(crate) fn absolute(factor: &About, path: &str) -> Result<String, Refusal> {
    let absolute =
        std::path::absolute(path).map_err(|error| Refusal::of(factor, format!("{path}: {error}")))?;
    absolute.into_os_string().into_string().map_err(|path| {
        let path = path.to_string_lossy();
        Refusal::of(factor, format!("{path} is not UTF-8, so a plan cannot name it"))
    })
}

/// Why no file is made in a directory of the system's, which the user named; none where one may be.
pub(crate) fn never_for_files(directory: &Path) -> Option<LabError> {
    let refused = check_place(directory).err()?;
    Some(LabError::Preparation {
        message: format!("{} {refused}", directory.display()),
        is_bad_input: true,
    })
}
