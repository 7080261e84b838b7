//! Published figures beside ours.

use outcrop_results::{Reference, ReferenceRow};
use outcrop_schema::FactorRef;
use outcrop_schema::cache::{KEYS, MEMORY, REQUEST_MIX, SCHEMA, WORKLOAD};

use super::cell::{evicts, is_closed_loop, listed};
use crate::cell::Cell;
use crate::layer::published;
use crate::number::Number;
use crate::section::{ReferenceSection, Table};

const CAPTION: &str = "Another machine, another server, and an unstated number of requests: compare the shapes, not the values.";
const HEAD: [&str; 4] = ["load", "what", "measured here", "earlier study (published)"];

/// What publications state of the load.
const LOAD: [FactorRef; 4] = [&WORKLOAD, &KEYS, &MEMORY, &REQUEST_MIX];

/// Everything published about caches that ships.
pub(super) fn sections(cells: &[Cell<'_>]) -> Vec<ReferenceSection> {
    let section = |reference: Reference| {
        let rows = reference.rows.iter().map(|row| beside(row, cells));
        let table = Table::new(CAPTION, &HEAD, rows);
        ReferenceSection::of(reference, Vec::new(), table)
    };
    published(&SCHEMA).into_iter().map(section).collect()
}

/// A published figure beside that of a closed loop of the same load, as far as it is stated.
fn beside(row: &ReferenceRow, cells: &[Cell<'_>]) -> Vec<String> {
    let factors = SCHEMA.read(&row.factors);
    let stated = |factor: FactorRef| Some((factor, factors.spelling(factor)?));
    let load: Vec<(FactorRef, &str)> = LOAD.into_iter().filter_map(stated).collect();
    let has_load = |cell: &Cell<'_>| load.iter().all(|one| cell.spelling(one.0) == one.1);
    let is_like = |cell: &&Cell<'_>| is_closed_loop(cell) && evicts(cell) && has_load(cell);
    let metric = SCHEMA.metric(&row.metric);
    let here = cells.iter().find(is_like).and_then(|cell| cell.number(&metric?));
    let word = |(factor, value): &(FactorRef, &str)| factor.labelled(value).unwrap_or((*value).to_owned());
    vec![
        listed(load.iter().map(word)),
        row.metric.replace('_', " "),
        here.map_or_else(|| "–".to_owned(), Number::to_string),
        row.unit.format(row.value),
    ]
}
