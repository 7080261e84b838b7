//! Questions about cells of filesystems.

use outcrop_schema::FactorRef;
use outcrop_schema::filesystem::{
    AGE, ARRIVAL, ARRIVAL_REQUESTED, CHECKSUM, CLUSTER_SIZE, COMPRESS_POLICY, COMPRESSION,
    COMPRESSION_BLOCK_SIZE, COPY_ON_WRITE, FILESYSTEM, IOPS, JOBS, LATENCY, OPERATION, PAGE_CACHE, SCHEMA,
    SERVICE_LATENCY, THREAD_POOL,
};
use outcrop_workload::filesystem::{
    Age, Algorithm, CompressPolicy, FileOperation, FilesystemKind, OfferedLoad, PageCache,
};
use outcrop_workload::{Arrival, Arrivals};

use crate::cell::Cell;
use crate::layer::lateness::Generators;
use crate::layer::overload::Overload;
use crate::number::Number;

/// What makes a configuration: the filesystem with its settings.
pub(super) const CONFIGURATION: [FactorRef; 8] = [
    &FILESYSTEM,
    &COMPRESSION,
    &COMPRESSION_BLOCK_SIZE,
    &CLUSTER_SIZE,
    &COMPRESS_POLICY,
    &CHECKSUM,
    &COPY_ON_WRITE,
    &THREAD_POOL,
];

/// The configuration in a few words: `btrfs zstd:3`, `squashfs zstd:19 16KiB`, `btrfs zstd:3 thread pool 8`.
pub(super) fn configuration(cell: &Cell<'_>) -> String {
    let is_said = |factor: &FactorRef| match factor.name {
        name if name == COMPRESS_POLICY.name => cell.is(&COMPRESS_POLICY, &CompressPolicy::Heuristic),
        name if name == CHECKSUM.name => cell.spelling(factor.about()) != "crc32c",
        name if name == COPY_ON_WRITE.name => cell.spelling(factor.about()) == "off",
        _ => true,
    };
    let words = CONFIGURATION
        .iter()
        .filter(|factor| is_said(factor))
        .map(|factor| match factor.name {
            name if name == COPY_ON_WRITE.name => "nocow".to_owned(),
            name if name == THREAD_POOL.name => cell.label(&[*factor]),
            _ => cell.spelling(factor.about()).to_owned(),
        });
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    match words.join(" ") {
        words if words.is_empty() => cell.subject().to_owned(),
        words => words,
    }
}

/// What rows of cold reads have in common: fresh files, one read at a time where there are such.
const OF_COLD_READS: [FactorRef; 5] = [&OPERATION, &PAGE_CACHE, &ARRIVAL, &AGE, &JOBS];

/// What the configuration of a cell and some factors, which the name of a row says, do not tell, and cells of the run differ in.
fn apart_but_for(cell: &Cell<'_>, said: &[FactorRef]) -> Vec<String> {
    let is_said = |factor: &FactorRef| {
        let mut known = CONFIGURATION.iter().chain(said);
        known.any(|known| known.name == factor.name)
    };
    let all = SCHEMA.workload.iter().copied();
    let others: Vec<FactorRef> = all.filter(|factor| !is_said(factor)).collect();
    let subject = cell.subject_apart().map(|subject| format!("on {subject}"));
    cell.apart(&others).into_iter().chain(subject).collect()
}

/// That of the best of all cells of a run, behind commas: `, io block size 4 KiB, access buffered`.
pub(super) fn behind_comma(cell: &Cell<'_>, said: &[FactorRef]) -> String {
    let words = apart_but_for(cell, said).into_iter();
    words.map(|words| format!(", {words}")).collect()
}

/// The configuration with all else in which cells of the run differ: `ext4 none, io block size 16KiB`.
pub(super) fn name_apart(cell: &Cell<'_>) -> String {
    configuration(cell) + &behind_comma(cell, &[])
}

