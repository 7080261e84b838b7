//! The sequences section of a block.
//!
//! *Source*: RFC 8878 sections 3.1.1.3.2 (sections) and 3.1.1.5 (repeated offsets).

use std::hint::select_unpredictable;

use super::copy::Step;
use super::fse::{self, Decoder, State};
use super::input::Input;
use crate::entropy::sequences::codes::Field;

/// Most sequences that a page can have: matches of at least 3 bytes.
const MAX_SEQUENCES: usize = 4096 / 3;
/// Bits that a word has at least, whatever bit it is read from.
const WORD_BITS: u32 = 57;
/// Largest offset code of a match within a page: larger ones reach before it.
const MAX_OFFSET_BITS: u32 = 12;

/// Decodes sequences sections; keeps its tables between blocks.
pub(super) struct SequencesDecoder {
    tables: [Decoder; 3],
    /// Whether each table is the predefined one, which then needs no work.
    is_predefined: [bool; 3],
    predefined: [Decoder; 3],
    meanings: [fse::Meanings; 3],
    steps: [Step; MAX_SEQUENCES],
}

impl SequencesDecoder {
    pub(super) fn new() -> Self {
        let meanings = Field::ALL.map(|field| field.meanings().map(State::meaning));
        let predefined = [0, 1, 2].map(|index| {
            let mut decoder = Decoder::new();
            decoder.build(&Field::ALL[index].predefined(), &meanings[index]);
            decoder
        });
        Self {
            tables: predefined.clone(),
            is_predefined: [true; 3],
            predefined,
            meanings,
            steps: [Step::default(); MAX_SEQUENCES],
        }
    }

    /// The first `count` of the sequences that were decoded last.
    #[inline(always)]
    pub(super) fn decoded(&self, count: usize) -> &[Step] {
        &self.steps[..count]
    }

    /// Decodes the section from `at` of the block to its end, of a page of `page_bytes`; answers how many sequences.
    #[inline(always)]
    pub(super) fn decode(
        &mut self,
        input: &Input,
        at: usize,
        page_bytes: usize,
    ) -> Result<usize, &'static str> {
        let first = usize::from(input.byte(at)?);
        let (mut at, count) = match first {
            0..128 => (at + 1, first),
            128..255 => (at + 2, (first - 128) << 8 | usize::from(input.byte(at + 1)?)),
            _ => {
                let (low, high) = (input.byte(at + 1)?, input.byte(at + 2)?);
                (at + 3, 0x7F00 + usize::from(low) + (usize::from(high) << 8))
            }
        };
        if count == 0 {
            return if at == input.length() {
                Ok(0)
            } else {
                Err("bytes follow the sequences")
            };
        }
        if count > page_bytes / 3 || count > MAX_SEQUENCES {
            return Err("more sequences than the page has room for");
        }
        let modes = input.byte(at)?;
        at += 1;
        if modes & 3 != 0 {
            return Err("reserved bits of the sequences are set");
        }
        for index in 0..3 {
            at = self.read_table(input, at, index, modes >> (6 - 2 * index) & 3)?;
        }
        run(input, at, &self.tables, &mut self.steps[..count])?;
        Ok(count)
    }

    /// Makes one field's table; answers where its description ends.
    #[inline(always)]
    fn read_table(
        &mut self,
        input: &Input,
        at: usize,
        index: usize,
        mode: u8,
    ) -> Result<usize, &'static str> {
        let field = Field::ALL[index];
        let (table, meanings) = (&mut self.tables[index], &self.meanings[index]);
        let was_predefined = std::mem::replace(&mut self.is_predefined[index], mode == 0);
        match mode {
            0 => {
                if !was_predefined {
                    table.copy(&self.predefined[index]);
                }
                Ok(at)
            }
            1 => {
                let symbol = usize::from(input.byte(at)?);
                if symbol > field.max_symbol() {
                    return Err("a code that no sequence has");
                }
                table.build_single(meanings[symbol % meanings.len()]);
                Ok(at + 1)
            }
            2 => {
                let (at, normalized) =
                    fse::read_description(input, at, input.length(), field.max_log(), field.max_symbol())?;
                table.build(&normalized, meanings);
                Ok(at)
            }
            _ => Err("it refers to the table of an earlier block, and there is none"),
        }
    }
}

