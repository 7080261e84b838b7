//! FSE tables to decode with, and their descriptions.
//!
//! *Source*: RFC 8878 section 4.1.

use super::input::Input;
use crate::entropy::fse::{MAX_LOG, MAX_SYMBOLS, Normalized, spread};

/// Symbols' slots in arrays that are indexed without a check.
const SYMBOL_SLOTS: usize = 64;

/// What each symbol of a field stands for, as the parts of a state that do not depend on the table.
pub(super) type Meanings = [State; SYMBOL_SLOTS];

/// One state of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The least value that it stands for.
    pub(super) base: u32,
    /// The least state that follows.
    pub(super) next: u16,
    /// Bits that are added to the value.
    pub(super) extra_bits: u8,
    /// Bits that are added to the next state.
    pub(super) state_bits: u8,
}

impl State {
    /// What a symbol stands for: its least value, and how many bits are added to it.
    pub(super) const fn meaning((base, extra_bits): (u32, u8)) -> Self {
        Self {
            base,
            next: 0,
            extra_bits,
            state_bits: 0,
        }
    }
}

/// A table to decode with.
#[derive(Clone)]
pub(super) struct Decoder {
    pub(super) log: u32,
    states: [State; 1 << MAX_LOG],
}

impl Decoder {
    pub(super) fn new() -> Self {
        Self {
            log: 0,
            states: [State::default(); 1 << MAX_LOG],
        }
    }

    #[inline(always)]
    pub(super) fn state(&self, state: usize) -> &State {
        &self.states[state % (1 << MAX_LOG)]
    }

    /// A table of one symbol, which is read without a bit.
    pub(super) fn build_single(&mut self, meaning: State) {
        self.log = 0;
        self.states[0] = meaning;
    }

    /// Takes over `other`, as much as is used of it.
    pub(super) fn copy(&mut self, other: &Self) {
        let size = 1 << other.log.min(MAX_LOG);
        self.log = other.log;
        self.states[..size].copy_from_slice(&other.states[..size]);
    }

    /// Makes the table of `normalized`, whose symbols stand for `meanings`.
    #[inline(always)]
    pub(super) fn build(&mut self, normalized: &Normalized, meanings: &Meanings) {
        let log = normalized.log;
        let shares = &normalized.counts[..normalized.symbol_count];
        let mut next = [0u32; SYMBOL_SLOTS];
        for (next, share) in next.iter_mut().zip(shares) {
            *next = u32::from(share.unsigned_abs());
        }
        let symbols = spread(shares, log);
        let size = 1u32 << log;
        for (state, &symbol) in self.states[..1 << log].iter_mut().zip(&symbols) {
            let symbol = usize::from(symbol) % SYMBOL_SLOTS;
            let reached = next[symbol];
            next[symbol] += 1;
            // `log` less the logarithm of `reached`; written so, it is one instruction that every machine is quick at.
            let bits = reached.leading_zeros().wrapping_sub(31 - log);
            *state = State {
                next: (reached << (bits % 32)).wrapping_sub(size) as u16,
                state_bits: bits as u8,
                ..meanings[symbol]
            };
        }
        self.log = log;
    }
}

/// Reads a description at `at` of the block, which ends at `end`; answers where it ends, too.
#[inline(always)]
pub(super) fn read_description(
    input: &Input,
    at: usize,
    end: usize,
    max_log: u32,
    max_symbol: usize,
) -> Result<(usize, Normalized), &'static str> {
    const LIES: &str = "a table's probabilities do not add up";
    let peek = |bit: usize, bits: u32| {
        let word = input.word_from(at + bit / 8) >> (bit % 8);
        (word as u32) & ((1 << bits) - 1)
    };
    let log = peek(0, 4) + 5;
    let mut bit = 4;
    if log > max_log {
        return Err("a table is larger than allowed");
    }
    let mut counts = [0i16; MAX_SYMBOLS];
    let size = 1i32 << log;
    let (mut remaining, mut threshold, mut bits) = (size + 1, size, log + 1);
    let (mut symbol, mut after_zero) = (0, false);
    while remaining > 1 {
        if after_zero {
            loop {
                let zeros = peek(bit, 2);
                bit += 2;
                symbol += zeros as usize;
                if zeros < 3 {
                    break;
                }
                if symbol > max_symbol {
                    return Err(LIES);
                }
            }
        }
        if symbol > max_symbol {
            return Err(LIES);
        }
        let short_codes = 2 * threshold - 1 - remaining;
        let code = peek(bit, bits) as i32;
        let short = code & (threshold - 1);
        let count = if short < short_codes {
            bit += bits as usize - 1;
            short
        } else {
            bit += bits as usize;
            if code >= threshold {
                code - short_codes
            } else {
                code
            }
        } - 1;
        counts[symbol] = count as i16;
        symbol += 1;
        remaining -= count.abs();
        after_zero = count == 0;
        while remaining < threshold && threshold > 1 {
            bits -= 1;
            threshold >>= 1;
        }
    }
    let ends_at = at + bit.div_ceil(8);
    if remaining != 1 || ends_at > end {
        return Err(LIES);
    }
    Ok((
        ends_at,
        Normalized {
            log,
            counts,
            symbol_count: symbol,
        },
    ))
}
