//! One trial after the other, each on a server of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_cache_bench::{CacheBenchError, run};
use outcrop_cache_load::Connection;
use outcrop_probe::Clock;

use super::{parameters, url_of, values};
use crate::cell::{Cell, Subject};
use crate::error::LabError;
use crate::layer::{Bench, Preparation, TrialFailure, TrialReport};
use crate::order::Trial;

/// How long a server at a URL may take to answer.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// What trials share: a clock, and the wish to stop.
#[derive(Debug)]
pub(super) struct CacheBench<'r> {
    clock: Clock,
    stop: &'r AtomicBool,
    /// Of the last trial.
    others_cpu_share: Option<f64>,
}

impl<'r> CacheBench<'r> {
    /// Looks whether the servers that run already answer; all others are started by their trials.
    pub(super) fn prepare(subjects: &[Subject], preparation: &Preparation<'r, '_>) -> Result<Self, LabError> {
        for target in subjects.iter().filter_map(url_of) {
            Connection::connect(&target, CONNECT_LIMIT).map_err(|error| LabError::preparing(&error))?;
        }
        Ok(Self {
            clock: Clock::new(),
            stop: preparation.stop,
            others_cpu_share: None,
        })
    }
}

impl Bench for CacheBench<'_> {
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure> {
        let spec = parameters::bench_spec(&cell.subject, &cell.factors, &cell.trial, trial.seed);
        let result = run(&spec, &self.clock, self.stop);
        let load = result.as_ref().ok().map(|report| &report.load);
        self.others_cpu_share = load.and_then(|load| load.others_cpu_share);
        if self.stop.load(Ordering::Relaxed) {
            return Ok(TrialReport::interrupted());
        }
        match result {
            Ok(report) if report.load.tally.mismatches > 0 => Err(TrialFailure::of(&format!(
                "{}: {}",
                report.server,
                report.load.problems().join("; ")
            ))),
            Ok(report) => Ok(values::trial_report(&report)),
            Err(error @ CacheBenchError::Absent { .. }) => Ok(values::absent(&error.to_string())),
            Err(error) => Err(TrialFailure::of(&error)),
        }
    }

    fn others_cpu_share(&self, _of_machine: Option<f64>) -> Option<f64> {
        self.others_cpu_share
    }
}
