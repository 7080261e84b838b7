//! Where zstd's time goes: whether the parts add up, how they move, and what independent bytes turn around.

use outcrop_measure::metric::Unit;
use outcrop_schema::FactorRef;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, CONTENT, STAGE_SUM_RATIO};

use super::super::cell::some_of;
use super::super::references::{self, Published};
use super::super::stages::{self, MATCH_FINDING, STAGE_SUM};
use crate::cell::{Cell, families};
use crate::finding::{About, Finding};
use crate::number::{Number, counted};

/// Mean difference to the published share of match finding that counts as the same picture, in points.
const SAME_PICTURE_POINTS: f64 = 10.0;
/// A share that moves less than this has not moved, in points.
const NO_MOVE_POINTS: f64 = 1.0;

/// The findings about stages.
pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<Finding> {
    let ours = stages::of_one_subject(cells);
    let theirs = stages::of(published.cells(references::STAGES));
    let mut natural = ours.clone();
    natural.retain(|cell| stages::is_usual(cell));
    let mut findings = vec![sums(&stages::of(cells)).of_run("The stages of zstd do not add up to the whole")];
    findings.extend(growth(&natural));
    findings.push(mean_difference(&natural, &theirs).about(About::Publication));
    findings.push(reversal(&ours, &theirs));
    findings
}

/// By how many points the share of match finding changes from one cell to another.
fn change(from: &Cell<'_>, to: &Cell<'_>) -> Option<f64> {
    Some((MATCH_FINDING.share(to)? - MATCH_FINDING.share(from)?) * 100.0)
}

