//! Published figures that ours have no axes for, or whose axes a run has not: offered load, plotted against logged bandwidth, updates against reads; and
//! zstd's table of 2017 with our figures of the same.

use outcrop_measure::metric::{Better, Metric};
use outcrop_schema::filesystem::{
    COMPRESSION, JOBS, LATENCY, LOGGED_READ_BANDWIDTH, LOGGED_WRITE_BANDWIDTH, OFFERED, OFFERED_SHARE,
    PUBLISHED_LATENCY, PUBLISHED_READ_BANDWIDTH, PUBLISHED_TAIL, PUBLISHED_UPDATE_LATENCY,
    PUBLISHED_WRITE_BANDWIDTH, PUBLISHED_WRITE_LATENCY, QUEUE_DEPTH, RECORD_SIZE, SPACE_RATIO,
    WRITE_THROUGHPUT,
};
use outcrop_workload::filesystem::FilesystemKind;

use super::super::cell::{configuration, is_closed, is_cold_random_read, is_fresh, kind, words};
use super::super::naming::Naming;
use super::super::published::{DASHED, Published, has};
use super::super::references::UPDATE_BYTES;
use crate::cell::Cell;
use crate::chart::SeriesKind::{self, Measured};
use crate::chart::{
    Bar, BarChart, BarGroup, Facet, Figure, LineChart, Part, Point, Quantity, Scale, ScatterChart,
    ScatterGroup, ScatterPoint, Series, axis,
};
use crate::section::FigureSlot;

/// The bars of a subject: what is plotted next to the most that the logs have.
const BANDWIDTHS: [(&str, Metric); 4] = [
    ("read, as plotted", PUBLISHED_READ_BANDWIDTH),
    ("read, most in the logs", LOGGED_READ_BANDWIDTH),
    ("write, as plotted", PUBLISHED_WRITE_BANDWIDTH),
    ("write, most in the logs", LOGGED_WRITE_BANDWIDTH),
];

/// Latencies that are plotted of a subject; the first is drawn of ours as well.
const LATENCIES: [(&str, Metric); 2] = [("read", PUBLISHED_LATENCY), ("write", PUBLISHED_WRITE_LATENCY)];

