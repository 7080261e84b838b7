//! How a thread of the driver waits: for the common start, for sockets, for the next due time, or for a look at the stop flag.

use rustix::buffer::spare_capacity;
use rustix::event::{epoll, poll};
use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};

use super::worker::{Phase, Shared, Worker};
use crate::error::CacheLoadError;

/// Waits shorter than this are spent polling: a timer would come late.
const POLLED_WAIT_NS: u64 = 20_000;
/// The stop flag is checked at least this often.
const LONGEST_WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
const NO_WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

impl Worker {
    /// Waits until the phase starts, without a look at the sockets: their edges are for the loop. Gives the moment of its end.
    pub(super) fn wait_for_start(&self, shared: &Shared<'_>, phase: &Phase) -> Result<u64, CacheLoadError> {
        loop {
            let now = shared.clock.ticks();
            if now >= phase.start_ticks {
                return Ok(now);
            }
            let ahead_ns = shared.clock.nanos(phase.start_ticks - now);
            let timeout = Timespec {
                tv_sec: (ahead_ns / 1_000_000_000) as i64,
                tv_nsec: (ahead_ns % 1_000_000_000) as i64,
            };
            match poll(&mut [], Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(CacheLoadError::system("wait for the start", error)),
            }
        }
    }

    /// Waits for sockets, for the next due time, or for a look at the stop flag.
    pub(super) fn wait(
        &self,
        shared: &Shared<'_>,
        phase: &Phase,
        now: u64,
        events: &mut Vec<epoll::Event>,
    ) -> Result<(), CacheLoadError> {
        let system = |error: rustix::io::Errno| CacheLoadError::system("wait for sockets", error);
        let mut timeout = LONGEST_WAIT;
        let room = self.room(phase);
        let due = phase
            .feed
            .next_due_ns()
            .filter(|_| phase.feed.is_open_loop() && self.in_flight < room);
        if let Some(due_ns) = due {
            let due_ticks = self
                .due_ticks(phase, due_ns)
                .min(phase.end_ticks.unwrap_or(u64::MAX));
            let ahead_ns = shared.clock.nanos(due_ticks.saturating_sub(now));
            if ahead_ns < POLLED_WAIT_NS {
                timeout = NO_WAIT;
            } else {
                let mut spec = Itimerspec {
                    it_interval: NO_WAIT,
                    it_value: NO_WAIT,
                };
                let wait_ns = ahead_ns - POLLED_WAIT_NS / 2;
                spec.it_value.tv_sec = (wait_ns / 1_000_000_000) as i64;
                spec.it_value.tv_nsec = (wait_ns % 1_000_000_000) as i64;
                timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &spec).map_err(system)?;
            }
        }
        match epoll::wait(&self.epoll, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(system(error)),
        }
    }
}
