//! W-TinyLFU: a window of newcomers, and a main space in two segments that a newcomer enters only when it is asked for
//! more often than what it would replace. *Source*: Einziger et al., ACM TOS 2017; counts are exact, halved every ten
//! capacities, where the paper has a sketch.

use super::Simulator;
use super::order::{Links, List};

pub(super) struct TinyLfu {
    capacity: u64,
    links: Links,
    window: List,
    probation: List,
    protected: List,
    counts: Vec<u8>,
    seen: usize,
    /// Keys that it held at most: its capacity in keys, as far as is known.
    most_held: usize,
}

const MOST_COUNT: u8 = 15;
/// Counts are not halved more often than in a cache of this many keys.
const LEAST_HELD: usize = 64;

impl TinyLfu {
    pub(super) fn new(capacity: u64, key_count: u32) -> Self {
        Self {
            capacity,
            links: Links::new(key_count),
            window: List::new(1),
            probation: List::new(2),
            protected: List::new(3),
            counts: vec![0; key_count as usize],
            seen: 0,
            most_held: LEAST_HELD,
        }
    }

    fn count(&mut self, key: u32) {
        let count = &mut self.counts[key as usize];
        *count = (*count + 1).min(MOST_COUNT);
        self.seen += 1;
        if self.seen >= 10 * self.most_held.next_power_of_two() {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.seen /= 2;
        }
    }

    fn window_limit(&self) -> u64 {
        (self.capacity / 100).max(1)
    }

    fn main_limit(&self) -> u64 {
        self.capacity.saturating_sub(self.window_limit())
    }

    fn main_weight(&self) -> u64 {
        self.probation.weight() + self.protected.weight()
    }

    /// What a newcomer would replace: none where it is not asked for more often than each of them, or has no room at all.
    fn victims(&self, newcomer: u32) -> Option<Vec<u32>> {
        let weight = self.links.weight(newcomer);
        let mut room = self.main_limit().saturating_sub(self.main_weight());
        let mut victims = Vec::new();
        for list in [&self.probation, &self.protected] {
            let mut candidate = list.oldest();
            while room < weight
                && let Some(resident) = candidate
            {
                if self.counts[newcomer as usize] <= self.counts[resident as usize] {
                    return None;
                }
                room += self.links.weight(resident);
                victims.push(resident);
                candidate = self.links.newer_than(resident);
            }
        }
        (room >= weight).then_some(victims)
    }

    /// What has grown too old for the window enters the main space, or is gone.
    fn leave_window(&mut self) {
        while self.window.weight() > self.window_limit()
            && let Some(newcomer) = self.window.pop(&mut self.links)
        {
            if let Some(victims) = self.victims(newcomer) {
                victims.into_iter().for_each(|resident| self.remove(resident));
                self.probation.push(&mut self.links, newcomer);
            }
        }
    }

    fn demote(&mut self) {
        while self.protected.weight() > self.main_limit() * 4 / 5
            && let Some(demoted) = self.protected.pop(&mut self.links)
        {
            self.probation.push(&mut self.links, demoted);
        }
    }

    /// A key that is there has another size now.
    fn reweigh(&mut self, key: u32, weight: u32) {
        for list in [&mut self.window, &mut self.probation, &mut self.protected] {
            if list.has(&self.links, key) {
                list.reweigh(&mut self.links, key, weight);
                break;
            }
        }
        self.demote();
        while self.main_weight() > self.main_limit()
            && let Some(oldest) = self.probation.oldest().or_else(|| self.protected.oldest())
        {
            self.remove(oldest);
        }
        self.leave_window();
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
        self.demote();
        true
    }

    fn set_sized(&mut self, key: u32, weight: u32) {
        if u64::from(weight) > self.capacity {
            return self.delete(key);
        }
        if self.get(key) {
            self.reweigh(key, weight);
            return;
        }
        self.links.set_weight(key, weight);
        self.count(key);
        self.window.push(&mut self.links, key);
        self.leave_window();
        self.most_held = self.most_held.max(self.len());
    }

    fn delete(&mut self, key: u32) {
        self.remove(key);
    }

    fn weight(&self) -> u64 {
        self.window.weight() + self.main_weight()
    }

    fn len(&self) -> usize {
        self.window.len() + self.probation.len() + self.protected.len()
    }
}
