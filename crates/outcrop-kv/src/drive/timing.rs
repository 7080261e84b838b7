//! When a phase starts, on a clock that all processes share, and waiting for it.

use std::time::Duration;

use outcrop_probe::Clock;
use rustix::event::{PollFd, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::error::KvError;

/// The moment at which a phase starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// On `CLOCK_MONOTONIC`, in nanoseconds.
    pub start_ns: u64,
}

impl Timing {
    /// That long from now.
    pub fn after(wait: Duration) -> Self {
        Self {
            start_ns: monotonic_ns() + wait.as_nanos() as u64,
        }
    }
}

/// Nanoseconds on the clock that all processes share.
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Waits until a moment on that clock.
pub(crate) fn wait_until_ns(moment_ns: u64) -> Result<(), KvError> {
    loop {
        let ahead_ns = moment_ns.saturating_sub(monotonic_ns());
        if ahead_ns == 0 {
            return Ok(());
        }
        let timeout = Timespec {
            tv_sec: (ahead_ns / 1_000_000_000) as i64,
            tv_nsec: (ahead_ns % 1_000_000_000) as i64,
        };
        let mut nothing: [PollFd<'_>; 0] = [];
        match poll(&mut nothing, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(KvError::system("wait", error)),
        }
    }
}

/// CPU time that waiting for moments took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// To fall asleep and to wake up, in the kernel.
    pub(super) asleep_ns: u64,
    /// To read the counter until the moment came, in user mode.
    pub(super) polling_ns: u64,
}

impl Waiting {
    pub(super) const fn total_ns(self) -> u64 {
        self.asleep_ns + self.polling_ns
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.asleep_ns += other.asleep_ns;
        self.polling_ns += other.polling_ns;
    }
}

/// A phase in ticks of the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Its start; due times count from here.
    pub(super) start: u64,
    /// Where measuring starts.
    pub(super) measured: u64,
    /// Its end.
    pub(super) end: u64,
}

impl Span {
    pub(super) fn of(clock: &Clock, timing: Timing, warm_up: Duration, duration: Duration) -> Self {
        let start = ticks_at(clock, timing.start_ns);
        let measured = start + clock.ticks_in(warm_up);
        Self {
            start,
            measured,
            end: measured + clock.ticks_in(duration),
        }
    }

    /// Of a phase that ends when its work is done.
    pub(super) fn open_ended(clock: &Clock, timing: Timing) -> Self {
        let start = ticks_at(clock, timing.start_ns);
        Self {
            start,
            measured: start,
            end: u64::MAX,
        }
    }
}

/// The counter's value at a moment that is near.
fn ticks_at(clock: &Clock, moment_ns: u64) -> u64 {
    let (now_ns, now) = (monotonic_ns(), clock.ticks());
    let ahead = clock.ticks_in(Duration::from_nanos(moment_ns.saturating_sub(now_ns)));
    let behind = clock.ticks_in(Duration::from_nanos(now_ns.saturating_sub(moment_ns)));
    (now + ahead).saturating_sub(behind)
}
