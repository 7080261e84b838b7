//! A page while its matches are taken out: its bytes, its literals so far, and its sequences so far.

use crate::dpzip::lanes::{common_bytes, common_of_more_bytes};
use crate::dpzip::options::PAGE_BYTES;
use crate::dpzip::slots::CHUNK_WINDOW;
use crate::entropy::Sequence;

/// Bytes that stage 1 compares per candidate.
pub(super) const STAGE_ONE_BYTES: usize = 16;
/// Fewest bytes of a match; also what a bucket is chosen by.
pub(super) const MIN_MATCH: usize = 4;
/// Bytes behind the page that may be read, never matched.
const SLACK: usize = 64;
const MAX_SEQUENCES: usize = PAGE_BYTES / MIN_MATCH;
/// Bytes before a match that may belong to it as well.
const BEFORE: usize = 8;
/// Literals that are copied whatever their number: a fixed size is a few loads and stores.
const LITERALS_AT_ONCE: usize = 32;
const _: () = assert!(LITERALS_AT_ONCE <= SLACK);

/// A page with its matches taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dpzip) struct Parsed<'a> {
    pub(in crate::dpzip) literals: &'a [u8],
    pub(in crate::dpzip) sequences: &'a [Sequence],
}

/// Buffers of one page.
pub(super) struct Buffers {
    /// The page between `BEFORE` bytes and the slack, so that a match's surroundings can be read without asking where it is.
    page: [u8; BEFORE + PAGE_BYTES + SLACK],
    length: usize,
    literals: [u8; PAGE_BYTES + SLACK],
    sequences: [Sequence; MAX_SEQUENCES],
}

/// How far the buffers are filled; apart from them, so that it stays in registers.
#[derive(Clone, Copy, Default)]
pub(super) struct Cursor {
    /// Where the next literal run starts: the end of the last match.
    pub(super) covered_to: usize,
    literal_count: usize,
    sequence_count: usize,
}

/// A match of which stage 1 knows up to 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub(super) position: usize,
    pub(super) candidate: usize,
    pub(super) length: usize,
}

impl Buffers {
    pub(super) fn new() -> Self {
        Self {
            page: [0; BEFORE + PAGE_BYTES + SLACK],
            length: 0,
            literals: [0; PAGE_BYTES + SLACK],
            sequences: [Sequence::default(); MAX_SEQUENCES],
        }
    }

    pub(super) fn load(&mut self, page: &[u8]) {
        self.length = page.len().min(PAGE_BYTES);
        let (front, slack) = self.page[BEFORE..].split_at_mut(self.length);
        front.copy_from_slice(&page[..self.length]);
        slack.fill(0);
    }

    /// The bytes that hashing a chunk from `first` on reads.
    #[inline(always)]
    pub(super) fn window(&self, first: usize) -> Option<&[u8; CHUNK_WINDOW]> {
        self.page.get(BEFORE + first..)?.first_chunk()
    }

    /// Whether `count` bytes from `position` on, at least eight, are one value.
    #[inline(always)]
    pub(super) fn is_one_value(&self, position: usize, count: usize) -> bool {
        let bytes = &self.page[BEFORE + position..];
        // The first eight say no, nearly always.
        bytes.first_chunk().is_some_and(|eight| {
            let eight = u64::from_le_bytes(*eight);
            eight == eight.rotate_left(8) && bytes[..count - 1] == bytes[1..count]
        })
    }

    /// Bytes at `position` of the page, and of the slack behind it.
    #[inline(always)]
    pub(super) fn bytes<const COUNT: usize>(&self, position: usize) -> [u8; COUNT] {
        const { assert!(COUNT <= SLACK) };
        match self.page[BEFORE + position % PAGE_BYTES..].first_chunk() {
            Some(bytes) => *bytes,
            None => unreachable!("the slack is longer"),
        }
    }

    /// How many of the next 16 bytes agree.
    #[inline(always)]
    pub(super) fn common_bytes(&self, position: usize, candidate: usize) -> usize {
        common_bytes(self.bytes(position), self.bytes(candidate))
    }

    /// How many of the next 32 bytes agree.
    #[inline(always)]
    pub(super) fn common_of_more_bytes(&self, position: usize, candidate: usize) -> usize {
        common_of_more_bytes(self.bytes(position), self.bytes(candidate))
    }

    /// Stage 2: how long the match really is, up to the end of the page. `COMPARED` bytes are known to agree or not.
    #[inline(always)]
    fn extend<const COMPARED: usize>(&self, found: Match) -> usize {
        let most = self.length - found.position;
        let mut length = found.length;
        if length >= COMPARED {
            while length < most {
                let common = self.common_bytes(found.position + length, found.candidate + length);
                length += common;
                if common < STAGE_ONE_BYTES {
                    break;
                }
            }
        }
        length.min(most)
    }

    /// How many of the eight bytes before the match agree as well.
    #[inline(always)]
    fn common_before(&self, found: Match) -> usize {
        let before = |position: usize| match self.page[position % PAGE_BYTES..].first_chunk::<BEFORE>() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => unreachable!("the page has as many in front"),
        };
        let differing = before(found.candidate) ^ before(found.position);
        (differing.leading_zeros() as usize / 8).min(found.candidate)
    }

    /// Makes a sequence of the match and of the literals before it; answers the match's length.
    #[inline(always)]
    pub(super) fn take<const COMPARED: usize>(&mut self, found: Match, cursor: &mut Cursor) -> usize {
        let length = self.extend::<COMPARED>(found);
        let literal_length = found.position - cursor.covered_to;
        // The table may have lost where a match really begins.
        let before = self.common_before(found).min(literal_length);
        let (literal_length, length) = (literal_length - before, length + before);
        let position = found.position - before;
        self.copy_literals(literal_length, cursor);
        if let Some(sequence) = self.sequences.get_mut(cursor.sequence_count) {
            *sequence = Sequence {
                literal_length: literal_length as u16,
                match_length: length as u16,
                offset: (found.position - found.candidate) as u16,
            };
            cursor.sequence_count += 1;
        }
        cursor.covered_to = position + length;
        length
    }

    /// Copies so many literals at a time that hardly any run takes two steps, and none a call.
    #[inline(always)]
    fn copy_literals(&mut self, count: usize, cursor: &mut Cursor) {
        let (from, to) = (cursor.covered_to, cursor.literal_count);
        let mut copied = 0;
        loop {
            let source = self
                .page
                .get(BEFORE + from + copied..)
                .and_then(|rest| rest.first_chunk());
            let target = self.literals.get_mut(to + copied..);
            let target = target.and_then(|rest| rest.first_chunk_mut::<LITERALS_AT_ONCE>());
            let (Some(source), Some(target)) = (source, target) else {
                break;
            };
            *target = *source;
            copied += LITERALS_AT_ONCE;
            if copied >= count {
                break;
            }
        }
        cursor.literal_count += count;
    }

    /// Copies the literals behind the last match.
    pub(super) fn end(&mut self, mut cursor: Cursor) -> Parsed<'_> {
        self.copy_literals(self.length - cursor.covered_to, &mut cursor);
        Parsed {
            literals: &self.literals[..cursor.literal_count],
            sequences: &self.sequences[..cursor.sequence_count],
        }
    }
}
