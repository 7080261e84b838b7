//! The highest rate at which a server keeps an objective.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_measure::Rate;
use outcrop_measure::interval::median;
use outcrop_probe::{Clock, OthersCpu};
use outcrop_workload::Arrival;
use outcrop_workload::keyed::Objective;

use crate::drive::{LoadProgress, run_load};
use crate::error::CacheLoadError;
use crate::report::LoadReport;
use crate::spec::{LoadSpec, RequestSource, WarmUp};
use crate::verdict::{Verdict, requests_needed, time_needed};

#[cfg(test)]
mod tests;

/// One rate that was tried.
#[derive(Clone, Debug)]
pub struct SearchStep {
    /// Requests per second that were asked for.
    pub requested_per_second: f64,
    /// Whether the objective was kept, or why not.
    pub verdict: Verdict,
    /// What was measured.
    pub report: LoadReport,
}

impl SearchStep {
    /// Whether the objective was kept.
    pub fn is_kept(&self) -> bool {
        self.verdict == Verdict::Kept
    }

    const fn has_failed(&self) -> bool {
        matches!(self.verdict, Verdict::NotKept(_))
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchEnd {
    /// No rate is left between the highest that kept the objective and the lowest that did not.
    Found,
    /// No rate down to a thousandth of the closed loop's throughput kept it.
    NothingKept,
    /// As many steps as a search may take.
    StepsUsedUp,
    /// The next step would have taken too long.
    TooSlow {
        /// Its rate.
        per_second: f64,
        /// How long it must last for the objective's percentile, and for a backlog to show.
        needed: Duration,
        /// How long a step may last.
        longest: Duration,
    },
    /// The user stopped it.
    Stopped,
}

/// A search and its result.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// What had to be kept.
    pub objective: Objective,
    /// Throughput of the closed loop with the same connections, the upper end of the search.
    pub closed_loop: LoadReport,
    /// Every rate tried, in order; a rate that the answer rests on was tried more than once.
    pub steps: Vec<SearchStep>,
    /// Why it ended.
    pub end: SearchEnd,
}

/// A rate and the steps that decided about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriedRate {
    /// Requests per second that were asked for.
    pub requested_per_second: f64,
    /// Steps that kept the objective.
    pub kept: usize,
    /// Steps that did not.
    pub not_kept: usize,
}

impl TriedRate {
    /// Whether more steps kept the objective than did not.
    const fn is_kept(&self) -> bool {
        self.kept > self.not_kept
    }

    /// Whether fewer did.
    const fn is_refuted(&self) -> bool {
        self.kept < self.not_kept
    }

    /// Whether as many did as did not: another step decides.
    const fn is_open(&self) -> bool {
        self.kept == self.not_kept && self.kept > 0
    }

    /// Steps that decided anything.
    pub const fn steps(&self) -> usize {
        self.kept + self.not_kept
    }

    /// The rates of some steps, from the lowest on.
    fn of(steps: &[SearchStep]) -> Vec<Self> {
        let mut rates: Vec<Self> = Vec::new();
        for step in steps {
            let requested_per_second = step.requested_per_second;
            let known = rates
                .iter()
                .position(|rate| rate.requested_per_second == requested_per_second);
            let place = known.unwrap_or_else(|| {
                rates.push(Self {
                    requested_per_second,
                    kept: 0,
                    not_kept: 0,
                });
                rates.len() - 1
            });
            rates[place].kept += usize::from(step.is_kept());
            rates[place].not_kept += usize::from(step.has_failed());
        }
        rates.sort_by(|one, other| one.requested_per_second.total_cmp(&other.requested_per_second));
        rates
    }
}

/// Between which rates the answer lies, by the steps so far.
#[derive(Clone, Copy, Debug, Default)]
struct Bracket {
    /// The highest rate below `refuted` that kept the objective.
    kept: Option<TriedRate>,
    /// A rate between the two that kept it as often as it did not.
    open: Option<TriedRate>,
    /// The lowest rate that did not keep it.
    refuted: Option<TriedRate>,
}

impl Bracket {
    fn of(steps: &[SearchStep]) -> Self {
        let rates = TriedRate::of(steps);
        let end = rates
            .iter()
            .position(TriedRate::is_refuted)
            .unwrap_or(rates.len());
        let below = &rates[..end];
        let kept = below.iter().rposition(TriedRate::is_kept);
        let between = &below[kept.map_or(0, |place| place + 1)..];
        Self {
            kept: kept.map(|place| below[place]),
            open: between.iter().copied().find(TriedRate::is_open),
            refuted: rates.get(end).copied(),
        }
    }
}

