//! The clocks: one counter for every latency, and the wall clock for names and records.
//!
//! The only module of the workspace that reads time.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};

/// The clock of all measurements: the CPU's time-stamp counter, calibrated against `CLOCK_MONOTONIC`.
///
/// Where the counter is not invariant (by CPUID), ticks are nanoseconds of `CLOCK_MONOTONIC` instead.
/// Clones share calibration and origin, so their readings compare across threads. *Cost*: the first
/// `new` of a process calibrates for at most 200 ms; `ticks` is one counter read (10–20 ns in
/// most virtual machines, less on bare metal), not serialising.
#[derive(Clone, Debug)]
pub struct Clock {
    counter: quanta::Clock,
    origin_ticks: u64,
}

impl Clock {
    /// Calibrates, or reuses the calibration of this process; `now_ns` counts from here.
    pub fn new() -> Self {
        let counter = quanta::Clock::new();
        let origin_ticks = counter.raw();
        Self {
            counter,
            origin_ticks,
        }
    }

    /// The counter's value now. Only differences mean something: see [`Clock::nanos`].
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.counter.raw()
    }

    /// How many nanoseconds a difference of ticks lasts.
    #[inline]
    pub fn nanos(&self, delta_ticks: u64) -> u64 {
        self.counter.delta_as_nanos(0, delta_ticks)
    }

    /// How many ticks a span lasts, rounded down: turns deadlines into ticks once, so that a loop compares
    /// counter values alone. Saturates.
    pub fn ticks_in(&self, span: Duration) -> u64 {
        const REFERENCE_TICKS: u64 = 1 << 40;
        let reference_ns = u128::from(self.nanos(REFERENCE_TICKS).max(1));
        let ticks = span.as_nanos().saturating_mul(u128::from(REFERENCE_TICKS)) / reference_ns;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Nanoseconds since this clock (or the one it was cloned from) was made.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.nanos(self.ticks().saturating_sub(self.origin_ticks))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// Wall time since 1970-01-01 00:00 UTC; zero if the system's clock stands before that.
pub fn unix_now() -> Duration {
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is where wall time comes from"
    )]
    let now = SystemTime::now();
    now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Wall time for records, in UTC: `2026-11-21T02:03:04.567890Z` (RFC 3339).
pub fn utc_timestamp() -> String {
    rfc3339_utc(unix_now())
}

/// Wall time for folder names, in UTC: `20261121T020304Z` (ISO 8601, basic format).
pub fn utc_compact_timestamp() -> String {
    compact_utc(unix_now())
}

fn rfc3339_utc(since_epoch: Duration) -> String {
    date_time(since_epoch).to_rfc3339_opts(SecondsFormat::Micros, true)
}

fn compact_utc(since_epoch: Duration) -> String {
    date_time(since_epoch).format("%Y%m%dT%H%M%SZ").to_string()
}

/// Times beyond chrono's calendar (year 262142) become its last moment.
fn date_time(since_epoch: Duration) -> DateTime<Utc> {
    i64::try_from(since_epoch.as_secs())
        .ok()
        .and_then(|seconds| DateTime::from_timestamp(seconds, since_epoch.subsec_nanos()))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}
