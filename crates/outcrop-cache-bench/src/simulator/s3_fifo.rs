//! S3-FIFO: a small queue, a main queue, and a ghost of keys that left by the small one.
//! *Source*: Yang et al., SOSP 2023, algorithm 1; the ghost is exact.

use std::collections::VecDeque;

use super::Simulator;
use super::order::{Links, List};

pub(super) struct S3Fifo {
    capacity: u64,
    links: Links,
    small: List,
    main: List,
    uses: Vec<u8>,
    /// Keys that left, the newest first, each with the number of its leaving.
    ghost: VecDeque<(u32, u32)>,
    /// The number by which a key is in the ghost; 0 where it is not.
    ghost_of: Vec<u32>,
    leavings: u32,
    /// What the keys in the ghost weigh together.
    ghosts: u64,
}

const MOST_USES: u8 = 3;

impl S3Fifo {
    pub(super) fn new(capacity: u64, key_count: u32) -> Self {
        Self {
            capacity,
            links: Links::new(key_count),
            small: List::new(1),
            main: List::new(2),
            uses: vec![0; key_count as usize],
            ghost: VecDeque::new(),
            ghost_of: vec![0; key_count as usize],
            leavings: 0,
            ghosts: 0,
        }
    }

    fn evict(&mut self) {
        while self.small.weight() * 10 >= self.capacity || self.main.len() == 0 {
            let Some(oldest) = self.small.pop(&mut self.links) else {
                break;
            };
            if self.uses[oldest as usize] > 1 {
                self.uses[oldest as usize] = 0;
                self.main.push(&mut self.links, oldest);
            } else {
                return self.remember(oldest);
            }
        }
        while let Some(oldest) = self.main.pop(&mut self.links) {
            if self.uses[oldest as usize] == 0 {
                return;
            }
            self.uses[oldest as usize] -= 1;
            self.main.push(&mut self.links, oldest);
        }
    }

    fn remember(&mut self, key: u32) {
        self.leavings += 1;
        self.ghost.push_front((key, self.leavings));
        if std::mem::replace(&mut self.ghost_of[key as usize], self.leavings) == 0 {
            self.ghosts += self.links.weight(key);
        }
        while self.ghosts > self.capacity * 9 / 10 {
            let Some((oldest, number)) = self.ghost.pop_back() else {
                return;
            };
            // What came back since is no ghost any more, or a later one.
            if self.ghost_of[oldest as usize] == number {
                self.ghost_of[oldest as usize] = 0;
                self.ghosts -= self.links.weight(oldest);
            }
        }
    }
}

impl Simulator for S3Fifo {
    fn get(&mut self, key: u32) -> bool {
        let is_hit = self.links.has(key);
        if is_hit {
            let uses = &mut self.uses[key as usize];
            *uses = (*uses + 1).min(MOST_USES);
        }
        is_hit
    }

    fn set_sized(&mut self, key: u32, weight: u32) {
        if u64::from(weight) > self.capacity {
            return self.delete(key);
        }
        if self.get(key) {
            let list = if self.small.has(&self.links, key) {
                &mut self.small
            } else {
                &mut self.main
            };
            list.reweigh(&mut self.links, key, weight);
            while self.weight() > self.capacity {
                self.evict();
            }
            return;
        }
        while self.weight() + u64::from(weight) > self.capacity {
            self.evict();
        }
        let is_ghost = std::mem::take(&mut self.ghost_of[key as usize]) != 0;
        self.uses[key as usize] = 0;
        if is_ghost {
            self.ghosts -= self.links.weight(key);
        }
        self.links.set_weight(key, weight);
        let list = if is_ghost { &mut self.main } else { &mut self.small };
        list.push(&mut self.links, key);
    }

    fn delete(&mut self, key: u32) {
        if self.small.has(&self.links, key) {
            self.small.remove(&mut self.links, key);
        } else if self.main.has(&self.links, key) {
            self.main.remove(&mut self.links, key);
        }
    }

    fn weight(&self) -> u64 {
        self.small.weight() + self.main.weight()
    }

    fn len(&self) -> usize {
        self.small.len() + self.main.len()
    }
}
