//! [`Study`]: every application with every component, checked against what was measured.

use std::fmt;

use outcrop_measure::Interval;

use crate::application::Application;
use crate::component::Component;
use crate::model::{NotPredictable, Prediction, predict};
use crate::text::Measured;
use crate::validation::{COVERAGE, Checked, ModelError};

/// One application with one component under one load.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// The application.
    pub application: &'a Application,
    /// The component; none for the application without compression.
    pub component: Option<&'a Component>,
    /// Number of clients that was asked for; none for the measured one.
    pub clients: Option<u32>,
    /// The prediction, or what is missing.
    pub outcome: Result<Prediction, NotPredictable>,
    /// Interval of the throughput with the model's own error, this component left out; none where that was never checked.
    pub interval: Option<Interval>,
    /// Measured throughput, where there is one.
    pub measured: Option<f64>,
}

/// Every application with every component.
#[derive(Clone, Debug)]
pub struct Study<'a> {
    /// By application and load in the order of their file: without compression first, then the fastest first.
    pub cases: Vec<Case<'a>>,
    /// The model's error where it was checked.
    pub error: ModelError,
}

/// How many measurements lie within the intervals of their predictions, each with its own component left out of the model's error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Those that do.
    pub within: usize,
    /// All that have an interval.
    pub of: usize,
    /// The least confidence of these intervals: 90 %, or less where fewer than nine pairs gave one.
    pub least_confidence: f64,
}

impl Coverage {
    /// The share of them, 0 to 1.
    pub fn share(self) -> f64 {
        self.within as f64 / self.of as f64
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} of {} measured values lie within the intervals of their predictions, which have a confidence of {:.0} %{}",
            self.within,
            self.of,
            self.least_confidence * 100.0,
            if self.least_confidence < COVERAGE {
                " or more"
            } else {
                ""
            }
        )
    }
}

/// A measurement that belongs to no prediction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the measurement of {application:?} with {component:?}{} matches no prediction; names and clients must be those of the other files",
    clients.map(|clients| format!(" and {clients} clients")).unwrap_or_default()
)]
pub struct Unmatched {
    /// The application named.
    pub application: String,
    /// The component named.
    pub component: String,
    /// The number of clients, where it is given.
    pub clients: Option<u32>,
}

impl<'a> Study<'a> {
    /// Predicts every pair.
    ///
    /// # Errors
    /// [`Unmatched`] for a measurement without a prediction.
    pub fn of(
        applications: &'a [Application],
        components: &'a [Component],
        measured: &[Measured],
    ) -> Result<Self, Unmatched> {
        let mut cases = Vec::new();
        for application in applications {
            for clients in loads(application) {
                let with = |component: Option<&'a Component>| Case {
                    application,
                    component,
                    clients,
                    outcome: predict(application, component, clients),
                    interval: None,
                    measured: None,
                };
                let mut own: Vec<Case<'a>> =
                    components.iter().map(|component| with(Some(component))).collect();
                own.sort_by(|one, other| other.rate().total_cmp(&one.rate()));
                cases.push(with(None));
                cases.extend(own);
            }
        }
        let mut study = Self {
            cases,
            error: ModelError::default(),
        };
        study.check(measured)?;
        Ok(study)
    }

    /// Both together: the error of each counts for the other.
    #[must_use]
    pub fn joined(mut self, other: Self) -> Self {
        self.cases.extend(other.cases);
        self.weigh();
        self
    }

    /// How many measurements lie within the interval that their prediction shows; none where none has both.
    pub fn coverage(&self) -> Option<Coverage> {
        let is_within = |case: &Case<'_>| {
            let (interval, measured) = case.interval.zip(case.measured)?;
            Some((interval.contains(measured), interval.confidence))
        };
        let all: Vec<(bool, f64)> = self.cases.iter().filter_map(is_within).collect();
        let least_confidence = all.iter().map(|(_, confidence)| *confidence).reduce(f64::min)?;
        Some(Coverage {
            within: all.iter().filter(|(is_within, _)| *is_within).count(),
            of: all.len(),
            least_confidence,
        })
    }

    fn check(&mut self, measured: &[Measured]) -> Result<(), Unmatched> {
        for one in measured {
            let mut matching = self.cases.iter_mut().filter(|case| case.is_of(one));
            let case = matching.next().ok_or_else(|| Unmatched {
                application: one.application.clone(),
                component: one.component.clone(),
                clients: one.clients,
            })?;
            case.measured = Some(one.throughput);
        }
        self.weigh();
        Ok(())
    }

    /// The error of all cases, and the intervals that it gives.
    fn weigh(&mut self) {
        self.error = ModelError::of(self.cases.iter().filter_map(Case::checked));
        for case in &mut self.cases {
            if let (Some(component), Ok(found)) = (case.component, &case.outcome) {
                let others = self.error.without(&component.name);
                case.interval = others.interval(found.throughput, found.from_figures);
            }
        }
    }
}

impl Case<'_> {
    /// Predicted operations per second; 0 where nothing is predicted, so that it comes last.
    fn rate(&self) -> f64 {
        self.outcome.as_ref().map_or(0.0, |found| found.throughput)
    }

    fn is_of(&self, measured: &Measured) -> bool {
        let component = self
            .component
            .is_some_and(|component| component.name == measured.component);
        let clients = self
            .outcome
            .as_ref()
            .map_or(self.clients.map(f64::from), |found| Some(found.clients));
        let is_load = measured
            .clients
            .is_none_or(|asked| clients.is_none_or(|own| own == f64::from(asked)));
        component && is_load && self.application.name == measured.application && self.measured.is_none()
    }

    fn checked(&self) -> Option<Checked> {
        let found = self.outcome.as_ref().ok()?;
        Some(Checked {
            // Order and regret are those of one load.
            application: format!("{} {}", self.application.name, found.clients),
            component: self.component?.name.clone(),
            predicted: found.throughput,
            measured: self.measured?,
        })
    }
}

/// The numbers of clients that an application is predicted for.
fn loads(application: &Application) -> Vec<Option<u32>> {
    if application.predict_clients.is_empty() {
        vec![None]
    } else {
        application.predict_clients.iter().copied().map(Some).collect()
    }
}
