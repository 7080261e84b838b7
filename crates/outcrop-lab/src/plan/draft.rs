//! A plan before it is checked: values as they were given, each with the place it was given at.

use std::collections::BTreeMap;

use outcrop_measure::units::TimeSpan;
use outcrop_schema::About;

use super::design::Design;
use super::doubt::BudgetUse;
use super::variants::VariantName;

/// A value and where it stands: `file:line:column`, or the flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where messages point to.
    pub at: String,
}

impl<T> Located<T> {
    /// A value at a place.
    pub fn new(value: T, at: impl Into<String>) -> Self {
        Self { value, at: at.into() }
    }
}

/// The values given for one factor of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// Where the factor's name is.
    pub(crate) at: String,
    /// One where it is fixed, one or more where it varies.
    pub(crate) values: Vec<Located<String>>,
    /// Whether it was given under `[factors]`, where it may have a single value.
    pub(crate) is_factor: bool,
}

/// Values of `[trial]`, each `None` where the default is to be taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrialDraft {
    pub(crate) repetitions: Option<Located<u32>>,
    pub(crate) warm_up: Option<Located<TimeSpan>>,
    /// Whether a run wrote it, with every default: what has no effect there is no mistake of a person.
    pub(crate) is_of_a_run: bool,
    pub(crate) duration: Option<Located<TimeSpan>>,
    pub(crate) interval: Option<Located<TimeSpan>>,
    pub(crate) stop: Option<Located<String>>,
}

/// A plan that is not yet checked: read from a file, or put together from flags.
///
/// ```
/// use outcrop_lab::{Draft, PlanOptions, PlanSet};
/// use outcrop_schema::device;
///
/// let draft = Draft::new("device", "What do two depths give?", "device", "outcrop device")
///     .with_subject(&device::SIZE, "64MiB", "--size")
///     .with_workload(&device::IO_BLOCK_SIZE, ["4k"], "--io-block-size")
///     .with_workload(&device::QUEUE_DEPTH, ["1", "32"], "--queue-depth");
/// let set = PlanSet::from_drafts(vec![draft], &PlanOptions::default())?;
/// assert_eq!(set.cells().len(), 2);
/// assert_eq!(set.cells()[0].label(), "4KiB 100:0 QD 1");
/// # Ok::<(), outcrop_lab::LabError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub(crate) name: Located<String>,
    pub(crate) question: String,
    pub(crate) layer: Located<String>,
    pub(crate) design: Design,
    pub(crate) budget: BudgetUse,
    pub(crate) variant: Option<VariantName>,
    pub(crate) subject: BTreeMap<String, (String, Located<String>)>,
    pub(crate) workload: BTreeMap<String, Given>,
    pub(crate) trial: TrialDraft,
}

impl Draft {
    /// An empty plan for a layer: every factor has its default. `at` is what messages about the plan as a whole
    /// point to.
    pub fn new(name: &str, question: &str, layer: &str, at: &str) -> Self {
        Self {
            name: Located::new(name.to_owned(), at),
            question: question.to_owned(),
            layer: Located::new(layer.to_owned(), at),
            design: Design::default(),
            budget: BudgetUse::default(),
            variant: None,
            subject: BTreeMap::new(),
            workload: BTreeMap::new(),
            trial: TrialDraft::default(),
        }
    }

    /// Sets a factor of the subject; `at` is the flag.
    #[must_use]
    pub fn with_subject(mut self, factor: &About, value: &str, at: &str) -> Self {
        self.set_subject(factor.name, value.to_owned(), at);
        self
    }

    pub(crate) fn set_subject(&mut self, name: &str, value: String, at: &str) {
        let value = (at.to_owned(), Located::new(value, at));
        self.subject.insert(name.to_owned(), value);
    }

    /// Sets a factor of the workload, which varies where there are several values.
    #[must_use]
    pub fn with_workload<V: Into<String>>(
        mut self,
        factor: &About,
        values: impl IntoIterator<Item = V>,
        at: &str,
    ) -> Self {
        let values: Vec<_> = values
            .into_iter()
            .map(|value| Located::new(value.into(), at))
            .collect();
        let is_factor = values.len() != 1;
        self.workload.insert(
            factor.name.to_owned(),
            Given {
                at: at.to_owned(),
                values,
                is_factor,
            },
        );
        self
    }

    /// Sets how long each trial is measured; `at` is the flag.
    #[must_use]
    pub fn with_duration(mut self, duration: TimeSpan, at: &str) -> Self {
        self.trial.duration = Some(Located::new(duration, at));
        self
    }

    /// Sets the time before measuring starts.
    #[must_use]
    pub fn with_warm_up(mut self, warm_up: TimeSpan, at: &str) -> Self {
        self.trial.warm_up = Some(Located::new(warm_up, at));
        self
    }

    /// Sets how many trials a cell has.
    #[must_use]
    pub fn with_repetitions(mut self, repetitions: u32, at: &str) -> Self {
        self.trial.repetitions = Some(Located::new(repetitions, at));
        self
    }
}
