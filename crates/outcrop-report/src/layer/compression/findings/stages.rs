//! Where zstd's time goes: whether the parts add up, how they move, and what independent bytes turn around.

use std::ops::RangeInclusive;

use outcrop_measure::metric::Unit;

use super::super::cell::Cell;
use super::super::references::Published;
use super::super::stages::{self, Blocks, StageShares};
use super::some_of;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// The stages' sum ÷ the whole within which shares are believed.
pub(in super::super) const STAGE_SUM: RangeInclusive<f64> = 0.85..=1.15;
/// Mean difference to the published share of match finding that counts as the same picture, in points.
const SAME_PICTURE_POINTS: f64 = 10.0;
/// A share that moves less than this has not moved.
const POINT: f64 = 0.01;
const PLAN: &str = "no two cells of the plan zstd-stages that could show it";

/// The findings about stages.
pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<Finding> {
    let ours = stages::measured(cells);
    let theirs = stages::published(published);
    let natural: Vec<&StageShares> = ours
        .iter()
        .filter(|one| one.blocks == Blocks::Natural && !one.is_cold)
        .collect();
    vec![
        sums(&ours),
        growth(&natural, Along::Level),
        growth(&natural, Along::Chunk),
        mean_difference(&natural, &theirs),
        reversal(&ours, &theirs),
    ]
}

/// The same trends in the published figures.
pub(in super::super) fn of_published(theirs: &[StageShares]) -> Vec<Finding> {
    let all: Vec<&StageShares> = theirs.iter().collect();
    vec![growth(&all, Along::Level), growth(&all, Along::Chunk)]
}

fn points(share: f64) -> f64 {
    share * 100.0
}

