//! What the engines give, what to compress and in which blocks, and how sure that is.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use outcrop_measure::metric::{Metric, Unit};
use outcrop_measure::units::{format_data, format_ratio};
use outcrop_results::RunView;
use outcrop_schema::kv::{
    BLOCK_CACHE, CACHE_HITS, CPU, ENGINE, IN_WHAT_CANDIDATES_DIFFER, LATENCY, LOAD_THROUGHPUT, MARGIN,
    MEMORY_AMPLIFICATION, READ_LATENCY, SCHEMA, SPACE_AMPLIFICATION, THROUGHPUT,
};

use super::cautions::own_cautions;
use super::cell::{
    base, blocks, hidden_by_caches, is_closed_loop, is_compressed, is_on_compression, listed, load,
    of_one_load, others, overload, pairs, requests, role_of_base, words, workers,
};
use super::space::{Space, amplification_without_log, data_within_cache, taken};
use super::{block_size, codec, open_loop, tree};
use crate::answer::{Absence, Answer, Capability, Claim, Reading};
use crate::cell::{Cell, best, largest_family};
use crate::change::{self, Changes, Difference};
use crate::layer::overload::kept_up;
use crate::layer::{cautions, subjects};
use crate::number::Number;
use crate::placement::{Bounds, Constraints, Kept};
use crate::ties;

/// Row, metric, and which cells count.
type Row = (&'static str, Metric, fn(&Cell<'_>) -> bool);

const ROWS: [Row; 6] = [
    ("Highest throughput, closed loop", THROUGHPUT, is_closed_loop),
    ("Lowest read p99, closed loop", READ_LATENCY.p99, is_closed_loop),
    ("Lowest p99, open loop", LATENCY.p99, |cell| !is_closed_loop(cell)),
    ("Lowest space amplification", SPACE_AMPLIFICATION, |_| true),
    ("Fastest load", LOAD_THROUGHPUT, |_| true),
    ("Lowest memory amplification", MEMORY_AMPLIFICATION, |_| true),
];

/// The topic of the advice on whether to compress.
pub(super) const COMPRESS: &str = "Compress blocks";

/// A block size is chosen only where it changes something by more than this.
pub(super) const MATTERS: f64 = 1.05;

/// The answer of a run with key-value engines.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Answer {
    let engines: BTreeSet<_> = cells
        .iter()
        .filter_map(|cell| cell.factors().setting(ENGINE.name))
        .collect();
    let capability = |row: &Row| Capability {
        label: row.0.to_owned(),
        readings: engines
            .iter()
            .map(|engine| reading(row, engine.spelling(), cells))
            .collect(),
    };
    let is_shown = |capability: &Capability| {
        use crate::answer::ReadingOutcome::Measured;
        let is_measured = |reading: &Reading| matches!(reading.outcome, Measured { .. });
        capability.readings.iter().any(is_measured)
    };
    let [on_codecs, on_blocks] = judged(cells, bounds);
    let claims = [
        on_codecs,
        on_blocks,
        block_cache(cells, bounds),
        tree::claim(cells),
    ];
    Answer {
        subject: format!("key-value engines · {}", subjects(cells)),
        capabilities: ROWS.iter().map(capability).filter(is_shown).collect(),
        advice: claims.into_iter().flatten().collect(),
        cautions: cautions(run, &SCHEMA, cells, own_cautions(cells)),
    }
}

