//! Published figures beside ours.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::Metric;
use outcrop_results::{
    ComparisonRow, NotComparable, Reference, ReferenceRow, RunView, Side, Verdict, beside_published,
};
use outcrop_schema::FactorRef;
use outcrop_schema::cache::{
    BUILD, HIT_RATIO, HITS_PER_REQUEST, ITEM_MEMORY, KEYS, LOAD_FACTOR, MEMORY, POLICY, PUBLISHED_HIT_RATIO,
    REQUEST_MIX, REQUESTS, SCHEMA, SERVER, VALUE_POOL, WORKLOAD,
};
use outcrop_schema::metrics::AS_PUBLISHED;

use super::cell::{is_this_build, listed, load, named, words};
use crate::cell::Cell;
use crate::finding::{About, Finding};
use crate::layer::published;
use crate::number::{Number, enumerated};
use crate::section::{ReferenceSection, Table};

const CAPTION: &str = "Another machine and another server: compare the shapes, not the values.";

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
pub(super) fn sections(run: &RunView, cells: &[Cell<'_>]) -> Vec<ReferenceSection> {
    let section = |reference: Reference| {
        let figures = figures(&reference, run, cells);
        let table = table(&reference, &figures);
        let found = [copied_column(&reference), ratio_of_gets(&figures)];
        let found = found.into_iter().flatten();
        let findings = found.map(|finding| finding.about(About::Publication)).collect();
        let tables = own_tables(&figures);
        ReferenceSection::of(reference, findings, table).with_tables(tables)
    };
    published(&SCHEMA).into_iter().map(section).collect()
}

/// A published figure, and what of the run can be compared with it.
struct Figure<'r, 'c, 'a> {
    row: &'r ReferenceRow,
    /// The cells of its load, by the rule of `compare`.
    like: Vec<&'c Cell<'a>>,
    /// Why others that it meets are not compared.
    reasons: Vec<NotComparable>,
}

fn figures<'r, 'c, 'a>(
    reference: &'r Reference,
    run: &RunView,
    cells: &'c [Cell<'a>],
) -> Vec<Figure<'r, 'c, 'a>> {
    let cell_of = |row: &ComparisonRow| {
        let factors = SCHEMA.read(&row.factors);
        let subject = row.candidate_subject.as_deref()?;
        let is_its = |cell: &&Cell<'_>| cell.subject() == subject && *cell.factors() == factors;
        cells.iter().find(is_its)
    };
    let beside = beside_published(reference, run).into_iter();
    beside
        .map(|beside| {
            let (like, unlike): (Vec<ComparisonRow>, _) =
                beside.rows.into_iter().partition(ComparisonRow::is_of_like_cells);
            let reasons = unlike.into_iter().filter_map(|row| match row.verdict {
                Verdict::NotComparable(reasons) => Some(reasons),
                _ => None,
            });
            // Where no build is stated, it is the usual one, as this program is.
            let states_build = beside.published.factors.contains_key(BUILD.name);
            let has_build = |cell: &&Cell<'_>| states_build || is_this_build(cell);
            Figure {
                row: beside.published,
                like: like.iter().filter_map(cell_of).filter(has_build).collect(),
                reasons: reasons.flatten().collect(),
            }
        })
        .collect()
}

