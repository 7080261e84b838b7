//! FSE (tANS) tables: normalised counts, their description in the block, and encoding with them.
//!
//! *Source*: RFC 8878 section 4.1; the construction is that of zstd's reference encoder, because the decoder
//! has to arrive at the same table.

use std::hint::select_unpredictable;

use super::bits::BitWriter;

/// Most symbols that a table of a block's sequences may have (match length codes 0 to 52).
pub(super) const MAX_SYMBOLS: usize = 53;
/// Room for them in arrays that are indexed without a check.
const SYMBOL_SLOTS: usize = 64;
/// Largest table that we build: 2^9 states.
pub(super) const MAX_LOG: u32 = 9;
/// Fraction bits of costs: 256 is one bit.
pub(super) const COST_ONE_BIT: u32 = 256;

/// How much is done for small tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tables {
    /// Sequences by the predefined tables, and the literals' code described weight by weight.
    Quick,
    /// Whatever costs fewest bytes.
    Fitting,
}

/// Probabilities in units of 2^-log; −1 is "less than one", as predefined tables have it.
#[derive(Clone, Debug)]
pub(super) struct Normalized {
    pub(super) log: u32,
    pub(super) counts: [i16; MAX_SYMBOLS],
    pub(super) symbol_count: usize,
}

/// The table size that pays for `total` symbols of values up to `max_symbol`: larger tables fit better and cost more to describe.
pub(super) fn suitable_log(max_log: u32, total: u32, max_symbol: usize) -> u32 {
    let from_total = (total - 1).max(1).ilog2().saturating_sub(2);
    let least = (total.ilog2() + 1).min((max_symbol.max(1) as u32).ilog2() + 2);
    max_log.min(from_total).max(least).clamp(5, max_log)
}

impl Normalized {
    /// Scales `counts` (at least two of them above zero) to a sum of 2^log, none that occurs below 1.
    #[inline(always)]
    pub(super) fn scale(counts: &[u32], total: u32, log: u32) -> Self {
        /// How far past a small probability the exact value must be for rounding up to pay, in 2^-20
        /// (zstd's `rtbTable`): rounding 1 to 2 changes a cost more than 7 to 8. Larger ones are never rounded up.
        const ROUND_UP_BEYOND: [u64; 9] = [
            0,
            473_195,
            504_333,
            520_860,
            550_000,
            700_000,
            750_000,
            830_000,
            u64::MAX,
        ];
        let mut scaled = [0i16; MAX_SYMBOLS];
        let mut left = 1i32 << log;
        // One division for all; 62 fraction bits lose nothing that rounding could see.
        let unit = (1u64 << 62) / u64::from(total);
        let (mut largest, mut largest_share) = (0, 0i16);
        for (symbol, (&count, share)) in counts.iter().zip(&mut scaled).enumerate() {
            // Which symbols occur, and how often, nobody can predict: no branch asks for it.
            let exact = (u64::from(count) * unit) >> (42 - log);
            let whole = exact >> 20;
            let beyond = ROUND_UP_BEYOND[whole.min(8) as usize];
            let rounded = whole + u64::from(exact & 0xF_FFFF > beyond);
            *share = rounded.max(u64::from(count > 0)) as i16;
            left -= i32::from(*share);
            let is_larger = *share > largest_share;
            largest = select_unpredictable(is_larger, symbol, largest);
            largest_share = largest_share.max(*share);
        }
        if left + i32::from(largest_share) / 2 > 0 {
            scaled[largest] += left as i16;
        } else {
            take_back(&mut scaled, left);
        }
        Self {
            log,
            counts: scaled,
            symbol_count: counts.len(),
        }
    }

    /// What each symbol costs with this table in 1/256 bits; of a symbol that the table lacks, 0.
    pub(super) fn costs(&self) -> [u32; SYMBOL_SLOTS] {
        let mut costs = [0; SYMBOL_SLOTS];
        for (cost, share) in costs.iter_mut().zip(&self.counts[..self.symbol_count]) {
            if *share != 0 {
                *cost = self.log * COST_ONE_BIT - log2(share.unsigned_abs().into());
            }
        }
        costs
    }

