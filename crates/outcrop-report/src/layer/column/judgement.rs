//! Whether a column is worth a dictionary, and with which profile and index: a rule on its sizes and latencies.

use outcrop_schema::column::{
    DISTINCT_VALUES, FILE_BYTES, FORMAT, Format, Index, LATENCY, OPERATION, PROFILE, Profile, ROW_COUNT,
    TEXT_BYTES,
};
use outcrop_workload::column::{Operation, SearchMode};

use super::cell::{Column, columns, is_balanced_file, is_plain_file, is_search};
use crate::cell::{Cell, best};
use crate::number::Number;

/// A file that is not at most this part of the text is no gain worth a format.
const WORTH_SHARE: f64 = 0.5;
/// Beyond this many times the best general compressor, a column file is chosen for its search, not for its size.
const TIE_WITH_TEXT: f64 = 1.10;
/// Values hardly repeat above this many distinct ones a row.
const HARDLY_REPEATS: f64 = 0.5;
/// What the smaller profile must save to be worth its time.
const WORTH_SMALLEST: f64 = 0.95;
/// How much faster an index must be to be worth its bytes.
const WORTH_INDEX: f64 = 10.0;

/// Whether a dictionary pays.
#[derive(PartialEq, Eq)]
pub(super) enum Verdict {
    /// Smaller than text by half or more, and no larger than a general compressor makes it.
    Worth,
    /// A general compressor makes it smaller; only a column file can be searched.
    ForSearch,
    /// Little is gained.
    NotWorth,
}

/// What the cells of one column say.
pub(super) struct Judgement<'c> {
    pub(super) verdict: Verdict,
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
}

/// What an index costs and gives: median latencies of a lookup, and what postings make of the file's size.
pub(super) struct IndexGain<'c> {
    pub(super) without: &'c Number,
    pub(super) with: &'c Number,
    pub(super) size_ratio: f64,
    pub(super) is_worth: bool,
}

/// Judges every column of the cells that was encoded.
pub(super) fn judge<'c>(cells: &'c [Cell<'c>]) -> Vec<Judgement<'c>> {
    columns(cells).into_iter().filter_map(judge_one).collect()
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
    let repeats = cell.value(&DISTINCT_VALUES)? <= cell.value(&ROW_COUNT)? * HARDLY_REPEATS;
    let verdict = if file.value > text_bytes * WORTH_SHARE || !repeats {
        Verdict::NotWorth
    } else if codec.is_some_and(|(_, bytes)| file.value > bytes * TIE_WITH_TEXT) {
        Verdict::ForSearch
    } else {
        Verdict::Worth
    };
    Some(Judgement {
        verdict,
        words,
        best: cell,
        file,
        smallest_bytes: encoded(is_plain_file).fold(f64::INFINITY, |least, (_, file)| least.min(file.value)),
        text_bytes,
        codec,
        index: index_gain(&cells, balanced.1.value, text_bytes),
    })
}

fn index_gain<'c>(cells: &[&'c Cell<'c>], file_bytes: f64, text_bytes: f64) -> Option<IndexGain<'c>> {
    let time_and_bytes = |cell: &&'c Cell<'c>| Some((cell.number(&LATENCY.p50)?, cell.value(&FILE_BYTES)?));
    let lookup = |mode, indexes: &[Index]| {
        let is_wanted = |cell: &&&Cell<'_>| is_search(cell, Operation::Equality, mode, indexes);
        cells.iter().filter(is_wanted).find_map(time_and_bytes)
    };
    let (with, bytes) = lookup(SearchMode::InMemory, &[Index::Postings])?;
    // Cells without an index come first.
    let (without, _) = lookup(SearchMode::Scan, &[Index::None, Index::Postings])?;
    Some(IndexGain {
        without,
        with,
        size_ratio: bytes / file_bytes,
        is_worth: without.value > with.value * WORTH_INDEX && bytes <= text_bytes * WORTH_SHARE,
    })
}
