//! Huffman codes to decode with: their description, and one or four streams of literals.
//!
//! *Source*: RFC 8878 section 4.2.

use super::fse::{self, Decoder, State};
use super::input::{Input, Stream, Window};
use super::memory::{SLACK, SPACE, Space};
use crate::entropy::bytes;

/// Longest code.
const MAX_BITS: usize = 11;
/// Slots of the table: any eleven bits.
const SLOTS: usize = 1 << MAX_BITS;
/// Most weights that a description has: the last symbol's follows from the others.
const MAX_WEIGHTS: usize = 255;
/// Symbols that are decoded between two readings: 5 × 11 bits are what a word always has.
const AT_ONCE: usize = 5;
/// Bytes of each stream's part of the space.
const LANE: usize = SPACE / 4;

/// Pairs of weights between two readings: 2 × 4 × 6 bits are what a word always has.
const PAIRS_AT_ONCE: usize = 4;

/// A code to decode with.
pub(super) struct Code {
    /// By the next bits: symbol above, length of its code in the low eight bits. Runs are written eight at a time.
    slots: [u16; SLOTS + 8],
    max_bits: u32,
    weights_table: Decoder,
}

/// The bits of `word`, highest first, that lead from `state` to the next.
#[inline(always)]
fn take(word: &mut u64, left: &mut usize, state: &State) -> usize {
    let bits = u32::from(state.state_bits) % 64;
    let value = *word >> 1 >> (63 - bits);
    *word <<= bits;
    *left -= bits as usize;
    value as usize
}

impl Code {
    pub(super) fn new() -> Self {
        Self {
            slots: [0; SLOTS + 8],
            max_bits: 0,
            weights_table: Decoder::new(),
        }
    }