    /// Writes the description of the table; `None` when `target` is too small.
    #[inline(always)]
    pub(super) fn describe(&self, target: &mut [u8]) -> Option<usize> {
        let mut writer = BitWriter::new(target);
        writer.push(u64::from(self.log - 5), 4);
        let size = 1i32 << self.log;
        let mut remaining = size + 1;
        let mut symbol = 0;
        let mut after_zero = false;
        while remaining > 1 {
            if after_zero {
                symbol = self.skip_zeros(symbol, &mut writer);
            }
            let count = i32::from(self.counts[symbol]);
            symbol += 1;
            let log = remaining.ilog2();
            let (threshold, bits) = (1 << log, log + 1);
            let short_codes = 2 * threshold - 1 - remaining;
            remaining -= count.abs();
            let mut code = count + 1;
            if code >= threshold {
                code += short_codes;
            }
            writer.push(code as u64, bits - u32::from(code < short_codes));
            writer.flush();
            after_zero = count == 0;
        }
        writer.finish()
    }

    /// Writes how many symbols from `symbol` on do not occur, two bits at a time; answers the next that does.
    fn skip_zeros(&self, symbol: usize, writer: &mut BitWriter) -> usize {
        let zeros = self.counts[symbol..]
            .iter()
            .take_while(|&&count| count == 0)
            .count();
        for _ in 0..zeros / 3 {
            writer.push(3, 2);
            writer.flush();
        }
        writer.push((zeros % 3) as u64, 2);
        writer.flush();
        symbol + zeros
    }
}

/// Takes `-missing` units from the shares above 1, one each in turn: when so many rare symbols were rounded
/// up to 1 that the most frequent one cannot pay alone.
fn take_back(shares: &mut [i16], mut missing: i32) {
    while missing < 0 {
        for share in shares.iter_mut().filter(|share| **share > 1) {
            *share -= 1;
            missing += 1;
            if missing == 0 {
                break;
            }
        }
    }
}

/// What `counts`, which sum up to `total`, cost at least in 1/256 bits, whatever the table.
#[inline(always)]
pub(super) fn entropy_cost(counts: &[u32], total: u32) -> u32 {
    let own: u32 = counts.iter().map(|&count| count_times_log2(count)).sum();
    count_times_log2(total).saturating_sub(own)
}

/// Largest count of a symbol: the sequences of a page.
const MAX_COUNT: usize = 1024;

/// 256 × n × log2(n), of an n up to `MAX_COUNT`.
#[inline(always)]
fn count_times_log2(n: u32) -> u32 {
    static TABLE: [u32; MAX_COUNT + 1] = {
        let mut table = [0; MAX_COUNT + 1];
        let mut n = 1;
        while n <= MAX_COUNT {
            table[n] = n as u32 * log2(n as u32);
            n += 1;
        }
        table
    };
    TABLE[(n as usize).min(MAX_COUNT)]
}

/// 256 × log2(n) by eight squarings, so that it is exact enough and needs no floating point.
const fn log2(n: u32) -> u32 {
    let whole = n.ilog2();
    let mut mantissa = ((n as u64) << 32) >> whole;
    let mut fraction = 0;
    let mut bit = 0;
    while bit < 8 {
        mantissa = ((mantissa as u128 * mantissa as u128) >> 32) as u64;
        fraction <<= 1;
        if mantissa >= 2 << 32 {
            mantissa >>= 1;
            fraction |= 1;
        }
        bit += 1;
    }
    whole << 8 | fraction
}

/// Where a number of bits stands in a sum with a state: so high that nothing is left above it.
const BITS_AT: u32 = 27;

/// One symbol's way through the encoding table.
#[derive(Clone, Copy, Debug, Default)]
struct Transition {
    bits_bias: u32,
    next_bias: i32,
}

/// A table to encode with.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    log: u32,
    next_states: [u16; 1 << MAX_LOG],
    transitions: [Transition; SYMBOL_SLOTS],
}

impl Encoder {
    pub(super) fn new() -> Self {
        Self {
            log: 0,
            next_states: [0; 1 << MAX_LOG],
            transitions: [Transition::default(); SYMBOL_SLOTS],
        }
    }

    /// A table for one symbol only, which costs no bits.
    pub(super) fn build_single(&mut self) {
        self.log = 0;
        self.next_states[0] = 0;
        self.transitions.fill(Transition::default());
    }

