//! What plans say about key-value engines, in the driver's terms: what engines and workloads decide, and the checks between factors.

use outcrop_kv::{KvError, KvSpec, PageCache, StoreOptions, ValueSource};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use outcrop_schema::kv;
use outcrop_schema::{About, Factor, FactorRef, Settings, Value};
use outcrop_workload::Content;
use outcrop_workload::store::{Durability, LevelCodecs, StoreCodec, StoreCompression, StoreEngine};

use super::lacking::is_another_way;
use super::{ground, idle};
use crate::cell::{Subject, TrialOptions};
use crate::layer::Refusal;

/// Leaves out what the engine and the subject do not have, and fills in what the engine and the workload decide.
pub(super) fn complete(subject: &Subject, factors: &mut Settings) {
    let engine = *factors.value(&kv::ENGINE);
    let left_out: Vec<FactorRef> = kv::lacked_by(engine)
        .filter(|factor| !is_another_way(engine, *factor, factors))
        .collect();
    for factor in left_out {
        factors.remove(factor.about());
    }
    match engine {
        StoreEngine::Redb | StoreEngine::Memcached => {
            factors.set_default(&kv::DURABILITY, Durability::Unlogged);
        }
        StoreEngine::Fjall | StoreEngine::RocksDb | StoreEngine::Redis => {
            factors.set_default(&kv::DURABILITY, Durability::Logged);
        }
        StoreEngine::None => {}
    }
    // A cell is not named after a codec that it does not have.
    if idle::replaced(factors).is_some() {
        factors.remove(&kv::COMPRESSION);
    }
    // Nothing is compressed at once, and nothing depends on how much.
    if !compresses(factors) && factors.has(&kv::DICTIONARY) {
        factors.set(&kv::DICTIONARY, ByteSize(0));
    }
    if *subject.settings.value(&kv::DATA) != kv::ValueData::Generated {
        factors.remove(&kv::CONTENT);
    }
    let workload = *factors.value(&kv::WORKLOAD);
    factors.set_default(&kv::REQUESTS, workload.requests());
    factors.set_default(&kv::VALUE_SIZE, workload.value_size());
}

/// Whether any level has a codec.
pub(super) fn compresses(factors: &Settings) -> bool {
    let is_codec = |codec: StoreCodec| codec != StoreCodec::None;
    let has_codec = |factor: &Factor<StoreCompression>| {
        let compression = factors.get(factor);
        compression.is_some_and(|compression| is_codec(compression.codec))
    };
    let levels = factors.get(&kv::LEVEL_CODECS);
    let of_levels = match levels.map_or(&[][..], LevelCodecs::codecs) {
        [] => has_codec(&kv::COMPRESSION),
        levels => levels.iter().copied().any(is_codec),
    };
    of_levels || has_codec(&kv::BOTTOMMOST)
}

/// Lets the driver judge the trial, as it will when it starts.
pub(super) fn check(factors: &Settings, trial: &TrialOptions) -> Result<(), Refusal> {
    if let Some(filesystem) = ground::filesystem_of(factors) {
        let refused = |message: String| Refusal::of(&kv::FILESYSTEM, message);
        filesystem
            .validate()
            .map_err(|error| refused(error.to_string()))?;
        if filesystem.kind.is_read_only() {
            let message = format!(
                "{} cannot be written; use ext4, xfs, btrfs or f2fs",
                filesystem.kind
            );
            return Err(refused(message));
        }
    }
    let spec = kv_spec(factors, trial, Seed(0), None);
    match spec.validate() {
        // Plans combine engines and settings freely: what an engine lacks is recorded as not measured.
        Ok(()) | Err(KvError::Lacks { .. }) => Ok(()),
        Err(error) => {
            let factor = match &error {
                KvError::Spec { field, .. } => factor_of(field),
                _ => &kv::ENGINE,
            };
            Err(Refusal::of(factor, error.to_string()))
        }
    }
}

fn factor_of(field: &str) -> &'static About {
    match field {
        "block_size" => &kv::COMPRESSION_BLOCK_SIZE,
        "bloom_bits" => &kv::BLOOM_BITS,
        "write_buffer" => &kv::WRITE_BUFFER,
        "dictionary" => &kv::DICTIONARY,
        "threads" => &kv::THREADS,
        "processes" => &kv::PROCESSES,
        "records" => &kv::RECORDS,
        "memory_limit" => &kv::MEMORY_LIMIT,
        _ => &kv::ENGINE,
    }
}

/// How the engine of a cell is opened.
pub(super) fn options(factors: &Settings) -> StoreOptions {
    fn given<T: Value>(factors: &Settings, factor: &Factor<T>, otherwise: T) -> T {
        factors.get(factor).cloned().unwrap_or(otherwise)
    }
    let engine = *factors.value(&kv::ENGINE);
    let default = StoreOptions::of(engine);
    let bytes = |factor: &Factor<ByteSize>, otherwise: u64| given(factors, factor, ByteSize(otherwise)).0;
    let small = |factor: &Factor<ByteSize>, otherwise: u32| {
        u32::try_from(bytes(factor, otherwise.into())).unwrap_or(u32::MAX)
    };
    StoreOptions {
        engine,
        compression: given(factors, &kv::COMPRESSION, default.compression),
        level_codecs: given(factors, &kv::LEVEL_CODECS, default.level_codecs),
        bottommost: factors.get(&kv::BOTTOMMOST).copied(),
        dictionary_bytes: small(&kv::DICTIONARY, default.dictionary_bytes),
        block_size_bytes: small(&kv::COMPRESSION_BLOCK_SIZE, default.block_size_bytes),
        block_cache_bytes: bytes(&kv::BLOCK_CACHE, default.block_cache_bytes),
        bloom_bits: given(factors, &kv::BLOOM_BITS, default.bloom_bits),
        write_buffer_bytes: bytes(&kv::WRITE_BUFFER, default.write_buffer_bytes),
        compaction: given(factors, &kv::COMPACTION, default.compaction),
        io: given(factors, &kv::IO, default.io),
        durability: given(factors, &kv::DURABILITY, default.durability),
        memory_bytes: None,
    }
}

/// The trial of a cell; `pool` has the bytes that values are cut from.
pub(super) fn kv_spec(
    factors: &Settings,
    trial: &TrialOptions,
    seed: Seed,
    pool: Option<ValueSource>,
) -> KvSpec {
    // Where values are cut from data, there is no content.
    let content = factors.get(&kv::CONTENT).copied().unwrap_or(Content::Random);
    KvSpec {
        options: options(factors),
        workload: *factors.value(&kv::WORKLOAD),
        requests: *factors.value(&kv::REQUESTS),
        records: *factors.value(&kv::RECORDS),
        value_size: *factors.value(&kv::VALUE_SIZE),
        values: pool.unwrap_or(ValueSource::Content(content)),
        threads: *factors.value(&kv::THREADS),
        processes: *factors.value(&kv::PROCESSES),
        arrival: *factors.value(&kv::ARRIVAL),
        settling: *factors.value(&kv::SETTLING),
        page_cache: match *factors.value(&kv::PAGE_CACHE) {
            kv::PageCache::Dropped => PageCache::Dropped,
            kv::PageCache::Kept => PageCache::Kept,
        },
        memory_limit_bytes: factors.value(&kv::MEMORY_LIMIT).0.map(|limit| limit.0),
        warm_up: trial.warm_up.duration(),
        duration: trial.duration.duration(),
        interval: trial.interval.duration(),
        seed,
    }
}
