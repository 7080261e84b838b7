//! The hash index: linear hashing, so that it grows by one chain at a time and never stops to rehash.
//!
//! *Source*: Litwin, "Linear hashing", VLDB 1980. Chains run through the entries; the load factor (items per chain) is
//! the caller's choice.

use std::io;

use super::entries::{Entries, Handle, MAX_ENTRIES, NOBODY};
use super::mapping::Mapping;

const FIRST_CHAINS: usize = 1024;

/// Heads of the chains.
#[derive(Debug)]
pub(crate) struct Index {
    heads: Mapping<u32>,
    /// Chains in use, at least [`FIRST_CHAINS`].
    count: usize,
    /// One less than the chains there were when this round of splits began: a power of two.
    mask: usize,
    load_factor: f64,
}

impl Index {
    pub(crate) fn with_load_factor(load_factor: f64) -> io::Result<Self> {
        Ok(Self {
            heads: Mapping::reserve(((MAX_ENTRIES as f64 / load_factor) as usize).max(FIRST_CHAINS) + 1)?,
            count: FIRST_CHAINS,
            mask: FIRST_CHAINS - 1,
            load_factor,
        })
    }

    pub(crate) const fn touched_bytes(&self) -> usize {
        self.count * size_of::<u32>()
    }

    /// Chains in use.
    pub(crate) const fn chain_count(&self) -> usize {
        self.count
    }

    #[inline]
    fn chain_of(&self, hash: u64) -> usize {
        let wide = hash as usize & (self.mask << 1 | 1);
        if wide < self.count {
            wide
        } else {
            hash as usize & self.mask
        }
    }

    /// The four bits that tell most strangers in a chain apart without looking at their keys.
    #[inline]
    pub(crate) const fn tag(hash: u64) -> u32 {
        (hash >> 60) as u32
    }

    /// The first of the chain in which this hash would be.
    #[inline]
    pub(crate) fn head(&self, hash: u64) -> Handle {
        self.heads[self.chain_of(hash)]
    }

    /// Starts to fetch what [`Index::head`] reads.
    pub(crate) fn prefetch_head(&self, hash: u64) {
        self.heads.prefetch(self.chain_of(hash));
    }

    pub(crate) fn insert(&mut self, entries: &mut Entries, hash: u64, handle: Handle) {
        let chain = self.chain_of(hash);
        entries.set_chain(handle, self.heads[chain]);
        entries.set_tag(handle, Self::tag(hash));
        self.heads[chain] = handle;
    }

    pub(crate) fn remove(&mut self, entries: &mut Entries, hash: u64, handle: Handle) {
        let chain = self.chain_of(hash);
        let next = entries.chain(handle);
        let mut at = self.heads[chain];
        if at == handle {
            self.heads[chain] = next;
            return;
        }
        while at != NOBODY {
            let after = entries.chain(at);
            if after == handle {
                entries.set_chain(at, next);
                return;
            }
            at = after;
        }
    }

    /// True when there are more items than the load factor allows for.
    pub(crate) fn is_crowded(&self, items: u32) -> bool {
        f64::from(items) > self.count as f64 * self.load_factor && self.count < self.heads.len()
    }

    /// Splits the next chain in two. *Cost*: one hash for each item of that chain.
    pub(crate) fn split(&mut self, entries: &mut Entries, hash_of: impl Fn(&Entries, Handle) -> u64) {
        if self.count > self.mask << 1 | 1 {
            self.mask = self.mask << 1 | 1;
        }
        let from = self.count - (self.mask + 1);
        let mut at = std::mem::take(&mut self.heads[from]);
        self.count += 1;
        while at != NOBODY {
            let next = entries.chain(at);
            let chain = self.chain_of(hash_of(entries, at));
            entries.set_chain(at, self.heads[chain]);
            self.heads[chain] = at;
            at = next;
        }
    }

    /// Forgets all, and gives the memory back.
    pub(crate) fn clear(&mut self) {
        let count = self.count;
        self.heads.release(0..count);
        self.heads[..FIRST_CHAINS].fill(NOBODY);
        let tail = count / FIRST_CHAINS * FIRST_CHAINS;
        self.heads[tail..count].fill(NOBODY);
        (self.count, self.mask) = (FIRST_CHAINS, FIRST_CHAINS - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(index: &Index, entries: &Entries, hash: u64, handle: Handle) -> bool {
        let mut at = index.head(hash);
        while at != NOBODY && at != handle {
            at = entries.chain(at);
        }
        at == handle
    }

    #[test]
    fn every_item_is_found_after_every_split_and_none_after_its_removal() {
        let hash_of = |handle: Handle| u64::from(handle).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for load_factor in [0.5, 1.5, 4.0] {
            let mut entries = Entries::with_capacity(20_000).unwrap();
            let mut index = Index::with_load_factor(load_factor).unwrap();
            for _ in 0..20_000 {
                let handle = entries.take(1).unwrap();
                index.insert(&mut entries, hash_of(handle), handle);
                while index.is_crowded(entries.len()) {
                    index.split(&mut entries, |_, handle| hash_of(handle));
                }
            }
            assert!((20_000.0 / index.chain_count() as f64 - load_factor).abs() < 0.01);
            for handle in 1..=20_000 {
                assert!(found(&index, &entries, hash_of(handle), handle));
                assert_eq!(entries.link(handle).1, Index::tag(hash_of(handle)));
            }
            for handle in (1..=20_000).filter(|handle| handle % 3 != 0) {
                index.remove(&mut entries, hash_of(handle), handle);
                assert!(!found(&index, &entries, hash_of(handle), handle));
            }
            assert!((1..=20_000).filter(|handle| handle % 3 == 0).all(|handle| found(
                &index,
                &entries,
                hash_of(handle),
                handle
            )));
            index.clear();
            assert_eq!(index.heads.iter().filter(|&&head| head != NOBODY).count(), 0);
        }
    }
}
