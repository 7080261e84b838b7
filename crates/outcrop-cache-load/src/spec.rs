//! What a load is asked to do.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use outcrop_cache_client::Protocol;
use outcrop_measure::units::parse_count;
use outcrop_measure::{Seed, TimeSpan};
use outcrop_workload::keyed::{KeySpace, KeyedWorkload, Objective, Preset, Trace};
use outcrop_workload::{Arrival, Content, WorkloadError};

use crate::error::CacheLoadError;

use crate::target::Target;

/// Where requests come from.
#[derive(Clone, Debug)]
pub enum RequestSource {
    /// Drawn by a workload over this many keys.
    Generated {
        /// Popularity, sizes, mix.
        workload: KeyedWorkload,
        /// Different keys.
        key_count: u64,
    },
    /// Recorded.
    Trace {
        /// The requests.
        trace: Arc<Trace>,
        /// Open loop by the recorded times; otherwise closed loop, in the recorded order for each key.
        keeps_times: bool,
        /// Measured until its end, and not for the duration; [`LoadSpec::requests`] ends it earlier.
        is_whole: bool,
    },
}

/// What happens before measuring: `auto`, `none`, `fill:TIME`, `sets:COUNT` or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// Every key is set once, the most popular one last; then the load runs until the hit ratio stands still.
    Auto,
    /// Nothing.
    None,
    /// Every key is set once, the most popular one last; then the load for so long, wherever the hit ratio stands.
    Fill(TimeSpan),
    /// So many sets of drawn keys.
    Sets(u64),
    /// The load for so long.
    For(TimeSpan),
}

impl fmt::Display for WarmUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Fill(span) => write!(f, "fill:{span}"),
            Self::Sets(count) => write!(f, "sets:{count}"),
            Self::For(span) => write!(f, "{span}"),
        }
    }
}

impl FromStr for WarmUp {
    type Err = CacheLoadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = match text.trim() {
            "auto" => Some(Self::Auto),
            "none" => Some(Self::None),
            text => match text.split_once(':') {
                Some(("sets", count)) => parse_count(count).ok().map(Self::Sets),
                Some(("fill", span)) => span.parse().ok().map(Self::Fill),
                _ => text.parse().ok().map(Self::For),
            },
        };
        read.ok_or_else(|| {
            CacheLoadError::spec(
                "warm-up",
                format!("`{text}`"),
                "auto, none, fill:TIME (fill:500ms), sets:COUNT (sets:1000) or a time (5s)",
            )
        })
    }
}

/// One load on one server.
#[derive(Clone, Debug)]
pub struct LoadSpec {
    /// The server.
    pub target: Target,
    /// Where requests come from.
    pub source: RequestSource,
    /// Whether a get that missed is followed by a set of its key.
    pub sets_on_miss: bool,
    /// Number of distinct values *n*: key *k* has value *k* mod *n*. None where each key has its own value, and for a trace.
    pub value_count: Option<NonZeroU64>,
    /// What values contain.
    pub content: Content,
    /// When requests are due; the rate is that of all connections together. A trace has its own times.
    pub arrival: Arrival,
    /// Connections, shared evenly by the threads.
    pub connections: u32,
    /// Requests in flight on each connection; an open loop has at most this many.
    pub pipeline: u32,
    /// Threads, each with its own connections and stream of requests.
    pub threads: u32,
    /// Whether each thread stays on one CPU: the last ones that this process may use.
    pub is_pinned: bool,
    /// What happens before measuring.
    pub warm_up: WarmUp,
    /// The measured time; a trace may end earlier.
    pub duration: Duration,
    /// The number of requests to measure instead of a time, shared evenly by the threads; the first ones of a trace. Sets on miss are not counted.
    pub requests: Option<NonZeroU64>,
    /// By which goodput is counted.
    pub objective: Option<Objective>,
    /// Whether the server is emptied first.
    pub flushes_first: bool,
    /// Every random choice derives from it.
    pub seed: Seed,
}

const MAX_CONNECTIONS: u32 = 50_000;
const MAX_PIPELINE: u32 = 4096;
const MAX_THREADS: u32 = 256;
const MAX_RATE_PER_SECOND: f64 = 50e6;

/// So many keys of a workload.
pub(crate) fn key_space(workload: &KeyedWorkload, key_count: u64) -> Result<KeySpace, CacheLoadError> {
    let space = KeySpace::new(key_count, workload.key_size, workload.value_size);
    space.map_err(|error| {
        let expected = match error {
            WorkloadError::OutOfRange { why, .. } => why.trim_start_matches("expected ").to_owned(),
            other => other.to_string(),
        };
        CacheLoadError::spec("keys", key_count.to_string(), expected)
    })
}

