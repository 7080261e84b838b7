//! When a job starts, measures and ends, in ticks; and how its measured time is cut into intervals.

use std::time::Duration;

use outcrop_probe::clock::Clock;

use crate::report::MAX_INTERVALS;
use crate::spec::JobSpec;

/// The points in time that all jobs of a run share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// First request.
    pub(crate) start: u64,
    /// End of the warm-up.
    pub(crate) measure_from: u64,
    /// End of the measured time.
    pub(crate) measure_to: u64,
    /// Length of one interval.
    pub(crate) interval_ticks: u64,
    /// Number of intervals.
    pub(crate) interval_count: u64,
}

impl Timeline {
    pub(crate) fn starting_at(start: u64, spec: &JobSpec, clock: &Clock) -> Self {
        let interval = interval_of(spec);
        let measure_from = start.saturating_add(clock.ticks_in(spec.warm_up));
        let duration_ticks = clock.ticks_in(spec.duration).max(1);
        let interval_ticks = clock.ticks_in(interval).max(1);
        Self {
            start,
            measure_from,
            measure_to: measure_from.saturating_add(duration_ticks),
            interval_ticks,
            interval_count: intervals_in(spec.duration, interval),
        }
    }

    /// End of interval `index`; the last one ends with the measured time.
    pub(crate) fn interval_end(&self, index: u64) -> u64 {
        if index + 1 >= self.interval_count {
            return self.measure_to;
        }
        self.measure_from + (index + 1) * self.interval_ticks
    }
}

/// The interval asked for, doubled until at most [`MAX_INTERVALS`] are needed.
pub(crate) fn interval_of(spec: &JobSpec) -> Duration {
    let mut interval = spec.interval.min(spec.duration);
    while intervals_in(spec.duration, interval) > MAX_INTERVALS {
        interval = interval.saturating_mul(2);
    }
    interval
}

fn intervals_in(duration: Duration, interval: Duration) -> u64 {
    let count = duration.as_nanos().div_ceil(interval.as_nanos().max(1));
    u64::try_from(count).unwrap_or(u64::MAX).max(1)
}
