//! SIEVE. *Source*: Zhang et al., NSDI 2024, algorithm 1.

use super::Simulator;
use super::order::{Links, List};

pub(super) struct Sieve {
    capacity: u64,
    links: Links,
    keys: List,
    visited: Vec<bool>,
    /// The next candidate; none where the hand is to begin at the oldest.
    hand: Option<u32>,
}

impl Sieve {
    pub(super) fn new(capacity: u64, key_count: u32) -> Self {
        Self {
            capacity,
            links: Links::new(key_count),
            keys: List::new(1),
            visited: vec![false; key_count as usize],
            hand: None,
        }
    }

    fn evict(&mut self) {
        let mut candidate = self.hand.or_else(|| self.keys.oldest());
        while let Some(key) = candidate {
            let next = self.links.newer_than(key);
            if !self.visited[key as usize] {
                self.keys.remove(&mut self.links, key);
                self.hand = next;
                return;
            }
            self.visited[key as usize] = false;
            candidate = next.or_else(|| self.keys.oldest());
        }
    }
}

impl Simulator for Sieve {
    fn get(&mut self, key: u32) -> bool {
        let is_hit = self.links.has(key);
        if is_hit {
            self.visited[key as usize] = true;
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
                self.evict();
            }
            return;
        }
        while self.keys.weight() + u64::from(weight) > self.capacity {
            self.evict();
        }
        self.links.set_weight(key, weight);
        self.visited[key as usize] = false;
        self.keys.push(&mut self.links, key);
    }

    fn delete(&mut self, key: u32) {
        if self.links.has(key) {
            if self.hand == Some(key) {
                self.hand = self.links.newer_than(key);
            }
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
