//! What the rows of a column that were taken say of profile and index: a rule on their sizes and latencies.

use outcrop_schema::column::{
    FILE_BYTES, FORMAT, Format, Index, LATENCY, OPERATION, PROFILE, Profile, TABLE_ROWS, TEXT_BYTES,
};
use outcrop_workload::column::{Operation, SearchMode};

use super::cell::{Column, columns, is_balanced_file, is_generated, is_plain_file, is_search, rows_taken};
use super::verdict::rows_in_words;
use super::whole::is_whole;
use crate::cell::{Cell, best};
use crate::number::Number;

/// Postings are advised where the file stays at most this part of the text.
const WORTH_SHARE: f64 = 0.5;
/// What the smaller profile must save to be worth its time.
const WORTH_SMALLEST: f64 = 0.95;
/// Ways to open a file in which postings in it may matter, the one that they are made for first.
const MODES: [SearchMode; 2] = [SearchMode::OnDisk, SearchMode::InMemory];
/// How much faster an index must be to be worth its bytes.
const WORTH_INDEX: f64 = 10.0;

/// What the cells of one column say.
pub(super) struct Judgement<'c> {
    pub(super) words: String,
    /// The encode of the profile that is recommended, without index, and its size.
    pub(super) best: &'c Cell<'c>,
    pub(super) file: &'c Number,
    /// The size of the smallest file without index.
    pub(super) smallest_bytes: f64,
    pub(super) text_bytes: f64,
    /// The smallest text under a codec: which, and its bytes.
    pub(super) codec: Option<(&'c str, f64)>,
    pub(super) index: Option<IndexGain<'c>>,
    /// Why there is none, of a column that was searched.
    pub(super) no_lookup: Option<&'c str>,
    /// Whether the smaller profile was measured.
    pub(super) has_smallest: bool,
}

/// What an index costs and gives: median latencies of a lookup in files with and without postings, both opened in the same way, and
/// the sizes of these files.
pub(super) struct IndexGain<'c> {
    pub(super) mode: SearchMode,
    pub(super) without: &'c Number,
    pub(super) with: &'c Number,
    pub(super) without_bytes: f64,
    pub(super) with_bytes: f64,
    pub(super) is_worth: bool,
}

impl IndexGain<'_> {
    /// How many times as large postings make the file.
    pub(super) fn size_ratio(&self) -> f64 {
        self.with_bytes / self.without_bytes
    }
}

/// Where a file is that is searched in this way.
pub(super) const fn place(mode: SearchMode) -> &'static str {
    match mode {
        // No search here waits for a device: what it reads is in the page cache.
        SearchMode::OnDisk => "in the cached file",
        SearchMode::InMemory | SearchMode::Scan => "in memory",
    }
}

/// Judges every column of the cells that was encoded.
pub(super) fn judge<'c>(cells: &'c [Cell<'c>]) -> Vec<Judgement<'c>> {
    let of_rows = cells.iter().filter(|cell| !is_whole(cell));
    columns(of_rows).into_iter().filter_map(judge_one).collect()
}

impl Judgement<'_> {
    /// The smallest file over the smallest text under a codec, and which codec that is.
    pub(super) fn over_codec(&self) -> Option<(f64, &str)> {
        let (codec, bytes) = self.codec?;
        Some((self.smallest_bytes / bytes, codec))
    }

    /// The rows that were taken of a column of a file, in words.
    pub(super) fn rows(&self) -> String {
        match rows_taken(self.best) {
            Some(taken) => rows_in_words(taken, self.best.value(&TABLE_ROWS)),
            None => "whole column".to_owned(),
        }
    }

    /// ` for the first 65,536 of 2,000,000 rows`, which follows the size of a file that has not all rows of the column; else empty.
    pub(super) fn part(&self) -> String {
        let (taken, all) = (rows_taken(self.best), self.best.value(&TABLE_ROWS));
        match taken.filter(|taken| !is_generated(self.best) && all.is_none_or(|all| *taken < all)) {
            Some(taken) => format!(" for the {}", rows_in_words(taken, all)),
            None => String::new(),
        }
    }
}

