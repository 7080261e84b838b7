//! Match finding as the hardware does it: groups of four bytes against a small table.
//!
//! Each position of a group is looked up and inserted, matched or not, covered or not. Stage 1 compares up to
//! 16 bytes with every candidate; stage 2 extends the one chosen to its end, and over literals to the front, which the
//! table may have lost. A group starts at most one match: it covers at least four bytes.
//!
//! What a position finds in the table does not depend on what was matched before it. Software therefore asks the table for
//! a run of positions at once, without a branch, and afterwards looks at those that found something and are not covered: a
//! branch for each group would be predicted wrongly so often that it costs more than the questions it saves. First fit
//! asks for a whole stretch of runs, and goes from match to match afterwards.

mod found;
#[cfg(test)]
mod oracle;
mod parsed;

use std::ops::Range;

use found::{Found, STRETCH};
pub(super) use parsed::Parsed;
use parsed::{Buffers, Cursor, MIN_MATCH, Match, STAGE_ONE_BYTES};

use super::options::{DpzipOptions, GROUP_BYTES, PAGE_BYTES, Selection};
use super::predictor;
use super::slots::{self, CHUNK, CHUNK_WINDOW, Hashing, Slots};
use super::table::{CandidateTable, Candidates, Newest, RUN};

/// Bytes that software compares instead where stage 1 does not decide: a longer match is rarer, and nobody can predict which it is.
const MORE_BYTES: usize = 32;
/// Fewest bytes of a match that is taken because it comes first: four rarely save bits against four literals, and cost both
/// sides the time of a sequence. Who looks for the longest match has time.
const MIN_FIRST_FIT: usize = 5;
/// From here on in the page it is asked whether to go on at all.
const PREDICT_AT: usize = 1024;

/// What match finding did, for the cycle model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MatchWork {
    pub(crate) groups: usize,
    pub(crate) candidates: usize,
    pub(crate) matched_bytes: usize,
}

/// Hashes a chunk of positions: its bytes, its first position, and how.
pub(super) trait HashChunk: Fn(&mut Slots, &[u8; CHUNK_WINDOW], usize, Hashing) {}

impl<F: Fn(&mut Slots, &[u8; CHUNK_WINDOW], usize, Hashing)> HashChunk for F {}

/// Asks the table for a run's newest candidates, as [`CandidateTable::exchange_newest`] does.
pub(super) trait AskNewest<const FOURS: usize>:
    Fn(&mut CandidateTable<FOURS>, &Slots, usize, &mut Candidates<FOURS>, &mut Newest) -> u64
{
}

impl<const FOURS: usize, F> AskNewest<FOURS> for F where
    F: Fn(&mut CandidateTable<FOURS>, &Slots, usize, &mut Candidates<FOURS>, &mut Newest) -> u64
{
}

/// Finds matches in pages, with `FOURS` × 4 ways per bucket at most.
pub(super) struct Matcher<const FOURS: usize> {
    table: CandidateTable<FOURS>,
    slots: Box<Slots>,
    candidates: Box<Candidates<FOURS>>,
    found: Box<Found>,
    buffers: Box<Buffers>,
    hashing: Hashing,
    ways: usize,
    selection: Selection,
    lazy: bool,
}

fn least_bytes(selection: Selection) -> usize {
    match selection {
        Selection::FirstFit => MIN_FIRST_FIT,
        Selection::Longest => MIN_MATCH,
    }
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
            candidates: Box::new(Candidates::new(options.ways())),
            found: Box::new(Found::new()),
            buffers: Box::new(Buffers::new()),
            ways: options.ways(),
            hashing: Hashing {
                bucket_bits: options.bucket_bits(),
                tags_fifth: least_bytes(options.selection) > MIN_MATCH,
            },
            selection: options.selection,
            lazy: options.lazy,
        }
    }

    /// Takes the matches out of `page` (at most 4 KiB); nothing when it looks incompressible. `hash` is
    /// [`Slots::fill`] or does the same, `ask` is [`CandidateTable::exchange_newest`] or does the same.
    #[inline(always)]
    pub(super) fn parse(
        &mut self,
        page: &[u8],
        hash: impl HashChunk,
        ask: impl AskNewest<FOURS>,
    ) -> (Option<Parsed<'_>>, MatchWork) {
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
            self.search(from..to, &mut progress, &hash, &ask);
        }
        (Some(self.buffers.end(progress.cursor)), progress.work)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + size_of::<(Buffers, Slots, Found, Candidates<FOURS>)>()
    }

    /// Searches the groups that start in `starts`, which begins with a multiple of `CHUNK`.
    #[inline(always)]
    fn search(
        &mut self,
        starts: Range<usize>,
        progress: &mut Progress,
        hash: &impl HashChunk,
        ask: &impl AskNewest<FOURS>,
    ) {
        progress.work.groups += starts.len().div_ceil(GROUP_BYTES);
        let end = starts.end.next_multiple_of(GROUP_BYTES).min(PAGE_BYTES);
        let Progress { mut cursor, mut work } = std::mem::take(progress);
        if self.selection == Selection::FirstFit && !self.lazy {
            for stretch in (starts.start..end).step_by(STRETCH) {
                self.find_newest(stretch..end.min(stretch + STRETCH), cursor.covered_to, hash, ask);
                self.take_newest(stretch, &mut cursor, &mut work);
            }
            *progress = Progress { cursor, work };
            return;
        }
        for chunk in (starts.start..end).step_by(CHUNK) {
            let Some(window) = self.buffers.window(chunk) else {
                break;
            };
            hash(&mut self.slots, window, chunk, self.hashing);
            for run in (chunk..end.min(chunk + CHUNK)).step_by(RUN) {
                if cursor.covered_to >= run + RUN {
                    self.table.insert(&self.slots, run - chunk);
                    continue;
                }
                let (table, slots, candidates) = (&mut self.table, &self.slots, &mut self.candidates);
                let wanted = from(cursor.covered_to.saturating_sub(run)) & !from(end - run);
                let found = table.exchange(slots, run - chunk, candidates);
                self.take_best(run, found & wanted, &mut cursor, &mut work);
            }
        }
        *progress = Progress { cursor, work };
    }
}

