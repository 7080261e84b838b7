//! The figures of the filesystem layer.

mod as_published;
mod bars;
mod bytes;
mod left_out;
mod tail;

use outcrop_measure::metric::{Better, Metric};
use outcrop_schema::FactorRef;
use outcrop_schema::filesystem::{
    ARRIVAL, CLUSTER_SIZE, COMPRESSION, COMPRESSION_BLOCK_SIZE, ENGINE, FILESYSTEM, IO_BLOCK_SIZE, IOPS,
    JOBS, LATENCY, OPERATION, PUBLISHED_LATENCY, QUEUE_DEPTH, READ_AMPLIFICATION, RECORD_SIZE, SPACE_RATIO,
};
use outcrop_workload::filesystem::{FileOperation, FilesystemKind};

use self::left_out::without_value;
use super::answer::candidates;
use super::cell::{configuration, does, is_closed, is_cold_random_read, kind, words};
use super::naming::Naming;
use super::published::{DASHED, Published, has};
use crate::cell::{Cell, families};
use crate::chart::SeriesKind::Measured;
use crate::chart::{
    LineChart, Point, Quantity, Scale, ScatterChart, ScatterGroup, ScatterPoint, Series, axis,
};
use crate::layer::not_drawn::{behind_blank, cells_not_drawn};
use crate::number::Number;
use crate::section::FigureSlot;

/// Colours of published lines follow those of squashfs and erofs.
const PUBLISHED_HUE: usize = 2;
/// The plan that offers loads.
const PLAN_OF_LOAD: &str = "fs-throughput-latency";

/// A figure of ours, and whether what was published of the same is drawn in it.
struct Beside {
    slot: FigureSlot,
    has_published: bool,
}

/// All of them, in the order of the page; those about what the run did not measure say which plan would.
pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<FigureSlot> {
    let mut slots = vec![
        space_against_latency(cells),
        by_size(
            cells,
            &READ_AMPLIFICATION,
            "Read amplification, by block",
            "fs-read-amplification-by-size",
            (Vec::new(), String::new()),
        ),
        by_size(
            cells,
            &LATENCY.p50,
            "Latency of a cold small read, by block",
            "fs-latency-by-size",
            (
                published.lines(&RECORD_SIZE, &PUBLISHED_LATENCY, PUBLISHED_HUE),
                published.caption(DASHED, has(&RECORD_SIZE, &PUBLISHED_LATENCY)),
            ),
        ),
        latency_by_load(cells),
    ];
    let by_bytes = bytes::latency_by_bytes(cells, published);
    let tail = tail::tail_by_load(cells, published);
    let load_is_drawn = by_bytes.as_ref().is_some_and(|figure| figure.has_published);
    let tail_is_drawn = tail.has_published;
    slots.extend(by_bytes.map(|figure| figure.slot));
    slots.push(tail.slot);
    slots.extend(as_published::all(cells, published, load_is_drawn, tail_is_drawn));
    slots.extend(bars::all(cells));
    slots
}

/// Space against the latency of a cold small read, and the front that no configuration beats.
fn space_against_latency(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Space against latency of a cold small read";
    let is_wanted = |cell: &&Cell<'_>| is_cold_random_read(cell) && is_closed(cell) && cell.is(&JOBS, &1);
    // Reads of another size, or of files that lie otherwise, are no rivals of these: the answer chooses among the same.
    let compared = candidates(cells);
    let compared = compared.into_iter().filter(is_wanted);
    let point = |cell| {
        Some((
            cell,
            Cell::number(cell, &LATENCY.p50)?,
            Cell::value(cell, &SPACE_RATIO)?,
        ))
    };
    let points: Vec<Traded<'_, '_>> = compared.filter_map(point).collect();
    let drawn: Vec<&Cell<'_>> = points.iter().map(|(cell, ..)| *cell).collect();
    let reads = cells.iter().filter(|cell| is_cold_random_read(cell));
    let left_out = not_compared(reads, &drawn, |cell| point(cell).is_some());
    if points.len() < 2 {
        let reason = "fewer than two configurations were read cold by one job in a closed loop.";
        return FigureSlot::missing(TITLE, reason, "fs-choice");
    }
    let chart = ScatterChart {
        x: axis("p50 of a cold small read", Quantity::Latency, Scale::Log10),
        y: axis("Data ÷ space", Quantity::Ratio, Scale::Fitted),
        x_better: Better::Lower,
        groups: by_kind(&points),
        front_name: Some("front".to_owned()),
    };
    let read = same_size(drawn.iter().copied());
    let caption = format!(
        "Cold {read}reads. Left and up is better. The line joins the configurations that no other measured one beats in both; space includes metadata."
    );
    FigureSlot::of(
        chart.draw("fs-space-against-latency", TITLE, format!("{caption}{left_out}")),
        TITLE,
        "fs-choice",
    )
}

