//! Where one job writes down what it sees: histograms per interval, totals, errors, and the depth integral.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_probe::clock::Clock;
use outcrop_workload::{Durability, LatencyParts};

use crate::job::timeline::Timeline;
use crate::report::{DrainReport, ErrorReport, PartsReport, Traffic};
use crate::slots::{Flight, Step};
use crate::spec::JobSpec;

/// What is kept besides the latency.
#[derive(Clone, Copy, Debug)]
struct Kept {
    service: bool,
    parts: bool,
    /// Writes without the syncs that follow them.
    transfer: bool,
}

/// One direction in one interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) latency: LatencyHistogram,
    /// Open loops only.
    pub(crate) service: Option<LatencyHistogram>,
    /// Where submissions are timed apart.
    pub(crate) parts: Option<PartsReport>,
    /// Where syncs follow writes: the writes without them.
    pub(crate) transfer: Option<LatencyHistogram>,
    /// How many of `latency` are ages of requests that never completed.
    pub(crate) unfinished: u64,
}

impl Tally {
    fn new(kept: Kept) -> Self {
        Self {
            service: kept.service.then(LatencyHistogram::new),
            parts: kept.parts.then(PartsReport::default),
            transfer: kept.transfer.then(LatencyHistogram::new),
            ..Self::default()
        }
    }
}

/// Both directions in one interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntervalTally {
    pub(crate) reads: Tally,
    pub(crate) writes: Tally,
    /// Made by the first sync.
    pub(crate) syncs: Option<LatencyHistogram>,
}

impl IntervalTally {
    fn new(kept: Kept) -> Self {
        let of_reads = Kept {
            transfer: false,
            ..kept
        };
        Self {
            reads: Tally::new(of_reads),
            writes: Tally::new(kept),
            syncs: None,
        }
    }

    #[inline]
    fn of(&mut self, is_write: bool) -> &mut Tally {
        if is_write {
            &mut self.writes
        } else {
            &mut self.reads
        }
    }
}

/// What the recorder is collecting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Interval(u64),
    /// The measured time is over; nothing more is filed.
    Over,
}

/// The record of one job.
///
/// *Cost* per request: two histogram updates at most, and two more of a write that a sync follows; one comparison with the
/// end of the interval, one multiplication for the depth.
#[derive(Debug)]
pub(crate) struct Recorder<'c> {
    clock: &'c Clock,
    timeline: Timeline,
    is_open_loop: bool,
    kept: Kept,
    phase: Phase,
    /// End of the current phase, in ticks.
    boundary: u64,
    current: IntervalTally,
    finished: Vec<IntervalTally>,
    pub(crate) traffic: Traffic,
    pub(crate) errors: ErrorReport,
    pub(crate) drained: DrainReport,
    /// Open loop: due in the measured time.
    pub(crate) due: u64,
    /// Open loop: completions of any due time during the measured time.
    pub(crate) completed_in_time: u64,
    /// Open loop: how late we were ourselves.
    lateness: LatencyHistogram,
    depth: DepthIntegral,
}

/// The integral of requests in flight over the measured time.
#[derive(Clone, Copy, Debug)]
struct DepthIntegral {
    from: u64,
    to: u64,
    last: u64,
    area: u64,
}

impl DepthIntegral {
    /// `in_flight` requests were out since the last call.
    #[inline]
    fn advance(&mut self, now: u64, in_flight: u32) {
        let until = now.clamp(self.from, self.to);
        self.area += u64::from(in_flight) * until.saturating_sub(self.last);
        self.last = self.last.max(until);
    }
}

impl<'c> Recorder<'c> {
    pub(crate) fn new(clock: &'c Clock, timeline: Timeline, spec: &JobSpec) -> Self {
        let is_open_loop = spec.arrival.is_open_loop();
        let kept = Kept {
            service: is_open_loop,
            parts: spec.latency_parts == LatencyParts::Apart,
            transfer: matches!(spec.sync, Durability::After { .. }),
        };
        Self {
            clock,
            timeline,
            is_open_loop,
            kept,
            phase: Phase::WarmUp,
            boundary: timeline.measure_from,
            current: IntervalTally::new(kept),
            finished: Vec::with_capacity(timeline.interval_count as usize),
            traffic: Traffic::default(),
            errors: ErrorReport::default(),
            drained: DrainReport::default(),
            due: 0,
            completed_in_time: 0,
            lateness: LatencyHistogram::new(),
            depth: DepthIntegral {
                from: timeline.measure_from,
                to: timeline.measure_to,
                last: timeline.measure_from,
                area: 0,
            },
        }
    }

