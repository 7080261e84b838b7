//! A cache cell in words, and which cells to show where there is a choice.

use outcrop_measure::metric::Metric;
use outcrop_measure::units::{ByteSize, format_count, format_data};
use outcrop_results::CellRow;
use outcrop_schema::cache::{
    ANSWERED, ARRIVAL, BUILD, Build, CONNECTIONS, CONTENT, DRIVER_THREADS, FILL, ITEM_MEMORY, KEY_SIZE, KEYS,
    LOAD_FACTOR, MEMORY, OF_SERVERS, OFFERED, ON_MISS, PIPELINE, POLICY, POPULARITY, PROTOCOL, Policy,
    REFUSED_SHARE, REQUEST_MIX, REQUESTS, SERVER, SERVER_THREADS, SERVICE_LATENCY, STORE_BYTES, THROUGHPUT,
    UNFINISHED, VALUE_POOL, VALUE_SIZE, WORKLOAD,
};
use outcrop_schema::{About, FactorRef};
use outcrop_workload::{Arrival, Arrivals};

use crate::cell::{Cell, largest_family};
use crate::layer::lateness::Generators;
use crate::layer::overload::Overload;

/// Its server: `outcrop`, `outcrop (release)`, `memcached`; the subject where no plan started it.
pub(super) fn server(cell: &Cell<'_>) -> String {
    match cell.spelling(&SERVER) {
        "" => cell.subject().to_owned(),
        server if is_this_build(cell) => server.to_owned(),
        server => format!("{server} ({})", cell.spelling(&BUILD)),
    }
}

/// Place of its server on the page, 0 for ours and for one at a URL; the same number is the same colour.
pub(super) fn rank(cell: &Cell<'_>) -> usize {
    cell.place(&SERVER).map_or(0, |place| place as usize)
}

/// Whether it is of this build, or of a server that has no builds.
pub(super) fn is_this_build(cell: &Cell<'_>) -> bool {
    cell.get(&BUILD).is_none_or(|build| *build == Build::default())
}

/// Whether it is of the default policy and this build, as far as its server has such.
pub(super) fn is_usual(cell: &Cell<'_>) -> bool {
    let policy = cell.get(&POLICY);
    policy.is_none_or(|policy| *policy == Policy::default()) && is_this_build(cell)
}

/// Whether it makes room for what is new.
pub(super) fn evicts(cell: &Cell<'_>) -> bool {
    !cell.is(&POLICY, &Policy::None)
}

pub(super) fn is_closed_loop(cell: &Cell<'_>) -> bool {
    cell.is(&ARRIVAL, &Arrivals::Given(Arrival::Closed))
}

/// Whether a row of a table is of an open loop that was not answered in its time.
pub(super) fn is_overloaded(row: &CellRow) -> bool {
    let value = |metric: &Metric| row.figures.get(metric.name)?.estimate().map(|one| one.value);
    let is_closed = row
        .setting(&ARRIVAL)
        .is_none_or(|arrival| ARRIVAL.default == Some(arrival.spelling()));
    let answered = value(&ANSWERED).or_else(|| value(&THROUGHPUT));
    let rates = value(&OFFERED).zip(answered);
    !is_closed
        && rates.is_some_and(|(offered, answered)| {
            let refused = value(&REFUSED_SHARE).unwrap_or(0.0);
            in_time(offered, answered, refused).is_some()
        })
}

/// The overload of these rates, of which a share was refused.
fn in_time(offered: f64, answered: f64, refused: f64) -> Option<Overload> {
    Overload::of(offered, answered / (1.0 - refused.min(MOST_REFUSED)))
}

/// By how much an open loop was not answered in its time. Refusals are answers; runs of earlier versions count sets on miss in.
pub(super) fn overload(cell: &Cell<'_>) -> Option<Overload> {
    let answered = cell.value(&ANSWERED).or_else(|| cell.value(&THROUGHPUT))?;
    let refused = cell.value(&REFUSED_SHARE).unwrap_or(0.0);
    let overload = in_time(cell.value(&OFFERED)?, answered, refused)?;
    let overload = match cell.value(&UNFINISHED).filter(|waiting| *waiting > 0.0) {
        Some(waiting) => overload.with_rest(&format!("{} requests never answered", format_count(waiting))),
        None => overload,
    };
    (!is_closed_loop(cell)).then_some(overload)
}

