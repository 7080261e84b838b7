//! The store: shards of items under one memory limit. No file, no socket, no clock: seconds are handed in.

mod arena;
mod clean;
mod entries;
mod index;
mod item;
mod key_hash;
pub(crate) mod mapping;
mod policy;
mod report;
mod shard;
mod slot;
mod sweep;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::CacheError;
pub use item::MAX_KEY_BYTES;
use key_hash::KeyHash;
pub use policy::PolicyKind;
pub use report::{Counters, StoreReport};
pub use shard::Refusal;
use shard::{Shard, ShardOptions};
pub use slot::{Draft, Item, Slot};

/// The smallest limit.
pub const MIN_MEMORY_BYTES: u64 = 1 << 20;
/// An item of a few bytes fits.
const MIN_ITEM_MEMORY_BYTES: u64 = 64;
/// A shard's offsets have 32 bits.
const MAX_SHARD_BYTES: u64 = (1 << 32) - (1 << 20);
/// Below this, a shard is too small for items of 1 MiB.
const SMALL_SHARD_BYTES: u64 = 32 << 20;

/// Items read under one lock by [`Store::sweep`].
const SWEEP_ITEMS: usize = 1024;

/// What a store may hold, and how.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Memory for items, tables, policy and, on demand, connections.
    pub memory_bytes: u64,
    /// Most bytes of items, their headers included; no limit but memory's when absent. It may be less than a store's own
    /// [`MIN_MEMORY_BYTES`].
    pub item_memory_bytes: Option<u64>,
    /// Most items; no limit but memory's when absent. With it the policy counts items, not bytes.
    pub max_items: Option<u64>,
    /// Longest item: header, key and value.
    pub max_item_bytes: u64,
    /// Which items go when memory is full.
    pub policy: PolicyKind,
    /// Items per chain of the index.
    pub load_factor: f64,
    /// How many locks; a power of two. Fewer where memory is small.
    pub shards: usize,
    /// Seed of the hash, so that nobody can choose colliding keys.
    pub seed: u64,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            memory_bytes: 1 << 30,
            item_memory_bytes: None,
            max_items: None,
            max_item_bytes: 1 << 20,
            policy: PolicyKind::default(),
            load_factor: 1.5,
            shards: 4,
            seed: 0,
        }
    }
}

/// Items by key, for any number of threads.
#[derive(Debug)]
pub struct Store {
    shards: Box<[Mutex<Shard>]>,
    key_hash: KeyHash,
    max_item_bytes: usize,
    policy: PolicyKind,
}

impl Store {
    /// Reserves address space; memory comes as items do.
    ///
    /// # Errors
    /// When an option is out of range, or the kernel gives no address space.
    pub fn new(options: &StoreOptions) -> Result<Self, CacheError> {
        let count = shard_count(options)?;
        let limit_bytes = options.memory_bytes / count;
        let segment_bytes = (limit_bytes / 256).clamp(16 << 10, 1 << 20);
        let segment_bytes = 1 << segment_bytes.ilog2();
        // Half of a shard: the rest is what cleaning works in.
        let item_memory_bytes = options.item_memory_bytes.map(|bytes| bytes / count);
        let most = item_memory_bytes.unwrap_or(u64::MAX).min(limit_bytes / 2);
        let max_item_bytes = options.max_item_bytes.min(most) as usize;
        let key_hash = KeyHash::new(options.seed);
        let shard = ShardOptions {
            limit_bytes: limit_bytes as usize,
            segment_bytes,
            item_memory_bytes: item_memory_bytes.unwrap_or(u64::MAX),
            max_items: options.max_items.map(|most| most.div_ceil(count)),
            max_item_bytes,
            load_factor: options.load_factor,
            policy: options.policy,
            key_hash: key_hash.clone(),
        };
        let shards = (0..count).map(|_| Shard::new(shard.clone()).map(Mutex::new));
        let shards = shards
            .collect::<Result<_, _>>()
            .map_err(|source| CacheError::Memory {
                bytes: options.memory_bytes,
                source,
            })?;
        Ok(Self {
            shards,
            key_hash,
            max_item_bytes,
            policy: options.policy,
        })
    }

