//! Textbook simulators of the eviction policies: plain lists of keys, written for reading and not for speed.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// A cache of so many keys; `ask` is true on a hit, and a miss brings the key in.
pub(crate) trait Simulator {
    fn ask(&mut self, key: u64) -> bool;
}

/// First in, first out.
pub(crate) struct Fifo {
    pub(crate) capacity: usize,
    pub(crate) queue: VecDeque<u64>,
    pub(crate) present: HashSet<u64>,
}

impl Fifo {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            queue: VecDeque::new(),
            present: HashSet::new(),
        }
    }
}

impl Simulator for Fifo {
    fn ask(&mut self, key: u64) -> bool {
        if !self.present.insert(key) {
            return true;
        }
        if self.queue.len() == self.capacity {
            let oldest = self.queue.pop_back().unwrap();
            self.present.remove(&oldest);
        }
        self.queue.push_front(key);
        false
    }
}

/// Least recently used: keys by the time of their last use.
pub(crate) struct Lru {
    capacity: usize,
    time: u64,
    used: HashMap<u64, u64>,
    by_time: BTreeMap<u64, u64>,
}

impl Lru {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            time: 0,
            used: HashMap::new(),
            by_time: BTreeMap::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.used.len()
    }

    pub(crate) fn contains(&self, key: u64) -> bool {
        self.used.contains_key(&key)
    }

    pub(crate) fn touch(&mut self, key: u64) {
        self.time += 1;
        if let Some(before) = self.used.insert(key, self.time) {
            self.by_time.remove(&before);
        }
        self.by_time.insert(self.time, key);
    }

    pub(crate) fn oldest(&self) -> Option<u64> {
        self.by_time.values().next().copied()
    }

    pub(crate) fn remove(&mut self, key: u64) {
        let time = self.used.remove(&key).unwrap();
        self.by_time.remove(&time);
    }
}

impl Simulator for Lru {
    fn ask(&mut self, key: u64) -> bool {
        let hit = self.contains(key);
        if !hit && self.len() == self.capacity {
            let oldest = self.oldest().unwrap();
            self.remove(oldest);
        }
        self.touch(key);
        hit
    }
}

/// SIEVE: `queue[0]` is the newest; the hand is the place of the next candidate.
pub(crate) struct Sieve {
    capacity: usize,
    queue: Vec<u64>,
    visited: HashMap<u64, bool>,
    hand: Option<usize>,
}

impl Sieve {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            queue: Vec::new(),
            visited: HashMap::new(),
            hand: None,
        }
    }
}

impl Simulator for Sieve {
    fn ask(&mut self, key: u64) -> bool {
        if let Some(visited) = self.visited.get_mut(&key) {
            *visited = true;
            return true;
        }
        if self.queue.len() == self.capacity {
            let mut at = self.hand.unwrap_or(self.queue.len() - 1);
            while self.visited[&self.queue[at]] {
                self.visited.insert(self.queue[at], false);
                at = if at == 0 { self.queue.len() - 1 } else { at - 1 };
            }
            let evicted = self.queue.remove(at);
            self.visited.remove(&evicted);
            self.hand = at.checked_sub(1);
        }
        self.queue.insert(0, key);
        self.hand = self.hand.map(|hand| hand + 1);
        self.visited.insert(key, false);
        false
    }
}

/// S3-FIFO as in algorithm 1 of its paper, with an exact ghost.
pub(crate) struct S3Fifo {
    capacity: usize,
    small: VecDeque<u64>,
    main: VecDeque<u64>,
    ghost: VecDeque<u64>,
    frequency: HashMap<u64, u32>,
}

