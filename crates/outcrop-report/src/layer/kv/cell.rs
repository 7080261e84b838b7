//! A cell of an engine in words, and which cells to show where there is a choice.

use outcrop_measure::metric::Metric;
use outcrop_measure::units::format_count;
use outcrop_schema::FactorRef;
use outcrop_schema::kv::{
    self, ARRIVAL, BOTTOMMOST, CACHE_HITS, COMPRESSED_BELOW, COMPRESSION, COMPRESSION_BLOCK_SIZE, DICTIONARY,
    DURABILITY, ENGINE, FILESYSTEM, IN_WHAT_CANDIDATES_DIFFER, LEVEL_CODECS, OF_ENGINES, OFFERED, PAGE_CACHE,
    PROCESSES, RECORDS, REQUESTS, SCHEMA, SERVICE_LATENCY, STORED_BYTES, THREADS, THROUGHPUT, UNFINISHED,
    WORKLOAD,
};
use outcrop_workload::Arrival;
use outcrop_workload::filesystem::FileCompression;
use outcrop_workload::store::StoreEngine;

use crate::cell::{Cell, best, largest_family, largest_family_that};
use crate::layer::lateness::Generators;
use crate::layer::overload::Overload;
use crate::number::counted;
use crate::placement::Bounds;

/// What its blocks are compressed with: one codec, and those of levels and the dictionary where it has them.
static CODECS: &[FactorRef] = &[&COMPRESSION, &LEVEL_CODECS, &BOTTOMMOST, &DICTIONARY];

/// What the name of its store says besides: the size of its blocks, and what it lies on.
static PLACES: &[FactorRef] = &[&COMPRESSION_BLOCK_SIZE, &FILESYSTEM];

/// What is asked of it, and by whom.
static LOADS: &[FactorRef] = &[&WORKLOAD, &REQUESTS, &THREADS, &PROCESSES, &ARRIVAL];

/// Its engine with its codec: `rocksdb zstd:3`, `redb`.
pub(super) fn engine(cell: &Cell<'_>) -> String {
    named(cell, &[&[&ENGINE as FactorRef], CODECS].concat()).join(" ")
}

/// The same with its block size, and with a filesystem that was made for it: `rocksdb zstd:3 16KiB on ext4`.
pub(super) fn blocks(cell: &Cell<'_>) -> String {
    named(cell, &[&[&ENGINE as FactorRef], CODECS, PLACES].concat()).join(" ")
}

/// With what its blocks are compressed: `zstd:3`, `none bottommost zstd:9`.
pub(crate) fn codec(cell: &Cell<'_>) -> String {
    named(cell, CODECS).join(" ")
}

/// Factors as labels say them, those too that have their usual values where cells of the run differ in them.
fn named(cell: &Cell<'_>, factors: &[FactorRef]) -> Vec<String> {
    let name = |factor: &FactorRef| match cell.label(&[*factor]) {
        label if label.is_empty() => cell.apart(&[*factor]),
        label => vec![label],
    };
    factors.iter().flat_map(name).collect()
}

/// Whether the filesystem below compresses what the engine writes.
pub(crate) fn is_compressed_below(cell: &Cell<'_>) -> bool {
    let filesystem = cell.get(&FILESYSTEM).and_then(|filesystem| filesystem.0);
    let compression = filesystem.and_then(|filesystem| filesystem.compression);
    compression.is_some_and(FileCompression::is_on)
}

/// The same, or whether the filesystem of the user's own directory compresses it.
pub(crate) fn is_on_compression(cell: &Cell<'_>) -> bool {
    is_compressed_below(cell) || cell.has(&COMPRESSED_BELOW)
}

/// Its load, with all else in which cells of the run differ: `ycsb-a zipfian, 4 threads, 2 processes, page cache kept`.
pub(super) fn load(cell: &Cell<'_>) -> String {
    load_but(cell, &[])
}

