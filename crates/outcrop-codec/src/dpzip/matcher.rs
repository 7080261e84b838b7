//! Match finding as the hardware does it: groups of four bytes against a small table.
//!
//! Each position of a group is looked up and inserted, matched or not, covered or not. Stage 1 compares up to
//! 16 bytes with every candidate; stage 2 extends the one chosen to its end. A group starts at most one match: it
//! covers at least four bytes.
//!
//! What a position finds in the table does not depend on what was matched before it. Software therefore asks the table block by
//! block, without a branch, and afterwards looks at the positions that found something and are not covered.

#[cfg(test)]
mod oracle;
mod parsed;

pub(super) use parsed::Parsed;
use parsed::{Buffers, Cursor, Match};

use super::options::{DpzipOptions, Selection};
use super::predictor;
use super::slots::{CHUNK, CHUNK_WINDOW, Slots};
use super::table::{CandidateTable, Candidates};
use super::{GROUP_BYTES, PAGE_BYTES};

/// Bytes that stage 1 compares per candidate.
const STAGE_ONE_BYTES: usize = 16;
/// Shortest match worth a sequence; also what is hashed.
const MIN_MATCH: usize = 4;
/// Farthest that a match of four bytes may reach back, and one of five: as literals they cost fewer bits than as a
/// sequence that has such an offset, and less time.
const FARTHEST: [usize; 2] = [128, 2048];
/// From here on in the page it is asked whether to go on at all.
const PREDICT_AT: usize = 1024;

/// What match finding did, for the cycle model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MatchWork {
    pub(crate) groups: usize,
    pub(crate) candidates: usize,
    pub(crate) matched_bytes: usize,
}

/// Hashes a chunk of positions: its bytes, its first position, and log2 of the number of buckets.
pub(super) trait HashChunk: Fn(&mut Slots, &[u8; CHUNK_WINDOW], usize, u32) {}

impl<F: Fn(&mut Slots, &[u8; CHUNK_WINDOW], usize, u32)> HashChunk for F {}

/// Whether a candidate makes a match: four bytes agree at least, it is no later one, and not too far for so few bytes.
#[inline(always)]
fn is_worth_it(length: usize, offset: usize) -> bool {
    let farthest = match length {
        0..MIN_MATCH => 0,
        4 => FARTHEST[0],
        5 => FARTHEST[1],
        _ => PAGE_BYTES,
    };
    // An offset of 0, or a wrapped one, is none.
    offset.wrapping_sub(1) < farthest
}

/// Finds matches in pages, with `FOURS` × 4 ways per bucket at most.
pub(super) struct Matcher<const FOURS: usize> {
    table: CandidateTable<FOURS>,
    slots: Box<Slots>,
    buffers: Box<Buffers>,
    selection: Selection,
    lazy: bool,
}

/// How far a page is parsed, and what that took.
#[derive(Default)]
struct Progress {
    cursor: Cursor,
    work: MatchWork,
}

impl<const FOURS: usize> Matcher<FOURS> {
    pub(super) fn new(options: DpzipOptions) -> Self {
        Self {
            table: CandidateTable::new(options.bucket_bits(), options.ways()),
            slots: Box::new(Slots::new()),
            buffers: Box::new(Buffers::new()),
            selection: options.selection,
            lazy: options.lazy,
        }
    }

    /// Takes the matches out of `page` (at most 4 KiB); nothing when it looks incompressible. `hash` is
    /// [`Slots::fill`] or does the same.
    #[inline(always)]
    pub(super) fn parse(&mut self, page: &[u8], hash: impl HashChunk) -> (Option<Parsed<'_>>, MatchWork) {
        self.table.clear();
        self.buffers.load(page);
        let mut progress = Progress::default();
        // The last groups reach beyond the page with their hashes: their bytes are literals, or covered.
        let searched = (page.len() + 1).saturating_sub(2 * GROUP_BYTES);
        for (from, to) in [(0, searched.min(PREDICT_AT)), (PREDICT_AT, searched)] {
            if from > 0 && page.len() > 2 * PREDICT_AT {
                let matched = progress.work.matched_bytes;
                if predictor::looks_incompressible(&page[..from], matched) {
                    return (None, progress.work);
                }
            }
            self.search(from, to, &mut progress, &hash);
        }
        (Some(self.buffers.end(progress.cursor)), progress.work)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + size_of::<Buffers>() + size_of::<Slots>()
    }

