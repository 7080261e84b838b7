//! What Redis keeps in files: its log.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use outcrop_kv::{KvError, KvSpec, Opening, engine};
use outcrop_workload::store::{Durability, StoreEngine};

use super::faults::is_one_sentence;
use super::servers::{watched, with};
use super::stage::{Mounted, options, servers, workplace};

/// Where Redis is on this machine: it alone has files.
fn with_files() -> impl Iterator<Item = StoreEngine> {
    servers()
        .into_iter()
        .filter(|engine| *engine == StoreEngine::Redis)
}

#[test]
fn a_full_disk_below_a_log_is_said_as_one() {
    for engine in with_files() {
        for durability in [Durability::Logged, Durability::Synced] {
            let Some(disk) = Mounted::in_memory("12m") else {
                return;
            };
            let large = KvSpec {
                records: 100_000,
                ..with(engine, durability)
            };
            let error = watched(&large, disk.path(), &AtomicBool::new(false), &mut |_| {}).unwrap_err();
            assert!(
                matches!(error, KvError::NoSpace { .. }),
                "{durability}: {error:?}"
            );
            assert!(is_one_sentence(&error), "{error}");
            assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0, "{durability}");
        }
    }
}

#[test]
fn a_log_is_read_again_unless_it_is_open_elsewhere_damaged_or_of_a_later_version() {
    for engine in with_files() {
        let place = workplace();
        let directory = place.path().join("db");
        let first = engine::open(&options(engine), &directory, Opening::Create).unwrap();
        for number in 0..500_u32 {
            let key = number.to_be_bytes();
            first.session().unwrap().put(&key, &[number as u8; 1000]).unwrap();
        }
        // The error, in one sentence.
        let refused = |words: &str| {
            let Err(error) = engine::open(&options(engine), &directory, Opening::Existing) else {
                panic!("it was opened: {words}");
            };
            assert!(is_one_sentence(&error), "{error}");
            error
        };
        assert!(matches!(refused("twice"), KvError::Locked { .. }));
        drop(first);
        let again = engine::open(&options(engine), &directory, Opening::Existing).unwrap();
        let mut session = again.session().unwrap();
        for number in 0..500_u32 {
            let found = session.get(&number.to_be_bytes()).unwrap();
            assert_eq!(found, Some(&[number as u8; 1000][..]), "{number}");
        }
        assert_eq!(again.records().unwrap(), Some(500));
        drop((session, again));
        overwrite(&parts(&directory, "aof")[0], &[0xff; 64]);
        assert!(matches!(refused("damaged"), KvError::Damaged { .. }));
        overwrite(&parts(&directory, "rdb")[0], b"REDIS0099");
        let error = refused("of a later version");
        assert!(matches!(error, KvError::Version { .. }), "{error:?}");
        let said = error.to_string();
        assert!(
            said.contains("Redis server v=") && said.contains("RDB format version 99"),
            "{said}"
        );
    }
}

#[test]
fn a_log_that_is_rewritten_holds_the_values_as_they_are() {
    for engine in with_files() {
        let place = workplace();
        let directory = place.path().join("db");
        let store = engine::open(&options(engine), &directory, Opening::Create).unwrap();
        let mut session = store.session().unwrap();
        for number in 0..500_u32 {
            // A codec would leave a fiftieth of them.
            session.put(&number.to_be_bytes(), &[number as u8; 1000]).unwrap();
        }
        rewrite(&directory);
        while store.compaction().is_busy {
            std::thread::yield_now();
        }
        let snapshots = parts(&directory, "rdb").into_iter();
        let bytes: u64 = snapshots.map(|path| fs::metadata(path).unwrap().len()).sum();
        assert!(bytes > 500_000, "{bytes}");
    }
}

/// Files of a log with this ending.
fn parts(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("appendonlydir")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}

/// Puts other bytes at the beginning of a file.
fn overwrite(path: &Path, beginning: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    bytes[..beginning.len()].copy_from_slice(beginning);
    fs::write(path, bytes).unwrap();
}

/// Asks Redis to rewrite its log; it is busy with that when this returns.
fn rewrite(directory: &Path) {
    // Paths of sockets are short.
    let folder = File::open(directory).unwrap();
    let socket = format!("/proc/self/fd/{}/socket", folder.as_raw_fd());
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(b"BGREWRITEAOF\r\nQUIT\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("+Background"), "{answer}");
}
