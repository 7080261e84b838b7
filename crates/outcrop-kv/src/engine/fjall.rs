//! fjall: an LSM tree in this process.

use std::path::{Path, PathBuf};

use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use fjall::{
    AbstractTree as _, CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode, UserValue,
};
use outcrop_measure::metric::Unavailable;
use outcrop_workload::store::{Durability, StoreCodec};

use super::{check_directory, io_error};
use crate::error::KvError;
use crate::store::{CompactionState, Opening, Session, Store, StoreCounters, StoreOptions};
use crate::tables::Tables;
use crate::usage::is_full;

const ENGINE: &str = "fjall";
/// The version in Cargo.lock; a test holds the two together.
pub(super) const VERSION: &str = "3.1.13";

pub(super) struct Fjall {
    database: Database,
    records: Keyspace,
    is_synced: bool,
    directory: PathBuf,
}

impl Fjall {
    pub(super) fn open(options: &StoreOptions, directory: &Path, opening: Opening) -> Result<Self, KvError> {
        check_directory(directory, opening)?;
        let failed = |error: fjall::Error| said(&error, "open a database", directory);
        let database = Database::builder(directory)
            .cache_size(options.block_cache_bytes)
            .max_journaling_size(journal_bytes(options.write_buffer_bytes))
            .open()
            .map_err(failed)?;
        let records = database
            .keyspace("records", || keyspace_options(options))
            .map_err(failed)?;
        Ok(Self {
            database,
            records,
            is_synced: options.durability == Durability::Synced,
            directory: directory.to_owned(),
        })
    }
}

/// fjall flushes memtables when its logs are larger than this; it accepts no less than 24 MiB.
fn journal_bytes(write_buffer_bytes: u64) -> u64 {
    (write_buffer_bytes * 8).max(64 << 20)
}

fn keyspace_options(options: &StoreOptions) -> KeyspaceCreateOptions {
    let codec = |codec: &StoreCodec| match codec {
        StoreCodec::Lz4 => CompressionType::Lz4,
        // The check lets no other one pass.
        _ => CompressionType::None,
    };
    let compression = match options.level_codecs.codecs() {
        [] => CompressionPolicy::all(codec(&options.compression.codec)),
        levels => CompressionPolicy::new(levels.iter().map(codec).collect::<Vec<_>>()),
    };
    let filter = match options.bloom_bits {
        0 => FilterPolicy::disabled(),
        bits => FilterPolicy::all(FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(
            bits as f32,
        ))),
    };
    KeyspaceCreateOptions::default()
        .data_block_compression_policy(compression)
        .data_block_size_policy(BlockSizePolicy::all(options.block_size_bytes))
        .filter_policy(filter)
        .max_memtable_size(options.write_buffer_bytes)
}

/// An error of the engine in our words.
fn said(error: &fjall::Error, action: &str, directory: &Path) -> KvError {
    let place = || directory.display().to_string();
    match error {
        fjall::Error::Io(io) | fjall::Error::Storage(fjall::LsmError::Io(io)) => {
            io_error(ENGINE, action, directory, io)
        }
        fjall::Error::Locked => KvError::Locked { directory: place() },
        fjall::Error::InvalidVersion(_)
        | fjall::Error::JournalRecovery(_)
        | fjall::Error::InvalidTrailer
        | fjall::Error::InvalidTag(_)
        | fjall::Error::Decompress(_)
        | fjall::Error::Unrecoverable => KvError::Format {
            directory: place(),
            engine: format!("{ENGINE} {VERSION}"),
            detail: in_words(error),
        },
        // It says so of every write after one that failed, which is most often for want of space.
        fjall::Error::Poisoned if is_full(directory) => {
            KvError::no_space(directory, "an earlier write failed")
        }
        other => KvError::engine(ENGINE, action, other),
    }
}

/// What is wrong with the files: fjall describes its errors by their names alone.
fn in_words(error: &fjall::Error) -> String {
    match error {
        fjall::Error::InvalidVersion(Some(found)) => format!("its format is {found:?}"),
        fjall::Error::InvalidVersion(None) => "its format is unknown".to_owned(),
        fjall::Error::JournalRecovery(_) | fjall::Error::InvalidTrailer | fjall::Error::InvalidTag(_) => {
            format!("its log cannot be read: {error:?}")
        }
        fjall::Error::Decompress(codec) => format!("a block cannot be decompressed with {codec}"),
        other => format!("{other:?}"),
    }
}

