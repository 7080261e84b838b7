//! Canonical Huffman codes of at most eleven bits, their description and encoding with them.
//!
//! *Source*: RFC 8878 section 4.2. Code lengths by the two queues of van Leeuwen ("On the construction of Huffman
//! trees", 1976); codes too long are shortened as zlib's successors do it,
//! which costs a fraction of a bit against package-merge and a tenth of its time.

use super::bits::BitWriter;
use super::fse::{self, Normalized, Tables};

/// Longest code that a Zstandard literals section may have.
const MAX_BITS: usize = 11;
/// Slots by code length, so many that a length needs no check.
const NEXT: usize = 16;
/// Code lengths before they are limited; longer ones are not told apart.
const LENGTHS: usize = 32;
/// Largest description: a byte of length and 127 of weights.
const MAX_DESCRIPTION: usize = 128;

/// Counts below this are sorted in one pass instead of two.
const ONE_PASS_BELOW: usize = 512;

/// A code for bytes.
#[derive(Clone)]
pub(super) struct Code {
    /// Bits of each symbol's code; none where it does not occur.
    lengths: [u8; 256],
    /// Code in the highest bits, length in the lowest; of symbols that do not occur whatever they had before.
    codes: [u64; 256],
    weights_encoder: fse::Encoder,
    /// Symbols with their counts above, by value.
    listed: [u32; 256],
    /// The same, rarest first.
    sorted: [u32; 256],
    /// How many codes of each length.
    per_length: [u16; MAX_BITS + 1],
    symbol_count: usize,
    max_bits: usize,
    max_symbol: usize,
    encoded_bits: usize,
}

impl Code {
    pub(super) fn new() -> Self {
        Self {
            lengths: [0; 256],
            codes: [0; 256],
            weights_encoder: fse::Encoder::new(),
            listed: [0; 256],
            sorted: [0; 256],
            per_length: [0; MAX_BITS + 1],
            symbol_count: 0,
            max_bits: 0,
            max_symbol: 0,
            encoded_bits: 0,
        }
    }

    /// Makes the code for `counts`, of which at least two are above zero, which sum up to `total`, and the largest of which
    /// is `most`.
    #[inline(always)]
    pub(super) fn build(&mut self, counts: &[u16; 256], total: usize, most: usize) {
        self.sort(counts, most);
        let sorted = &self.sorted[..self.symbol_count];
        let mut lengths = [0; LENGTHS];
        code_lengths(sorted, &mut lengths);
        // A shorter limit for few literals: a smaller description, and a smaller table to decode with.
        let useful = (total - 1).ilog2().saturating_sub(1) as usize;
        let least = self.symbol_count.next_power_of_two().ilog2() as usize + 1;
        let limit = useful.max(least).min(MAX_BITS);
        self.per_length = limited(&lengths, limit);
        self.assign();
    }

    /// Bits that the counted literals take with this code, the description apart.
    #[inline(always)]
    pub(super) fn encoded_bits(&self) -> usize {
        self.encoded_bits
    }

    /// Lists the symbols that occur, at most `most` times each, rarest first, lower values first among equals.
    #[inline(always)]
    fn sort(&mut self, counts: &[u16; 256], most: usize) {
        let listed = &mut self.listed;
        let mut listed_count = 0;
        for (index, eight) in counts.as_chunks::<8>().0.iter().enumerate() {
            if *eight == [0; 8] {
                continue;
            }
            for (offset, &count) in eight.iter().enumerate() {
                // Written always, kept only when it occurs: no branch to mispredict.
                listed[listed_count & 255] = u32::from(count) << 8 | (8 * index + offset) as u32;
                listed_count += usize::from(count > 0);
            }
        }
        self.symbol_count = listed_count;
        self.max_symbol = (listed[listed_count.saturating_sub(1)] & 255) as usize;
        let listed = &listed[..listed_count];
        if most < ONE_PASS_BELOW {
            return counting_sort::<8, ONE_PASS_BELOW>(listed, &mut self.sorted, most);
        }
        // Counts have thirteen bits: two passes of a stable counting sort, seven bits and six.
        let mut by_low = [0u32; 256];
        counting_sort::<8, 128>(listed, &mut by_low, 127);
        counting_sort::<15, 128>(&by_low[..listed_count], &mut self.sorted, most >> 7);
    }

