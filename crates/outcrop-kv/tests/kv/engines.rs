//! Every engine does what a sorted map does, and says what it is.

use std::collections::BTreeMap;

use outcrop_kv::{KvSpec, Opening, Session, Space, StoreOptions, allocated_bytes, engine};
use outcrop_measure::Seed;
use outcrop_workload::Content;
use outcrop_workload::keyed::{RecordValues, StoreWorkload, YcsbCore};
use outcrop_workload::store::{Durability, StoreCodec, StoreCompression, StoreEngine};

use super::stage::{engines, options, spec, trial, workplace};

/// A pseudo-random step that is the same on every machine.
fn draw(seed: u64, index: u64) -> u64 {
    Seed(seed).derive_index(index).0
}

fn key(number: u64) -> Vec<u8> {
    format!("key{:04}", number % 500).into_bytes()
}

fn value(number: u64) -> Vec<u8> {
    let mut bytes = vec![0; (number % 3000) as usize];
    let content = Content::Compressible { ratio: 2.0 };
    content.filler(Seed(number)).fill(&mut bytes);
    bytes
}

/// Applies 4000 random operations to both and compares every answer.
fn act(session: &mut dyn Session, oracle: &mut BTreeMap<Vec<u8>, Vec<u8>>, seed: u64) {
    for index in 0..4000 {
        let (kind, number) = (draw(seed, 3 * index) % 10, draw(seed, 3 * index + 1));
        let key = key(number);
        match kind {
            0..=4 => {
                let value = value(draw(seed, 3 * index + 2));
                session.put(&key, &value).unwrap();
                oracle.insert(key, value);
            }
            5 => {
                session.delete(&key).unwrap();
                oracle.remove(&key);
            }
            6 => {
                let mut seen = Vec::new();
                let most = (number % 20) as u32;
                let count = session
                    .scan(&key, most, &mut |key, value| {
                        seen.push((key.to_vec(), value.to_vec()));
                    })
                    .unwrap();
                let expected = oracle.range(key..).take(most as usize);
                let expected: Vec<_> = expected
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                assert_eq!(seen, expected);
                assert_eq!(count as usize, expected.len());
            }
            _ => assert_eq!(
                session.get(&key).unwrap(),
                oracle.get(&key).map(Vec::as_slice),
                "{}",
                key.escape_ascii()
            ),
        }
    }
}

fn all(session: &mut dyn Session) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut seen = BTreeMap::new();
    let mut insert = |key: &[u8], value: &[u8]| {
        seen.insert(key.to_vec(), value.to_vec());
    };
    session.scan(b"", u32::MAX, &mut insert).unwrap();
    seen
}

#[test]
fn every_engine_is_a_sorted_map_also_after_it_was_closed() {
    for engine in engines() {
        let place = workplace();
        let directory = place.path().join("db");
        let mut oracle = BTreeMap::new();
        let store = engine::open(&options(engine), &directory, Opening::Create).unwrap();
        let mut session = store.session().unwrap();
        act(&mut *session, &mut oracle, 1);
        store.flush().unwrap();
        act(&mut *session, &mut oracle, 2);
        assert_eq!(all(&mut *session), oracle, "{engine}");
        store.flush().unwrap();
        assert!(
            store.identity().contains(char::is_numeric),
            "{}",
            store.identity()
        );
        let libraries = store.codec_libraries();
        assert!(libraries.iter().all(|file| file.is_file()), "{libraries:?}");
        assert_eq!(
            !libraries.is_empty(),
            engine == StoreEngine::RocksDb,
            "{engine}: {libraries:?}"
        );
        drop((session, store));
        assert!(allocated_bytes(&directory).unwrap() > 100_000, "{engine}");
        let store = engine::open(&options(engine), &directory, Opening::Existing).unwrap();
        let mut session = store.session().unwrap();
        assert_eq!(all(&mut *session), oracle, "{engine}");
        act(&mut *session, &mut oracle, 3);
        assert_eq!(all(&mut *session), oracle, "{engine}");
    }
}

#[test]
fn sessions_of_several_threads_see_what_others_wrote() {
    for engine in engines() {
        let place = workplace();
        let store = engine::open(&options(engine), &place.path().join("db"), Opening::Create).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let store = &store;
                scope.spawn(move || {
                    let mut session = store.session().unwrap();
                    for number in 0..250_u32 {
                        let key = [[thread].as_slice(), &number.to_be_bytes()].concat();
                        session.put(&key, &number.to_le_bytes()).unwrap();
                        assert_eq!(session.get(&key).unwrap(), Some(&number.to_le_bytes()[..]));
                    }
                });
            }
        });
        let mut session = store.session().unwrap();
        assert_eq!(all(&mut *session).len(), 1000, "{engine}");
    }
}

/// Stores 4000 values that are half compressible and says what the files take.
fn stored_bytes(options: &StoreOptions) -> u64 {
    let place = workplace();
    let directory = place.path().join("db");
    let store = engine::open(options, &directory, Opening::Create).unwrap();
    let mut session = store.session().unwrap();
    let workload = StoreWorkload::Ycsb(YcsbCore::A);
    let content = Content::Compressible { ratio: 2.0 };
    // Each compressible by itself, as the driver has them: a stream cut into pieces is not.
    let values = RecordValues::of_content(content, workload.value_size(), Seed(5));
    let mut value = Vec::new();
    for number in 0..4000_u32 {
        value.clear();
        values.write(number.into(), RecordValues::LOADED, &mut value);
        session.put(&number.to_be_bytes(), &value).unwrap();
    }
    store.flush().unwrap();
    // What compaction replaces is on the disk until it is done.
    while store.compaction().is_busy {
        std::thread::yield_now();
    }
    drop((session, store));
    allocated_bytes(&directory).unwrap()
}

