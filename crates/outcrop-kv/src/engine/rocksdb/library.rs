//! Finds and opens the user's RocksDB.

#![expect(unsafe_code, reason = "opening a library runs its initialisers")]

use std::path::{Path, PathBuf};

use libloading::Library;
use outcrop_workload::store::StoreCodec;

use super::functions::Functions;
use crate::error::KvError;

/// Names the library to be used.
const VARIABLE: &str = "OUTCROP_ROCKSDB_LIB";
/// Where distributions and people put libraries. The linker's own cache is not asked: it has names with a version only.
const FOLDERS: [&str; 8] = [
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
    "/lib",
    "/opt/rocksdb/lib",
];
const NAME: &str = "librocksdb.so";
/// What to do where there is none.
const INSTALL: &str =
    "install the package librocksdb-dev (or librocksdb7.8), or name RocksDB's library in OUTCROP_ROCKSDB_LIB";

/// An open library, which stays open for the life of the process: its threads may outlive a database.
pub(super) struct RocksLibrary {
    pub(super) functions: Functions,
    /// The file, links followed.
    pub(super) path: PathBuf,
    _library: Library,
}

/// Where the library is; nothing is opened.
pub(in crate::engine) fn find() -> Result<PathBuf, KvError> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(named);
        return match path.is_file() {
            true => Ok(path),
            false => Err(KvError::Absent {
                why: format!(
                    "{VARIABLE} names {}, which is not a file; {INSTALL}",
                    path.display()
                ),
            }),
        };
    }
    let found = FOLDERS.iter().filter_map(|folder| newest_in(Path::new(folder)));
    found.into_iter().next().ok_or_else(|| KvError::Absent {
        why: format!("RocksDB is not on this machine; {INSTALL}"),
    })
}

/// The library of the highest version in a folder.
fn newest_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let versioned = names.filter_map(|name| Some((version_of(&name)?, name)));
    let (_, name) = versioned.max()?;
    Some(folder.join(name))
}

/// The numbers behind `librocksdb.so`; none for the bare name.
fn version_of(name: &str) -> Option<Vec<u32>> {
    let rest = name.strip_prefix(NAME)?;
    let numbers = rest.split('.').filter(|part| !part.is_empty());
    numbers.map(|part| part.parse().ok()).collect()
}

/// Opens the library, for as long as the process lives.
pub(super) fn open() -> Result<&'static RocksLibrary, KvError> {
    let found = find()?;
    let path = std::fs::canonicalize(&found).map_err(|error| KvError::path("open", &found, error))?;
    // SAFETY: its initialisers are those of RocksDB and of the C++ library, which do nothing that this program relies on.
    let library = unsafe { Library::new(&path) }.map_err(|error| KvError::Absent {
        why: format!("cannot open {}: {error}; {INSTALL}", path.display()),
    })?;
    let functions = Functions::of(&library, &path)?;
    Ok(Box::leak(Box::new(RocksLibrary {
        functions,
        path,
        _library: library,
    })))
}

/// The shared libraries of codecs in this process. It holds a database and links none itself: they are those that the linker loaded for RocksDB.
pub(super) fn codec_libraries() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    codecs_mapped(&maps)
}

/// Those among the files of a process's memory maps.
fn codecs_mapped(maps: &str) -> Vec<PathBuf> {
    // Address, permissions, offset, device and inode, then perhaps a path.
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|start| &line[start..]));
    let is_codec = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let libraries = StoreCodec::ALL.iter().filter_map(|codec| codec.shared_library());
        libraries.into_iter().any(|library| name.starts_with(library))
    };
    let mut found: Vec<PathBuf> = paths.filter(is_codec).map(PathBuf::from).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_are_found_among_the_maps_of_a_process_once_each() {
        let maps = "\
55d0c0a00000-55d0c0a02000 r--p 00000000 fe:01 1234   /usr/bin/outcrop
7f10a0000000-7f10a00c0000 r--p 00000000 fe:01 523    /usr/lib/x86_64-linux-gnu/libzstd.so.1.5.4
7f10a00c0000-7f10a00c1000 rw-p 000c0000 fe:01 523    /usr/lib/x86_64-linux-gnu/libzstd.so.1.5.4
7f10a0200000-7f10a021d000 r-xp 00000000 fe:01 524    /usr/lib/x86_64-linux-gnu/libz.so.1.2.13
7f10a0300000-7f10a0a1d000 r-xp 00000000 fe:01 525    /usr/lib/x86_64-linux-gnu/librocksdb.so.7.8.3
7f10a1000000-7f10a1021000 rw-p 00000000 00:00 0
7ffc5d1f0000-7ffc5d211000 rw-p 00000000 00:00 0      [stack]
";
        let found = codecs_mapped(maps);
        let folder = Path::new("/usr/lib/x86_64-linux-gnu");
        assert_eq!(
            found,
            [folder.join("libz.so.1.2.13"), folder.join("libzstd.so.1.5.4")]
        );
    }

    #[test]
    fn of_several_versions_the_highest_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "librocksdb.so.7.8",
            "librocksdb.so.10.2.1",
            "librocksdb.so.9.1",
            "librocksdb.so.old",
            "librocksdb.a",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let newest = newest_in(folder.path()).unwrap();
        assert_eq!(newest, folder.path().join("librocksdb.so.10.2.1"));
        assert_eq!(newest_in(&folder.path().join("none")), None);
    }
}
