//! Bytes that a connection keeps between two events: unfinished requests, unsent replies.
//!
//! Small ones lie in the allocator's memory, large ones in mappings of their own, so that giving them back really gives
//! memory back. Of a mapping only what was filled takes memory, so room for a value that is announced and never sent costs
//! nothing.

use std::io;

use crate::store::mapping::Mapping;

/// Up to here the allocator serves.
pub(super) const SMALL_BYTES: usize = 4 << 10;
/// What is touched takes whole pages.
const PAGE_BYTES: usize = 4 << 10;

/// A queue of bytes. Empty, it holds no memory.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    small: Vec<u8>,
    large: Option<Mapping<u8>>,
    start: usize,
    end: usize,
}

impl Buffer {
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.large {
            Some(large) => &large[self.start..self.end],
            None => &self.small[self.start..self.end],
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.end - self.start
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Memory held: nothing was written behind `end`.
    pub(crate) fn held_bytes(&self) -> usize {
        let touched = self.end.next_multiple_of(PAGE_BYTES);
        self.small.capacity() + self.large.as_ref().map_or(0, |_| touched)
    }

    /// Makes room for `len` bytes in all.
    ///
    /// # Errors
    /// When the kernel gives no memory.
    pub(crate) fn reserve(&mut self, len: usize) -> io::Result<()> {
        let capacity = self.large.as_ref().map_or(self.small.len(), |large| large.len());
        if self.start + len <= capacity {
            return Ok(());
        }
        if len <= SMALL_BYTES {
            let mut small = vec![0; len.next_power_of_two().max(256)];
            small[..self.len()].copy_from_slice(self.bytes());
            self.end = self.len();
            (self.small, self.large, self.start) = (small, None, 0);
            return Ok(());
        }
        let mut large = Mapping::reserve(len.next_multiple_of(PAGE_BYTES).max(self.len() * 3 / 2))?;
        large.in_small_pages();
        large[..self.len()].copy_from_slice(self.bytes());
        self.end = self.len();
        (self.large, self.start, self.small) = (Some(large), 0, Vec::new());
        Ok(())
    }

    /// Room behind the bytes, for reading into; then [`Buffer::filled`].
    pub(crate) fn room(&mut self) -> &mut [u8] {
        match &mut self.large {
            Some(large) => &mut large[self.end..],
            None => &mut self.small[self.end..],
        }
    }

    pub(crate) const fn filled(&mut self, len: usize) {
        self.end += len;
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reserve(self.len() + bytes.len())?;
        self.room()[..bytes.len()].copy_from_slice(bytes);
        self.filled(bytes.len());
        Ok(())
    }

    /// Forgets the first `len` bytes; the memory goes with the last.
    pub(crate) fn consume(&mut self, len: usize) {
        self.start += len;
        if self.is_empty() {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_queue_of_bytes_that_holds_nothing_when_empty(steps in prop::collection::vec((0_usize..9000, 0_usize..9000), 1..40)) {
            let (mut buffer, mut model, mut most) = (Buffer::default(), VecDeque::<u8>::new(), 0);
            for (number, (pushed, consumed)) in steps.into_iter().enumerate() {
                let bytes: Vec<u8> = (0..pushed).map(|at| (at + number) as u8).collect();
                buffer.push(&bytes).unwrap();
                model.extend(&bytes);
                most = most.max(model.len());
                let consumed = consumed.min(buffer.len());
                buffer.consume(consumed);
                model.drain(..consumed);
                prop_assert!(buffer.bytes() == model.make_contiguous());
                prop_assert!(buffer.held_bytes() <= 2 * most + 8192);
                prop_assert!(!buffer.is_empty() || buffer.held_bytes() == 0);
            }
        }
    }

    #[test]
    fn room_for_what_has_not_come_is_no_memory() {
        let mut buffer = Buffer::default();
        buffer.reserve(1 << 20).unwrap();
        assert_eq!(buffer.held_bytes(), 0);
        for (len, held) in [(1, 4096), (4095, 4096), (1, 8192)] {
            buffer.filled(len);
            assert_eq!(buffer.held_bytes(), held);
        }
    }
}
