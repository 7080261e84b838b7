//! One queue of keys: first in, first out; the same with used keys going back to its end, least recently used; and the
//! cache that refuses newcomers when it is full.

use super::Simulator;
use super::order::{Links, List};

pub(super) struct Queue {
    capacity: u64,
    /// Whether a used key goes back to the end.
    renews: bool,
    /// Whether a newcomer to a full cache takes the place of the first.
    evicts: bool,
    links: Links,
    keys: List,
}

impl Queue {
    pub(super) fn fifo(capacity: u64, key_count: u32) -> Self {
        Self {
            capacity,
            renews: false,
            evicts: true,
            links: Links::new(key_count),
            keys: List::new(1),
        }
    }

    pub(super) fn lru(capacity: u64, key_count: u32) -> Self {
        Self {
            renews: true,
            ..Self::fifo(capacity, key_count)
        }
    }

    pub(super) fn refusing(capacity: u64, key_count: u32) -> Self {
        Self {
            evicts: false,
            ..Self::fifo(capacity, key_count)
        }
    }
}

impl Simulator for Queue {
    fn get(&mut self, key: u32) -> bool {
        let is_hit = self.links.has(key);
        if is_hit && self.renews {
            self.keys.remove(&mut self.links, key);
            self.keys.push(&mut self.links, key);
        }
        is_hit
    }

    fn set_sized(&mut self, key: u32, weight: u32) {
        if u64::from(weight) > self.capacity {
            return self.delete(key);
        }
        if self.get(key) {
            self.keys.reweigh(&mut self.links, key, weight);
            while self.keys.weight() > self.capacity {
                self.keys.pop(&mut self.links);
            }
            return;
        }
        while self.keys.weight() + u64::from(weight) > self.capacity {
            if !self.evicts {
                return;
            }
            self.keys.pop(&mut self.links);
        }
        self.links.set_weight(key, weight);
        self.keys.push(&mut self.links, key);
    }

    fn delete(&mut self, key: u32) {
        if self.links.has(key) {
            self.keys.remove(&mut self.links, key);
        }
    }

    fn weight(&self) -> u64 {
        self.keys.weight()
    }

    fn len(&self) -> usize {
        self.keys.len()
    }
}