/// A cell, its latency, and its data ÷ space.
type Traded<'c, 'a> = (&'c Cell<'a>, &'c Number, f64);

/// The points of the front by the kind of filesystem.
fn by_kind(points: &[Traded<'_, '_>]) -> Vec<ScatterGroup> {
    let mut groups: Vec<ScatterGroup> = Vec::new();
    for (cell, latency, space) in points {
        let beats = |other: &&Traded<'_, '_>| {
            other.1.value <= latency.value
                && other.2 >= *space
                && (other.1.value < latency.value || other.2 > *space)
        };
        let on_front = points.iter().find(beats).is_none();
        let name = configuration(cell);
        let point = ScatterPoint {
            label: if on_front { name.clone() } else { String::new() },
            on_front,
            note: format!(
                "{name}: space {space:.2}, p50 {latency} ({})",
                latency.certainty()
            ),
            ..ScatterPoint::of(latency, *space, &name)
        };
        let family = kind(cell).map_or("directory", FilesystemKind::name);
        match groups.iter_mut().find(|group| group.name == family) {
            Some(group) => {
                group.is_beside_front &= !on_front;
                group.points.push(point);
            }
            None => groups.push(ScatterGroup {
                name: family.to_owned(),
                hue: kind(cell).map_or(6, |kind| kind as usize),
                kind: Measured,
                is_beside_front: !on_front,
                points: vec![point],
            }),
        }
    }
    groups
}

/// Which cold small reads the front leaves out: those without both values, and those that were not read as the drawn ones.
fn not_compared<'c, 'a: 'c>(
    reads: impl Iterator<Item = &'c Cell<'a>>,
    drawn: &[&Cell<'_>],
    has_both: impl Fn(&'c Cell<'a>) -> bool,
) -> String {
    let (others, lacking): (Vec<&Cell<'_>>, Vec<&Cell<'_>>) = reads.partition(|cell| has_both(cell));
    let naming = Naming::among(lacking.iter().copied(), &[]);
    let lacking = lacking.iter().map(|cell| naming.name(cell)).collect();
    without_value(lacking) + &behind_blank(cells_not_drawn(others, drawn))
}

/// What the name of a line says, and what it is drawn along.
const OF_BLOCKS: [FactorRef; 4] = [&FILESYSTEM, &COMPRESSION, &COMPRESSION_BLOCK_SIZE, &CLUSTER_SIZE];

/// `4 KiB `, the size of all of these reads; nothing where they differ in it, as the names of lines say then.
fn same_size<'c, 'a: 'c>(reads: impl Iterator<Item = &'c Cell<'a>>) -> String {
    let mut sizes: Vec<String> = reads.map(|cell| cell.shown(&IO_BLOCK_SIZE)).collect();
    sizes.dedup();
    match sizes.as_slice() {
        [size] if !size.is_empty() => format!("{size} "),
        _ => String::new(),
    }
}