#[test]
fn a_small_database_takes_little_space_while_it_is_open() {
    for engine in engines() {
        let place = workplace();
        let directory = place.path().join("db");
        let store = engine::open(&options(engine), &directory, Opening::Create).unwrap();
        store.session().unwrap().put(b"key", b"value").unwrap();
        store.flush().unwrap();
        let space = Space::of(&directory, engine).unwrap();
        // RocksDB would allocate 4 MiB ahead for its manifest; redb has a file of 1.5 MiB from the start.
        assert!(space.bytes < 2 << 20, "{engine}: {space:?}");
        assert!(space.log_bytes < 64 << 10, "{engine}: {space:?}");
    }
}

#[test]
fn codecs_make_files_smaller_and_a_thorough_one_no_larger_than_a_quick_one() {
    for engine in engines() {
        let with = |codec: &str| {
            stored_bytes(&StoreOptions {
                compression: codec.parse().unwrap(),
                block_size_bytes: 16 << 10,
                durability: Durability::Logged,
                ..options(engine)
            }) as f64
        };
        match engine {
            StoreEngine::Redb => {}
            StoreEngine::RocksDb => {
                let [none, snappy, lz4, zstd] = ["none", "snappy", "lz4", "zstd:3"].map(with);
                assert!(snappy < none * 0.75 && lz4 < none * 0.75, "{none} {snappy} {lz4}");
                assert!(
                    zstd <= lz4 * 1.02 && zstd <= snappy * 1.02,
                    "{zstd} {lz4} {snappy}"
                );
            }
            _ => {
                let [none, lz4] = ["none", "lz4"].map(with);
                // Its log, which is not compressed, is in both.
                assert!(lz4 < none * 0.9, "{none} {lz4}");
            }
        }
    }
}

#[test]
fn a_settled_tree_keeps_no_file_that_compaction_has_replaced() {
    let tree = |engine: &StoreEngine| *engine != StoreEngine::Redb;
    for engine in engines().into_iter().filter(tree) {
        let [none, lz4] = ["none", "lz4"].map(|codec: &str| {
            let report = trial(&KvSpec {
                options: StoreOptions {
                    compression: codec.parse().unwrap(),
                    write_buffer_bytes: 1 << 20,
                    ..options(engine)
                },
                // Many times what the memtable holds.
                records: 20_000,
                ..spec(engine)
            });
            assert!(report.is_settled, "{engine} {codec}");
            let files = (report.stored.bytes - report.stored.log_bytes) as f64;
            let tables = report.tables.bytes().unwrap() as f64;
            assert!(
                files < 1.1 * tables,
                "{engine} {codec}: {files} B, {tables} B in use"
            );
            files
        });
        // Values that are compressible by half.
        let share = lz4 / none;
        assert!((0.45..0.6).contains(&share), "{engine}: {share}");
    }
}

#[test]
fn every_codec_of_the_library_reads_back_what_it_wrote() {
    if !engines().contains(&StoreEngine::RocksDb) {
        return;
    }
    for codec in ["snappy", "lz4", "lz4hc:9", "zlib:6", "zstd:-1", "zstd:9"] {
        for (bottommost, dictionary_bytes, levels) in [(None, 0, "all"), (Some("zstd:3"), 4096, "none/lz4")] {
            let options = StoreOptions {
                compression: codec.parse().unwrap(),
                bottommost: bottommost.map(|codec: &str| codec.parse().unwrap()),
                dictionary_bytes,
                level_codecs: levels.parse().unwrap(),
                ..options(StoreEngine::RocksDb)
            };
            let place = workplace();
            let store = engine::open(&options, &place.path().join("db"), Opening::Create).unwrap();
            let mut session = store.session().unwrap();
            let mut oracle = BTreeMap::new();
            act(&mut *session, &mut oracle, 4);
            store.flush().unwrap();
            assert_eq!(all(&mut *session), oracle, "{codec}");
            let counters = store.counters();
            assert!(counters.written_bytes.unwrap() > 100_000, "{codec}");
            assert!(store.compaction().debt_bytes.is_ok());
        }
    }
}

#[test]
fn an_option_that_an_engine_does_not_have_is_refused_with_what_it_has() {
    let zstd = StoreCompression::of(StoreCodec::Zstd);
    let fjall = options(StoreEngine::Fjall);
    let redb = options(StoreEngine::Redb);
    for (options, words) in [
        (
            StoreOptions {
                compression: zstd,
                ..fjall.clone()
            },
            "compression zstd is not available: fjall has none and lz4",
        ),
        (
            StoreOptions {
                durability: Durability::Unlogged,
                ..fjall.clone()
            },
            "always writes its log",
        ),
        (
            StoreOptions {
                block_size_bytes: 100,
                ..fjall
            },
            "1 KiB to 1 MiB",
        ),
        (
            StoreOptions {
                compression: zstd,
                ..redb.clone()
            },
            "redb stores rows as they are",
        ),
        (
            StoreOptions {
                durability: Durability::Logged,
                ..redb
            },
            "durability logged is not available: redb has no log",
        ),
    ] {
        let error = engine::check(&options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn engines_say_the_version_that_was_built() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).unwrap();
    for engine in [StoreEngine::Fjall, StoreEngine::Redb] {
        let place = workplace();
        let store = engine::open(&options(engine), &place.path().join("db"), Opening::Create).unwrap();
        let identity = store.identity();
        let (name, version) = identity.split_once(' ').unwrap();
        assert!(
            lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")),
            "{identity} is not in Cargo.lock"
        );
    }
}
