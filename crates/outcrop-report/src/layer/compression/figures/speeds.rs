//! Throughput and latency of every codec by block size and threads, with published devices and processors below.

use outcrop_measure::units::format_bytes;

use super::super::cell::{Cell, Direction};
use super::super::references::Published;
use super::super::wishes::{candidates, held_fixed};
use crate::chart::{Axis, Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, SeriesKind, axis};
use crate::number::{Number, counted};
use crate::section::FigureSlot;

const PLAN: &str = "throughput-latency";
/// Block sizes that are published, and that a facet each is for.
const SIZES: [u64; 2] = [4 << 10, 64 << 10];

pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<FigureSlot> {
    let kinds = [Kind::Throughput, Kind::Latency];
    let each = kinds
        .into_iter()
        .flat_map(|kind| Direction::BOTH.map(|direction| (kind, direction)));
    each.map(|(kind, direction)| bars(cells, published, kind, direction))
        .collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Throughput,
    Latency,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
        }
    }

    const fn metric(self) -> &'static str {
        match self {
            Self::Throughput => "speed",
            Self::Latency => "latency_mean",
        }
    }

    const fn published_metric(self) -> &'static str {
        match self {
            Self::Throughput => "speed",
            Self::Latency => "latency_as_published",
        }
    }

    fn axis(self, direction: Direction) -> Axis {
        let (label, quantity) = match self {
            Self::Throughput => ("throughput", Quantity::Bandwidth),
            Self::Latency => ("latency of a block, mean", Quantity::Latency),
        };
        axis(&format!("{} {label}", direction.title()), quantity, Scale::Log10)
    }
}

fn bars(cells: &[Cell<'_>], published: &Published, kind: Kind, direction: Direction) -> FigureSlot {
    let title = format!(
        "{} {} by codec, block and threads",
        direction.title(),
        kind.word()
    );
    let metric = direction.metric(kind.metric());
    let ours = comparable(cells);
    let mut threads: Vec<u32> = ours.iter().map(|cell| cell.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let facets: Vec<Facet> = SIZES
        .into_iter()
        .filter_map(|size| facet(&ours, published, &threads, size, (kind, direction)))
        .collect();
    if !ours.iter().any(|cell| cell.number(&metric).is_some()) || facets.is_empty() {
        return FigureSlot::missing(&title, "no codec was timed at 4 or 64 KiB.", PLAN);
    }
    let parts = threads.iter().enumerate().map(|(hue, count)| Part {
        name: counted(*count as usize, "thread"),
        hue,
    });
    let chart = BarChart {
        value: kind.axis(direction),
        parts: parts
            .chain([Part {
                name: "device or processor".to_owned(),
                hue: 6,
            }])
            .collect(),
        facets,
    };
    let fixed = held_fixed(&candidates(cells));
    let fixed = fixed.split(", ").next().unwrap_or_default().to_owned();
    let caption = format!(
        "{fixed}. Lengths are logarithmic; a whisker is the interval. Pale: published (arXiv 2509.23693, figures 8 and 9). {}",
        published.caveats("asic-throughput")
    );
    let id = format!("{}-{}", direction.name(), kind.word());
    FigureSlot::of(chart.draw(&id, &title, caption), &title, PLAN)
}

/// Cells of the data that the answer is chosen from, with any number of threads.
fn comparable<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<&'c Cell<'a>> {
    let chosen = candidates(cells);
    let Some(first) = chosen.first().map(|one| one.cell) else {
        return Vec::new();
    };
    cells
        .iter()
        .filter(|cell| {
            cell.is_plain() && cell.view.subject == first.view.subject && cell.content == first.content
        })
        .collect()
}

fn facet(
    ours: &[&Cell<'_>],
    published: &Published,
    threads: &[u32],
    size: u64,
    (kind, direction): (Kind, Direction),
) -> Option<Facet> {
    let metric = direction.metric(kind.metric());
    let mut groups: Vec<BarGroup> = Vec::new();
    for cell in ours.iter().filter(|cell| cell.block_size_bytes == size) {
        let Some(number) = cell.number(&metric) else {
            continue;
        };
        let part = threads
            .iter()
            .position(|count| *count == cell.threads)
            .unwrap_or(0);
        let bar = Bar::single(
            SeriesKind::Measured,
            segment(part, number),
            format!("{}: {number} ({})", cell.words(), number.certainty()),
        );
        let modelled = (part == 0).then(|| modelled(cell, kind, direction)).flatten();
        let label = cell.short_codec().to_owned();
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.bars.push(bar),
            None => groups.push(BarGroup {
                label,
                bars: vec![bar],
            }),
        }
        if let Some(group) = groups.last_mut() {
            group.bars.extend(modelled);
        }
    }
    if groups.is_empty() {
        return None;
    }
    let theirs = published.by_subject(size, &direction.metric(kind.published_metric()));
    groups.extend(theirs.into_iter().map(|(subject, value)| BarGroup {
        label: match subject {
            "DPZip" => "DPZip (ASIC)".to_owned(),
            subject => subject.replace("(CPU)", " (CPUs)"),
        },
        bars: vec![Bar::single(
            SeriesKind::Published,
            Segment {
                part: threads.len(),
                value,
                interval: None,
            },
            format!(
                "{subject}, published: {}",
                kind.axis(direction).quantity.spell(value)
            ),
        )],
    }));
    Some(Facet {
        title: format_bytes(size),
        groups,
    })
}

fn segment(part: usize, number: &Number) -> Segment {
    Segment {
        part,
        value: number.value,
        interval: number.interval.map(|interval| (interval.low, interval.high)),
    }
}

/// What dpzip's cycle model says; it models compression of pages.
fn modelled(cell: &Cell<'_>, kind: Kind, direction: Direction) -> Option<Bar> {
    let metric = match (kind, direction) {
        (Kind::Throughput, Direction::Compress) => "modelled_compress_speed",
        (Kind::Latency, Direction::Compress) if cell.block_size_bytes == 4096 => "modelled_page_latency",
        _ => return None,
    };
    let number = cell.number(metric)?;
    Some(Bar::single(
        SeriesKind::Modelled,
        segment(0, number),
        format!("{}, cycle model: {number}", cell.words()),
    ))
}
