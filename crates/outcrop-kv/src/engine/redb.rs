//! redb: a B-tree without compression, one transaction for each request.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use outcrop_measure::metric::Unavailable;
use outcrop_workload::store::Durability;
use redb::{Database, ReadableDatabase as _, StorageError, TableDefinition};

use super::check_directory;
use super::failure::{self, after_failed_write, io_error};
use crate::error::KvError;
use crate::store::{CompactionState, Opening, Session, Store, StoreCounters, StoreOptions};
use crate::tables::Tables;

const ENGINE: &str = "redb";
/// The version in Cargo.lock; a test holds the two together.
pub(super) const VERSION: &str = "4.6.0";
const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");

pub(super) struct Redb {
    database: Arc<Database>,
    durability: redb::Durability,
    directory: PathBuf,
}

impl Redb {
    pub(super) fn open(options: &StoreOptions, directory: &Path, opening: Opening) -> Result<Self, KvError> {
        check_directory(directory, opening)?;
        std::fs::create_dir_all(directory).map_err(|error| KvError::path("make", directory, error))?;
        let path = directory.join("records.redb");
        let cache_bytes = usize::try_from(options.block_cache_bytes).unwrap_or(usize::MAX);
        let mut builder = Database::builder();
        builder.set_cache_size(cache_bytes);
        let opened = match opening {
            Opening::Create => builder.create(path),
            Opening::Existing => builder.open(path),
        };
        let database = opened.map_err(|error| said(error.into(), "open a database", directory))?;
        let store = Self {
            database: Arc::new(database),
            durability: match options.durability {
                Durability::Synced => redb::Durability::Immediate,
                Durability::Logged | Durability::Unlogged => redb::Durability::None,
            },
            directory: directory.to_owned(),
        };
        // Readers need the table.
        store.commit(redb::Durability::Immediate, |_| Ok(()))?;
        Ok(store)
    }

    fn commit(
        &self,
        durability: redb::Durability,
        change: impl FnOnce(&mut redb::Table<'_, &[u8], &[u8]>) -> Result<(), StorageError>,
    ) -> Result<(), KvError> {
        let changed = commit(&self.database, durability, change);
        changed.map_err(|error| said(error, "write", &self.directory))
    }
}

/// One write transaction.
fn commit(
    database: &Database,
    durability: redb::Durability,
    change: impl FnOnce(&mut redb::Table<'_, &[u8], &[u8]>) -> Result<(), StorageError>,
) -> Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(durability)?;
    change(&mut transaction.open_table(RECORDS)?)?;
    transaction.commit()?;
    Ok(())
}

/// The engine with its version.
fn named() -> String {
    format!("{ENGINE} {VERSION}")
}

/// The library has no error for files that are newer than it: it calls them corrupted, in these words.
const LATER_VERSION: &str = "file format version";

/// An error of the engine in our words.
fn said(error: redb::Error, action: &str, directory: &Path) -> KvError {
    match error {
        redb::Error::Io(io) => io_error(&named(), action, directory, &io),
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => KvError::locked(directory),
        redb::Error::UpgradeRequired(found) => {
            let detail = format!("its file format is version {found}");
            KvError::version(directory, &named(), detail)
        }
        redb::Error::Corrupted(detail) if detail.contains(LATER_VERSION) => {
            KvError::version(directory, &named(), detail)
        }
        redb::Error::Corrupted(detail) => KvError::damaged(directory, detail),
        redb::Error::RepairAborted => {
            KvError::damaged(directory, "it was not closed, and could not be repaired")
        }
        redb::Error::PreviousIo => after_failed_write(&named(), action, directory),
        redb::Error::LockPoisoned(_) => KvError::engine(
            &named(),
            action,
            "one of its threads failed; see the error before",
        ),
        // The rest are mistakes of ours in using it, which it describes in words.
        error => failure::other(&named(), action, error),
    }
}

impl Store for Redb {
    fn identity(&self) -> String {
        named()
    }

    fn session(&self) -> Result<Box<dyn Session>, KvError> {
        Ok(Box::new(RedbSession {
            database: Arc::clone(&self.database),
            durability: self.durability,
            directory: self.directory.clone(),
            value: Vec::new(),
        }))
    }

    fn flush(&self) -> Result<(), KvError> {
        // A commit that reaches the device takes the earlier ones with it.
        self.commit(redb::Durability::Immediate, |_| Ok(()))
    }

    fn compaction(&self) -> CompactionState {
        CompactionState {
            debt_bytes: Err(Unavailable::because("a B-tree has no compaction to do")),
            is_busy: false,
        }
    }

    fn counters(&self) -> StoreCounters {
        StoreCounters::unavailable("redb does not count it")
    }

    fn tables(&self) -> Tables {
        Tables::unavailable("a B-tree has no blocks, index and filters of files")
    }
}

struct RedbSession {
    database: Arc<Database>,
    durability: redb::Durability,
    directory: PathBuf,
    /// What the last get found: redb lends it for as long as a transaction lives.
    value: Vec<u8>,
}

impl RedbSession {
    fn read(&mut self, key: &[u8]) -> Result<bool, redb::Error> {
        let table = self.database.begin_read()?.open_table(RECORDS)?;
        self.value.clear();
        let Some(found) = table.get(key)? else {
            return Ok(false);
        };
        self.value.extend_from_slice(found.value());
        Ok(true)
    }

    fn visit(&self, from: &[u8], most: u32, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<u32, redb::Error> {
        let table = self.database.begin_read()?.open_table(RECORDS)?;
        let mut seen = 0;
        for record in table.range(from..)?.take(most as usize) {
            let (key, value) = record?;
            visit(key.value(), value.value());
            seen += 1;
        }
        Ok(seen)
    }
}

impl Session for RedbSession {
    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, KvError> {
        match self.read(key) {
            Ok(is_there) => Ok(is_there.then_some(&self.value)),
            Err(error) => Err(said(error, "read", &self.directory)),
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), KvError> {
        commit(&self.database, self.durability, |table| {
            table.insert(key, value).map(drop)
        })
        .map_err(|error| said(error, "write", &self.directory))
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), KvError> {
        commit(&self.database, self.durability, |table| {
            table.remove(key).map(drop)
        })
        .map_err(|error| said(error, "delete", &self.directory))
    }

    fn scan(&mut self, from: &[u8], most: u32, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<u32, KvError> {
        self.visit(from, most, visit)
            .map_err(|error| said(error, "scan", &self.directory))
    }
}
