//! Full disks, locked databases, other versions, libraries that lack something: one clear sentence each.

use std::fs;
use std::path::{Path, PathBuf};

use outcrop_kv::{KvError, KvSpec, Opening, engine};
use outcrop_workload::store::StoreEngine;

use super::stage::{Mounted, engines, options, spec, try_trial, workplace};

pub(crate) fn is_one_sentence(error: &KvError) -> bool {
    let text = error.to_string();
    // A full stop before a capital would begin a second one.
    let begins_another = text
        .split(". ")
        .skip(1)
        .any(|rest| rest.starts_with(char::is_uppercase));
    !text.contains('\n') && !begins_another && text.len() < 400
}

#[test]
fn a_full_disk_is_said_as_one_and_leaves_nothing() {
    for engine in engines() {
        let Some(disk) = Mounted::in_memory("12m") else {
            return;
        };
        let large = KvSpec {
            records: 100_000,
            ..spec(engine)
        };
        let error = try_trial(&large, disk.path()).unwrap_err();
        assert!(matches!(error, KvError::NoSpace { .. }), "{engine}: {error:?}");
        assert!(is_one_sentence(&error), "{error}");
        assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0, "{engine}");
    }
}

#[test]
fn a_database_that_is_open_elsewhere_is_locked() {
    for engine in engines() {
        let place = workplace();
        let directory = place.path().join("db");
        let first = engine::open(&options(engine), &directory, Opening::Create).unwrap();
        let Err(error) = engine::open(&options(engine), &directory, Opening::Existing) else {
            panic!("{engine} opened a database twice");
        };
        assert!(matches!(error, KvError::Locked { .. }), "{engine}: {error:?}");
        assert!(is_one_sentence(&error), "{error}");
        drop(first);
    }
}

#[test]
fn a_database_is_made_in_an_empty_place_only_and_opened_where_one_is() {
    for engine in engines() {
        let place = workplace();
        fs::write(place.path().join("precious"), "mine").unwrap();
        let Err(error) = engine::open(&options(engine), place.path(), Opening::Create) else {
            panic!("{engine} made a database among the files of others");
        };
        assert!(error.to_string().contains("it is not empty"), "{error}");
        assert_eq!(
            fs::read_dir(place.path()).unwrap().count(),
            1,
            "{engine} left something"
        );
        let Err(error) = engine::open(&options(engine), &place.path().join("none"), Opening::Existing) else {
            panic!("{engine} opened what is not there");
        };
        assert!(error.to_string().contains("no database"), "{error}");
    }
}

/// The files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

/// The file that an engine knows its version or its state by.
fn version_file(engine: StoreEngine, directory: &Path) -> PathBuf {
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        match engine {
            StoreEngine::Fjall => path.parent() == Some(directory) && name == "version",
            StoreEngine::Redb => name == "records.redb",
            _ => name.starts_with("MANIFEST"),
        }
    };
    let found = files(directory).into_iter().find(is_it);
    found.unwrap_or_else(|| panic!("{engine}: {:?}", files(directory)))
}

/// Numbers of formats that an engine does not read: earlier ones, where it has given them up, and later ones.
fn other_versions(engine: StoreEngine) -> &'static [u8] {
    match engine {
        // It reads the tables of all earlier versions.
        StoreEngine::RocksDb => &[99],
        _ => &[2, 9],
    }
}

/// Makes the database say that another version of its engine wrote it.
fn write_another_version(engine: StoreEngine, directory: &Path, number: u8) {
    let is_table = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "sst");
    let path = match engine {
        StoreEngine::RocksDb => files(directory).into_iter().find(is_table).unwrap(),
        _ => version_file(engine, directory),
    };
    let mut bytes = fs::read(&path).unwrap();
    let (places, known) = match engine {
        // A name of three letters, and the number of the format.
        StoreEngine::Fjall => (vec![3], 3..=3),
        // Behind 64 bytes that are the same in all versions two descriptions of the last commits, each of 128 bytes and with the number first.
        StoreEngine::Redb => (vec![64, 192], 3..=3),
        // The end of a table: the number of its format, and eight bytes by which it is known.
        StoreEngine::RocksDb => (vec![bytes.len() - 12], 2..=9),
        other => panic!("{other} has no versions"),
    };
    for place in places {
        assert!(known.contains(&bytes[place]), "{engine}: {}", bytes[place]);
        bytes[place] = number;
    }
    fs::write(path, bytes).unwrap();
}

/// A closed database with as many records as are given.
fn made(engine: StoreEngine, directory: &Path, records: u32) {
    let store = engine::open(&options(engine), directory, Opening::Create).unwrap();
    let mut session = store.session().unwrap();
    for number in 0..records {
        session.put(&number.to_be_bytes(), &[7; 1000]).unwrap();
    }
    store.flush().unwrap();
}

#[test]
fn a_database_of_another_version_is_refused_in_a_sentence() {
    for engine in engines() {
        for number in other_versions(engine) {
            let place = workplace();
            let directory = place.path().join("db");
            made(engine, &directory, 1);
            write_another_version(engine, &directory, *number);
            let Err(error) = engine::open(&options(engine), &directory, Opening::Existing) else {
                panic!("{engine} opened a database of another version");
            };
            assert!(
                matches!(error, KvError::Version { .. }),
                "{engine} {number}: {error:?}"
            );
            assert!(is_one_sentence(&error), "{error}");
            assert!(
                error
                    .to_string()
                    .contains("open it with the version that wrote it")
            );
        }
    }
}

#[test]
fn a_damaged_block_is_an_error_that_says_so_and_no_value() {
    // redb compares checksums only when it repairs a file that was not closed.
    for engine in engines()
        .into_iter()
        .filter(|engine| *engine != StoreEngine::Redb)
    {
        const RECORDS: u32 = 1000;
        let place = workplace();
        let directory = place.path().join("db");
        made(engine, &directory, RECORDS);
        let bytes = |path: &PathBuf| fs::metadata(path).unwrap().len();
        let tables = files(&directory).into_iter();
        let tables = tables.filter(|path| !engine::is_log(engine, path));
        let path = tables.max_by_key(bytes).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        fs::write(&path, bytes).unwrap();
        let read_all = || -> Result<(), KvError> {
            let store = engine::open(&options(engine), &directory, Opening::Existing)?;
            let mut session = store.session()?;
            for number in 0..RECORDS {
                session.get(&number.to_be_bytes())?;
            }
            Ok(())
        };
        let error = read_all().unwrap_err();
        assert!(matches!(error, KvError::Damaged { .. }), "{engine}: {error:?}");
        assert!(is_one_sentence(&error), "{error}");
    }
}

#[test]
fn a_database_whose_beginning_is_damaged_is_refused_in_a_sentence() {
    for engine in engines() {
        let place = workplace();
        let directory = place.path().join("db");
        made(engine, &directory, 1);
        let path = version_file(engine, &directory);
        let mut bytes = fs::read(&path).unwrap();
        let end = bytes.len().min(64);
        bytes[..end].fill(0xff);
        fs::write(&path, bytes).unwrap();
        let Err(error) = engine::open(&options(engine), &directory, Opening::Existing) else {
            panic!("{engine} opened a damaged database");
        };
        // An unknown number of a format may be a later one.
        let is_said = matches!(error, KvError::Damaged { .. } | KvError::Version { .. });
        assert!(is_said, "{engine}: {error:?}");
        assert!(is_one_sentence(&error), "{error}");
    }
}