/// The advice that is judged by limits: on codecs, and on the size of their blocks.
fn judged(cells: &[Cell<'_>], bounds: &Bounds<'_>) -> [Option<Claim>; 2] {
    let on_codecs = compression(cells, bounds)
        .or_else(|| codec::smallest(cells, bounds))
        .or_else(|| open_loop::compression(cells, bounds));
    [on_codecs, block_size::claim(cells, bounds)]
}

/// Whether there is such advice, whatever the limits are.
pub(super) fn is_judged(cells: &[Cell<'_>]) -> bool {
    let no_limits = Constraints::default();
    let claims = judged(cells, &Bounds::new(&no_limits, None, None));
    claims.iter().any(Option::is_some)
}

/// The best value of a metric among the cells of an engine, with the cell that it was reached in.
fn reading((_, metric, counts): &Row, engine: &str, cells: &[Cell<'_>]) -> Reading {
    let its: Vec<&Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.spelling(&ENGINE) == engine)
        .collect();
    let absent = its.iter().find_map(|cell| cell.unavailable(&THROUGHPUT));
    let counted: Vec<&Cell<'_>> = its.iter().copied().filter(|cell| counts(cell)).collect();
    let counted = kept_up(counted, overload);
    let found = best(counted.iter().copied(), metric).map(|(cell, number)| {
        // A throughput with more threads is not that of the answer above the layers: where runs have several, they are named first.
        let workers = workers(cell);
        let mut blocks = blocks(cell);
        // Beside the name of the cell, which every form of the row keeps: a log hides what another engine's codec is compared with.
        if metric.name == SPACE_AMPLIFICATION.name {
            blocks.push_str(&amplification_without_log(cell));
        }
        let place = match counted.iter().all(|other| self::workers(other) == workers) {
            true => format!("{blocks}, {}", load(cell)),
            false => listed([workers, blocks, requests(cell), others(cell)]),
        };
        (number.clone(), place + &ties::beside(&counted, cell, metric))
    });
    // A cell may lack one figure only: a high percentile of few operations.
    let its_own = its
        .iter()
        .filter(|cell| counts(cell))
        .find_map(|cell| cell.unavailable(metric));
    let nothing = match metric.name == MEMORY_AMPLIFICATION.name {
        true => "known only for servers: this engine shares a process with the driver",
        false => "no such cell in this run",
    };
    let missing = || Absence::recorded_or(absent.or(its_own), || nothing.to_owned());
    Reading::of(engine, found, missing)
}

/// `48 %`.
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A compressed cell, the one without compression that it is compared with, and what it has of the space and of the throughput: how many times
/// as little, and how many times as much.
type Compared<'c, 'a> = (&'c Cell<'a>, &'c Cell<'a>, f64, f64);

/// The cell to compress as: of the codecs and sizes that save space, the one that costs the least throughput; of those that keep the limits,
/// where any does.
pub(super) fn to_compress_as<'c, 'a>(cells: &'c [Cell<'a>], bounds: &Bounds<'_>) -> Option<Compared<'c, 'a>> {
    // The largest of all gains under many loads is the luckiest: one load is asked, that of the answer above the layers.
    // What a filesystem saves in addition is not the blocks' doing.
    let compressed = of_one_load(cells, bounds)?
        .into_iter()
        .filter(|cell| is_compressed(cell) && !is_on_compression(cell));
    let known = compressed.filter_map(|cell| {
        let plain = base(cells, cell, bounds)?;
        let space = Space::of(&[cell, plain]);
        let saved = space.bytes(plain)? / space.bytes(cell)?;
        let speed = cell.value(&THROUGHPUT)? / plain.value(&THROUGHPUT)?;
        Some((cell, plain, saved, speed))
    });
    // Space and speed weigh alike; a codec that saves next to nothing is none.
    let worth = |saved: f64, speed: f64| saved.ln() + speed.ln();
    // What keeps the limits comes first, then what may keep them, as in the answer above the layers.
    let kept = |cell: &Cell<'_>, plain: &Cell<'_>| {
        let verdict = bounds.judge_store(cell, Some(plain));
        Reverse(verdict.kept.max(Kept::MayBreak))
    };
    let by_worth = known.map(|one| (kept(one.0, one.1), worth(one.2, one.3), one));
    let best = by_worth.max_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)))?;
    Some(best.2)
}

/// What compressing the blocks costs and saves here.
fn compression(cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    let (cell, plain, saved, speed) = to_compress_as(cells, bounds)?;
    let (number, uncompressed) = (cell.number(&THROUGHPUT)?, plain.number(&THROUGHPUT)?);
    let codec = blocks(cell);
    let is_slower = match Difference::of(number, uncompressed) {
        Difference::None => false,
        Difference::Clear | Difference::Unclear => speed < 1.0,
        Difference::OfOneTrial => speed < 1.0 - MARGIN,
    };
    let space = Space::of(&[cell, plain]);
    let cost = change::words(THROUGHPUT.name, number, uncompressed);
    let takes = taken(cell, plain)?;
    let (advice, condition) = advised(&codec, saved, is_slower, space.words(), &takes);
    let costs = other_costs(cell, plain);
    let text = format!(
        "{advice}; {cost}; {}.{} Compared with {}, {} ({}). The space includes the log, indexes and filters \
         unless it says otherwise.",
        costs.listed(),
        costs.caveat(),
        blocks(plain),
        role_of_base(cells, plain),
        load(cell)
    );
    let mut numbers = vec![
        number.clone().named(format!("throughput, {codec}")),
        Number::derived(space.ratio(), saved, Unit::Ratio, cell.trials().len()),
    ];
    // Where limits leave no compression out, its throughput decides nothing.
    if bounds.judge_store(plain, Some(plain)).is_kept() {
        numbers.insert(1, uncompressed.clone().named("throughput, uncompressed"));
    }
    let claim = Claim::new(
        COMPRESS,
        format!("{advice}; {cost} compared with {}", blocks(plain)),
        text,
        numbers,
    );
    let action = match saved > MATTERS {
        true => format!(
            "Compress blocks with {codec}{condition}: {takes}; {cost} (compared with {})",
            blocks(plain)
        ),
        false => format!(
            "Store blocks uncompressed: {}",
            advice.trim_start_matches("none: ")
        ),
    };
    let claim = claim.advising(format!("{action} ({}{})", load(cell), hidden_by_caches(cell)));
    let claim = claim.unless_disturbed([cell, plain]);
    Some(claim.under(&codec, &bounds.judge_store(cell, Some(plain))))
}

