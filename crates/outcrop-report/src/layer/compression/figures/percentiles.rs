//! Ratio by percentile of blocks, and dpzip's pages over zstd's, beside the published curves.

use outcrop_measure::units::format_bytes;

use super::super::cell::{Cell, Content};
use super::super::findings::{published_size_over_zstd, size_over_zstd};
use super::super::references::{PERCENTILES, Published, representative};
use super::{Codecs, point, published_point};
use crate::chart::{LineChart, Point, Quantity, Scale, Series, SeriesKind, axis};
use crate::section::FigureSlot;

const PLAN: &str = "ratio-percentiles";
const REFERENCE: &str = "asic-ratio-percentiles";
/// Families that the publication has too.
const FAMILIES: [&str; 5] = ["snappy", "lz4", "deflate", "zstd", "dpzip"];
const X_LABEL: &str = "Blocks, best compressible first";

pub(super) fn all(cells: &[Cell<'_>], published: &Published, codecs: &Codecs) -> Vec<FigureSlot> {
    let sizes = [4 << 10, 64 << 10];
    let mut slots: Vec<FigureSlot> = sizes
        .into_iter()
        .map(|size| ratios(cells, published, codecs, size))
        .collect();
    slots.extend(sizes.map(|size| over_zstd(cells, published, size)));
    slots
}

/// Ratio curves of one block size.
fn ratios(cells: &[Cell<'_>], published: &Published, codecs: &Codecs, size: u64) -> FigureSlot {
    let title = format!("Ratio by percentile of blocks, {}", format_bytes(size));
    let mut series = Vec::new();
    let mut names = Vec::new();
    for family in FAMILIES {
        let with_percentiles = cells.iter().filter(|cell| {
            cell.is_plain()
                && cell.block_size_bytes == size
                && cell.content == Content::Natural
                && cell.number("block_ratio_p50").is_some()
        });
        let Some(cell) = representative(with_percentiles, family) else {
            continue;
        };
        let ours = PERCENTILES.into_iter().rev().filter_map(|percentile| {
            let number = cell.number(&format!("block_ratio_p{percentile}"))?;
            Some(point(f64::from(100 - percentile), number, cell))
        });
        let theirs: Vec<Point> = published
            .block_ratios(family, size)
            .into_iter()
            .rev()
            .map(|(percentile, ratio)| {
                let note = format!("{family}, published: {ratio:.2}");
                published_point(f64::from(100 - percentile), ratio, note)
            })
            .collect();
        let hue = codecs.hue(&cell.codec);
        names.push(cell.codec.clone());
        series.push(Series {
            name: family.to_owned(),
            hue,
            points: ours.collect(),
            kind: SeriesKind::Measured,
        });
        series.push(Series {
            name: family.to_owned(),
            hue,
            points: theirs,
            kind: SeriesKind::Published,
        });
    }
    if names.is_empty() {
        let reason = format!(
            "no codec that is published has percentiles at {}.",
            format_bytes(size)
        );
        return FigureSlot::missing(&title, &reason, PLAN);
    }
    let chart = LineChart {
        x: axis(X_LABEL, Quantity::Percent, Scale::Linear),
        y: axis("Compression ratio", Quantity::Ratio, Scale::Log10),
        series,
    };
    let caption = format!(
        "Here: {}. Dashed and hollow: published (arXiv 2509.23693, figure 7), on other data. {}",
        names.join(", "),
        published.caveats(REFERENCE)
    );
    let id = format!("ratio-percentiles-{}", file_size(size));
    FigureSlot::of(chart.draw(&id, &title, caption), &title, PLAN)
}

/// Size of dpzip's blocks over zstd's.
fn over_zstd(cells: &[Cell<'_>], published: &Published, size: u64) -> FigureSlot {
    let title = format!("dpzip's size over zstd's by percentile, {}", format_bytes(size));
    let Some(ours) = size_over_zstd(cells, size) else {
        let reason = format!("dpzip and zstd have no percentiles at {}.", format_bytes(size));
        return FigureSlot::missing(&title, &reason, PLAN);
    };
    let points = |curve: Vec<(u32, f64)>, whose: &str| {
        let point = |(percentile, ratio): (u32, f64)| {
            published_point(
                f64::from(percentile),
                ratio,
                format!("p{percentile} of sizes, {whose}: {ratio:.3}"),
            )
        };
        curve.into_iter().map(point).collect()
    };
    let line = |points, kind| Series {
        name: "dpzip ÷ zstd".to_owned(),
        hue: 5,
        points,
        kind,
    };
    let chart = LineChart {
        x: axis(X_LABEL, Quantity::Percent, Scale::Linear),
        y: axis("Compressed size, dpzip ÷ zstd", Quantity::Ratio, Scale::Fitted),
        series: vec![
            line(points(ours, "here"), SeriesKind::Measured),
            line(
                points(published_size_over_zstd(published, size), "published"),
                SeriesKind::Published,
            ),
        ],
    };
    let caption = format!(
        "Above 1 dpzip's blocks are larger. Each curve's own percentiles are divided, as published. {}",
        if size > 4096 {
            "The published 64 KiB curve of DPZip is its 4 KiB one times 16."
        } else {
            ""
        }
    );
    let id = format!("dpzip-over-zstd-{}", file_size(size));
    FigureSlot::of(chart.draw(&id, &title, caption.trim().to_owned()), &title, PLAN)
}

/// `4k`, `64k`: a size in a file name.
fn file_size(bytes: u64) -> String {
    format!("{}k", bytes >> 10)
}
