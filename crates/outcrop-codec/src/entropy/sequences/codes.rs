//! How lengths and offsets become a code and extra bits, and the tables that need no description.
//!
//! *Source*: RFC 8878 sections 3.1.1.3.2.1.1 (codes) and 3.1.1.3.2.2 (predefined distributions).

use std::hint::select_unpredictable;

use crate::entropy::bits::BitWriter;
use crate::entropy::fse::{MAX_SYMBOLS, Normalized};

/// Most sequences that a page can have: 4096 bytes of matches of at least 4.
const MAX_SEQUENCES: usize = 1024;

/// Copy `match_length` bytes from `offset` back, after `literal_length` literals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) literal_length: u16,
    pub(crate) match_length: u16,
    pub(crate) offset: u16,
}

/// The three fields of a sequence, in the order of their table descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    LiteralLength,
    Offset,
    MatchLength,
}

impl Field {
    pub(in crate::entropy) const ALL: [Self; 3] = [Self::LiteralLength, Self::Offset, Self::MatchLength];

    pub(in crate::entropy) fn max_log(self) -> u32 {
        match self {
            Self::LiteralLength | Self::MatchLength => 9,
            Self::Offset => 8,
        }
    }

    /// The distribution that both sides know.
    pub(in crate::entropy) fn predefined(self) -> Normalized {
        const LITERAL_LENGTHS: [i16; 36] = [
            4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
            -1, -1, -1, -1,
        ];
        const MATCH_LENGTHS: [i16; 53] = [
            1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
        ];
        const OFFSETS: [i16; 29] = [
            1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
        ];
        let (log, shares): (u32, &[i16]) = match self {
            Self::LiteralLength => (6, &LITERAL_LENGTHS),
            Self::Offset => (5, &OFFSETS),
            Self::MatchLength => (6, &MATCH_LENGTHS),
        };
        let mut counts = [0; MAX_SYMBOLS];
        counts[..shares.len()].copy_from_slice(shares);
        Normalized {
            log,
            counts,
            symbol_count: shares.len(),
        }
    }
}

/// Reading: what each code stands for.
impl Field {
    /// Largest code that a block may have.
    pub(in crate::entropy) fn max_symbol(self) -> usize {
        match self {
            Self::LiteralLength => 35,
            Self::Offset => 31,
            Self::MatchLength => 52,
        }
    }

    /// The least value of each code, and the number of extra bits that are added to it.
    pub(in crate::entropy) fn meanings(self) -> [(u32, u8); 64] {
        // Lengths have codes of their own up to a value, then ranges, each of as many values as its extra bits have.
        let (first, plain, bits): (u32, usize, &[u8]) = match self {
            Self::LiteralLength => (
                0,
                16,
                &[1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
            ),
            Self::MatchLength => (
                3,
                32,
                &[
                    1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                ],
            ),
            Self::Offset => return std::array::from_fn(|code| (1 << (code % 32), code as u8 % 32)),
        };
        let mut next = first;
        std::array::from_fn(|code| {
            let extra_bits = match code.checked_sub(plain) {
                Some(range) => bits.get(range).copied().unwrap_or(0),
                None => 0,
            };
            let least = next;
            next += 1 << extra_bits;
            (least, extra_bits)
        })
    }
}

/// A sequence as codes and extra bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) literal_code: u8,
    pub(super) offset_code: u8,
    pub(super) match_code: u8,
    extra_bits: u8,
    /// Literal length's, match length's and offset's extra bits, in this order from the lowest.
    extra: u64,
}

impl Entry {
    /// Adds the extra bits behind at most 26 others: they rarely need a flush of their own between.
    #[inline(always)]
    pub(super) fn push_extra(&self, writer: &mut BitWriter) {
        let bits = u32::from(self.extra_bits);
        if bits > 30 {
            writer.flush();
        }
        writer.push(self.extra, bits);
        writer.flush();
    }
}

/// The sequences of a page, split into fields and counted.
pub(super) struct Fields {
    entries: [Entry; MAX_SEQUENCES],
    entry_count: usize,
    counts: [[u32; 64]; 3],
}

impl Fields {
    pub(super) fn new() -> Self {
        Self {
            entries: [Entry::default(); MAX_SEQUENCES],
            entry_count: 0,
            counts: [[0; 64]; 3],
        }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries[..self.entry_count]
    }

    pub(super) fn counts(&self, field: Field) -> &[u32; 64] {
        match field {
            Field::LiteralLength => &self.counts[0],
            Field::Offset => &self.counts[1],
            Field::MatchLength => &self.counts[2],
        }
    }

