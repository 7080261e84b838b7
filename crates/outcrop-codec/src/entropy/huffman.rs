//! Canonical Huffman codes of at most eleven bits, their description and encoding with them.
//!
//! *Source*: RFC 8878 section 4.2. Code lengths by the two queues of van Leeuwen ("On the construction of Huffman
//! trees", 1976); codes too long are shortened as zlib's successors do it,
//! which costs a fraction of a bit against package-merge and a tenth of its time.

use std::hint::select_unpredictable;

use super::bits::BitWriter;
use super::block::Tables;
use super::fse::{self, Normalized};

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
    /// Code in the low sixteen bits, length above.
    entries: [u32; 256],
    /// Code in the highest bits, length in the lowest.
    codes: [u64; 256],
    weights_encoder: fse::Encoder,
    /// Symbols with their counts, rarest first.
    sorted: [u32; 256],
    symbol_count: usize,
    max_bits: usize,
    max_symbol: usize,
}

impl Code {
    pub(super) fn new() -> Self {
        Self {
            entries: [0; 256],
            codes: [0; 256],
            weights_encoder: fse::Encoder::new(),
            sorted: [0; 256],
            symbol_count: 0,
            max_bits: 0,
            max_symbol: 0,
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
        let per_length = limited(&lengths, limit);
        self.assign(&per_length);
    }

    /// Bits that `counts` take with this code, the description apart.
    #[inline(always)]
    pub(super) fn encoded_bits(&self) -> usize {
        let bits = self.sorted[..self.symbol_count]
            .iter()
            .map(|&entry| (entry >> 8) as usize * (self.entries[(entry & 255) as usize] >> 16) as usize);
        bits.sum()
    }

    /// Lists the symbols that occur, at most `most` times each, rarest first, lower values first among equals.
    #[inline(always)]
    fn sort(&mut self, counts: &[u16; 256], most: usize) {
        let mut listed = [0u32; 256];
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
    fn assign(&mut self, per_length: &[u16; MAX_BITS + 1]) {
        self.entries.fill(0);
        let mut symbols = self.sorted[..self.symbol_count].iter();
        self.max_bits = 0;
        for length in (1..=MAX_BITS).rev() {
            let count = usize::from(per_length[length]);
            if count > 0 && self.max_bits == 0 {
                self.max_bits = length;
            }
            for &entry in symbols.by_ref().take(count) {
                self.entries[(entry & 255) as usize] = (length as u32) << 16;
            }
        }
        let mut next = [0u32; NEXT];
        let mut value = 0;
        for length in (1..=self.max_bits).rev() {
            next[length] = value;
            value = (value + u32::from(per_length[length])) >> 1;
        }
        let entries = self.entries[..=self.max_symbol].iter_mut();
        for (entry, code) in entries.zip(&mut self.codes) {
            let length = *entry >> 16;
            let value = &mut next[length as usize % NEXT];
            *entry |= *value;
            *code = u64::from(*value) << (length.wrapping_neg() % 64) | u64::from(length);
            *value += u32::from(length > 0);
        }
    }

    /// Writes the description of the code (symbols' weights); `None` when these bytes cannot be described,
    /// or `target` is too small.
    #[inline(always)]
    pub(super) fn describe(&mut self, tables: Tables, target: &mut [u8]) -> Option<usize> {
        let mut weights = [0u8; 256];
        for (weight, &entry) in weights.iter_mut().zip(&self.entries[..self.max_symbol]) {
            let length = (entry >> 16) as u8;
            *weight = if length == 0 {
                0
            } else {
                self.max_bits as u8 + 1 - length
            };
        }
        let weights = &weights[..self.max_symbol];
        let direct = (weights.len() <= 128).then(|| 1 + weights.len().div_ceil(2));
        let mut packed = [0u8; MAX_DESCRIPTION + 8];
        let compressed = if tables == Tables::Quick && direct.is_some() {
            None
        } else {
            compress_weights(&mut self.weights_encoder, weights, &mut packed[1..])
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

    /// Writes one stream of `literals`, last one first; answers its bytes, `None` when `target` is too small.
    ///
    /// Codes enter at the top and move down: what is below the `used` highest bits was written, or is the length of the
    /// code before, which four codes (44 bits, and 7 that were left) never bring up.
    #[inline(always)]
    pub(super) fn encode(&self, literals: &[u8], target: &mut [u8]) -> Option<usize> {
        let (mut bits, mut used, mut at) = (0u64, 0u32, 0);
        let (first, fours) = literals.as_rchunks::<4>();
        for four in fours.iter().rev() {
            for &literal in four.iter().rev() {
                let code = self.codes[usize::from(literal)];
                // The shift sees the low six bits alone: the length.
                bits = bits.wrapping_shr(code as u32) | code;
                used = used.wrapping_add(code as u32);
            }
            used &= 0xFF;
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
/// The two rarest of what is left become one, again and again. Whether the rarest is a symbol or made of others nobody
/// can predict, so that it is selected, not branched on.
#[inline(always)]
fn code_lengths(sorted: &[u32], per_length: &mut [u16; LENGTHS]) {
    const NODES: usize = 256;
    // Behind the last symbol, and behind what was made so far, nothing is rarest.
    let mut symbols = [u32::MAX >> 1; NODES + 1];
    let mut made = [u32::MAX >> 1; NODES];
    for (symbol, &entry) in symbols.iter_mut().zip(sorted) {
        *symbol = entry >> 8;
    }
    let mut parents = [0u8; 2 * NODES];
    let (mut symbol, mut node) = (0, 0);
    let nodes = sorted.len() - 1;
    for parent in 0..nodes {
        let mut count = 0;
        for _ in 0..2 {
            let (of_symbol, of_node) = (symbols[symbol.min(NODES)], made[node % NODES]);
            let is_node = of_node < of_symbol;
            count += select_unpredictable(is_node, of_node, of_symbol);
            let child = select_unpredictable(is_node, NODES + node, symbol);
            parents[child % (2 * NODES)] = parent as u8;
            node += usize::from(is_node);
            symbol += usize::from(!is_node);
        }
        made[parent % NODES] = count;
    }
    // Depths from the root, which was made last, down.
    let mut depths = [0u8; NODES];
    for node in (0..nodes - 1).rev() {
        depths[node % NODES] = depths[usize::from(parents[NODES + node % NODES])] + 1;
    }
    for parent in &parents[..sorted.len()] {
        let depth = usize::from(depths[usize::from(*parent)]) + 1;
        per_length[depth.min(LENGTHS - 1)] += 1;
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

/// Writes `weights` with FSE, two states in turn; `None` when that does not pay or cannot be done.
#[inline(always)]
fn compress_weights(table: &mut fse::Encoder, weights: &[u8], target: &mut [u8]) -> Option<usize> {
    let mut counts = [0u32; MAX_BITS + 2];
    for &weight in weights {
        counts[usize::from(weight) % (MAX_BITS + 2)] += 1;
    }
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
    for [even, odd] in pairs.iter().rev() {
        states[1] = table.encode(states[1], *odd, &mut writer);
        states[0] = table.encode(states[0], *even, &mut writer);
        writer.flush();
    }
    table.finish(states[1], &mut writer);
    table.finish(states[0], &mut writer);
    Some(described + writer.close()?)
}
