//! The table of entries: 16 bytes for each item, which say where it lies and where it stands in its queue.
//!
//! A handle names an item for life, wherever the arena moves its bytes. Handle 0 is nobody's, so that zeroed memory
//! is an empty table.

use std::io;

use super::mapping::Mapping;

/// Names an item; 28 bits.
pub(crate) type Handle = u32;

/// No item.
pub(crate) const NOBODY: Handle = 0;

const HANDLE_BITS: u32 = 28;
const HANDLE: u32 = (1 << HANDLE_BITS) - 1;
/// Most entries of one table.
pub(crate) const MAX_ENTRIES: usize = HANDLE as usize;
/// Memory of one entry.
pub(crate) const ENTRY_BYTES: usize = 16;

// Words of an entry: where its item lies; neighbours in its queue; the next in its index chain.
const OFFSET: usize = 0;
/// Towards the head of the queue; its upper bits: queue (2), frequency (2).
const NEWER: usize = 1;
/// Towards the tail.
const OLDER: usize = 2;
/// Its upper bits: the tag (4).
const CHAIN: usize = 3;

/// The offset of an entry that is nobody's: shards end below it.
const NOWHERE: u32 = u32::MAX;

/// All entries of a shard.
#[derive(Debug)]
pub(crate) struct Entries {
    table: Mapping<[u32; 4]>,
    /// One above the highest handle ever given out.
    top: u32,
    /// Handles to use again, linked by their chain.
    vacant: Handle,
    len: u32,
}

impl Entries {
    pub(crate) fn with_capacity(capacity: usize) -> io::Result<Self> {
        Ok(Self {
            table: Mapping::reserve(capacity.min(MAX_ENTRIES) + 1)?,
            top: 1,
            vacant: NOBODY,
            len: 0,
        })
    }

    /// How many are in use.
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// Bytes touched since the table was made or cleared: it never shrinks by itself.
    pub(crate) const fn touched_bytes(&self) -> usize {
        self.top as usize * ENTRY_BYTES
    }

    /// Bytes that one more entry would touch.
    pub(crate) const fn growth_bytes(&self) -> usize {
        if self.vacant == NOBODY { ENTRY_BYTES } else { 0 }
    }

    /// Takes a handle; `None` when the table is full.
    pub(crate) fn take(&mut self, offset: u32) -> Option<Handle> {
        let handle = if self.vacant != NOBODY {
            let handle = self.vacant;
            self.vacant = self.chain(handle);
            handle
        } else if (self.top as usize) < self.table.len() {
            self.top += 1;
            self.top - 1
        } else {
            return None;
        };
        self.table[handle as usize] = [offset, 0, 0, 0];
        self.len += 1;
        Some(handle)
    }

    /// Gives a handle back.
    pub(crate) fn give_back(&mut self, handle: Handle) {
        self.table[handle as usize] = [NOWHERE, 0, 0, self.vacant];
        self.vacant = handle;
        self.len -= 1;
    }

    /// Where the item of this handle lies: an outer `None` above every handle given out, an inner one where it is vacant.
    pub(crate) fn walk(&self, handle: Handle) -> Option<Option<u32>> {
        let offset = (handle < self.top).then(|| self.offset(handle))?;
        Some((offset != NOWHERE).then_some(offset))
    }

    /// Forgets all, and gives the memory back.
    pub(crate) fn clear(&mut self) {
        let touched = self.top as usize;
        self.table.release(0..touched);
        let tail = touched / 256 * 256;
        self.table[tail..touched].fill([0; 4]);
        (self.top, self.vacant, self.len) = (1, NOBODY, 0);
    }

    #[inline]
    pub(crate) fn offset(&self, handle: Handle) -> u32 {
        self.table[handle as usize][OFFSET]
    }

    pub(crate) fn set_offset(&mut self, handle: Handle, offset: u32) {
        self.table[handle as usize][OFFSET] = offset;
    }

    /// The next in the index chain, and this one's tag.
    #[inline]
    pub(crate) fn link(&self, handle: Handle) -> (Handle, u32, u32) {
        let entry = &self.table[handle as usize];
        (entry[CHAIN] & HANDLE, entry[CHAIN] >> HANDLE_BITS, entry[OFFSET])
    }

    /// Starts to fetch an entry.
    pub(crate) fn prefetch(&self, handle: Handle) {
        self.table.prefetch(handle as usize);
    }

    pub(crate) fn chain(&self, handle: Handle) -> Handle {
        self.table[handle as usize][CHAIN] & HANDLE
    }

    pub(crate) fn set_chain(&mut self, handle: Handle, next: Handle) {
        self.set_low(handle, CHAIN, next);
    }

    pub(crate) fn set_tag(&mut self, handle: Handle, tag: u32) {
        let word = &mut self.table[handle as usize][CHAIN];
        *word = *word & HANDLE | tag << HANDLE_BITS;
    }

