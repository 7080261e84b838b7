//! S3-FIFO: a small queue for newcomers, a main queue for what was asked for again, a ghost for what just left.
//!
//! *Source*: Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023, algorithm 1, with its settings:
//! small takes a tenth, frequencies saturate at 3, an item moves to main when it was asked for more than once. The ghost
//! remembers hashes, not keys: a stranger is taken for a ghost once in about ten thousand lookups.

use super::ghost::Ghost;
use super::{Look, Subject};
use crate::store::entries::{Entries, Handle, NOBODY, Queue};

const SMALL: usize = 0;
const MAIN: usize = 1;

/// Its three queues.
#[derive(Debug, Default)]
pub(crate) struct S3Fifo {
    queues: [Queue; 2],
    ghost: Ghost,
}

impl S3Fifo {
    pub(crate) fn memory_bytes(&self) -> usize {
        self.ghost.memory_bytes()
    }

    pub(crate) fn queue_of(&mut self, entries: &Entries, handle: Handle) -> &mut Queue {
        &mut self.queues[entries.queue(handle) & 1]
    }

    #[inline]
    pub(crate) fn hit(entries: &mut Entries, handle: Handle) {
        let frequency = entries.frequency(handle);
        if frequency < 3 {
            entries.set_frequency(handle, frequency + 1);
        }
    }

    pub(crate) fn insert(&mut self, entries: &mut Entries, handle: Handle, subject: Subject) {
        let queue = if self.ghost.take(subject.hash) {
            MAIN
        } else {
            SMALL
        };
        entries.set_queue(handle, queue);
        entries.set_frequency(handle, 0);
        self.queues[queue].push(entries, handle, subject.weight);
    }

    fn advance(&mut self, entries: &mut Entries, handle: Handle, weight: u64, from: usize) {
        self.queues[from].unlink(entries, handle, weight);
        entries.set_queue(handle, MAIN);
        self.queues[MAIN].push(entries, handle, weight);
    }

    pub(crate) fn victim(&mut self, entries: &mut Entries, look: Look<'_>, capacity: u64) -> Handle {
        loop {
            let small = self.queues[SMALL];
            let is_small_due = small.weight * 10 >= capacity || self.queues[MAIN].tail == NOBODY;
            if is_small_due && small.tail != NOBODY {
                let oldest = small.tail;
                let subject = look(entries, oldest);
                if entries.frequency(oldest) > 1 {
                    entries.set_frequency(oldest, 0);
                    self.advance(entries, oldest, subject.weight, SMALL);
                    continue;
                }
                self.ghost.add(subject.hash, u64::from(entries.len()) * 9 / 10);
                return oldest;
            }
            let oldest = self.queues[MAIN].tail;
            if oldest == NOBODY {
                return NOBODY;
            }
            let frequency = entries.frequency(oldest);
            if frequency == 0 {
                return oldest;
            }
            let weight = look(entries, oldest).weight;
            entries.set_frequency(oldest, frequency - 1);
            self.advance(entries, oldest, weight, MAIN);
        }
    }
}