    /// `in_flight` requests were out with the kernel from the last event until `now`.
    #[inline]
    pub(crate) fn observe_depth(&mut self, now: u64, in_flight: u32) {
        self.depth.advance(now, in_flight);
    }

    /// Files a request of a closed loop that completed in full: in the interval of its completion.
    #[inline]
    pub(crate) fn complete_closed(&mut self, flight: &Flight, now: u64) {
        self.count(flight.is_write);
        if now >= self.boundary {
            self.turn_to(now);
        }
        let latency_ns = self.clock.nanos(now.saturating_sub(flight.started));
        if self.phase == Phase::Over {
            self.drained.operations += 1;
            self.drained.slowest_ns = self.drained.slowest_ns.max(latency_ns);
            return;
        }
        self.current.of(flight.is_write).latency.record(latency_ns);
        self.record_sync(flight, now);
    }

    /// Files the sync that a write ended with, and what the write took without it.
    #[inline]
    fn record_sync(&mut self, flight: &Flight, now: u64) {
        let (Some(transfer), true) = (&mut self.current.writes.transfer, flight.is_write) else {
            return;
        };
        let written = match flight.step {
            Step::Sync { written, .. } => {
                let syncs = self.current.syncs.get_or_insert_with(LatencyHistogram::new);
                syncs.record(self.clock.nanos(now.saturating_sub(written)));
                written
            }
            _ => now,
        };
        transfer.record(self.clock.nanos(written.saturating_sub(flight.started)));
    }

    /// Files a request of an open loop that completed in full: counted if it was *due* in the measured time,
    /// in the interval of its completion or the last one.
    #[inline]
    pub(crate) fn complete_open(&mut self, flight: &Flight, now: u64) {
        self.count(flight.is_write);
        let is_in_time = now >= self.timeline.measure_from && now < self.timeline.measure_to;
        self.completed_in_time += u64::from(is_in_time);
        if !self.is_due_in_measured_time(flight.due) {
            return;
        }
        if now >= self.boundary {
            self.turn_to(now);
        }
        let response_ns = self.clock.nanos(now.saturating_sub(flight.due));
        let service_ns = self.clock.nanos(now.saturating_sub(flight.started));
        let tally = self.current.of(flight.is_write);
        tally.latency.record(response_ns);
        if let Some(service) = &mut tally.service {
            service.record(service_ns);
        }
        self.record_sync(flight, now);
    }

    /// Files the parts of a request that was just filed, where it was.
    #[cold]
    #[inline(never)]
    pub(crate) fn complete_in_parts(&mut self, flight: &Flight, handed_over: u64, now: u64) {
        let is_filed = match self.is_open_loop {
            true => self.is_due_in_measured_time(flight.due),
            false => self.phase != Phase::Over,
        };
        if let (Some(parts), true) = (&mut self.current.of(flight.is_write).parts, is_filed) {
            let nanos = |from: u64, to: u64| self.clock.nanos(to.saturating_sub(from));
            parts.submission.record(nanos(flight.started, handed_over));
            parts.completion.record(nanos(handed_over, now));
        }
    }

    /// Counts what the schedule asks for; called once for each request when it is taken from the schedule.
    #[inline]
    pub(crate) fn take_due(&mut self, due: u64) {
        self.due += u64::from(self.is_due_in_measured_time(due));
    }

    /// Files by how much a request is made ready after it was due, or after the slot `freed` that it had to wait for.
    #[inline]
    pub(crate) fn issued_late(&mut self, due: u64, freed: u64, now: u64) {
        if self.is_due_in_measured_time(due) {
            let late = now.saturating_sub(due.max(freed));
            self.lateness.record(self.clock.nanos(late));
        }
    }

