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
/// Of a backlog that grew all the time, half waited half-way; of one that a stall at the end left, less than this share.
const STALL_SHARE: f64 = 0.25;
/// A backlog that grew by less than this share of what was due meanwhile may be of a stall, too.
const UNCLEAR_SHARE: f64 = 0.05;

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
            match Growth::of(report, objective) {
                _ if !is_long => return Self::Undecided(Shortage::Time { needed }),
                Growth::Overload => return Self::NotKept(Failure::of_backlog(report)),
                Growth::Unclear { needed } => return Self::Undecided(Shortage::Time { needed }),
                Growth::Stall => {}
            }
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

impl Verdict {
    /// The same of a step of a search, which tries the rates that it answers with again: there a backlog that may be of an overload is one.
    pub(crate) fn of_step(report: &LoadReport, objective: Objective) -> Self {
        match Self::of(report, objective) {
            Self::Undecided(Shortage::Time { .. }) => Self::NotKept(Failure::of_backlog(report)),
            decided => decided,
        }
    }
}

impl Failure {
    fn of_backlog(report: &LoadReport) -> Self {
        Self::Backlog {
            half_way: report.tally.waiting_half_way,
            at_end: report.tally.waiting_at_end,
        }
    }
}

/// What let a backlog grow.
enum Growth {
    /// More waited at the end than arrive within the limit, or the backlog grew fast from the beginning.
    Overload,
    /// No more than that, and next to none of it waited half-way: a single stall before the end, shorter than the limit.
    Stall,
    /// No more than that, but some waited half-way, too, and it grew slowly. An overload leaves more than that after this time.
    Unclear { needed: Duration },
}

impl Growth {
    fn of(report: &LoadReport, objective: Objective) -> Self {
        let tally = &report.tally;
        let (half_way, at_end) = (tally.waiting_half_way as f64, tally.waiting_at_end as f64);
        let duration_s = report.duration_ns as f64 / 1e9;
        let within_limit = tally.due as f64 / duration_s * objective.limit.duration().as_secs_f64();
        let is_slow = at_end - half_way < tally.due as f64 / 2.0 * UNCLEAR_SHARE;
        if at_end <= within_limit && half_way < at_end * STALL_SHARE {
            Self::Stall
        } else if at_end > within_limit || !is_slow {
            Self::Overload
        } else {
            let seconds = f64::from(LIMITS_OF_TIME) * duration_s * within_limit / at_end;
            Self::Unclear {
                needed: Duration::from_secs(seconds.ceil() as u64),
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Tally;

    /// The verdict of one second at 2,000 requests a second, all of which were answered in 30 ms, by those that waited.
    fn verdict(limit: &str, half_way: u64, at_end: u64) -> (Verdict, Verdict) {
        let objective: Objective = limit.parse().unwrap();
        let mut tally = Tally {
            due: 2000,
            waiting_half_way: half_way,
            waiting_at_end: at_end,
            ..Tally::default()
        };
        for _ in 0..2000 {
            tally.kinds[0].operations += 1;
            tally.kinds[0].latency.record(30_000_000);
        }
        let report = LoadReport::of_open_loop(objective, Some(2000.0), 1_000_000_000, tally);
        (
            Verdict::of(&report, objective),
            Verdict::of_step(&report, objective),
        )
    }

    #[test]
    fn a_stall_before_the_end_that_is_shorter_than_the_limit_is_no_overload() {
        assert_eq!(verdict("p99<50ms", 0, 58), (Verdict::Kept, Verdict::Kept));
        // Within 50 ms arrive 100 requests.
        let (half_way, at_end) = (0, 101);
        let overload = Verdict::NotKept(Failure::Backlog { half_way, at_end });
        assert_eq!(verdict("p99<50ms", half_way, at_end), (overload, overload));
    }

    #[test]
    fn a_backlog_within_the_limit_that_half_of_which_waited_half_way_is_undecided_but_in_a_search() {
        let (half_way, at_end) = (40, 80);
        let needed = Duration::from_secs(3);
        assert_eq!(
            verdict("p99<50ms", half_way, at_end),
            (
                Verdict::Undecided(Shortage::Time { needed }),
                Verdict::NotKept(Failure::Backlog { half_way, at_end })
            )
        );
        // A longer limit takes a longer run, whatever the backlog is.
        let needed = Duration::from_secs(2);
        assert_eq!(
            verdict("p99<1s", 0, 58).0,
            Verdict::Undecided(Shortage::Time { needed })
        );
    }
}
