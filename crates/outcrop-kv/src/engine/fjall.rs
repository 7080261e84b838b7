//! fjall: an LSM tree in this process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use fjall::{
    AbstractTree as _, CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode, UserValue,
};
use outcrop_measure::metric::Unavailable;
use outcrop_workload::store::{Durability, StoreCodec};

use super::check_directory;
use super::failure::{after_failed_write, io_error};
use crate::error::KvError;
use crate::store::{CompactionState, Opening, Session, Store, StoreCounters, StoreOptions};
use crate::tables::Tables;

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

/// The engine with its version.
fn named() -> String {
    format!("{ENGINE} {VERSION}")
}

/// An error of the engine in our words: it describes its errors by their names in the code alone.
fn said(error: &fjall::Error, action: &str, directory: &Path) -> KvError {
    use fjall::Error::{
        Decompress, InvalidTag, InvalidTrailer, InvalidVersion, Io, JournalRecovery, KeyspaceDeleted, Locked,
        Poisoned, Storage, Unrecoverable,
    };
    let damaged = |detail: &str| KvError::damaged(directory, detail);
    match error {
        Io(io) => io_error(&named(), action, directory, io),
        Storage(error) => said_of_tree(error, action, directory),
        Locked => KvError::locked(directory),
        InvalidVersion(Some(found)) => {
            let detail = format!("its format is that of {ENGINE} {found}");
            KvError::version(directory, &named(), detail)
        }
        InvalidVersion(None) => {
            let detail = "its file \"version\" names no known format";
            KvError::version(directory, &named(), detail)
        }
        JournalRecovery(why) => damaged(&format!("in its log, {}", wrong_in_log(*why))),
        InvalidTrailer => damaged("an entry of its log has the wrong end"),
        InvalidTag(_) => damaged("an entry of its log is of an unknown kind"),
        Decompress(codec) => damaged(&format!("an entry of its log cannot be decompressed ({codec})")),
        Unrecoverable => damaged("files of it are missing or have a form that they cannot have"),
        Poisoned => after_failed_write(&named(), action, directory),
        KeyspaceDeleted => KvError::engine(&named(), action, "the records were deleted meanwhile"),
        _ => unknown(action),
    }
}

/// The same of the tree below it.
fn said_of_tree(error: &fjall::LsmError, action: &str, directory: &Path) -> KvError {
    use fjall::LsmError::{
        ChecksumMismatch, Decompress, InvalidHeader, InvalidTag, InvalidTrailer, InvalidVersion, Io,
        Unrecoverable, Utf8,
    };
    let damaged = |detail: &str| KvError::damaged(directory, detail);
    match error {
        Io(io) => io_error(&named(), action, directory, io),
        InvalidVersion(found) => {
            let detail = format!("the format of its tree has the number {found}");
            KvError::version(directory, &named(), detail)
        }
        ChecksumMismatch { .. } => damaged("a checksum in its files is wrong"),
        Decompress(codec) => damaged(&format!("a block cannot be decompressed ({codec})")),
        InvalidHeader(_) => damaged("a block or a file has the wrong beginning"),
        InvalidTrailer => damaged("a block has the wrong end"),
        InvalidTag(_) => damaged("an entry is of an unknown kind"),
        Utf8(_) => damaged("a name in its files is not text"),
        Unrecoverable => damaged("files of it are missing or have a form that they cannot have"),
        _ => unknown(action),
    }
}

/// What is wrong with a batch of the log.
const fn wrong_in_log(why: fjall::JournalRecoveryError) -> &'static str {
    use fjall::JournalRecoveryError::{ChecksumMismatch, InsufficientLength, InvalidFileName, TooManyItems};
    match why {
        InsufficientLength => "a batch has too few entries",
        TooManyItems => "a batch has too many entries",
        ChecksumMismatch => "a checksum is wrong",
        InvalidFileName => "a file has a name that is not one of a log",
    }
}

