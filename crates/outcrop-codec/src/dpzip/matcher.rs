//! Match finding as the hardware does it: groups of four bytes against a small table.
//!
//! Each position of a group is looked up and inserted, matched or not, covered or not. Stage 1 compares up to
//! 16 bytes with every candidate; stage 2 extends the one chosen to its end. A group starts at most one match: it
//! covers at least four bytes.

use super::options::{DpzipOptions, Selection};
use super::predictor;
use super::table::{CandidateTable, Candidates};
use super::{GROUP_BYTES, PAGE_BYTES};
use crate::entropy::Sequence;

/// Bytes that stage 1 compares per candidate.
const STAGE_ONE_BYTES: usize = 16;
/// Shortest match worth a sequence; also what is hashed.
const MIN_MATCH: usize = 4;
/// Bytes behind the page that may be read, never matched.
const SLACK: usize = 32;
/// From here on in the page it is asked whether to go on at all.
const PREDICT_AT: usize = 1024;
const MAX_SEQUENCES: usize = PAGE_BYTES / MIN_MATCH;

/// What match finding did, for the cycle model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MatchWork {
    pub(crate) groups: usize,
    pub(crate) candidates: usize,
    pub(crate) matched_bytes: usize,
}

/// A page with its matches taken out.
pub(super) struct Parsed<'a> {
    pub(super) literals: &'a [u8],
    pub(super) sequences: &'a [Sequence],
}

/// Buffers of one page.
struct Buffers {
    page: [u8; PAGE_BYTES + SLACK],
    length: usize,
    literals: [u8; PAGE_BYTES + SLACK],
    literal_count: usize,
    sequences: [Sequence; MAX_SEQUENCES],
    sequence_count: usize,
    /// Where the next literal run starts: the end of the last match.
    covered_to: usize,
}

#[derive(Clone, Copy)]
struct Match {
    position: usize,
    candidate: usize,
    length: usize,
}

/// Finds matches in pages, with `FOURS` × 4 ways per bucket at most.
pub(super) struct Matcher<const FOURS: usize> {
    table: CandidateTable<FOURS>,
    buffers: Box<Buffers>,
    selection: Selection,
    lazy: bool,
    work: MatchWork,
}

impl<const FOURS: usize> Matcher<FOURS> {
    pub(super) fn new(options: DpzipOptions) -> Self {
        Self {
            table: CandidateTable::new(options.bucket_bits(), options.ways()),
            buffers: Box::new(Buffers {
                page: [0; PAGE_BYTES + SLACK],
                length: 0,
                literals: [0; PAGE_BYTES + SLACK],
                literal_count: 0,
                sequences: [Sequence::default(); MAX_SEQUENCES],
                sequence_count: 0,
                covered_to: 0,
            }),
            selection: options.selection,
            lazy: options.lazy,
            work: MatchWork::default(),
        }
    }