    /// Reads a description at `at` of the block, which ends at `end` at the latest, and makes its code; answers where it
    /// ends.
    #[inline(always)]
    pub(super) fn read(&mut self, input: &Input, at: usize, end: usize) -> Result<usize, &'static str> {
        let header = usize::from(input.byte(at)?);
        let mut weights = [0u8; 256];
        let at = at + 1;
        let (ends_at, count) = if header >= 128 {
            let count = header - 127;
            for (index, pair) in weights[..count].chunks_mut(2).enumerate() {
                let byte = input.byte(at + index)?;
                pair[0] = byte >> 4;
                if let Some(second) = pair.get_mut(1) {
                    *second = byte & 15;
                }
            }
            (at + count.div_ceil(2), count)
        } else {
            let ends_at = at + header;
            if ends_at > end {
                return Err("the block ends in the description of its code");
            }
            (ends_at, self.read_weights(input, at, ends_at, &mut weights)?)
        };
        if ends_at > end {
            return Err("the block ends in the description of its code");
        }
        self.build(&mut weights, count)?;
        Ok(ends_at)
    }

    /// Decodes weights written by FSE, two states in turn; answers how many.
    #[inline(always)]
    fn read_weights(
        &mut self,
        input: &Input,
        at: usize,
        end: usize,
        weights: &mut [u8; 256],
    ) -> Result<usize, &'static str> {
        const CUT_OFF: &str = "the weights of a code are cut off";
        const MEANINGS: fse::Meanings = {
            let mut meanings = [State::meaning((0, 0)); 64];
            let mut symbol = 0;
            while symbol < 64 {
                meanings[symbol] = State::meaning((symbol as u32, 0));
                symbol += 1;
            }
            meanings
        };
        let (at, normalized) = fse::read_description(input, at, end, 6, MAX_BITS + 1)?;
        let table = &mut self.weights_table;
        table.build(&normalized, &MEANINGS);
        let stream = input.stream(at, end)?;
        let log = table.log as usize;
        let Some(mut left) = stream.bits().checked_sub(2 * log) else {
            return Err(CUT_OFF);
        };
        let word = input.word_before(stream.at);
        let mut position = stream.at.wrapping_sub(2 * log);
        let (mut first, mut second) = (
            (word >> 1 >> (63 - log)) as usize,
            (word << log >> 1 >> (63 - log)) as usize,
        );
        for count in (0..MAX_WEIGHTS - 1).step_by(2 * PAIRS_AT_ONCE) {
            let mut word = input.word_before(position);
            let before = left;
            // Two states in turn; when one has too few bits left for the next state, the other's symbol is the last.
            for pair in (count..).step_by(2).take(PAIRS_AT_ONCE) {
                let state = table.state(first);
                weights[pair % 256] = state.base as u8;
                weights[(pair + 1) % 256] = table.state(second).base as u8;
                if left < usize::from(state.state_bits) {
                    return Ok(pair + 2);
                }
                first = usize::from(state.next) + take(&mut word, &mut left, state);
                let state = table.state(second);
                weights[(pair + 2) % 256] = table.state(first).base as u8;
                if left < usize::from(state.state_bits) {
                    return Ok(pair + 3);
                }
                second = usize::from(state.next) + take(&mut word, &mut left, state);
            }
            position = position.wrapping_sub(before - left);
        }
        Err("a code has too many weights")
    }

    /// Makes the table of `count` weights and the last one, which they leave over.
    #[inline(always)]
    fn build(&mut self, weights: &mut [u8; 256], count: usize) -> Result<(), &'static str> {
        const LIES: &str = "the weights of a code do not add up";
        if count > MAX_WEIGHTS {
            return Err("a code has too many weights");
        }
        let most = weights.iter().fold(0, |most, &weight| most.max(weight));
        let total: u32 = weights.iter().map(|&weight| (1 << (weight % 32)) >> 1).sum();
        if total == 0 || usize::from(most) > MAX_BITS {
            return Err(LIES);
        }
        let max_bits = 32 - total.leading_zeros();
        let rest = (1u32 << max_bits) - total;
        if max_bits as usize > MAX_BITS || !rest.is_power_of_two() {
            return Err(LIES);
        }
        weights[count] = 32 - rest.leading_zeros() as u8;
        // Weight by weight, so that runs are written from the front and each may overwrite what follows it.
        let mut at = 0;
        for weight in 1..=max_bits {
            let run = 1usize << (weight - 1);
            let bits = (max_bits + 1 - weight) as u16;
            for (index, part) in weights.as_chunks::<64>().0.iter().enumerate() {
                let mut symbols = bytes::equal(part, weight as u8);
                while symbols != 0 {
                    let symbol = 64 * index as u16 + symbols.trailing_zeros() as u16;
                    symbols &= symbols - 1;
                    for at in (at..at + run).step_by(8) {
                        if let Some(eight) = self.slots[at % SLOTS..].first_chunk_mut() {
                            *eight = [symbol << 8 | bits; 8];
                        }
                    }
                    at += run;
                }
            }
            // A complete code has its longest codes in pairs.
            if weight == 1 && (at < 2 || at % 2 == 1) {
                return Err(LIES);
            }
        }
        self.max_bits = max_bits;
        Ok(())
    }

    /// Decodes `count` literals of one stream to position `to` of `literals`.
    #[inline(always)]
    pub(super) fn one_stream(
        &self,
        input: &Input,
        mut stream: Stream,
        literals: &mut Space,
        to: usize,
        count: usize,
    ) -> Result<(), &'static str> {
        let mut window = input.window(stream.at);
        let groups = count / AT_ONCE;
        for group in 0..groups {
            let at = (to + group * AT_ONCE) % SPACE;
            for literal in &mut literals[at..at + AT_ONCE] {
                *literal = self.next(&mut window);
            }
            window.refill(input);
        }
        stream.at = window.at();
        let done = groups * AT_ONCE;
        self.one_by_one(input, stream, literals, to + done, count - done)
    }

    /// As `one_stream`, for few literals.
    #[inline(always)]
    fn one_by_one(
        &self,
        input: &Input,
        mut stream: Stream,
        literals: &mut Space,
        to: usize,
        count: usize,
    ) -> Result<(), &'static str> {
        for index in to..to + count {
            let (symbol, bits) = self.symbol(input.word_before(stream.at));
            literals[index % SPACE] = symbol;
            stream.at = stream.at.wrapping_sub(bits);
        }
        if stream.is_used_up() {
            Ok(())
        } else {
            Err("a stream of literals does not have the stated length")
        }
    }

    #[inline(always)]
    fn symbol(&self, word: u64) -> (u8, usize) {
        let slot = self.slots[(word >> (64 - self.max_bits)) as usize % SLOTS];
        ((slot >> 8) as u8, usize::from(slot & 0xFF))
    }

    /// The next literal, of a window that has a code left.
    #[inline(always)]
    fn next(&self, window: &mut Window) -> u8 {
        let slot = self.slots[(window.bits >> (64 - self.max_bits)) as usize % SLOTS];
        // The shift sees the low six bits alone: the length.
        window.bits = window.bits.wrapping_shl(u32::from(slot));
        (slot >> 8) as u8
    }

    /// Decodes `count` literals of four streams side by side: what one waits for, another uses.
    #[inline(always)]
    pub(super) fn four_streams(
        &self,
        input: &Input,
        streams: [Stream; 4],
        literals: &mut Space,
        count: usize,
    ) -> Result<(), &'static str> {
        const { assert!(AT_ONCE <= SLACK) };
        let segment = count.div_ceil(4);
        let Some(last) = count.checked_sub(3 * segment) else {
            return Err("four streams hold hardly a literal");
        };
        let [mut a, mut b, mut c, mut d] = [
            input.window(streams[0].at),
            input.window(streams[1].at),
            input.window(streams[2].at),
            input.window(streams[3].at),
        ];
        // Each to a quarter of the space: one position serves all.
        let groups = last / AT_ONCE;
        for group in 0..groups {
            let done = group * AT_ONCE % LANE;
            for step in 0..AT_ONCE {
                for (lane, window) in [&mut a, &mut b, &mut c, &mut d].into_iter().enumerate() {
                    literals[lane * LANE + done + step] = self.next(window);
                }
            }
            for window in [&mut a, &mut b, &mut c, &mut d] {
                window.refill(input);
            }
        }
        let done = groups * AT_ONCE;
        for (lane, (mut stream, window)) in streams.into_iter().zip([a, b, c, d]).enumerate() {
            let length = if lane == 3 { last } else { segment };
            stream.at = window.at();
            self.one_by_one(input, stream, literals, lane * LANE + done, length - done)?;
            literals.copy_within(lane * LANE..lane * LANE + length, lane * segment);
        }
        Ok(())
    }
}
