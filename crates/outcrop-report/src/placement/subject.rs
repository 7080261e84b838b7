//! Which data, which store and which load an answer is about.

use outcrop_schema::FactorRef;
use outcrop_schema::kv::{
    ENGINE, IN_WHAT_CANDIDATES_DIFFER, PAGE_CACHE, PROCESSES, RECORDS, SCHEMA, THREADS, WORKLOAD,
};

use crate::cell::Cell;
use crate::number::counted;

/// Which data, and which store under which load.
pub(super) fn subject(family: &[&Cell<'_>]) -> String {
    let Some(first) = family.first() else {
        return String::new();
    };
    let workload = match first.spelling(&WORKLOAD) {
        name if name.starts_with("ycsb-") => name.to_uppercase(),
        other => other.to_owned(),
    };
    let conditions = [&PROCESSES as FactorRef, &PAGE_CACHE].map(|factor| first.label(&[factor]));
    let of_others = first.apart(&unsaid());
    let engine = format!("{} under {workload}", first.label(&[&ENGINE]));
    let parts = [engine, records(family), threads(family)];
    let parts = parts.into_iter().chain(conditions).chain(of_others);
    parts
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// What a subject does not say in words, and candidates do not differ in: said where cells of the run differ in it.
fn unsaid() -> Vec<FactorRef> {
    let said: [FactorRef; 6] = [&ENGINE, &WORKLOAD, &RECORDS, &THREADS, &PROCESSES, &PAGE_CACHE];
    let is_said = |factor: FactorRef| {
        let mut known = said.iter().chain(IN_WHAT_CANDIDATES_DIFFER.iter());
        known.any(|known| known.name == factor.name)
    };
    SCHEMA
        .workload
        .iter()
        .copied()
        .filter(|factor| !is_said(*factor))
        .collect()
}

/// How many records, and the data that their values are of: `20,000 records of dickens 5.35 MB`.
pub(super) fn records(family: &[&Cell<'_>]) -> String {
    // A family is of one subject.
    let Some(first) = family.first() else {
        return String::new();
    };
    let count = first.place(&RECORDS).map_or_else(String::new, thousands);
    match first.subject().strip_prefix("databases of ") {
        Some("generated values") | None => format!("{count} generated records"),
        Some(values) => format!("{count} records of {values}"),
    }
}

/// `1 thread`: a run may have others that do more operations with more.
pub(super) fn threads(family: &[&Cell<'_>]) -> String {
    let count = family.first().and_then(|first| first.get(&THREADS));
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