    /// Files a request that was due but never completed, with its age: a lower bound of its response time.
    pub(crate) fn abandon(&mut self, is_write: bool, due: u64, now: u64) {
        if !self.is_due_in_measured_time(due) {
            return;
        }
        if now >= self.boundary {
            self.turn_to(now);
        }
        let age_ns = self.clock.nanos(now.saturating_sub(due));
        let tally = self.current.of(is_write);
        tally.latency.record(age_ns);
        tally.unfinished += 1;
    }

    /// Counts a request that failed or came back short.
    #[cold]
    pub(crate) fn fail(&mut self, flight: &Flight, result: i32, description: impl FnOnce() -> String) {
        if flight.is_write {
            self.errors.writes += 1;
        } else {
            self.errors.reads += 1;
        }
        if self.errors.first.is_none() {
            self.errors.first = Some(description());
            self.errors.first_errno = (result < 0).then(|| result.saturating_neg());
        }
    }

    /// Ends the measured time early; what was recorded until now stays.
    pub(crate) fn cut_short(&mut self, now: u64) {
        if now >= self.boundary {
            self.turn_to(now);
        }
        self.timeline.measure_to = self.timeline.measure_to.min(now.max(self.timeline.measure_from));
        self.depth.to = self.timeline.measure_to;
        match self.phase {
            // Late completions of an open loop belong to the interval that was cut.
            Phase::Interval(_) if self.is_open_loop => {}
            Phase::Interval(_) => {
                self.close_current();
                self.phase = Phase::Over;
            }
            // What the warm-up recorded is not filed.
            Phase::WarmUp | Phase::Over => self.phase = Phase::Over,
        }
        self.boundary = u64::MAX;
    }

    /// Whether the schedule's point lies in the measured time.
    #[inline]
    pub(crate) const fn is_due_in_measured_time(&self, due: u64) -> bool {
        due >= self.timeline.measure_from && due < self.timeline.measure_to
    }

    #[inline]
    fn count(&mut self, is_write: bool) {
        self.traffic.writes += u64::from(is_write);
        self.traffic.reads += u64::from(!is_write);
    }

    /// Closes every interval that ends at or before `now`.
    #[cold]
    fn turn_to(&mut self, now: u64) {
        while now >= self.boundary {
            let next = match self.phase {
                Phase::WarmUp => {
                    self.current = IntervalTally::new(self.kept);
                    0
                }
                Phase::Interval(index) => {
                    self.close_current();
                    index + 1
                }
                Phase::Over => return,
            };
            if next >= self.timeline.interval_count {
                self.phase = Phase::Over;
                self.boundary = u64::MAX;
                return;
            }
            self.phase = Phase::Interval(next);
            // Late completions of an open loop belong to the last interval, which therefore stays open.
            let stays_open = self.is_open_loop && next + 1 == self.timeline.interval_count;
            self.boundary = if stays_open {
                u64::MAX
            } else {
                self.timeline.interval_end(next)
            };
        }
    }

    fn close_current(&mut self) {
        let tally = std::mem::replace(&mut self.current, IntervalTally::new(self.kept));
        self.finished.push(tally);
    }

    /// Everything recorded. `now` is after the last completion.
    pub(crate) fn finish(mut self, now: u64) -> Record {
        if now >= self.boundary {
            self.turn_to(now);
        }
        if matches!(self.phase, Phase::Interval(_)) {
            self.close_current();
        }
        self.traffic.elapsed_ns = self.clock.nanos(now.saturating_sub(self.timeline.start));
        Record {
            timeline: self.timeline,
            intervals: self.finished,
            traffic: self.traffic,
            errors: self.errors,
            drained: self.drained,
            due: self.due,
            completed_in_time: self.completed_in_time,
            lateness: self.lateness,
            depth_ticks: self.depth.area,
        }
    }
}

/// What one job recorded.
#[derive(Debug)]
pub(crate) struct Record {
    /// With its real end.
    pub(crate) timeline: Timeline,
    pub(crate) intervals: Vec<IntervalTally>,
    pub(crate) traffic: Traffic,
    pub(crate) errors: ErrorReport,
    pub(crate) drained: DrainReport,
    pub(crate) due: u64,
    pub(crate) completed_in_time: u64,
    pub(crate) lateness: LatencyHistogram,
    /// Requests × ticks over the measured time.
    pub(crate) depth_ticks: u64,
}

#[cfg(test)]
mod tests;