    /// Gives the longest codes to the rarest symbols, and code values in the order that the decoder expects.
    #[inline(always)]
    fn assign(&mut self) {
        self.lengths.fill(0);
        self.encoded_bits = 0;
        self.max_bits = 0;
        let mut symbols = self.sorted[..self.symbol_count].iter();
        for length in (1..=MAX_BITS).rev() {
            let count = usize::from(self.per_length[length]);
            if count > 0 && self.max_bits == 0 {
                self.max_bits = length;
            }
            for &entry in symbols.by_ref().take(count) {
                self.lengths[(entry & 255) as usize] = length as u8;
                self.encoded_bits += (entry >> 8) as usize * length;
            }
        }
        let mut next = [0u64; NEXT];
        let mut value = 0;
        for length in (1..=self.max_bits).rev() {
            next[length] = value;
            value = (value + u64::from(self.per_length[length])) >> 1;
        }
        for &entry in &self.listed[..self.symbol_count] {
            let symbol = (entry & 255) as usize;
            let length = self.lengths[symbol];
            let value = &mut next[usize::from(length) % NEXT];
            self.codes[symbol] = *value << (length.wrapping_neg() % 64) | u64::from(length);
            *value += 1;
        }
    }

    /// Writes the description of the code (symbols' weights); `None` when these bytes cannot be described,
    /// or `target` is too small.
    #[inline(always)]
    pub(super) fn describe(&mut self, tables: Tables, target: &mut [u8]) -> Option<usize> {
        let heaviest = self.max_bits as u8 + 1;
        let weights = self
            .lengths
            .map(|length| if length == 0 { 0 } else { heaviest - length });
        let weights = &weights[..self.max_symbol];
        let direct = (weights.len() <= 128).then(|| 1 + weights.len().div_ceil(2));
        let mut packed = [0u8; MAX_DESCRIPTION + 8];
        let compressed = if tables == Tables::Quick && direct.is_some() {
            None
        } else {
            let counts = self.weight_counts();
            compress_weights(&mut self.weights_encoder, weights, &counts, &mut packed[1..])
        };
        match (compressed, direct) {
            (Some(bytes), direct) if bytes < 128 && direct.is_none_or(|direct| bytes + 1 < direct) => {
                packed[0] = bytes as u8;
                target.get_mut(..=bytes)?.copy_from_slice(&packed[..=bytes]);
                Some(bytes + 1)
            }
            (_, Some(direct)) => {
                let target = target.get_mut(..direct)?;
                target[0] = 127 + weights.len() as u8;
                for (byte, pair) in target[1..].iter_mut().zip(weights.chunks(2)) {
                    *byte = pair[0] << 4 | pair.get(1).unwrap_or(&0);
                }
                Some(direct)
            }
            _ => None,
        }
    }

    /// How often each weight occurs among those that are described: all but that of the last symbol.
    fn weight_counts(&self) -> [u32; MAX_BITS + 2] {
        let mut counts = [0; MAX_BITS + 2];
        for (length, &count) in self.per_length.iter().enumerate().skip(1) {
            counts[(self.max_bits + 1).saturating_sub(length)] += u32::from(count);
        }
        counts[0] = (self.max_symbol + 1 - self.symbol_count) as u32;
        let last = usize::from(self.lengths[self.max_symbol]);
        counts[(self.max_bits + 1).saturating_sub(last)] -= 1;
        counts
    }