/// Of an error that a later version of the engine may have.
fn unknown(action: &str) -> KvError {
    let detail = "it reports an error that Outcrop has no words for; please report this";
    KvError::engine(&named(), action, detail)
}

impl Store for Fjall {
    fn identity(&self) -> String {
        named()
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
                "fjall does not estimate its compaction debt",
            )),
            is_busy: self.database.active_compactions() > 0
                || self.database.outstanding_flushes() > 0
                || self.records.sealed_memtable_count() > 0,
        }
    }

    /// fjall keeps what compaction replaced for snapshots that may be older, and looks for such snapshots when a memtable is full. None is open here.
    fn remove_replaced_files(&self) -> Result<(), KvError> {
        let newest = self.database.seqno();
        let mut versions = self.records.tree.get_version_history_lock();
        versions
            .maintenance(self.records.path(), newest)
            .map_err(|error| said_of_tree(&error, "remove replaced files", &self.directory))
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
            deepest_level: Ok(0),
            codecs: Ok(BTreeSet::new()),
            ..Tables::unavailable("fjall does not say how large its blocks were before compression")
        };
        // From the first level down: what lies above the last one that has any table is not merged into it.
        for (number, level) in (0..).zip(version.iter_levels()) {
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
                    deepest_level: Ok(number),
                    // A table that is moved to another level keeps its codec.
                    codecs: Ok(BTreeSet::from([table
                        .metadata
                        .data_block_compression
                        .to_string()])),
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

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use fjall::JournalRecoveryError::{ChecksumMismatch, InsufficientLength, InvalidFileName, TooManyItems};
    use fjall::LsmError;

    use super::*;

    /// Every error that can be made from here; those that cannot are of files in faults.rs.
    fn errors() -> Vec<fjall::Error> {
        let codec = CompressionType::Lz4;
        let logs = [
            InsufficientLength,
            TooManyItems,
            ChecksumMismatch,
            InvalidFileName,
        ];
        let trees = [
            LsmError::Io(Error::from(ErrorKind::UnexpectedEof)),
            LsmError::Decompress(codec),
            LsmError::InvalidVersion(9),
            LsmError::Unrecoverable,
            LsmError::InvalidTag(("ValueType", 77)),
            LsmError::InvalidTrailer,
            LsmError::InvalidHeader("Block"),
        ];
        let mut errors = vec![
            fjall::Error::Io(Error::from(ErrorKind::StorageFull)),
            fjall::Error::InvalidVersion(None),
            fjall::Error::Decompress(codec),
            fjall::Error::InvalidTrailer,
            fjall::Error::InvalidTag(("JournalMarkerTag", 77)),
            fjall::Error::Poisoned,
            fjall::Error::KeyspaceDeleted,
            fjall::Error::Locked,
            fjall::Error::Unrecoverable,
        ];
        errors.extend(logs.map(fjall::Error::JournalRecovery));
        errors.extend(trees.map(fjall::Error::Storage));
        errors
    }

    #[test]
    fn every_error_is_said_in_words_with_what_to_do() {
        for error in errors() {
            let said = said(&error, "write", Path::new("/db")).to_string();
            for name in [
                "Error",
                "Invalid",
                "Marker",
                "Mismatch",
                "Unrecoverable",
                "Poisoned",
            ] {
                assert!(!said.contains(name), "{error:?}: {said}");
            }
            // What happened, and behind a semicolon what to do; no one but us deletes records.
            let says_what_to_do = said.contains("; ") || matches!(error, fjall::Error::KeyspaceDeleted);
            assert!(
                says_what_to_do && !said.contains("no words for"),
                "{error:?}: {said}"
            );
        }
    }

    #[test]
    fn a_write_after_one_that_failed_says_so_where_there_is_space() {
        let place = tempfile::tempdir().unwrap();
        let said = said(&fjall::Error::Poisoned, "write", place.path()).to_string();
        assert!(said.contains("an earlier write or sync failed"), "{said}");
    }
}
