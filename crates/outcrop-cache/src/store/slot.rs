//! A slot: the right to one key, under its shard's lock, for as long as a command needs it.

use std::sync::MutexGuard;

use super::item::Header;
use super::shard::{Refusal, Shard};

/// An item as commands see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Its value.
    pub value: &'a [u8],
    /// The client's own 32 bits.
    pub flags: u32,
    /// Second of the store's clock at which it ends; 0 for never.
    pub expiry: u32,
    /// Its CAS value; 0 until [`Slot::assign_cas`].
    pub cas: u64,
    /// Seconds since it was last asked for.
    pub idle_s: u32,
    /// It was read before.
    pub fetched: bool,
    /// Stored under a key that was given in base64.
    pub has_binary_key: bool,
    /// Marked as stale by the meta protocol.
    pub stale: bool,
    /// Some client was told to refresh it.
    pub won: bool,
}

/// What is to be stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Draft<'a> {
    /// Its value.
    pub value: &'a [u8],
    /// The client's own 32 bits.
    pub flags: u32,
    /// Second of the store's clock at which it ends; 0 for never.
    pub expiry: u32,
    /// A CAS value of the client's choice; 0 for the next one.
    pub cas: u64,
    /// The key was given in base64.
    pub has_binary_key: bool,
    /// Stored as stale.
    pub stale: bool,
}

/// One key of a locked shard.
#[derive(Debug)]
pub struct Slot<'a> {
    pub(super) shard: MutexGuard<'a, Shard>,
    pub(super) key: &'a [u8],
    pub(super) hash: u64,
    pub(super) now: u32,
}

/// What an item whose value is made anew keeps of the old one: what the client set, and nothing of what became of it.
fn renewed(old: &Header, cas: u64, accessed: u32) -> Header {
    Header {
        flags: old.flags,
        expiry: old.expiry,
        cas,
        accessed,
        ..Header::default()
    }
}

