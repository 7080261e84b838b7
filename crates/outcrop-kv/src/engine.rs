//! The engines, and which options each of them takes.

mod failure;
mod fjall;
mod none;
mod redb;
mod rocksdb;
mod server;

use std::path::Path;

use outcrop_measure::metric::Unavailable;
use outcrop_measure::units::format_bytes;
use outcrop_workload::store::{
    CompactionStyle, Durability, StoreCodec, StoreCompression, StoreEngine, StoreIo,
};

use self::server::{Program, Served};
use crate::error::KvError;
use crate::store::{Opening, Store, StoreOptions};

/// Blocks of files: what all engines take.
const LEAST_BLOCK_BYTES: u32 = 1 << 10;
const MOST_BLOCK_BYTES: u32 = 1 << 20;
/// Filters of more bits are larger than what they save.
const MOST_BLOOM_BITS: u32 = 64;
const LEAST_WRITE_BUFFER_BYTES: u64 = 1 << 16;
/// memcached's largest item is 1 MiB with its key and its header.
const MOST_MEMCACHED_VALUE_BYTES: u32 = (1 << 20) - 512;
/// Snappy, LZ4 and zlib see at most this far; zstd's own limit in files is no more use.
const MOST_DICTIONARY_BYTES: u32 = 1 << 20;

/// Opens a database in a directory that is the driver's own.
///
/// # Errors
/// The engine is not on this machine, the directory holds a database that it cannot read or that another process has open, or the filesystem refuses.
pub fn open(options: &StoreOptions, directory: &Path, opening: Opening) -> Result<Box<dyn Store>, KvError> {
    check(options)?;
    Ok(match options.engine {
        StoreEngine::Fjall => Box::new(fjall::Fjall::open(options, directory, opening)?),
        StoreEngine::RocksDb => Box::new(rocksdb::RocksDb::open(options, directory, opening)?),
        StoreEngine::Redb => Box::new(redb::Redb::open(options, directory, opening)?),
        StoreEngine::Redis => Box::new(Served::open(Program::Redis, options, directory, opening)?),
        StoreEngine::Memcached => Box::new(Served::open(Program::Memcached, options, directory, opening)?),
        StoreEngine::None => Box::new(none::Nothing),
    })
}

/// Whether an engine has its keys in an order in which they can be scanned.
pub const fn has_scans(engine: StoreEngine) -> bool {
    !matches!(engine, StoreEngine::Redis | StoreEngine::Memcached)
}

/// Whether what is stored can come back at all.
pub const fn keeps_values(engine: StoreEngine) -> bool {
    !matches!(engine, StoreEngine::None)
}

/// Whether an engine keeps more in files than its log.
///
/// # Errors
/// It does not.
pub fn keeps_more_than_its_log(engine: StoreEngine) -> Result<(), Unavailable> {
    match engine {
        StoreEngine::Redis => Err(Unavailable::because("its log is all that Redis keeps in files")),
        _ => Ok(()),
    }
}

/// Whether an engine keeps every record in memory, whatever it writes to files.
pub(crate) const fn keeps_records_in_memory(engine: StoreEngine) -> bool {
    matches!(engine, StoreEngine::Redis | StoreEngine::Memcached)
}

/// Whether an engine's process that ended itself says that a write had failed before.
pub(crate) fn says_that_a_write_failed(last_words: &str) -> bool {
    rocksdb::says_that_a_write_failed(last_words)
}

/// Refuses scans of an engine that has none.
pub(crate) fn check_scans(engine: StoreEngine) -> Result<(), KvError> {
    match has_scans(engine) {
        true => Ok(()),
        false => Err(no_scans(engine)),
    }
}

/// Refuses values that are longer than an engine takes.
pub(crate) fn check_value_size(engine: StoreEngine, longest_bytes: u32) -> Result<(), KvError> {
    if engine == StoreEngine::Memcached && longest_bytes > MOST_MEMCACHED_VALUE_BYTES {
        let has = "memcached takes values of less than 1 MiB; the other engines take larger ones";
        let seen = format!("a value of {}", format_bytes(longest_bytes.into()));
        return Err(KvError::lacks(seen, has));
    }
    Ok(())
}

/// What is said of a scan to an engine that has none.
fn no_scans(engine: StoreEngine) -> KvError {
    let has = format!("{engine} keeps its keys in no order; fjall, rocksdb and redb have scans");
    KvError::lacks("scanning keys in their order", has)
}