/// The same with what its files lie on, where cells of the run differ in that: for a name that does not say it.
pub(super) fn load_and_place(cell: &Cell<'_>) -> String {
    listed([load(cell)].into_iter().chain(cell.apart(&[&FILESYSTEM])))
}

/// The same without some factors, in which cells that are compared under it differ.
pub(super) fn load_but(cell: &Cell<'_>, but: &[FactorRef]) -> String {
    let load = [requests(cell)].into_iter().chain(askers(cell));
    listed(load.chain(records_apart(cell)).chain(apart(cell, but)))
}

/// Who asks it, as far as that is unusual or differs between cells of the run.
fn askers(cell: &Cell<'_>) -> impl Iterator<Item = String> {
    let threads = threads_of(cell).filter(|_| !named(cell, &[&THREADS]).is_empty());
    threads.into_iter().chain(named(cell, &[&PROCESSES, &ARRIVAL]))
}

/// `1 thread`.
fn threads_of(cell: &Cell<'_>) -> Option<String> {
    cell.get(&THREADS).map(|count| counted(*count as usize, "thread"))
}

/// What is asked of it: `ycsb-a zipfian`.
pub(super) fn requests(cell: &Cell<'_>) -> String {
    let (workload, keys) = (cell.spelling(&WORKLOAD), cell.spelling(&REQUESTS));
    // Mixgraph's own requests have its name.
    match workload == keys {
        true => workload.to_owned(),
        false => format!("{workload} {keys}"),
    }
}

/// Who asks it, one thread too: `1 thread`, `4 threads, 2 processes`.
pub(super) fn workers(cell: &Cell<'_>) -> String {
    listed(
        threads_of(cell)
            .into_iter()
            .chain(named(cell, &[&PROCESSES, &ARRIVAL])),
    )
}

/// What caches hide of codec and device, as an addition to what a figure was compared with: `; the block cache answers 75 % of block reads; page
/// cache kept`. Empty where they hide nothing.
pub(super) fn hidden_by_caches(cell: &Cell<'_>) -> String {
    let hits = cell.value(&CACHE_HITS).filter(|hits| *hits >= 0.005);
    let of_blocks = hits.map(|hits| format!("the block cache answers {:.0} % of block reads", hits * 100.0));
    // Where cells differ in it, the load has it.
    let is_said = !cell.apart(&[&PAGE_CACHE]).is_empty();
    let of_pages = Some(cell.label(&[&PAGE_CACHE])).filter(|label| !label.is_empty() && !is_said);
    let hidden = of_blocks.into_iter().chain(of_pages);
    hidden.map(|cache| format!("; {cache}")).collect()
}

/// What it has besides the name of its store and its load, where cells of the run differ in it: `1M records, content zeros`.
pub(super) fn others(cell: &Cell<'_>) -> String {
    listed(records_apart(cell).chain(apart(cell, &[])))
}

/// How many records, where cells of the run differ in that.
fn records_apart(cell: &Cell<'_>) -> impl Iterator<Item = String> {
    let records = (!cell.apart(&[&RECORDS]).is_empty()).then(|| records(cell));
    records.into_iter()
}

/// All else in which cells of the run differ, but for some factors.
fn apart(cell: &Cell<'_>, but: &[FactorRef]) -> Vec<String> {
    let said = [&[&ENGINE as FactorRef, &RECORDS], CODECS, PLACES, LOADS].concat();
    cell.apart(&factors_but(&[&said[..], but].concat()))
}

/// What only engines have besides the name of a store and what a write has reached, where cells of the run differ in it.
pub(super) fn apart_of_engines(cell: &Cell<'_>) -> Vec<String> {
    let said = [&[&ENGINE as FactorRef, &DURABILITY], CODECS, PLACES].concat();
    let is_said = |factor: &FactorRef| said.iter().any(|said| said.name == factor.name);
    let only: Vec<FactorRef> = OF_ENGINES
        .iter()
        .copied()
        .filter(|factor| !is_said(factor))
        .collect();
    cell.apart(&only)
}

