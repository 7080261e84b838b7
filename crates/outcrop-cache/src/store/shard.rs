//! One shard: index, entries, arena and policy under one lock, and the rule that all of it stays within the limit.

use std::io;

use super::arena::Arena;
use super::clean::Effort;
use super::entries::{Entries, Handle, NOBODY};
use super::index::Index;
use super::item::{self, Header};
use super::key_hash::KeyHash;
use super::policy::{Policy, PolicyKind, Subject};
use super::report::Counters;
use super::sweep::Sweep;

/// What a shard is made of and may hold.
#[derive(Clone, Debug)]
pub(crate) struct ShardOptions {
    pub(crate) limit_bytes: usize,
    pub(crate) segment_bytes: usize,
    pub(crate) item_memory_bytes: u64,
    pub(crate) max_items: Option<u64>,
    pub(crate) max_item_bytes: usize,
    pub(crate) load_factor: f64,
    pub(crate) policy: PolicyKind,
    pub(crate) key_hash: KeyHash,
}

/// Why an item was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Longer than items may be.
    TooLarge,
    /// No room, and nothing that may be evicted.
    NoRoom,
}

/// Everything about one part of the keys.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) options: ShardOptions,
    pub(crate) arena: Arena,
    pub(crate) entries: Entries,
    pub(crate) index: Index,
    pub(crate) policy: Policy,
    pub(crate) counters: Counters,
    /// Bytes of the limit that connections hold.
    reserved_bytes: usize,
    last_cas: u64,
    /// Second at which everything stored before ends; 0 for never.
    clear_at: u32,
    pub(crate) sweep: Sweep,
}

/// Where an item was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) handle: Handle,
    pub(crate) offset: u32,
}

/// What policies see of an item: a free function, so that policy and entries can be borrowed beside it.
fn look(arena: &Arena, options: &ShardOptions, offset: u32) -> Subject {
    let bytes = arena.at(offset);
    let header = Header::read(bytes);
    let start = header.header_len();
    let hash = options
        .key_hash
        .of(&bytes[start..start + usize::from(header.key_len)]);
    let weight = if options.max_items.is_some() {
        1
    } else {
        arena.charge(header.item_len())
    };
    Subject { hash, weight }
}

impl Shard {
    pub(crate) fn new(options: ShardOptions) -> io::Result<Self> {
        // The smallest item takes an entry and eleven bytes.
        let most_items = options.limit_bytes / 27;
        Ok(Self {
            arena: Arena::new(options.limit_bytes, options.segment_bytes)?,
            entries: Entries::with_capacity(most_items)?,
            index: Index::with_load_factor(options.load_factor)?,
            policy: Policy::new(options.policy, options.limit_bytes),
            counters: Counters::default(),
            reserved_bytes: 0,
            last_cas: 0,
            clear_at: 0,
            sweep: Sweep::default(),
            options,
        })
    }

    /// What policies count against: items, or the bytes that items may take.
    pub(crate) fn capacity(&self) -> u64 {
        self.options.max_items.unwrap_or_else(|| self.item_bytes())
    }

    /// What items may take.
    fn item_bytes(&self) -> u64 {
        self.arena.usable_bytes().min(self.options.item_memory_bytes)
    }

    fn table_bytes(&self) -> usize {
        self.entries.touched_bytes() + self.index.touched_bytes() + self.policy.memory_bytes()
    }

