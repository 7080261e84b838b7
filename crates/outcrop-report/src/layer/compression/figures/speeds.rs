//! Throughput and latency of every codec by block size and threads, with published devices and processors below.

use std::collections::BTreeSet;

use outcrop_measure::units::format_bytes;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, THREADS};

use super::super::cell::CompressionCell;
use super::super::references::{Published, SIZES, THROUGHPUT};
use super::super::wishes::{CONDITIONS, Candidate, data_of};
use super::Timing;
use crate::cell::Cell;
use crate::chart::{Bar, BarChart, BarGroup, Facet, Figure, Part, Quantity, Segment, SeriesKind};
use crate::layer::not_drawn::{behind_blank, cells_not_drawn};
use crate::number::{Number, counted};
use crate::section::FigureSlot;

const PLAN: &str = "throughput-latency";
/// Panels that fit side by side.
const MOST_SIZES: usize = 4;

pub(super) fn all(
    cells: &[Cell<'_>],
    candidates: &[Candidate<'_, '_>],
    published: &Published,
) -> Vec<FigureSlot> {
    // Cells of the data that the answer is chosen from, with any number of threads.
    let chosen = candidates.first().map(|one| one.cell);
    let is_comparable = |cell: &&Cell<'_>| {
        let is_like = |chosen| cell.is_like(chosen, &[&CODEC, &COMPRESSION_BLOCK_SIZE, &THREADS]);
        cell.is_plain() && chosen.is_some_and(is_like)
    };
    let ours: Vec<&Cell<'_>> = cells.iter().filter(is_comparable).collect();
    Timing::all()
        .map(|timing| bars(cells, &ours, published, &timing))
        .into()
}

fn bars(cells: &[Cell<'_>], ours: &[&Cell<'_>], published: &Published, timing: &Timing) -> FigureSlot {
    let title = format!("{} by codec, block and threads", timing.title());
    let mut threads: Vec<u32> = ours.iter().map(|cell| cell.threads()).collect();
    threads.sort_unstable();
    threads.dedup();
    let timed = ours.iter().filter(|cell| cell.number(&timing.metric).is_some());
    let measured: BTreeSet<u64> = timed.map(|cell| cell.size_bytes()).collect();
    let shown = few_enough(&measured);
    let facets = |sizes: &BTreeSet<u64>| -> Vec<Facet> {
        let facets = sizes
            .iter()
            .map(|size| facet(ours, published, &threads, *size, timing));
        facets.flatten().collect()
    };
    let (facets, complete) = (facets(&shown), facets(&measured));
    let Some(first) = ours.first().filter(|_| !facets.is_empty()) else {
        return FigureSlot::missing(&title, "no codec was timed.", PLAN);
    };
    let names = threads.iter().map(|count| counted(*count as usize, "thread"));
    let mut parts: Vec<Part> = names.enumerate().map(|(hue, name)| Part { name, hue }).collect();
    let references = published.cells(THROUGHPUT);
    let theirs = if references.is_empty() {
        String::new()
    } else if references.iter().any(|cell| shown.contains(&cell.size_bytes())) {
        let (name, hue) = ("device or processor".to_owned(), 6);
        parts.push(Part { name, hue });
        published.caption(THROUGHPUT, "Pale: published (arXiv 2509.23693, figures 8 and 9).")
    } else {
        " No published figure is of these block sizes.".to_owned()
    };
    let label = match timing.quantity {
        Quantity::Latency => format!("{} of a block, mean", timing.title()),
        _ => timing.title(),
    };
    let chart = BarChart {
        value: timing.axis(&label),
        parts,
        facets,
    };
    let complete = BarChart {
        facets: complete,
        ..chart.clone()
    };
    let left_out = match measured.len() - shown.len() {
        0 => String::new(),
        count => format!(
            " {} of {} measured block sizes are shown; `outcrop figure --csv` writes all of them.",
            shown.len(),
            shown.len() + count
        ),
    };
    let short = match timing.quantity {
        Quantity::Latency => short_blocks(ours, &shown),
        _ => String::new(),
    };
    let timed = cells.iter().filter(|cell| cell.number(&timing.metric).is_some());
    let others = behind_blank(cells_not_drawn(timed, ours));
    let caption = format!(
        "{}, {CONDITIONS}. Logarithmic scale; whiskers are intervals.{short}{left_out}{others}{theirs}",
        data_of(first)
    );
    let id = format!("{}-{}", timing.direction, timing.word);
    let figure = chart.draw(&id, &title, caption);
    let figure = figure.map(|figure| of_all_threads(figure.with_data_of(complete), &threads, first));
    FigureSlot::of(figure, &title, PLAN)
}

