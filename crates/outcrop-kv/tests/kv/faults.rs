//! Full disks, locked databases, other versions, libraries that lack something: one clear sentence each.

use std::fs;
use std::path::{Path, PathBuf};

use outcrop_kv::{KvError, KvSpec, Opening, engine};
use outcrop_workload::store::StoreEngine;

use super::stage::{SmallDisk, engines, options, spec, try_trial, workplace};

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
        let Some(disk) = SmallDisk::mounted("12m") else {
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

/// Makes the database say that another version of its engine wrote it.
fn write_another_version(engine: StoreEngine, directory: &Path) {
    let is_table = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "sst");
    match engine {
        // A name of three letters, and the number of the format: that of fjall 2.
        StoreEngine::Fjall => {
            let path = version_file(engine, directory);
            let mut bytes = fs::read(&path).unwrap();
            assert_eq!(bytes[3], 3, "{bytes:?}");
            bytes[3] = 2;
            fs::write(path, bytes).unwrap();
        }
        // The end of a table: the number of its format, and eight bytes by which it is known.
        StoreEngine::RocksDb => {
            let path = files(directory).into_iter().find(is_table).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            let version = bytes.len() - 12;
            assert!(bytes[version] < 10, "{:?}", &bytes[version..]);
            bytes[version] = 99;
            fs::write(path, bytes).unwrap();
        }
        other => panic!("{other} has no number that could be changed alone"),
    }
}

#[test]
fn a_database_of_another_version_is_refused_in_a_sentence() {
    // redb has its version under a checksum.
    for engine in engines()
        .into_iter()
        .filter(|engine| *engine != StoreEngine::Redb)
    {
        let place = workplace();
        let directory = place.path().join("db");
        let store = engine::open(&options(engine), &directory, Opening::Create).unwrap();
        store.session().unwrap().put(b"key", b"value").unwrap();
        store.flush().unwrap();
        drop(store);
        write_another_version(engine, &directory);
        let Err(error) = engine::open(&options(engine), &directory, Opening::Existing) else {
            panic!("{engine} opened a database of another version");
        };
        assert!(matches!(error, KvError::Format { .. }), "{engine}: {error:?}");
        assert!(is_one_sentence(&error), "{error}");
    }
}

#[test]
fn a_database_whose_beginning_is_damaged_is_refused_in_a_sentence() {
    for engine in engines() {
        let place = workplace();
        let directory = place.path().join("db");
        let store = engine::open(&options(engine), &directory, Opening::Create).unwrap();
        store.session().unwrap().put(b"key", b"value").unwrap();
        store.flush().unwrap();
        drop(store);
        let path = version_file(engine, &directory);
        let mut bytes = fs::read(&path).unwrap();
        let end = bytes.len().min(64);
        bytes[..end].fill(0xff);
        fs::write(&path, bytes).unwrap();
        let Err(error) = engine::open(&options(engine), &directory, Opening::Existing) else {
            panic!("{engine} opened a damaged database");
        };
        assert!(matches!(error, KvError::Format { .. }), "{engine}: {error:?}");
        assert!(is_one_sentence(&error), "{error}");
    }
}