    /// Takes the sequences of a page, at most 1024.
    #[inline(always)]
    pub(super) fn split(&mut self, sequences: &[Sequence]) {
        self.counts = [[0; 64]; 3];
        self.entry_count = sequences.len().min(MAX_SEQUENCES);
        let mut recent = [1u32, 4, 8];
        for (entry, sequence) in self.entries.iter_mut().zip(sequences) {
            let literal_length = u32::from(sequence.literal_length);
            let offset = offset_value(u32::from(sequence.offset), literal_length == 0, &mut recent);
            let (literal_code, literal_bits) = literal_length_code(literal_length);
            let (match_code, match_bits) = match_length_code(u32::from(sequence.match_length) - 3);
            // The logarithm; written so, it is one instruction that every machine is quick at.
            let offset_code = 32 - (offset >> 1).leading_zeros();
            let low = |value: u32, bits: u32| u64::from(value & ((1 << bits) - 1));
            let match_extra = low(u32::from(sequence.match_length) - 3, match_bits);
            let extra = low(literal_length, literal_bits)
                | match_extra << literal_bits
                | low(offset, offset_code) << (literal_bits + match_bits);
            *entry = Entry {
                literal_code: literal_code as u8,
                offset_code: offset_code as u8,
                match_code: match_code as u8,
                extra_bits: (literal_bits + match_bits + offset_code) as u8,
                extra,
            };
            self.counts[0][literal_code as usize & 63] += 1;
            self.counts[1][offset_code as usize & 63] += 1;
            self.counts[2][match_code as usize & 63] += 1;
        }
    }
}

/// What stands for `offset`: one of the three most recent ones (1 to 3), or itself plus 3. Which it is nobody can
/// predict, so that it is selected, not branched on.
#[inline(always)]
fn offset_value(offset: u32, no_literals: bool, recent: &mut [u32; 3]) -> u32 {
    let [first, second, third] = *recent;
    // Without literals before it, a sequence with the latest offset would have been part of the last match: the
    // values mean the next ones then, and 3 means one less than the latest.
    let shift = u32::from(no_literals);
    let is_first = offset == first && !no_literals;
    let is_second = offset == second;
    let value = select_unpredictable(no_literals && offset + 1 == first, 3, offset + 3);
    let value = select_unpredictable(offset == third, 3 - shift, value);
    let value = select_unpredictable(is_second, 2 - shift, value);
    *recent = [
        offset,
        select_unpredictable(is_first, second, first),
        select_unpredictable(is_first || is_second, third, second),
    ];
    select_unpredictable(is_first, 1, value)
}

/// Code and number of extra bits of a literal length.
#[inline(always)]
fn literal_length_code(length: u32) -> (u32, u32) {
    /// Codes of 0 to 63, and the extra bits of each.
    const SMALL: [(u8, u8); 64] = {
        const FROM: [u8; 10] = [16, 18, 20, 22, 24, 28, 32, 40, 48, 64];
        const BITS: [u8; 9] = [1, 1, 1, 1, 2, 2, 3, 3, 4];
        let mut table = [(0, 0); 64];
        let mut length = 0;
        while length < 16 {
            table[length] = (length as u8, 0);
            length += 1;
        }
        let mut range = 0;
        while range < 9 {
            while length < FROM[range + 1] as usize {
                table[length] = (16 + range as u8, BITS[range]);
                length += 1;
            }
            range += 1;
        }
        table
    };
    match SMALL.get(length as usize) {
        Some(&(code, bits)) => (code.into(), bits.into()),
        None => (length.ilog2() + 19, length.ilog2()),
    }
}

/// Code and number of extra bits of a match length less 3.
#[inline(always)]
fn match_length_code(base: u32) -> (u32, u32) {
    /// Codes of 0 to 127, and the extra bits of each.
    const SMALL: [(u8, u8); 128] = {
        const FROM: [u8; 11] = [32, 34, 36, 38, 40, 44, 48, 56, 64, 80, 96];
        const BITS: [u8; 11] = [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5];
        let mut table = [(0, 0); 128];
        let mut base = 0;
        while base < 32 {
            table[base] = (base as u8, 0);
            base += 1;
        }
        let mut range = 0;
        while range < 11 {
            let end = FROM[range] as usize + (1 << BITS[range]);
            while base < end {
                table[base] = (32 + range as u8, BITS[range]);
                base += 1;
            }
            range += 1;
        }
        table
    };
    match SMALL.get(base as usize) {
        Some(&(code, bits)) => (code.into(), bits.into()),
        None => (base.ilog2() + 36, base.ilog2()),
    }
}