/// The parts of every cell add up to the whole.
fn sums(ours: &[&Cell<'_>]) -> Finding {
    const ID: &str = "stage-sums";
    const SENTENCE: &str =
        "The stages of zstd add up to the whole: their sum is 0.85 to 1.15 of one compression in every cell.";
    let sums = || {
        ours.iter()
            .filter_map(|cell| Some((cell.value(&STAGE_SUM_RATIO)?, *cell)))
    };
    let count = sums().count();
    if count == 0 {
        let reason = "no cell measured stages; the plan zstd-stages does that";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let off: Vec<String> = sums()
        .filter(|(sum, _)| !STAGE_SUM.contains(sum))
        .map(|(sum, cell)| format!("{}: {sum:.2}", stages::words(cell)))
        .collect();
    let end = |name: &str, of: fn(f64, f64) -> f64| {
        let end = sums().map(|(sum, _)| sum).reduce(of);
        end.map(|value| Number::derived(name, value, Unit::Ratio, count))
    };
    let ends = [
        end("least sum ÷ whole", f64::min),
        end("largest sum ÷ whole", f64::max),
    ];
    let tested = format!(
        "Sum of the three stages ÷ the whole in {}; outside: {}.",
        counted(count, "cell"),
        off.len()
    );
    Finding::tested(ID, SENTENCE, off.is_empty(), tested)
        .otherwise(format!(
            "The shares of these cells are unreliable: {}. The public interface validates the sequences that it is given, which a whole compression does not, and call overhead weighs on small blocks.",
            some_of(&off, "; ")
        ))
        .numbers(ends.into_iter().flatten())
}

/// The share of match finding grows from the least to the largest level, and block.
pub(in super::super) fn growth(cells: &[&Cell<'_>]) -> Vec<Finding> {
    vec![
        growth_along(cells, &CODEC, "lz-share-by-level", "level"),
        growth_along(cells, &COMPRESSION_BLOCK_SIZE, "lz-share-by-chunk", "block size"),
    ]
}

fn growth_along(cells: &[&Cell<'_>], along: FactorRef, id: &str, what: &str) -> Finding {
    let sentence = format!("The share of match finding grows with the {what}.");
    let (mut gains, mut shrinking) = (Vec::new(), Vec::new());
    for row in families(cells.iter().copied(), &[along]) {
        let [first, .., last] = row.as_slice() else {
            continue;
        };
        let Some(gain) = change(first, last) else { continue };
        gains.push(gain);
        if gain <= 0.0 {
            let (first, last) = (stages::words(first), stages::words(last));
            shrinking.push(format!("{first} to {last}: {gain:+.1} points"));
        }
    }
    if gains.is_empty() {
        let reason = "no two cells of the plan zstd-stages that could show it";
        return Finding::not_testable(id, &sentence, reason);
    }
    let count = gains.len();
    let mean = gains.iter().sum::<f64>() / count as f64;
    let tested = format!(
        "From the smallest to the largest {what} in {} that are otherwise equal; it grows in {}.",
        counted(count, "row"),
        count - shrinking.len()
    );
    Finding::tested(id, sentence, shrinking.is_empty(), tested)
        .meaning(format!("On average by {mean:.1} points."))
        .otherwise(format!(
            "On average {mean:+.1} points. It does not grow in: {}.",
            some_of(&shrinking, "; ")
        ))
        .numbers([Number::derived("mean gain", mean / 100.0, Unit::Ratio, count)])
}

/// How far ours are from the published ones.
fn mean_difference(natural: &[&Cell<'_>], theirs: &[&Cell<'_>]) -> Finding {
    const ID: &str = "lz-share-published";
    let sentence = format!(
        "On natural blocks the share of match finding is within {SAME_PICTURE_POINTS:.0} points of the published one, on average."
    );
    let difference =
        |cell: &&Cell<'_>| Some((change(stages::alike(theirs, cell)?, cell)?, stages::words(cell)));
    let differences: Vec<(f64, String)> = natural.iter().filter_map(difference).collect();
    let by_size = |one: &&(f64, String), other: &&(f64, String)| one.0.abs().total_cmp(&other.0.abs());
    let Some((furthest, words)) = differences.iter().max_by(by_size) else {
        let reason = "no cell has the level, block size and entropy of a published one";
        return Finding::not_testable(ID, &sentence, reason);
    };
    let count = differences.len();
    let mean_of = |value: fn(f64) -> f64| {
        let values = differences.iter().map(|(difference, _)| value(*difference));
        values.sum::<f64>() / count as f64
    };
    let (absolute, signed) = (mean_of(f64::abs), mean_of(|difference| difference));
    let tested = format!(
        "{count} cells of the same level, block size and entropy; the furthest is {words}, {furthest:+.1} points."
    );
    Finding::tested(ID, sentence, absolute <= SAME_PICTURE_POINTS, tested)
        .meaning(format!(
            "The mean difference is {absolute:.1} points (ours {}, {signed:+.1} on average). Their \"FSE\" covers only table construction; here it includes encoding, which lowers the share of match finding. Processors and data differ as well.",
            if signed < 0.0 { "lower" } else { "higher" }
        ))
        .numbers([Number::derived("mean difference in share", absolute / 100.0, Unit::Ratio, count)])
}

/// Over entropy at 4 KiB, independent bytes move the share the other way than natural blocks do.
fn reversal(ours: &[&Cell<'_>], theirs: &[&Cell<'_>]) -> Finding {
    const ID: &str = "iid-reversal";
    const SENTENCE: &str = "At 4 KiB and levels below 10, entropy acts in opposite directions: with it, the share of match finding grows on natural blocks and falls on independent bytes.";
    let (natural, independent) = (by_entropy(ours, false), by_entropy(ours, true));
    let published = by_entropy(theirs, false);
    let (mut rows, mut numbers, mut reversed) = (Vec::new(), Vec::new(), 0);
    for (cell, natural) in natural {
        let is_like = |(other, _): &&(&Cell<'_>, f64)| other.is_like(cell, &[&CONTENT]);
        let made = independent.iter().find(is_like);
        let level = stages::level(cell).filter(|level| *level < 10);
        let Some((level, (_, independent))) = level.zip(made) else {
            continue;
        };
        reversed += usize::from(natural > NO_MOVE_POINTS && *independent < -NO_MOVE_POINTS);
        let is_of_level = |(other, _): &&(&Cell<'_>, f64)| stages::level(other) == Some(level);
        let theirs = published.iter().find(is_of_level);
        let theirs = theirs.map_or_else(String::new, |(_, change)| format!(" (published {change:+.1})"));
        rows.push(format!(
            "level {level}: natural {natural:+.1} points{theirs}, independent {independent:+.1}"
        ));
        for (words, change) in [("natural", natural), ("independent", *independent)] {
            let name = format!("{words}, level {level}");
            numbers.push(Number::derived(name, change / 100.0, Unit::Ratio, 2));
        }
    }
    if rows.is_empty() {
        let reason = "natural and independent blocks of two entropies at 4 KiB were not both measured; the plan zstd-stages has them";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let tested = format!(
        "Change of the share from the lowest to the highest entropy: {}.",
        rows.join("; ")
    );
    Finding::tested(ID, SENTENCE, reversed == rows.len(), tested)
        .meaning(
            "Natural data of low entropy has long matches, which are cheap per byte; natural data of high entropy has few matches, and each takes a search. Independent bytes have no repeated words: at low entropy they are full of short chance matches, each of which costs a search and a sequence; at high entropy they have none, match finding skips ahead, and the literals take the time.",
        )
        .otherwise(
            "Not at every level of this run. The comparison is weak where the data have no natural blocks of the lowest entropy (see the caption of the stages), or where the stages do not add up.",
        )
        .numbers(numbers)
}

/// Change of the share of match finding from the least to the largest entropy at 4 KiB, for each level, with a cell of it.
fn by_entropy<'c, 'a>(cells: &[&'c Cell<'a>], is_independent: bool) -> Vec<(&'c Cell<'a>, f64)> {
    let asked = cells
        .iter()
        .copied()
        .filter(|cell| stages::at_4_kib(cell) && stages::is_independent(cell) == is_independent);
    let rows = families(asked, &[&CONTENT]);
    let change_of = |row: Vec<&'c Cell<'a>>| match row.as_slice() {
        [first, .., last] => Some((*first, change(first, last)?)),
        _ => None,
    };
    rows.into_iter().filter_map(change_of).collect()
}
