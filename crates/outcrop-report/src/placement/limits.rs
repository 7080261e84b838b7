//! What the answer has to meet and the prices it is worked out at: what the report is asked for, else what the run was given.

use outcrop_measure::units::TimeSpan;
use outcrop_results::RunView;
use outcrop_schema::kv::{Constraints, Prices};
use serde::Serialize;

use crate::report::{plan_setting, plan_table};

/// Where limits or prices come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The command that measured the run.
    Run,
    /// The command that wrote this report.
    Report,
}

impl Origin {
    /// In words that follow "the limits" or "the prices".
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Run => "that this run was given",
            Self::Report => "given for this report",
        }
    }
}

/// What the answer to where to compress has to meet, one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The ratio of the space.
    Ratio,
    /// The 99th percentile of a read.
    P99,
    /// The share of the machine's CPUs.
    CpuShare,
}

/// The constraints besides some, as the flags read them.
pub(super) fn asked_besides(constraints: &Constraints, limits: &[Limit]) -> Vec<String> {
    let rest = |limit: Limit, value: Option<f64>| value.filter(|_| !limits.contains(&limit));
    asked(&Constraints {
        min_ratio: rest(Limit::Ratio, constraints.min_ratio),
        p99_ns: rest(Limit::P99, constraints.p99_ns),
        cpu_share: rest(Limit::CpuShare, constraints.cpu_share),
    })
}

/// Limits and prices, each with its origin; none where there are none.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) constraints: Constraints,
    pub(super) constraints_from: Option<Origin>,
    pub(crate) prices: Option<Prices>,
    pub(super) prices_from: Option<Origin>,
}

impl Limits {
    /// Limits that the report is asked for replace all of the run's, and prices its prices.
    pub(crate) fn of(run: &RunView, constraints: &Constraints, prices: Option<&Prices>) -> Self {
        let is_empty = |constraints: &Constraints| *constraints == Constraints::default();
        let own = constraints_of(run);
        let (constraints, constraints_from) = match (is_empty(constraints), is_empty(&own)) {
            (false, _) if *constraints != own => (constraints.clone(), Some(Origin::Report)),
            (false, _) | (true, false) => (own, Some(Origin::Run)),
            (true, true) => (own, None),
        };
        let (prices, prices_from) = match (prices, prices_of(run)) {
            (Some(prices), own) if own.as_ref() != Some(prices) => {
                (Some(prices.clone()), Some(Origin::Report))
            }
            (Some(prices), _) => (Some(prices.clone()), Some(Origin::Run)),
            (None, Some(prices)) => (Some(prices), Some(Origin::Run)),
            (None, None) => (None, None),
        };
        Self {
            constraints,
            constraints_from,
            prices,
            prices_from,
        }
    }
}

impl Limits {
    /// The limits with where they come from: `the limits that this run was given (--min-ratio 2.5)`; none where there are none.
    pub(super) fn named(&self) -> Option<String> {
        let asked = asked(&self.constraints).join(", ");
        let from = self.constraints_from.map(Origin::words)?;
        Some(format!("the limits {from} ({asked})"))
    }

    /// The flags that measure under these limits, where the plan of the run has others: they replace all of the plan's. Empty where it has the same.
    pub(crate) fn flags(&self) -> String {
        match self.constraints_from {
            Some(Origin::Report) => asked(&self.constraints).join(" "),
            Some(Origin::Run) | None => String::new(),
        }
    }

    /// What tells a report under limits or prices of its own from that of the run: `min-ratio-2.5-p99-2ms`; empty where they are the run's.
    pub(crate) fn slug(&self) -> String {
        let is_own = |origin: Option<Origin>| origin == Some(Origin::Report);
        let mut parts = Vec::new();
        if is_own(self.constraints_from) {
            parts.extend(asked(&self.constraints));
        }
        if is_own(self.prices_from) {
            parts.push("prices".to_owned());
        }
        let plain = |part: String| part.trim_start_matches('-').replace([' ', '%'], "-");
        let parts: Vec<String> = parts.into_iter().map(plain).collect();
        let joined = parts.join("-").replace("--", "-");
        joined.trim_end_matches('-').to_owned()
    }
}

/// The limits that a run was given.
fn constraints_of(run: &RunView) -> Constraints {
    let number = |name: &str| plan_setting(&run.plan, name)?.parse().ok();
    Constraints::named(number)
}

/// The prices that a run was given.
fn prices_of(run: &RunView) -> Option<Prices> {
    let table = plan_table(&run.plan, "prices")?;
    let text = |key: &str| table.get(key)?.as_str().map(str::to_owned);
    Prices::named(text).ok()
}

/// The constraints as the flags read them: without blanks, and not rounded.
pub(super) fn asked(constraints: &Constraints) -> Vec<String> {
    let ratio = constraints.min_ratio.map(|least| format!("--min-ratio {least}"));
    let p99 = constraints
        .p99_ns
        .map(|most| format!("--p99 {}", time_span(most)));
    let share = constraints
        .cpu_share
        .map(|most| format!("--cpu-share {}%", percent(most)));
    [ratio, p99, share].into_iter().flatten().collect()
}

/// A limit on a latency, not rounded.
pub(super) fn time_span(nanoseconds: f64) -> TimeSpan {
    TimeSpan(std::time::Duration::from_nanos(nanoseconds as u64))
}

/// A limit on a share, in percent: three digits behind the point.
pub(super) fn percent(share: f64) -> f64 {
    (share * 1e5).round() / 1e3
}