impl LoadSpec {
    /// ETC over 100,000 keys: one thread, 50 connections, no pipelining, closed loop, 5 s after an automatic warm-up.
    pub const fn new(target: Target, seed: Seed) -> Self {
        Self {
            target,
            source: RequestSource::Generated {
                workload: KeyedWorkload::of(Preset::Etc),
                key_count: 100_000,
            },
            sets_on_miss: true,
            value_count: None,
            content: Content::Random,
            arrival: Arrival::Closed,
            connections: 50,
            pipeline: 1,
            threads: 1,
            is_pinned: true,
            warm_up: WarmUp::Auto,
            duration: Duration::from_secs(5),
            requests: None,
            objective: None,
            flushes_first: false,
            seed,
        }
    }

    /// Checks what can be judged without the server.
    ///
    /// # Errors
    /// [`CacheLoadError::Spec`] with the field, the value seen and what is accepted.
    pub fn validate(&self) -> Result<(), CacheLoadError> {
        for (field, seen, most) in [
            ("connections", self.connections, MAX_CONNECTIONS),
            ("pipeline", self.pipeline, MAX_PIPELINE),
            ("threads", self.threads, MAX_THREADS.min(self.connections.max(1))),
        ] {
            if seen == 0 || seen > most {
                let expected = match field {
                    "threads" => format!("1 to {most}, and at most the number of connections"),
                    _ => format!("1 to {most}"),
                };
                return Err(CacheLoadError::spec(field, seen.to_string(), expected));
            }
        }
        if let Some(requests) = self.requests
            && requests.get() < u64::from(self.threads)
        {
            let expected = "at least one for each thread";
            return Err(CacheLoadError::spec("requests", requests.to_string(), expected));
        }
        if self.duration.is_zero() {
            return Err(CacheLoadError::spec("duration", "0s", "more than zero"));
        }
        if let Some(rate) = self.arrival.per_second()
            && rate.per_second() > MAX_RATE_PER_SECOND
        {
            let expected = "at most 50 million requests per second";
            return Err(CacheLoadError::spec("arrival", rate.to_string(), expected));
        }
        if let RequestSource::Generated { workload, key_count } = &self.source {
            key_space(workload, *key_count)?;
        }
        if let RequestSource::Trace { trace, .. } = &self.source {
            if self.arrival != Arrival::Closed {
                let expected = "closed with a trace, which has its own schedule";
                return Err(CacheLoadError::spec(
                    "arrival",
                    self.arrival.to_string(),
                    expected,
                ));
            }
            if !matches!(self.warm_up, WarmUp::Auto | WarmUp::None) {
                let expected = "auto or none with a trace, which is replayed from its start";
                return Err(CacheLoadError::spec(
                    "warm-up",
                    self.warm_up.to_string(),
                    expected,
                ));
            }
            let has_ttl = trace.entries().iter().any(|entry| entry.ttl_s > 0);
            if has_ttl && self.target.protocol == Protocol::Http {
                let expected = "0 over HTTP, which has no time to live; use memcached or Redis";
                return Err(CacheLoadError::spec("ttl", "above 0 in the trace", expected));
            }
        }
        Ok(())
    }

    /// How many of the requests thread `index` makes; none where it makes all that it has, as those of a trace: the first ones are cut from
    /// that before the threads share its keys.
    pub(crate) fn requests_of(&self, index: u32) -> Option<u64> {
        if matches!(self.source, RequestSource::Trace { .. }) {
            return None;
        }
        let threads = u64::from(self.threads);
        let of = |requests: u64| requests / threads + u64::from(u64::from(index) < requests % threads);
        self.requests.map(NonZeroU64::get).map(of)
    }

    /// Number of requests in the trace, if there is one.
    pub fn trace_requests(&self) -> Option<u64> {
        match &self.source {
            RequestSource::Trace { trace, .. } => Some(trace.entries().len() as u64),
            RequestSource::Generated { .. } => None,
        }
    }

    /// Whether the load ends when its duration does, and not after a number of requests or with the trace.
    pub const fn is_timed(&self) -> bool {
        let is_whole_trace = matches!(self.source, RequestSource::Trace { is_whole: true, .. });
        self.requests.is_none() && !is_whole_trace
    }

    /// Whether requests are due at the times of a trace.
    pub const fn has_own_times(&self) -> bool {
        matches!(
            self.source,
            RequestSource::Trace {
                keeps_times: true,
                ..
            }
        )
    }

    /// Whether requests follow a schedule.
    pub const fn is_open_loop(&self) -> bool {
        match &self.source {
            RequestSource::Generated { .. } => self.arrival.is_open_loop(),
            RequestSource::Trace { keeps_times, .. } => *keeps_times,
        }
    }
}
