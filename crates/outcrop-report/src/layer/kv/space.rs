//! Space with and without the engine's log, which is not compressed: of few records it is most of what a database takes.

use outcrop_measure::metric::Metric;
use outcrop_measure::units::format_data;
use outcrop_schema::kv::{
    BLOCK_CACHE, COMPRESSED_BELOW, LOG_AFTER_BYTES, LOG_BYTES, LOG_MATTERS, PROCESSES, SPACE_AMPLIFICATION,
    STORED_AFTER_BYTES, STORED_BYTES, STORED_RATIO, hides_space,
};

use super::cell::{is_compressed_below, words};
use crate::answer::Caution;
use crate::cell::Cell;
use crate::placement::{UNCOMPRESSED_GROUND, compressed_below as state_below};

/// Where it is a larger one, space says more of the log than of the codec.
const LOG_DOMINATES: f64 = 0.50;

/// Values that are cut from a sample are said to repeat where it is needed more often.
const REPEATS: f64 = 2.0;

/// What is compared of some cells: all of their space, or that without the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    All,
    WithoutLog,
}

impl Space {
    /// What is to be compared of cells. Where an engine does not say what its log takes, or a filesystem compresses it, that is all of it.
    pub(super) fn of(cells: &[&Cell<'_>]) -> Self {
        let shares: Option<Vec<f64>> = cells.iter().map(|cell| log_share(cell)).collect();
        match shares {
            Some(shares) if shares.iter().any(|share| *share > LOG_MATTERS) => Self::WithoutLog,
            _ => Self::All,
        }
    }

    /// The space of a cell.
    pub(super) fn bytes(self, cell: &Cell<'_>) -> Option<f64> {
        let all = cell.value(&STORED_BYTES)?;
        match self {
            Self::All => Some(all),
            Self::WithoutLog => Some((all - cell.value(&LOG_BYTES)?).max(1.0)),
        }
    }

    /// `the space`.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::All => "the space",
            Self::WithoutLog => "the space without the log",
        }
    }

    /// What a ratio of it is called: that without the log is another one than that of the space.
    pub(super) const fn ratio(self) -> &'static str {
        match self {
            Self::All => "space without ÷ with compression",
            Self::WithoutLog => "space without the log, without ÷ with compression",
        }
    }
}

/// The log's share of the space after the load; none where it is not known.
pub(crate) fn log_share(cell: &Cell<'_>) -> Option<f64> {
    share_of(cell, &LOG_BYTES, &STORED_BYTES)
}

/// Below a filesystem that compresses the log takes less than its files' sizes say.
fn share_of(cell: &Cell<'_>, log: &Metric, all: &Metric) -> Option<f64> {
    let (log, all) = (cell.value(log)?, cell.value(all)?);
    (!is_compressed_below(cell) && all > 0.0).then_some(log / all)
}

/// A database's bytes, and the log's share of them where that is known.
pub(crate) type Database = (f64, Option<f64>);

/// The bytes of two databases without their logs; none where neither log matters, or one is not known.
pub(crate) fn without_log(databases: [Database; 2]) -> Option<[f64; 2]> {
    let shares = [databases[0].1?, databases[1].1?];
    let is_known = shares.iter().all(|share| *share < 1.0);
    let bytes = databases.map(|(bytes, share)| bytes * (1.0 - share.unwrap_or(0.0)));
    (is_known && shares.iter().any(|share| matters(*share))).then_some(bytes)
}

fn database(cell: &Cell<'_>) -> Option<Database> {
    Some((cell.value(&STORED_BYTES)?, log_share(cell)))
}

/// The space of one store over that of another, both without the log; none where that matters to neither, or is not known.
pub(crate) fn ratio_without_log(cell: &Cell<'_>, plain: &Cell<'_>) -> Option<f64> {
    let [plain, own] = without_log([database(plain)?, database(cell)?])?;
    Some(plain / own)
}

/// `76 %`: the share of the space that a ratio comes to.
pub(crate) fn share(ratio: f64) -> String {
    format!("{:.0} %", 100.0 / ratio)
}

/// `takes 76 % of the space`, by its ratio to another database; where the log is much of it: `(51 % without the store's log)`.
pub(crate) fn takes(ratio: f64, ratio_without_log: Option<f64>) -> String {
    takes_of("the space", ratio, ratio_without_log)
}

/// The same of what is named: `takes 76 % of the space without compression (51 % without the store's log)`.
pub(crate) fn takes_of(what: &str, ratio: f64, ratio_without_log: Option<f64>) -> String {
    let without_log = ratio_without_log.map_or_else(String::new, |ratio| {
        format!(" ({} without the store's log)", share(ratio))
    });
    format!("takes {} of {what}{without_log}", share(ratio))
}

/// The same of two cells.
pub(super) fn taken(cell: &Cell<'_>, base: &Cell<'_>) -> Option<String> {
    let ratio = base.value(&STORED_BYTES)? / cell.value(&STORED_BYTES)?;
    Some(takes(ratio, ratio_without_log(cell, base)))
}

