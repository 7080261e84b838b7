//! Ratios that contradict what is believed of block sizes, or of dpzip.

use outcrop_measure::metric::Unit;

use super::super::cell::{Cell, Content};
use super::super::references::{Published, representative};
use super::some_of;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// A ratio that falls by less than this has not fallen: headers of a few bytes.
const SAME: f64 = 0.002;
/// How far the curve of dpzip over zstd may be from the published one at each percentile.
const CURVE: f64 = 0.15;

/// Larger blocks never save less.
pub(super) fn larger_blocks_save_more(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "larger-blocks-save-more";
    const SENTENCE: &str = "No codec reaches a lower ratio with larger blocks of the same data.";
    let natural = || {
        cells
            .iter()
            .filter(|cell| cell.is_plain() && cell.content == Content::Natural && !cell.is_copy())
    };
    let mut pairs = 0;
    let mut falling = Vec::new();
    for small in natural() {
        let is_next = |large: &&Cell<'_>| {
            (large.codec.as_str(), large.threads, large.view.subject)
                == (small.codec.as_str(), small.threads, small.view.subject)
                && large.block_size_bytes > small.block_size_bytes
        };
        let next = natural()
            .filter(is_next)
            .min_by_key(|large| large.block_size_bytes);
        let ratios = next.and_then(|large| {
            let metric = "compression_ratio";
            Some((large, small.value(metric)?, large.value(metric)?))
        });
        let Some((large, before, after)) = ratios else {
            continue;
        };
        pairs += 1;
        if after < before * (1.0 - SAME) {
            falling.push(format!(
                "{}, {} to {}: {before:.3} to {after:.3}",
                small.codec,
                small.size(),
                large.size()
            ));
        }
    }
    if pairs == 0 {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "no codec was measured at two block sizes of the same data",
        );
    }
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(falling.is_empty()),
        tested: format!(
            "{pairs} pairs of neighbouring block sizes; a fall by {} % counts as none.",
            SAME * 100.0
        ),
        meaning: if falling.is_empty() {
            String::new()
        } else {
            format!(
                "A larger block gives a codec more to look back on, and one table of symbols for more kinds of data: {}.",
                some_of(&falling)
            )
        },
        numbers: Vec::new(),
    }
}

/// Compressed size of dpzip over that of zstd at each percentile, beside the published curve.
pub(super) fn dpzip_curve(cells: &[Cell<'_>], published: &Published) -> Finding {
    const ID: &str = "dpzip-curve";
    let sentence = format!(
        "Size of dpzip's pages over zstd's has the published shape: within {CURVE} at every percentile of blocks, at 4 KiB."
    );
    let Some(ours) = size_over_zstd(cells, 4096) else {
        let reason = "percentiles of dpzip and of zstd at 4 KiB were not both measured; plans/ratio-percentiles.toml does";
        return Finding::not_testable(ID, &sentence, reason);
    };
    let theirs = published_size_over_zstd(published, 4096);
    let differences: Vec<(u32, f64)> = ours
        .iter()
        .filter_map(|(percentile, value)| {
            let (_, published) = theirs.iter().find(|(other, _)| other == percentile)?;
            Some((*percentile, value - published))
        })
        .collect();
    let worst = differences
        .iter()
        .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
    let Some((percentile, difference)) = worst.copied() else {
        return Finding::not_testable(ID, &sentence, "the published curve has none of our percentiles");
    };
    Finding {
        id: ID.to_owned(),
        sentence,
        verdict: Verdict::from_test(difference.abs() <= CURVE),
        tested: format!(
            "Difference at {} percentiles; the largest is {difference:+.2}, at p{percentile} of sizes.",
            differences.len()
        ),
        meaning: "Their data are not ours: the shape (worse where data compress best, equal where they hardly do) is what can be compared."
            .to_owned(),
        numbers: vec![Number::derived("largest difference", difference.abs(), Unit::Ratio, differences.len())],
    }
}

/// Size of dpzip's blocks over zstd's by percentile of sizes, as published: p1 are the smallest.
pub(in super::super) fn size_over_zstd(cells: &[Cell<'_>], block_size_bytes: u64) -> Option<Vec<(u32, f64)>> {
    let natural = |family| {
        let fitting = cells.iter().filter(|cell| {
            cell.is_plain() && cell.block_size_bytes == block_size_bytes && cell.content == Content::Natural
        });
        let with_percentiles = fitting.filter(|cell| cell.number("block_ratio_p50").is_some());
        representative(with_percentiles, family)
    };
    let (dpzip, zstd) = natural("dpzip").zip(natural("zstd"))?;
    let point = |percentile: u32| {
        // Ratio and size run in opposite directions.
        let metric = format!("block_ratio_p{}", 100 - percentile);
        Some((percentile, zstd.value(&metric)? / dpzip.value(&metric)?))
    };
    let curve: Vec<(u32, f64)> = super::super::references::PERCENTILES
        .into_iter()
        .filter_map(point)
        .collect();
    (!curve.is_empty()).then_some(curve)
}

/// The same, published.
pub(in super::super) fn published_size_over_zstd(
    published: &Published,
    block_size_bytes: u64,
) -> Vec<(u32, f64)> {
    let zstd = published.block_ratios("zstd", block_size_bytes);
    let dpzip = published.block_ratios("dpzip", block_size_bytes);
    let mut curve: Vec<(u32, f64)> = dpzip
        .iter()
        .filter_map(|(percentile, ratio)| {
            let (_, other) = zstd.iter().find(|(other, _)| other == percentile)?;
            Some((100 - percentile, other / ratio))
        })
        .collect();
    curve.sort_by_key(|(percentile, _)| *percentile);
    curve
}
