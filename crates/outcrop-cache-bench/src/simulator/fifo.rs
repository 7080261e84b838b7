//! First in, first out; and the cache that refuses when it is full.

use super::Simulator;
use super::order::{Links, List};

pub(super) struct Fifo {
    capacity: usize,
    evicts: bool,
    links: Links,
    keys: List,
}

impl Fifo {
    pub(super) fn new(capacity: usize, key_count: u32) -> Self {
        Self {
            capacity,
            evicts: true,
            links: Links::new(key_count),
            keys: List::new(1),
        }
    }

    pub(super) fn refusing(capacity: usize, key_count: u32) -> Self {
        Self {
            evicts: false,
            ..Self::new(capacity, key_count)
        }
    }
}

impl Simulator for Fifo {
    fn get(&mut self, key: u32) -> bool {
        self.links.has(key)
    }

    fn set(&mut self, key: u32) {
        if self.links.has(key) {
            return;
        }
        if self.keys.len() >= self.capacity {
            if !self.evicts {
                return;
            }
            self.keys.pop(&mut self.links);
        }
        self.keys.push(&mut self.links, key);
    }

    fn delete(&mut self, key: u32) {
        if self.links.has(key) {
            self.keys.remove(&mut self.links, key);
        }
    }

    fn len(&self) -> usize {
        self.keys.len()
    }
}