/// Decodes all sequences of the stream from `at` on.
///
/// Apart from carrying them out: here nothing is predicted wrongly, and each state waits for little but the one before.
#[inline(always)]
fn run(input: &Input, at: usize, tables: &[Decoder; 3], steps: &mut [Step]) -> Result<(), &'static str> {
    let [literals, offsets, matches] = tables;
    let mut stream = input.stream(at, input.length())?;
    let mut start = |table: &Decoder| {
        let word = input.word_before(stream.at);
        stream.at = stream.at.wrapping_sub(table.log as usize);
        (word >> 1 >> (63 - table.log)) as usize
    };
    let (mut literal, mut offset, mut matched) = (start(literals), start(offsets), start(matches));
    let mut recent = [1u32, 4, 8];
    let mut last_state_bits = 0;
    for step in steps {
        let (l, o, m) = (
            literals.state(literal),
            offsets.state(offset),
            matches.state(matched),
        );
        let extra_bits = [l, o, m]
            .iter()
            .map(|state| u32::from(state.extra_bits))
            .sum::<u32>();
        let state_bits = [l, o, m]
            .iter()
            .map(|state| u32::from(state.state_bits))
            .sum::<u32>();
        let all_bits = extra_bits + state_bits;
        last_state_bits = state_bits as usize;
        // Next states of offset, match length and literal length from the lowest bit up, and behind them the values of
        // literal length, match length and offset.
        let (next, values) = if all_bits > WORD_BITS {
            if u32::from(o.extra_bits) > MAX_OFFSET_BITS {
                return Err("a match reaches before the page");
            }
            two_words(input, stream.at, extra_bits, state_bits)
        } else {
            let word = input.word_before(stream.at) >> (all_bits.wrapping_neg() % 64);
            (word, word >> (state_bits % 64))
        };
        stream.at = stream.at.wrapping_sub(all_bits as usize);
        let mut bits = Bits(next);
        offset = usize::from(o.next) + bits.take(o.state_bits) as usize;
        matched = usize::from(m.next) + bits.take(m.state_bits) as usize;
        literal = usize::from(l.next) + bits.take(l.state_bits) as usize;
        let mut bits = Bits(values);
        let literal_length = l.base + bits.take(l.extra_bits) as u32;
        let match_length = m.base + bits.take(m.extra_bits) as u32;
        let value = o.base + bits.take(o.extra_bits) as u32;
        *step = Step {
            literal_length,
            match_length,
            offset: resolve(value, literal_length == 0, &mut recent),
        };
    }
    // The last sequence has no next state: what was read for one was not there.
    stream.at = stream.at.wrapping_add(last_state_bits);
    if stream.is_used_up() {
        Ok(())
    } else {
        Err("the stream of sequences does not have the stated length")
    }
}

/// Bits from the lowest up.
struct Bits(u64);

impl Bits {
    #[inline(always)]
    fn take(&mut self, bits: u8) -> u64 {
        let value = self.0 & ((1u64 << (bits % 64)) - 1);
        self.0 >>= bits % 64;
        value
    }
}

/// As the fast way of `run`, for sequences of more bits than a word has: states, and values.
#[cold]
fn two_words(input: &Input, at: usize, extra_bits: u32, state_bits: u32) -> (u64, u64) {
    let values = input.word_before(at) >> 1 >> (63 - extra_bits);
    let states = input.word_before(at.wrapping_sub(extra_bits as usize)) >> 1 >> (63 - state_bits);
    (states, values)
}

/// The offset that a value stands for: itself less 3, or one of the latest.
#[inline(always)]
fn resolve(value: u32, no_literals: bool, recent: &mut [u32; 3]) -> u32 {
    let [first, second, third] = *recent;
    if value > 3 {
        *recent = [value - 3, first, second];
        return value - 3;
    }
    // 1, 2, 3: the latest ones; 4: the latest less one. Nobody can predict which: selected, not branched on.
    let which = value + u32::from(no_literals);
    let offset = select_unpredictable(which == 2, second, first.wrapping_sub(u32::from(which > 3)));
    let offset = select_unpredictable(which == 3, third, offset);
    *recent = [
        offset,
        select_unpredictable(which == 1, second, first),
        select_unpredictable(which <= 2, third, second),
    ];
    offset
}
