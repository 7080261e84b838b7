//! [`Study`]: every application with every component, checked against what was measured.

use std::fmt;

use outcrop_measure::Interval;

use crate::application::Application;
use crate::component::{Component, Place};
use crate::model::{NotPredictable, Prediction, predict};
use crate::published::published_error;
use crate::text::{Measured, MeasuredFigure};
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
    /// Interval of the throughput with the model's own error, this component left out; none where that was never checked. That of hardware also
    /// contains the error that the model has on published hardware.
    pub interval: Option<Interval>,
    /// Whether the interval is that of other components that were measured with these applications, or larger.
    pub is_validated: bool,
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
    /// Its error on published hardware; empty where no hardware is predicted.
    pub published: ModelError,
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

/// Why a measurement is that of no prediction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmatched {
    /// Nothing of these names is predicted, or not for these clients.
    #[error(
        "the measurement of {} matches no prediction; use the names and numbers of clients of the other files",
        pair(application, component, *clients)
    )]
    Unknown {
        /// The application named.
        application: String,
        /// The component named.
        component: String,
        /// The number of clients, where it is given.
        clients: Option<u32>,
    },
    /// Several loads are predicted, and the measurement does not say which one it is of.
    #[error(
        "the measurement of {} does not say its number of clients, and several are predicted ({loads}); add its number of clients",
        pair(application, component, None)
    )]
    WhichLoad {
        /// The application named.
        application: String,
        /// The component named.
        component: String,
        /// The numbers of clients.
        loads: String,
    },
    /// It was measured already.
    #[error("{} is measured twice; keep one", pair(application, component, *clients))]
    Twice {
        /// The application named.
        application: String,
        /// The component named.
        component: String,
        /// The number of clients, where it is given.
        clients: Option<u32>,
    },
    /// It is in bytes per second, and nobody knows how many an operation moves.
    #[error(
        "the measurement of {} is in bytes per second; give the application an operation_size, or the measurement in operations per second",
        pair(application, component, None)
    )]
    NoOperationSize {
        /// The application named.
        application: String,
        /// The component named.
        component: String,
    },
}

/// An application with a component, as errors name them.
fn pair(application: &str, component: &str, clients: Option<u32>) -> String {
    let clients = clients.map(|clients| format!(" and {clients} clients"));
    format!(
        "{application:?} with {component:?}{}",
        clients.unwrap_or_default()
    )
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
        let mut study = Self::matched(applications, components, measured)?;
        study.weigh();
        Ok(study)
    }

    /// Predicts every pair, each with its measurement and without an interval.
    pub(crate) fn matched(
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
                    is_validated: false,
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
            published: ModelError::default(),
        };
        for one in measured {
            study.add(one)?;
        }
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

    fn add(&mut self, one: &Measured) -> Result<(), Unmatched> {
        let (application, component) = (one.application.clone(), one.component.clone());
        let mut matching: Vec<&mut Case<'_>> = self.cases.iter_mut().filter(|case| case.is_of(one)).collect();
        let mut loads: Vec<Option<f64>> = matching.iter().map(|case| case.load()).collect();
        loads.dedup();
        if loads.len() > 1 {
            let known = loads.into_iter().flatten().map(|clients| clients.to_string());
            return Err(Unmatched::WhichLoad {
                application,
                component,
                loads: known.collect::<Vec<_>>().join(", "),
            });
        }
        let clients = one.clients;
        if matching.is_empty() {
            return Err(Unmatched::Unknown {
                application,
                component,
                clients,
            });
        }
        let Some(case) = matching.iter_mut().find(|case| case.measured.is_none()) else {
            return Err(Unmatched::Twice {
                application,
                component,
                clients,
            });
        };
        case.measured = case.rate_of(one)?;
        Ok(())
    }

    /// The error of all cases, and the intervals that it gives.
    fn weigh(&mut self) {
        self.error = ModelError::of(self.cases.iter().filter_map(Case::checked));
        let is_hardware = |component: &Component| component.place != Place::Cpu;
        if self
            .cases
            .iter()
            .any(|case| case.component.is_some_and(is_hardware))
        {
            self.published = published_error();
        }
        for case in &mut self.cases {
            if let (Some(component), Ok(found)) = (case.component, &case.outcome) {
                let left_out = component.left_out_with();
                let mut error = self.error.without(left_out);
                case.is_validated = !error.checked().is_empty();
                if is_hardware(component) {
                    error = error.or_larger(self.published.without(left_out));
                }
                case.interval = error.interval(found.throughput, found.from_figures);
            }
        }
    }
}

impl Case<'_> {
    /// Predicted operations per second; 0 where nothing is predicted, so that it comes last.
    fn rate(&self) -> f64 {
        self.outcome.as_ref().map_or(0.0, |found| found.throughput)
    }

    /// Number of clients that it is about, as far as it is known.
    pub fn load(&self) -> Option<f64> {
        let asked = self.clients.map(f64::from).or(self.application.clients);
        self.outcome.as_ref().map_or(asked, |found| Some(found.clients))
    }

    fn is_of(&self, measured: &Measured) -> bool {
        let component = self
            .component
            .is_some_and(|component| component.name == measured.component);
        let is_load = measured
            .clients
            .is_none_or(|asked| self.load().is_none_or(|own| own == f64::from(asked)));
        component && is_load && self.application.name == measured.application
    }

    /// What was measured as operations per second. A latency is that of as many clients as are predicted; none where nobody knows their number.
    fn rate_of(&self, measured: &Measured) -> Result<Option<f64>, Unmatched> {
        match (measured.figure, self.application.operation_size_bytes) {
            (MeasuredFigure::Throughput(rate), _) => Ok(Some(rate)),
            (MeasuredFigure::Latency(ns), _) => {
                let clients = self.load();
                Ok(clients.map(|clients| clients / (ns + self.application.think_time_ns) * 1e9))
            }
            (MeasuredFigure::Bandwidth(bytes), Some(size)) => Ok(Some(bytes / size)),
            (MeasuredFigure::Bandwidth(_), None) => Err(Unmatched::NoOperationSize {
                application: measured.application.clone(),
                component: measured.component.clone(),
            }),
        }
    }

    pub(crate) fn checked(&self) -> Option<Checked> {
        let found = self.outcome.as_ref().ok()?;
        let component = self.component?;
        Some(Checked {
            // Order and regret are those of one load.
            application: format!("{} {}", self.application.name, found.clients),
            component: component.name.clone(),
            left_out_with: component.left_out_with().to_owned(),
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
