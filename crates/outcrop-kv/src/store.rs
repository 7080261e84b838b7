//! What the driver asks of an engine: an open database, and a thread's handle on it.

use std::path::PathBuf;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::process::OtherProcess;
use outcrop_workload::store::{
    CompactionStyle, Durability, LevelCodecs, StoreCompression, StoreEngine, StoreIo,
};
use serde::{Deserialize, Serialize};

use crate::error::KvError;
use crate::tables::Tables;

/// How an engine is opened. What an engine does not have is refused by [`check`](crate::engine::check), never ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreOptions {
    /// Which engine.
    pub engine: StoreEngine,
    /// Codec of the blocks in files.
    pub compression: StoreCompression,
    /// Codecs of single levels, where they differ.
    pub level_codecs: LevelCodecs,
    /// Another codec for the last level.
    pub bottommost: Option<StoreCompression>,
    /// Bytes of a dictionary per file; 0 for none.
    pub dictionary_bytes: u32,
    /// Bytes that are compressed at once.
    pub block_size_bytes: u32,
    /// The engine's cache of uncompressed blocks; 0 for none.
    pub block_cache_bytes: u64,
    /// Bits per key of the bloom filters; 0 for none.
    pub bloom_bits: u32,
    /// Memory that collects writes before they become a file.
    pub write_buffer_bytes: u64,
    /// How files are merged.
    pub compaction: CompactionStyle,
    /// Through the page cache or past it.
    pub io: StoreIo,
    /// What a write has to reach.
    pub durability: Durability,
    /// Most memory for the records of an engine that keeps all of them in memory; none for what a trial's records need, or 1 GiB.
    pub memory_bytes: Option<u64>,
}

impl StoreOptions {
    /// The engine as most people have it: uncompressed blocks of 4 KiB, 32 MiB of cache and 10 bits of bloom filter.
    pub const fn of(engine: StoreEngine) -> Self {
        Self {
            engine,
            compression: StoreCompression::NONE,
            level_codecs: LevelCodecs::ALL,
            bottommost: None,
            dictionary_bytes: 0,
            block_size_bytes: 4096,
            block_cache_bytes: 32 << 20,
            bloom_bits: 10,
            write_buffer_bytes: 64 << 20,
            compaction: CompactionStyle::Leveled,
            io: StoreIo::Buffered,
            durability: Durability::Logged,
            memory_bytes: None,
        }
    }

    /// Most memory for records in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes.unwrap_or(1 << 30)
    }
}

/// Whether a database is made or was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opening {
    /// It must not exist.
    Create,
    /// It must exist.
    Existing,
}

/// One open database, shared by threads.
pub trait Store: Send + Sync {
    /// The engine with its version, as records have it: `RocksDB 7.8.3 (librocksdb.so.7.8.3)`.
    fn identity(&self) -> String;

    /// The files of the codecs that it was linked to, where they are libraries of the system.
    fn codec_libraries(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// A handle for one thread.
    ///
    /// # Errors
    /// The engine cannot give another one.
    fn session(&self) -> Result<Box<dyn Session>, KvError>;

    /// Brings everything acknowledged to the files, and the files to the device.
    ///
    /// # Errors
    /// The device or the filesystem refuses.
    fn flush(&self) -> Result<(), KvError>;

    /// What compaction still has to do.
    fn compaction(&self) -> CompactionState;

    /// Removes the files that compaction has replaced, where the engine would keep them until it writes again. No request is under way.
    ///
    /// # Errors
    /// The filesystem refuses.
    fn remove_replaced_files(&self) -> Result<(), KvError> {
        Ok(())
    }

    /// The engine's own counters since it was opened.
    fn counters(&self) -> StoreCounters;

    /// What the engine's files hold now.
    fn tables(&self) -> Tables {
        Tables::unavailable("the engine does not say what its files hold")
    }

    /// How many records a server holds, which may have dropped some; `None` where the engine is in this process and keeps what it acknowledges.
    ///
    /// # Errors
    /// The server does not say.
    fn records(&self) -> Result<Option<u64>, KvError> {
        Ok(None)
    }

    /// The process that does the engine's work, where it is not this one.
    fn server(&self) -> Option<OtherProcess> {
        None
    }
}

/// A thread's handle on a database, with the buffers that it reuses.
pub trait Session: Send {
    /// The value of a key, valid until the next call; `None` where there is no such key.
    ///
    /// # Errors
    /// What the engine says.
    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, KvError>;

