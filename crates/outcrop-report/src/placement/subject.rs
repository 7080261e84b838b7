//! Which data, which store and which load an answer is about.

use outcrop_schema::FactorRef;
use outcrop_schema::kv::{
    ENGINE, IN_WHAT_CANDIDATES_DIFFER, PAGE_CACHE, PROCESSES, RECORDS, THREADS, WORKLOAD,
};

use crate::cell::Cell;
use crate::layer::kv::factors_but;
use crate::number::counted;

/// Which data, and which store under which load.
pub(super) fn subject(family: &[&Cell<'_>]) -> String {
    let Some(first) = family.first() else {
        return String::new();
    };
    let engine = format!("{} under {}", first.label(&[&ENGINE]), workload(first));
    let parts = [engine, records(first), threads(first)].into_iter();
    listed(parts.chain(besides(first)))
}

/// Which data, and of the load what is not the same in all cells of the run: for a screen that has no room for more.
pub(super) fn in_short(family: &[&Cell<'_>]) -> String {
    let Some(first) = family.first() else {
        return String::new();
    };
    let is_apart = |factor: FactorRef| !first.apart(&[factor]).is_empty();
    let workload = is_apart(&WORKLOAD).then(|| workload(first));
    let threads = is_apart(&THREADS).then(|| threads(first));
    let parts = workload.into_iter().chain([records(first)]).chain(threads);
    listed(parts.chain(besides(first)))
}

fn workload(cell: &Cell<'_>) -> String {
    match cell.spelling(&WORKLOAD) {
        name if name.starts_with("ycsb-") => name.to_uppercase(),
        other => other.to_owned(),
    }
}

/// What is unusual, or in which cells of the run differ.
fn besides(cell: &Cell<'_>) -> impl Iterator<Item = String> {
    let conditions = [&PROCESSES as FactorRef, &PAGE_CACHE];
    let conditions = conditions.map(|factor| match cell.label(&[factor]) {
        label if label.is_empty() => cell.apart(&[factor]).concat(),
        label => label,
    });
    conditions.into_iter().chain(cell.apart(&unsaid()))
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    let said = parts.filter(|part| !part.is_empty());
    said.collect::<Vec<_>>().join(", ")
}

/// What a subject does not say in words, and candidates do not differ in: said where cells of the run differ in it.
fn unsaid() -> Vec<FactorRef> {
    let said: [FactorRef; 6] = [&ENGINE, &WORKLOAD, &RECORDS, &THREADS, &PROCESSES, &PAGE_CACHE];
    factors_but(&[&said[..], &IN_WHAT_CANDIDATES_DIFFER].concat())
}

/// How many records, and the data that their values are of: `20,000 records of dickens 5.35 MB`.
fn records(cell: &Cell<'_>) -> String {
    let count = cell.place(&RECORDS).map_or_else(String::new, thousands);
    match cell.subject().strip_prefix("databases of ") {
        Some("generated values") | None => format!("{count} generated records"),
        Some(values) => format!("{count} records of {values}"),
    }
}

/// `1 thread`: a run may have others that do more operations with more.
fn threads(cell: &Cell<'_>) -> String {
    let count = cell.get(&THREADS);
    count.map_or_else(String::new, |count| counted(*count as usize, "thread"))
}

/// `20,000`.
fn thousands(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The engine of the store, which is that of all of the family.
pub(super) fn engine(family: &[&Cell<'_>]) -> String {
    family
        .first()
        .map_or_else(String::new, |cell| cell.label(&[&ENGINE]))
}