impl Store for Fjall {
    fn identity(&self) -> String {
        format!("{ENGINE} {VERSION}")
    }

    fn session(&self) -> Result<Box<dyn Session>, KvError> {
        Ok(Box::new(FjallSession {
            database: self.database.clone(),
            records: self.records.clone(),
            value: None,
            is_synced: self.is_synced,
            directory: self.directory.clone(),
        }))
    }

    fn flush(&self) -> Result<(), KvError> {
        let failed = |error: fjall::Error| said(&error, "flush", &self.directory);
        self.records.rotate_memtable_and_wait().map_err(failed)?;
        self.database.persist(PersistMode::SyncAll).map_err(failed)
    }

    fn compaction(&self) -> CompactionState {
        CompactionState {
            debt_bytes: Err(Unavailable::because(
                "fjall does not estimate what compaction has to do",
            )),
            is_busy: self.database.active_compactions() > 0
                || self.database.outstanding_flushes() > 0
                || self.records.sealed_memtable_count() > 0,
        }
    }

    fn counters(&self) -> StoreCounters {
        let metrics = self.records.metrics();
        StoreCounters {
            read_bytes: Ok(metrics.block_io()),
            cache_hits: Ok(metrics.data_block_load_cached_count() as u64),
            cache_misses: Ok(
                (metrics.data_block_load_count() - metrics.data_block_load_cached_count()) as u64,
            ),
            ..StoreCounters::unavailable("fjall does not count it")
        }
    }

    fn tables(&self) -> Tables {
        let version = self.records.tree.current_version();
        let mut tables = Tables {
            data_bytes: Ok(0),
            index_bytes: Ok(0),
            filter_bytes: Ok(0),
            entries: Ok(0),
            upper_bytes: Ok(0),
            ..Tables::unavailable("fjall does not say how large its blocks were before compression")
        };
        // From the first level down: what lies above the last one that has any table is not merged into it.
        for level in version.iter_levels() {
            let above = tables.bytes();
            let mut is_empty = true;
            for table in level.iter().flat_map(|run| run.iter()) {
                let regions = &table.regions;
                let optional = [regions.index, regions.filter, regions.filter_tli];
                let [index, filter, filter_index] =
                    optional.map(|region| region.map_or(0, |at| u64::from(at.size())));
                is_empty = false;
                // Counted while blocks of data are written, before index and filters.
                tables = tables.plus(&Tables {
                    data_bytes: Ok(table.metadata.file_size),
                    index_bytes: Ok(u64::from(regions.tli.size()) + index),
                    filter_bytes: Ok(filter + filter_index),
                    entries: Ok(table.metadata.item_count),
                    upper_bytes: Ok(0),
                    content_bytes: tables.content_bytes.clone(),
                });
            }
            if !is_empty {
                tables.upper_bytes = above;
            }
        }
        tables
    }
}

struct FjallSession {
    database: Database,
    records: Keyspace,
    /// What the last get found.
    value: Option<UserValue>,
    is_synced: bool,
    directory: PathBuf,
}

impl FjallSession {
    #[inline]
    fn persist(&self) -> Result<(), KvError> {
        if !self.is_synced {
            return Ok(());
        }
        self.database
            .persist(PersistMode::SyncData)
            .map_err(|error| said(&error, "sync its log", &self.directory))
    }
}

impl Session for FjallSession {
    #[inline]
    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, KvError> {
        self.value = self
            .records
            .get(key)
            .map_err(|error| said(&error, "read", &self.directory))?;
        Ok(self.value.as_deref())
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), KvError> {
        self.records
            .insert(key, value)
            .map_err(|error| said(&error, "write", &self.directory))?;
        self.persist()
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), KvError> {
        self.records
            .remove(key)
            .map_err(|error| said(&error, "delete", &self.directory))?;
        self.persist()
    }

    fn scan(&mut self, from: &[u8], most: u32, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<u32, KvError> {
        let mut seen = 0;
        for record in self.records.range(from..).take(most as usize) {
            let (key, value) = record
                .into_inner()
                .map_err(|error| said(&error, "scan", &self.directory))?;
            visit(&key, &value);
            seen += 1;
        }
        Ok(seen)
    }
}
