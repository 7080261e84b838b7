//! Textbook simulators of eviction policies: lists of keys with their weights, no byte of a value. A weight is 1 where
//! items are counted, and an object's bytes where they are not all of one size.
//!
//! They share nothing with the server's store, so that a hit ratio that both arrive at is no accident.

mod order;

mod queue;
mod s3_fifo;
mod sieve;
mod tiny_lfu;

use outcrop_cache::store::PolicyKind;

/// What a simulator takes for each key, at most.
pub const BYTES_PER_KEY: u64 = 48;

/// A cache of so much weight; keys are numbers below the count that it was made for.
pub trait Simulator {
    /// Asks for a key; whether it was there.
    fn get(&mut self, key: u32) -> bool;
    /// Stores a key of this weight: a use of it where it is there, a newcomer otherwise. What is heavier than the whole
    /// cache is not stored, and not there afterwards.
    fn set_sized(&mut self, key: u32, weight: u32);
    /// Stores a key of weight 1.
    fn set(&mut self, key: u32) {
        self.set_sized(key, 1);
    }
    /// Removes a key.
    fn delete(&mut self, key: u32);
    /// Keys that are there.
    fn len(&self) -> usize;
    /// The sum of their weights.
    fn weight(&self) -> u64;
    /// Whether no key is there.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The simulator of a policy, for `capacity` of `key_count` keys. *Cost*: up to [`BYTES_PER_KEY`] a key.
pub fn simulator(policy: PolicyKind, capacity: usize, key_count: u32) -> Box<dyn Simulator> {
    simulator_of_bytes(policy, capacity as u64, key_count)
}

/// The same where keys have weights, for a sum of weights.
pub fn simulator_of_bytes(policy: PolicyKind, capacity: u64, key_count: u32) -> Box<dyn Simulator> {
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
