//! The figures of the filesystem layer.

mod as_published;
mod tail;

use outcrop_measure::metric::{Better, Metric};
use outcrop_schema::filesystem::{
    AGE, ARRIVAL, BANDWIDTH, CLUSTER_SIZE, COMPRESSION_BLOCK_SIZE, ENGINE, FILESYSTEM, IOPS, JOBS, LATENCY,
    OPERATION, PUBLISHED_LATENCY, QUEUE_DEPTH, READ_AMPLIFICATION, RECORD_SIZE, SPACE_RATIO, SYNC,
    WRITE_AMPLIFICATION,
};
use outcrop_workload::filesystem::{FileOperation, FilesystemKind};

use super::cell::{configuration, does, is_closed, is_cold_random_read, is_cold_read, is_fresh, kind, words};
use super::published::{DASHED, Published, has};
use crate::cell::{Cell, families};
use crate::chart::SeriesKind::Measured;
use crate::chart::{
    Bar, BarChart, BarGroup, Facet, LineChart, Part, Point, Quantity, Scale, ScatterChart, ScatterGroup,
    ScatterPoint, Segment, Series, axis,
};
use crate::number::Number;
use crate::section::FigureSlot;

/// Lines that a reader can follow.
const MOST_LINES: usize = 8;
/// Bars of a chart.
const MOST_BARS: usize = 24;
/// Colours of published lines follow those of squashfs and erofs.
const PUBLISHED_HUE: usize = 2;
/// The plan that offers loads.
const PLAN_OF_LOAD: &str = "fs-throughput-latency";

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
        tail::tail_by_load(cells),
    ];
    slots.extend(as_published::all(cells, published));
    slots.extend([
        amplification_of_writes(cells),
        reads_after_ageing(cells),
        small_files(cells),
    ]);
    slots
}