/// Bits from `index` on; none when it is beyond the word.
#[inline(always)]
fn from(index: usize) -> u64 {
    u64::MAX.checked_shl(index as u32).unwrap_or(0)
}

impl<const FOURS: usize> Matcher<FOURS> {
    /// Asks for the newest candidates of a stretch, of which the front is `covered_to` some position.
    #[inline(always)]
    fn find_newest(
        &mut self,
        stretch: Range<usize>,
        covered_to: usize,
        hash: &impl HashChunk,
        ask: &impl AskNewest<FOURS>,
    ) {
        self.found.clear();
        for chunk in stretch.clone().step_by(CHUNK) {
            let Some(window) = self.buffers.window(chunk) else {
                break;
            };
            hash(&mut self.slots, window, chunk, self.hashing);
            for run in (chunk..chunk + CHUNK).step_by(RUN) {
                let mut found = 0;
                if covered_to >= run + RUN {
                    self.table.insert(&self.slots, run - chunk);
                } else if self.buffers.is_one_value(run, RUN + MIN_FIRST_FIT) {
                    found = self.find_in_run_of_one_value(run, chunk);
                } else if run < stretch.end {
                    let newest = self.found.newest(run);
                    found = ask(
                        &mut self.table,
                        &self.slots,
                        run - chunk,
                        &mut self.candidates,
                        newest,
                    );
                }
                self.found
                    .set(run, found & !from(stretch.end.saturating_sub(run)));
            }
        }
    }

    /// A run whose positions all find the one before: the table, which would make each wait for that one, is asked for the
    /// first alone.
    fn find_in_run_of_one_value(&mut self, run: usize, chunk: usize) -> u64 {
        let first = self.table.newest(&self.slots, run - chunk, self.ways);
        let newest = self.found.newest(run);
        for (before, newest) in (run..).zip(&mut newest[1..]) {
            *newest = before as u16;
        }
        newest[0] = first.unwrap_or(0);
        self.table.insert(&self.slots, run - chunk);
        u64::MAX - u64::from(first.is_none())
    }

    /// Takes the matches that start in a stretch: position after position, the newest candidate that fits.
    #[inline(always)]
    fn take_newest(&mut self, stretch: usize, cursor: &mut Cursor, work: &mut MatchWork) {
        let mut at = cursor.covered_to.saturating_sub(stretch);
        while let Some((index, candidate)) = self.found.next(at) {
            let position = stretch + index;
            let mut chosen = Match {
                position,
                candidate,
                length: self.buffers.common_of_more_bytes(position, candidate),
            };
            work.candidates += 1;
            if chosen.length < MIN_FIRST_FIT || candidate >= position {
                match self.first_true(position, work) {
                    Some(other) => chosen = other,
                    None => {
                        at = index + 1;
                        continue;
                    }
                }
            }
            work.matched_bytes += self.buffers.take::<MORE_BYTES>(chosen, cursor);
            at = cursor.covered_to - stretch;
        }
    }

    /// What `position` finds when the newest candidate's tag agreed by chance: the page is asked instead of the table, which
    /// has moved on.
    #[cold]
    #[inline(never)]
    fn first_true(&self, position: usize, work: &mut MatchWork) -> Option<Match> {
        let bucket = |at| slots::bucket(self.buffers.bytes(at), self.hashing.bucket_bits);
        let wanted = bucket(position);
        let in_bucket = (0..position).rev().filter(|&at| bucket(at) == wanted);
        in_bucket.take(self.ways).find_map(|candidate| {
            work.candidates += 1;
            let length = self.buffers.common_of_more_bytes(position, candidate);
            (length >= MIN_FIRST_FIT).then_some(Match {
                position,
                candidate,
                length,
            })
        })
    }

    /// Takes the matches that start in a run, of each position, or if lazy of each group, one at most.
    #[inline(always)]
    fn take_best(&mut self, run: usize, mut found: u64, cursor: &mut Cursor, work: &mut MatchWork) {
        let positions = if self.lazy { GROUP_BYTES } else { 1 };
        while found != 0 {
            let first = found.trailing_zeros() as usize / positions * positions;
            let these = found & !from(first + positions);
            found &= !these;
            if let Some(chosen) = self.choose(run, these, work) {
                work.matched_bytes += self.buffers.take::<STAGE_ONE_BYTES>(chosen, cursor);
                found &= from(cursor.covered_to - run);
            }
        }
    }

    /// Stage 1: of each position the first that fits or the longest, and of all positions the longest, the earliest on a tie.
    #[inline(always)]
    fn choose(&self, run: usize, mut found: u64, work: &mut MatchWork) -> Option<Match> {
        let mut best: Option<Match> = None;
        while found != 0 {
            let index = found.trailing_zeros() as usize;
            found &= found - 1;
            let position = run + index;
            for candidate in self.candidates.of(index) {
                let length = self.buffers.common_bytes(position, candidate);
                work.candidates += 1;
                if length < least_bytes(self.selection) || candidate >= position {
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
                    break;
                }
            }
        }
        best
    }
}
