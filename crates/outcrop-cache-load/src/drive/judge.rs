//! Files answers: what was hit, how long it took, whether the value is the one that was stored.

use outcrop_cache_client::Reply;
use outcrop_probe::Clock;

use super::book::{Book, Planned};
use super::lane::Pending;
use crate::report::Tally;

/// Two moments of an open loop: a backlog that grows between them is a load that the server cannot bear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) half_way: u64,
    pub(super) end: u64,
}

impl Marks {
    /// Counts a request of the schedule among those that waited at these moments; it ended when it was answered or lost.
    pub(super) fn count(self, tally: &mut Tally, pending: &Pending, ended_ticks: u64) {
        if pending.is_fill {
            return;
        }
        let waited_at = |mark: u64| u64::from(pending.intended_ticks < mark && ended_ticks >= mark);
        tally.waiting_half_way += waited_at(self.half_way);
        tally.waiting_at_end += waited_at(self.end);
    }
}

/// Files one answer.
pub(super) struct Judge<'a> {
    pub(super) book: &'a Book,
    pub(super) clock: &'a Clock,
    pub(super) tally: &'a mut Tally,
    pub(super) now: u64,
    pub(super) is_over: bool,
    pub(super) is_open_loop: bool,
    pub(super) marks: Option<Marks>,
    pub(super) objective_ticks: u64,
}

impl Judge<'_> {
    #[inline]
    pub(super) fn judge(&mut self, pending: &Pending, reply: Reply<'_>) {
        // A closed loop's replies after the end belong to the drain; an open loop's were due before it.
        if self.is_over && !self.is_open_loop {
            return;
        }
        if let Some(marks) = self.marks {
            marks.count(self.tally, pending, self.now);
        }
        let planned = &pending.planned;
        let latency_ticks = self.now.saturating_sub(pending.intended_ticks);
        let latency_ns = self.clock.nanos(latency_ticks);
        match reply {
            Reply::Refused(message) => return self.refused(planned, message),
            Reply::Value(bytes) => {
                self.tally.hits += 1;
                self.tally.hit_latency.record(latency_ns);
                self.tally.hit_bytes += bytes.len() as u64;
                self.tally.hit_bytes_in_time += bytes.len() as u64 * u64::from(!self.is_over);
                if !self.book.is_value_of(planned, bytes) {
                    self.mismatched(planned, bytes);
                }
            }
            Reply::Miss => {
                self.tally.misses += 1;
                self.tally.miss_latency.record(latency_ns);
                self.tally.missed_bytes += u64::from(planned.value_size_bytes);
            }
            Reply::Stored | Reply::Deleted | Reply::NotFound => {}
        }
        let kind = &mut self.tally.kinds[planned.kind as usize];
        kind.operations += 1;
        kind.latency.record(latency_ns);
        if self.is_open_loop {
            kind.service
                .record(self.clock.nanos(self.now.saturating_sub(pending.ready_ticks)));
        }
        self.tally.fills += u64::from(pending.is_fill);
        self.tally.completed_in_time += u64::from(!self.is_over);
        self.tally.fills_in_time += u64::from(pending.is_fill && !self.is_over);
        // Goodput is a part of throughput: what comes after the end counts in neither.
        self.tally.within_objective += u64::from(!self.is_over && latency_ticks < self.objective_ticks);
    }

    #[cold]
    fn mismatched(&mut self, planned: &Planned, bytes: &[u8]) {
        self.tally.mismatches += 1;
        let describe = || self.book.describe_mismatch(planned, bytes);
        if self.book.is_of_another_length(planned, bytes) {
            self.tally.other_lengths += 1;
            self.tally.first_other_length.get_or_insert_with(describe);
        } else {
            self.tally.first_mismatch.get_or_insert_with(describe);
        }
    }

    #[cold]
    fn refused(&mut self, planned: &Planned, message: &[u8]) {
        self.tally.refused += 1;
        let describe = || {
            format!(
                "{} of key {} ({} B): {}",
                planned.kind.name(),
                self.book.describe_key(planned.key_id),
                planned.value_size_bytes,
                message.escape_ascii()
            )
        };
        self.tally.first_refusal.get_or_insert_with(describe);
    }
}
