//! Which keys may be read while others are being inserted: those whose insert was acknowledged.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::error::WorkloadError;

/// Inserts that may be under way, from the oldest one without an acknowledgement on.
const WINDOW: u64 = 1 << 20;

/// Hands out new keys and knows up to which one all are acknowledged. Shared by all workers, without a lock.
///
/// Used from one thread, it is a pure function of the calls. *Cost*: an atomic read to ask; a few atomic operations
/// for an insert; 4 MiB. *Source*: YCSB's `AcknowledgedCounterGenerator` has the same window, with a lock.
pub struct AcknowledgedKeys {
    next: AtomicU64,
    acknowledged: AtomicU64,
    /// By key modulo the window: the lap in which it was last acknowledged. Laps count from 1 and are never cleared, so
    /// that no thread can wipe out what another has just written.
    laps: Box<[AtomicU32]>,
}

impl AcknowledgedKeys {
    /// Keys `0..records` are there; the next one is `records`.
    pub fn new(records: u64) -> Self {
        Self {
            next: AtomicU64::new(records),
            acknowledged: AtomicU64::new(records),
            laps: (0..WINDOW).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Keys that are never added to.
    pub(in crate::keyed) fn fixed(records: u64) -> Self {
        Self {
            next: AtomicU64::new(records),
            acknowledged: AtomicU64::new(records),
            laps: Box::default(),
        }
    }

    /// All keys below this one are acknowledged.
    #[inline]
    pub fn count(&self) -> u64 {
        self.acknowledged.load(Ordering::Acquire)
    }

    /// A new key, which nobody may read before it is acknowledged.
    ///
    /// # Errors
    /// [`WorkloadError::TooManyUnacknowledged`] where 2²⁰ later keys were given out since the oldest that is not acknowledged.
    pub fn next(&self) -> Result<u64, WorkloadError> {
        let mut key_id = self.next.load(Ordering::Relaxed);
        loop {
            if key_id - self.count().min(key_id) >= self.laps.len() as u64 {
                return Err(WorkloadError::TooManyUnacknowledged {
                    oldest_key_id: self.count(),
                });
            }
            let exchanged =
                self.next
                    .compare_exchange_weak(key_id, key_id + 1, Ordering::Relaxed, Ordering::Relaxed);
            match exchanged {
                Ok(_) => return Ok(key_id),
                Err(seen) => key_id = seen,
            }
        }
    }

    /// The key that [`AcknowledgedKeys::next`] gave is stored. What was there before is so already, and nothing changes.
    pub fn acknowledge(&self, key_id: u64) {
        if key_id < self.count() || key_id >= self.next.load(Ordering::Relaxed) {
            return;
        }
        // Sequentially consistent: of two threads that each mark a key and then look for the other's mark, one sees it.
        self.lap_of(key_id).store(lap(key_id), Ordering::SeqCst);
        let mut count = self.acknowledged.load(Ordering::SeqCst);
        while self.lap_of(count).load(Ordering::SeqCst) == lap(count) {
            let exchanged =
                self.acknowledged
                    .compare_exchange(count, count + 1, Ordering::SeqCst, Ordering::SeqCst);
            count = match exchanged {
                Ok(_) => count + 1,
                Err(seen) => seen,
            };
        }
    }

    fn lap_of(&self, key_id: u64) -> &AtomicU32 {
        &self.laps[(key_id % WINDOW) as usize]
    }
}

const fn lap(key_id: u64) -> u32 {
    (key_id / WINDOW) as u32 + 1
}

impl fmt::Debug for AcknowledgedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcknowledgedKeys")
            .field("next", &self.next)
            .field("acknowledged", &self.acknowledged)
            .finish_non_exhaustive()
    }
}
