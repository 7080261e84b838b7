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

/// Times one piece of work by `CLOCK_MONOTONIC`: for a command that is over sooner than a [`Clock`] is calibrated.
///
/// *Cost*: one system call without a switch into the kernel (vDSO), some 30 ns.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    start_ns: u64,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self {
            start_ns: monotonic_ns(),
        }
    }

    /// Nanoseconds since the start.
    pub fn elapsed_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.start_ns)
    }
}

fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn timestamps_are_utc_in_both_forms() {
        let moment = Duration::new(1_795_226_584, 567_890_123);
        assert_eq!(rfc3339_utc(moment), "2026-11-21T02:03:04.567890Z");
        assert_eq!(compact_utc(moment), "20261121T020304Z");
        assert_eq!(rfc3339_utc(Duration::ZERO), "1970-01-01T00:00:00.000000Z");
        assert!(compact_utc(Duration::MAX).ends_with('Z'));
    }

    #[test]
    fn a_stopwatch_counts_what_the_monotonic_clock_counts() {
        let outer = monotonic_ns();
        let stopwatch = Stopwatch::start();
        let inner = monotonic_ns();
        while monotonic_ns() < inner + 1_000_000 {}
        let shortest = monotonic_ns() - inner;
        let elapsed = stopwatch.elapsed_ns();
        assert!(
            (shortest..=monotonic_ns() - outer).contains(&elapsed),
            "{elapsed}"
        );
    }

    #[test]
    fn ticks_agree_with_the_monotonic_clock() {
        // Each span encloses the next, so the bounds hold however often the thread is preempted.
        let clock = Clock::new();
        let (outer_start_ns, start, inner_start_ns) = (monotonic_ns(), clock.ticks(), monotonic_ns());
        while monotonic_ns() < inner_start_ns + 20_000_000 {}
        let (inner_end_ns, end, outer_end_ns) = (monotonic_ns(), clock.ticks(), monotonic_ns());
        let elapsed_ns = clock.nanos(end - start) as f64;
        assert!(
            elapsed_ns >= (inner_end_ns - inner_start_ns) as f64 * 0.999,
            "{elapsed_ns}"
        );
        assert!(
            elapsed_ns <= (outer_end_ns - outer_start_ns) as f64 * 1.001,
            "{elapsed_ns}"
        );
    }

    proptest! {
        #[test]
        fn ticks_in_a_span_last_as_long_as_the_span(span_ns in 0..1_000_000_000_000_000_u64) {
            let clock = Clock::new();
            let ticks = clock.ticks_in(Duration::from_nanos(span_ns));
            let error_ns = clock.nanos(ticks).abs_diff(span_ns);
            prop_assert!(error_ns <= 2 + span_ns / 1_000_000_000, "{error_ns}");
        }
    }

    #[test]
    fn a_clone_counts_from_the_same_origin() {
        let clock = Clock::new();
        let copy = clock.clone();
        let (first, second, third) = (clock.now_ns(), copy.now_ns(), clock.now_ns());
        assert!(first <= second && second <= third);
        assert_eq!(clock.ticks_in(Duration::MAX), u64::MAX);
    }
}