    /// Writes one stream of `literals`, last one first; answers its bytes, `None` when `target` is too small.
    ///
    /// Codes enter at the top and move down: what is below the `used` highest bits was written, or is the length of a
    /// code before, which four codes (44 bits, and 7 that were left) never bring up. Four are put together first, in pairs, so that
    /// only one shift of four waits for what was before.
    #[inline(always)]
    pub(super) fn encode(&self, literals: &[u8], target: &mut [u8]) -> Option<usize> {
        let (mut bits, mut used, mut at) = (0u64, 0u32, 0);
        let (first, fours) = literals.as_rchunks::<4>();
        for four in fours.iter().rev() {
            let [d, c, b, a] = four.map(|literal| self.codes[usize::from(literal)]);
            // A shift sees the low six bits alone: the length.
            let pairs = [a.wrapping_shr(b as u32) | b, c.wrapping_shr(d as u32) | d];
            let second_bits = (c as u32).wrapping_add(d as u32);
            let four_bits = (a as u32).wrapping_add(b as u32).wrapping_add(second_bits) & 0xFF;
            let four = pairs[0].wrapping_shr(second_bits) | pairs[1];
            bits = bits.wrapping_shr(four_bits) | four;
            used += four_bits;
            let word = bits.wrapping_shr(used.wrapping_neg());
            *target.get_mut(at..)?.first_chunk_mut()? = word.to_le_bytes();
            at += (used >> 3) as usize;
            used &= 7;
        }
        for &literal in first.iter().rev() {
            let code = self.codes[usize::from(literal)];
            bits = bits.wrapping_shr(code as u32) | code;
            used = (used + (code as u32 & 0xFF)) & 0xFF;
        }
        // The closing bit tells a backward reader where the stream starts.
        bits = bits >> 1 | 1 << 63;
        used += 1;
        let word = bits.wrapping_shr(used.wrapping_neg());
        *target.get_mut(at..)?.first_chunk_mut()? = word.to_le_bytes();
        Some(at + used.div_ceil(8) as usize)
    }
}

/// Sorts by the bits from `SHIFT` on, which are below `KEYS` (a power of two) and at most `most`; equal ones keep their order.
#[inline(always)]
fn counting_sort<const SHIFT: u32, const KEYS: usize>(from: &[u32], to: &mut [u32; 256], most: usize) {
    let key = |entry: u32| (entry >> SHIFT) as usize % KEYS;
    let mut places = [0u16; KEYS];
    for &entry in from {
        places[key(entry)] += 1;
    }
    let mut before = 0;
    for place in &mut places[..=most % KEYS] {
        before += std::mem::replace(place, before);
    }
    for &entry in from {
        let place = &mut places[key(entry)];
        to[usize::from(*place) % 256] = entry;
        *place += 1;
    }
}

/// Turns counts (their symbols below the lowest eight bits), rarest first, into the number of codes of each length, none
/// limited yet: lengths from `LENGTHS` on count as that.
///
/// The two rarest of what is left become one, again and again. Whether they are symbols or made of others nobody can
/// predict, so that nothing branches on it: the least of three sums is theirs. Nodes are made into others in the order in which
/// they were made, so that those of a depth are neighbours: to know where they begin is to know their number.
#[inline(always)]
fn code_lengths(sorted: &[u32], per_length: &mut [u16; LENGTHS]) {
    const NODES: usize = 256;
    /// Room for two more, rounded up so that an index needs no check.
    const ROOM: usize = 2 * NODES;
    /// More than any count: behind the last symbol, and behind what was made so far, nothing is rarest.
    const NONE: u16 = u16::MAX >> 2;
    let mut symbols = [0; ROOM];
    let mut made = [NONE; ROOM];
    for (symbol, &entry) in symbols.iter_mut().zip(sorted) {
        *symbol = (entry >> 8) as u16;
    }
    symbols[sorted.len()..sorted.len() + 2].fill(NONE);
    // The first node that was left when a node was made.
    let mut first_left = [0u8; NODES];
    let (mut symbol, mut node) = (0, 0);
    let nodes = sorted.len() - 1;
    for parent in 0..nodes {
        first_left[parent % NODES] = node as u8;
        let [symbol_one, symbol_two] = [0, 1].map(|next| symbols[(symbol + next) % ROOM]);
        let [node_one, node_two] = [0, 1].map(|next| made[(node + next) % ROOM]);
        let sums = [
            symbol_one + symbol_two,
            symbol_one + node_one,
            node_one + node_two,
        ];
        made[parent % NODES] = sums[0].min(sums[1]).min(sums[2]);
        symbol = symbol + 1 + usize::from(symbol_two <= node_one) - usize::from(node_two < symbol_one);
        node = 2 * (parent + 1) - symbol;
    }
    // From the root down: a depth's first node, and how many of them.
    let (mut first, mut nodes) = (nodes - 1, 1);
    for length in 1.. {
        let next = usize::from(first_left[first % NODES]);
        let leaves = 2 * nodes - (first - next);
        per_length[length.min(LENGTHS - 1)] += leaves as u16;
        (first, nodes) = (next, first - next);
        if nodes == 0 {
            break;
        }
    }
}