    /// Makes the table of `normalized`.
    #[inline(always)]
    pub(super) fn build(&mut self, normalized: &Normalized) {
        let log = normalized.log;
        let size = 1usize << log;
        let shares = &normalized.counts[..normalized.symbol_count];
        let mut first = [0u16; SYMBOL_SLOTS];
        let mut total = 0u16;
        for ((&share, transition), first) in shares.iter().zip(&mut self.transitions).zip(&mut first) {
            *first = total;
            let count = share.unsigned_abs();
            // One way for all shares, though none would do for 0 and less for 1: which it is nobody can predict.
            let most_bits = log + (u32::from(count.saturating_sub(1)) >> 1).leading_zeros() - 32;
            *transition = Transition {
                bits_bias: (most_bits << BITS_AT).wrapping_sub(u32::from(count) << most_bits),
                next_bias: i32::from(total) - i32::from(count),
            };
            total += count;
        }
        let symbols = spread(shares, log);
        for (state, &symbol) in symbols[..size].iter().enumerate() {
            let slot = &mut first[usize::from(symbol) % SYMBOL_SLOTS];
            self.next_states[usize::from(*slot) % (1 << MAX_LOG)] = (size + state) as u16;
            *slot += 1;
        }
        self.log = log;
    }

    /// The state that starts with `symbol`, in which the decoder will end.
    #[inline(always)]
    pub(super) fn start(&self, symbol: u8) -> u32 {
        let Transition { bits_bias, next_bias } = self.transitions[usize::from(symbol) % SYMBOL_SLOTS];
        let bits = (bits_bias + (1 << (BITS_AT - 1))) >> BITS_AT;
        let value = (bits << BITS_AT) - bits_bias;
        let next = (value >> bits) as i32 + next_bias;
        u32::from(self.next_states[next as usize % (1 << MAX_LOG)])
    }

    /// Writes what leads from the state of `symbol` to `state`, and answers that state.
    #[inline(always)]
    pub(super) fn encode(&self, state: u32, symbol: u8, writer: &mut BitWriter) -> u32 {
        let Transition { bits_bias, next_bias } = self.transitions[usize::from(symbol) % SYMBOL_SLOTS];
        let bits = (state + bits_bias) >> BITS_AT;
        writer.push(u64::from(state & ((1 << bits) - 1)), bits);
        let next = (state >> bits) as i32 + next_bias;
        u32::from(self.next_states[next as usize % (1 << MAX_LOG)])
    }

    /// Writes the last state, from which the decoder starts.
    #[inline(always)]
    pub(super) fn finish(&self, state: u32, writer: &mut BitWriter) {
        writer.push(u64::from(state & ((1 << self.log) - 1)), self.log);
    }
}

/// Which symbol each state decodes to: rare ones from the top down, the others spread by a fixed step.
#[inline(always)]
pub(super) fn spread(shares: &[i16], log: u32) -> [u8; 1 << MAX_LOG] {
    let size = 1usize << log;
    let step = (size >> 1) + (size >> 3) + 3;
    let mut symbols = [0u8; 1 << MAX_LOG];
    // In order first, eight at a time whatever the share, then each to its place: no loop of an unpredictable length inside another.
    let mut ordered = [0u8; (1 << MAX_LOG) + 8];
    let (mut high, mut filled) = (size, 0);
    for (symbol, &share) in shares.iter().enumerate() {
        if share < 0 {
            high -= 1;
            symbols[high % (1 << MAX_LOG)] = symbol as u8;
            continue;
        }
        let end = filled + share as usize;
        // Eight whatever the share, and rarely more.
        loop {
            // An array of fixed size is one store; filling a slice is a call.
            if let Some(eight) = ordered.get_mut(filled..).and_then(|rest| rest.first_chunk_mut()) {
                *eight = [symbol as u8; 8];
            }
            filled += 8;
            if filled >= end {
                break;
            }
        }
        filled = end;
    }
    let mut position = 0;
    for &symbol in &ordered[..high] {
        symbols[position % (1 << MAX_LOG)] = symbol;
        position = (position + step) & (size - 1);
        while position >= high {
            position = (position + step) & (size - 1);
        }
    }
    symbols
}
