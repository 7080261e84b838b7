//! Speed and latency as data compress less and less: by the ratio asked for, and by the entropy asked for.

use super::super::cell::{Cell, Content, Direction};
use super::super::references::Published;
use super::{Codecs, other_hues, point, published_point};
use crate::chart::{LineChart, Quantity, Scale, Series, SeriesKind, axis};
use crate::section::FigureSlot;

const PLAN: &str = "robustness";

#[derive(Clone, Copy, PartialEq)]
enum Along {
    Ratio,
    Entropy,
}

impl Along {
    /// Where a cell stands, if its content was made that way.
    fn place(self, content: &Content) -> Option<f64> {
        match (self, content) {
            (Self::Ratio, content) => content.asked_percent(),
            (Self::Entropy, Content::Entropy(bits)) => Some(*bits),
            (Self::Entropy, _) => None,
        }
    }
}

pub(super) fn all(cells: &[Cell<'_>], published: &Published, codecs: &Codecs) -> Vec<FigureSlot> {
    let mut slots = Vec::new();
    for along in [Along::Ratio, Along::Entropy] {
        for metric in ["speed", "latency_mean"] {
            for direction in Direction::BOTH {
                slots.push(lines(cells, published, codecs, (along, metric, direction)));
            }
        }
    }
    slots
}

fn lines(
    cells: &[Cell<'_>],
    published: &Published,
    codecs: &Codecs,
    (along, metric, direction): (Along, &str, Direction),
) -> FigureSlot {
    let (what, quantity) = match metric {
        "speed" => ("throughput", Quantity::Bandwidth),
        _ => ("latency", Quantity::Latency),
    };
    let by = match along {
        Along::Ratio => "target ratio",
        Along::Entropy => "target entropy",
    };
    let title = format!("{} {what} by {by}", direction.title());
    let metric = direction.metric(metric);
    let Some((size, mut series)) = ours(cells, codecs, along, &metric) else {
        let reason = format!("no codec was measured at two values of the {by}.");
        return FigureSlot::missing(&title, &reason, PLAN);
    };
    let mut caption = format!("Generated content, blocks of {size}, one thread.");
    if along == Along::Ratio {
        let theirs = published.by_compressibility(&metric);
        if !theirs.is_empty() {
            caption.push_str(&format!(
                " Dashed: published devices (arXiv 2509.23693, figure 12). {}",
                published.caveats("asic-robustness")
            ));
        }
        let hues = other_hues(&series).take(theirs.len()).collect::<Vec<_>>();
        for (hue, (subject, curve)) in hues.into_iter().zip(theirs) {
            series.push(Series {
                name: format!("{subject} (published)"),
                hue,
                points: curve
                    .into_iter()
                    .map(|(x, y)| {
                        published_point(x, y, format!("{subject}, published: {}", quantity.spell(y)))
                    })
                    .collect(),
                kind: SeriesKind::Published,
            });
        }
    } else {
        caption.push_str(
            " Bytes drawn alone: an entropy coder gains what the axis says, and a pure LZ coder (LZ4, Snappy) finds hardly anything.",
        );
    }
    let x = match along {
        Along::Ratio => axis(
            "Compressed ÷ original, asked for",
            Quantity::Percent,
            Scale::Linear,
        ),
        Along::Entropy => axis(
            "Order-0 entropy per byte, asked for",
            Quantity::Bits,
            Scale::Linear,
        ),
    };
    let chart = LineChart {
        x,
        y: axis(&format!("{} {what}", direction.title()), quantity, Scale::Log10),
        series,
    };
    let id = format!("{}-{what}-by-{}", direction.name(), by.replace(' ', "-"));
    FigureSlot::of(chart.draw(&id, &title, caption), &title, PLAN)
}

/// Our lines at the block size that most of the cells have, with the fewest threads.
fn ours(cells: &[Cell<'_>], codecs: &Codecs, along: Along, metric: &str) -> Option<(String, Vec<Series>)> {
    let made = || {
        cells
            .iter()
            .filter(|cell| cell.is_plain() && !cell.is_copy() && cell.threads == 1)
            .filter(|cell| along.place(&cell.content).is_some())
    };
    let count = |size: u64| made().filter(|cell| cell.block_size_bytes == size).count();
    let first = made().max_by_key(|cell| {
        (
            count(cell.block_size_bytes),
            std::cmp::Reverse(cell.block_size_bytes),
        )
    })?;
    let mut series: Vec<Series> = Vec::new();
    for cell in made().filter(|cell| cell.block_size_bytes == first.block_size_bytes) {
        let Some((x, number)) = along.place(&cell.content).zip(cell.number(metric)) else {
            continue;
        };
        let point = point(x, number, cell);
        match series.iter_mut().find(|series| series.name == cell.codec) {
            Some(series) => series.points.push(point),
            None => series.push(Series {
                name: cell.codec.clone(),
                hue: codecs.hue(&cell.codec),
                points: vec![point],
                kind: SeriesKind::Measured,
            }),
        }
    }
    for one in &mut series {
        one.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    series.retain(|series| series.points.len() > 1);
    (!series.is_empty()).then(|| (first.size(), series))
}