impl Slot<'_> {
    fn item(&self, offset: u32, header: &Header) -> Item<'_> {
        let start = header.header_len() + usize::from(header.key_len);
        Item {
            value: &self.shard.arena.at(offset)[start..start + header.value_len as usize],
            flags: header.flags,
            expiry: header.expiry,
            cas: header.cas,
            idle_s: self.now.wrapping_sub(header.accessed) & 0xFF_FFFF,
            fetched: header.fetched,
            has_binary_key: header.has_binary_key,
            stale: header.stale,
            won: header.won,
        }
    }

    /// The item, and the policy is told that it was asked for. Its state is that before this read.
    #[inline]
    pub fn read(&mut self) -> Option<Item<'_>> {
        let (found, header) = self.shard.find_current(self.hash, self.key, self.now)?;
        self.shard.hit(found.handle);
        if !header.fetched || header.accessed != self.now & 0xFF_FFFF {
            let accessed = self.now & 0xFF_FFFF;
            let touched = Header {
                fetched: true,
                accessed,
                ..header
            };
            touched.write(self.shard.arena.at_mut(found.offset));
        }
        Some(self.item(found.offset, &header))
    }

    /// Tells the policy that the item was of use, and leaves no mark on it.
    pub fn promote(&mut self) {
        if let Some((found, _)) = self.shard.find_current(self.hash, self.key, self.now) {
            self.shard.hit(found.handle);
        }
    }

    /// The item, and nobody is told.
    pub fn peek(&mut self) -> Option<Item<'_>> {
        let (found, header) = self.shard.find_current(self.hash, self.key, self.now)?;
        Some(self.item(found.offset, &header))
    }

    /// Stores an item in place of any other.
    ///
    /// # Errors
    /// [`Refusal`]; whatever was there stays.
    pub fn put(&mut self, draft: Draft<'_>) -> Result<(), Refusal> {
        let old_cas = self
            .shard
            .find_current(self.hash, self.key, self.now)
            .map_or(0, |(_, old)| old.cas);
        let cas = match (draft.cas, old_cas) {
            (0, 0) => 0,
            (0, _) => self.shard.next_cas(),
            (chosen, _) => chosen,
        };
        let header = Header {
            flags: draft.flags,
            expiry: draft.expiry,
            cas,
            accessed: self.now & 0xFF_FFFF,
            has_binary_key: draft.has_binary_key,
            stale: draft.stale,
            ..Header::default()
        };
        self.put_header([draft.value, &[]], header)?;
        self.shard.counters.stored += 1;
        Ok(())
    }

    fn put_header(&mut self, value: [&[u8]; 2], header: Header) -> Result<(), Refusal> {
        self.shard.put(self.hash, self.key, value, header, self.now)
    }

    /// Replaces the value, before or behind which `piece` comes, or which it replaces, and keeps all else.
    fn rewrite(
        &mut self,
        change: impl FnOnce(&mut Header),
        value: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<bool, Refusal> {
        let Some((found, header)) = self.shard.find_current(self.hash, self.key, self.now) else {
            return Ok(false);
        };
        let value = value(self.item(found.offset, &header).value);
        let mut header = header;
        change(&mut header);
        self.put_header([&value, &[]], header)?;
        Ok(true)
    }

    /// Sets a new value and keeps flags and expiry; false when there is no item. As in memcached, a longer value makes a new item,
    /// which nobody has read and which is not stale; any other stands in the place of the old one.
    ///
    /// # Errors
    /// [`Refusal`]; the item stays as it was.
    pub fn replace_value(&mut self, value: &[u8]) -> Result<bool, Refusal> {
        let (cas, accessed) = (self.changed_cas(), self.now & 0xFF_FFFF);
        let mut is_new = false;
        let change = |header: &mut Header| {
            is_new = value.len() > header.value_len as usize;
            *header = if is_new {
                renewed(header, cas, accessed)
            } else {
                Header {
                    cas,
                    accessed,
                    ..*header
                }
            };
        };
        let is_there = self.rewrite(change, |_| value.to_vec())?;
        self.shard.counters.stored += u64::from(is_new);
        Ok(is_there)
    }

    /// Puts bytes behind the value, or in front of it; false when there is no item. As in memcached this makes a new item, as
    /// in [`Slot::replace_value`].
    ///
    /// # Errors
    /// [`Refusal`]; the item stays as it was.
    pub fn join(&mut self, piece: &[u8], is_behind: bool) -> Result<bool, Refusal> {
        let (cas, accessed) = (self.changed_cas(), self.now & 0xFF_FFFF);
        let joined = |old: &[u8]| {
            if is_behind {
                [old, piece].concat()
            } else {
                [piece, old].concat()
            }
        };
        let is_there = self.rewrite(|header| *header = renewed(header, cas, accessed), joined)?;
        self.shard.counters.stored += u64::from(is_there);
        Ok(is_there)
    }

    /// The CAS value after a change: none for an item that nobody asked the CAS value of.
    fn changed_cas(&mut self) -> u64 {
        let old = self
            .shard
            .find_current(self.hash, self.key, self.now)
            .map_or(0, |(_, old)| old.cas);
        if old == 0 { 0 } else { self.shard.next_cas() }
    }

    /// Changes what stands in the header; false when there is no item.
    fn amend(&mut self, change: impl FnOnce(&mut Header)) -> Result<bool, Refusal> {
        let Some((found, old)) = self.shard.find_current(self.hash, self.key, self.now) else {
            return Ok(false);
        };
        let mut new = old;
        change(&mut new);
        if new.header_len() == old.header_len() && new.item_len() == old.item_len() {
            self.shard.sweep.expects(new.expiry);
            new.write(self.shard.arena.at_mut(found.offset));
            return Ok(true);
        }
        self.rewrite(|header| *header = new, <[u8]>::to_vec)
    }

    /// Gives the item a CAS value if it has none; false when there is no item.
    ///
    /// # Errors
    /// [`Refusal`]: the value takes eight bytes, except where the policy evicts nothing; the item stays as it was.
    pub fn assign_cas(&mut self) -> Result<bool, Refusal> {
        let Some((_, header)) = self.shard.find_current(self.hash, self.key, self.now) else {
            return Ok(false);
        };
        if header.cas != 0 {
            return Ok(true);
        }
        let cas = self.shard.next_cas();
        self.amend(|header| header.cas = cas)
    }

    /// Sets the CAS value; false when there is no item.
    ///
    /// # Errors
    /// [`Refusal`]: a first CAS value takes eight bytes, except where the policy evicts nothing; the item stays as it was.
    pub fn set_cas(&mut self, cas: u64) -> Result<bool, Refusal> {
        self.amend(|header| header.cas = cas)
    }

    /// Sets when the item ends; false when there is none.
    ///
    /// # Errors
    /// [`Refusal`]: a first expiry takes four bytes, except where the policy evicts nothing; the item stays as it was.
    pub fn set_expiry(&mut self, expiry: u32) -> Result<bool, Refusal> {
        self.amend(|header| header.expiry = expiry)
    }

    /// Sets the marks of the meta protocol; false when there is no item.
    ///
    /// # Errors
    /// [`Refusal`], never in practice: marks take no room.
    pub fn set_marks(&mut self, stale: bool, won: bool) -> Result<bool, Refusal> {
        self.amend(|header| (header.stale, header.won) = (stale, won))
    }

    /// Sets whether the key is shown in base64; false when there is no item.
    ///
    /// # Errors
    /// [`Refusal`], never in practice: the mark takes no room.
    pub fn set_binary_key(&mut self, has_binary_key: bool) -> Result<bool, Refusal> {
        self.amend(|header| header.has_binary_key = has_binary_key)
    }

    /// Marks the item as stale under a new CAS value; false when there is none.
    ///
    /// # Errors
    /// [`Refusal`]; the item stays as it was.
    pub fn invalidate(&mut self, cas: u64) -> Result<bool, Refusal> {
        let cas = if cas == 0 { self.shard.next_cas() } else { cas };
        self.amend(|header| (header.stale, header.won, header.cas) = (true, false, cas))
    }

    /// Removes the item; false when there was none.
    pub fn remove(&mut self) -> bool {
        let found = self.shard.find_current(self.hash, self.key, self.now);
        if let Some((found, _)) = found {
            self.shard.remove(found.handle);
        }
        found.is_some()
    }
}
