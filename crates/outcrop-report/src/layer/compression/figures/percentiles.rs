//! Ratio by percentile of blocks, and dpzip's pages over zstd's, beside the published curves.

use outcrop_measure::units::format_bytes;
use outcrop_schema::compression::{CODEC, RATIO_PERCENTILES, block_ratio};

use super::super::cell::CompressionCell;
use super::super::references::{
    FAMILIES, PERCENTILES, Published, SIZES, representative, size_over_zstd, with_percentiles,
};
use super::hue_of;
use crate::cell::Cell;
use crate::chart::{LineChart, Point, Quantity, Scale, Series, SeriesKind, Support, axis};
use crate::section::FigureSlot;

const PLAN: &str = "ratio-percentiles";
const X_LABEL: &str = "Blocks, most compressible first";

pub(super) fn all(cells: &[Cell<'_>], published: &Published, codecs: &[&str]) -> Vec<FigureSlot> {
    let ratios = SIZES.map(|size| ratios(cells, published, codecs, size));
    let over_zstd = SIZES.map(|size| over_zstd(cells, published, size));
    ratios.into_iter().chain(over_zstd).collect()
}

/// Ratio curves of one block size.
fn ratios(cells: &[Cell<'_>], published: &Published, codecs: &[&str], size: u64) -> FigureSlot {
    let title = format!("Ratio by percentile of blocks, {}", format_bytes(size));
    let (ours, theirs) = (with_percentiles(cells, size), published.with_percentiles(size));
    let (mut series, mut names) = (Vec::new(), Vec::new());
    for family in FAMILIES {
        let Some(ours) = representative(&ours, family) else {
            continue;
        };
        let theirs = representative(&theirs, family);
        let codec = ours.spelling(&CODEC);
        let both = [
            (SeriesKind::Measured, Some(ours)),
            (SeriesKind::Published, theirs),
        ];
        for (kind, cell) in both.into_iter().filter_map(|(kind, cell)| Some((kind, cell?))) {
            let point = |percent: u8| {
                let (x, number) = (f64::from(100 - percent), cell.number(&block_ratio(percent)?)?);
                let published = || format!("{family}, published: {:.2}", number.value);
                Some(match kind {
                    SeriesKind::Measured => Point::of(x, number, &cell.words()),
                    _ => Point::bare(x, number.value, published()),
                })
            };
            let points = RATIO_PERCENTILES.into_iter().rev().filter_map(point);
            series.push(Series::new(family, hue_of(codecs, codec), kind, points));
        }
        names.push(codec);
    }
    if names.is_empty() {
        let size = format_bytes(size);
        let reason = format!("no published codec was measured with percentiles at {size}.");
        return FigureSlot::missing(&title, &reason, PLAN);
    }
    let chart = LineChart {
        x: axis(X_LABEL, Quantity::Percent, Scale::Linear),
        y: axis("Compression ratio", Quantity::Ratio, Scale::Log10),
        series,
    };
    let caption = format!(
        "Here: {}.{}",
        names.join(", "),
        published.caption(
            PERCENTILES,
            "Dashed and hollow: published (arXiv 2509.23693, figure 7), on other data."
        )
    );
    let id = format!("ratio-percentiles-{}k", size >> 10);
    chart.slot(&id, &title, caption, PLAN)
}

/// Size of dpzip's blocks over zstd's.
fn over_zstd(cells: &[Cell<'_>], published: &Published, size: u64) -> FigureSlot {
    let title = format!("dpzip's size over zstd's by percentile, {}", format_bytes(size));
    let ours = size_over_zstd(&with_percentiles(cells, size));
    if ours.is_empty() {
        let reason = format!("dpzip and zstd have no percentiles at {}.", format_bytes(size));
        return FigureSlot::missing(&title, &reason, PLAN);
    }
    let theirs = size_over_zstd(&published.with_percentiles(size));
    let line = |curve: Vec<(u8, f64)>, whose: &str, kind: SeriesKind| {
        let point = |(percent, ratio): (u8, f64)| {
            let note = format!("p{percent} of sizes, {whose}: {ratio:.3}");
            let support = match kind {
                SeriesKind::Published => Support::default(),
                _ => Support::derived(None),
            };
            Point {
                support,
                ..Point::bare(f64::from(percent), ratio, note)
            }
        };
        Series::new("dpzip ÷ zstd", 5, kind, curve.into_iter().map(point))
    };
    let chart = LineChart {
        x: axis(X_LABEL, Quantity::Percent, Scale::Linear),
        y: axis("Compressed size, dpzip ÷ zstd", Quantity::Ratio, Scale::Fitted),
        series: vec![
            line(ours, "here", SeriesKind::Measured),
            line(theirs, "published", SeriesKind::Published),
        ],
    };
    let mut caption =
        "Above 1, dpzip's blocks are larger. Percentiles are taken per codec, then divided.".to_owned();
    if size > 4096 && !published.cells(PERCENTILES).is_empty() {
        caption.push_str(" The published 64 KiB curve of DPZip is its 4 KiB one times 16.");
    }
    chart.slot(&format!("dpzip-over-zstd-{}k", size >> 10), &title, caption, PLAN)
}