/// A server that refuses more than this is not told from one that is overloaded.
pub(super) const MOST_REFUSED: f64 = 0.99;

/// `50 connections`, `50 connections × 8`.
pub(super) fn concurrency(cell: &Cell<'_>) -> String {
    let words = cell.label(&[&CONNECTIONS, &PIPELINE]);
    match words.strip_prefix("1 connections") {
        Some(rest) => format!("1 connection{rest}"),
        None => words,
    }
}

/// `closed loop`, `open loop, poisson:50%`: it stands at every latency.
pub(super) fn loop_words(cell: &Cell<'_>) -> String {
    match cell.spelling(&ARRIVAL) {
        _ if is_closed_loop(cell) => "closed loop".to_owned(),
        arrival => format!("open loop, {arrival}"),
    }
}

/// Its load: `50 connections × 8, closed loop`.
pub(super) fn load(cell: &Cell<'_>) -> String {
    format!("{}, {}", concurrency(cell), loop_words(cell))
}

/// What a load is besides its keys and concurrency, and what else servers are started with: said where cells of a run differ in it.
pub(super) const OTHERS: [FactorRef; 14] = [
    &WORKLOAD,
    &POPULARITY,
    &KEY_SIZE,
    &VALUE_SIZE,
    &REQUEST_MIX,
    &VALUE_POOL,
    &CONTENT,
    &ON_MISS,
    &FILL,
    &LOAD_FACTOR,
    &SERVER_THREADS,
    &PROTOCOL,
    &DRIVER_THREADS,
    &REQUESTS,
];

/// Everything but server, memory and policy in which cells of the run differ.
pub(super) fn all_apart(cell: &Cell<'_>) -> Vec<String> {
    [cell.apart(&[&ITEM_MEMORY, &KEYS]), cell.apart(&OTHERS)].concat()
}

/// Everything in which cells of the run differ, but for its server and for these factors, which the sentence on it names: `memory 8 MiB`,
/// `policy lru`, `50 connections × 8, closed loop`. A sentence that leaves any of it out is one of several cells'.
pub(super) fn told_apart(cell: &Cell<'_>, said: &[FactorRef]) -> Vec<String> {
    let is_said = |factor: FactorRef| said.iter().any(|one| one.name == factor.name);
    let sizes: [FactorRef; 2] = [&MEMORY, &POLICY];
    let sizes = sizes
        .into_iter()
        .filter(|factor| !is_said(*factor) && !cell.apart(&[*factor]).is_empty());
    let sizes: Vec<String> = sizes.map(|factor| named(cell, factor)).collect();
    let others: [FactorRef; 3] = [&BUILD, &ITEM_MEMORY, &KEYS];
    let others = others
        .into_iter()
        .chain(OTHERS)
        .filter(|factor| !is_said(*factor));
    let others = cell.apart(&others.collect::<Vec<_>>());
    let concurrency = (!is_said(&CONNECTIONS) && !cell.apart(&[&CONNECTIONS, &PIPELINE]).is_empty())
        .then(|| concurrency(cell));
    let arrival = (!is_said(&ARRIVAL) && !cell.apart(&[&ARRIVAL]).is_empty()).then(|| loop_words(cell));
    let load = concurrency.into_iter().chain(arrival).collect();
    [sizes, others, load].concat()
}

/// The same behind a comma, where there is anything to say.
pub(super) fn behind_comma(words: &[String]) -> String {
    words.iter().map(|word| format!(", {word}")).collect()
}

/// A server that counts more than this many times its memory limit does not keep to it: memcached does not below some 16 MiB.
const MOST_COUNTED: f64 = 1.1;

/// What a server counts against its memory limit, where it does not keep to that: its hit ratio is that of so much memory.
fn over_limit(counted: Option<f64>, limit: Option<f64>) -> Option<f64> {
    counted.filter(|counted| limit.is_some_and(|limit| *counted > MOST_COUNTED * limit))
}

/// The same of a cell.
pub(super) fn held_over_limit(cell: &Cell<'_>) -> Option<f64> {
    let limit = cell.get(&MEMORY).map(|limit| limit.bytes() as f64);
    over_limit(cell.value(&STORE_BYTES), limit)
}