    pub(crate) fn newer(&self, handle: Handle) -> Handle {
        self.table[handle as usize][NEWER] & HANDLE
    }

    pub(crate) fn older(&self, handle: Handle) -> Handle {
        self.table[handle as usize][OLDER] & HANDLE
    }

    fn set_low(&mut self, handle: Handle, field: usize, value: Handle) {
        let word = &mut self.table[handle as usize][field];
        *word = *word & !HANDLE | value;
    }

    /// Which of its policy's queues an item is in: 0 to 3.
    #[inline]
    pub(crate) fn queue(&self, handle: Handle) -> usize {
        (self.table[handle as usize][NEWER] >> HANDLE_BITS & 0b11) as usize
    }

    pub(crate) fn set_queue(&mut self, handle: Handle, queue: usize) {
        let word = &mut self.table[handle as usize][NEWER];
        *word = *word & !(0b11 << HANDLE_BITS) | (queue as u32 & 0b11) << HANDLE_BITS;
    }

    /// How often an item was asked for, as far as two bits tell: 0 to 3.
    #[inline]
    pub(crate) fn frequency(&self, handle: Handle) -> u32 {
        self.table[handle as usize][NEWER] >> (HANDLE_BITS + 2)
    }

    pub(crate) fn set_frequency(&mut self, handle: Handle, frequency: u32) {
        let word = &mut self.table[handle as usize][NEWER];
        *word = *word & !(0b11 << (HANDLE_BITS + 2)) | frequency << (HANDLE_BITS + 2);
    }
}

/// A queue threaded through the entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    /// Where items come in.
    pub(crate) head: Handle,
    /// Where they go out.
    pub(crate) tail: Handle,
    /// The sum of their weights.
    pub(crate) weight: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, entries: &mut Entries, handle: Handle, weight: u64) {
        entries.set_low(handle, NEWER, NOBODY);
        entries.set_low(handle, OLDER, self.head);
        if self.head == NOBODY {
            self.tail = handle;
        } else {
            entries.set_low(self.head, NEWER, handle);
        }
        self.head = handle;
        self.weight += weight;
    }

    pub(crate) fn unlink(&mut self, entries: &mut Entries, handle: Handle, weight: u64) {
        let (newer, older) = (entries.newer(handle), entries.older(handle));
        if newer == NOBODY {
            self.head = older;
        } else {
            entries.set_low(newer, OLDER, older);
        }
        if older == NOBODY {
            self.tail = newer;
        } else {
            entries.set_low(older, NEWER, newer);
        }
        self.weight -= weight;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn listed(queue: &Queue, entries: &Entries) -> Vec<Handle> {
        std::iter::successors(Some(queue.head), |&handle| Some(entries.older(handle)))
            .take_while(|&handle| handle != NOBODY)
            .collect()
    }

    proptest! {
        #[test]
        fn a_queue_orders_as_a_deque_does(steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..200)) {
            let mut entries = Entries::with_capacity(1000).unwrap();
            let (mut queue, mut model) = (Queue::default(), VecDeque::new());
            for (adds, index) in steps {
                if adds || model.is_empty() {
                    let handle = entries.take(7).unwrap();
                    entries.set_queue(handle, 3);
                    entries.set_frequency(handle, 2);
                    entries.set_tag(handle, 9);
                    queue.push(&mut entries, handle, 5);
                    model.push_front(handle);
                } else {
                    let handle = model.remove(index.index(model.len())).unwrap();
                    queue.unlink(&mut entries, handle, 5);
                    entries.give_back(handle);
                }
                prop_assert_eq!(listed(&queue, &entries), model.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(queue.weight, 5 * model.len() as u64);
                prop_assert_eq!(entries.len() as usize, model.len());
                for &handle in &model {
                    prop_assert_eq!((entries.queue(handle), entries.frequency(handle), entries.link(handle).1), (3, 2, 9));
                }
            }
        }
    }

    #[test]
    fn a_full_table_gives_no_handle_until_one_comes_back() {
        let mut entries = Entries::with_capacity(3).unwrap();
        let handles: Vec<Handle> = (0..3).map(|_| entries.take(1).unwrap()).collect();
        assert_eq!(entries.take(1), None);
        entries.give_back(handles[1]);
        assert_eq!(entries.take(1), Some(handles[1]));
        let walked: Vec<_> = (1..6).map(|handle| entries.walk(handle)).collect();
        assert_eq!(walked, [Some(Some(1)), Some(Some(1)), Some(Some(1)), None, None]);
        entries.give_back(handles[0]);
        assert_eq!(entries.walk(handles[0]), Some(None));
        entries.clear();
        assert_eq!((entries.len(), entries.take(4)), (0, Some(1)));
    }
}
