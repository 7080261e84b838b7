//! Which settings an engine has.

use outcrop_workload::store::{CompactionStyle, StoreCodec, StoreEngine, StoreIo};

use super::{
    BLOCK_CACHE, BLOOM_BITS, BOTTOMMOST, COMPACTION, COMPRESSION, COMPRESSION_BLOCK_SIZE, DICTIONARY,
    DURABILITY, FILESYSTEM, IO, LEVEL_CODECS, WRITE_BUFFER,
};
use crate::factor::{About, FactorRef};
use crate::settings::Settings;

/// What only RocksDB has.
static OF_ROCKSDB: &[FactorRef] = &[&BOTTOMMOST, &DICTIONARY, &COMPACTION, &IO];
/// What only LSM engines have beyond.
static OF_LSM: &[FactorRef] = &[
    &COMPRESSION,
    &COMPRESSION_BLOCK_SIZE,
    &LEVEL_CODECS,
    &BLOOM_BITS,
    &WRITE_BUFFER,
];
/// What engines have beyond that read from files.
static OF_FILES: &[FactorRef] = &[&BLOCK_CACHE];
/// What every engine has that stores something.
static OF_STORES: &[FactorRef] = &[&DURABILITY, &FILESYSTEM];

/// The settings that an engine does not have.
pub fn lacked_by(engine: StoreEngine) -> impl Iterator<Item = FactorRef> {
    let groups: &[&[FactorRef]] = &[OF_ROCKSDB, OF_LSM, OF_FILES, OF_STORES];
    let lacked = match engine {
        StoreEngine::RocksDb => 0,
        StoreEngine::Fjall => 1,
        StoreEngine::Redb => 2,
        StoreEngine::Redis | StoreEngine::Memcached => 3,
        StoreEngine::None => 4,
    };
    let lacked: Vec<FactorRef> = groups[..lacked].concat();
    lacked.into_iter()
}

/// Whether an engine has a setting.
pub fn has(engine: StoreEngine, factor: &About) -> bool {
    lacked_by(engine).all(|lacked| lacked.name != factor.name)
}

/// Whether the value of a setting that an engine lacks is what it does anyway: `none` for a codec, say.
pub fn is_what_it_does(engine: StoreEngine, factor: &About, factors: &Settings) -> bool {
    let is_none = |codec: Option<StoreCodec>| codec == Some(StoreCodec::None);
    match factor.name {
        name if name == COMPRESSION.name => is_none(factors.get(&COMPRESSION).map(|value| value.codec)),
        name if name == BOTTOMMOST.name => {
            engine != StoreEngine::Fjall && is_none(factors.get(&BOTTOMMOST).map(|value| value.codec))
        }
        name if name == LEVEL_CODECS.name => {
            let levels = factors.get(&LEVEL_CODECS);
            levels.is_some_and(|levels| levels.codecs().iter().all(|codec| *codec == StoreCodec::None))
        }
        name if name == DICTIONARY.name => factors.get(&DICTIONARY).is_some_and(|bytes| bytes.0 == 0),
        name if name == BLOOM_BITS.name => factors.get(&BLOOM_BITS) == Some(&0),
        name if name == BLOCK_CACHE.name => factors.get(&BLOCK_CACHE).is_some_and(|bytes| bytes.0 == 0),
        name if name == COMPACTION.name => {
            engine == StoreEngine::Fjall && factors.get(&COMPACTION) == Some(&CompactionStyle::Leveled)
        }
        name if name == IO.name => factors.get(&IO) == Some(&StoreIo::Buffered),
        name if name == FILESYSTEM.name => factors
            .get(&FILESYSTEM)
            .is_some_and(|filesystem| filesystem.0.is_none()),
        _ => false,
    }
}
