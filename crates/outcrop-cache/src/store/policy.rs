//! Which item has to go: one module per eviction policy, all over queues threaded through the entries.

mod ghost;
mod s3fifo;
mod sieve;
mod sketch;
mod tinylfu;

use std::fmt;
use std::str::FromStr;

use super::entries::{Entries, Handle, NOBODY, Queue};
use crate::error::CacheError;
use s3fifo::S3Fifo;
use sieve::Sieve;
use tinylfu::TinyLfu;

/// Which items go when memory is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyKind {
    /// None: new items are refused.
    None,
    /// The oldest.
    Fifo,
    /// The one not asked for the longest.
    Lru,
    /// SIEVE: the oldest that was not asked for since a hand last passed it. (Zhang et al., NSDI 2024)
    Sieve,
    /// S3-FIFO: what is asked for only once leaves by a small queue. (Yang et al., SOSP 2023)
    #[default]
    S3Fifo,
    /// W-TinyLFU: a newcomer stays if it is asked for more often than what it would replace. (Einziger et al., ACM TOS 2017)
    TinyLfu,
}

impl PolicyKind {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Fifo,
        Self::Lru,
        Self::Sieve,
        Self::S3Fifo,
        Self::TinyLfu,
    ];

    /// Its one spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Fifo => "fifo",
            Self::Lru => "lru",
            Self::Sieve => "sieve",
            Self::S3Fifo => "s3-fifo",
            Self::TinyLfu => "w-tinylfu",
        }
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PolicyKind {
    type Err = CacheError;

    fn from_str(given: &str) -> Result<Self, CacheError> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == given)
            .ok_or_else(|| CacheError::UnknownPolicy {
                given: given.to_owned(),
            })
    }
}

/// What a policy may ask about an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) hash: u64,
    /// 1 where items are counted, else bytes.
    pub(crate) weight: u64,
}

/// Looks an item up for a policy.
pub(crate) type Look<'a> = &'a dyn Fn(&Entries, Handle) -> Subject;

/// A policy at work.
#[derive(Debug)]
pub(crate) enum Policy {
    /// Keeps the order of arrival only.
    None(Queue),
    Fifo(Queue),
    Lru(Queue),
    Sieve(Sieve),
    S3Fifo(S3Fifo),
    TinyLfu(TinyLfu),
}

impl Policy {
    /// A policy for a shard with this limit.
    pub(crate) fn new(kind: PolicyKind, limit_bytes: usize) -> Self {
        match kind {
            PolicyKind::None => Self::None(Queue::default()),
            PolicyKind::Fifo => Self::Fifo(Queue::default()),
            PolicyKind::Lru => Self::Lru(Queue::default()),
            PolicyKind::Sieve => Self::Sieve(Sieve::default()),
            PolicyKind::S3Fifo => Self::S3Fifo(S3Fifo::default()),
            PolicyKind::TinyLfu => Self::TinyLfu(TinyLfu::within(limit_bytes)),
        }
    }

    /// Memory that the policy itself holds.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::S3Fifo(policy) => policy.memory_bytes(),
            Self::TinyLfu(policy) => policy.memory_bytes(),
            _ => 0,
        }
    }

    /// Memory that the next insertion adds to it.
    pub(crate) fn growth_bytes(&self) -> usize {
        match self {
            Self::TinyLfu(policy) => policy.growth_bytes(),
            _ => 0,
        }
    }

    /// An item was asked for or overwritten.
    #[inline]
    pub(crate) fn hit(&mut self, entries: &mut Entries, handle: Handle, look: Look<'_>, capacity: u64) {
        match self {
            Self::None(_) | Self::Fifo(_) => {}
            Self::Lru(queue) => {
                if queue.head != handle {
                    // Its weight leaves with it and comes back: any number does.
                    queue.unlink(entries, handle, 0);
                    queue.push(entries, handle, 0);
                }
            }
            Self::Sieve(_) => entries.set_frequency(handle, 1),
            Self::S3Fifo(_) => S3Fifo::hit(entries, handle),
            Self::TinyLfu(policy) => policy.hit(entries, handle, look, capacity),
        }
    }

    /// A new item came in. `capacity` is in the unit of the weights.
    pub(crate) fn insert(
        &mut self,
        entries: &mut Entries,
        handle: Handle,
        subject: Subject,
        look: Look<'_>,
        capacity: u64,
    ) {
        match self {
            Self::None(queue) | Self::Fifo(queue) | Self::Lru(queue) => {
                queue.push(entries, handle, subject.weight);
            }
            Self::Sieve(policy) => policy.queue.push(entries, handle, subject.weight),
            Self::S3Fifo(policy) => policy.insert(entries, handle, subject),
            Self::TinyLfu(policy) => policy.insert(entries, handle, subject, look, capacity),
        }
    }

    /// An item goes, by eviction or otherwise.
    pub(crate) fn remove(&mut self, entries: &mut Entries, handle: Handle, weight: u64) {
        match self {
            Self::None(queue) | Self::Fifo(queue) | Self::Lru(queue) => queue.unlink(entries, handle, weight),
            Self::Sieve(policy) => policy.remove(entries, handle, weight),
            Self::S3Fifo(policy) => policy.queue_of(entries, handle).unlink(entries, handle, weight),
            Self::TinyLfu(policy) => policy.queue_of(entries, handle).unlink(entries, handle, weight),
        }
    }

    /// An item's weight changed while it stayed where it is.
    pub(crate) fn reweigh(&mut self, entries: &Entries, handle: Handle, old: u64, new: u64) {
        let queue = match self {
            Self::None(queue) | Self::Fifo(queue) | Self::Lru(queue) => queue,
            Self::Sieve(policy) => &mut policy.queue,
            Self::S3Fifo(policy) => policy.queue_of(entries, handle),
            Self::TinyLfu(policy) => policy.queue_of(entries, handle),
        };
        queue.weight = queue.weight + new - old;
    }

    /// The item to evict next; it stays in its queue until [`Policy::remove`]. `None` when there is none, or the policy refuses.
    pub(crate) fn victim(&mut self, entries: &mut Entries, look: Look<'_>, capacity: u64) -> Option<Handle> {
        let victim = match self {
            Self::None(_) => NOBODY,
            Self::Fifo(queue) | Self::Lru(queue) => queue.tail,
            Self::Sieve(policy) => policy.victim(entries),
            Self::S3Fifo(policy) => policy.victim(entries, look, capacity),
            Self::TinyLfu(policy) => policy.victim(entries, look, capacity),
        };
        (victim != NOBODY).then_some(victim)
    }
}
