//! How fast a store is assumed to be driven, on a slow and on a fast machine.

use std::num::NonZero;
use std::time::Duration;

use outcrop_measure::Rate;
use outcrop_schema::Settings;
use outcrop_schema::kv::{
    ARRIVAL, COMPRESSION, DURABILITY, ENGINE, MEMORY_LIMIT, PROCESSES, RECORDS, REQUESTS, THREADS,
    VALUE_SIZE, WORKLOAD,
};
use outcrop_workload::keyed::{OperationKind, RequestDistribution, ValueSize};
use outcrop_workload::store::{Durability, StoreCodec, StoreCompression, StoreEngine};

use super::writes::{Habits, share_in_blocks};
use crate::cell::Cell;
use crate::estimate::AssumedDevice;

/// The machine assumed for a trial.
pub(super) struct Machine {
    device: AssumedDevice,
    /// Speed of its cores, relative to a slow one.
    speed: f64,
    /// CPU time of an operation. Measured on two slow cores: 3 µs for reads from memory to 25 µs for reads and updates from a device.
    operation: Duration,
    /// How much its engine writes.
    pub(super) habits: Habits,
}

pub(super) const USUAL: Machine = Machine {
    device: AssumedDevice::USUAL,
    speed: 1.0,
    operation: Duration::from_micros(25),
    habits: Habits::THRIFTY,
};
/// The usual machine on a slow device.
pub(super) const SLOW: Machine = Machine {
    device: AssumedDevice::SLOW,
    ..USUAL
};
pub(super) const FASTEST: Machine = Machine {
    device: AssumedDevice::FASTEST,
    speed: 4.0,
    operation: Duration::from_nanos(2500),
    habits: Habits::LAVISH,
};

/// Share of the cores that flushes, compactions and the kernel leave to callers. Measured with ten threads on two cores: 0.65.
const CALLERS_SHARE: f64 = 0.6;
/// Storing a record of a kilobyte, its flush and its compaction.
const RECORD: Duration = Duration::from_micros(9);
/// The same where each write is a transaction of a B-tree.
const TRANSACTION: Duration = Duration::from_micros(45);
/// The same where each write is a message to another process and its answer.
const ROUND_TRIP: Duration = Duration::from_micros(30);
/// Where each write waits for the device.
const SYNC: Duration = Duration::from_micros(800);
/// Cores of the slow machine that the load is estimated for.
const LOADING_CORES: f64 = 2.0;
/// How often an engine compresses each byte of user data, by flushes and compactions.
const COMPRESSED_TIMES: f64 = 3.0;
/// ETC and mixgraph have small values.
const SMALL_VALUE_BYTES: f64 = 200.0;
const KEY_BYTES: f64 = 24.0;
/// Compressed size of user data whose ratio is not known yet, where one figure has to do.
const COMPRESSED_SHARE: f64 = 0.5;

pub(super) fn record_bytes(factors: &Settings) -> f64 {
    KEY_BYTES
        + match *factors.value(&VALUE_SIZE) {
            ValueSize::Fixed(size) => size.0 as f64,
            _ => SMALL_VALUE_BYTES,
        }
}

/// Bytes of the load of all databases.
pub(super) fn bytes_loaded(factors: &Settings) -> f64 {
    let processes = f64::from(*factors.value(&PROCESSES));
    *factors.value(&RECORDS) as f64 * processes * record_bytes(factors)
}

/// Bytes of keys and values that some kinds of operation put during the run, warm-up included. Capped, since what the engine writes for them cannot
/// exceed the device's bandwidth.
pub(super) fn bytes_put(cell: &Cell, machine: &Machine, is_meant: impl Fn(OperationKind) -> bool) -> f64 {
    let factors = &cell.factors;
    let seconds = (cell.trial.warm_up.0 + cell.trial.duration.0).as_secs_f64();
    let share = share_of(factors, |kind| kind.writes() && is_meant(kind));
    let wanted = rate(factors, machine) * share * record_bytes(factors) * seconds;
    let amplification = machine.habits.per_byte(factors, bytes_loaded(factors) + wanted);
    wanted.min(machine.device.bytes_per_second / amplification * seconds)
}

/// Time of the load: that of the engine, or that of the device for so many bytes, whichever is longer.
pub(super) fn load_time(factors: &Settings, records: f64, bytes: f64) -> Duration {
    let by_device = Duration::from_secs_f64(bytes / USUAL.device.bytes_per_second);
    record_time(factors).mul_f64(records).max(by_device)
}

