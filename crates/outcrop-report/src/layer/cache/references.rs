//! Published figures beside ours.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::Metric;
use outcrop_results::{Reference, ReferenceRow};
use outcrop_schema::FactorRef;
use outcrop_schema::cache::{
    BUILD, HIT_RATIO, HITS_PER_REQUEST, ITEM_MEMORY, KEYS, LOAD_FACTOR, MEMORY, PUBLISHED_HIT_RATIO,
    REQUEST_MIX, REQUESTS, SCHEMA, VALUE_POOL, WORKLOAD,
};
use outcrop_schema::metrics::AS_PUBLISHED;

use super::cell::{evicts, is_closed_loop, listed};
use crate::cell::Cell;
use crate::finding::{About, Finding};
use crate::layer::published;
use crate::number::Number;
use crate::section::{ReferenceSection, Table};

const CAPTION: &str = "Another machine and another server: compare the shapes, not the values.";
const HEAD: [&str; 4] = ["load", "what", "measured here", "earlier study (published)"];

/// Nothing measured here.
const ABSENT: &str = "–";

/// What publications state of the load.
const LOAD: [FactorRef; 9] = [
    &WORKLOAD,
    &REQUEST_MIX,
    &REQUESTS,
    &KEYS,
    &VALUE_POOL,
    &MEMORY,
    &ITEM_MEMORY,
    &LOAD_FACTOR,
    &BUILD,
];
/// Ratios that differ by less agree: the published ones have two decimals, and ours are of other draws.
const AGREEING: f64 = 0.02;
/// Tables of fewer figures are equal by chance.
const FEWEST_COPIED: usize = 3;

