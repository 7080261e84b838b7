//! The arena: segments that items are appended to, so that memory has no holes but those of dead items.
//!
//! A segment is filled front to back and emptied as a whole: by [`clean`](super::clean), which moves what still lives.
//! Items longer than a segment take a run of whole segments. At most `allowed` segments hold memory at any time.
//!
//! *Source*: Rosenblum and Ousterhout, "The design and implementation of a log-structured file system", TOCS 1992;
//! Rumble et al., "Log-structured memory for DRAM-based storage", FAST 2014.

use std::io;
use std::ops::Range;

use super::item;
use super::mapping::Mapping;

/// What a segment is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Holds no memory.
    Released,
    /// Holds memory and no item.
    Free,
    /// New items are appended.
    Open,
    /// Items that cleaning moved are appended.
    Survivors,
    /// Full.
    Closed,
    /// The first of a run for one item.
    Run,
    /// Another of a run.
    RunTail,
    /// Being emptied, or set aside for a run.
    Held,
}

/// One segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) state: Use,
    /// Bytes of living items.
    pub(crate) live: u32,
    /// Bytes appended.
    pub(crate) used: u32,
    /// Bytes at the end that are empty only because the segment was closed early. Other ends are shorter than the item that was to follow, and
    /// moving what lives may leave such an end again.
    gap: u32,
}

impl Segment {
    pub(crate) const fn empty(state: Use) -> Self {
        Self {
            state,
            live: 0,
            used: 0,
            gap: 0,
        }
    }

    /// Bytes that moving what lives in it gains.
    const fn gain(&self) -> u32 {
        self.used - self.live + self.gap
    }
}

/// Cleaning a segment must free at least 1/32 of it, so that it moves at most 32 bytes for each byte that it frees.
pub(crate) const LEAST_GAIN: usize = 32;
/// Bytes that may be moved for each byte stored to repack segments without dead items, whose items may fit better elsewhere.
const REPACKED: u64 = 8;
/// Segments' worth of such bytes that may be saved up.
const REPACKED_AT_ONCE: u64 = 16;

/// The bytes of a shard's items.
#[derive(Debug)]
pub(crate) struct Arena {
    bytes: Mapping<u8>,
    pub(crate) segments: Vec<Segment>,
    segment_bytes: usize,
    /// Segments with memory.
    touched: usize,
    /// Most that may have memory.
    allowed: usize,
    free: Vec<u32>,
    open: Option<u32>,
    survivors: Option<u32>,
    /// Some closed segment may be worth cleaning: without it, a search would be in vain.
    is_any_cleanable: bool,
    /// Bytes that may be moved only to pack them better.
    repacking: u64,
    /// Bytes of all living items; runs count whole.
    live: u64,
}

impl Arena {
    pub(crate) fn new(limit_bytes: usize, segment_bytes: usize) -> io::Result<Self> {
        let count = limit_bytes / segment_bytes;
        Ok(Self {
            bytes: Mapping::reserve(count * segment_bytes)?,
            segments: vec![Segment::empty(Use::Released); count],
            segment_bytes,
            touched: 0,
            allowed: count,
            free: Vec::new(),
            open: None,
            survivors: None,
            is_any_cleanable: false,
            repacking: 0,
            live: 0,
        })
    }

    pub(crate) const fn live_bytes(&self) -> u64 {
        self.live
    }

    pub(crate) const fn touched_bytes(&self) -> usize {
        self.touched * self.segment_bytes
    }

    pub(crate) const fn allowed(&self) -> usize {
        self.allowed
    }

    pub(crate) const fn segment_bytes(&self) -> usize {
        self.segment_bytes
    }

    /// Bytes that an item of this length counts for: a run counts whole.
    pub(crate) const fn charge(&self, len: usize) -> u64 {
        let charged = if len > self.segment_bytes {
            len.next_multiple_of(self.segment_bytes)
        } else {
            len
        };
        charged as u64
    }

    /// Bytes of living items that fit with room for cleaning to work in: one segment open, one for survivors, one in
    /// reserve, and 1/20 of the rest dead.
    pub(crate) const fn usable_bytes(&self) -> u64 {
        let rest = self.allowed.saturating_sub(3) * self.segment_bytes;
        (rest - rest / 20) as u64
    }

    /// Segments that can be taken without cleaning.
    pub(crate) fn available(&self) -> usize {
        (self.free.len() + self.allowed).saturating_sub(self.touched)
    }

