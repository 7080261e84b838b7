//! Published figures beside ours: the same checks, and every condition that is not stated.

use std::collections::BTreeMap;

use outcrop_measure::metric::Unit;
use outcrop_results::references::{self, NOT_STATED};
use outcrop_results::{Reference, ReferenceKind, ReferenceRow};

use super::cell::{Cell, words_for};
use super::findings;
use crate::number::Number;
use crate::section::{ReferenceSection, Table};

/// A shipped reference, read as cells.
pub(super) struct Published {
    /// The reference as it ships.
    reference: Reference,
    /// A name short enough for a legend: the device.
    pub(super) short_title: String,
    /// Its rows by cell.
    pub(super) cells: Vec<Cell<'static>>,
}

/// The references of this layer that ship.
pub(super) fn shipped() -> Vec<Published> {
    // A test of the results crate reads every shipped file; a broken one would only be missing here.
    let shipped = references::shipped().unwrap_or_default();
    let ours = shipped
        .into_iter()
        .filter(|reference| reference.rows.iter().any(|row| row.layer == "device"));
    ours.map(Published::of).collect()
}

impl Published {
    fn of(reference: Reference) -> Self {
        let mut cells: BTreeMap<(&str, &BTreeMap<String, String>), Cell<'static>> = BTreeMap::new();
        for row in reference.rows.iter().filter(|row| row.layer == "device") {
            let cell = cells
                .entry((&row.subject, &row.factors))
                .or_insert_with(|| Cell::with_factors(&row.factors));
            cell.numbers.insert(row.metric.clone(), number(row));
        }
        let mut cells: Vec<Cell<'static>> = cells.into_values().collect();
        cells.sort_by_key(Cell::rank);
        let short_title = reference
            .rows
            .first()
            .map_or_else(String::new, |row| row.subject.clone());
        Self {
            short_title,
            cells,
            reference,
        }
    }
}

fn number(row: &ReferenceRow) -> Number {
    Number {
        name: words_for(&row.metric),
        value: row.value,
        unit: row.unit,
        interval: None,
        n: 1,
        provenance: row.provenance,
    }
}

/// What the page says about each reference.
pub(super) fn sections(published: &[Published], ours: &[Cell<'_>]) -> Vec<ReferenceSection> {
    published.iter().map(|entry| section(entry, ours)).collect()
}

fn section(published: &Published, ours: &[Cell<'_>]) -> ReferenceSection {
    let reference = &published.reference;
    let (findings, table) = match reference.kind {
        ReferenceKind::Datasheet => (Vec::new(), claims(reference)),
        _ => (findings::of_published(&published.cells), beside(published, ours)),
    };
    ReferenceSection {
        name: reference.name.clone(),
        title: reference.title.clone(),
        findings,
        table,
        caveats: reference.caveats.clone(),
    }
}

/// A datasheet's claims with their conditions, said or not.
fn claims(reference: &Reference) -> Table {
    let conditions = [
        "sku",
        "access_pattern",
        "read_write_mix",
        "io_block_size",
        "queue_depth",
        "span",
        "state",
    ];
    let mut head = vec!["device".to_owned()];
    head.extend(conditions.iter().map(|name| name.replace('_', " ")));
    head.extend(["claim".to_owned(), "published by".to_owned()]);
    let row = |row: &ReferenceRow| {
        let mut cells = vec![row.subject.clone()];
        cells.extend(conditions.iter().map(|name| {
            row.factors
                .get(*name)
                .map_or_else(|| NOT_STATED.to_owned(), Clone::clone)
        }));
        cells.push(format!(
            "{} {}",
            number(row),
            if row.unit == Unit::PerSecond {
                ""
            } else {
                &row.metric
            }
        ));
        cells.push(row.source.clone());
        cells.iter().map(|cell| cell.trim().to_owned()).collect()
    };
    Table {
        caption:
            "Published claims. A claim without span, depth or state of the drive cannot be compared with a \
                  measurement."
                .to_owned(),
        head,
        rows: reference.rows.iter().map(row).collect(),
    }
}

/// Published cells that this run measured too, side by side without a ratio.
fn beside(published: &Published, ours: &[Cell<'_>]) -> Table {
    let same = |one: &Cell<'_>, other: &Cell<'_>| {
        one.block_size_bytes == other.block_size_bytes
            && one.queue_depth == other.queue_depth
            && one.jobs == other.jobs
            && one.read_percent == other.read_percent
            && one.access_pattern == other.access_pattern
    };
    let text = |cell: &Cell<'_>, metric: &str| {
        cell.number(metric)
            .map_or_else(|| "–".to_owned(), Number::to_string)
    };
    let row = |theirs: &Cell<'_>| {
        let mine = ours.iter().find(|cell| same(cell, theirs))?;
        Some(vec![
            theirs.words(),
            text(mine, "iops"),
            text(theirs, "iops"),
            text(mine, "latency_mean"),
            text(theirs, "latency_mean_as_published"),
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
            "{}, beside this run's cells of the same access, mix and depth. Another device, another span and an unknown \
             state: read the shapes, not the ratio.",
            published.short_title
        ),
        head: head.map(str::to_owned).to_vec(),
        rows: published.cells.iter().filter_map(row).collect(),
    }
}
