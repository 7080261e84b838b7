//! When each request was handed over, where its submission is timed apart from its completion.

use outcrop_workload::LatencyParts;

use crate::spec::JobSpec;

/// The end of the last submission in each slot.
///
/// A kernel that is short of memory may take some of what it is handed with a later call; their submission is counted as
/// shorter than it was.
#[derive(Debug)]
pub(crate) struct HandOvers {
    /// By slot, in ticks.
    at: Box<[u64]>,
    /// Slots that were made ready and not handed over.
    ready: Vec<u32>,
}

impl HandOvers {
    /// None where requests are timed as a whole.
    pub(crate) fn of(spec: &JobSpec) -> Option<Self> {
        (spec.latency_parts == LatencyParts::Apart).then(|| Self {
            at: vec![0; spec.queue_depth as usize].into(),
            ready: Vec::with_capacity(spec.queue_depth as usize),
        })
    }

    pub(crate) fn make_ready(&mut self, slot: u32) {
        self.ready.push(slot);
    }

    pub(crate) fn is_any_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// All that is ready was handed over until `now`.
    pub(crate) fn complete(&mut self, now: u64) {
        for slot in self.ready.drain(..) {
            self.at[slot as usize] = now;
        }
    }

    /// When the request in a slot was handed over, in ticks.
    pub(crate) fn of_slot(&self, slot: u32) -> u64 {
        self.at[slot as usize]
    }
}
