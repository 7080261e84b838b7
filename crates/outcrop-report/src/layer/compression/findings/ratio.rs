//! Ratios that contradict what is believed of block sizes, or of dpzip.

use outcrop_measure::metric::Unit;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO};

use super::super::cell::{CompressionCell, some_of};
use super::super::pairs::have_same_bytes;
use super::super::references::{Published, size_over_zstd, with_percentiles};
use crate::cell::{Cell, families};
use crate::finding::Finding;
use crate::number::{Number, counted};

/// A ratio that falls by less than this has not fallen: headers of a few bytes.
const SAME: f64 = 0.002;
/// How far the curve of dpzip over zstd may be from the published one at each percentile.
const CURVE: f64 = 0.15;

/// Larger blocks never save less.
pub(super) fn larger_blocks_save_more(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "larger-blocks-save-more";
    const SENTENCE: &str = "No codec reaches a lower ratio with larger blocks of the same data.";
    let is_natural = |cell: &&Cell<'_>| cell.is_plain() && cell.is_natural() && !cell.is_copy();
    let by_size = families(cells.iter().filter(is_natural), &[&COMPRESSION_BLOCK_SIZE]);
    let (mut pairs, mut others, mut falling) = (0, 0, Vec::new());
    for neighbours in by_size.iter().flat_map(|family| family.windows(2)) {
        let [small, large] = neighbours else { continue };
        if !have_same_bytes(small, large) {
            others += 1;
            continue;
        }
        let ratios = small
            .value(&COMPRESSION_RATIO)
            .zip(large.value(&COMPRESSION_RATIO));
        let Some((before, after)) = ratios else { continue };
        pairs += 1;
        if after < before * (1.0 - SAME) {
            let (codec, small, large) = (small.spelling(&CODEC), small.size(), large.size());
            falling.push(format!("{codec}, {small} to {large}: {before:.3} to {after:.3}"));
        }
    }
    if pairs == 0 {
        let reason = "no codec was measured at two block sizes of the same data";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    // The step that is left out is the largest one, and may be the one that falls.
    if others > 0 && falling.is_empty() {
        let reason = format!(
            "{others} of {} pairs of neighbouring block sizes compressed other parts of the data; the other pairs do not fall. A larger sample (--sample-size) compares all",
            pairs + others
        );
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let not_tested = match others {
        0 => String::new(),
        others => format!(
            " that compressed the same bytes, and not {others} that compressed other parts of the data"
        ),
    };
    let pairs = counted(pairs, "pair");
    let tested = format!(
        "{pairs} of neighbouring block sizes{not_tested}; a fall by {} % counts as none.",
        SAME * 100.0
    );
    Finding::tested(ID, SENTENCE, falling.is_empty(), tested).otherwise(format!(
        "A larger block gives a codec a longer history, but a single symbol table for more kinds of data: {}.",
        some_of(&falling, "; ")
    ))
}

/// Compressed size of dpzip over that of zstd at each percentile, beside the published curve.
pub(super) fn dpzip_curve(cells: &[Cell<'_>], published: &Published) -> Finding {
    const ID: &str = "dpzip-curve";
    let sentence = format!(
        "Size of dpzip's pages over zstd's has the published shape: within {CURVE} at every percentile of blocks, at 4 KiB."
    );
    let ours = size_over_zstd(&with_percentiles(cells, 4096));
    if ours.is_empty() {
        let reason = "percentiles of dpzip and of zstd at 4 KiB were not both measured; the plan ratio-percentiles does that";
        return Finding::not_testable(ID, &sentence, reason);
    }
    let theirs = size_over_zstd(&published.with_percentiles(4096));
    let difference = |(percent, value): &(u8, f64)| {
        let (_, published) = theirs.iter().find(|(other, _)| other == percent)?;
        Some((*percent, value - published))
    };
    let differences: Vec<(u8, f64)> = ours.iter().filter_map(difference).collect();
    let worst = differences
        .iter()
        .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
    let Some((percent, difference)) = worst else {
        return Finding::not_testable(
            ID,
            &sentence,
            "the published curve has none of the percentiles measured here",
        );
    };
    let count = differences.len();
    let tested = format!(
        "Difference at {count} percentiles; the largest is {difference:+.2}, at p{percent} of sizes."
    );
    Finding::tested(ID, sentence, difference.abs() <= CURVE, tested)
        .meaning(
            "The published data are different, so only the shape can be compared: worse where data compress best, equal where they hardly compress.",
        )
        .numbers([Number::derived("largest difference", difference.abs(), Unit::Ratio, count)])
}