impl SearchReport {
    /// The highest rate that kept the objective, in most of the steps at it, below the lowest that did not; none where none did.
    pub fn best(&self) -> Option<TriedRate> {
        Bracket::of(&self.steps).kept
    }

    /// The lowest rate that did not, in most of the steps at it.
    pub fn refuted(&self) -> Option<TriedRate> {
        Bracket::of(&self.steps).refuted
    }

    /// The share of the CPUs that others used in the steps on which the answer rests, in their median, where that disturbed them.
    pub fn disturbance(&self) -> Option<f64> {
        let bounds = [self.best(), self.refuted()];
        let is_of_bound = |step: &&SearchStep| {
            let mut bounds = bounds.iter().flatten();
            bounds.any(|bound| bound.requested_per_second == step.requested_per_second)
        };
        let steps = self.steps.iter().filter(is_of_bound);
        let shares = steps.filter_map(|step| step.report.others_cpu_share);
        let share = median(&shares.collect::<Vec<_>>())?;
        (share > OthersCpu::MATTER).then_some(share)
    }
}

/// At this multiple of a rate, a server that was overloaded there answers later, not sooner.
const CLEARLY_HIGHER: f64 = 2.0;

impl SearchReport {
    /// Two steps that no overload explains: the lowest rate that failed by its latency, and one of at least twice that rate which answered
    /// sooner. Then something else than the rate sets the latency, such as other work on the machine.
    pub fn contradiction(&self) -> Option<(&SearchStep, &SearchStep)> {
        let latency = |step: &SearchStep| {
            let latency = step.report.tally.latency();
            latency.percentile(self.objective.percentile.quantile)
        };
        let late = |step: &&SearchStep| {
            matches!(
                step.verdict,
                Verdict::NotKept(crate::verdict::Failure::Latency { .. })
            )
        };
        let lowest = self
            .steps
            .iter()
            .filter(late)
            .min_by(|one, other| one.requested_per_second.total_cmp(&other.requested_per_second))?;
        let limit = lowest.requested_per_second * CLEARLY_HIGHER;
        let higher = self
            .steps
            .iter()
            .filter(|step| step.requested_per_second >= limit);
        let mut sooner = higher.filter(|step| latency(step).is_some_and(|ns| Some(ns) < latency(lowest)));
        Some((lowest, sooner.next()?))
    }
}

/// The search ends when the highest rate that met the limits and the lowest that did not are this close.
const RESOLUTION: f64 = 0.03;
/// Both of them must have been tried this often.
const CONFIRMED: usize = 2;
/// It ends after this many steps in any case.
const MOST_STEPS: usize = 24;
/// Below this share of the closed loop's throughput, no rate is tried.
const LOWEST_SHARE: f64 = 0.001;
/// Above this share of it neither.
const HIGHEST_SHARE: f64 = 1.1;
/// Far from any rate that kept it, steps of this ratio come nearer than middles.
const DESCENT: f64 = 0.6;
/// A step lasts as long as the closed loop takes for this many requests at least: fewer do not show an overload of a few
/// per cent …
const LEAST_REQUESTS: f64 = 10_000.0;
/// … but no longer than this for their sake: of a slow server the answer is coarser.
const LONGEST_FOR_BACKLOG_S: f64 = 10.0;
/// A step may last this long, or as long as the user says.
const LONGEST_STEP: Duration = Duration::from_secs(60);

/// Searches by bisection between nothing and the closed loop's throughput, whose arrival process is Poisson unless the
/// spec names one. Each step lasts as long as the spec's measured time, and longer where the objective's percentile or
/// its limit takes longer; the cache is warmed up once. Both rates that the answer lies between are tried again before it rests on them; where
/// two steps at a rate differ, a third decides.
///
/// # Errors
/// Those of [`run_load`], a trace or a spec without an objective, and an objective that no step can decide in its time.
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
    // Rates are offered without sets on miss, so the ceiling has none either.
    let ceiling = closed_loop.answered_per_second().max(1.0);
    let mut number = 0;
    let mut measure = |rate: f64, duration: Duration| {
        number += 1;
        let open = step_spec(spec, rate, duration, number)?;
        run_load(&open, clock, stop, progress)
    };
    let (steps, end) = if stop.load(Ordering::Relaxed) {
        (Vec::new(), SearchEnd::Stopped)
    } else {
        bisect(objective, ceiling, spec.duration, &mut measure)?
    };
    Ok(SearchReport {
        objective,
        closed_loop,
        steps,
        end,
    })
}

