//! Cleaning: moving what lives out of a segment so that the segment is free again, and finding runs of segments.

use std::ops::Range;

use super::arena::{LEAST_GAIN, Segment, Use};
use super::item::{self, Header};
use super::policy::PolicyKind;
use super::shard::Shard;
use super::sweep::Sweep;

/// Segments cleaned for one that is needed, at most: each gains a thirty-second of one or more, and part of that may be lost again to how items pack.
const MOST_CLEANED: usize = 2 * LEAST_GAIN;
/// Segments repacked before an item is evicted, at most; where nothing may be evicted, the credit alone bounds them.
const PATIENCE: usize = 4;
/// Items evicted for one segment, at most: those that the policy chooses may lie all over the shard.
const MOST_EVICTED: usize = 256;

/// What was done so far for one segment.
#[derive(Debug, Default)]
pub(super) struct Effort {
    cleaned: usize,
    evicted: usize,
    /// Segments repacked since the last eviction.
    repacked: usize,
    /// Items that may still be read to find one that has ended, where nothing may be evicted.
    unread: usize,
}

impl Effort {
    /// What an item of `len` bytes may cost.
    fn for_item(len: usize) -> Self {
        Self {
            unread: Sweep::budget(len),
            ..Self::default()
        }
    }

    /// After a step that led somewhere.
    fn renewed(&self) -> Self {
        Self {
            unread: self.unread,
            ..Self::default()
        }
    }
}

impl Shard {
    /// Room in the arena for an item that is within the limit, and has this key. An item of that key stays where it is as long as this may
    /// fail.
    pub(crate) fn place(&mut self, hash: u64, key: &[u8], len: usize, now: u32) -> Option<u32> {
        if len > self.arena.segment_bytes() {
            return self.place_run(hash, key, len, now);
        }
        // Its segments are room enough.
        self.remove_run(hash, key);
        let mut effort = Effort::for_item(len);
        loop {
            if let Some(offset) = self.arena.append(len) {
                // Evictions may have enlarged the policy's tables. Nothing living is where the new item will be, so this cannot touch it.
                self.rebalance();
                self.compact(now);
                return Some(offset);
            }
            self.gain(now, &mut effort)?;
        }
    }

    /// Does a step towards one more free segment. Cleaning comes first, and loses no item. Then the policy evicts one at a time. Once both have been
    /// tried as often as one segment may cost, all items of the segment with the fewest living bytes go. So the work is bounded, however items pack.
    /// `None` when nothing may be evicted for it.
    pub(super) fn gain(&mut self, now: u32, effort: &mut Effort) -> Option<()> {
        if effort.cleaned < MOST_CLEANED
            && let Some(segment) = self.next_to_clean(effort)
        {
            effort.cleaned += 1;
            self.empty(segment, now);
            self.arena.make_free(segment);
            return Some(());
        }
        if self.options.policy == PolicyKind::None {
            return self.sweep(now, &mut effort.unread).then_some(());
        }
        if effort.evicted < MOST_EVICTED && self.evict(now) {
            (effort.evicted, effort.repacked) = (effort.evicted + 1, 0);
            return Some(());
        }
        match self.arena.cheapest() {
            Some(segment) => {
                *effort = Effort::default();
                self.evict_segment(segment, now);
                Some(())
            }
            None => self.evict(now).then_some(()),
        }
    }

    /// The segment to clean next; none where it would be in vain, or an item should go first.
    fn next_to_clean(&mut self, effort: &mut Effort) -> Option<usize> {
        if let Some(segment) = self.arena.most_dead() {
            return Some(segment);
        }
        if effort.repacked >= PATIENCE && self.options.policy != PolicyKind::None {
            return None;
        }
        let found = self.arena.repackable();
        effort.repacked += usize::from(found.is_some());
        found
    }

    /// Evicts all items of a closed segment.
    fn evict_segment(&mut self, segment: usize, now: u32) {
        self.arena.segments[segment].state = Use::Held;
        let start = self.arena.start_of(segment);
        let end = start + self.arena.segments[segment].used;
        let mut at = start;
        while at < end {
            let bytes = self.arena.at(at);
            let header = Header::read(bytes);
            if !item::is_dead(bytes) {
                self.drop_item(&header, now);
            }
            at += header.item_len() as u32;
        }
        self.arena.make_free(segment);
    }

    /// Removes an item that has ended, or that has to go.
    pub(super) fn drop_item(&mut self, header: &Header, now: u32) {
        let has_ended = header.expiry != 0 && header.expiry <= now;
        if has_ended {
            self.counters.expired += 1;
        } else {
            self.counters.evicted += 1;
            self.counters.evicted_unfetched += u64::from(!header.fetched);
        }
        self.remove(header.handle);
    }