    /// Takes the matches out of `page` (at most 4 KiB); `None` when it looks incompressible.
    pub(super) fn parse(&mut self, page: &[u8]) -> Option<Parsed<'_>> {
        self.table.clear();
        self.work = MatchWork::default();
        self.buffers.load(page);
        // The last groups reach beyond the page with their hashes: their bytes are literals, or covered.
        let searched = (page.len() + 1).saturating_sub(2 * GROUP_BYTES);
        let first = searched.min(PREDICT_AT);
        self.search(0, first);
        if page.len() > 2 * PREDICT_AT
            && predictor::looks_incompressible(&page[..first], self.work.matched_bytes)
        {
            return None;
        }
        self.search(first, searched);
        let buffers = &mut *self.buffers;
        buffers.end();
        Some(Parsed {
            literals: &buffers.literals[..buffers.literal_count],
            sequences: &buffers.sequences[..buffers.sequence_count],
        })
    }

    pub(super) fn work(&self) -> MatchWork {
        self.work
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + size_of::<Buffers>()
    }

    /// Searches the groups that start in `from..to`.
    fn search(&mut self, from: usize, to: usize) {
        for group in (from..to).step_by(GROUP_BYTES) {
            let bytes = self.buffers.word(group);
            if self.buffers.covered_to >= group + GROUP_BYTES {
                self.table.insert(bytes, group);
                continue;
            }
            let candidates = self.table.exchange(bytes, group);
            let hits = candidates.hits_from(self.buffers.covered_to.saturating_sub(group));
            if hits != 0 {
                self.match_group(group, hits, &candidates);
            }
        }
        self.work.groups += to.saturating_sub(from).div_ceil(GROUP_BYTES);
    }

    /// Starts the match of a group. Stage 1 compares up to 16 bytes with each candidate, positions in order and each one's
    /// newest first: the first that fits or the longest of a position; the first position's, or with `lazy`
    /// the longest of all.
    #[inline]
    fn match_group(&mut self, group: usize, mut hits: u64, candidates: &Candidates<FOURS>) {
        let mut best = Match {
            position: 0,
            candidate: 0,
            length: 0,
        };
        while hits != 0 {
            let bit = hits.trailing_zeros();
            hits &= hits - 1;
            let (index, candidate) = candidates.candidate(bit);
            let position = group + index;
            let length = self.buffers.common_bytes(position, candidate);
            self.work.candidates += 1;
            if length < MIN_MATCH || candidate >= position {
                continue;
            }
            if length > best.length {
                best = Match {
                    position,
                    candidate,
                    length,
                };
            }
            hits &= match (self.selection, self.lazy) {
                (Selection::FirstFit, false) => 0,
                (Selection::FirstFit, true) => !Candidates::<FOURS>::position_bits(bit),
                (Selection::Longest, false) => Candidates::<FOURS>::position_bits(bit),
                (Selection::Longest, true) => u64::MAX,
            };
        }
        if best.length > 0 {
            let length = self.buffers.extend(best);
            self.work.matched_bytes += length;
            self.buffers.take(best, length);
        }
    }
}

impl Buffers {
    fn load(&mut self, page: &[u8]) {
        self.length = page.len().min(PAGE_BYTES);
        self.page[..self.length].copy_from_slice(&page[..self.length]);
        self.page[self.length..].fill(0);
        self.literal_count = 0;
        self.sequence_count = 0;
        self.covered_to = 0;
    }

    /// Eight bytes at `position`, of the page or of the slack behind it.
    #[inline(always)]
    fn word(&self, position: usize) -> u64 {
        let at = position & (2 * PAGE_BYTES - 1);
        match self.page.get(at..at + 8) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().expect("eight bytes were asked for")),
            None => 0,
        }
    }

    /// How many of the next 16 bytes agree.
    #[inline(always)]
    fn common_bytes(&self, position: usize, candidate: usize) -> usize {
        let low = self.word(position) ^ self.word(candidate);
        let high = self.word(position + 8) ^ self.word(candidate + 8);
        // Both halves always: lengths around eight are common, and a wrong guess costs more than two loads.
        let beyond = 8 + high.trailing_zeros() as usize / 8;
        if low == 0 {
            beyond
        } else {
            low.trailing_zeros() as usize / 8
        }
    }

    /// Stage 2: how long the match really is, up to the end of the page.
    #[inline]
    fn extend(&self, found: Match) -> usize {
        let most = self.length - found.position;
        let mut length = found.length;
        if length >= STAGE_ONE_BYTES {
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

    /// Makes a sequence of the match and of the literals before it.
    #[inline]
    fn take(&mut self, found: Match, length: usize) {
        let literal_length = found.position - self.covered_to;
        self.copy_literals(literal_length);
        if let Some(sequence) = self.sequences.get_mut(self.sequence_count) {
            *sequence = Sequence {
                literal_length: literal_length as u16,
                match_length: length as u16,
                offset: (found.position - found.candidate) as u16,
            };
            self.sequence_count += 1;
        }
        self.covered_to = found.position + length;
    }

    #[inline]
    fn copy_literals(&mut self, count: usize) {
        let (from, to) = (self.covered_to, self.literal_count);
        if count <= 16
            && let (Some(source), Some(target)) =
                (self.page.get(from..from + 16), self.literals.get_mut(to..to + 16))
        {
            // Sixteen whatever the count: a fixed size is one load and one store.
            target.copy_from_slice(source);
        } else {
            self.literals[to..to + count].copy_from_slice(&self.page[from..from + count]);
        }
        self.literal_count += count;
    }

    /// Copies the literals behind the last match.
    fn end(&mut self) {
        self.copy_literals(self.length - self.covered_to);
    }
}