/// `1M records`.
fn records(cell: &Cell<'_>) -> String {
    let records = cell.place(&RECORDS).map_or_else(|| "?".to_owned(), format_count);
    format!("{records} records")
}

/// The factors of the layer but these.
pub(crate) fn factors_but(said: &[FactorRef]) -> Vec<FactorRef> {
    let is_said = |factor: &FactorRef| said.iter().any(|said| said.name == factor.name);
    let all = SCHEMA.workload.iter().copied();
    all.filter(|factor| !is_said(factor)).collect()
}

/// All of it.
pub(super) fn words(cell: &Cell<'_>) -> String {
    let what = [blocks(cell), requests(cell)].into_iter().chain(askers(cell));
    listed(what.chain([records(cell)]).chain(apart(cell, &[])))
}

pub(super) fn is_closed_loop(cell: &Cell<'_>) -> bool {
    cell.is(&ARRIVAL, &Arrival::Closed)
}

/// By how much an open loop was not answered.
pub(super) fn overload(cell: &Cell<'_>) -> Option<Overload> {
    let waiting = cell.value(&UNFINISHED).filter(|waiting| *waiting > 0.0)?;
    let rest = format!("{} operations never begun", format_count(waiting));
    let overload = Overload::of(cell.value(&OFFERED)?, cell.value(&THROUGHPUT)?)?.with_rest(&rest);
    (!is_closed_loop(cell)).then_some(overload)
}

/// The load generators of the open loops on an engine.
pub(super) fn generators(cells: &[Cell<'_>]) -> Generators {
    let open = cells
        .iter()
        .filter(|cell| !is_closed_loop(cell) && !cell.is(&ENGINE, &StoreEngine::None));
    Generators::of(open, &SERVICE_LATENCY.p50, words)
}

/// Whether its blocks are stored as they are; engines without blocks are not meant.
pub(crate) fn is_plain(cell: &Cell<'_>) -> bool {
    kv::is_stored_plain(cell.factors())
}

/// Whether its blocks are compressed, in some of its levels at least.
pub(crate) fn is_compressed(cell: &Cell<'_>) -> bool {
    cell.get(&COMPRESSION).is_some() && !is_plain(cell)
}

/// Whether all of its blocks are compressed alike, as single blocks are.
pub(super) fn has_one_codec(cell: &Cell<'_>) -> bool {
    [&LEVEL_CODECS as FactorRef, &BOTTOMMOST, &DICTIONARY]
        .into_iter()
        .all(|factor| cell.is_default(factor))
}

/// The largest value of a metric in any of its trials: of what happens now and then, the median says nothing.
pub(super) fn largest(cell: &Cell<'_>, metric: &Metric) -> Option<f64> {
    let values = cell.trials().iter().flat_map(|trial| &trial.values);
    let of_metric = values.filter(|value| value.metric == metric.name);
    of_metric.filter_map(|value| value.value).max_by(f64::total_cmp)
}

/// Words with commas between them; what a cell does not have is left out.
pub(super) fn listed(words: impl IntoIterator<Item = String>) -> String {
    let given = words.into_iter().filter(|word| !word.is_empty());
    given.collect::<Vec<_>>().join(", ")
}

/// Some of the cells, in their order.
pub(super) type Chosen<'c, 'a> = Vec<&'c Cell<'a>>;

/// The largest set of cells that have a metric and differ in these factors only.
pub(super) fn family<'c, 'a>(cells: &'c [Cell<'a>], along: &[FactorRef], metric: &Metric) -> Chosen<'c, 'a> {
    largest_family(with(cells, metric), along)
}

/// The cells that have a value of a metric.
pub(super) fn with<'c, 'a>(
    cells: &'c [Cell<'a>],
    metric: &Metric,
) -> impl Iterator<Item = &'c Cell<'a>> + Clone {
    cells.iter().filter(move |cell| cell.value(metric).is_some())
}

