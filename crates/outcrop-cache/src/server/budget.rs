//! Memory of all connections' buffers: it comes out of the store's limit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::store::{PolicyKind, Store};

/// Buffers up to here are within the slack that the limit has for the process.
const FREE_BYTES: u64 = 1 << 20;
/// The store is asked for memory in steps of this size.
const STEP_BYTES: u64 = 2 << 20;
/// Enough for a thousand transfers of 1 MiB at once.
const MOST_ASIDE_BYTES: u64 = 1 << 30;

/// What may wait with the longest item beyond what is free: its request's head, and requests behind it.
const BESIDE_ITEM_BYTES: u64 = 128 << 10;

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
    /// Changed under `reserving` only.
    reserved: AtomicU64,
    reserving: Mutex<()>,
    /// Set aside for good.
    aside: u64,
    /// Beyond, the silent have to go,
    most_bytes: u64,
    /// and beyond this anybody.
    spent_bytes: u64,
}

impl Budget {
    /// Buffers may take up to a quarter of the limit, and for the moment in which others give memory back, a quarter more
    /// than that. Where nothing can be evicted for them, a quarter in all is set aside from the start, up to a limit.
    /// A request for the longest item, or its reply, always has room.
    pub(crate) fn new(memory_bytes: u64, store: &Store) -> Self {
        let quarter = memory_bytes / 4;
        let longest = match store.max_item_bytes() as u64 {
            // Free, and as much again of replies that wait before it.
            ..=FREE_BYTES => 0,
            longer => longer + BESIDE_ITEM_BYTES,
        };
        let (aside, most_bytes, spent_bytes) = if store.policy() == PolicyKind::None {
            let aside = quarter.min(MOST_ASIDE_BYTES).max(longest);
            // An empty store has all of it.
            store.reserve(aside, 1);
            (aside, aside * 4 / 5, aside)
        } else {
            (0, quarter, quarter + quarter / 4)
        };
        Self {
            held: AtomicU64::new(0),
            reserved: AtomicU64::new(aside),
            reserving: Mutex::default(),
            aside,
            most_bytes: most_bytes.max(longest),
            spent_bytes: spent_bytes.max(longest),
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
        let needed = self.held_bytes().saturating_sub(FREE_BYTES);
        if needed > self.spent_bytes || !self.has_reserved(needed, store, now) {
            return Standing::Spent;
        }
        if needed > self.most_bytes {
            Standing::Short
        } else {
            Standing::Enough
        }
    }

    /// False where the store cannot give that much.
    fn has_reserved(&self, needed: u64, store: &Store, now: u32) -> bool {
        // Given back late, so that a buffer that comes and goes costs the store nothing.
        let fits = |reserved| needed <= reserved && reserved <= self.aside.max(needed + 2 * STEP_BYTES);
        if fits(self.reserved.load(Ordering::Relaxed)) {
            return true;
        }
        let reserving = self.reserving.lock().unwrap_or_else(PoisonError::into_inner);
        let reserved = self.reserved.load(Ordering::Relaxed);
        if fits(reserved) {
            return true;
        }
        let step = needed.next_multiple_of(STEP_BYTES).max(self.aside);
        let has_reserved = store.reserve(step, now);
        if has_reserved {
            self.reserved.store(step, Ordering::Relaxed);
        } else {
            store.reserve(reserved, now);
        }
        drop(reserving);
        has_reserved
    }
}
