//! W-TinyLFU: a window of newcomers, and a main space in two segments that a newcomer enters only when it is asked for
//! more often than what it would replace. *Source*: Einziger et al., ACM TOS 2017; counts are exact, halved every ten
//! capacities, where the paper has a sketch.

use super::Simulator;
use super::order::{Links, List};

pub(super) struct TinyLfu {
    capacity: usize,
    links: Links,
    window: List,
    probation: List,
    protected: List,
    counts: Vec<u8>,
    seen: usize,
}

const MOST_COUNT: u8 = 15;

impl TinyLfu {
    pub(super) fn new(capacity: usize, key_count: u32) -> Self {
        Self {
            capacity,
            links: Links::new(key_count),
            window: List::new(1),
            probation: List::new(2),
            protected: List::new(3),
            counts: vec![0; key_count as usize],
            seen: 0,
        }
    }

    fn count(&mut self, key: u32) {
        let count = &mut self.counts[key as usize];
        *count = (*count + 1).min(MOST_COUNT);
        self.seen += 1;
        if self.seen >= 10 * self.capacity.next_power_of_two() {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.seen /= 2;
        }
    }

    fn window_limit(&self) -> usize {
        (self.capacity / 100).max(1)
    }

    fn main_limit(&self) -> usize {
        self.capacity.saturating_sub(self.window_limit())
    }

    /// Where the main space loses a key.
    fn losing(&mut self) -> &mut List {
        if self.probation.len() > 0 {
            &mut self.probation
        } else {
            &mut self.protected
        }
    }

    fn make_room(&mut self) {
        if self.window.len() < self.window_limit() {
            if let Some(oldest) = self.losing().oldest() {
                self.remove(oldest);
            }
            return;
        }
        let Some(newcomer) = self.window.pop(&mut self.links) else {
            return;
        };
        let Some(resident) = self.losing().oldest() else {
            return;
        };
        if self.counts[newcomer as usize] > self.counts[resident as usize] {
            self.remove(resident);
            self.probation.push(&mut self.links, newcomer);
        }
    }

    fn remove(&mut self, key: u32) {
        for list in [&mut self.window, &mut self.probation, &mut self.protected] {
            if list.has(&self.links, key) {
                return list.remove(&mut self.links, key);
            }
        }
    }
}

impl Simulator for TinyLfu {
    fn get(&mut self, key: u32) -> bool {
        if !self.links.has(key) {
            return false;
        }
        self.count(key);
        if self.window.has(&self.links, key) {
            self.window.remove(&mut self.links, key);
            self.window.push(&mut self.links, key);
            return true;
        }
        self.remove(key);
        self.protected.push(&mut self.links, key);
        if self.protected.len() > self.main_limit() * 4 / 5
            && let Some(demoted) = self.protected.pop(&mut self.links)
        {
            self.probation.push(&mut self.links, demoted);
        }
        true
    }

    fn set(&mut self, key: u32) {
        if self.get(key) {
            return;
        }
        let main = self.probation.len() + self.protected.len();
        if self.window.len() >= self.window_limit()
            && main < self.main_limit()
            && let Some(oldest) = self.window.pop(&mut self.links)
        {
            self.probation.push(&mut self.links, oldest);
        }
        if self.len() >= self.capacity {
            self.make_room();
        }
        self.count(key);
        self.window.push(&mut self.links, key);
    }

    fn delete(&mut self, key: u32) {
        self.remove(key);
    }

    fn len(&self) -> usize {
        self.window.len() + self.probation.len() + self.protected.len()
    }
}