/// Those whose references a reader asked for, without those that are drawn beside ours already.
pub(super) fn all(
    cells: &[Cell<'_>],
    published: &Published,
    load_is_drawn: bool,
    tail_is_drawn: bool,
) -> Vec<FigureSlot> {
    let figures = [
        latency_by_load(published).filter(|_| !load_is_drawn),
        tail_by_load(published).filter(|_| !tail_is_drawn),
        bandwidths(published),
        latencies(cells, published),
        update_over_read(published),
        space_against_writing(cells, published),
    ];
    figures.into_iter().flatten().map(FigureSlot::Drawn).collect()
}

fn latency_by_load(published: &Published) -> Option<Figure> {
    let chart = LineChart {
        x: axis("Offered load, MB/s", Quantity::Count, Scale::Linear),
        y: axis("Latency, as published", Quantity::Latency, Scale::Log10),
        series: published.lines(&OFFERED, &PUBLISHED_LATENCY, 0),
    };
    let caption = published.caption(DASHED, has(&OFFERED, &PUBLISHED_LATENCY));
    chart.draw(
        "fs-latency-by-load-published",
        "Latency by offered load, as published",
        caption.trim_start().to_owned(),
    )
}

fn tail_by_load(published: &Published) -> Option<Figure> {
    let chart = LineChart {
        x: axis(
            "Offered load, share of the highest",
            Quantity::Percent,
            Scale::Linear,
        ),
        y: axis("p99.9 − p50, as published", Quantity::Latency, Scale::Log10),
        series: published.lines(&OFFERED_SHARE, &PUBLISHED_TAIL, 0),
    };
    let caption = published.caption(DASHED, has(&OFFERED_SHARE, &PUBLISHED_TAIL));
    chart.draw(
        "fs-tail-by-load-published",
        "Tail of the latency by offered load, as published",
        caption.trim_start().to_owned(),
    )
}

/// Bandwidths as they are plotted, and the most that the shipped logs have.
fn bandwidths(published: &Published) -> Option<Figure> {
    let is_wanted = |cell: &Cell<'_>| BANDWIDTHS.iter().any(|(_, metric)| cell.value(metric).is_some());
    let mut groups = Vec::new();
    for (subject, cells) in published.by_subject(is_wanted) {
        let mut bars = Vec::new();
        for (part, (_, metric)) in BANDWIDTHS.iter().enumerate() {
            let number = cells.iter().find_map(|cell| cell.number(metric));
            bars.extend(number.map(|number| Bar::of(SeriesKind::Published, part, number, subject)));
        }
        groups.push(BarGroup {
            label: subject.to_owned(),
            bars,
        });
    }
    let chart = BarChart {
        value: axis("Bandwidth, as published", Quantity::Bandwidth, Scale::Linear),
        parts: Part::all(BANDWIDTHS.iter().map(|(name, _)| *name)),
        facets: vec![Facet {
            title: String::new(),
            groups,
        }],
    };
    let caption = published.caption("Pale", is_wanted);
    chart.draw(
        "fs-bandwidth-published",
        "Bandwidth of btrfs, as published",
        caption.trim_start().to_owned(),
    )
}

/// Latencies of btrfs as they are plotted, and those of our cold small reads of it, one at a time; only where the former are asked for.
fn latencies(cells: &[Cell<'_>], published: &Published) -> Option<Figure> {
    let is_wanted = |cell: &Cell<'_>| {
        // Those by load or record have an axis.
        let has_axis = cell.place(&OFFERED).is_some() || cell.place(&RECORD_SIZE).is_some();
        !has_axis && LATENCIES.iter().any(|(_, metric)| cell.value(metric).is_some())
    };
    let mut groups: Vec<BarGroup> = Vec::new();
    for (subject, cells) in published.by_subject(is_wanted) {
        let mut bars = Vec::new();
        for (part, (_, metric)) in LATENCIES.iter().enumerate() {
            let number = cells.iter().find_map(|cell| cell.number(metric));
            bars.extend(number.map(|number| Bar::of(SeriesKind::Published, part, number, subject)));
        }
        groups.push(BarGroup {
            label: format!("published: {subject}"),
            bars,
        });
    }
    if groups.is_empty() {
        return None;
    }
    let reads = cells.iter().filter(|cell| {
        let is_btrfs = kind(cell) == Some(FilesystemKind::Btrfs);
        is_btrfs
            && is_cold_random_read(cell)
            && is_closed(cell)
            && cell.is(&JOBS, &1)
            && cell.is(&QUEUE_DEPTH, &1)
    });
    let naming = Naming::among(reads.clone(), &[]);
    let ours = reads.filter_map(|cell| {
        let number = cell.number(&LATENCY.p50)?;
        Some(BarGroup {
            label: format!("{}, this run", naming.name(cell)),
            bars: vec![Bar::of(Measured, 0, number, &words(cell))],
        })
    });
    groups.extend(ours);
    let chart = BarChart {
        value: axis("Latency", Quantity::Latency, Scale::Log10),
        parts: Part::all(LATENCIES.iter().map(|(name, _)| *name)),
        facets: vec![Facet {
            title: String::new(),
            groups,
        }],
    };
    let caption = published.caption("Pale", is_wanted);
    chart.draw(
        "fs-latency-published",
        "Latency of btrfs, as published and measured",
        format!(
            "The figures of this run are the p50 of cold random reads, one at a time. What compression adds to a read is \
             comparable; the latencies are not, because the publication does not state its block size and statistic.{caption}"
        ),
    )
}

/// How long an update of a part of a record takes, as a multiple of the read that it contains.
fn update_over_read(published: &Published) -> Option<Figure> {
    let ratio =
        |cell: &Cell<'_>| Some(cell.value(&PUBLISHED_UPDATE_LATENCY)? / cell.value(&PUBLISHED_LATENCY)?);
    let is_larger = |cell: &Cell<'_>| cell.get(&RECORD_SIZE).is_some_and(|size| size.0 > UPDATE_BYTES);
    let is_wanted = |cell: &Cell<'_>| is_larger(cell) && ratio(cell).is_some();
    let mut series = Vec::new();
    for (hue, (subject, cells)) in published.by_subject(is_wanted).into_iter().enumerate() {
        let point = |cell: &&Cell<'static>| {
            let (size, ratio) = (cell.place(&RECORD_SIZE)?, ratio(cell)?);
            let note = format!(
                "{subject}, {}: {ratio:.2} × the read",
                cell.spelling(&RECORD_SIZE)
            );
            Some(Point::bare(size, ratio, note))
        };
        let mut points: Vec<Point> = cells.iter().filter_map(point).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        let name = format!("published: {subject}");
        series.push(Series::new(name, hue, SeriesKind::Published, points));
    }
    let chart = LineChart {
        x: axis("Record", Quantity::AccessSize, Scale::Log2),
        y: axis(
            "4 KiB update ÷ read, as published",
            Quantity::Ratio,
            Scale::Fitted,
        ),
        series,
    };
    let caption = published.caption(DASHED, is_wanted);
    chart.draw(
        "fs-update-over-read-published",
        "Update latency as a multiple of read latency, as published",
        format!("Records that are larger than the update. Below 1 it takes less than the read that it contains.{caption}"),
    )
}

