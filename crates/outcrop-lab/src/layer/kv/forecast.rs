//! What a trial will take and write: arithmetic with the speeds of a slow machine.

use std::time::Duration;

use outcrop_kv::engine::keeps_files;
use outcrop_measure::seed::Seed;
use outcrop_schema::Settings;
use outcrop_schema::kv::{
    ARRIVAL, BLOCK_CACHE, DURABILITY, ENGINE, PROCESSES, RECORDS, SETTLING, THREADS, VALUE_SIZE, WORKLOAD,
    WRITE_BUFFER,
};
use outcrop_workload::keyed::{OperationKind, ValueSize};
use outcrop_workload::store::{Durability, Settling, StoreEngine};

use super::ground;
use super::parameters::{kv_spec, options};
use crate::cell::Cell;
use crate::estimate::Forecast;
use crate::layer::Holds;

/// Processes, folders, opening, the sync at the end, closing and removing.
const OVERHEAD: Duration = Duration::from_millis(120);
const PROCESS: Duration = Duration::from_millis(30);
/// mkfs, loop device and mount, and the syncs that a used filesystem takes.
const MAKING: Duration = Duration::from_millis(250);
/// Metadata and journals that mkfs and a mount write.
const MADE_BYTES: u64 = 48 << 20;
/// Images are written this fast: slower than most SSDs.
const FILL_BYTES_PER_SECOND: f64 = 400e6;
/// Looks in a row that find compaction settled.
const SETTLED: Duration = Duration::from_millis(120);
/// Storing a record of a kilobyte, its flush and its compaction.
const RECORD: Duration = Duration::from_micros(9);
/// The same where each write is a transaction of a B-tree.
const TRANSACTION: Duration = Duration::from_micros(45);
/// The same where each write is a message to another process and its answer.
const ROUND_TRIP: Duration = Duration::from_micros(30);
/// Where each write waits for the device.
const SYNC: Duration = Duration::from_micros(800);
/// What an engine writes in all for a byte of the user's.
const WRITE_AMPLIFICATION: f64 = 4.0;
/// Write buffers that a tree's log and the levels which are not merged yet may hold: fjall's log alone has eight.
const BUFFERS_KEPT: f64 = 16.0;
/// Operations a second of one thread: of a usual engine, and of the fastest.
const USUAL_PER_SECOND: f64 = 100e3;
const FASTEST_PER_SECOND: f64 = 400e3;
/// ETC and mixgraph have small values.
const SMALL_VALUE_BYTES: f64 = 200.0;
const KEY_BYTES: f64 = 24.0;

/// What the image of filesystems costs, where a cell needs one.
pub(super) fn preparation(cells: &[&Cell]) -> Forecast {
    let bytes_written = ground::bytes_for(cells);
    Forecast {
        time: Duration::from_secs_f64(bytes_written as f64 / FILL_BYTES_PER_SECOND),
        bytes_written,
        likely_bytes_written: bytes_written,
    }
}

/// Bytes of keys and values in the databases of a trial at its end, at most: those of the load, and what a usual engine writes meanwhile. Of the
/// records that it replaces, a tree keeps as many as its log and its upper levels hold.
pub(super) fn user_bytes(cell: &Cell) -> u64 {
    let factors = &cell.factors;
    let processes = f64::from(*factors.value(&PROCESSES));
    let records = *factors.value(&RECORDS) as f64 * processes;
    let inserts = |kind: OperationKind| kind == OperationKind::Insert;
    let inserted = writes_of(cell, USUAL_PER_SECOND, inserts);
    let replaced = writes_of(cell, USUAL_PER_SECOND, |kind| !inserts(kind)) * record_bytes(factors);
    let buffer = factors.get(&WRITE_BUFFER);
    let kept = buffer.map_or(f64::MAX, |buffer| buffer.0 as f64 * BUFFERS_KEPT * processes);
    ((records + inserted) * record_bytes(factors) + replaced.min(kept)) as u64
}