    /// Memory of the whole shard.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.table_bytes() + self.arena.touched_bytes()
    }

    #[inline]
    pub(crate) fn find(&self, hash: u64, key: &[u8]) -> Option<Found> {
        let tag = Index::tag(hash);
        let mut handle = self.index.head(hash);
        while handle != NOBODY {
            let (next, its_tag, offset) = self.entries.link(handle);
            if its_tag == tag && item::has_key(self.arena.at(offset), key) {
                return Some(Found { handle, offset });
            }
            handle = next;
        }
        None
    }

    /// Starts to fetch what [`Shard::find`] will read first, second and third: each stage reads what the one before it
    /// has fetched.
    #[inline]
    pub(crate) fn prefetch(&self, stage: u32, hash: u64) {
        if stage == 0 {
            return self.index.prefetch_head(hash);
        }
        let head = self.index.head(hash);
        if stage == 1 {
            return self.entries.prefetch(head);
        }
        let (next, tag, offset) = self.entries.link(head);
        if tag == Index::tag(hash) {
            self.arena.prefetch(offset);
        } else {
            self.entries.prefetch(next);
        }
    }

    /// Finds an item that has not ended; one that has is removed.
    #[inline]
    pub(crate) fn find_current(&mut self, hash: u64, key: &[u8], now: u32) -> Option<(Found, Header)> {
        if self.clear_at != 0 && now >= self.clear_at {
            self.clear();
        }
        let found = self.find(hash, key)?;
        let header = Header::read(self.arena.at(found.offset));
        if header.expiry != 0 && header.expiry <= now {
            self.remove(found.handle);
            self.counters.expired += 1;
            return None;
        }
        Some((found, header))
    }

    /// Tells the policy that an item was asked for.
    #[inline]
    pub(crate) fn hit(&mut self, handle: Handle) {
        let capacity = self.capacity();
        let (arena, options) = (&self.arena, &self.options);
        let look = |entries: &Entries, handle| look(arena, options, entries.offset(handle));
        self.policy.hit(&mut self.entries, handle, &look, capacity);
    }

    /// Removes an item from everything.
    pub(crate) fn remove(&mut self, handle: Handle) {
        let offset = self.entries.offset(handle);
        let len = Header::read(self.arena.at(offset)).item_len();
        let subject = look(&self.arena, &self.options, offset);
        self.policy.remove(&mut self.entries, handle, subject.weight);
        self.index.remove(&mut self.entries, subject.hash, handle);
        self.entries.give_back(handle);
        self.arena.free_item(offset, len);
    }

    /// Evicts what the policy chooses; false when it chooses nothing.
    pub(crate) fn evict(&mut self, now: u32) -> bool {
        let capacity = self.capacity();
        let (arena, options) = (&self.arena, &self.options);
        let look = |entries: &Entries, handle| look(arena, options, entries.offset(handle));
        let Some(victim) = self.policy.victim(&mut self.entries, &look, capacity) else {
            return false;
        };
        let header = Header::read(self.arena.at(self.entries.offset(victim)));
        self.drop_item(&header, now);
        true
    }

    /// Sets the arena's share of the limit to what tables and connections leave.
    pub(super) fn rebalance(&mut self) {
        // Tables grow by pages and by steps of their own: one more page of each is kept for them.
        let growth = self.entries.growth_bytes() + self.policy.growth_bytes() + 2 * 4096;
        let elsewhere = self.table_bytes() + growth + self.reserved_bytes;
        let left = self.options.limit_bytes.saturating_sub(elsewhere);
        let allowed = left / self.arena.segment_bytes();
        if allowed != self.arena.allowed() {
            self.arena.set_allowed(allowed);
        }
    }

    /// Sets how much of the limit connections hold, and gives that much memory back; false when nothing may be evicted for it.
    pub(crate) fn reserve(&mut self, bytes: usize, now: u32) -> bool {
        self.reserved_bytes = bytes;
        self.rebalance();
        self.compact(now).is_some()
    }

    /// Cleans until no segment holds memory beyond the limit; `None` when nothing may be evicted for it.
    pub(crate) fn compact(&mut self, now: u32) -> Option<()> {
        let mut effort = Effort::default();
        let mut excess = self.arena.excess();
        while excess > 0 {
            if self.arena.live_bytes() <= self.arena.usable_bytes() {
                self.gain(now, &mut effort)?;
            } else if !self.evict(now) {
                return None;
            }
            if self.arena.excess() < excess {
                effort = Effort::default();
            }
            excess = self.arena.excess();
        }
        Some(())
    }

    /// Stores an item with the value's two parts in a row; `header` says all but handle and length of the value. Where the item is
    /// refused, an old one stays.
    pub(crate) fn put(
        &mut self,
        hash: u64,
        key: &[u8],
        value: [&[u8]; 2],
        header: Header,
        now: u32,
    ) -> Result<(), Refusal> {
        let mut header = Header {
            key_len: key.len() as u8,
            value_len: (value[0].len() + value[1].len()) as u32,
            // Where nothing makes room, a later touch or a `gets` must not need any.
            is_roomy: header.is_roomy || self.options.policy == PolicyKind::None,
            ..header
        };
        let len = header.item_len();
        if len > self.options.max_item_bytes {
            return Err(Refusal::TooLarge);
        }
        if let Some(old) = self.find(hash, key) {
            let old_len = Header::read(self.arena.at(old.offset)).item_len();
            // A run has room up to the end of its last segment.
            let stays = len.min(old_len) > self.arena.segment_bytes()
                && self.arena.charge(len) == self.arena.charge(old_len);
            if old_len == len || stays {
                header.handle = old.handle;
                self.write_at(old.offset, &header, key, value);
                self.hit(old.handle);
                return Ok(());
            }
        }
        let room = self.make_room(hash, key, len, now);
        let offset = room.and_then(|()| self.place(hash, key, len, now));
        let offset = offset.ok_or(Refusal::NoRoom)?;
        self.settle(hash, key, value, header, offset)
    }

    /// Writes an item at `offset`, and makes it the one that is found.
    fn settle(
        &mut self,
        hash: u64,
        key: &[u8],
        value: [&[u8]; 2],
        mut header: Header,
        offset: u32,
    ) -> Result<(), Refusal> {
        let len = header.item_len();
        // Cleaning may have moved or dropped the old one: it is looked up only now.
        if let Some(old) = self.find(hash, key) {
            header.handle = old.handle;
            let old_len = Header::read(self.arena.at(old.offset)).item_len();
            if self.options.max_items.is_none() {
                let (from, to) = (self.arena.charge(old_len), self.arena.charge(len));
                self.policy.reweigh(&self.entries, old.handle, from, to);
            }
            self.arena.free_item(old.offset, old_len);
            self.entries.set_offset(old.handle, offset);
            self.write_at(offset, &header, key, value);
            self.hit(old.handle);
            return Ok(());
        }
        let Some(handle) = self.entries.take(offset) else {
            self.write_at(offset, &header, key, value);
            self.arena.free_item(offset, len);
            return Err(Refusal::NoRoom);
        };
        header.handle = handle;
        self.write_at(offset, &header, key, value);
        self.index.insert(&mut self.entries, hash, handle);
        let subject = Subject {
            hash,
            weight: if self.options.max_items.is_some() {
                1
            } else {
                self.arena.charge(len)
            },
        };
        let capacity = self.capacity();
        let (arena, options) = (&self.arena, &self.options);
        let looks = |entries: &Entries, handle| look(arena, options, entries.offset(handle));
        self.policy
            .insert(&mut self.entries, handle, subject, &looks, capacity);
        while self.index.is_crowded(self.entries.len()) {
            let (arena, options, offsets) = (&self.arena, &self.options, &mut self.entries);
            self.index.split(offsets, |entries, handle| {
                look(arena, options, entries.offset(handle)).hash
            });
        }
        Ok(())
    }

    fn write_at(&mut self, offset: u32, header: &Header, key: &[u8], value: [&[u8]; 2]) {
        self.sweep.expects(header.expiry);
        let bytes = self.arena.at_mut(offset);
        header.write(bytes);
        let mut at = header.header_len();
        for part in [key, value[0], value[1]] {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
    }

    /// Evicts until an item of this length is within the limit.
    fn make_room(&mut self, hash: u64, key: &[u8], len: usize, now: u32) -> Option<()> {
        let charge = self.arena.charge(len);
        let mut budget = Sweep::budget(len);
        loop {
            self.rebalance();
            // Not to evict all the others in vain.
            if charge > self.item_bytes() {
                return None;
            }
            self.compact(now)?;
            let old = self.find(hash, key);
            let replaced = old.map_or(0, |old| {
                self.arena
                    .charge(Header::read(self.arena.at(old.offset)).item_len())
            });
            let items = u64::from(self.entries.len()) + u64::from(old.is_none());
            let fits = self.arena.live_bytes() + charge - replaced <= self.item_bytes();
            if fits && self.options.max_items.is_none_or(|most| items <= most) {
                return Some(());
            }
            if !self.evict(now) && !self.sweep(now, &mut budget) {
                return None;
            }
        }
    }

    /// The next CAS value.
    pub(crate) fn next_cas(&mut self) -> u64 {
        self.last_cas += 1;
        self.last_cas
    }

    /// Everything stored before second `at` ends then.
    pub(crate) fn clear_at(&mut self, at: u32, now: u32) {
        if at <= now {
            self.clear();
        } else {
            self.clear_at = at;
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.clear_at, self.sweep) = (0, Sweep::default());
        self.policy = Policy::new(self.options.policy, self.options.limit_bytes);
        self.index.clear();
        self.entries.clear();
        self.arena.clear();
    }
}