impl S3Fifo {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            small: VecDeque::new(),
            main: VecDeque::new(),
            ghost: VecDeque::new(),
            frequency: HashMap::new(),
        }
    }

    fn evict(&mut self) {
        if self.small.len() * 10 >= self.capacity || self.main.is_empty() {
            while let Some(oldest) = self.small.pop_back() {
                if self.frequency[&oldest] > 1 {
                    self.frequency.insert(oldest, 0);
                    self.main.push_front(oldest);
                    if self.small.len() * 10 < self.capacity && !self.main.is_empty() {
                        return self.evict_main();
                    }
                    continue;
                }
                self.frequency.remove(&oldest);
                self.ghost.push_front(oldest);
                self.ghost.truncate(self.capacity * 9 / 10);
                return;
            }
        }
        self.evict_main();
    }

    fn evict_main(&mut self) {
        while let Some(oldest) = self.main.pop_back() {
            let frequency = self.frequency.get_mut(&oldest).unwrap();
            if *frequency == 0 {
                self.frequency.remove(&oldest);
                return;
            }
            *frequency -= 1;
            self.main.push_front(oldest);
        }
    }
}

impl Simulator for S3Fifo {
    fn ask(&mut self, key: u64) -> bool {
        if let Some(frequency) = self.frequency.get_mut(&key) {
            *frequency = (*frequency + 1).min(3);
            return true;
        }
        while self.frequency.len() >= self.capacity {
            self.evict();
        }
        if let Some(place) = self.ghost.iter().position(|&ghost| ghost == key) {
            self.ghost.remove(place);
            self.main.push_front(key);
        } else {
            self.small.push_front(key);
        }
        self.frequency.insert(key, 0);
        false
    }
}

/// W-TinyLFU with exact counts that are halved every ten capacities, in place of the sketch.
pub(crate) struct TinyLfu {
    capacity: usize,
    window: Lru,
    probation: Lru,
    protected: Lru,
    counts: HashMap<u64, u32>,
    seen: usize,
}

impl TinyLfu {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            window: Lru::new(0),
            probation: Lru::new(0),
            protected: Lru::new(0),
            counts: HashMap::new(),
            seen: 0,
        }
    }

    fn count(&mut self, key: u64) {
        let count = self.counts.entry(key).or_default();
        *count = (*count + 1).min(15);
        self.seen += 1;
        if self.seen >= 10 * self.capacity.next_power_of_two() {
            self.counts.values_mut().for_each(|count| *count /= 2);
            self.counts.retain(|_, count| *count > 0);
            self.seen /= 2;
        }
    }

    fn window_limit(&self) -> usize {
        (self.capacity / 100).max(1)
    }

    fn frequency(&self, key: u64) -> u32 {
        self.counts.get(&key).copied().unwrap_or(0)
    }

    fn make_room(&mut self) {
        if self.window.len() < self.window_limit() {
            let main = if self.probation.len() > 0 {
                &mut self.probation
            } else {
                &mut self.protected
            };
            let oldest = main.oldest().unwrap();
            return main.remove(oldest);
        }
        let candidate = self.window.oldest().unwrap();
        self.window.remove(candidate);
        let main = if self.probation.len() > 0 {
            &mut self.probation
        } else {
            &mut self.protected
        };
        let Some(oldest) = main.oldest() else { return };
        let (newcomer, resident) = (self.frequency(candidate), self.frequency(oldest));
        if newcomer > resident {
            let main = if self.probation.len() > 0 {
                &mut self.probation
            } else {
                &mut self.protected
            };
            main.remove(oldest);
            self.probation.touch(candidate);
        }
    }
}

impl Simulator for TinyLfu {
    fn ask(&mut self, key: u64) -> bool {
        if self.window.contains(key) {
            self.count(key);
            self.window.touch(key);
            return true;
        }
        if self.probation.contains(key) || self.protected.contains(key) {
            self.count(key);
            if self.probation.contains(key) {
                self.probation.remove(key);
            }
            self.protected.touch(key);
            if self.protected.len() > (self.capacity - self.window_limit()) * 4 / 5 {
                let demoted = self.protected.oldest().unwrap();
                self.protected.remove(demoted);
                self.probation.touch(demoted);
            }
            return true;
        }
        let main = self.probation.len() + self.protected.len();
        if self.window.len() >= self.window_limit() && main < self.capacity - self.window_limit() {
            let candidate = self.window.oldest().unwrap();
            self.window.remove(candidate);
            self.probation.touch(candidate);
        }
        if self.window.len() + self.probation.len() + self.protected.len() >= self.capacity {
            self.make_room();
        }
        self.count(key);
        self.window.touch(key);
        false
    }
}
