//! The highest rate at which a server keeps an objective.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_measure::Rate;
use outcrop_probe::Clock;
use outcrop_workload::Arrival;
use outcrop_workload::keyed::Objective;

use crate::drive::{LoadProgress, run_load};
use crate::error::CacheLoadError;

use crate::report::LoadReport;
use crate::spec::{LoadSpec, RequestSource, WarmUp};

/// One rate that was tried.
#[derive(Clone, Debug)]
pub struct SearchStep {
    /// Requests per second that were asked for.
    pub requested_per_second: f64,
    /// Whether the objective was kept, and at least 98 % of the requests were answered in time.
    pub is_kept: bool,
    /// What was measured.
    pub report: LoadReport,
}

/// A search and its result.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// What had to be kept.
    pub objective: Objective,
    /// Throughput of the closed loop with the same connections, the upper end of the search.
    pub closed_loop: LoadReport,
    /// Every rate tried, in order.
    pub steps: Vec<SearchStep>,
}

impl SearchReport {
    /// The step at the highest rate that kept the objective; none where none did.
    pub fn best(&self) -> Option<&SearchStep> {
        let kept = self.steps.iter().filter(|step| step.is_kept);
        kept.max_by(|a, b| a.requested_per_second.total_cmp(&b.requested_per_second))
    }

    /// The lowest rate above it that did not.
    pub fn refuted(&self) -> Option<&SearchStep> {
        let best = self.best().map_or(0.0, |best| best.requested_per_second);
        let failed = self
            .steps
            .iter()
            .filter(|step| !step.is_kept && step.requested_per_second > best);
        failed.min_by(|a, b| a.requested_per_second.total_cmp(&b.requested_per_second))
    }
}

/// A step is kept when this share of what was asked for came back in time.
const ANSWERED_SHARE: f64 = 0.98;
/// The search ends when the rates that kept and did not keep lie this close …
const RESOLUTION: f64 = 0.03;
/// … or after so many steps.
const MOST_STEPS: usize = 14;
/// Below this share of the closed loop's throughput, no rate is tried.
const LOWEST_SHARE: f64 = 0.001;

/// Searches by bisection between nothing and the closed loop's throughput, whose arrival process is Poisson unless the
/// spec names one. Each step lasts as long as the spec's measured time; the cache is warmed up once.
///
/// # Errors
/// Those of [`run_load`], and a trace or a spec without an objective.
pub fn search_rate(
    spec: &LoadSpec,
    clock: &Clock,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<SearchReport, CacheLoadError> {
    let Some(objective) = spec.objective else {
        return Err(CacheLoadError::spec(
            "objective",
            "absent",
            "one to search by, as in p95<1ms",
        ));
    };
    if matches!(spec.source, RequestSource::Trace { .. }) {
        return Err(CacheLoadError::spec(
            "search",
            "a trace",
            "a generated workload, whose rate can be chosen",
        ));
    }
    let closed = LoadSpec {
        arrival: Arrival::Closed,
        ..spec.clone()
    };
    let closed_loop = run_load(&closed, clock, stop, progress)?;
    let ceiling = closed_loop.throughput_per_second().max(1.0);
    let mut search = SearchReport {
        objective,
        closed_loop,
        steps: Vec::new(),
    };
    let (mut kept, mut failed) = (0.0_f64, ceiling * 1.1);
    while search.steps.len() < MOST_STEPS
        && failed - kept > failed * RESOLUTION
        && failed > ceiling * LOWEST_SHARE
        && !stop.load(Ordering::Relaxed)
    {
        // Far from any rate that kept it, halves come nearer than middles.
        let rate = if kept > 0.0 {
            f64::midpoint(kept, failed)
        } else {
            failed * 0.6
        };
        let step = step(spec, rate, clock, stop, progress)?;
        if step.report.is_interrupted {
            break;
        }
        if step.is_kept {
            kept = rate;
        } else {
            failed = rate;
        }
        search.steps.push(step);
    }
    Ok(search)
}

fn step(
    spec: &LoadSpec,
    rate: f64,
    clock: &Clock,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<SearchStep, CacheLoadError> {
    let per_second =
        Rate::new(rate).map_err(|error| CacheLoadError::spec("rate", rate.to_string(), error.to_string()))?;
    let arrival = match spec.arrival {
        Arrival::Closed => Arrival::Poisson { per_second },
        arrival => arrival.at(per_second),
    };
    let open = LoadSpec {
        arrival,
        // The step before left the cache as it is; a moment of load finds the pace.
        warm_up: WarmUp::For(outcrop_measure::TimeSpan(Duration::from_millis(100))),
        flushes_first: false,
        ..spec.clone()
    };
    let report = run_load(&open, clock, stop, progress)?;
    let is_answered = report.throughput_per_second() >= rate * ANSWERED_SHARE;
    Ok(SearchStep {
        requested_per_second: rate,
        is_kept: report.meets_objective() == Some(true) && is_answered,
        report,
    })
}