    /// Sets how many segments may hold memory. [`Arena::excess`] says how many hold it beyond that.
    pub(crate) fn set_allowed(&mut self, allowed: usize) {
        self.allowed = allowed.min(self.segments.len());
        while self.excess() > 0 && self.release_one() {}
    }

    pub(crate) const fn excess(&self) -> usize {
        self.touched.saturating_sub(self.allowed)
    }

    /// The bytes from an item's first on.
    #[inline]
    pub(crate) fn at(&self, offset: u32) -> &[u8] {
        &self.bytes[offset as usize..]
    }

    /// Starts to fetch the first bytes of an item: its header, its key and a short value.
    pub(crate) fn prefetch(&self, offset: u32) {
        self.bytes.prefetch(offset as usize);
        self.bytes.prefetch(offset as usize + 64);
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, offset: u32) -> &mut [u8] {
        &mut self.bytes[offset as usize..]
    }

    /// The segments of the run that an item at `offset`, `len` bytes long, takes; none where it shares one with others.
    pub(crate) const fn run_at(&self, offset: u32, len: usize) -> Range<usize> {
        if len <= self.segment_bytes {
            return 0..0;
        }
        let first = offset as usize / self.segment_bytes;
        first..first + len.div_ceil(self.segment_bytes)
    }

    pub(crate) fn copy_within(&mut self, from: u32, len: usize, to: u32) {
        let from = from as usize;
        self.bytes.copy_within(from..from + len, to as usize);
    }

    pub(crate) const fn start_of(&self, segment: usize) -> u32 {
        (segment * self.segment_bytes) as u32
    }

    /// Room for a new item of at most a segment; `None` when cleaning must come first.
    pub(crate) fn append(&mut self, len: usize) -> Option<u32> {
        let offset = self.append_to_open(len)?;
        let most = REPACKED_AT_ONCE * self.segment_bytes as u64;
        self.repacking = (self.repacking + REPACKED * len as u64).min(most);
        Some(offset)
    }

    fn append_to_open(&mut self, len: usize) -> Option<u32> {
        if let Some(offset) = self.open.and_then(|open| self.bump(open, len)) {
            return Some(offset);
        }
        // The last segment stays with cleaning, which could not begin without one.
        if self.available() < 2 {
            return None;
        }
        let fresh = self.take_segment(Use::Open)?;
        if let Some(full) = self.open.replace(fresh) {
            self.close(full);
        }
        self.bump(fresh, len)
    }

    /// Room for an item that cleaning moves.
    pub(crate) fn append_survivor(&mut self, len: usize) -> Option<u32> {
        if let Some(offset) = self.survivors.and_then(|open| self.bump(open, len)) {
            return Some(offset);
        }
        let fresh = self.take_segment(Use::Survivors)?;
        if let Some(full) = self.survivors.replace(fresh) {
            self.close(full);
        }
        self.bump(fresh, len)
    }

    fn bump(&mut self, segment: u32, len: usize) -> Option<u32> {
        let limit = self.segment_bytes;
        let open = &mut self.segments[segment as usize];
        let start = open.used as usize;
        if start + len > limit {
            return None;
        }
        open.used += len as u32;
        open.live += len as u32;
        self.live += len as u64;
        Some(self.start_of(segment as usize) + start as u32)
    }

    fn close(&mut self, segment: u32) {
        self.segments[segment as usize].state = Use::Closed;
        self.look_at_closed(segment as usize);
    }

    /// Closes a segment that may still have room at its end.
    fn close_early(&mut self, segment: u32) {
        let closed = &mut self.segments[segment as usize];
        closed.gap = self.segment_bytes as u32 - closed.used;
        self.close(segment);
    }

    fn take_segment(&mut self, state: Use) -> Option<u32> {
        let taken = if let Some(free) = self.free.pop() {
            free
        } else if self.touched < self.allowed || state == Use::Survivors {
            // Cleaning may go beyond the limit by this one: it is about to free another.
            let fresh = self
                .segments
                .iter()
                .position(|segment| segment.state == Use::Released)?;
            self.touched += 1;
            fresh as u32
        } else {
            return None;
        };
        self.segments[taken as usize] = Segment::empty(state);
        Some(taken)
    }