/// The answer compares codecs with one number of threads; where bars are of several, they say theirs.
fn of_all_threads(figure: Figure, threads: &[u32], first: &Cell<'_>) -> Figure {
    match threads.len() {
        0 | 1 => figure,
        _ => figure.about(format!("Compression of {}, {CONDITIONS}", data_of(first))),
    }
}

/// Sizes of which most blocks are shorter, with how long they are.
fn short_blocks(ours: &[&Cell<'_>], shown: &BTreeSet<u64>) -> String {
    let of_size = |size: &u64| {
        let mut its = ours.iter().filter(|cell| cell.size_bytes() == *size);
        let mean = its.find_map(|cell| cell.short_blocks())?;
        let size = format_bytes(*size);
        Some(format!(" Most blocks of {size} are shorter: {mean} on average."))
    };
    shown.iter().filter_map(of_size).collect()
}

/// As many block sizes as there is room for side by side, in their order: those that are published first, then the smallest and the
/// largest.
fn few_enough(measured: &BTreeSet<u64>) -> BTreeSet<u64> {
    let ends = measured.first().into_iter().chain(measured.last());
    let wanted = SIZES.iter().chain(ends).chain(measured);
    let mut shown = BTreeSet::new();
    for size in wanted.filter(|size| measured.contains(size)) {
        if shown.len() < MOST_SIZES {
            shown.insert(*size);
        }
    }
    shown
}

fn facet(
    ours: &[&Cell<'_>],
    published: &Published,
    threads: &[u32],
    size: u64,
    timing: &Timing,
) -> Option<Facet> {
    let mut groups: Vec<BarGroup> = Vec::new();
    for cell in ours.iter().filter(|cell| cell.size_bytes() == size) {
        let Some(number) = cell.number(&timing.metric) else {
            continue;
        };
        let part = threads.iter().position(|count| *count == cell.threads());
        let part = part.unwrap_or(0);
        let words = cell.words();
        let note = format!("{words}: {number} ({})", number.certainty());
        let mut bars = vec![bar(SeriesKind::Measured, part, number, note)];
        let model = timing.modelled(cell).filter(|_| part == 0);
        if let Some(number) = model.and_then(|metric| cell.number(&metric)) {
            let note = format!("{words}, cycle model: {number}");
            bars.push(bar(SeriesKind::Modelled, part, number, note));
        }
        let label = cell.short_codec();
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.bars.extend(bars),
            None => groups.push(BarGroup {
                label: label.to_owned(),
                bars,
            }),
        }
    }
    let title = format_bytes(size);
    if groups.is_empty() {
        return None;
    }
    let theirs = published.cells(THROUGHPUT).iter();
    let of_size = theirs.filter(|cell| cell.size_bytes() == size);
    groups.extend(of_size.filter_map(|cell| {
        let (subject, number) = (cell.subject(), cell.number(&timing.published)?);
        let note = format!("{subject}, published: {}", timing.quantity.spell(number.value));
        Some(BarGroup {
            label: match subject {
                "DPZip" => "DPZip (ASIC)".to_owned(),
                subject => subject.replace("(CPU)", " (CPUs)"),
            },
            bars: vec![bar(SeriesKind::Published, threads.len(), number, note)],
        })
    }));
    Some(Facet { title, groups })
}

fn bar(kind: SeriesKind, part: usize, number: &Number, note: String) -> Bar {
    Bar::single(kind, Segment::of(part, number), note)
}