/// A metric of cold small reads by the block or cluster that is compressed at once; where any of it was measured, with what was
/// published of records.
fn by_size(
    cells: &[Cell<'_>],
    metric: &Metric,
    title: &str,
    id: &str,
    (published, whose): (Vec<Series>, String),
) -> FigureSlot {
    let size = |cell: &Cell<'_>| {
        cell.place(&COMPRESSION_BLOCK_SIZE)
            .or_else(|| cell.place(&CLUSTER_SIZE))
    };
    let reads = cells
        .iter()
        .filter(|cell| is_cold_random_read(cell) && size(cell).is_some());
    let naming = Naming::among(reads.clone(), &OF_BLOCKS);
    let read = same_size(reads.clone());
    let lines = families(reads, &OF_BLOCKS[2..]);
    let line = |family: Vec<&Cell<'_>>| {
        let name = family.first().map_or_else(String::new, |cell| {
            let apart = naming.apart(cell, &[]);
            format!(
                "{} {}{apart}",
                cell.spelling(&FILESYSTEM),
                cell.spelling(&COMPRESSION)
            )
        });
        (name, Point::of_cells(family, size, metric, words))
    };
    let quantity = if metric.name == READ_AMPLIFICATION.name {
        Quantity::Ratio
    } else {
        Quantity::Latency
    };
    let (mut series, left_out) = left_out::lines(lines.into_iter().map(line).collect(), 1);
    let is_measured = series.iter().any(Series::is_curve);
    let (what, whose) = match is_measured && !published.is_empty() {
        true => {
            series.extend(published);
            (
                "Block of squashfs, cluster of erofs, record of ZFS as published",
                whose,
            )
        }
        false => ("Block of squashfs, cluster of erofs", String::new()),
    };
    let chart = LineChart {
        x: axis(what, Quantity::AccessSize, Scale::Log2),
        y: axis(&metric.words(), quantity, Scale::Log10),
        series,
    };
    let caption = "The size of a squashfs block is before compression, that of an erofs cluster after it.";
    chart.curves(
        id,
        title,
        format!("{caption} One cold {read}read in each extent.{left_out}{whose}"),
        "fs-read-amplification",
        "no filesystem was measured with two sizes of blocks.",
    )
}

/// p50 against what is read per second, by jobs or by offered load.
fn latency_by_load(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Latency by load";
    let reads = |closed| {
        cells
            .iter()
            .filter(move |cell| is_cold_random_read(cell) && is_closed(cell) == closed)
    };
    // A line is one kind of load: more jobs in a closed loop, or more of the highest rate in an open one.
    let mut lines = families(reads(true), &[&JOBS, &QUEUE_DEPTH, &ENGINE]);
    lines.extend(families(reads(false), &[&ARRIVAL]));
    let naming = Naming::among(reads(true), &[&JOBS, &QUEUE_DEPTH, &ENGINE]);
    let of_offered = Naming::among(reads(false), OF_LOADS);
    let line = |family: Vec<&Cell<'_>>| {
        let name = family.first().map_or_else(String::new, |cell| {
            if is_closed(cell) {
                return format!("{}, closed loop", naming.name(cell));
            }
            offered_to(cell, &of_offered)
        });
        let points = Point::of_cells(family, |cell| cell.value(&IOPS), &LATENCY.p50, words);
        (name, points)
    };
    let (series, left_out) = left_out::lines(lines.into_iter().map(line).collect(), 2);
    let chart = LineChart {
        x: axis("Reads per second", Quantity::Iops, Scale::Log10),
        y: axis("p50", Quantity::Latency, Scale::Log10),
        series,
    };
    let caption = "Cold reads of one block in each extent. A closed loop has more jobs or requests in flight from point to point; under offered load latency counts from when a read was due.";
    chart.curves(
        "fs-latency-by-load",
        TITLE,
        format!("{caption}{left_out}"),
        "fs-throughput-latency",
        "no configuration was read at two loads.",
    )
}

/// What the name of an offered load says of it.
const OF_LOADS: &[FactorRef] = &[&ARRIVAL, &JOBS, &OPERATION];

/// Whose load it is: `btrfs zstd:3, offered to 4 jobs`. Other reads than small random ones are named.
fn offered_to(cell: &Cell<'_>, naming: &Naming) -> String {
    let reads = match does(cell, FileOperation::SequentialRead) {
        true => format!(", sequential reads of {}", cell.shown(&IO_BLOCK_SIZE)),
        false => String::new(),
    };
    let (jobs, is_sized) = (cell.spelling(&JOBS), !reads.is_empty());
    let name = match is_sized {
        true => naming.name_but(cell, &[&IO_BLOCK_SIZE]),
        false => naming.name(cell),
    };
    format!("{name}{reads}, offered to {jobs} {}", plural("job", jobs))
}

fn plural(word: &str, count: &str) -> String {
    match count {
        "1" => word.to_owned(),
        _ => format!("{word}s"),
    }
}