fn record_time(factors: &Settings) -> Duration {
    if factors.get(&DURABILITY) == Some(&Durability::Synced) {
        return SYNC;
    }
    match *factors.value(&ENGINE) {
        StoreEngine::None => Duration::from_nanos(200),
        StoreEngine::Redb => TRANSACTION,
        StoreEngine::Redis | StoreEngine::Memcached => ROUND_TRIP,
        StoreEngine::Fjall | StoreEngine::RocksDb => RECORD + compressing(factors).div_f64(LOADING_CORES),
    }
}

/// Operations per second of all workers together. More workers than cores add nothing, unless they wait for the device.
fn rate(factors: &Settings, machine: &Machine) -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get) as f64;
    let workers = f64::from(*factors.value(&THREADS)) * f64::from(*factors.value(&PROCESSES));
    let computing = operation_time(factors, machine).as_secs_f64();
    let waiting = machine.device.latency.as_secs_f64() * waits(factors);
    let by_workers = workers / (computing + waiting);
    let by_cores = cores * CALLERS_SHARE / computing;
    let offered = factors.value(&ARRIVAL).per_second();
    by_workers
        .min(by_cores)
        .min(offered.map_or(f64::INFINITY, Rate::per_second))
}

/// CPU time of an operation, including what the engine does for it later.
fn operation_time(factors: &Settings, machine: &Machine) -> Duration {
    let writes = share_of(factors, OperationKind::writes);
    let (own, more) = match *factors.value(&ENGINE) {
        StoreEngine::None => (Duration::ZERO, Duration::from_nanos(200)),
        StoreEngine::Redb => (machine.operation, TRANSACTION.mul_f64(writes)),
        StoreEngine::Redis | StoreEngine::Memcached => (machine.operation, ROUND_TRIP),
        StoreEngine::Fjall | StoreEngine::RocksDb => {
            (machine.operation, compressing(factors).mul_f64(writes))
        }
    };
    own + more.div_f64(machine.speed)
}

/// How often an operation waits for the device: for a synced write, and for a read of what does not fit in the memory limit. Skewed reads mostly
/// hit memory, so only uniform ones count.
fn waits(factors: &Settings) -> f64 {
    let is_synced = factors.get(&DURABILITY) == Some(&Durability::Synced);
    let synced = match is_synced {
        true => share_of(factors, OperationKind::writes),
        false => 0.0,
    };
    let missed = match factors.value(&MEMORY_LIMIT).0 {
        Some(limit) if *factors.value(&REQUESTS) == RequestDistribution::Uniform => {
            let stored = *factors.value(&RECORDS) as f64 * record_bytes(factors);
            let stored = stored * share_in_blocks(factors, COMPRESSED_SHARE);
            (1.0 - limit.0 as f64 / stored).max(0.0)
        }
        _ => 0.0,
    };
    let reads = |kind| !matches!(kind, OperationKind::Update | OperationKind::Insert);
    synced + missed * share_of(factors, reads)
}

fn share_of(factors: &Settings, is_meant: impl Fn(OperationKind) -> bool) -> f64 {
    let mix = factors.value(&WORKLOAD).mix();
    let kinds = OperationKind::ALL.into_iter().filter(|kind| is_meant(*kind));
    kinds.map(|kind| mix.share(kind)).sum()
}

/// CPU time of compressing a record every time it is written to tables. Codecs as fast as a device are free here.
fn compressing(factors: &Settings) -> Duration {
    let megabytes_per_second = match factors.get(&COMPRESSION) {
        Some(compression) => slow_core_megabytes_per_second(*compression),
        None => f64::INFINITY,
    };
    Duration::from_secs_f64(record_bytes(factors) * COMPRESSED_TIMES / (megabytes_per_second * 1e6))
}

fn slow_core_megabytes_per_second(compression: StoreCompression) -> f64 {
    let level = compression.level;
    match compression.codec {
        StoreCodec::None | StoreCodec::Snappy | StoreCodec::Lz4 => f64::INFINITY,
        StoreCodec::Lz4Hc => 30.0,
        StoreCodec::Zlib => match level.unwrap_or(6) {
            ..=3 => 60.0,
            4..=6 => 45.0,
            _ => 15.0,
        },
        StoreCodec::Zstd => match level.unwrap_or(3) {
            ..=4 => f64::INFINITY,
            5..=9 => 40.0,
            10..=15 => 8.0,
            _ => 2.0,
        },
    }
}
