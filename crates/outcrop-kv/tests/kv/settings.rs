//! Each setting reaches the engine: what RocksDB writes down about its options, and what filters, caches and blocks do.

use std::collections::BTreeMap;
use std::path::Path;

use outcrop_kv::{Opening, Session, Space, Store, StoreCounters, StoreOptions, engine};
use outcrop_measure::Seed;
use outcrop_workload::Content;
use outcrop_workload::store::{CompactionStyle, Durability, StoreEngine, StoreIo};

use super::stage::{engines, options, workplace};

const RECORDS: u32 = 4000;
const VALUE_BYTES: usize = 1000;

/// Keys have even numbers, so that a key between two others is never there.
fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

/// A store in which every record is in a file.
fn loaded(options: &StoreOptions, directory: &Path) -> (Box<dyn Store>, Box<dyn Session>) {
    let store = engine::open(options, directory, Opening::Create).unwrap();
    let mut session = store.session().unwrap();
    let mut value = vec![0; VALUE_BYTES];
    for number in 0..RECORDS {
        Content::Random.filler(Seed(number.into())).fill(&mut value);
        session.put(&key(2 * number), &value).unwrap();
    }
    store.flush().unwrap();
    while store.compaction().is_busy {
        std::thread::yield_now();
    }
    (store, session)
}

/// What the engine counts while every such key is looked up once.
fn counted(store: &dyn Store, session: &mut dyn Session, key_of: impl Fn(u32) -> u32) -> StoreCounters {
    let before = store.counters();
    for number in 0..RECORDS {
        // A stride without a common factor: neighbours in a block are not read one after the other.
        let number = number * 1237 % RECORDS;
        session.get(&key(key_of(number))).unwrap();
    }
    store.counters().since(&before)
}

/// The engines that count what they read.
fn counting_engines() -> impl Iterator<Item = StoreEngine> {
    engines()
        .into_iter()
        .filter(|engine| *engine != StoreEngine::Redb)
}

#[test]
fn a_bloom_filter_spares_absent_keys_their_blocks() {
    for engine in counting_engines() {
        let [without, with] = [0, 10].map(|bloom_bits| {
            let place = workplace();
            let options = StoreOptions {
                bloom_bits,
                ..options(engine)
            };
            let (store, mut session) = loaded(&options, &place.path().join("db"));
            let counters = counted(&*store, &mut *session, |number| 2 * number + 1);
            counters.cache_hits.unwrap() + counters.cache_misses.unwrap()
        });
        // A filter of 10 bits lets one key in a hundred pass.
        assert!(without > u64::from(RECORDS) / 2, "{engine}: {without}");
        assert!(with * 10 < without, "{engine}: {with} of {without}");
    }
}

#[test]
fn the_block_cache_holds_what_it_has_room_for() {
    for engine in counting_engines() {
        let [small, large] = [128 << 10, 64 << 20].map(|block_cache_bytes| {
            let place = workplace();
            let options = StoreOptions {
                block_cache_bytes,
                ..options(engine)
            };
            let (store, mut session) = loaded(&options, &place.path().join("db"));
            counted(&*store, &mut *session, |number| 2 * number);
            let again = counted(&*store, &mut *session, |number| 2 * number);
            again.cache_misses.unwrap()
        });
        assert_eq!(large, 0, "{engine}: 64 MiB hold all of 4 MB");
        assert!(small > u64::from(RECORDS) / 2, "{engine}: {small}");
    }
}

#[test]
fn blocks_have_the_size_that_was_asked_for() {
    for engine in counting_engines() {
        let [small, large] = [4 << 10, 64 << 10].map(|block_size_bytes| {
            let place = workplace();
            let options = StoreOptions {
                block_size_bytes,
                // So small that each lookup reads a block.
                block_cache_bytes: 64 << 10,
                ..options(engine)
            };
            let (store, mut session) = loaded(&options, &place.path().join("db"));
            let counters = counted(&*store, &mut *session, |number| 2 * number);
            counters.read_bytes.unwrap() as f64 / counters.cache_misses.unwrap() as f64
        });
        assert!((3e3..9e3).contains(&small), "{engine}: {small} bytes a block");
        assert!((5e4..1e5).contains(&large), "{engine}: {large} bytes a block");
    }
}

#[test]
fn only_a_store_with_a_log_writes_one() {
    for engine in engines() {
        for durability in engine::durabilities(engine) {
            let place = workplace();
            let directory = place.path().join("db");
            let options = StoreOptions {
                durability: *durability,
                write_buffer_bytes: 8 << 20,
                ..options(engine)
            };
            let store = engine::open(&options, &directory, Opening::Create).unwrap();
            let mut session = store.session().unwrap();
            for number in 0..500 {
                session.put(&key(number), &[7; VALUE_BYTES]).unwrap();
            }
            let log_bytes = Space::of(&directory, engine).unwrap().log_bytes;
            let has_log = engine != StoreEngine::Redb && *durability != Durability::Unlogged;
            assert_eq!(log_bytes > 100_000, has_log, "{engine} {durability}: {log_bytes}");
        }
    }
}