/// What compression changes in addition to the throughput.
fn other_costs(cell: &Cell<'_>, plain: &Cell<'_>) -> Changes {
    let others = [
        ("read p99", &READ_LATENCY.p99),
        ("CPU per operation", &CPU),
        ("load", &LOAD_THROUGHPUT),
    ];
    let mut costs = Changes::default();
    for (name, metric) in others {
        if let (Some(one), Some(other)) = (cell.number(metric), plain.number(metric)) {
            costs.add(name, one, other);
        }
    }
    costs
}

/// What to do about a codec that saves space or does not, briefly, and the condition of the instruction.
fn advised(codec: &str, saved: f64, is_slower: bool, of_space: &str, takes: &str) -> (String, &'static str) {
    if saved <= MATTERS {
        let saves = match saved > 1.005 {
            true => format!("{codec} saves only {} of {of_space}", percent(1.0 - 1.0 / saved)),
            false => format!("{codec} saves nothing of {of_space}"),
        };
        return (format!("none: {saves}"), "");
    }
    let (brief, condition) = match is_slower {
        true => (", if space matters", " where space matters"),
        false => ("", ""),
    };
    (format!("{codec}{brief}: {takes}"), condition)
}

/// What the block cache hides: reads that it answers meet neither the codec nor the device.
fn block_cache(cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    let compressed = cells.iter().filter(|cell| is_compressed(cell));
    // Of many loads the one that caches best is the luckiest: that of the advice on codecs is asked, or where there is none, one.
    let of_load =
        of_one_load(cells, bounds).unwrap_or_else(|| largest_family(compressed, &IN_WHAT_CANDIDATES_DIFFER));
    let known = of_load.into_iter().filter(|cell| is_compressed(cell));
    let (cell, hits) = best(known, &CACHE_HITS)?;
    let size = cell.spelling(&BLOCK_CACHE);
    let share = hits.value * 100.0;
    if let Some(data) = data_within_cache(cell) {
        let data = format_data(data);
        let brief = format!("{size} holds all the data ({data}): misses are first reads; lengthen --warm-up");
        let text = format!(
            "A block cache of {size} holds all the data of a database ({data} of keys and values), so what misses it is mostly a block that is \
             read for the first time. It answered {share:.0} % of the block reads of {}: this share depends on the length of the trial, and a \
             longer --warm-up raises it. More records show what a cache that is smaller than the data answers.",
            words(cell)
        );
        return Some(Claim::new("Block cache", brief, text, vec![hits.clone()]));
    }
    let plain = pairs(cells).into_iter().find(|(one, _)| std::ptr::eq(*one, cell));
    let more = plain.and_then(|(_, plain)| {
        let space = Space::of(&[cell, plain]);
        Some(space.bytes(plain)? / space.bytes(cell)?)
    });
    let more = more
        .filter(|ratio| *ratio > MATTERS)
        .map_or_else(String::new, |ratio| {
            format!(
                ": {} times as many records as uncompressed ones, for the same memory",
                format_ratio(ratio)
            )
        });
    let text = format!(
        "A block cache of {size} answered {share:.0} % of the block reads of {}, uncompressed and without the device; only the other \
         {:.0} % pay for the codec. The page cache below it holds compressed blocks{more}.",
        words(cell),
        100.0 - share
    );
    let brief = format!("{size} answers {share:.0} % of block reads before the codec");
    Some(Claim::new("Block cache", brief, text, vec![hits.clone()]))
}