/// Whether an engine that is opened like this keeps files at all.
///
/// # Errors
/// Why it keeps none.
pub fn keeps_files(options: &StoreOptions) -> Result<(), Unavailable> {
    let why = match (options.engine, options.durability) {
        (StoreEngine::None, _) => "nothing is stored",
        (StoreEngine::Memcached, _) => "memcached keeps its records in memory and writes no files",
        (StoreEngine::Redis, Durability::Unlogged) => {
            "without its log, Redis keeps its records in memory and writes no files"
        }
        _ => return Ok(()),
    };
    Err(Unavailable::because(why))
}

/// What an engine can make a write reach before it is acknowledged.
pub const fn durabilities(engine: StoreEngine) -> &'static [Durability] {
    match engine {
        StoreEngine::RocksDb | StoreEngine::Redis => &Durability::ALL,
        StoreEngine::Memcached => &[Durability::Unlogged],
        StoreEngine::Fjall => &[Durability::Logged, Durability::Synced],
        StoreEngine::Redb => &[Durability::Unlogged, Durability::Synced],
        StoreEngine::None => &[],
    }
}

/// Whether a file of a database is a part of the engine's log, by its name.
pub fn is_log(engine: StoreEngine, path: &Path) -> bool {
    let ending = match engine {
        StoreEngine::RocksDb => "log",
        StoreEngine::Fjall => "jnl",
        StoreEngine::Redis => "aof",
        StoreEngine::Redb | StoreEngine::Memcached | StoreEngine::None => return false,
    };
    path.extension().is_some_and(|found| found == ending)
}

/// Whether the engine is on this machine; its library or its program is looked for, and nothing is opened or started.
///
/// # Errors
/// [`KvError::Absent`] with what to install.
pub fn find(engine: StoreEngine) -> Result<(), KvError> {
    match engine {
        StoreEngine::RocksDb => rocksdb::find().map(drop),
        StoreEngine::Redis => Program::Redis.find().map(drop),
        StoreEngine::Memcached => Program::Memcached.find().map(drop),
        StoreEngine::Fjall | StoreEngine::Redb | StoreEngine::None => Ok(()),
    }
}

/// Whether the engine can be used: its library is opened, or its program says its version; no database is opened.
///
/// # Errors
/// [`KvError::Absent`] with what to install.
pub fn load(engine: StoreEngine) -> Result<(), KvError> {
    let says_its_version = |program: Program| program.identity(&program.find()?).map(drop);
    match engine {
        StoreEngine::RocksDb => rocksdb::load(),
        StoreEngine::Redis => says_its_version(Program::Redis),
        StoreEngine::Memcached => says_its_version(Program::Memcached),
        StoreEngine::Fjall | StoreEngine::Redb | StoreEngine::None => Ok(()),
    }
}

/// Checks what can be judged without the engine: an option that it does not have is refused, not ignored.
///
/// # Errors
/// [`KvError::Spec`] with the option, the value seen and what is accepted; [`KvError::Lacks`] where another engine would accept it.
pub fn check(options: &StoreOptions) -> Result<(), KvError> {
    check_ranges(options)?;
    match options.engine {
        StoreEngine::RocksDb => check_rocksdb(options),
        StoreEngine::Fjall => check_fjall(options),
        StoreEngine::Redb => check_uncompressed(options, "redb stores rows as they are"),
        StoreEngine::Redis => check_uncompressed(options, "Redis stores values as they are"),
        StoreEngine::Memcached => check_uncompressed(options, "memcached stores values as they are"),
        StoreEngine::None => check_uncompressed(options, "nothing is stored"),
    }
}

fn check_ranges(options: &StoreOptions) -> Result<(), KvError> {
    let block = options.block_size_bytes;
    if !(LEAST_BLOCK_BYTES..=MOST_BLOCK_BYTES).contains(&block) {
        return Err(KvError::spec(
            "block_size",
            format_bytes(block.into()),
            "1 KiB to 1 MiB, such as 4KiB",
        ));
    }
    if options.bloom_bits > MOST_BLOOM_BITS {
        let expected = format!("0 (no filter) to {MOST_BLOOM_BITS} bits per key");
        return Err(KvError::spec("bloom_bits", options.bloom_bits, expected));
    }
    if options.write_buffer_bytes < LEAST_WRITE_BUFFER_BYTES {
        let seen = format_bytes(options.write_buffer_bytes);
        return Err(KvError::spec("write_buffer", seen, "64 KiB or more"));
    }
    if options.dictionary_bytes > MOST_DICTIONARY_BYTES {
        let seen = format_bytes(options.dictionary_bytes.into());
        return Err(KvError::spec("dictionary", seen, "at most 1 MiB"));
    }
    Ok(())
}

