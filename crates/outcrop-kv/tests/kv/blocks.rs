//! RocksDB's counts of blocks on loads whose blocks are known.

use std::path::Path;

use outcrop_kv::{Opening, Store, StoreCounters, StoreOptions, engine};
use outcrop_measure::Seed;
use outcrop_workload::Content;
use outcrop_workload::store::{StoreCodec, StoreCompression, StoreEngine};

use super::stage::{engines, workplace};

/// Records of 16 B and 1000 B: four fill a block of 4 KiB.
const RECORDS: u64 = 4000;
const RECORD_BYTES: u64 = 1016;
/// Gets of records that are farther apart than a block.
const GETS: u64 = 300;

fn has_rocksdb() -> bool {
    engines().contains(&StoreEngine::RocksDb)
}

/// A block cache of four blocks; all of the load fits into the write buffer, so that one flush makes one file.
fn options(codec: StoreCodec, block_cache_bytes: u64) -> StoreOptions {
    StoreOptions {
        compression: StoreCompression::of(codec),
        block_cache_bytes,
        write_buffer_bytes: 64 << 20,
        ..StoreOptions::of(StoreEngine::RocksDb)
    }
}

fn key(number: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

/// What was counted while the records were stored, and while some of them were read.
fn counted(options: &StoreOptions, directory: &Path) -> (StoreCounters, StoreCounters) {
    let store: Box<dyn Store> = engine::open(options, directory, Opening::Create).unwrap();
    let opened = store.counters();
    let mut session = store.session().unwrap();
    for number in 0..RECORDS {
        // Every codec makes it smaller: all but its beginning is zeros.
        let mut value = vec![0; 1000];
        Content::Random.filler(Seed(number)).fill(&mut value[..400]);
        session.put(&key(number), &value).unwrap();
    }
    store.flush().unwrap();
    let stored = store.counters();
    for number in 0..GETS {
        let number = number * 13 % RECORDS;
        assert_eq!(session.get(&key(number)).unwrap().map(<[u8]>::len), Some(1000));
    }
    let read = store.counters();
    (stored.since(&opened), read.since(&stored))
}

#[test]
fn blocks_compressed_and_decompressed_are_those_of_the_records_that_were_stored_and_read() {
    if !has_rocksdb() {
        return;
    }
    for codec in [StoreCodec::None, StoreCodec::Lz4, StoreCodec::Zstd] {
        let place = workplace();
        let (stored, read) = counted(&options(codec, 16 << 10), &place.path().join("db"));
        // A read of a record needs its block and no other; the few blocks beyond are those that find it, read when the file is opened.
        assert_eq!(read.cache_misses, Ok(GETS), "{codec:?}");
        assert_eq!(read.cache_hits, Ok(0), "{codec:?}");
        let (compressed, decompressed) = (
            stored.compressed_blocks.unwrap(),
            read.decompressed_blocks.unwrap(),
        );
        if codec == StoreCodec::None {
            assert_eq!((compressed, decompressed), (0, 0));
            continue;
        }
        assert!(
            (GETS..GETS + 5).contains(&decompressed),
            "{codec:?}: {decompressed}"
        );
        // A block is closed where the next record would not fit, so that it has three or four of them.
        let (least, most) = (RECORDS * RECORD_BYTES / 4500, RECORDS / 3 + 5);
        assert!((least..=most).contains(&compressed), "{codec:?}: {compressed}");
    }
}

#[test]
fn without_a_block_cache_the_blocks_fetched_are_not_known_rather_than_none() {
    if !has_rocksdb() {
        return;
    }
    let place = workplace();
    let (_, read) = counted(&options(StoreCodec::Lz4, 0), &place.path().join("db"));
    assert!(read.decompressed_blocks.unwrap() >= GETS);
    let why = read.cache_misses.unwrap_err();
    assert!(why.reason.contains("block cache"), "{why}");
}