    /// Searches the groups that start in `from..to`; `from` is a multiple of `CHUNK`.
    #[inline(always)]
    fn search(&mut self, from: usize, to: usize, progress: &mut Progress, hash: &impl HashChunk) {
        progress.work.groups += to.saturating_sub(from).div_ceil(GROUP_BYTES);
        let block_bytes = Candidates::<FOURS>::POSITIONS;
        let end = to.next_multiple_of(GROUP_BYTES).min(PAGE_BYTES);
        let Progress { mut cursor, mut work } = std::mem::take(progress);
        for chunk in (from..end).step_by(CHUNK) {
            let Some(window) = self.buffers.window(chunk) else {
                break;
            };
            hash(&mut self.slots, window, chunk, self.table.bucket_bits());
            for block in (chunk..end.min(chunk + CHUNK)).step_by(block_bytes) {
                if cursor.covered_to >= block + block_bytes {
                    self.table.insert(&self.slots, block - chunk);
                    continue;
                }
                let candidates = self.table.exchange(&self.slots, block - chunk);
                let hits = candidates.hits
                    & Candidates::<FOURS>::bits_from(cursor.covered_to.saturating_sub(block))
                    & !Candidates::<FOURS>::bits_from(end - block);
                if self.selection == Selection::FirstFit && !self.lazy {
                    self.buffers
                        .take_first(block, hits, &candidates, &mut cursor, &mut work);
                } else {
                    let best = BestMatch {
                        selection: self.selection,
                        lazy: self.lazy,
                    };
                    best.take(
                        &mut self.buffers,
                        block,
                        hits,
                        &candidates,
                        &mut cursor,
                        &mut work,
                    );
                }
            }
        }
        *progress = Progress { cursor, work };
    }
}

impl Buffers {
    /// Takes the newest candidate that fits, position after position.
    #[inline(always)]
    fn take_first<const FOURS: usize>(
        &mut self,
        block: usize,
        mut hits: u64,
        candidates: &Candidates<FOURS>,
        cursor: &mut Cursor,
        work: &mut MatchWork,
    ) {
        while hits != 0 {
            let (index, candidate) = candidates.candidate(hits.trailing_zeros());
            let position = block + index;
            let length = self.common_bytes(position, candidate);
            work.candidates += 1;
            hits &= hits - 1;
            if !is_worth_it(length, position.wrapping_sub(candidate)) {
                continue;
            }
            let found = Match {
                position,
                candidate,
                length,
            };
            work.matched_bytes += self.take(found, cursor);
            hits &= Candidates::<FOURS>::bits_from(cursor.covered_to - block);
        }
    }
}

/// Every other way than the first that fits to choose a match.
#[derive(Clone, Copy)]
struct BestMatch {
    selection: Selection,
    lazy: bool,
}

impl BestMatch {
    /// Takes the matches that start in a block: of each position, or with `lazy` of each group, one at most.
    #[inline]
    fn take<const FOURS: usize>(
        self,
        buffers: &mut Buffers,
        block: usize,
        mut hits: u64,
        candidates: &Candidates<FOURS>,
        cursor: &mut Cursor,
        work: &mut MatchWork,
    ) {
        let positions = if self.lazy { GROUP_BYTES } else { 1 };
        while hits != 0 {
            let these = hits & Candidates::<FOURS>::bits_around(hits.trailing_zeros(), positions);
            hits &= !these;
            if let Some(found) = self.choose(buffers, block, these, candidates, work) {
                work.matched_bytes += buffers.take(found, cursor);
                hits &= Candidates::<FOURS>::bits_from(cursor.covered_to - block);
            }
        }
    }

    /// Stage 1: of each position the first that fits or the longest, and of all positions the longest, the
    /// earliest on a tie.
    #[inline]
    fn choose<const FOURS: usize>(
        self,
        buffers: &Buffers,
        block: usize,
        mut hits: u64,
        candidates: &Candidates<FOURS>,
        work: &mut MatchWork,
    ) -> Option<Match> {
        let mut best: Option<Match> = None;
        while hits != 0 {
            let bit = hits.trailing_zeros();
            hits &= hits - 1;
            let (index, candidate) = candidates.candidate(bit);
            let position = block + index;
            let length = buffers.common_bytes(position, candidate);
            work.candidates += 1;
            if !is_worth_it(length, position.wrapping_sub(candidate)) {
                continue;
            }
            if best.is_none_or(|best| length > best.length) {
                best = Some(Match {
                    position,
                    candidate,
                    length,
                });
            }
            if self.selection == Selection::FirstFit {
                hits &= !Candidates::<FOURS>::bits_around(bit, 1);
            }
        }
        best
    }
}
