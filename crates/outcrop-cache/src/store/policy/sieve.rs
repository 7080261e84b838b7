//! SIEVE: one queue and a hand. *Source*: Zhang et al., "SIEVE is simpler than LRU", NSDI 2024, algorithm 1.

use crate::store::entries::{Entries, Handle, NOBODY, Queue};

/// The queue and its hand; "visited" is a frequency above 0.
#[derive(Debug, Default)]
pub(crate) struct Sieve {
    pub(crate) queue: Queue,
    hand: Handle,
}

impl Sieve {
    pub(crate) fn remove(&mut self, entries: &mut Entries, handle: Handle, weight: u64) {
        if self.hand == handle {
            self.hand = entries.newer(handle);
        }
        self.queue.unlink(entries, handle, weight);
    }

    /// *Cost*: each visited item that the hand passes is passed once per visit.
    pub(crate) fn victim(&mut self, entries: &mut Entries) -> Handle {
        let mut at = if self.hand == NOBODY {
            self.queue.tail
        } else {
            self.hand
        };
        while at != NOBODY && entries.frequency(at) > 0 {
            entries.set_frequency(at, 0);
            let newer = entries.newer(at);
            at = if newer == NOBODY { self.queue.tail } else { newer };
        }
        self.hand = at;
        at
    }
}
