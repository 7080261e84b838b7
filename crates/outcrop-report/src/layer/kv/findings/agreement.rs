//! Whether the engine's statistics and the block device count the same bytes, where they can be expected to.

use outcrop_measure::metric::{Metric, Unit};
use outcrop_measure::units::format_data;
use outcrop_schema::kv::{
    DURABILITY, IO, LOAD_WRITES_DEVICE, LOAD_WRITES_ENGINE, MEMORY_LIMIT, PROCESSES, READS_DEVICE,
    READS_ENGINE, STORED_BYTES, STORED_RATIO, USER_READ, USER_WRITTEN, WRITES_DEVICE, WRITES_ENGINE,
};
use outcrop_workload::store::{Durability, StoreIo};

use super::super::cell::{is_compressed_below, words};
use super::{extent, farthest};
use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::{Number, counted};

/// Engine and device agree where they differ by no more than this.
const AGREE: f64 = 0.1;
/// Fewer bytes are not compared.
const LEAST_BYTES: f64 = 32e6;

/// One comparison: what of the user's the two counts are multiples of.
struct Compared<'c> {
    id: &'static str,
    sentence: &'static str,
    engine: &'c Metric,
    device: &'c Metric,
    user_bytes: &'c dyn Fn(&Cell<'_>) -> Option<f64>,
    /// Whether the device is meant to see what the engine counts in this cell.
    reaches_device: &'c dyn Fn(&Cell<'_>) -> bool,
    /// Whether the page cache may keep a part of that from the device, so that it counts less and nothing is wrong.
    may_be_held_back: &'c dyn Fn(&Cell<'_>) -> bool,
    /// What is the case where the device counts less, and what to do then.
    held_back: Failure,
}

/// What is the case, as a sentence without its full stop, and what to do, as a sentence.
#[derive(Clone, Copy)]
struct Failure {
    what: &'static str,
    remedy: &'static str,
}

/// The device counts more than the engine: whoever else used it.
const EXCESS: Failure = Failure {
    what: "The engine and the block device count different bytes",
    remedy: "Stop other programs that use the device, and measure for longer (--duration) or with more records (--records).",
};

/// A part of the writes never came to the device, although nothing lay between.
const WRITES_HELD_BACK: Failure = Failure {
    what: "The block device was given fewer bytes than the engine wrote",
    remedy: "Do not use what the device counts: it, or a cache below the filesystem, does not pass on what the engine writes and syncs.",
};

/// The page cache answered a part of the reads.
const READS_HELD_BACK: Failure = Failure {
    what: "The block device delivered fewer bytes than the engine read from files",
    remedy: "To make the device see every read, pass the page cache (--io direct), or limit the memory to less than the databases take \
             (--memory-limit).",
};

/// Which differences are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Differences {
    /// All of them.
    All,
    /// Those in which the device counts more: something else used it. What the page cache holds back says nothing against a run.
    Excess,
}

