//! A block's bytes, readable forwards and backwards in any order without a check per access.

use super::memory::{EMPTY, SPACE, Space, get};

/// Zeros before a block: a stream that starts with it is read eight bytes at a time from its end.
const FRONT: usize = 32;

/// The bytes of a block, with room around them.
pub(super) struct Input {
    bytes: Space,
    length: usize,
}

/// A stream of bits that is read from its end to its beginning.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    /// The bit behind the next one. Wraps around when too much is read, and is then no longer `start`.
    pub(super) at: usize,
    start: usize,
}

impl Stream {
    /// Bits that are left to read.
    pub(super) fn bits(&self) -> usize {
        self.at - self.start
    }

    /// Whether every bit has been read and none beyond.
    #[inline(always)]
    pub(super) fn is_used_up(&self) -> bool {
        self.at == self.start
    }
}

/// A word of a stream that is shifted up as it is used, the next bit highest.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// The byte behind the word.
    end: usize,
    pub(super) bits: u64,
}

impl Window {
    /// The bit of the stream behind the next one.
    #[inline(always)]
    pub(super) fn at(self) -> usize {
        self.end
            .wrapping_mul(8)
            .wrapping_sub(self.bits.trailing_zeros() as usize)
    }

    /// Replaces what was used, so that 56 bits are there.
    #[inline(always)]
    pub(super) fn refill(&mut self, input: &Input) {
        let used = self.bits.trailing_zeros() as usize;
        self.end = self.end.wrapping_sub(used / 8);
        self.bits = input.marked(self.end) << (used % 8);
    }
}

impl Input {
    pub(super) fn new() -> Self {
        Self {
            bytes: EMPTY,
            length: 0,
        }
    }

    /// Takes a block, of less than a page.
    #[inline(always)]
    pub(super) fn load(&mut self, block: &[u8]) -> Result<(), &'static str> {
        if block.len() > SPACE / 2 {
            return Err("the block is longer than a page");
        }
        self.length = block.len();
        self.bytes[FRONT..FRONT + block.len()].copy_from_slice(block);
        Ok(())
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The byte at `at` of the block, if it has one.
    #[inline(always)]
    pub(super) fn byte(&self, at: usize) -> Result<u8, &'static str> {
        match self.bytes.get(FRONT + at) {
            Some(&byte) if at < self.length => Ok(byte),
            _ => Err("the block ends too early"),
        }
    }

    /// The eight bytes from `at` on; what is not of the block is anything.
    #[inline(always)]
    pub(super) fn word_from(&self, at: usize) -> u64 {
        self.word(FRONT + at)
    }

    /// The sixteen bytes from `at` on; what is not of the block is anything.
    #[inline(always)]
    pub(super) fn sixteen(&self, at: usize) -> [u8; 16] {
        get(&self.bytes, FRONT + at)
    }

    /// The 57 bits or more before the bit `at` of a stream, the last one highest.
    #[inline(always)]
    pub(super) fn word_before(&self, at: usize) -> u64 {
        let lowest = at.wrapping_sub(57);
        self.word(lowest / 8) << (!lowest % 8)
    }

    /// The word before the bit `at` of a stream, to be shifted up as it is used.
    #[inline(always)]
    pub(super) fn window(&self, at: usize) -> Window {
        let byte = at.wrapping_add(7) / 8;
        Window {
            end: byte,
            bits: self.marked(byte) << (at.wrapping_neg() % 8),
        }
    }

    /// The eight bytes before `end` with their lowest bit set: zeros below it tell how far they were shifted.
    #[inline(always)]
    fn marked(&self, end: usize) -> u64 {
        self.word(end.wrapping_sub(8)) | 1
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(get(&self.bytes, at))
    }

    /// Opens the stream in `bytes` of the block; its highest bit that is set closes it.
    #[inline(always)]
    pub(super) fn stream(&self, from: usize, to: usize) -> Result<Stream, &'static str> {
        if from >= to {
            return Err("a stream is empty");
        }
        let last = self.byte(to - 1)?;
        if last == 0 {
            return Err("a stream has no end mark");
        }
        Ok(Stream {
            at: 8 * (FRONT + to - 1) + last.ilog2() as usize,
            start: 8 * (FRONT + from),
        })
    }
}