/// Space against the latency of a cold small read, and the front that no configuration beats.
fn space_against_latency(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Space against latency of a cold small read";
    let is_wanted = |cell: &&Cell<'_>| is_cold_random_read(cell) && is_closed(cell) && cell.is(&JOBS, &1);
    let points: Vec<(&Cell<'_>, &Number, f64)> = cells
        .iter()
        .filter(is_wanted)
        .filter_map(|cell| Some((cell, cell.number(&LATENCY.p50)?, cell.value(&SPACE_RATIO)?)))
        .collect();
    if points.len() < 2 {
        let reason = "fewer than two configurations were read cold.";
        return FigureSlot::missing(TITLE, reason, "fs-choice");
    }
    let mut groups: Vec<ScatterGroup> = Vec::new();
    for (cell, latency, space) in &points {
        let beats = |other: &&(&Cell<'_>, &Number, f64)| {
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
    let chart = ScatterChart {
        x: axis("p50 of a cold small read", Quantity::Latency, Scale::Log10),
        y: axis("Data ÷ space", Quantity::Ratio, Scale::Fitted),
        x_better: Better::Lower,
        groups,
        front_name: Some("front".to_owned()),
    };
    let caption = "Left and up is better. The line joins the configurations that no other measured one beats in both; space includes metadata.";
    FigureSlot::of(
        chart.draw("fs-space-against-latency", TITLE, caption.to_owned()),
        TITLE,
        "fs-choice",
    )
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
    let lines = families(reads, &[&COMPRESSION_BLOCK_SIZE, &CLUSTER_SIZE]);
    let line = |(hue, family): (usize, Vec<&Cell<'_>>)| {
        let name = family.first().map_or_else(String::new, |cell| {
            format!(
                "{} {}",
                cell.spelling(&FILESYSTEM),
                cell.spelling(&outcrop_schema::filesystem::COMPRESSION)
            )
        });
        Series::new(name, hue, Measured, Point::of_cells(family, size, metric, words))
    };
    let quantity = if metric.name == READ_AMPLIFICATION.name {
        Quantity::Ratio
    } else {
        Quantity::Latency
    };
    let mut series: Vec<Series> = lines.into_iter().take(MOST_LINES).enumerate().map(line).collect();
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
    let caption = "The size of a squashfs block is that before compression, the size of an erofs cluster that after it. One cold 4 KiB read in each extent.";
    chart.curves(
        id,
        title,
        format!("{caption}{whose}"),
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
    let line = |(hue, family): (usize, Vec<&Cell<'_>>)| {
        let name = family.first().map_or_else(String::new, |cell| {
            if is_closed(cell) {
                return format!("{}, closed loop", configuration(cell));
            }
            let jobs = cell.spelling(&JOBS);
            format!(
                "{}, offered to {jobs} {}",
                configuration(cell),
                plural("job", jobs)
            )
        });
        let points = Point::of_cells(family, |cell| cell.value(&IOPS), &LATENCY.p50, words);
        Series::new(name, hue, Measured, points)
    };
    let chart = LineChart {
        x: axis("Reads per second", Quantity::Iops, Scale::Log10),
        y: axis("p50", Quantity::Latency, Scale::Log10),
        series: lines
            .into_iter()
            .filter(|family| family.len() > 1)
            .take(MOST_LINES)
            .enumerate()
            .map(line)
            .collect(),
    };
    let caption = "Cold reads of one block in each extent. A closed loop has more jobs or requests in flight from point to point; under offered load latency counts from when a read was due.";
    chart.curves(
        "fs-latency-by-load",
        TITLE,
        caption,
        "fs-throughput-latency",
        "no configuration was read at two loads.",
    )
}

fn plural(word: &str, count: &str) -> String {
    match count {
        "1" => word.to_owned(),
        _ => format!("{word}s"),
    }
}

/// Write amplification by configuration; a colour for each policy of syncing.
fn amplification_of_writes(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Write amplification";
    let writes: Vec<&Cell<'_>> = cells
        .iter()
        .filter(|cell| {
            let writes = [
                FileOperation::Overwrite,
                FileOperation::Append,
                FileOperation::Update,
            ];
            writes.iter().any(|operation| does(cell, *operation))
                && cell.value(&WRITE_AMPLIFICATION).is_some()
        })
        .take(MOST_BARS)
        .collect();
    let mut syncs: Vec<String> = writes
        .iter()
        .map(|cell| cell.spelling(&SYNC).to_owned())
        .collect();
    syncs.sort();
    syncs.dedup();
    let mut groups: Vec<BarGroup> = Vec::new();
    for cell in &writes {
        let aged = if is_fresh(cell) { "" } else { ", aged" };
        let label = format!("{} {}{aged}", configuration(cell), cell.spelling(&OPERATION));
        let Some(number) = cell.number(&WRITE_AMPLIFICATION) else {
            continue;
        };
        let part = syncs
            .iter()
            .position(|sync| sync == cell.spelling(&SYNC))
            .unwrap_or(0);
        let note = format!("{}: {number} ({})", words(cell), number.certainty());
        let bar = Bar::single(Measured, Segment::of(part, number), note);
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.bars.push(bar),
            None => groups.push(BarGroup {
                label,
                bars: vec![bar],
            }),
        }
    }
    let part = |(hue, sync): (usize, String)| Part {
        name: format!("sync {sync}"),
        hue,
    };
    let chart = BarChart {
        value: axis("Device writes ÷ bytes written", Quantity::Ratio, Scale::Log10),
        parts: syncs.into_iter().enumerate().map(part).collect(),
        facets: vec![Facet {
            title: String::new(),
            groups,
        }],
    };
    let caption = "The device's counters after syncfs: data, metadata and journals. Logarithmic: a step of the axis is a factor.";
    FigureSlot::of(
        chart.draw("fs-write-amplification", TITLE, caption.to_owned()),
        TITLE,
        "fs-writes",
    )
}

/// Bandwidth of cold reads from end to end, of files as they were written and of the same after overwrites.
fn reads_after_ageing(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Cold sequential reads after ageing";
    let reads = cells.iter().filter(|cell| {
        is_cold_read(cell) && does(cell, FileOperation::SequentialRead) && cell.number(&BANDWIDTH).is_some()
    });
    let families = families(reads, &[&AGE]);
    let mut ages: Vec<String> = families
        .iter()
        .filter(|family| family.len() > 1)
        .flatten()
        .map(|cell| cell.spelling(&AGE).to_owned())
        .collect();
    ages.sort();
    ages.dedup();
    if ages.len() < 2 {
        let reason = "no configuration was read fresh and aged.";
        return FigureSlot::missing(TITLE, reason, "fs-writes");
    }
    let bar = |cell: &&Cell<'_>| {
        let number = cell.number(&BANDWIDTH)?;
        let part = ages.iter().position(|age| age == cell.spelling(&AGE))?;
        let note = format!("{}: {number} ({})", words(cell), number.certainty());
        Some(Bar::single(Measured, Segment::of(part, number), note))
    };
    let groups = families
        .iter()
        .filter(|family| family.len() > 1)
        .map(|family| BarGroup {
            label: family
                .first()
                .map_or_else(String::new, |cell| configuration(cell)),
            bars: family.iter().filter_map(bar).collect(),
        });
    let chart = BarChart {
        value: axis("Bandwidth", Quantity::Bandwidth, Scale::Linear),
        facets: vec![Facet {
            title: String::new(),
            groups: groups.take(MOST_BARS).collect(),
        }],
        parts: ages
            .iter()
            .enumerate()
            .map(|(hue, age)| Part {
                name: age.clone(),
                hue,
            })
            .collect(),
    };
    let caption = "4 KiB blocks of the files were overwritten at random, in synced rounds; then the files were read from end to end, cold.";
    FigureSlot::of(
        chart.draw("fs-reads-after-ageing", TITLE, caption.to_owned()),
        TITLE,
        "fs-writes",
    )
}

/// Cold reads of small files per second, by configuration.
fn small_files(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Small files read per second";
    let files = cells.iter().filter(|cell| does(cell, FileOperation::SmallFiles));
    let group = |cell: &Cell<'_>| {
        let number = cell.number(&IOPS)?;
        let note = format!("{}: {number}, {} of data", words(cell), cell.number(&BANDWIDTH)?);
        Some(BarGroup {
            label: configuration(cell),
            bars: vec![Bar::single(Measured, Segment::of(0, number), note)],
        })
    };
    let chart = BarChart {
        value: axis("Files per second", Quantity::Iops, Scale::Linear),
        parts: vec![Part {
            name: "opened, read and closed in directory order".to_owned(),
            hue: 0,
        }],
        facets: vec![Facet {
            title: String::new(),
            groups: files.filter_map(group).take(MOST_BARS).collect(),
        }],
    };
    let caption = "After a remount, so that data and metadata are cold.";
    FigureSlot::of(
        chart.draw("fs-small-files", TITLE, caption.to_owned()),
        TITLE,
        "fs-small-files",
    )
}