/// Each published figure, with each cell that can be compared with it; where none can, that is said once for all.
fn table(reference: &Reference, figures: &[Figure<'_, '_, '_>]) -> Table {
    let is_any_like = figures.iter().any(|figure| !figure.like.is_empty());
    let subjects: BTreeSet<&str> = figures.iter().map(|figure| figure.row.subject.as_str()).collect();
    let published = format!("published ({})", reference.name);
    let rows = figures.iter().flat_map(|figure| {
        let row = figure.row;
        let subject = (subjects.len() > 1).then(|| row.subject.clone());
        let factors = SCHEMA.read(&row.factors);
        let word = |factor: FactorRef| {
            let value = factors.spelling(factor)?;
            Some(factor.labelled(value).unwrap_or(value.to_owned()))
        };
        let load = listed(subject.into_iter().chain(LOAD.into_iter().filter_map(word)));
        let told = move |here: Vec<String>| {
            let before = [load.clone(), words_of(&row.metric)].into_iter();
            before.chain(here).chain([row.unit.format(row.value)]).collect()
        };
        let here: Vec<Vec<String>> = match (is_any_like, figure.like.is_empty()) {
            (false, _) => vec![Vec::new()],
            (true, true) => vec![vec![ABSENT.to_owned(), ABSENT.to_owned()]],
            (true, false) => {
                let like = figure.like.iter();
                like.map(|cell| vec![words(cell), here(row, cell)]).collect()
            }
        };
        here.into_iter().map(told)
    });
    match is_any_like {
        true => Table::new(
            CAPTION,
            &["load", "what", "cell of this run", "measured here", &published],
            rows,
        ),
        false => Table::new(&none_is_like(figures), &["load", "what", &published], rows),
    }
}

/// Why nothing of the run is compared with a publication, in a sentence.
fn none_is_like(figures: &[Figure<'_, '_, '_>]) -> String {
    let mut unstated: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for reason in figures.iter().flat_map(|figure| &figure.reasons) {
        let (list, said) = match reason {
            NotComparable::ConditionNotStated {
                condition,
                side: Side::Baseline,
                ..
            } => (&mut unstated, condition.replace('_', " ")),
            other => (&mut others, other.in_short()),
        };
        if !list.contains(&said) {
            list.push(said);
        }
    }
    if !unstated.is_empty() {
        others.insert(
            0,
            format!("the publication does not state its {}", enumerated(&unstated)),
        );
    }
    let why = match others.is_empty() {
        true => "none has a load of the publication".to_owned(),
        false => others.join(", "),
    };
    format!("No cell of this run can be compared with these figures: {why}.")
}

/// The tables that a publication consists of, as its sources tell them apart, each by the one factor that varies in it: our
/// figures beside the published ones. None where this run has nothing to put there, or several cells for one place.
fn own_tables(figures: &[Figure<'_, '_, '_>]) -> Vec<Table> {
    let most = figures.iter().map(|figure| figure.like.len()).max();
    if most != Some(1) {
        return Vec::new();
    }
    let mut sources: Vec<&str> = Vec::new();
    for figure in figures {
        if !sources.contains(&figure.row.source.as_str()) {
            sources.push(&figure.row.source);
        }
    }
    let tables = sources.into_iter().filter_map(|source| {
        let its = figures.iter().filter(|figure| figure.row.source == source);
        own_table(source, &its.collect::<Vec<_>>())
    });
    tables.collect()
}

fn own_table(source: &str, figures: &[&Figure<'_, '_, '_>]) -> Option<Table> {
    let spelled = |figure: &Figure<'_, '_, '_>, factor: FactorRef| {
        let factors = SCHEMA.read(&figure.row.factors);
        factors.spelling(factor).map(str::to_owned)
    };
    let varies = |factor: &FactorRef| {
        let values: BTreeSet<_> = figures.iter().map(|figure| spelled(figure, *factor)).collect();
        values.len() > 1
    };
    let mut varying = LOAD.into_iter().filter(varies);
    let (factor, None) = (varying.next()?, varying.next()) else {
        return None;
    };
    let mut metrics: Vec<&str> = Vec::new();
    let mut values: Vec<Option<String>> = Vec::new();
    for figure in figures {
        if !metrics.contains(&figure.row.metric.as_str()) {
            metrics.push(&figure.row.metric);
        }
        let value = spelled(figure, factor);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let head = metrics.iter().flat_map(|metric| {
        let ours = readings(metric)
            .into_iter()
            .map(|own| format!("{}, here", words_of(own.name)));
        ours.chain([format!("{}, published", words_of(metric))])
            .collect::<Vec<_>>()
    });
    let of_value = |value: &Option<String>| {
        let shown = metrics.iter().flat_map(|metric| {
            let figure = figures
                .iter()
                .find(|figure| figure.row.metric == *metric && spelled(figure, factor) == *value);
            let like = figure.and_then(|figure| figure.like.first());
            let of_like = |own: Metric| like.map_or(ABSENT.to_owned(), |cell| of(&own, cell));
            let ours = readings(metric).into_iter().map(of_like);
            let theirs = figure.map_or(ABSENT.to_owned(), |figure| {
                figure.row.unit.format(figure.row.value)
            });
            ours.chain([theirs]).collect::<Vec<_>>()
        });
        let first = value.clone().unwrap_or_else(|| "not stated".to_owned());
        std::iter::once(first).chain(shown).collect()
    };
    let conditions = |cell: &&Cell<'_>| {
        let server = cell.spelling(&SERVER).to_owned();
        listed([server, named(cell, &MEMORY), named(cell, &POLICY), load(cell)])
    };
    let like = figures.iter().flat_map(|figure| &figure.like);
    let conditions: BTreeSet<String> = like.map(conditions).collect();
    let here = match conditions.is_empty() {
        true => String::new(),
        false => format!(
            " Here: {}.",
            conditions.into_iter().collect::<Vec<_>>().join("; ")
        ),
    };
    let caption = source.rsplit(", ").next().unwrap_or(source);
    Some(Table {
        caption: format!("The publication's {caption}. {CAPTION}{here}"),
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
fn ratio_of_gets(figures: &[Figure<'_, '_, '_>]) -> Option<Finding> {
    let published = figures
        .iter()
        .filter(|figure| figure.row.metric == PUBLISHED_HIT_RATIO.name);
    let pairs = published.flat_map(|figure| figure.like.iter().map(|cell| (figure.row.value, cell)));
    let ours = pairs
        .filter_map(|(value, cell)| Some((value, cell.value(&HIT_RATIO)?, cell.value(&HITS_PER_REQUEST)?)));
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
        "{} pairs of a published hit ratio and one measured here under the same load: {of_gets} agree within {AGREEING} with hits over gets, {of_all} with \
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

/// Our figure for a published one: of two readings both, each with its name.
fn here(row: &ReferenceRow, cell: &Cell<'_>) -> String {
    let readings = readings(&row.metric);
    let named = |own: &Metric| match readings.len() {
        1 => of(own, cell),
        _ => format!("{} {}", words_of(own.name), of(own, cell)),
    };
    match readings.is_empty() {
        true => ABSENT.to_owned(),
        false => readings.iter().map(named).collect::<Vec<_>>().join(", "),
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
fn words_of(metric: &str) -> String {
    metric
        .strip_suffix(AS_PUBLISHED)
        .unwrap_or(metric)
        .replace('_', " ")
}

/// A figure of a cell.
fn of(metric: &Metric, cell: &Cell<'_>) -> String {
    let here = cell.number(metric);
    here.map_or_else(|| ABSENT.to_owned(), Number::to_string)
}