    /// Stores a value; acknowledged when it returns.
    ///
    /// # Errors
    /// What the engine says.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), KvError>;

    /// Removes a key, whether or not it is there.
    ///
    /// # Errors
    /// What the engine says.
    fn delete(&mut self, key: &[u8]) -> Result<(), KvError>;

    /// Visits up to `most` records in the order of their keys, the first at or behind `from`; how many there were.
    ///
    /// # Errors
    /// What the engine says.
    fn scan(&mut self, from: &[u8], most: u32, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<u32, KvError>;
}

/// A count, or why the engine has none.
pub type Counted = Result<u64, Unavailable>;

/// What compaction still has to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompactionState {
    /// Bytes that have to be rewritten until the tree has its shape, as the engine estimates.
    pub debt_bytes: Counted,
    /// Whether a flush or a compaction is running or waiting.
    pub is_busy: bool,
}

/// The engine's own counters since it was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreCounters {
    /// Bytes written to files: log, flushes and compactions.
    pub written_bytes: Counted,
    /// The part of it that compactions wrote.
    pub compaction_written_bytes: Counted,
    /// Bytes read from files, by requests and by compactions.
    pub read_bytes: Counted,
    /// Blocks found in the block cache.
    pub cache_hits: Counted,
    /// Blocks not found there.
    pub cache_misses: Counted,
    /// Blocks that were compressed, by flushes and compactions.
    pub compressed_blocks: Counted,
    /// Blocks that were decompressed, by requests and compactions.
    pub decompressed_blocks: Counted,
    /// Bytes that compactions read from files.
    pub compaction_read_bytes: Counted,
    /// Bytes that flushes and compactions wrote to files.
    pub table_written_bytes: Counted,
    /// Time that writers were held back, in nanoseconds, summed over them.
    pub stalled_ns: Counted,
}

impl StoreCounters {
    /// Counters of an engine that keeps none.
    pub fn unavailable(why: &str) -> Self {
        let none = || Err(Unavailable::because(why));
        Self {
            written_bytes: none(),
            compaction_written_bytes: none(),
            read_bytes: none(),
            cache_hits: none(),
            cache_misses: none(),
            compressed_blocks: none(),
            decompressed_blocks: none(),
            compaction_read_bytes: none(),
            table_written_bytes: none(),
            stalled_ns: none(),
        }
    }

    /// What was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let since = |now: &Counted, before: &Counted| match (now, before) {
            (Ok(now), Ok(before)) => Ok(now.saturating_sub(*before)),
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
        };
        self.joined(earlier, since)
    }

    /// The sum of two databases' counters.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |one: &Counted, other: &Counted| match (one, other) {
            (Ok(one), Ok(other)) => Ok(one + other),
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
        };
        self.joined(other, sum)
    }

    fn joined(&self, other: &Self, join: fn(&Counted, &Counted) -> Counted) -> Self {
        Self {
            written_bytes: join(&self.written_bytes, &other.written_bytes),
            compaction_written_bytes: join(&self.compaction_written_bytes, &other.compaction_written_bytes),
            read_bytes: join(&self.read_bytes, &other.read_bytes),
            cache_hits: join(&self.cache_hits, &other.cache_hits),
            cache_misses: join(&self.cache_misses, &other.cache_misses),
            compressed_blocks: join(&self.compressed_blocks, &other.compressed_blocks),
            decompressed_blocks: join(&self.decompressed_blocks, &other.decompressed_blocks),
            compaction_read_bytes: join(&self.compaction_read_bytes, &other.compaction_read_bytes),
            table_written_bytes: join(&self.table_written_bytes, &other.table_written_bytes),
            stalled_ns: join(&self.stalled_ns, &other.stalled_ns),
        }
    }
}