/// How many codes of each length, none longer than `limit`, and every bit pattern used.
#[inline(always)]
fn limited(lengths: &[u16; LENGTHS], limit: usize) -> [u16; MAX_BITS + 1] {
    let mut per_length = [0u16; MAX_BITS + 1];
    for (length, count) in lengths.iter().enumerate() {
        per_length[length.min(limit)] += count;
    }
    let patterns = per_length.iter().enumerate().skip(1);
    let mut used: u32 = patterns
        .map(|(length, &count)| u32::from(count) << (limit.max(length) - length))
        .sum();
    while used > 1 << limit {
        per_length[limit] -= 1;
        if let Some(shorter) = (1..limit).rev().find(|&length| per_length[length] > 0) {
            per_length[shorter] -= 1;
            per_length[shorter + 1] += 2;
        }
        used -= 1;
    }
    per_length
}

/// Writes `weights`, which occur as often as `counts` says, with FSE, two states in turn; `None` when that does not pay or cannot be done.
#[inline(always)]
fn compress_weights(
    table: &mut fse::Encoder,
    weights: &[u8],
    counts: &[u32; MAX_BITS + 2],
    target: &mut [u8],
) -> Option<usize> {
    let total = weights.len() as u32;
    let max_weight = counts.iter().rposition(|&count| count > 0)?;
    let most = *counts.iter().max()?;
    if weights.len() <= 2 || most == total || most == 1 {
        return None;
    }
    let log = fse::suitable_log(6, total, max_weight);
    let normalized = Normalized::scale(&counts[..=max_weight], total, log);
    table.build(&normalized);
    let described = normalized.describe(target)?;
    let mut writer = BitWriter::new(&mut target[described..]);
    // Two states in turn, by the parity of the index.
    let (before, [second_last, last]) = weights.split_last_chunk()?;
    let mut states = [table.start(*second_last), table.start(*last)];
    if before.len() % 2 == 1 {
        states.reverse();
    }
    let (pairs, rest) = before.as_chunks::<2>();
    if let [weight] = rest {
        states[0] = table.encode(states[0], *weight, &mut writer);
    }
    // Eight weights, and the odd one before them, have 54 bits at most.
    for four in pairs.rchunks(4) {
        for [even, odd] in four.iter().rev() {
            states[1] = table.encode(states[1], *odd, &mut writer);
            states[0] = table.encode(states[0], *even, &mut writer);
        }
        writer.flush();
    }
    table.finish(states[1], &mut writer);
    table.finish(states[0], &mut writer);
    Some(described + writer.close()?)
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::{LENGTHS, code_lengths};

    proptest! {
        #[test]
        fn no_code_is_shorter_in_sum(mut counts in prop::collection::vec(prop_oneof![1u32..4, 1u32..60], 2..=256)) {
            counts.sort_unstable();
            let sorted: Vec<u32> = counts.iter().map(|count| count << 8).collect();
            let mut per_length = [0; LENGTHS];
            code_lengths(&sorted, &mut per_length);
            // Longest codes first, as the rarest symbols are.
            let lengths = (0..LENGTHS).rev().flat_map(|length| vec![length as u32; usize::from(per_length[length])]);
            let seen: Vec<u32> = lengths.collect();
            prop_assert_eq!(seen.len(), counts.len());
            // Every merge of the two rarest makes the codes of both a bit longer.
            let mut left: BinaryHeap<_> = counts.iter().copied().map(Reverse).collect();
            let mut shortest = 0;
            while let (Some(Reverse(one)), Some(Reverse(other))) = (left.pop(), left.pop()) {
                shortest += one + other;
                left.push(Reverse(one + other));
                if left.len() == 1 {
                    break;
                }
            }
            prop_assert_eq!(counts.iter().zip(&seen).map(|(count, length)| count * length).sum::<u32>(), shortest);
        }
    }
}