/// ` (0.49 without the store's log)`, behind a cell whose space amplification is shown; empty where the log is little of it, or not known.
pub(super) fn amplification_without_log(cell: &Cell<'_>) -> String {
    let share = log_share(cell).filter(|share| matters(*share) && *share < 1.0);
    let without_log = cell.value(&SPACE_AMPLIFICATION).zip(share);
    without_log.map_or_else(String::new, |(all, share)| {
        let without_log = SPACE_AMPLIFICATION.format(all * (1.0 - share));
        format!(" ({without_log} without the store's log)")
    })
}

/// Bytes of the keys and values of each database, where its block cache has room for all of them: then what misses it says how short a
/// trial was, and not what the cache does for these data.
pub(super) fn data_within_cache(cell: &Cell<'_>) -> Option<f64> {
    let all = cell.value(&STORED_BYTES)? * cell.value(&STORED_RATIO)?;
    // Each process has a database and a cache of its own.
    let of_each = all / f64::from(*cell.get(&PROCESSES)?);
    (of_each <= cell.get(&BLOCK_CACHE)?.0 as f64).then_some(of_each)
}

/// Whether a share of the space is worth a sentence.
pub(crate) fn matters(share: f64) -> bool {
    share > LOG_MATTERS
}

/// The cell in which the log's share of the space is the largest, with that.
fn largest_share<'c, 'a>(cells: &'c [Cell<'a>], log: &Metric, all: &Metric) -> Option<(f64, &'c Cell<'a>)> {
    let shares = cells
        .iter()
        .filter_map(|cell| Some((share_of(cell, log, all)?, cell)));
    let largest = shares.max_by(|one, other| one.0.total_cmp(&other.0));
    largest.filter(|(share, _)| matters(*share))
}

/// Said where the log is much of the space: of that by which codecs are compared, or of that at the end alone.
pub(super) fn caution(cells: &[Cell<'_>]) -> Option<Caution> {
    let at_end = largest_share(cells, &LOG_AFTER_BYTES, &STORED_AFTER_BYTES);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let Some((share, cell)) = largest_share(cells, &LOG_BYTES, &STORED_BYTES) else {
        // An engine that empties its log with a flush has none after the load, and that of its updates at the end.
        let (share, cell) = at_end?;
        let text = format!(
            "The engine's log, which no codec compresses, takes up to {} of what is on disk at the end ({}): it contains what the run wrote \
             and has not flushed yet. Codecs are compared by the space after the load, of which the log is less than {}.",
            percent(share),
            words(cell),
            percent(LOG_MATTERS)
        );
        return Some(Caution::note(text));
    };
    let at_end = at_end.map_or_else(String::new, |(share, _)| {
        format!(", and up to {} of what is on disk at the end", percent(share))
    });
    let text = format!(
        "The engine's log, which no codec compresses, takes up to {} of the space ({}){at_end}. The advice of this layer \
         chooses codecs and block sizes by the space without it; shares of the space, limits on the ratio and space amplification \
         include it unless they say otherwise. With more records its share falls.",
        percent(share),
        words(cell)
    );
    Some(Caution::warning_if(share > LOG_DOMINATES, text))
}

/// Said where the directory's own filesystem compresses, or does not say whether it does: what files take then is not what `stat` counts.
pub(super) fn compressed_below(cells: &[Cell<'_>]) -> Option<Caution> {
    // Runs of this version have the reason in place of the figures.
    let is_hidden = |cell: &&Cell<'_>| cell.remark(&COMPRESSED_BELOW).is_none_or(hides_space);
    let has_space = |cell: &&Cell<'_>| cell.value(&STORED_BYTES).is_some();
    let cells: Vec<&Cell<'_>> = cells.iter().filter(has_space).filter(is_hidden).collect();
    let state = state_below(&cells)?;
    Some(Caution::warning(format!(
        "Space is not what the databases take on the device: {state}, and the files show only their size before that. {UNCOMPRESSED_GROUND}."
    )))
}

/// Said where the databases hold more than the data that their values are cut from.
pub(super) fn repetition(cells: &[Cell<'_>]) -> Option<Caution> {
    let times = cells.iter().filter_map(|cell| {
        let taken = cell.trials().first()?.data.as_ref()?.taken_bytes as f64;
        let user = cell.value(&STORED_BYTES)? * cell.value(&STORED_RATIO)?;
        (taken > 0.0).then(|| (user / taken, taken))
    });
    let (times, taken) = times
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(times, _)| *times > REPEATS)?;
    Some(Caution::note(format!(
        "The values are cut from {} of data at many places, so databases hold each byte of it up to {times:.0} times. A block or a dictionary \
         that holds the same bytes twice compresses better than the data would. Give more data or fewer records where large blocks or dictionaries are \
         compared.",
        format_data(taken)
    )))
}