/// The cells whose throughput is what the engine can do: under an open loop the schedule sets it.
pub(super) fn with_capability<'c, 'a>(cells: &'c [Cell<'a>]) -> impl Iterator<Item = &'c Cell<'a>> + Clone {
    with(cells, &THROUGHPUT).filter(|cell| is_closed_loop(cell))
}

/// Whether it has what stores are judged by.
pub(crate) fn has_speed_and_space(cell: &Cell<'_>) -> bool {
    cell.value(&THROUGHPUT).is_some() && cell.value(&STORED_BYTES).is_some()
}

/// Each compressed cell with the cell of the same engine that stores its blocks as they are, and is the same but for that.
pub(super) fn pairs<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<(&'c Cell<'a>, &'c Cell<'a>)> {
    let pair = |cell: &'c Cell<'a>| {
        let plain = cells
            .iter()
            .find(|plain| is_plain(plain) && plain.is_like(cell, &[&COMPRESSION]))?;
        Some((cell, plain))
    };
    cells
        .iter()
        .filter(|cell| is_compressed(cell))
        .filter_map(pair)
        .collect()
}

/// The cells of one store under one closed loop, some compressed and some not: those that the answer above the layers compares; where it
/// compares none of this kind, the most that differ in nothing else, the first of several.
pub(super) fn of_one_load<'c, 'a>(cells: &'c [Cell<'a>], bounds: &Bounds<'_>) -> Option<Vec<&'c Cell<'a>>> {
    let known = || with_capability(cells).filter(|cell| has_speed_and_space(cell));
    let is_wanted = |family: &[&Cell<'_>]| {
        family.iter().any(|cell| is_compressed(cell)) && family.iter().any(|cell| is_plain(cell))
    };
    let of_answer = known().filter(|cell| bounds.is_candidate(cell));
    largest_family_that(of_answer, &IN_WHAT_CANDIDATES_DIFFER, is_wanted)
        .or_else(|| largest_family_that(known(), &IN_WHAT_CANDIDATES_DIFFER, is_wanted))
}

/// The cells that a store may be compared with: neither the engine nor the filesystem compresses, and store and load are the same. Blocks may
/// have another size, and the filesystem may be another that was made for it.
fn plain_like<'c, 'a>(
    cells: &'c [Cell<'a>],
    cell: &'c Cell<'a>,
) -> impl Iterator<Item = &'c Cell<'a>> + Clone {
    // The space of files and the space in use on a filesystem are not the same quantity.
    let is_made = |cell: &Cell<'_>| cell.get(&FILESYSTEM).is_some_and(|choice| choice.0.is_some());
    cells.iter().filter(move |plain| {
        is_plain(plain)
            && !is_compressed_below(plain)
            && is_made(plain) == is_made(cell)
            && plain.is_like(cell, &IN_WHAT_CANDIDATES_DIFFER)
    })
}

/// The cell that a store is compared with: that of the answer above the layers. Where that one is about another store or load, it is the fastest.
pub(super) fn base<'c, 'a>(
    cells: &'c [Cell<'a>],
    cell: &'c Cell<'a>,
    bounds: &Bounds<'_>,
) -> Option<&'c Cell<'a>> {
    let plain = plain_like(cells, cell);
    let mut of_answer = plain.clone().filter(|plain| bounds.is_base(plain));
    of_answer
        .next()
        .or_else(|| best(plain, &THROUGHPUT).map(|(plain, _)| plain))
}

/// What the cell that a store is compared with is among its like. The answer above the layers leaves out those that break a limit, and a budget
/// stops those that are slower by their bounds.
pub(super) fn role_of_base(cells: &[Cell<'_>], base: &Cell<'_>) -> &'static str {
    let throughput = base.value(&THROUGHPUT);
    match plain_like(cells, base).all(|other| other.value(&THROUGHPUT) <= throughput) {
        true => "the fastest cell without compression",
        false => {
            "the one that the answer above compares with; another without compression has a higher median"
        }
    }
}