/// What a trial holds at once: its databases after the load, and what its engines ask for. A filesystem that is made has its room already.
pub(super) fn holds(cell: &Cell) -> Holds {
    let factors = &cell.factors;
    let processes = u64::from(*factors.value(&PROCESSES));
    let spec = kv_spec(factors, &cell.trial, Seed(0), None);
    let is_on_disk = keeps_files(&spec.options).is_ok() && ground::filesystem_of(factors).is_none();
    let records = *factors.value(&RECORDS) as f64 * processes as f64;
    // An engine that has none of them has no such setting.
    let buffers = [&BLOCK_CACHE, &WRITE_BUFFER].map(|factor| factors.get(factor).map_or(0, |size| size.0));
    let of_records = spec.records_in_memory_bytes().unwrap_or(0);
    let in_memory = buffers.into_iter().fold(of_records, u64::saturating_add);
    Holds {
        disk_bytes: if is_on_disk {
            (records * record_bytes(factors)) as u64
        } else {
            0
        },
        memory_bytes: in_memory.saturating_mul(processes),
    }
}

/// Writes of the run, warm-up included, at a speed of one worker.
fn writes(cell: &Cell, per_second: f64) -> f64 {
    writes_of(cell, per_second, |_| true)
}

/// The same of some kinds of operation.
fn writes_of(cell: &Cell, per_second: f64, is_meant: impl Fn(OperationKind) -> bool) -> f64 {
    let factors = &cell.factors;
    let run = cell.trial.warm_up.0 + cell.trial.duration.0;
    let workers = f64::from(*factors.value(&THREADS)) * f64::from(*factors.value(&PROCESSES));
    let write_share: f64 = OperationKind::ALL
        .into_iter()
        .filter(|kind| kind.writes() && is_meant(*kind))
        .map(|kind| factors.value(&WORKLOAD).mix().share(kind))
        .sum();
    let offered = factors.value(&ARRIVAL).per_second();
    let rate = offered.map_or(per_second * workers.min(16.0), outcrop_measure::Rate::per_second);
    rate * write_share * run.as_secs_f64()
}

/// What one trial costs.
pub(super) fn trial(cell: &Cell) -> Forecast {
    let factors = &cell.factors;
    let processes = *factors.value(&PROCESSES);
    let records = *factors.value(&RECORDS) as f64 * f64::from(processes);
    let run = cell.trial.warm_up.0 + cell.trial.duration.0;
    let settle = match *factors.value(&SETTLING) {
        Settling::Compacted => SETTLED,
        Settling::Rest(span) => span.0,
        Settling::None => Duration::ZERO,
    };
    let load = record_time(factors).mul_f64(records);
    let (making, made_bytes) = match ground::filesystem_of(factors) {
        Some(_) => (MAKING, MADE_BYTES),
        None => (Duration::ZERO, 0),
    };
    let bytes = |records: f64| match keeps_files(&options(factors)) {
        Ok(()) => (records * record_bytes(factors) * WRITE_AMPLIFICATION) as u64,
        Err(_) => 0,
    };
    Forecast {
        time: OVERHEAD + PROCESS * processes + load + settle + run + making,
        bytes_written: bytes(records + writes(cell, FASTEST_PER_SECOND)) + made_bytes,
        likely_bytes_written: bytes(records + writes(cell, USUAL_PER_SECOND)) + made_bytes,
    }
}

fn record_time(factors: &Settings) -> Duration {
    if factors.get(&DURABILITY) == Some(&Durability::Synced) {
        return SYNC;
    }
    match *factors.value(&ENGINE) {
        StoreEngine::None => Duration::from_nanos(200),
        StoreEngine::Redb => TRANSACTION,
        StoreEngine::Redis | StoreEngine::Memcached => ROUND_TRIP,
        StoreEngine::Fjall | StoreEngine::RocksDb => RECORD,
    }
}

fn record_bytes(factors: &Settings) -> f64 {
    KEY_BYTES
        + match *factors.value(&VALUE_SIZE) {
            ValueSize::Fixed(size) => size.0 as f64,
            _ => SMALL_VALUE_BYTES,
        }
}
