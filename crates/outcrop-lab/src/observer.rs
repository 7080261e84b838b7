//! What a run tells its caller while it goes on; what is shown and how is the caller's matter.

use std::time::Duration;

use outcrop_results::TrialEntry;

use crate::cell::Cell;

/// Something that happened in a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The subject is being made.
    Preparing {
        /// Bytes written so far.
        bytes_done: u64,
        /// Bytes in all.
        bytes_total: u64,
        /// Time that the whole run will still take.
        remaining: Duration,
    },
    /// A trial starts.
    TrialStarted {
        /// Trials finished before it, those of earlier sessions of the run too.
        finished: usize,
        /// Trials of the run in all.
        total: usize,
        /// What is measured.
        cell: &'e Cell,
        /// Number of the repetition, from 0.
        repetition: u32,
        /// Time that the run will still take, this trial included.
        remaining: Duration,
    },
    /// A trial ended and is safe in the journal.
    TrialFinished {
        /// Trials finished, this one included when it completed.
        finished: usize,
        /// Trials of the run in all.
        total: usize,
        /// What was measured.
        cell: &'e Cell,
        /// The trial as it was written.
        entry: &'e TrialEntry,
        /// Time that the run will still take.
        remaining: Duration,
    },
    /// Something worth knowing.
    Note(&'e str),
    /// Something that may spoil the results.
    Warning(&'e str),
}

/// Whoever watches a run. Any `FnMut(Event)` is one.
pub trait Observer {
    /// Called for each event, between operations that are measured and never during one.
    fn observe(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>)> Observer for F {
    fn observe(&mut self, event: Event<'_>) {
        self(event);
    }
}
