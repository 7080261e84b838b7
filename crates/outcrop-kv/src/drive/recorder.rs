//! Latencies of one thread, handed over window by window, so that the memory they take does not grow with the threads.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_probe::Clock;
use outcrop_workload::keyed::OperationKind;

use super::timing::Span;
use crate::report::Interval;

/// What all threads of a process have recorded.
pub(super) struct Intervals {
    length: Duration,
    recorded: Mutex<BTreeMap<(u32, OperationKind), Histograms>>,
}

struct Histograms {
    completed: u64,
    latency: LatencyHistogram,
    service: LatencyHistogram,
}

impl Histograms {
    fn new() -> Self {
        Self {
            completed: 0,
            latency: LatencyHistogram::new(),
            service: LatencyHistogram::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.latency.is_empty() && self.service.is_empty()
    }
}

impl Intervals {
    pub(super) fn new(length: Duration) -> Self {
        Self {
            length,
            recorded: Mutex::new(BTreeMap::new()),
        }
    }

    pub(super) fn into_reports(self) -> Vec<Interval> {
        let recorded = self.recorded.into_inner().unwrap_or_else(PoisonError::into_inner);
        let report = |((index, kind), histograms): ((u32, OperationKind), Histograms)| Interval {
            kind,
            index,
            completed: histograms.completed,
            latency: histograms.latency,
            service: histograms.service,
        };
        recorded.into_iter().map(report).collect()
    }

    fn take_over(&self, index: u32, kind: OperationKind, histograms: &Histograms) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let all = recorded.entry((index, kind)).or_insert_with(Histograms::new);
        all.completed += histograms.completed;
        all.latency.merge(&histograms.latency);
        all.service.merge(&histograms.service);
    }
}

/// Records the operations of one thread.
pub(super) struct Recorder<'i> {
    intervals: &'i Intervals,
    start: u64,
    end: u64,
    length: u64,
    /// Where the current window ends.
    turn_at: u64,
    index: u64,
    /// The window that the end lies behind; what is done later stands in it.
    last_index: u64,
    current: [Option<Box<Histograms>>; OperationKind::ALL.len()],
}

impl<'i> Recorder<'i> {
    pub(super) fn new(intervals: &'i Intervals, clock: &Clock, span: &Span) -> Self {
        let length = clock.ticks_in(intervals.length).max(1);
        let measured = span.end.saturating_sub(span.measured);
        // Lengths are whole ticks: the windows together may end this many ticks too early.
        let rounding = measured / length + 1;
        let last_index = measured.saturating_sub(rounding) / length;
        Self {
            intervals,
            start: span.measured,
            end: span.end,
            length,
            turn_at: match last_index {
                0 => u64::MAX,
                _ => span.measured.saturating_add(length),
            },
            index: 0,
            last_index,
            current: std::array::from_fn(|_| None),
        }
    }

    /// Records an operation of a closed loop that was begun and done at these ticks, the latter within the measured time.
    #[inline]
    pub(super) fn record(&mut self, clock: &Clock, kind: OperationKind, begun: u64, done: u64) {
        let histograms = self.window_of(kind, done);
        histograms.completed += 1;
        histograms.latency.record(clock.nanos(done.saturating_sub(begun)));
    }

    /// Records an operation of an open loop that was due, begun and done at these ticks.
    ///
    /// What is done within the measured time is throughput, whenever it was due: a backlog that is worked off is work. Latencies are those of
    /// what was due within it, whenever it was done: what is done at the end or after it stands in the last window.
    pub(super) fn record_due(&mut self, clock: &Clock, kind: OperationKind, due: u64, begun: u64, done: u64) {
        let (start, end) = (self.start, self.end);
        if done < start {
            return;
        }
        let histograms = self.window_of(kind, done);
        histograms.completed += u64::from(done < end);
        histograms.service.record(clock.nanos(done.saturating_sub(begun)));
        if due >= start {
            histograms.latency.record(clock.nanos(done.saturating_sub(due)));
        }
    }

    /// Records operations of an open loop that were due at a moment and are not begun at the end, with their age: a lower bound of their latency.
    pub(super) fn record_not_begun(&mut self, clock: &Clock, kind: OperationKind, (due, count): (u64, u64)) {
        let end = self.end;
        let age = clock.nanos(end.saturating_sub(due));
        let histograms = self.window_of(kind, end);
        histograms.latency.record_many(age, count);
    }

    #[inline]
    fn window_of(&mut self, kind: OperationKind, now: u64) -> &mut Histograms {
        if now >= self.turn_at {
            self.turn(now);
        }
        self.current[kind as usize].get_or_insert_with(|| Box::new(Histograms::new()))
    }

    /// Hands the window over and begins the one that `now` lies in.
    #[cold]
    fn turn(&mut self, now: u64) {
        self.hand_over();
        self.index = (now.saturating_sub(self.start) / self.length).min(self.last_index);
        self.turn_at = match self.index == self.last_index {
            true => u64::MAX,
            false => self
                .start
                .saturating_add((self.index + 1).saturating_mul(self.length)),
        };
    }

    /// Hands over what was recorded last.
    pub(super) fn hand_over(&mut self) {
        for kind in OperationKind::ALL {
            if let Some(histograms) = &mut self.current[kind as usize]
                && !histograms.is_empty()
            {
                let index = u32::try_from(self.index).unwrap_or(u32::MAX);
                self.intervals.take_over(index, kind, histograms);
                histograms.completed = 0;
                histograms.latency.clear();
                histograms.service.clear();
            }
        }
    }
}
