//! Figures of bars: write amplification, reads after ageing, small files.

use outcrop_measure::metric::Metric;
use outcrop_schema::filesystem::{AGE, BANDWIDTH, IOPS, LATENCY, OPERATION, SYNC, WRITE_AMPLIFICATION};
use outcrop_workload::filesystem::FileOperation;

use super::super::cell::{CONFIGURATION, configuration, does, is_cold_read, is_fresh, words};
use super::super::naming::Naming;
use super::left_out;
use crate::cell::{Cell, families};
use crate::chart::SeriesKind::Measured;
use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, axis};
use crate::section::{FigureSlot, LeastEffort};

/// All of them, in the order of the page.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    let mut slots = vec![amplification_of_writes(cells)];
    slots.extend(AGED.iter().map(|aged| reads_after_ageing(cells, aged)));
    slots.push(small_files(cells));
    slots
}

/// Write amplification by configuration; a colour for each policy of syncing.
fn amplification_of_writes(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Write amplification";
    let is_write = |cell: &&Cell<'_>| {
        let writes = [
            FileOperation::Overwrite,
            FileOperation::Append,
            FileOperation::Update,
        ];
        writes.iter().any(|operation| does(cell, *operation))
    };
    let has_value = |cell: &&Cell<'_>| cell.value(&WRITE_AMPLIFICATION).is_some();
    let (writes, lacking): (Vec<&Cell<'_>>, Vec<&Cell<'_>>) =
        cells.iter().filter(is_write).partition(has_value);
    let lacking = lacking.into_iter().map(words).collect();
    let (writes, left_out) = left_out::bars(writes, |cell| words(cell), lacking);
    let mut syncs: Vec<String> = writes
        .iter()
        .map(|cell| cell.spelling(&SYNC).to_owned())
        .collect();
    syncs.sort();
    syncs.dedup();
    let naming = Naming::among(writes.iter().copied(), &[&OPERATION, &SYNC, &AGE]);
    let mut groups: Vec<BarGroup> = Vec::new();
    for cell in &writes {
        let aged = match is_fresh(cell) {
            true => String::new(),
            false => format!(", {}", cell.spelling(&AGE)),
        };
        let apart = naming.apart(cell, &CONFIGURATION);
        let label = format!(
            "{} {}{aged}{apart}",
            configuration(cell),
            cell.spelling(&OPERATION)
        );
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
        chart.draw("fs-write-amplification", TITLE, format!("{caption}{left_out}")),
        TITLE,
        "fs-writes",
    )
}

/// What reads of files give as they were written, and of the same after overwrites.
struct Aged {
    operation: FileOperation,
    metric: Metric,
    quantity: Quantity,
    id: &'static str,
    title: &'static str,
    /// How the files were read.
    how: &'static str,
    /// From which effort on the plan has such reads.
    effort: LeastEffort,
}

/// From end to end, where ageing costs requests; and at random, where it spares decompression.
const AGED: [Aged; 2] = [
    Aged {
        operation: FileOperation::SequentialRead,
        metric: BANDWIDTH,
        quantity: Quantity::Bandwidth,
        id: "fs-reads-after-ageing",
        title: "Cold sequential reads after ageing",
        how: "then the files were read from end to end, cold.",
        effort: LeastEffort::Quick,
    },
    Aged {
        operation: FileOperation::RandomRead,
        metric: LATENCY.p50,
        quantity: Quantity::Latency,
        id: "fs-random-reads-after-ageing",
        title: "Cold random reads after ageing",
        how: "then one block in each extent was read, cold.",
        effort: LeastEffort::Full,
    },
];

fn reads_after_ageing(cells: &[Cell<'_>], aged: &Aged) -> FigureSlot {
    let is_read = |cell: &&Cell<'_>| is_cold_read(cell) && does(cell, aged.operation);
    let has_value = |cell: &&Cell<'_>| cell.number(&aged.metric).is_some();
    let (reads, lacking): (Vec<&Cell<'_>>, Vec<&Cell<'_>>) =
        cells.iter().filter(is_read).partition(has_value);
    let (pairs, single): (Vec<_>, Vec<_>) = families(reads, &[&AGE])
        .into_iter()
        .partition(|family| family.len() > 1);
    let mut ages: Vec<String> = pairs
        .iter()
        .flatten()
        .map(|cell| cell.spelling(&AGE).to_owned())
        .collect();
    ages.sort();
    ages.dedup();
    if ages.len() < 2 {
        let reason = "no configuration was read fresh and aged.";
        return FigureSlot::missing(aged.title, reason, "fs-writes").with_effort(aged.effort);
    }
    let bar = |cell: &&Cell<'_>| {
        let number = cell.number(&aged.metric)?;
        let part = ages.iter().position(|age| age == cell.spelling(&AGE))?;
        Some(Bar::of(Measured, part, number, &words(cell)))
    };
    let naming = Naming::among(pairs.iter().flatten().copied(), &[&AGE]);
    let name = |family: &Vec<&Cell<'_>>| {
        let first = family.first();
        first.map_or_else(String::new, |cell| naming.name(cell))
    };
    let lacking = lacking.into_iter().chain(single.into_iter().flatten()).map(words);
    let (pairs, left_out) = left_out::bars(pairs, name, lacking.collect());
    let group = |family: &Vec<&Cell<'_>>| BarGroup {
        label: name(family),
        bars: family.iter().filter_map(bar).collect(),
    };
    let chart = BarChart {
        value: axis(&aged.metric.words(), aged.quantity, Scale::Linear),
        facets: vec![Facet {
            title: String::new(),
            groups: pairs.iter().map(group).collect(),
        }],
        parts: Part::all(ages.iter().map(String::as_str)),
    };
    let caption = format!(
        "4 KiB blocks of the files were overwritten at random, in synced rounds; {}{left_out}",
        aged.how
    );
    FigureSlot::of(chart.draw(aged.id, aged.title, caption), aged.title, "fs-writes").with_effort(aged.effort)
}

/// Cold reads of small files per second, by configuration.
fn small_files(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Small files read per second";
    let files = cells.iter().filter(|cell| does(cell, FileOperation::SmallFiles));
    let has_value = |cell: &&Cell<'_>| cell.number(&IOPS).is_some() && cell.number(&BANDWIDTH).is_some();
    let (files, lacking): (Vec<&Cell<'_>>, Vec<&Cell<'_>>) = files.partition(has_value);
    let lacking = lacking.into_iter().map(words).collect();
    let (files, left_out) = left_out::bars(files, |cell| words(cell), lacking);
    let naming = Naming::among(files.iter().copied(), &[]);
    let group = |cell: &Cell<'_>| {
        let number = cell.number(&IOPS)?;
        let note = format!("{}: {number}, {} of data", words(cell), cell.number(&BANDWIDTH)?);
        Some(BarGroup {
            label: naming.name(cell),
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
            groups: files.into_iter().filter_map(group).collect(),
        }],
    };
    let caption = "After a remount, so that data and metadata are cold.";
    FigureSlot::of(
        chart.draw("fs-small-files", TITLE, format!("{caption}{left_out}")),
        TITLE,
        "fs-small-files",
    )
}