    /// Marks the item at `offset`, `len` bytes long, as dead.
    pub(crate) fn free_item(&mut self, offset: u32, len: usize) {
        item::bury(self.at_mut(offset));
        self.live -= self.charge(len);
        if len > self.segment_bytes {
            self.run_at(offset, len)
                .for_each(|segment| self.make_free(segment));
            return;
        }
        let first = offset as usize / self.segment_bytes;
        self.segments[first].live -= len as u32;
        self.look_at_closed(first);
    }

    /// Makes a closed segment without living items available again, and notes one that is worth cleaning.
    fn look_at_closed(&mut self, segment: usize) {
        let closed = self.segments[segment];
        if closed.state != Use::Closed {
            return;
        }
        if closed.live == 0 {
            self.make_free(segment);
        } else {
            self.is_any_cleanable |= self.is_cleanable(&closed);
        }
    }

    const fn is_cleanable(&self, segment: &Segment) -> bool {
        matches!(segment.state, Use::Closed) && segment.gain() as usize >= self.segment_bytes / LEAST_GAIN
    }

    /// Makes a segment that has no living item available again.
    pub(crate) fn make_free(&mut self, segment: usize) {
        self.segments[segment] = Segment::empty(Use::Free);
        self.free.push(segment as u32);
        if self.excess() > 0 {
            self.release_one();
        }
    }

    fn release_one(&mut self) -> bool {
        let Some(segment) = self.free.pop() else {
            return false;
        };
        let start = segment as usize * self.segment_bytes;
        self.bytes.release(start..start + self.segment_bytes);
        self.segments[segment as usize].state = Use::Released;
        self.touched -= 1;
        true
    }

    /// The segment that cleaning gains most from; none if no segment is worth it.
    pub(crate) fn most_dead(&mut self) -> Option<usize> {
        if !self.is_any_cleanable {
            return None;
        }
        let segments = self.segments.iter().enumerate();
        let found = segments
            .filter(|(_, segment)| self.is_cleanable(segment))
            .max_by_key(|(_, segment)| segment.gain())
            .map(|(number, _)| number);
        self.is_any_cleanable = found.is_some();
        found
    }

    /// A segment whose items may leave less room empty elsewhere.
    pub(crate) fn repackable(&mut self) -> Option<usize> {
        let segment_bytes = self.segment_bytes as u64;
        if self.repacking < segment_bytes {
            return None;
        }
        let cheapest = self.cheapest()?;
        let live = u64::from(self.segments[cheapest].live);
        if (segment_bytes - live) * (LEAST_GAIN as u64) < segment_bytes {
            return None;
        }
        self.repacking -= live;
        Some(cheapest)
    }

    /// The closed segment with the fewest living bytes.
    pub(crate) fn cheapest(&self) -> Option<usize> {
        let closed = self.segments.iter().enumerate();
        closed
            .filter(|(_, segment)| segment.state == Use::Closed)
            .min_by_key(|(_, segment)| segment.live)
            .map(|(number, _)| number)
    }

    /// Closes the segments that are being filled, so that a run may take their place.
    pub(crate) fn close_open(&mut self) {
        for open in [self.open.take(), self.survivors.take()].into_iter().flatten() {
            self.close_early(open);
        }
    }

    /// Sets one segment aside, taking it out of the free ones.
    pub(crate) fn hold(&mut self, segment: usize) {
        match self.segments[segment].state {
            Use::Free => self.free.retain(|&free| free as usize != segment),
            Use::Released => self.touched += 1,
            _ => {}
        }
        self.segments[segment].state = Use::Held;
    }

    /// Turns held segments into a run for one item of `len` bytes.
    pub(crate) fn make_run(&mut self, first: usize, count: usize, len: usize) -> u32 {
        for segment in first..first + count {
            let state = if segment == first { Use::Run } else { Use::RunTail };
            self.segments[segment] = Segment {
                state,
                live: self.segment_bytes as u32,
                used: self.segment_bytes as u32,
                gap: 0,
            };
        }
        while self.excess() > 0 && self.release_one() {}
        self.live += self.charge(len);
        self.start_of(first)
    }

    /// Forgets all items and gives the memory back.
    pub(crate) fn clear(&mut self) {
        self.bytes.release(0..self.segments.len() * self.segment_bytes);
        self.segments.fill(Segment::empty(Use::Released));
        self.free.clear();
        self.is_any_cleanable = false;
        (self.touched, self.live, self.open, self.survivors) = (0, 0, None, None);
    }
}