    fn shard(&self, number: usize) -> MutexGuard<'_, Shard> {
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the shard of a key. `now` is in seconds of the caller's clock, from 1, never going back.
    #[inline]
    pub fn slot<'a>(&'a self, key: &'a [u8], now: u32) -> Slot<'a> {
        let hash = self.hash(key);
        Slot {
            shard: self.shard(self.shard_of(hash)),
            key,
            hash,
            now,
        }
    }

    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.key_hash.of(key)
    }

    const fn shard_of(&self, hash: u64) -> usize {
        (hash >> 40) as usize & (self.shards.len() - 1)
    }

    /// Starts to fetch what looking up keys with these hashes will read, so that the CPU waits for all of it at once
    /// and not for one after the other.
    pub(crate) fn prefetch(&self, hashes: &[u64]) {
        for stage in 0..3 {
            let mut locked: Option<(usize, MutexGuard<'_, Shard>)> = None;
            for &hash in hashes {
                let wanted = self.shard_of(hash);
                let (_, shard) = match locked.take() {
                    Some(one) if one.0 == wanted => locked.insert(one),
                    // The one that was held is free again before the next is waited for.
                    other => {
                        drop(other);
                        locked.insert((wanted, self.shard(wanted)))
                    }
                };
                shard.prefetch(stage, hash);
            }
        }
    }

    /// Longest item: header, key and value.
    pub const fn max_item_bytes(&self) -> usize {
        self.max_item_bytes
    }

    /// The policy at work.
    pub const fn policy(&self) -> PolicyKind {
        self.policy
    }

    /// Ends every item stored so far, at second `at`; at once when that has passed.
    pub fn clear(&self, at: u32, now: u32) {
        (0..self.shards.len()).for_each(|number| self.shard(number).clear_at(at, now));
    }

    /// Removes items that have ended where nothing may be evicted, until each shard has read `items` of its own. The lock
    /// of a shard is held for a small part of them at a time.
    pub fn sweep(&self, items: usize, now: u32) {
        if self.policy != PolicyKind::None {
            return;
        }
        for number in 0..self.shards.len() {
            let mut left = items;
            while left > 0 {
                let slice = left.min(SWEEP_ITEMS);
                let mut budget = slice;
                let mut shard = self.shard(number);
                while shard.sweep(now, &mut budget) {}
                left -= slice;
                if budget > 0 {
                    break;
                }
            }
        }
    }

    /// Sets how many bytes of the limit something outside the store holds, and gives memory back for them; false when
    /// the policy evicts nothing, so that they are not to be had.
    pub fn reserve(&self, bytes: u64, now: u32) -> bool {
        let share = bytes.div_ceil(self.shards.len() as u64) as usize;
        (0..self.shards.len()).all(|number| self.shard(number).reserve(share, now))
    }

    /// Counts and sizes now.
    pub fn report(&self) -> StoreReport {
        let mut sum = StoreReport::default();
        for number in 0..self.shards.len() {
            let shard = self.shard(number);
            sum.add(&StoreReport {
                items: u64::from(shard.entries.len()),
                item_bytes: shard.arena.live_bytes(),
                memory_bytes: shard.memory_bytes() as u64,
                limit_bytes: shard.options.limit_bytes as u64,
                chains: shard.index.chain_count() as u64,
                counters: shard.counters,
            });
        }
        sum
    }
}

fn shard_count(options: &StoreOptions) -> Result<u64, CacheError> {
    let refuse = |field, seen: String, expected: &str| {
        Err(CacheError::Option {
            field,
            seen,
            expected: expected.to_owned(),
        })
    };
    if options.memory_bytes < MIN_MEMORY_BYTES || options.memory_bytes > 1 << 42 {
        return refuse(
            "memory",
            format!("{} bytes", options.memory_bytes),
            "1 MiB to 4 TiB",
        );
    }
    if options
        .item_memory_bytes
        .is_some_and(|bytes| bytes < MIN_ITEM_MEMORY_BYTES)
    {
        let seen = format!("{} bytes", options.item_memory_bytes.unwrap_or_default());
        return refuse("memory of items", seen, "64 bytes or more");
    }
    if !(0.1..=64.0).contains(&options.load_factor) {
        return refuse(
            "load factor",
            options.load_factor.to_string(),
            "0.1 to 64 items per chain",
        );
    }
    if options.max_item_bytes < 1024 || options.max_item_bytes > 128 << 20 {
        return refuse(
            "largest item",
            format!("{} bytes", options.max_item_bytes),
            "1 KiB to 128 MiB",
        );
    }
    let needed = options.memory_bytes.div_ceil(MAX_SHARD_BYTES).next_power_of_two();
    let small = SMALL_SHARD_BYTES.max(options.max_item_bytes * 4);
    let of_items = options.item_memory_bytes.unwrap_or(u64::MAX);
    let sensible = (options.memory_bytes.min(of_items) / small).max(1);
    let sensible = 1 << sensible.ilog2();
    let wanted = options.shards.max(1).next_power_of_two() as u64;
    Ok(wanted.min(sensible).max(needed))
}
