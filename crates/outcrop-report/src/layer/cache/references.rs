//! The earlier study's figures beside ours.

use outcrop_results::references::{self, Reference, ReferenceRow};

use super::cell::Cell;
use crate::number::Number;
use crate::section::{ReferenceSection, Table};

/// Everything published about caches that ships.
pub(super) fn sections(cells: &[Cell<'_>]) -> Vec<ReferenceSection> {
    let Ok(shipped) = references::shipped() else {
        return Vec::new();
    };
    let ours = shipped
        .into_iter()
        .filter(|reference| reference.rows.iter().any(|row| row.layer == "cache"));
    ours.map(|reference| ReferenceSection {
        table: beside(&reference, cells),
        name: reference.name,
        title: reference.title,
        findings: Vec::new(),
        caveats: reference.caveats,
    })
    .collect()
}

fn beside(reference: &Reference, cells: &[Cell<'_>]) -> Table {
    let row = |row: &ReferenceRow| {
        let like = cells.iter().find(|cell| is_like(cell, row));
        let here = like.and_then(|cell| cell.number(&row.metric));
        vec![
            words(row),
            row.metric.replace('_', " "),
            here.map_or_else(|| "–".to_owned(), Number::to_string),
            row.unit.format(row.value),
        ]
    };
    let head = ["load", "what", "measured here", "earlier study (published)"];
    Table {
        caption: "Another machine, another server, and a number of requests that is not stated: read the shape, not the \
                  difference."
            .to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: reference.rows.iter().map(row).collect(),
    }
}

/// Whether a cell has every factor that the row states and plans know.
fn is_like(cell: &Cell<'_>, row: &ReferenceRow) -> bool {
    let mut stated = row
        .factors
        .iter()
        .filter(|(name, _)| KNOWN.contains(&name.as_str()));
    stated.all(|(name, value)| cell.factor(name) == value) && cell.is_closed_loop()
}

const KNOWN: [&str; 4] = ["workload", "keys", "memory", "request_mix"];

fn words(row: &ReferenceRow) -> String {
    let known = KNOWN
        .iter()
        .filter_map(|name| Some((*name, row.factors.get(*name)?)));
    let words = known.map(|(name, value)| match name {
        "keys" => format!("{value} keys"),
        _ => value.clone(),
    });
    words.collect::<Vec<_>>().join(", ")
}
