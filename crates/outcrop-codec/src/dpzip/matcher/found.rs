//! What a stretch of positions found in the table: a bit for each position, and the newest candidate of each that found one.

use super::super::table::{Newest, RUN};

/// Positions that are asked for before matches are taken: the fewer stretches, the fewer ends that nobody predicts.
pub(super) const STRETCH: usize = 512;
/// Bytes of a word of bits.
const WORD: usize = 8;

/// Answers of a stretch.
pub(super) struct Found {
    /// Behind the last run's bits a word of none, so that a word can be read at every byte.
    bits: [u8; STRETCH / 8 + WORD],
    newest: [u16; STRETCH],
}

impl Found {
    pub(super) fn new() -> Self {
        Self {
            bits: [0; STRETCH / 8 + WORD],
            newest: [0; STRETCH],
        }
    }

    /// Forgets the stretch before.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.bits.fill(0);
    }

    /// Where the newest candidates of the run that starts at `at` go.
    #[inline(always)]
    pub(super) fn newest(&mut self, at: usize) -> &mut Newest {
        match self.newest[at % STRETCH..].first_chunk_mut() {
            Some(newest) => newest,
            None => unreachable!("a stretch consists of whole runs"),
        }
    }

    /// Keeps the bits of the run that starts at `at`.
    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, bits: u64) {
        if let Some(word) = self.bits[at % STRETCH / 8..].first_chunk_mut() {
            *word = bits.to_le_bytes();
        }
    }

    /// The first position from `at` on that found something, and its candidate.
    ///
    /// Bits are read from the byte of `at` on, wherever words end: whether another one follows in a word nobody can predict.
    #[inline(always)]
    pub(super) fn next(&self, mut at: usize) -> Option<(usize, usize)> {
        while at < STRETCH {
            let Some(word) = self.bits[at / 8..].first_chunk::<WORD>() else {
                break;
            };
            let word = u64::from_le_bytes(*word) >> (at % 8);
            if word != 0 {
                let at = at + word.trailing_zeros() as usize;
                return Some((at, usize::from(self.newest[at % STRETCH])));
            }
            at = at / 8 * 8 + RUN;
        }
        None
    }
}
