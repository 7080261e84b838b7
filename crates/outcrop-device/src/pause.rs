//! Waiting for a point of a schedule, without a descriptor to wait on.

use std::num::NonZeroU64;

use rustix::thread::{ClockId, Timespec};

/// Waits this many nanoseconds, or less when a signal comes; callers look at the clock again in any case.
pub(crate) fn pause_ns(ns: u64) {
    let request = Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    };
    // Early or late, the outcome is the same to the caller: it reads the clock.
    let _ = rustix::thread::clock_nanosleep_relative(ClockId::Monotonic, &request);
}

/// Asks the kernel to wake this thread on time: by default it may be 50 µs late, to save wake-ups.
pub(crate) fn wake_precisely() {
    // Refusal leaves the default, which shows as response time, never as service time.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}
