//! Memory of all connections' buffers: it comes out of the store's limit.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::Store;

/// Buffers up to here are within the slack that the limit has for the process.
const FREE_BYTES: u64 = 1 << 20;
/// The store is asked for memory in steps of this size.
const STEP_BYTES: u64 = 2 << 20;

/// How buffers stand against what they may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Enough,
    /// More than they may have for long: who is silent has to go.
    Short,
    /// There is no more memory: the connection that asks for it is closed, if no other can be.
    Spent,
}

/// How much buffers hold, and how much of the limit is set aside for them.
#[derive(Debug)]
pub(crate) struct Budget {
    held: AtomicU64,
    reserved: AtomicU64,
    most_bytes: u64,
}

impl Budget {
    /// Buffers may take up to a quarter of the limit, and for the moment in which others give memory back, a quarter more
    /// than that.
    pub(crate) const fn new(memory_bytes: u64) -> Self {
        Self {
            held: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            most_bytes: memory_bytes / 4,
        }
    }

    pub(crate) fn held_bytes(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// More than half of what buffers may take is taken: queues have to be short.
    pub(crate) fn is_scarce(&self) -> bool {
        self.held_bytes() > FREE_BYTES.max(self.most_bytes / 2)
    }

    /// A connection's buffers changed.
    pub(crate) fn change(&self, from: usize, to: usize) {
        if from != to {
            // Modulo 2^64, as is the sum.
            self.held
                .fetch_add((to as u64).wrapping_sub(from as u64), Ordering::Relaxed);
        }
    }

    pub(crate) fn give_back(&self, bytes: usize) {
        self.change(bytes, 0);
    }

    /// Sets aside as much of the store's limit as buffers need.
    pub(crate) fn settle(&self, store: &Store, now: u32) -> Standing {
        let held = self.held_bytes();
        let needed = held.saturating_sub(FREE_BYTES);
        let reserved = self.reserved.load(Ordering::Relaxed);
        if needed > self.most_bytes + self.most_bytes / 4 {
            return Standing::Spent;
        }
        // Given back late, so that a buffer that comes and goes costs the store nothing.
        if needed > reserved || needed + 2 * STEP_BYTES < reserved {
            let step = needed.next_multiple_of(STEP_BYTES);
            self.reserved.store(step, Ordering::Relaxed);
            if !store.reserve(step, now) {
                return Standing::Spent;
            }
        }
        if needed > self.most_bytes {
            Standing::Short
        } else {
            Standing::Enough
        }
    }
}
