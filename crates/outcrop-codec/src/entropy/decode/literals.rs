//! The literals section of a block.
//!
//! *Source*: RFC 8878 section 3.1.1.3.1.

use super::huffman::Code;
use super::input::Input;
use super::memory::{EMPTY, Space, put};

/// Four streams of fewer literals than this cannot be.
const FOUR_STREAMS_FROM: usize = 6;

/// Decodes literals sections; keeps its tables between blocks.
pub(super) struct LiteralsDecoder {
    code: Code,
    literals: Space,
}

/// The literals of a block.
#[derive(Clone, Copy)]
pub(super) struct Literals<'a> {
    pub(super) bytes: &'a Space,
    pub(super) count: usize,
}

impl LiteralsDecoder {
    pub(super) fn new() -> Self {
        Self {
            code: Code::new(),
            literals: EMPTY,
        }
    }

    /// Decodes the section that the block starts with, of `most` literals at most; answers its bytes and the literals.
    #[inline(always)]
    pub(super) fn decode(
        &mut self,
        input: &Input,
        most: usize,
    ) -> Result<(usize, Literals<'_>), &'static str> {
        let first = input.byte(0)?;
        let (kind, format) = (first & 3, first >> 2 & 3);
        let word = input.word_from(0);
        let (used, count) = match kind {
            0 | 1 => {
                let (header, count) = match format {
                    1 => (2, word >> 4 & 0xFFF),
                    3 => (3, word >> 4 & 0xF_FFFF),
                    _ => (1, word >> 3 & 0x1F),
                };
                let count = check_count(count as usize, most)?;
                let stored = if kind == 0 { count } else { 1 };
                // Nothing is taken from behind the block.
                input.byte(header + stored.max(1) - 1)?;
                if kind == 0 {
                    self.copy(input, header, count);
                } else {
                    self.literals[..count].fill(input.byte(header)?);
                }
                (header + stored, count)
            }
            2 => {
                let (header, bits) = match format {
                    0 | 1 => (3, 10),
                    2 => (4, 14),
                    _ => (5, 18),
                };
                let sizes = word >> 4;
                let count = check_count((sizes & ((1 << bits) - 1)) as usize, most)?;
                let compressed = (sizes >> bits & ((1 << bits) - 1)) as usize;
                let end = header + compressed;
                if end > input.length() {
                    return Err("the block ends in its literals");
                }
                self.huffman(input, header, end, count, format > 0)?;
                (end, count)
            }
            _ => return Err("the literals use the code of an earlier block, and there is none"),
        };
        let bytes = &self.literals;
        Ok((used, Literals { bytes, count }))
    }

    #[inline(always)]
    fn copy(&mut self, input: &Input, from: usize, count: usize) {
        for at in (0..count).step_by(16) {
            put(&mut self.literals, at, input.sixteen(from + at));
        }
    }

    #[inline(always)]
    fn huffman(
        &mut self,
        input: &Input,
        at: usize,
        end: usize,
        count: usize,
        four: bool,
    ) -> Result<(), &'static str> {
        let at = self.code.read(input, at, end)?;
        if !four {
            let stream = input.stream(at, end)?;
            return self.code.one_stream(input, stream, &mut self.literals, 0, count);
        }
        if at + 6 > end || count < FOUR_STREAMS_FROM {
            return Err("four streams hold hardly a literal");
        }
        let sizes = input.word_from(at);
        let mut from = at + 6;
        let mut ends = [end; 4];
        for (index, end) in ends[..3].iter_mut().enumerate() {
            *end = from + (sizes >> (16 * index)) as usize % (1 << 16);
            from = *end;
        }
        if from > end {
            return Err("the block ends in its literals");
        }
        let streams = [
            input.stream(at + 6, ends[0])?,
            input.stream(ends[0], ends[1])?,
            input.stream(ends[1], ends[2])?,
            input.stream(ends[2], ends[3])?,
        ];
        self.code.four_streams(input, streams, &mut self.literals, count)
    }
}

fn check_count(count: usize, most: usize) -> Result<usize, &'static str> {
    if count > most {
        return Err("more literals than the page has bytes");
    }
    Ok(count)
}