/// Writes of the load, writes of the run, and reads.
pub(super) fn all(cells: &[Cell<'_>], memory_bytes: Option<f64>, differences: Differences) -> [Finding; 3] {
    let always = |_: &Cell<'_>| true;
    [
        Compared {
            id: "kv-load-writes-agree",
            sentence: "During the load, the engine's statistics and the block device count the same bytes written, within 10 %.",
            engine: &LOAD_WRITES_ENGINE,
            device: &LOAD_WRITES_DEVICE,
            user_bytes: &|cell| Some(cell.value(&STORED_RATIO)? * cell.value(&STORED_BYTES)?),
            reaches_device: &always,
            may_be_held_back: &holds_writes_back,
            held_back: WRITES_HELD_BACK,
        },
        Compared {
            id: "kv-run-writes-agree",
            sentence: "During the run, the engine's statistics and the block device count the same bytes written, within 10 %.",
            engine: &WRITES_ENGINE,
            device: &WRITES_DEVICE,
            user_bytes: &|cell| cell.value(&USER_WRITTEN),
            reaches_device: &always,
            may_be_held_back: &holds_writes_back,
            held_back: WRITES_HELD_BACK,
        },
        Compared {
            id: "kv-reads-agree",
            sentence: "The engine's statistics and the block device count the same bytes read, within 10 %.",
            engine: &READS_ENGINE,
            device: &READS_DEVICE,
            user_bytes: &|cell| cell.value(&USER_READ),
            reaches_device: &|cell| !fits_page_cache(cell, memory_bytes),
            may_be_held_back: &|_| false,
            held_back: READS_HELD_BACK,
        },
    ]
    .map(|compared| compared.finding(cells, differences))
}

/// Whether the page cache can hold the databases, so that it serves what the engine counts as read; where the memory is not known, it cannot.
fn fits_page_cache(cell: &Cell<'_>, memory_bytes: Option<f64>) -> bool {
    let limit = cell.get(&MEMORY_LIMIT).and_then(|limit| limit.0);
    let limits = limit.and_then(|limit| Some(limit.0 as f64 * cell.place(&PROCESSES)?));
    let memory = limits.or(memory_bytes);
    let fits = cell
        .value(&STORED_BYTES)
        .zip(memory)
        .is_some_and(|(stored, memory)| stored < memory);
    fits && !cell.is(&IO, &StoreIo::Direct)
}

/// Whether files that are not synced at once may be gone before the page cache writes them: a flush deletes the log whose records it stored.
fn holds_writes_back(cell: &Cell<'_>) -> bool {
    !(cell.is(&DURABILITY, &Durability::Synced) && cell.is(&IO, &StoreIo::Direct))
}

/// Why a cell is not compared.
enum Skipped {
    TooFewBytes,
    Cached,
    HeldBack,
    NotCounted(Option<String>),
}

impl Compared<'_> {
    /// Device ÷ engine.
    fn ratio(&self, cell: &Cell<'_>) -> Result<f64, Skipped> {
        let counts = cell.value(self.engine).zip(cell.value(self.device));
        let counts = counts.filter(|(engine, _)| *engine > 0.0);
        let Some((engine, device)) = counts else {
            let why = cell
                .unavailable(self.engine)
                .or_else(|| cell.unavailable(self.device));
            return Err(Skipped::NotCounted(why.map(str::to_owned)));
        };
        if !(self.reaches_device)(cell) {
            return Err(Skipped::Cached);
        }
        // Runs of earlier versions do not say how many bytes it were.
        match (self.user_bytes)(cell) {
            Some(user) if user * engine.max(device) < LEAST_BYTES => Err(Skipped::TooFewBytes),
            _ if device / engine < 1.0 - AGREE && (self.may_be_held_back)(cell) => Err(Skipped::HeldBack),
            _ => Ok(device / engine),
        }
    }

    fn finding(&self, cells: &[Cell<'_>], differences: Differences) -> Finding {
        // Below a filesystem that compresses the two are meant to differ.
        let judged = cells.iter().filter(|cell| !is_compressed_below(cell));
        let (mut ratios, mut skipped) = (Vec::new(), Vec::new());
        for cell in judged {
            match self.ratio(cell) {
                Ok(ratio) => ratios.push((ratio, cell)),
                Err(why) => skipped.push(why),
            }
        }
        let is_outside = |(ratio, _): &&(f64, &Cell<'_>)| match differences {
            Differences::All => (ratio - 1.0).abs() > AGREE,
            Differences::Excess => *ratio > 1.0 + AGREE,
        };
        let outside: Vec<(f64, &Cell<'_>)> = ratios.iter().filter(is_outside).copied().collect();
        let mut distances = outside.clone();
        distances
            .iter_mut()
            .for_each(|(ratio, _)| *ratio = (*ratio - 1.0).abs());
        let n = ratios.len();
        let shown = match outside.is_empty() {
            true => ratios,
            false => outside.clone(),
        };
        let Some((worst, cell, _)) = farthest(shown.into_iter(), 1.0) else {
            return Finding::not_testable(self.id, self.sentence, why_none(skipped));
        };
        let tested = format!(
            "device ÷ engine in {} with {} or more, within {AGREE}; {} outside, most {}.",
            counted(n, "cell"),
            format_data(LEAST_BYTES),
            outside.len(),
            words(cell)
        );
        let meaning = "The device counts other processes, the filesystem's journal and whole blocks too; the page cache serves \
                       reads that the engine counts, and holds back writes that a later file replaces. Where the two differ, \
                       the device's own count is what wears and delays it.";
        let number = Number::derived("device ÷ engine, farthest from 1", worst, Unit::Ratio, n);
        let failure = match worst < 1.0 {
            true => self.held_back,
            false => EXCESS,
        };
        Finding::tested(self.id, self.sentence, outside.is_empty(), tested)
            .of_run(failure.what)
            .extent(extent(&distances, n).unwrap_or_default())
            .remedy(failure.remedy)
            .otherwise(meaning)
            .numbers([number])
    }
}

/// Why no cell is compared: what could be mended first.
fn why_none(skipped: Vec<Skipped>) -> String {
    let has = |is: fn(&Skipped) -> bool| skipped.iter().any(is);
    if has(|why| matches!(why, Skipped::HeldBack)) {
        return "the device counts less, as is to be expected: a flush deletes the log, often before the page cache has written it. No other \
                figure depends on it. To make the device see every write, sync the log (--durability synced) and pass the page cache \
                (--io direct)"
            .to_owned();
    }
    if has(|why| matches!(why, Skipped::TooFewBytes)) {
        return format!(
            "no cell moved {} or more; below that, the filesystem's own writes exceed a tenth. Use more records or a longer duration",
            format_data(LEAST_BYTES)
        );
    }
    if has(|why| matches!(why, Skipped::Cached)) {
        return "the databases fit into memory, whose page cache serves what the engine counts as read; use direct I/O, or a memory limit \
                below the size of the databases"
            .to_owned();
    }
    let reason = skipped.into_iter().find_map(|why| match why {
        Skipped::NotCounted(reason) => reason,
        _ => None,
    });
    reason.unwrap_or_else(|| "neither was counted".to_owned())
}