fn check_rocksdb(options: &StoreOptions) -> Result<(), KvError> {
    let has_codec = options.compression.codec != StoreCodec::None
        || options
            .bottommost
            .is_some_and(|codec| codec.codec != StoreCodec::None)
        || !options.level_codecs.codecs().is_empty();
    if options.dictionary_bytes > 0 && !has_codec {
        let seen = format_bytes(options.dictionary_bytes.into());
        return Err(KvError::spec("dictionary", seen, "0 without compression"));
    }
    Ok(())
}

fn check_fjall(options: &StoreOptions) -> Result<(), KvError> {
    check_codecs(options, "fjall has none and lz4; rocksdb has the others")?;
    if let Some(bottommost) = options.bottommost {
        let has = "fjall has one codec for all levels; rocksdb has it";
        return Err(KvError::lacks(format!("{bottommost} for the last level"), has));
    }
    check_no_dictionary(options, "fjall has no dictionaries; rocksdb has them")?;
    if options.compaction != CompactionStyle::Leveled {
        let has = "fjall has leveled; rocksdb has both";
        return Err(KvError::lacks(format!("{} compaction", options.compaction), has));
    }
    check_buffered(options)?;
    check_durability(
        options,
        "fjall always writes its log: it has logged and synced; rocksdb has all three",
    )
}

/// For engines without blocks that could be compressed.
fn check_uncompressed(options: &StoreOptions, why: &str) -> Result<(), KvError> {
    check_codecs(options, why)?;
    if let Some(bottommost) = options.bottommost {
        return Err(KvError::lacks(format!("{bottommost} for the last level"), why));
    }
    check_no_dictionary(options, why)?;
    check_buffered(options)?;
    let has = match options.engine {
        StoreEngine::None => return Ok(()),
        StoreEngine::Memcached => {
            "memcached keeps its records in memory alone (unlogged); fjall, rocksdb and redis have a log"
        }
        _ => {
            "redb has no log: a commit either reaches the device (synced) or stays in memory (unlogged); fjall, rocksdb and redis have a log"
        }
    };
    check_durability(options, has)
}

fn check_codecs(options: &StoreOptions, has: &str) -> Result<(), KvError> {
    let StoreCompression { codec, .. } = options.compression;
    let codecs = options.level_codecs.codecs().iter().copied();
    let mut codecs = codecs.chain([codec]);
    match codecs.find(|codec| !options.engine.codecs().contains(codec)) {
        None => Ok(()),
        // With its level, where it has one.
        Some(other) if other == codec => Err(KvError::lacks(
            format!("compression {}", options.compression),
            has,
        )),
        Some(other) => Err(KvError::lacks(format!("compression {other}"), has)),
    }
}

fn check_durability(options: &StoreOptions, has: &str) -> Result<(), KvError> {
    match durabilities(options.engine).contains(&options.durability) {
        true => Ok(()),
        false => Err(KvError::lacks(format!("durability {}", options.durability), has)),
    }
}

fn check_no_dictionary(options: &StoreOptions, has: &str) -> Result<(), KvError> {
    match u64::from(options.dictionary_bytes) {
        0 => Ok(()),
        bytes => Err(KvError::lacks(
            format!("a dictionary of {}", format_bytes(bytes)),
            has,
        )),
    }
}

fn check_buffered(options: &StoreOptions) -> Result<(), KvError> {
    match options.io {
        StoreIo::Buffered => Ok(()),
        StoreIo::Direct => {
            let has = format!("{} has buffered; rocksdb has direct I/O", options.engine);
            Err(KvError::lacks("direct I/O", has))
        }
    }
}

/// Whether a directory may be opened in this way.
fn check_directory(directory: &Path, opening: Opening) -> Result<(), KvError> {
    let entries = std::fs::read_dir(directory);
    let is_empty = match entries {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(KvError::path("list", directory, error)),
    };
    match (opening, is_empty) {
        (Opening::Create, false) => Err(KvError::path("make a database in", directory, "it is not empty")),
        (Opening::Existing, true) => Err(KvError::path("open", directory, "it holds no database")),
        _ => Ok(()),
    }
}