/// Everything published about caches that ships.
pub(super) fn sections(cells: &[Cell<'_>]) -> Vec<ReferenceSection> {
    let section = |reference: Reference| {
        let rows = reference.rows.iter().map(|row| beside(row, cells));
        let table = Table::new(CAPTION, &HEAD, rows);
        let found = [copied_column(&reference), ratio_of_gets(&reference, cells)];
        let found = found.into_iter().flatten();
        let findings = found.map(|finding| finding.about(About::Publication)).collect();
        let tables = own_tables(&reference, cells);
        ReferenceSection::of(reference, findings, table).with_tables(tables)
    };
    published(&SCHEMA).into_iter().map(section).collect()
}

/// The tables that a publication consists of, as its sources tell them apart, each by the one factor that varies in it: our
/// figures beside the published ones. None where this run has nothing to put there.
fn own_tables(reference: &Reference, cells: &[Cell<'_>]) -> Vec<Table> {
    if !reference.rows.iter().any(|row| like(row, cells).is_some()) {
        return Vec::new();
    }
    let mut sources: Vec<&str> = Vec::new();
    for row in &reference.rows {
        if !sources.contains(&row.source.as_str()) {
            sources.push(&row.source);
        }
    }
    let tables = sources.into_iter().filter_map(|source| {
        let rows: Vec<&ReferenceRow> = reference.rows.iter().filter(|row| row.source == source).collect();
        own_table(source, &rows, cells)
    });
    tables.collect()
}

fn own_table(source: &str, rows: &[&ReferenceRow], cells: &[Cell<'_>]) -> Option<Table> {
    let spelled = |row: &ReferenceRow, factor: FactorRef| {
        let factors = SCHEMA.read(&row.factors);
        factors.spelling(factor).map(str::to_owned)
    };
    let varies = |factor: &FactorRef| {
        let values: BTreeSet<_> = rows.iter().map(|row| spelled(row, *factor)).collect();
        values.len() > 1
    };
    let mut varying = LOAD.into_iter().filter(varies);
    let (factor, None) = (varying.next()?, varying.next()) else {
        return None;
    };
    let mut metrics: Vec<&str> = Vec::new();
    let mut values: Vec<Option<String>> = Vec::new();
    for row in rows {
        if !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
        let value = spelled(row, factor);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let head = metrics.iter().flat_map(|metric| {
        let ours = readings(metric)
            .into_iter()
            .map(|own| format!("{}, here", words(own.name)));
        ours.chain([format!("{}, published", words(metric))])
            .collect::<Vec<_>>()
    });
    let of_value = |value: &Option<String>| {
        let figures = metrics.iter().flat_map(|metric| {
            let row = rows
                .iter()
                .find(|row| row.metric == *metric && spelled(row, factor) == *value);
            let of_row = |own: Metric| row.map_or(ABSENT.to_owned(), |row| of(&own, row, cells));
            let ours = readings(metric).into_iter().map(of_row);
            let theirs = row.map_or(ABSENT.to_owned(), |row| row.unit.format(row.value));
            ours.chain([theirs]).collect::<Vec<_>>()
        });
        let first = value.clone().unwrap_or_else(|| "not stated".to_owned());
        std::iter::once(first).chain(figures).collect()
    };
    let caption = source.rsplit(", ").next().unwrap_or(source);
    Some(Table {
        caption: format!("The publication's {caption}. {CAPTION}"),
        head: std::iter::once(factor.name.replace('_', " "))
            .chain(head)
            .collect(),
        rows: values.iter().map(of_value).collect(),
    })
}

/// No two tables of a publication have the same figures in one of their columns.
fn copied_column(reference: &Reference) -> Option<Finding> {
    let mut columns: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for row in &reference.rows {
        let column = columns.entry((&row.metric, &row.source)).or_default();
        column.push(row.value.to_bits());
    }
    let columns: Vec<_> = columns
        .into_iter()
        .filter(|(_, values)| values.iter().collect::<BTreeSet<_>>().len() >= FEWEST_COPIED)
        .collect();
    let pairs = columns.iter().enumerate().flat_map(|(at, one)| {
        let others = columns.get(at + 1..).unwrap_or_default();
        others.iter().map(move |other| (one, other))
    });
    let of_one_metric: Vec<_> = pairs.filter(|(one, other)| one.0.0 == other.0.0).collect();
    if of_one_metric.is_empty() {
        return None;
    }
    let copied: Vec<String> = of_one_metric
        .iter()
        .filter(|(one, other)| one.1 == other.1)
        .map(|(one, other)| format!("{} of \"{}\" and of \"{}\"", one.0.0, one.0.1, other.0.1))
        .collect();
    let tested = format!(
        "{} pairs of columns of the same metric in different tables; equal, value by value: {}.",
        of_one_metric.len(),
        if copied.is_empty() {
            "none".to_owned()
        } else {
            copied.join(", ")
        }
    );
    let sentence = "No two published tables have the same column of figures.";
    let finding = Finding::tested("tables-differ", sentence, copied.is_empty(), tested);
    Some(
        finding
            .otherwise("One column was copied from the other table: at least one of them was not measured."),
    )
}

/// Whether a published hit ratio counts gets, as the word says, or all requests.
fn ratio_of_gets(reference: &Reference, cells: &[Cell<'_>]) -> Option<Finding> {
    let published = reference
        .rows
        .iter()
        .filter(|row| row.metric == PUBLISHED_HIT_RATIO.name);
    let ours = published.filter_map(|row| {
        let cell = like(row, cells)?;
        Some((row.value, cell.value(&HIT_RATIO)?, cell.value(&HITS_PER_REQUEST)?))
    });
    let ours: Vec<(f64, f64, f64)> = ours.collect();
    if ours.is_empty() {
        return None;
    }
    let agree = |near: &dyn Fn(&(f64, f64, f64)) -> f64| {
        ours.iter()
            .filter(|one| (one.0 - near(one)).abs() <= AGREEING)
            .count()
    };
    let (of_gets, of_all) = (agree(&|one| one.1), agree(&|one| one.2));
    let tested = format!(
        "{} published hit ratios, compared with those measured here under the same load: {of_gets} agree within {AGREEING} with hits over gets, {of_all} with \
         hits over all requests.",
        ours.len()
    );
    let (id, sentence) = (
        "hit-ratio-is-of-gets",
        "The published hit ratio is hits over gets.",
    );
    if of_gets == of_all {
        let why = format!("{tested} Neither explains more of them than the other");
        return Some(Finding::not_testable(id, sentence, why));
    }
    let finding = Finding::tested(id, sentence, of_gets > of_all, tested);
    Some(finding.otherwise(
        "Hits were divided by all requests, including sets and deletes: the figure means less than it seems to.",
    ))
}

/// A published figure beside that of a closed loop of the same load, as far as it is stated.
fn beside(row: &ReferenceRow, cells: &[Cell<'_>]) -> Vec<String> {
    let factors = SCHEMA.read(&row.factors);
    let load = LOAD
        .into_iter()
        .filter_map(|factor| Some((factor, factors.spelling(factor)?)));
    let load: Vec<(FactorRef, &str)> = load.collect();
    let word = |(factor, value): &(FactorRef, &str)| factor.labelled(value).unwrap_or((*value).to_owned());
    vec![
        listed(load.iter().map(word)),
        words(&row.metric),
        here(row, cells),
        row.unit.format(row.value),
    ]
}

/// Our figure for a published one: of two readings both, each with its name.
fn here(row: &ReferenceRow, cells: &[Cell<'_>]) -> String {
    let readings = readings(&row.metric);
    let named = |own: &Metric| match readings.len() {
        1 => of(own, row, cells),
        _ => format!("{} {}", words(own.name), of(own, row, cells)),
    };
    match like(row, cells) {
        Some(_) if !readings.is_empty() => readings.iter().map(named).collect::<Vec<_>>().join(", "),
        _ => ABSENT.to_owned(),
    }
}

/// The figures of ours that a published one may be: a hit ratio that does not say what it divides by, either of two.
fn readings(metric: &str) -> Vec<Metric> {
    match metric == PUBLISHED_HIT_RATIO.name {
        true => vec![HIT_RATIO, HITS_PER_REQUEST],
        false => SCHEMA.metric(metric).into_iter().collect(),
    }
}

/// The name of a metric in words; that it is as published, its column says.
fn words(metric: &str) -> String {
    metric
        .strip_suffix(AS_PUBLISHED)
        .unwrap_or(metric)
        .replace('_', " ")
}

/// A figure of our cell with the load of a published one.
fn of(metric: &Metric, row: &ReferenceRow, cells: &[Cell<'_>]) -> String {
    let here = like(row, cells).and_then(|cell| cell.number(metric));
    here.map_or_else(|| ABSENT.to_owned(), Number::to_string)
}

/// The cell of a closed loop with the load of a published figure, as far as that is stated.
fn like<'c, 'r>(row: &ReferenceRow, cells: &'c [Cell<'r>]) -> Option<&'c Cell<'r>> {
    let factors = SCHEMA.read(&row.factors);
    let is_as_stated = |cell: &Cell<'_>| {
        LOAD.into_iter().all(|factor| {
            let stated = factors.spelling(factor);
            stated.is_none_or(|stated| cell.spelling(factor) == stated)
        })
    };
    // Where no build is stated, it is the usual one, as this program is.
    let build = factors.get(&BUILD).cloned().unwrap_or_default();
    let has_build = |cell: &Cell<'_>| cell.get(&BUILD).is_none_or(|seen| *seen == build);
    cells
        .iter()
        .find(|cell| is_closed_loop(cell) && evicts(cell) && is_as_stated(cell) && has_build(cell))
}
