//! The end of a phase whose server has fallen silent.

use std::io;

use super::worker::{Phase, Shared, Worker};
use crate::error::CacheLoadError;

impl Worker {
    /// Nobody is left to ask.
    pub(super) fn all_broken(&self, shared: &Shared<'_>) -> CacheLoadError {
        CacheLoadError::Connection {
            target: shared.spec.target.to_string(),
            source: io::Error::other(format!(
                "all {} connections of a thread are gone, the first: {}",
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
                source: io::Error::other("no answer for 30 s while the cache was being filled"),
            });
        };
        let clock = shared.clock;
        for lane in &mut self.lanes {
            for pending in lane.pending.drain(..) {
                let age_ns = clock.nanos(now.saturating_sub(pending.intended_ticks));
                let kind = &mut self.tally.kinds[pending.planned.kind as usize];
                kind.latency.record(age_ns);
                self.tally.unfinished += 1;
            }
            lane.is_broken = true;
        }
        self.broken = self.lanes.len();
        self.in_flight = 0;
        while let Some((due_ns, planned)) = phase.feed.take(shared.book) {
            let due = self.due_ticks(phase, due_ns);
            if due >= end_ticks {
                break;
            }
            let age_ns = clock.nanos(now.saturating_sub(due));
            self.tally.kinds[planned.kind as usize].latency.record(age_ns);
            self.tally.unfinished += 1;
        }
        Ok(())
    }
}