/// The same of a row of a table.
pub(super) fn row_over_limit(row: &CellRow) -> Option<f64> {
    let counted = row.figures.get(STORE_BYTES.name)?.estimate()?.value;
    let limit: ByteSize = row.setting(&MEMORY)?.spelling().parse().ok()?;
    over_limit(Some(counted), Some(limit.bytes() as f64))
}

/// `holds 16.9 MB`: behind a memory limit that is not kept.
pub(super) fn holds(bytes: f64) -> String {
    format!("holds {}", format_data(bytes))
}

/// `memory 8 MiB`, `memory 8 MiB (holds 16.9 MB)`.
pub(super) fn named_memory(cell: &Cell<'_>) -> String {
    let memory = named(cell, &MEMORY);
    match held_over_limit(cell) {
        Some(held) => format!("{memory} ({})", holds(held)),
        None => memory,
    }
}

/// All of it: server, memory, limit of the items where there is one, policy, keys and load.
pub(super) fn words(cell: &Cell<'_>) -> String {
    let memory = named_memory(cell);
    let items = cell.label(&[&ITEM_MEMORY]);
    let policy = named(cell, &POLICY);
    let keys = cell.place(&KEYS).map_or_else(|| "?".to_owned(), format_count);
    listed([
        server(cell),
        memory,
        items,
        policy,
        format!("{keys} keys"),
        listed(cell.apart(&OTHERS)),
        load(cell),
    ])
}

/// A factor's value with its name; nothing where the cell does not have it.
pub(super) fn named(cell: &Cell<'_>, factor: FactorRef) -> String {
    match cell.shown(factor) {
        value if value.is_empty() => value,
        value => format!("{} {value}", factor.words()),
    }
}

/// The load generators of the open loops.
pub(super) fn generators(cells: &[Cell<'_>]) -> Generators {
    let open = cells.iter().filter(|cell| !is_closed_loop(cell));
    Generators::of(open, &SERVICE_LATENCY.p50, words)
}

/// Words with commas between them; what a cell does not have is left out.
pub(super) fn listed(words: impl IntoIterator<Item = String>) -> String {
    let given = words.into_iter().filter(|word| !word.is_empty());
    given.collect::<Vec<_>>().join(", ")
}

/// Some of the cells, in their order.
pub(super) type Chosen<'c, 'a> = Vec<&'c Cell<'a>>;

/// The cells of which something is true.
pub(super) fn all_of<'c, 'a>(cells: &'c [Cell<'a>], is: impl Fn(&Cell<'_>) -> bool) -> Chosen<'c, 'a> {
    cells.iter().filter(|cell| is(cell)).collect()
}

/// What peers differ in under loads that differ in this factor.
pub(super) fn peers_along(factor: FactorRef) -> Vec<FactorRef> {
    [OF_SERVERS, &[factor]].concat()
}

/// Connections of a server in use, where there is a choice of cells.
const TYPICAL: f64 = 50.0;

/// The largest family of the cells that have a metric, of closed loops unless it is along arrivals: of those as large, the one with
/// the most usual number of connections, or along these with the least pipeline. Of ours only the usual cells, where there are such:
/// lines of servers are not to mix with those of policies.
pub(super) fn typical<'c, 'a>(cells: &'c [Cell<'a>], along: &[FactorRef], metric: &Metric) -> Chosen<'c, 'a> {
    let is_along = |factor: &About| along.iter().any(|one| one.name == factor.name);
    let is_meant = |cell: &Cell<'_>| is_closed_loop(cell) || is_along(&ARRIVAL);
    let has_usual = cells.iter().any(is_usual);
    let mut known = all_of(cells, |cell| cell.value(metric).is_some() && is_meant(cell));
    known.retain(|cell| is_usual(cell) || !has_usual);
    let distance = |cell: &Cell<'_>| match cell.place(&CONNECTIONS) {
        Some(connections) if !is_along(&CONNECTIONS) => (connections / TYPICAL).ln().abs(),
        _ => cell.place(&PIPELINE).unwrap_or_default(),
    };
    known.sort_by(|one, other| distance(one).total_cmp(&distance(other)));
    largest_family(known, along)
}