/// The parts of every cell add up to the whole.
fn sums(ours: &[StageShares]) -> Finding {
    const ID: &str = "stage-sums";
    const SENTENCE: &str =
        "The stages of zstd add up to the whole: their sum is 0.85 to 1.15 of one compression in every cell.";
    let sums: Vec<(f64, String)> = ours
        .iter()
        .filter_map(|one| Some((one.sum_ratio?, one.words())))
        .collect();
    if sums.is_empty() {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "no cell measured stages; plans/zstd-stages.toml does",
        );
    }
    let off: Vec<String> = sums
        .iter()
        .filter(|(sum, _)| !STAGE_SUM.contains(sum))
        .map(|(sum, words)| format!("{words}: {sum:.2}"))
        .collect();
    let end = |name: &str, of: fn(f64, f64) -> f64, start: f64| {
        let value = sums.iter().map(|(sum, _)| *sum).fold(start, of);
        Number::derived(name, value, Unit::Ratio, sums.len())
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(off.is_empty()),
        tested: format!(
            "Sum of the three stages ÷ the whole in {} cells; outside are {}.",
            sums.len(),
            off.len()
        ),
        meaning: if off.is_empty() {
            String::new()
        } else {
            format!(
                "The shares of these cells are not to be relied on: {}. The public interface validates the sequences that it is \
                 given back, which the whole compression does not, and small blocks feel every call.",
                some_of(&off)
            )
        },
        numbers: vec![
            end("least sum ÷ whole", f64::min, f64::INFINITY),
            end("largest sum ÷ whole", f64::max, f64::NEG_INFINITY),
        ],
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Along {
    Level,
    Chunk,
}

/// The share of match finding grows from the least to the largest level, or block.
fn growth(all: &[&StageShares], along: Along) -> Finding {
    let (id, what) = match along {
        Along::Level => ("lz-share-by-level", "level"),
        Along::Chunk => ("lz-share-by-chunk", "block size"),
    };
    let sentence = format!("The share of match finding grows with the {what}.");
    let key = |one: &StageShares| match along {
        Along::Level => i64::from(one.level),
        Along::Chunk => i64::try_from(one.block_size_bytes).unwrap_or(i64::MAX),
    };
    let is_same_row = |one: &StageShares, other: &StageShares| match along {
        Along::Level => (one.block_size_bytes, one.bits) == (other.block_size_bytes, other.bits),
        Along::Chunk => (one.level, one.bits) == (other.level, other.bits),
    };
    let mut gains = Vec::new();
    let mut shrinking = Vec::new();
    for first in all {
        let row = || all.iter().filter(|other| is_same_row(first, other));
        let is_first = row().all(|other| key(other) >= key(first));
        let last = row().max_by_key(|other| key(other));
        let Some(last) = last.filter(|last| is_first && key(last) > key(first)) else {
            continue;
        };
        let gain = points(last.match_finding() - first.match_finding());
        gains.push(gain);
        if gain <= 0.0 {
            shrinking.push(format!(
                "{} to {}: {gain:+.1} points",
                first.words(),
                last.words()
            ));
        }
    }
    if gains.is_empty() {
        return Finding::not_testable(id, &sentence, PLAN);
    }
    let mean = gains.iter().sum::<f64>() / gains.len() as f64;
    Finding {
        id: id.to_owned(),
        sentence,
        verdict: Verdict::from_test(shrinking.is_empty()),
        tested: format!(
            "From the least to the largest {what} in {} rows that differ in nothing else; it grows in {}.",
            gains.len(),
            gains.len() - shrinking.len()
        ),
        meaning: if shrinking.is_empty() {
            format!("On average by {mean:.1} points.")
        } else {
            format!(
                "On average {mean:+.1} points. It does not in: {}.",
                some_of(&shrinking)
            )
        },
        numbers: vec![Number::derived(
            "mean gain",
            mean / 100.0,
            Unit::Ratio,
            gains.len(),
        )],
    }
}

/// How far ours are from the published ones.
fn mean_difference(natural: &[&StageShares], theirs: &[StageShares]) -> Finding {
    const ID: &str = "lz-share-published";
    let sentence = format!(
        "On natural blocks the share of match finding is within {SAME_PICTURE_POINTS:.0} points of the published one, on average."
    );
    let differences: Vec<(f64, String)> = natural
        .iter()
        .filter_map(|one| {
            let other = theirs.iter().find(|other| other.is_like(one))?;
            Some((points(one.match_finding() - other.match_finding()), one.words()))
        })
        .collect();
    if differences.is_empty() {
        return Finding::not_testable(
            ID,
            &sentence,
            "no cell has the level, block size and entropy of a published one",
        );
    }
    let count = differences.len();
    let mean_of = |value: fn(f64) -> f64| {
        differences
            .iter()
            .map(|(difference, _)| value(*difference))
            .sum::<f64>()
            / count as f64
    };
    let (absolute, signed) = (mean_of(f64::abs), mean_of(|difference| difference));
    let worst = differences
        .iter()
        .max_by(|one, other| one.0.abs().total_cmp(&other.0.abs()))
        .map_or_else(String::new, |(difference, words)| {
            format!("{words}, {difference:+.1} points")
        });
    Finding {
        id: ID.to_owned(),
        sentence,
        verdict: Verdict::from_test(absolute <= SAME_PICTURE_POINTS),
        tested: format!("{count} cells of the same level, block size and entropy; the furthest is {worst}."),
        meaning: format!(
            "The mean difference is {absolute:.1} points (ours {}, {signed:+.1} on average). \"FSE\" there is the building of tables \
             only, ours includes encoding, which lowers our share of match finding; processors and data differ too.",
            if signed < 0.0 { "lower" } else { "higher" }
        ),
        numbers: vec![Number::derived(
            "mean difference in share",
            absolute / 100.0,
            Unit::Ratio,
            count,
        )],
    }
}

/// Over entropy at 4 KiB, independent bytes move the share the other way than natural blocks do.
fn reversal(ours: &[StageShares], theirs: &[StageShares]) -> Finding {
    const ID: &str = "iid-reversal";
    const SENTENCE: &str = "At 4 KiB and levels below 10, independent bytes reverse what entropy does: the share of match finding \
                            falls where it grows on natural blocks.";
    let mut levels: Vec<i32> = ours
        .iter()
        .map(|one| one.level)
        .filter(|level| *level < 10)
        .collect();
    levels.sort_unstable();
    levels.dedup();
    let mut rows = Vec::new();
    let mut numbers = Vec::new();
    let mut reversed = 0;
    for level in levels {
        let natural = change_at_4_kib(ours, Blocks::Natural, level);
        let Some((natural, independent)) = natural.zip(change_at_4_kib(ours, Blocks::Independent, level))
        else {
            continue;
        };
        reversed += usize::from(natural > POINT && independent < -POINT);
        let published = change_at_4_kib(theirs, Blocks::Natural, level).map_or_else(String::new, |change| {
            format!(" (published {:+.1})", points(change))
        });
        rows.push(format!(
            "level {level}: natural {:+.1} points{published}, independent {:+.1}",
            points(natural),
            points(independent)
        ));
        numbers.push(Number::derived(
            format!("natural, level {level}"),
            natural,
            Unit::Ratio,
            2,
        ));
        numbers.push(Number::derived(
            format!("independent, level {level}"),
            independent,
            Unit::Ratio,
            2,
        ));
    }
    if rows.is_empty() {
        let reason = "natural and independent blocks of two entropies at 4 KiB were not both measured; plans/zstd-stages.toml has them";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(reversed == rows.len()),
        tested: format!(
            "Change of the share from the least to the largest entropy: {}.",
            rows.join("; ")
        ),
        meaning: if reversed == rows.len() {
            "Natural data of low entropy has long matches, which are cheap to find byte for byte, and data of high entropy has few that \
             take a search. Independent bytes know no words: of low entropy they are full of short matches by chance, each of which costs a \
             search and a sequence; of high entropy there are none, match finding skips ahead, and the literals take the time."
                .to_owned()
        } else {
            "Not in every level of this run. Where natural blocks of the least entropy are not to be had (the caption of the stages says what \
             was reached), or the stages do not add up, the comparison says little."
                .to_owned()
        },
        numbers,
    }
}

/// Change of the share of match finding from the least to the largest entropy.
fn change_at_4_kib(all: &[StageShares], blocks: Blocks, level: i32) -> Option<f64> {
    let is_asked = |one: &&StageShares| {
        one.blocks == blocks
            && one.level == level
            && one.block_size_bytes == 4096
            && one.bits.is_some()
            && !one.is_cold
    };
    let mut row: Vec<&StageShares> = all.iter().filter(is_asked).collect();
    row.sort_by(|one, other| one.bits.unwrap_or(0.0).total_cmp(&other.bits.unwrap_or(0.0)));
    match row.as_slice() {
        [first, .., last] => Some(last.match_finding() - first.match_finding()),
        _ => None,
    }
}