fn judge_one<'c>((words, cells): Column<'c>) -> Option<Judgement<'c>> {
    let encoded = |is_wanted: fn(&Cell<'_>) -> bool| {
        let wanted = cells.iter().copied().filter(move |cell| is_wanted(cell));
        wanted.filter_map(|cell| Some((cell, cell.number(&FILE_BYTES)?)))
    };
    let balanced = encoded(is_balanced_file).chain(encoded(is_plain_file)).next()?;
    let smallest = encoded(|cell| is_plain_file(cell) && cell.is(&PROFILE, &Profile::Smallest)).next();
    let saves = |(_, small): &(_, &Number)| small.value < balanced.1.value * WORTH_SMALLEST;
    let (cell, file) = smallest.filter(saves).unwrap_or(balanced);
    let text_bytes = cell.value(&TEXT_BYTES)?;
    let texts = encoded(|cell| cell.is(&OPERATION, &Operation::Encode) && !cell.is(&FORMAT, &Format::Ocol));
    let codec = best(texts.map(|(cell, _)| cell), &FILE_BYTES);
    let codec = codec.map(|(cell, bytes)| (cell.spelling(&FORMAT), bytes.value));
    Some(Judgement {
        words,
        best: cell,
        file,
        smallest_bytes: encoded(is_plain_file).fold(f64::INFINITY, |least, (_, file)| least.min(file.value)),
        text_bytes,
        codec,
        has_smallest: encoded(|cell| is_plain_file(cell) && cell.is(&PROFILE, &Profile::Smallest))
            .next()
            .is_some(),
        index: index_gain(&cells, text_bytes),
        no_lookup: no_lookup(&cells),
    })
}

/// The first of the modes in which files with and without postings were searched, whatever that gave.
fn searched_mode(cells: &[&Cell<'_>]) -> Option<SearchMode> {
    let was_searched = |mode, index| {
        let mut cells = cells.iter();
        cells.any(|cell| is_search(cell, Operation::Equality, mode, &[index]))
    };
    let both = |mode: &SearchMode| was_searched(*mode, Index::Postings) && was_searched(*mode, Index::None);
    MODES.into_iter().find(both)
}

/// Why there is no time of a lookup, of a column that was searched.
fn no_lookup<'c>(cells: &[&'c Cell<'c>]) -> Option<&'c str> {
    let mode = searched_mode(cells)?;
    let mut its = cells
        .iter()
        .filter(|cell| is_search(cell, Operation::Equality, mode, &[Index::None, Index::Postings]));
    its.find_map(|cell| cell.unavailable(&LATENCY.p50))
}

fn index_gain<'c>(cells: &[&'c Cell<'c>], text_bytes: f64) -> Option<IndexGain<'c>> {
    let time_and_bytes = |cell: &&'c Cell<'c>| Some((cell.number(&LATENCY.p50)?, cell.value(&FILE_BYTES)?));
    let lookup = |mode, index: Index| {
        let is_wanted = |cell: &&&Cell<'_>| is_search(cell, Operation::Equality, mode, &[index]);
        cells.iter().filter(is_wanted).find_map(time_and_bytes)
    };
    // Unloaded first: a file that is loaded gets postings whether it carries them or not. Where too few operations gave no median there,
    // memory says nothing of it.
    let mode = searched_mode(cells)?;
    let (with, with_bytes) = lookup(mode, Index::Postings)?;
    let (without, without_bytes) = lookup(mode, Index::None)?;
    Some(IndexGain {
        mode,
        without,
        with,
        without_bytes,
        with_bytes,
        is_worth: without.value > with.value * WORTH_INDEX && with_bytes <= text_bytes * WORTH_SHARE,
    })
}