/// The arrivals of a search's steps at a rate: of the process that is given, and Poisson where none is. A rate that is given is not used.
fn steps_arrival(given: Arrival, per_second: Rate) -> Arrival {
    match given {
        Arrival::Closed => Arrival::Poisson { per_second },
        given => given.at(per_second),
    }
}

/// The name of that process: `poisson`.
pub fn steps_process(given: Arrival) -> &'static str {
    match given {
        Arrival::Closed => "poisson",
        given => given.process(),
    }
}

fn step_spec(
    spec: &LoadSpec,
    rate: f64,
    duration: Duration,
    number: u64,
) -> Result<LoadSpec, CacheLoadError> {
    let per_second =
        Rate::new(rate).map_err(|error| CacheLoadError::spec("rate", rate.to_string(), error.to_string()))?;
    Ok(LoadSpec {
        arrival: steps_arrival(spec.arrival, per_second),
        // The step before left the cache as it is; a moment of load finds the pace.
        warm_up: WarmUp::For(outcrop_measure::TimeSpan(Duration::from_millis(100))),
        flushes_first: false,
        duration,
        // Arrivals that failed a rate by bad luck would fail it again.
        seed: spec.seed.derive("steps of a search").derive_index(number),
        ..spec.clone()
    })
}

/// How long a step must last to decide.
fn step_needs(objective: Objective, rate: f64, ceiling: f64) -> Duration {
    let requests = requests_needed(objective) as f64;
    // Arrivals vary: with four standard deviations more, hardly a step falls short.
    let for_percentile = (requests + 4.0 * requests.sqrt()) / rate;
    let for_backlog = (LEAST_REQUESTS / ceiling).min(LONGEST_FOR_BACKLOG_S);
    Duration::from_secs_f64(for_percentile.max(for_backlog)).max(time_needed(objective))
}

/// The search itself, whatever measures: `ceiling` is the closed loop's throughput, `least` the shortest step.
fn bisect(
    objective: Objective,
    ceiling: f64,
    least: Duration,
    measure: &mut dyn FnMut(f64, Duration) -> Result<LoadReport, CacheLoadError>,
) -> Result<(Vec<SearchStep>, SearchEnd), CacheLoadError> {
    let longest = least.max(LONGEST_STEP);
    let top = ceiling * HIGHEST_SHARE;
    let mut steps: Vec<SearchStep> = Vec::new();
    let end = loop {
        if steps.len() == MOST_STEPS {
            break SearchEnd::StepsUsedUp;
        }
        let Some(rate) = next_rate(Bracket::of(&steps), top) else {
            break SearchEnd::Found;
        };
        if rate <= ceiling * LOWEST_SHARE {
            break SearchEnd::NothingKept;
        }
        let needed = step_needs(objective, rate, ceiling);
        if needed > longest {
            break SearchEnd::TooSlow {
                per_second: rate,
                needed,
                longest,
            };
        }
        let report = measure(rate, needed.max(least))?;
        if report.is_interrupted {
            break SearchEnd::Stopped;
        }
        steps.push(SearchStep {
            requested_per_second: rate,
            verdict: Verdict::of_step(&report, objective),
            report,
        });
    };
    Ok((steps, end))
}

/// The rate that the next step tries; none where both bounds are as near as a search goes and confirmed.
///
/// A step that had too few requests by bad luck decides nothing, and is tried again with others.
fn next_rate(bracket: Bracket, top: f64) -> Option<f64> {
    if let Some(open) = bracket.open {
        return Some(open.requested_per_second);
    }
    let rate_of = |tried: Option<TriedRate>| tried.map(|tried| tried.requested_per_second);
    let (kept, failed) = (
        rate_of(bracket.kept).unwrap_or(0.0),
        rate_of(bracket.refuted).unwrap_or(top),
    );
    if failed - kept > failed * RESOLUTION {
        return Some(match kept > 0.0 {
            true => f64::midpoint(kept, failed),
            false => failed * DESCENT,
        });
    }
    let bounds = [bracket.refuted, bracket.kept].into_iter().flatten();
    let mut unconfirmed = bounds.filter(|bound| bound.steps() < CONFIRMED);
    rate_of(unconfirmed.next())
}
