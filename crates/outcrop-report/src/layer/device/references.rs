//! Published figures beside ours: the same checks, and every condition that is not stated.

use outcrop_measure::metric::{Better, Unit};
use outcrop_results::references::NOT_STATED;
use outcrop_results::{Reference, ReferenceKind, ReferenceRow};
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    ACCESS_PATTERN, IO_BLOCK_SIZE, IOPS, LATENCY, PUBLISHED_MEAN_LATENCY, QUEUE_DEPTH, READ_WRITE_MIX,
    SCHEMA, SKU, SPAN, STATE,
};

use super::cell::DeviceCell;
use super::{LAYER, findings};
use crate::cell::Cell;
use crate::layer::published;
use crate::section::{ReferenceSection, Table};

/// A reference that ships, with its rows as cells.
pub(super) type Published = (Reference, Vec<Cell<'static>>);

/// The references of this layer that ship.
pub(super) fn shipped() -> Vec<Published> {
    let with_cells = |reference: Reference| {
        let mut cells = Cell::published(&SCHEMA, &reference);
        cells.sort_by(|one, other| one.compare(other, LAYER.order));
        (reference, cells)
    };
    published(&SCHEMA).into_iter().map(with_cells).collect()
}

/// What the page says about each reference.
pub(super) fn sections(published: &[Published], ours: &[Cell<'_>]) -> Vec<ReferenceSection> {
    let section = |(reference, cells): &Published| {
        let (findings, table) = match reference.kind {
            ReferenceKind::Datasheet => (Vec::new(), claims(reference, ours)),
            ReferenceKind::Measurement => (findings::of_published(cells), beside(cells, ours)),
        };
        ReferenceSection::of(reference.clone(), findings, table)
    };
    published.iter().map(section).collect()
}

/// What a claim should state.
const CONDITIONS: [FactorRef; 7] = [
    &SKU,
    &ACCESS_PATTERN,
    &READ_WRITE_MIX,
    &IO_BLOCK_SIZE,
    &QUEUE_DEPTH,
    &SPAN,
    &STATE,
];

/// What of these conditions a claim states, a measured cell must share to stand next to it.
const SHARED: [FactorRef; 4] = [&ACCESS_PATTERN, &READ_WRITE_MIX, &IO_BLOCK_SIZE, &QUEUE_DEPTH];

/// The best of this run's cells that share what the claim states, with what tells it from the others.
fn measured_here(row: &ReferenceRow, ours: &[Cell<'_>]) -> Option<String> {
    let metric = SCHEMA
        .metric(&row.metric)
        .filter(|metric| metric.better == Some(Better::Higher))?;
    let states = |cell: &&Cell<'_>, factor: FactorRef| {
        let stated = row.factors.get(factor.name);
        stated.is_none_or(|stated| stated == NOT_STATED || stated == cell.spelling(factor))
    };
    let comparable = ours
        .iter()
        .filter(|cell| SHARED.into_iter().all(|factor| states(cell, factor)));
    let best = comparable
        .filter_map(|cell| Some((cell, cell.number(&metric)?)))
        .max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    Some(format!(
        "{} ({}, {}{})",
        best.1,
        best.0.access(),
        best.0.depth_words(),
        best.0.circumstances()
    ))
}

/// A datasheet's claims with their conditions, said or not, and the best that was measured here under what they state.
fn claims(reference: &Reference, ours: &[Cell<'_>]) -> Table {
    let mut head = vec!["device".to_owned()];
    head.extend(CONDITIONS.iter().map(|factor| factor.words()));
    head.extend(["claim", "best measured here", "published by"].map(str::to_owned));
    let row = |row: &ReferenceRow| {
        let condition = |factor: &FactorRef| row.factors.get(factor.name).map_or(NOT_STATED, String::as_str);
        let metric = SCHEMA.metric(&row.metric);
        let value = metric.map_or_else(|| row.unit.format(row.value), |metric| metric.format(row.value));
        let claim = match row.unit {
            Unit::PerSecond => value,
            _ => format!("{value} {}", row.metric),
        };
        let mut cells = vec![row.subject.as_str()];
        cells.extend(CONDITIONS.iter().map(condition));
        let here = measured_here(row, ours).unwrap_or_else(|| "–".to_owned());
        cells.extend([claim.as_str(), here.as_str(), row.source.as_str()]);
        cells.iter().map(|cell| cell.trim().to_owned()).collect()
    };
    Table {
        caption:
            "Published claims, and this run's best cell under the conditions that each one states. The devices \
                  differ, and a claim without span, depth or state of the drive cannot be turned into a ratio."
                .to_owned(),
        head,
        rows: reference.rows.iter().map(row).collect(),
    }
}

/// Published cells that this run measured too, side by side without a ratio.
fn beside(published: &[Cell<'_>], ours: &[Cell<'_>]) -> Table {
    let same = |one: &Cell<'_>, other: &Cell<'_>| {
        let agree = |factor: FactorRef| one.spelling(factor) == other.spelling(factor);
        let factors: [FactorRef; 4] = [&IO_BLOCK_SIZE, &QUEUE_DEPTH, &READ_WRITE_MIX, &ACCESS_PATTERN];
        one.jobs() == other.jobs() && factors.into_iter().all(agree)
    };
    let row = |theirs: &Cell<'_>| {
        let mine = ours.iter().find(|cell| same(cell, theirs))?;
        // What was measured here is named as it was; how the publication differs stands with it.
        let (own, other) = (mine.words(), theirs.words());
        let label = match own == other {
            true => own,
            false => format!("{own} (published: {other})"),
        };
        Some(vec![
            label,
            mine.number_or_dash(&IOPS.both),
            theirs.number_or_dash(&IOPS.both),
            mine.number_or_dash(&LATENCY.both.mean),
            theirs.number_or_dash(&PUBLISHED_MEAN_LATENCY),
        ])
    };
    let head = [
        "cell",
        "IOPS, measured here",
        "IOPS, published",
        "mean latency, measured here",
        "mean latency, as published",
    ];
    Table {
        caption: format!(
            "{}, next to this run's cells of the same access, mix and depth. Another device, another span and an unknown state: compare the shapes, not the ratios.",
            published.first().map_or("", Cell::subject)
        ),
        head: head.map(str::to_owned).to_vec(),
        rows: published.iter().filter_map(row).collect(),
    }
}