/// Space against writing of btrfs by compression, ours and zstd's table; only where that is asked for.
fn space_against_writing(cells: &[Cell<'_>], published: &Published) -> Option<Figure> {
    let has_both =
        |cell: &Cell<'_>| cell.value(&WRITE_THROUGHPUT).is_some() && cell.value(&SPACE_RATIO).is_some();
    let subjects = published.by_subject(has_both);
    if subjects.is_empty() {
        return None;
    }
    let point = |cell: &Cell<'_>| {
        let (write, space) = (cell.number(&WRITE_THROUGHPUT)?, cell.value(&SPACE_RATIO)?);
        let name = configuration(cell);
        let note = format!(
            "{name}: space {space:.2}, written at {write} ({})",
            write.certainty()
        );
        Some(ScatterPoint {
            label: cell.spelling(&COMPRESSION).to_owned(),
            note,
            ..ScatterPoint::of(write, space, &name)
        })
    };
    // What is done with the files after they were written has no part in it.
    let mut ours: Vec<ScatterPoint> = Vec::new();
    let is_btrfs = |cell: &&Cell<'_>| kind(cell) == Some(FilesystemKind::Btrfs) && is_fresh(cell);
    for one in cells.iter().filter(is_btrfs).filter_map(point) {
        if !ours.iter().any(|other| other.cell == one.cell) {
            ours.push(one);
        }
    }
    let group = |name: String, hue: usize, kind: SeriesKind, points: Vec<ScatterPoint>| ScatterGroup {
        name,
        hue,
        kind,
        is_beside_front: false,
        points,
    };
    let mut groups = vec![group("btrfs, this run".to_owned(), 0, Measured, ours)];
    for (place, (subject, cells)) in subjects.into_iter().enumerate() {
        let points = cells.into_iter().filter_map(point).collect();
        let name = format!("published: {subject}");
        groups.push(group(name, place + 1, SeriesKind::Published, points));
    }
    let chart = ScatterChart {
        x: axis("Write throughput", Quantity::Bandwidth, Scale::Log10),
        y: axis("Data ÷ space", Quantity::Ratio, Scale::Fitted),
        x_better: Better::Higher,
        groups,
        front_name: None,
    };
    let caption = published.caption("Hollow", has_both);
    chart.draw(
        "fs-space-against-writing",
        "Space against writing, by compression",
        format!("Right and up is better. Data and machines differ: compare the shapes.{caption}"),
    )
}