/// That of the best of some cold reads, which are a part of the run: ` (of those with access buffered)`.
pub(super) fn of_those(cell: &Cell<'_>, said: &[FactorRef]) -> String {
    match apart_but_for(cell, &[&OF_COLD_READS[..], said].concat()) {
        none if none.is_empty() => String::new(),
        words => format!(" (of those with {})", words.join(" and ")),
    }
}

/// Of some cells, one and those of other configurations: two cells of one configuration do not rival each other.
pub(super) fn rivals_of<'c, 'a>(cell: &Cell<'a>, cells: &[&'c Cell<'a>]) -> Vec<&'c Cell<'a>> {
    let own = configuration(cell);
    let is_rival = |other: &&&Cell<'_>| std::ptr::eq(**other, cell) || configuration(other) != own;
    cells.iter().filter(is_rival).copied().collect()
}

/// The whole cell in words.
pub(super) fn words(cell: &Cell<'_>) -> String {
    SCHEMA.label(cell.factors())
}

/// Whether the cell does this.
pub(super) fn does(cell: &Cell<'_>, operation: FileOperation) -> bool {
    cell.is(&OPERATION, &operation)
}

/// Whether it reads files that nothing of was in memory.
pub(super) fn is_cold_read(cell: &Cell<'_>) -> bool {
    let reads = does(cell, FileOperation::RandomRead) || does(cell, FileOperation::SequentialRead);
    reads && cell.is(&PAGE_CACHE, &PageCache::Cold)
}

/// Whether it reads one cold block in each extent of files that were written once.
pub(super) fn is_cold_random_read(cell: &Cell<'_>) -> bool {
    is_cold_read(cell) && does(cell, FileOperation::RandomRead) && is_fresh(cell)
}

/// Whether a new operation started when another had completed.
pub(super) fn is_closed(cell: &Cell<'_>) -> bool {
    let closed = OfferedLoad::Operations(Arrivals::Given(Arrival::Closed));
    cell.get(&ARRIVAL).is_none_or(|arrival| *arrival == closed)
}

/// By how much an open loop was not answered.
pub(super) fn overload(cell: &Cell<'_>) -> Option<Overload> {
    /// Jobs that end at different times lower the rate as well; those that are behind also wait, this many times as long as a read takes.
    const WAITS: f64 = 2.0;
    let (offered, answered) = (cell.value(&ARRIVAL_REQUESTED)?, cell.value(&IOPS)?);
    let waits = cell.value(&LATENCY.p50)? > WAITS * cell.value(&SERVICE_LATENCY.p50)?;
    Overload::of(offered, answered).filter(|_| !is_closed(cell) && waits)
}

/// The load generators of the open loops.
pub(super) fn generators(cells: &[Cell<'_>]) -> Generators {
    let open = cells.iter().filter(|cell| !is_closed(cell));
    Generators::of(open, &SERVICE_LATENCY.p50, words)
}

/// Whether nothing was overwritten before.
pub(super) fn is_fresh(cell: &Cell<'_>) -> bool {
    cell.get(&AGE).is_none_or(|age| *age == Age::Fresh)
}

/// Whether the filesystem was asked to compress.
pub(super) fn is_compressed(cell: &Cell<'_>) -> bool {
    cell.get(&COMPRESSION)
        .is_some_and(|compression| compression.is_on())
}

/// The filesystem, where it was made for the trial.
pub(super) fn kind(cell: &Cell<'_>) -> Option<FilesystemKind> {
    cell.get(&FILESYSTEM).map(|choice| choice.kind)
}

/// What it compresses with.
pub(super) fn algorithm(cell: &Cell<'_>) -> Option<Algorithm> {
    cell.get(&COMPRESSION).map(|compression| compression.algorithm)
}

/// Whether the trials cannot tell two figures apart: their intervals overlap, or one of them has none.
pub(super) fn may_tie(one: &Number, other: &Number) -> bool {
    match (one.interval, other.interval) {
        (Some(one), Some(other)) => one.overlaps(&other),
        _ => true,
    }
}
