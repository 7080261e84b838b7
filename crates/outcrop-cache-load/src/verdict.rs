//! Whether an objective was kept, and why not: three answers, as a short run may decide neither.

use std::fmt;
use std::time::Duration;

use outcrop_measure::TimeSpan;
use outcrop_measure::percentile::SAMPLES_ABOVE;
use outcrop_measure::units::{format_nanoseconds, format_ratio};
use outcrop_workload::keyed::Objective;

use crate::report::LoadReport;

/// Whether a load kept its objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The percentile was below the limit, and the server kept up with what was due.
    Kept,
    /// It was not.
    NotKept(Failure),
    /// What was measured decides neither.
    Undecided(Shortage),
}

/// Why an objective was not kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// The percentile reached the limit.
    Latency {
        /// What was promised.
        objective: Objective,
        /// The percentile.
        latency_ns: u64,
    },
    /// More and more requests waited: the server bears less than what was asked for.
    Backlog {
        /// Requests that waited when half of the time was over.
        half_way: u64,
        /// At its end.
        at_end: u64,
    },
    /// Requests were never answered.
    Unanswered(u64),
    /// Requests were refused, this share of all answers.
    Refused(f64),
}

/// What a verdict would have needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shortage {
    /// The percentile needs more requests.
    Requests {
        /// Requests that there were.
        seen: u64,
        /// So many it takes.
        needed: u64,
    },
    /// The backlog grew in a time too short to tell a slow server from an overloaded one.
    Time {
        /// So long it takes.
        needed: Duration,
    },
}

/// A server keeps up where the backlog grew by less than this share of what was due meanwhile …
const GROWTH_SHARE: f64 = 0.01;
/// … and this many square roots of the number that waited, which varies by chance.
const GROWTH_DEVIATIONS: f64 = 2.0;
/// An objective counts as failed where a larger share was refused.
const REFUSED_SHARE: f64 = 0.01;
/// A backlog of requests that all keep the limit stands still after one limit; half of the time is for that.
const LIMITS_OF_TIME: u32 = 2;

impl Verdict {
    pub(crate) fn of(report: &LoadReport, objective: Objective) -> Self {
        let tally = &report.tally;
        if tally.unfinished > 0 {
            return Self::NotKept(Failure::Unanswered(tally.unfinished));
        }
        if let Some(share) = tally.refused_share().filter(|share| *share > REFUSED_SHARE) {
            return Self::NotKept(Failure::Refused(share));
        }
        let latency = tally.latency();
        let percentile = latency.percentile(objective.percentile.quantile);
        if let Some(latency_ns) = percentile.filter(|ns| *ns >= objective.limit.as_nanoseconds()) {
            return Self::NotKept(Failure::Latency {
                objective,
                latency_ns,
            });
        }
        if report.is_open_loop && has_grown(report) {
            let needed = time_needed(objective);
            // The counter of ticks is calibrated to a part in a thousand.
            let is_long = report.duration_ns as f64 * 1.001 >= needed.as_nanos() as f64;
            return if is_long {
                Self::NotKept(Failure::Backlog {
                    half_way: tally.waiting_half_way,
                    at_end: tally.waiting_at_end,
                })
            } else {
                Self::Undecided(Shortage::Time { needed })
            };
        }
        match percentile {
            Some(_) => Self::Kept,
            None => Self::Undecided(Shortage::Requests {
                seen: latency.count(),
                needed: requests_needed(objective),
            }),
        }
    }
}

/// Whether requests piled up over the second half of an open loop.
fn has_grown(report: &LoadReport) -> bool {
    let tally = &report.tally;
    let (half_way, at_end) = (tally.waiting_half_way as f64, tally.waiting_at_end as f64);
    let allowed = tally.due as f64 / 2.0 * GROWTH_SHARE + GROWTH_DEVIATIONS * (half_way + at_end).sqrt();
    at_end - half_way > allowed
}

/// How many requests an objective's percentile takes.
pub(crate) fn requests_needed(objective: Objective) -> u64 {
    (SAMPLES_ABOVE / (1.0 - objective.percentile.quantile)).round() as u64
}

/// How long an open loop must run to tell whether its backlog grows.
pub(crate) fn time_needed(objective: Objective) -> Duration {
    objective.limit.duration() * LIMITS_OF_TIME
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency {
                objective,
                latency_ns,
            } => write!(
                f,
                "{} was {}, at or above {}",
                objective.percentile.name,
                format_nanoseconds(*latency_ns as f64),
                objective.limit
            ),
            Self::Backlog { half_way, at_end } => write!(
                f,
                "overloaded: {half_way} requests waited half-way, {at_end} at the end"
            ),
            Self::Unanswered(requests) => write!(f, "{requests} requests were never answered"),
            Self::Refused(share) => write!(f, "{} of the replies were refusals", format_ratio(*share)),
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests { seen, needed } => {
                write!(f, "{seen} requests; this percentile needs {needed}")
            }
            Self::Time { needed } => write!(
                f,
                "the backlog grew, but the run was too short for a verdict: measure {} or longer",
                TimeSpan(*needed)
            ),
        }
    }
}
