//! What an engine writes for each byte that it is given: to its log, and to its tables by flushes and compactions.

use outcrop_kv::engine::{keeps_files, keeps_more_than_its_log};
use outcrop_schema::Settings;
use outcrop_schema::kv::{CONTENT, ENGINE, PROCESSES, WRITE_BUFFER};
use outcrop_workload::Content;
use outcrop_workload::store::StoreEngine;

use crate::layer::kv::ground;
use crate::layer::kv::parameters::{compresses, options};

/// Tables that a tree collects before it merges them for the first time.
const UNMERGED: f64 = 4.0;

/// How much engines are assumed to write, where that depends on what nobody knows before.
///
/// Measured, per byte of the load: 2.03 (RocksDB) and 2.07 (fjall) where the load is less than a few write buffers, so that tables are written
/// once; 5.1 (RocksDB) where it is 32 of them.
pub(super) struct Habits {
    /// How often a tree writes each byte to tables before it merges.
    flushes: f64,
    /// How often more for each doubling of what it has merged.
    merges: f64,
    /// How often a B-tree writes each byte, with the pages around it.
    pages: f64,
    /// Write buffers that are not flushed any more when a run ends.
    left_in_memory: f64,
    /// Compressed size of user data whose ratio is not known before they are read.
    unknown_share: f64,
    /// Metadata and journals that mkfs and a mount write. Measured: 4 MB on average of ext4 and btrfs.
    pub(super) made_bytes: u64,
}

impl Habits {
    /// What engines write at least.
    pub(super) const THRIFTY: Self = Self {
        flushes: 1.0,
        merges: 1.0 / 3.0,
        pages: 1.0,
        left_in_memory: 1.0,
        unknown_share: 0.25,
        made_bytes: 2 << 20,
    };
    /// What they may write.
    pub(super) const LAVISH: Self = Self {
        flushes: 2.0,
        merges: 1.0,
        pages: 4.0,
        left_in_memory: 0.0,
        unknown_share: 1.0,
        made_bytes: 48 << 20,
    };

    /// What an engine writes for the load.
    pub(super) fn loading(&self, factors: &Settings, loaded: f64) -> f64 {
        loaded * self.per_byte(factors, loaded)
    }

    /// What it writes for what a run puts, behind that load.
    pub(super) fn running(&self, factors: &Settings, loaded: f64, put: f64) -> f64 {
        let [log, tables] = self.of_each_byte(factors, loaded + put);
        let buffers = write_buffers(factors).map_or(0.0, |bytes| bytes * self.left_in_memory);
        put * log + (put - buffers).max(0.0) * tables
    }

    /// What it writes for each of so many bytes; 0 where it keeps no files.
    pub(super) fn per_byte(&self, factors: &Settings, bytes: f64) -> f64 {
        self.of_each_byte(factors, bytes).into_iter().sum()
    }

    /// The same to the log and to tables.
    fn of_each_byte(&self, factors: &Settings, bytes: f64) -> [f64; 2] {
        let engine = *factors.value(&ENGINE);
        if keeps_files(&options(factors)).is_err() {
            return [0.0, 0.0];
        }
        let below = match ground::filesystem_of(factors) {
            Some(filesystem) if filesystem.compression.is_on() => {
                share_of_content(factors, self.unknown_share)
            }
            _ => 1.0,
        };
        let in_tables = share_in_blocks(factors, self.unknown_share).min(below);
        match (engine, keeps_more_than_its_log(engine)) {
            (_, Err(_)) => [below, 0.0],
            (StoreEngine::Redb, Ok(())) => [0.0, self.pages * in_tables],
            (_, Ok(())) => {
                let buffers = write_buffers(factors).map_or(1.0, |buffer| bytes / buffer);
                let doublings = (buffers / UNMERGED).max(1.0).log2();
                [below, (self.flushes + self.merges * doublings) * in_tables]
            }
        }
    }
}

/// The write buffers of all databases; none where the engine has none.
fn write_buffers(factors: &Settings) -> Option<f64> {
    let buffer = factors.get(&WRITE_BUFFER)?;
    Some(buffer.0 as f64 * f64::from(*factors.value(&PROCESSES)))
}

/// Size of blocks over that of their content, where a ratio that is not known gives `unknown`.
pub(super) fn share_in_blocks(factors: &Settings, unknown: f64) -> f64 {
    match compresses(factors) {
        true => share_of_content(factors, unknown),
        false => 1.0,
    }
}

/// Compressed size of values over their size. The ratio of the user's own data is not known before they are read.
fn share_of_content(factors: &Settings, unknown: f64) -> f64 {
    match factors.get(&CONTENT) {
        Some(Content::Random | Content::Entropy { .. }) => 1.0,
        Some(Content::Zeros) => 1.0 / Content::MAX_RATIO,
        Some(Content::Compressible { ratio }) => 1.0 / ratio,
        None => unknown,
    }
}
