//! What one thread asks for in one phase, and when.

use std::sync::Arc;

use outcrop_workload::Schedule;
use outcrop_workload::keyed::{RequestKind, Requests, Trace};

use super::book::{Book, Planned};

/// Requests in their order, with the times at which they are due in an open loop.
pub(super) struct Feed {
    source: Source,
    /// Due times of generated requests; none in a closed loop.
    schedule: Option<Schedule>,
    is_open_loop: bool,
    /// Requests that it still gives; none where it does not count them.
    left: Option<u64>,
    /// The next request of an open loop, and when it is due, in nanoseconds from the start of the phase.
    ahead: Option<(u64, Planned)>,
    /// When a request behind the last one would be due by the schedule; none as long as there are requests.
    end_ns: Option<u64>,
}

pub(super) enum Source {
    /// Drawn, without end.
    Drawn(Requests),
    /// Every key once, from the least popular to the most popular one, each thread its share.
    EveryKey { left: u64, step: u64 },
    /// So many sets of drawn keys.
    Sets { left: u64, requests: Requests },
    /// One thread's share of a trace: that of its keys.
    Trace {
        trace: Arc<Trace>,
        next: usize,
        /// Entries of the trace, of any thread, that may still be read.
        left: usize,
        share: (u64, u64),
    },
}

impl Feed {
    pub(super) const fn closed(source: Source) -> Self {
        Self {
            source,
            schedule: None,
            is_open_loop: false,
            left: None,
            ahead: None,
            end_ns: None,
        }
    }

    /// The same requests, at most this many.
    pub(super) fn limited_to(mut self, requests: Option<u64>) -> Self {
        // An open loop has looked at its first one already.
        self.left = requests.map(|requests| requests.saturating_sub(u64::from(self.ahead.is_some())));
        self
    }

    /// An open loop by a schedule, or by the trace's own times.
    pub(super) fn open(source: Source, schedule: Option<Schedule>, book: &Book) -> Self {
        let mut feed = Self {
            source,
            schedule,
            is_open_loop: true,
            left: None,
            ahead: None,
            end_ns: None,
        };
        feed.look_ahead(book);
        feed
    }

    pub(super) const fn is_open_loop(&self) -> bool {
        self.is_open_loop
    }

    /// The next request of a closed loop.
    #[inline]
    pub(super) fn next(&mut self, book: &Book) -> Option<Planned> {
        self.draw(book).map(|(_, planned)| planned)
    }

    /// When the next request of an open loop is due.
    #[inline]
    pub(super) fn next_due_ns(&self) -> Option<u64> {
        self.ahead.map(|(due_ns, _)| due_ns)
    }

    /// When one more would be due, once a number of requests by a schedule is taken.
    pub(super) const fn end_ns(&self) -> Option<u64> {
        self.end_ns
    }

    /// Takes the next request of an open loop.
    #[inline]
    pub(super) fn take(&mut self, book: &Book) -> Option<(u64, Planned)> {
        let taken = self.ahead.take();
        self.look_ahead(book);
        taken
    }

    fn look_ahead(&mut self, book: &Book) {
        self.ahead = self.draw(book).map(|(recorded_ns, planned)| {
            let due_ns = match &mut self.schedule {
                Some(schedule) => schedule.next_ns(),
                None => recorded_ns,
            };
            (due_ns, planned)
        });
        if self.ahead.is_none() {
            self.end_ns = self.schedule.as_mut().map(Schedule::next_ns);
        }
    }

    /// The next request, and its recorded time.
    #[inline]
    fn draw(&mut self, book: &Book) -> Option<(u64, Planned)> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        match &mut self.source {
            Source::Drawn(requests) => {
                let request = requests.next_request();
                Some((0, book.plan(request.kind, request.key_id)))
            }
            Source::EveryKey { left, step } => {
                let key_id = left.checked_sub(1)?;
                *left = left.saturating_sub(*step);
                Some((0, book.plan(RequestKind::Set, key_id)))
            }
            Source::Sets { left, requests } => {
                *left = left.checked_sub(1)?;
                Some((0, book.plan(RequestKind::Set, requests.next_request().key_id)))
            }
            Source::Trace {
                trace,
                next,
                left,
                share,
            } => {
                let (part, parts) = *share;
                loop {
                    *left = left.checked_sub(1)?;
                    let entry = trace.entries().get(*next)?;
                    *next += 1;
                    if entry.key_id % parts == part {
                        let planned = Planned {
                            kind: entry.kind,
                            key_id: entry.key_id,
                            value_size_bytes: entry.value_size_bytes,
                            ttl_s: entry.ttl_s,
                        };
                        return Some((entry.at_ns, planned));
                    }
                }
            }
        }
    }
}