    /// Moves the living items of a closed segment elsewhere, drops those that ended, and leaves it held.
    fn empty(&mut self, segment: usize, now: u32) {
        let start = self.arena.start_of(segment);
        let end = start + self.arena.segments[segment].used;
        self.arena.segments[segment].state = Use::Held;
        let mut at = start;
        while at < end {
            let bytes = self.arena.at(at);
            let header = Header::read(bytes);
            let len = header.item_len();
            if !item::is_dead(bytes) {
                let has_ended = header.expiry != 0 && header.expiry <= now;
                let new = if has_ended {
                    None
                } else {
                    self.arena.append_survivor(len)
                };
                if let Some(new) = new {
                    self.arena.copy_within(at, len, new);
                    self.entries.set_offset(header.handle, new);
                    self.arena.free_item(at, len);
                    self.counters.moved_bytes += len as u64;
                } else {
                    self.drop_item(&header, now);
                }
            }
            at += len as u32;
        }
    }

    /// The segments of the run that the item of this key is, if it is one; else none.
    fn run_of(&self, hash: u64, key: &[u8]) -> Range<usize> {
        let found = self.find(hash, key).map(|found| found.offset);
        found.map_or(0..0, |offset| {
            let len = Header::read(self.arena.at(offset)).item_len();
            self.arena.run_at(offset, len)
        })
    }

    /// Removes the item of this key if it is a run.
    fn remove_run(&mut self, hash: u64, key: &[u8]) {
        if let Some(old) = self.find(hash, key)
            && !self.run_of(hash, key).is_empty()
        {
            self.remove(old.handle);
        }
    }

    /// Room for an item longer than a segment; where the old one is as long, its segments count as free.
    fn place_run(&mut self, hash: u64, key: &[u8], len: usize, now: u32) -> Option<u32> {
        let count = len.div_ceil(self.arena.segment_bytes());
        self.arena.close_open();
        let mut effort = Effort::for_item(len);
        let mut most = 0;
        // Eviction may choose the old one.
        loop {
            let available = self.arena.available() + self.run_of(hash, key).len();
            if available > count {
                break;
            }
            if available > most {
                (most, effort) = (available, effort.renewed());
            }
            self.gain(now, &mut effort)?;
        }
        self.arena.close_open();
        let first = self.cheapest_window(count, &self.run_of(hash, key))?;
        self.remove_run(hash, key);
        for segment in first..first + count {
            if self.arena.segments[segment].state == Use::Run {
                let header = Header::read(self.arena.at(self.arena.start_of(segment)));
                self.drop_item(&header, now);
            }
            if self.arena.segments[segment].state != Use::Closed {
                self.arena.hold(segment);
            }
        }
        // What is free in the window is held by now, so that what is moved goes elsewhere.
        for segment in first..first + count {
            if self.arena.segments[segment].state == Use::Closed {
                self.empty(segment, now);
            }
        }
        let offset = self.arena.make_run(first, count, len);
        // What was moved may have needed one segment more than it left; the run itself is not yet anybody's to evict.
        self.rebalance();
        self.compact(now);
        Some(offset)
    }

    /// The window of `count` segments that costs least to empty, those of `vacated` nothing. Runs of other items cost most: they are
    /// evicted.
    fn cheapest_window(&self, count: usize, vacated: &Range<usize>) -> Option<usize> {
        let segments = &self.arena.segments;
        let segment = |number: usize| match vacated.contains(&number) {
            true => Segment::empty(Use::Free),
            false => segments[number],
        };
        let cost = |first: usize| {
            let (end, window) = (first + count, (first..first + count).map(segment));
            let begins_in_a_run = segment(first).state == Use::RunTail;
            let ends_in_a_run = end < segments.len() && segment(end).state == Use::RunTail;
            let in_use = |state| match state {
                Use::Open | Use::Survivors | Use::Held => true,
                Use::Run => self.options.policy == PolicyKind::None,
                _ => false,
            };
            if begins_in_a_run || ends_in_a_run || window.clone().any(|segment| in_use(segment.state)) {
                return None;
            }
            let price = |segment: Segment| match segment.state {
                Use::Run | Use::RunTail => u64::from(segment.live) << 20,
                _ => u64::from(segment.live),
            };
            Some((window.map(price).sum::<u64>(), first))
        };
        let last = segments.len().checked_sub(count)?;
        (0..=last).filter_map(cost).min().map(|(_, first)| first)
    }
}