/// The options that an open RocksDB database wrote down.
fn written_options(options: &StoreOptions) -> BTreeMap<String, String> {
    let place = workplace();
    let directory = place.path().join("db");
    let store = engine::open(options, &directory, Opening::Create).unwrap();
    let names = std::fs::read_dir(&directory).unwrap();
    let mut files: Vec<_> = names.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("OPTIONS-")
    });
    let text = std::fs::read_to_string(files.iter().max().unwrap()).unwrap();
    drop(store);
    let lines = text.lines().filter_map(|line| line.trim().split_once('='));
    lines
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Compares options that were written down with those expected; of a group in braces, each that is expected.
fn expect_written(options: &StoreOptions, expected: &[(&str, &str)]) {
    let written = written_options(options);
    for (name, value) in expected {
        let found = written
            .get(*name)
            .unwrap_or_else(|| panic!("no {name} in {written:?}"));
        match value.strip_prefix('{') {
            None => assert_eq!(found, value, "{name}"),
            Some(parts) => {
                for part in parts.split(' ') {
                    assert!(
                        found.contains(&format!("{part};")),
                        "{name}: {part} is not in {found}"
                    );
                }
            }
        }
    }
}

#[test]
fn rocksdb_writes_down_every_option_of_a_plain_database() {
    if !engines().contains(&StoreEngine::RocksDb) {
        return;
    }
    let plain = StoreOptions {
        compression: "none".parse().unwrap(),
        bloom_bits: 0,
        block_cache_bytes: 0,
        ..options(StoreEngine::RocksDb)
    };
    expect_written(
        &plain,
        &[
            ("compression", "kNoCompression"),
            ("bottommost_compression", "kDisableCompressionOption"),
            ("compression_opts", "{max_dict_bytes=0 zstd_max_train_bytes=0"),
            ("block_size", "4096"),
            ("filter_policy", "nullptr"),
            ("no_block_cache", "true"),
            ("compaction_style", "kCompactionStyleLevel"),
            ("use_direct_reads", "false"),
            ("use_direct_io_for_flush_and_compaction", "false"),
            ("write_buffer_size", "262144"),
        ],
    );
}

#[test]
fn rocksdb_writes_down_every_option_of_a_database_with_unusual_ones() {
    if !engines().contains(&StoreEngine::RocksDb) {
        return;
    }
    let unusual = StoreOptions {
        compression: "zstd:9".parse().unwrap(),
        level_codecs: "none/lz4/zstd".parse().unwrap(),
        bottommost: Some("zlib:7".parse().unwrap()),
        dictionary_bytes: 4096,
        block_size_bytes: 16 << 10,
        block_cache_bytes: 1 << 20,
        bloom_bits: 12,
        write_buffer_bytes: 512 << 10,
        compaction: CompactionStyle::Universal,
        io: StoreIo::Direct,
        ..options(StoreEngine::RocksDb)
    };
    expect_written(
        &unusual,
        &[
            ("compression", "kZSTD"),
            ("compression_per_level", "kNoCompression:kLZ4Compression:kZSTD"),
            (
                "compression_opts",
                "{level=9 max_dict_bytes=4096 zstd_max_train_bytes=409600 window_bits=-14",
            ),
            ("bottommost_compression", "kZlibCompression"),
            (
                "bottommost_compression_opts",
                "{enabled=true level=7 max_dict_bytes=4096",
            ),
            ("block_size", "16384"),
            ("filter_policy", "bloomfilter"),
            ("no_block_cache", "false"),
            ("compaction_style", "kCompactionStyleUniversal"),
            ("use_direct_reads", "true"),
            ("use_direct_io_for_flush_and_compaction", "true"),
            ("write_buffer_size", "524288"),
        ],
    );
}

#[test]
fn rocksdb_writes_down_the_codec_that_was_asked_for() {
    if !engines().contains(&StoreEngine::RocksDb) {
        return;
    }
    for (codec, written) in [
        ("snappy", "kSnappyCompression"),
        ("lz4", "kLZ4Compression"),
        ("lz4hc:9", "kLZ4HCCompression"),
        ("zlib", "kZlibCompression"),
    ] {
        let options = StoreOptions {
            compression: codec.parse().unwrap(),
            ..options(StoreEngine::RocksDb)
        };
        expect_written(&options, &[("compression", written)]);
    }
}
