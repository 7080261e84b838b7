//! Sweeping: finding items that have ended, where nothing may be evicted.
//!
//! A pass reads every item once, a bounded number of them for each set that finds no room, so that a refused set costs
//! about as much as one that is stored, however many items there are and whatever clients send.

use super::entries::Handle;
use super::item::Header;
use super::shard::Shard;

/// Items read for a set that finds no room,
const ITEMS: usize = 32;
/// and one more for this many bytes of the item that is to be stored.
const BYTES_PER_ITEM: usize = 256;

/// How far a pass has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    /// No item ends before this second: until then a pass is in vain.
    from: u32,
    /// The last handle that the pass has read.
    last: Handle,
    /// The earliest end of an item that was read, or written, since the pass began.
    earliest: u32,
}

impl Default for Sweep {
    fn default() -> Self {
        Self {
            from: u32::MAX,
            last: 0,
            earliest: u32::MAX,
        }
    }
}

impl Sweep {
    /// An item is about to end at this second; 0 is never.
    pub(crate) fn expects(&mut self, expiry: u32) {
        if expiry != 0 {
            self.from = self.from.min(expiry);
            self.earliest = self.earliest.min(expiry);
        }
    }

    /// How many items may be read for a set of this many bytes.
    pub(crate) const fn budget(len: usize) -> usize {
        ITEMS + len / BYTES_PER_ITEM
    }
}

impl Shard {
    /// Goes on with the pass until an item that has ended is found and removed, or the budget is spent; false when
    /// none was found.
    pub(crate) fn sweep(&mut self, now: u32, budget: &mut usize) -> bool {
        while now >= self.sweep.from && *budget > 0 {
            *budget -= 1;
            let handle = self.sweep.last + 1;
            let Some(place) = self.entries.walk(handle) else {
                (self.sweep.from, self.sweep.last) = (self.sweep.earliest, 0);
                continue;
            };
            if self.sweep.last == 0 {
                self.sweep.earliest = u32::MAX;
            }
            self.sweep.last = handle;
            self.counters.swept += 1;
            let Some(offset) = place else { continue };
            let expiry = Header::read(self.arena.at(offset)).expiry;
            if expiry != 0 && expiry <= now {
                self.remove(handle);
                self.counters.expired += 1;
                self.counters.swept_away += 1;
                return true;
            }
            self.sweep.expects(expiry);
        }
        false
    }
}
