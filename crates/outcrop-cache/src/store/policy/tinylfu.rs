//! W-TinyLFU: a window for newcomers, a segmented LRU for the rest, and a sketch that decides between them.
//!
//! *Source*: Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy", ACM TOS 2017: the window
//! takes 1 %, the protected segment 80 % of the rest; a newcomer that leaves the window stays if the sketch has seen it
//! more often than the oldest of the probation segment. Where sizes differ it has to outdo all those together that its
//! bytes would replace (Einziger, Eytan, Friedman and Manes, "Lightweight robust size aware cache management", ACM TOS 2022: aggregated victims);
//! with items of one size that is the same.

use super::sketch::Sketch;
use super::{Look, Subject};
use crate::store::entries::{Entries, Handle, NOBODY, Queue};

const WINDOW: usize = 0;
const PROBATION: usize = 1;
const PROTECTED: usize = 2;

/// From the mean size of this many items it is concluded how many will fit.
const ENOUGH_TO_FORESEE: u64 = 1024;
/// No memory is taken in advance for more.
const MOST_FORESEEN: u64 = 1 << 20;
/// A newcomer is held against no more residents than these, however large it is.
const MOST_COMPARED: usize = 64;
/// Newcomers that one insertion moves out of the window: after much room came at once, the next ones go on.
const MOST_SPILLED: usize = 64;
/// The sketch takes this part of a shard at most, rounded down to a power of two, which only items of less than 200 bytes reach.
const SKETCH_SHARE: usize = 4;

/// Its queues and its memory of frequencies.
#[derive(Debug)]
pub(crate) struct TinyLfu {
    queues: [Queue; 3],
    sketch: Sketch,
    /// The weight of all items when one last had to go; no limit before one had to.
    full_at: u64,
}

impl TinyLfu {
    /// Of a shard with this limit. The sketch is bounded: for tiny items, of which there are very many, it would take the memory that they need.
    pub(crate) fn within(limit_bytes: usize) -> Self {
        Self {
            queues: Default::default(),
            sketch: Sketch::within(limit_bytes / SKETCH_SHARE),
            full_at: u64::MAX,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.sketch.memory_bytes()
    }

    pub(crate) fn growth_bytes(&self) -> usize {
        self.sketch.growth_bytes()
    }

    pub(crate) fn queue_of(&mut self, entries: &Entries, handle: Handle) -> &mut Queue {
        &mut self.queues[entries.queue(handle).min(PROTECTED)]
    }

    fn shift(&mut self, entries: &mut Entries, handle: Handle, weight: u64, to: usize) {
        self.queue_of(entries, handle).unlink(entries, handle, weight);
        entries.set_queue(handle, to);
        self.queues[to].push(entries, handle, weight);
    }

    fn window_limit(capacity: u64) -> u64 {
        (capacity / 100).max(1)
    }

    pub(crate) fn hit(&mut self, entries: &mut Entries, handle: Handle, look: Look<'_>, capacity: u64) {
        let subject = look(entries, handle);
        self.sketch.add(subject.hash);
        let to = if entries.queue(handle) == WINDOW {
            WINDOW
        } else {
            PROTECTED
        };
        self.shift(entries, handle, subject.weight, to);
        let full = capacity.min(self.full_at);
        let protected_limit = (full - Self::window_limit(capacity).min(full)) * 4 / 5;
        while self.queues[PROTECTED].weight > protected_limit && self.queues[PROTECTED].tail != handle {
            let demoted = self.queues[PROTECTED].tail;
            let weight = look(entries, demoted).weight;
            self.shift(entries, demoted, weight, PROBATION);
        }
    }

    pub(crate) fn insert(
        &mut self,
        entries: &mut Entries,
        handle: Handle,
        subject: Subject,
        look: Look<'_>,
        capacity: u64,
    ) {
        entries.set_queue(handle, WINDOW);
        self.queues[WINDOW].push(entries, handle, subject.weight);
        // The shard made room for what an earlier item claimed before it took this one.
        self.sketch.grow();
        self.sketch
            .claim(self.expected_items(u64::from(entries.len()), subject, capacity));
        self.sketch.add(subject.hash);
        self.spill(entries, look, capacity);
    }

    /// How many items there will be when the cache is full: a sketch that has to grow takes its collisions along.
    fn expected_items(&self, items: u64, newest: Subject, capacity: u64) -> u64 {
        let total = self.weight();
        let expected = match newest.weight {
            // Items are counted, not their bytes.
            1 => capacity.min(MOST_FORESEEN),
            _ if items >= ENOUGH_TO_FORESEE => (items as f64 * capacity as f64 / total.max(1) as f64) as u64,
            _ => items,
        };
        items.max(expected)
    }

    fn weight(&self) -> u64 {
        self.queues.iter().map(|queue| queue.weight).sum()
    }

    /// Newcomers leave the window without comparison as long as the rest has room. Memory that is given back in larger pieces is full before
    /// items take all of it, and has room for several once one piece is free: what counts is how much there was when the last item had to go.
    fn spill(&mut self, entries: &mut Entries, look: Look<'_>, capacity: u64) {
        let limit = Self::window_limit(capacity);
        let full = capacity.min(self.full_at);
        let total = self.weight();
        for _ in 0..MOST_SPILLED {
            if self.queues[WINDOW].weight <= limit {
                break;
            }
            let candidate = self.queues[WINDOW].tail;
            if candidate == NOBODY {
                break;
            }
            let weight = look(entries, candidate).weight;
            let rest = total - self.queues[WINDOW].weight;
            if rest + weight > full - limit.min(full) {
                break;
            }
            self.shift(entries, candidate, weight, PROBATION);
        }
    }

    pub(crate) fn victim(&mut self, entries: &mut Entries, look: Look<'_>, capacity: u64) -> Handle {
        self.full_at = self.weight();
        let limit = Self::window_limit(capacity);
        let oldest = [PROBATION, PROTECTED, WINDOW]
            .map(|queue| self.queues[queue].tail)
            .into_iter()
            .find(|&tail| tail != NOBODY)
            .unwrap_or(NOBODY);
        let candidate = self.queues[WINDOW].tail;
        if candidate == NOBODY || self.queues[WINDOW].weight < limit || oldest == candidate {
            return oldest;
        }
        let newcomer = look(entries, candidate);
        if self.outdoes_residents(newcomer, oldest, entries, look) {
            self.shift(entries, candidate, newcomer.weight, PROBATION);
            return oldest;
        }
        candidate
    }

    /// Whether a newcomer is asked for more often than all those together that it would replace, from `oldest` on.
    fn outdoes_residents(
        &self,
        newcomer: Subject,
        oldest: Handle,
        entries: &Entries,
        look: Look<'_>,
    ) -> bool {
        let mut margin = self.sketch.estimate(newcomer.hash);
        let mut missing = newcomer.weight;
        let residents = std::iter::successors(Some(oldest), |&handle| Some(entries.newer(handle)));
        for handle in residents
            .take_while(|&handle| handle != NOBODY)
            .take(MOST_COMPARED)
        {
            let resident = look(entries, handle);
            let asked = self.sketch.estimate(resident.hash);
            if asked >= margin {
                return false;
            }
            margin -= asked;
            if resident.weight >= missing {
                break;
            }
            missing -= resident.weight;
        }
        true
    }
}
