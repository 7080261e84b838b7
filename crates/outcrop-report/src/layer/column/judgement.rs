//! Whether a column is worth a dictionary, and with which profile and index: a rule on its sizes and latencies.

use super::cell::Cell;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// Smaller than text by half or more, and no larger than a general compressor makes it.
    Worth,
    /// A general compressor makes it smaller; only a column file can be searched.
    ForSearch,
    /// Little is gained.
    NotWorth,
}

/// What the cells of one column say.
#[derive(Clone, Debug)]
pub(super) struct Judgement<'c, 'a> {
    pub(super) verdict: Verdict,
    pub(super) words: String,
    /// The encode of the profile that is recommended, without index.
    pub(super) best: &'c Cell<'a>,
    pub(super) text_bytes: f64,
    /// The smallest text under a codec: which, and its bytes.
    pub(super) codec: Option<(&'a str, f64)>,
    /// Median latency of a lookup without and with postings in the file, and what postings add to it, as a ratio.
    pub(super) index: Option<IndexGain<'c>>,
}

/// What an index costs and gives.
#[derive(Clone, Debug)]
pub(super) struct IndexGain<'c> {
    pub(super) without: &'c Number,
    pub(super) with: &'c Number,
    pub(super) size_ratio: f64,
    pub(super) is_worth: bool,
}

/// Judges every column of the cells that was encoded.
pub(super) fn judge<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<Judgement<'c, 'a>> {
    let mut keys: Vec<_> = cells.iter().map(Cell::column_key).collect();
    keys.sort();
    keys.dedup();
    let of_column =
        |key: &_| -> Vec<&'c Cell<'a>> { cells.iter().filter(|cell| cell.column_key() == *key).collect() };
    keys.iter().filter_map(|key| judge_one(&of_column(key))).collect()
}

fn judge_one<'c, 'a>(cells: &[&'c Cell<'a>]) -> Option<Judgement<'c, 'a>> {
    let encode = |wanted: &[(&str, &str)]| {
        let all = [&[("operation", "encode"), ("format", "ocol")], wanted].concat();
        cells.iter().copied().find(|cell| cell.is(&all))
    };
    let balanced =
        encode(&[("index", "none"), ("profile", "balanced")]).or_else(|| encode(&[("index", "none")]))?;
    let smallest = encode(&[("index", "none"), ("profile", "smallest")]);
    let bytes = |cell: &Cell<'_>| cell.value("file_bytes");
    let saves = |cell: &&Cell<'_>| {
        bytes(cell)
            .zip(bytes(balanced))
            .is_some_and(|(small, usual)| small < usual * WORTH_SMALLEST)
    };
    let best = smallest.filter(saves).unwrap_or(balanced);
    let (file, text) = (best.value("file_bytes")?, best.value("text_bytes")?);
    let codec = cells
        .iter()
        .filter(|cell| cell.factor("operation") == "encode" && cell.factor("format") != "ocol")
        .filter_map(|cell| Some((cell.factor("format"), cell.value("file_bytes")?)))
        .min_by(|left, right| left.1.total_cmp(&right.1));
    let repeats = best.value("distinct_values")? <= best.value("rows")? * HARDLY_REPEATS;
    let verdict = if file > text * WORTH_SHARE || !repeats {
        Verdict::NotWorth
    } else if codec.is_some_and(|(_, bytes)| file > bytes * TIE_WITH_TEXT) {
        Verdict::ForSearch
    } else {
        Verdict::Worth
    };
    Some(Judgement {
        verdict,
        words: best.column_words(),
        best,
        text_bytes: text,
        codec,
        index: index_gain(cells, balanced, text),
    })
}

fn index_gain<'c>(cells: &[&'c Cell<'_>], balanced: &Cell<'_>, text: f64) -> Option<IndexGain<'c>> {
    let lookup = |wanted: &[(&str, &str)]| {
        let all = [&[("operation", "equality")], wanted].concat();
        let cell = cells.iter().copied().find(|cell| cell.is(&all))?;
        Some((cell.number("latency_p50")?, cell.value("file_bytes")?))
    };
    let (with, bytes) = lookup(&[("index", "postings"), ("search_mode", "in-memory")])?;
    let (without, _) = lookup(&[("index", "none"), ("search_mode", "scan")])
        .or_else(|| lookup(&[("index", "postings"), ("search_mode", "scan")]))?;
    Some(IndexGain {
        without,
        with,
        size_ratio: bytes / balanced.value("file_bytes")?,
        is_worth: without.value > with.value * WORTH_INDEX && bytes <= text * WORTH_SHARE,
    })
}
