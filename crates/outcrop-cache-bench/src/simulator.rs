//! Textbook simulators of eviction policies: lists of keys, each key of the same weight, no byte of a value.
//!
//! They share nothing with the server's store, so that a hit ratio that both arrive at is no accident.

mod order;

mod queue;
mod s3_fifo;
mod sieve;
mod tiny_lfu;

use outcrop_cache::store::PolicyKind;

/// A cache of so many keys; keys are numbers below the count that it was made for.
pub trait Simulator {
    /// Asks for a key; whether it was there.
    fn get(&mut self, key: u32) -> bool;
    /// Stores a key: a use of it where it is there, a newcomer otherwise.
    fn set(&mut self, key: u32);
    /// Removes a key.
    fn delete(&mut self, key: u32);
    /// Keys that are there.
    fn len(&self) -> usize;
    /// Whether no key is there.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The simulator of a policy, for `capacity` of `key_count` keys. *Cost*: up to 40 bytes a key of either.
pub fn simulator(policy: PolicyKind, capacity: usize, key_count: u32) -> Box<dyn Simulator> {
    let capacity = capacity.max(1);
    match policy {
        PolicyKind::None => Box::new(queue::Queue::refusing(capacity, key_count)),
        PolicyKind::Fifo => Box::new(queue::Queue::fifo(capacity, key_count)),
        PolicyKind::Lru => Box::new(queue::Queue::lru(capacity, key_count)),
        PolicyKind::Sieve => Box::new(sieve::Sieve::new(capacity, key_count)),
        PolicyKind::S3Fifo => Box::new(s3_fifo::S3Fifo::new(capacity, key_count)),
        PolicyKind::TinyLfu => Box::new(tiny_lfu::TinyLfu::new(capacity, key_count)),
    }
}
