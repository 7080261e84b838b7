//! Least recently used.

use super::Simulator;
use super::order::{Links, List};

pub(super) struct Lru {
    capacity: usize,
    links: Links,
    keys: List,
}

impl Lru {
    pub(super) fn new(capacity: usize, key_count: u32) -> Self {
        Self {
            capacity,
            links: Links::new(key_count),
            keys: List::new(1),
        }
    }
}

impl Simulator for Lru {
    fn get(&mut self, key: u32) -> bool {
        let is_hit = self.links.has(key);
        if is_hit {
            self.keys.remove(&mut self.links, key);
            self.keys.push(&mut self.links, key);
        }
        is_hit
    }

    fn set(&mut self, key: u32) {
        if self.get(key) {
            return;
        }
        if self.keys.len() >= self.capacity {
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
