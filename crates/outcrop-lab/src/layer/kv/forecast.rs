//! What a trial will take and write: arithmetic with the speeds of a slow machine, and for what it may write with those of a fast one.

mod pace;
mod writes;

use std::time::Duration;

use outcrop_kv::engine::keeps_files;
use outcrop_measure::seed::Seed;
use outcrop_schema::kv::{BLOCK_CACHE, PROCESSES, RECORDS, SETTLING, WRITE_BUFFER};
use outcrop_workload::keyed::OperationKind;
use outcrop_workload::store::Settling;

use self::pace::{FASTEST, Machine, SLOW, USUAL, bytes_loaded, bytes_put, load_time, record_bytes};
use super::ground;
use super::parameters::kv_spec;
use crate::cell::Cell;
use crate::estimate::Forecast;
use crate::layer::Holds;

/// Processes, folders, opening, the sync at the end, closing and removing.
const OVERHEAD: Duration = Duration::from_millis(120);
const PROCESS: Duration = Duration::from_millis(30);
/// mkfs, loop device and mount, and the syncs that a used filesystem takes.
const MAKING: Duration = Duration::from_millis(250);
/// Images are written this fast: slower than most SSDs.
const FILL_BYTES_PER_SECOND: f64 = 400e6;
/// Looks in a row that find compaction settled.
const SETTLED: Duration = Duration::from_millis(120);
/// Write buffers that a tree's log and the levels which are not merged yet may hold: fjall's log alone has eight.
const BUFFERS_KEPT: f64 = 16.0;

/// What the image of filesystems costs, where a cell needs one.
pub(super) fn preparation(cells: &[&Cell]) -> Forecast {
    let bytes_written = ground::bytes_for(cells);
    Forecast {
        time: Duration::from_secs_f64(bytes_written as f64 / FILL_BYTES_PER_SECOND),
        bytes_written,
        likely_bytes_written: bytes_written,
        least_bytes_written: bytes_written,
    }
}

/// Most bytes of keys and values that the databases of a trial may hold at its end: those of the load, and what the fastest engine adds. Of
/// replaced records a tree keeps as many as its log and its upper levels hold.
pub(super) fn user_bytes(cell: &Cell) -> u64 {
    let factors = &cell.factors;
    let processes = f64::from(*factors.value(&PROCESSES));
    let loaded = bytes_loaded(factors);
    let inserts = |kind: OperationKind| kind == OperationKind::Insert;
    let inserted = bytes_put(cell, &FASTEST, inserts);
    let replaced = bytes_put(cell, &FASTEST, |kind| !inserts(kind));
    let buffer = factors.get(&WRITE_BUFFER);
    let kept = buffer.map_or(f64::MAX, |buffer| buffer.0 as f64 * BUFFERS_KEPT * processes);
    (loaded + inserted + replaced.min(kept)) as u64
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
    let is_made = ground::filesystem_of(factors).is_some();
    let making = if is_made { MAKING } else { Duration::ZERO };
    let loaded = bytes_loaded(factors);
    let load = load_time(factors, records, USUAL.habits.loading(factors, loaded));
    let written = |machine: &Machine| {
        let (habits, put) = (&machine.habits, bytes_put(cell, machine, |_| true));
        let made_bytes = if is_made { habits.made_bytes } else { 0 };
        let written = habits.loading(factors, loaded) + habits.running(factors, loaded, put);
        written as u64 + made_bytes
    };
    Forecast {
        time: OVERHEAD + PROCESS * processes + load + settle + run + making,
        bytes_written: written(&FASTEST),
        likely_bytes_written: written(&USUAL),
        least_bytes_written: written(&SLOW),
    }
}
