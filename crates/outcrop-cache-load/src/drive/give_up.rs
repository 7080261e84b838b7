//! Requests that are never answered: those of a connection that breaks, and of a server that falls silent.

use std::io;

use super::lane::Pending;
use super::worker::{Phase, Shared, Worker};
use crate::error::CacheLoadError;

impl Worker {
    /// Gives up a broken connection. Each outstanding request counts with its age, which is a lower bound of its latency.
    pub(super) fn break_lane(&mut self, shared: &Shared<'_>, phase: &Phase, index: usize, why: &str) {
        let now = shared.clock.ticks();
        let lost = std::mem::take(&mut self.lanes[index].pending);
        self.in_flight -= lost.len();
        for pending in &lost {
            self.lose(shared, phase, pending, now);
        }
        self.lanes[index].is_broken = true;
        self.broken += 1;
        // Closing a socket would be seen by the epoll instance; shutting it down leaves the number taken.
        let _ = self.lanes[index].stream.shutdown(std::net::Shutdown::Both);
        self.tally.broken_connections += 1;
        self.tally.first_break.get_or_insert_with(|| why.to_owned());
    }

    /// Counts a request as never answered, with its age.
    fn lose(&mut self, shared: &Shared<'_>, phase: &Phase, pending: &Pending, now: u64) {
        let age_ns = shared.clock.nanos(now.saturating_sub(pending.intended_ticks));
        self.tally.kinds[pending.planned.kind as usize]
            .latency
            .record(age_ns);
        self.tally.unfinished += 1;
        if let Some(marks) = phase.marks() {
            marks.count(&mut self.tally, pending, now);
        }
    }

    /// Nobody is left to ask.
    pub(super) fn all_broken(&self, shared: &Shared<'_>) -> CacheLoadError {
        CacheLoadError::Connection {
            target: shared.spec.target.to_string(),
            source: io::Error::other(format!(
                "all {} connections of a thread broke, the first with: {}",
                self.lanes.len(),
                self.tally.first_break.as_deref().unwrap_or("before this phase")
            )),
        }
    }

    /// The server has been silent for too long: what it owes counts with its age, and the connections are of no
    /// more use.
    pub(super) fn give_up(
        &mut self,
        shared: &Shared<'_>,
        phase: &mut Phase,
        now: u64,
    ) -> Result<(), CacheLoadError> {
        let Some(end_ticks) = phase.end_ticks else {
            return Err(CacheLoadError::Connection {
                target: shared.spec.target.to_string(),
                source: io::Error::other("no reply for 30 s"),
            });
        };
        for index in 0..self.lanes.len() {
            for pending in std::mem::take(&mut self.lanes[index].pending) {
                self.lose(shared, phase, &pending, now);
            }
            self.lanes[index].is_broken = true;
        }
        self.broken = self.lanes.len();
        self.in_flight = 0;
        while let Some((due_ns, planned)) = phase.feed.take(shared.book) {
            let due = self.due_ticks(phase, due_ns);
            if due >= end_ticks {
                break;
            }
            self.tally.due += 1;
            let pending = Pending {
                planned,
                intended_ticks: due,
                ready_ticks: now,
                is_fill: false,
            };
            self.lose(shared, phase, &pending, now);
        }
        Ok(())
    }
}
