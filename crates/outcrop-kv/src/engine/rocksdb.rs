//! RocksDB: the user's own library, opened at run time.

#![expect(
    unsafe_code,
    reason = "calls a C interface; what it lends lives as long as its handle"
)]

mod errors;
mod functions;
mod library;
mod options;
mod properties;
mod statistics;

use std::ffi::{CStr, CString, c_char};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use outcrop_measure::metric::Unavailable;

use self::errors::{not_opened, said};
use self::functions::{Db, Functions, Iter, Pinned};
use self::library::RocksLibrary;
use self::options::RocksOptions;
use super::check_directory;
use crate::error::KvError;
use crate::store::{CompactionState, Counted, Opening, Session, Store, StoreCounters, StoreOptions};
use crate::tables::Tables;

pub(super) use self::errors::says_that_a_write_failed;
pub(super) use self::library::find;

/// Opens the library, for as long as this process lives.
pub(super) fn load() -> Result<(), KvError> {
    library::open().map(drop)
}

const ENGINE: &str = "RocksDB";
/// The library names itself at the head of its log.
const LOG_HEAD_BYTES: u64 = 4096;

/// An open database; closed when the last session is gone.
struct Handle {
    library: &'static RocksLibrary,
    db: *mut Db,
    options: RocksOptions,
    directory: PathBuf,
    version: String,
}

// SAFETY: a database of RocksDB may be used by any number of threads at once, by its documentation.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it is open, and every session that used it is gone.
        unsafe { (self.library.functions.close)(self.db) };
    }
}

pub(super) struct RocksDb(Arc<Handle>);

impl RocksDb {
    pub(super) fn open(options: &StoreOptions, directory: &Path, opening: Opening) -> Result<Self, KvError> {
        check_directory(directory, opening)?;
        let library = library::open()?;
        Self::open_with(library, RocksOptions::new(library, options, opening), directory)
    }

    fn open_with(
        library: &'static RocksLibrary,
        options: RocksOptions,
        directory: &Path,
    ) -> Result<Self, KvError> {
        let name = CString::new(directory.as_os_str().as_encoded_bytes())
            .map_err(|error| KvError::path("open", directory, error))?;
        let mut error = ptr::null_mut();
        // SAFETY: options and name are alive; the error is null, as the interface wants it.
        let db = unsafe { (library.functions.open)(options.database, name.as_ptr(), &raw mut error) };
        if let Some(message) = taken(&library.functions, error) {
            return Err(not_opened(
                &version(directory, &library.path),
                directory,
                &message,
            ));
        }
        Ok(Self(Arc::new(Handle {
            library,
            db,
            options,
            directory: directory.to_owned(),
            version: version(directory, &library.path),
        })))
    }
}

/// Takes an error message over from the library; `None` where there is none.
fn taken(functions: &Functions, error: *mut c_char) -> Option<String> {
    if error.is_null() {
        return None;
    }
    // SAFETY: the library gives a string that ends in a null byte.
    let message = unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned();
    // SAFETY: the library allocated it, and we have copied it.
    unsafe { (functions.free)(error.cast()) };
    Some(message)
}

/// The version at the head of the database's log, where the library names itself; else what the file's name says.
fn version(directory: &Path, library: &Path) -> String {
    let mut head = String::new();
    let log = std::fs::File::open(directory.join("LOG"));
    let read = log.and_then(|log| log.take(LOG_HEAD_BYTES).read_to_string(&mut head));
    let said = head.lines().find_map(|line| line.split_once("RocksDB version: "));
    match (read, said) {
        (Ok(_), Some((_, version))) => version.trim().to_owned(),
        _ => {
            let name = library.file_name().unwrap_or_default().to_string_lossy();
            let version = name.split_once(".so.").map(|(_, version)| version.to_owned());
            version.unwrap_or_else(|| "of unknown version".to_owned())
        }
    }
}

impl Handle {
    fn functions(&self) -> &'static Functions {
        &self.library.functions
    }

    fn checked(&self, action: &str, error: *mut c_char) -> Result<(), KvError> {
        match taken(self.functions(), error) {
            None => Ok(()),
            Some(message) => Err(said(action, &self.directory, &message)),
        }
    }

    /// A property as text.
    fn property(&self, name: &CStr) -> Result<String, Unavailable> {
        // SAFETY: the database is open; the name ends in a null byte.
        let text = unsafe { (self.functions().property_value)(self.db, name.as_ptr()) };
        taken(self.functions(), text).ok_or_else(|| no_property(name))
    }

    /// A property that is a number.
    fn number(&self, name: &CStr) -> Counted {
        let text = self.property(name)?;
        text.trim().parse().map_err(|_| no_property(name))
    }
}

fn no_property(name: &CStr) -> Unavailable {
    let name = name.to_string_lossy();
    Unavailable::because(format!("this RocksDB has no property {name}"))
}

impl Store for RocksDb {
    fn identity(&self) -> String {
        let file = self.0.library.path.file_name().unwrap_or_default();
        format!("{ENGINE} {} ({})", self.0.version, file.to_string_lossy())
    }

    fn codec_libraries(&self) -> Vec<PathBuf> {
        library::codec_libraries()
    }

    fn session(&self) -> Result<Box<dyn Session>, KvError> {
        Ok(Box::new(RocksSession {
            handle: Arc::clone(&self.0),
            pinned: ptr::null_mut(),
        }))
    }

    fn flush(&self) -> Result<(), KvError> {
        let functions = self.0.functions();
        let mut error = ptr::null_mut();
        // SAFETY: makes an object of the library's; by default it waits until the flush is done.
        let options = unsafe { (functions.flushoptions_create)() };
        // SAFETY: the database is open and the options alive; the error is null.
        unsafe { (functions.flush)(self.0.db, options, &raw mut error) };
        // SAFETY: they are ours and not used again.
        unsafe { (functions.flushoptions_destroy)(options) };
        // All of the log is in tables then, which are synced.
        self.0.checked("flush", error)
    }

    fn compaction(&self) -> CompactionState {
        let busy = [
            c"rocksdb.num-running-compactions",
            c"rocksdb.num-running-flushes",
            c"rocksdb.compaction-pending",
            c"rocksdb.mem-table-flush-pending",
        ];
        CompactionState {
            debt_bytes: self.0.number(c"rocksdb.estimate-pending-compaction-bytes"),
            is_busy: busy
                .into_iter()
                .any(|name| self.0.number(name).is_ok_and(|count| count > 0)),
        }
    }

    fn counters(&self) -> StoreCounters {
        // SAFETY: the options are alive, and their statistics are on.
        let text = unsafe { (self.0.functions().options_statistics_get_string)(self.0.options.database) };
        match taken(self.0.functions(), text) {
            Some(text) => statistics::counters(&text, self.0.options.has_block_cache),
            None => StoreCounters::unavailable("this RocksDB was built without statistics"),
        }
    }

    fn tables(&self) -> Tables {
        let all = self.0.property(c"rocksdb.aggregated-table-properties");
        let levels = properties::LEVELS.map(|level| self.0.property(level));
        match all {
            Ok(all) => properties::tables(&all, &levels),
            Err(why) => Tables::unavailable(&why.reason),
        }
    }
}

struct RocksSession {
    handle: Arc<Handle>,
    /// What the last get found; null for nothing.
    pinned: *mut Pinned,
}

// SAFETY: a pinned value may be read and given back by any one thread.
unsafe impl Send for RocksSession {}

impl RocksSession {
    #[inline]
    fn give_back(&mut self) {
        if !self.pinned.is_null() {
            // SAFETY: it came from `get_pinned` and was not given back yet.
            unsafe { (self.handle.functions().pinnableslice_destroy)(self.pinned) };
            self.pinned = ptr::null_mut();
        }
    }
}

impl Drop for RocksSession {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Session for RocksSession {
    #[inline]
    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, KvError> {
        self.give_back();
        let functions = self.handle.functions();
        let (db, options) = (self.handle.db, self.handle.options.read);
        let mut error = ptr::null_mut();
        // SAFETY: database and options are alive, the key has that length, the error is null.
        self.pinned =
            unsafe { (functions.get_pinned)(db, options, key.as_ptr().cast(), key.len(), &raw mut error) };
        self.handle.checked("read", error)?;
        if self.pinned.is_null() {
            return Ok(None);
        }
        let mut length = 0;
        // SAFETY: the value is pinned.
        let start = unsafe { (functions.pinnableslice_value)(self.pinned, &raw mut length) };
        if start.is_null() {
            return Ok(Some(&[]));
        }
        // SAFETY: that many bytes stay where they are until the value is given back, for which this session has to be borrowed mutably.
        Ok(Some(unsafe { std::slice::from_raw_parts(start.cast(), length) }))
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), KvError> {
        let functions = self.handle.functions();
        let (db, options) = (self.handle.db, self.handle.options.write);
        let (key_at, value_at) = (key.as_ptr().cast(), value.as_ptr().cast());
        let mut error = ptr::null_mut();
        // SAFETY: database and options are alive, key and value have these lengths, the error is null.
        unsafe {
            (functions.put)(
                db,
                options,
                key_at,
                key.len(),
                value_at,
                value.len(),
                &raw mut error,
            );
        };
        self.handle.checked("write", error)
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), KvError> {
        let functions = self.handle.functions();
        let (db, options) = (self.handle.db, self.handle.options.write);
        let mut error = ptr::null_mut();
        // SAFETY: database and options are alive, the key has that length, the error is null.
        unsafe { (functions.delete)(db, options, key.as_ptr().cast(), key.len(), &raw mut error) };
        self.handle.checked("delete", error)
    }

    fn scan(&mut self, from: &[u8], most: u32, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<u32, KvError> {
        let functions = self.handle.functions();
        let (db, options) = (self.handle.db, self.handle.options.read);
        // SAFETY: database and options are alive.
        let iterator = Iterator {
            functions,
            // SAFETY: as above.
            at: unsafe { (functions.create_iterator)(db, options) },
        };
        // SAFETY: the iterator is alive, the key has that length.
        unsafe { (functions.iter_seek)(iterator.at, from.as_ptr().cast(), from.len()) };
        let mut seen = 0;
        while seen < most && iterator.is_valid() {
            visit(
                iterator.bytes(functions.iter_key),
                iterator.bytes(functions.iter_value),
            );
            seen += 1;
            // SAFETY: it stands on a record.
            unsafe { (functions.iter_next)(iterator.at) };
        }
        let mut error = ptr::null_mut();
        // SAFETY: the iterator is alive, the error is null.
        unsafe { (functions.iter_get_error)(iterator.at, &raw mut error) };
        self.handle.checked("scan", error)?;
        Ok(seen)
    }
}

/// An iterator, given back when dropped.
struct Iterator {
    functions: &'static Functions,
    at: *mut Iter,
}

impl Iterator {
    fn is_valid(&self) -> bool {
        // SAFETY: the iterator is alive.
        unsafe { (self.functions.iter_valid)(self.at) != 0 }
    }

    /// Key or value of the record that it stands on, until it moves.
    fn bytes(&self, of: unsafe extern "C" fn(*const Iter, *mut usize) -> *const c_char) -> &[u8] {
        let mut length = 0;
        // SAFETY: it stands on a record.
        let start = unsafe { of(self.at, &raw mut length) };
        if start.is_null() || length == 0 {
            return &[];
        }
        // SAFETY: that many bytes are there until it moves, which the caller does after using them.
        unsafe { std::slice::from_raw_parts(start.cast(), length) }
    }
}

impl Drop for Iterator {
    fn drop(&mut self) {
        // SAFETY: it is alive and not used again.
        unsafe { (self.functions.iter_destroy)(self.at) };
    }
}

#[cfg(test)]
mod tests {
    use outcrop_workload::store::StoreEngine;

    use super::*;

    /// Windows' own codec, which no library on Linux has.
    const XPRESS: std::ffi::c_int = 6;

    /// What the library of this machine says of options that ask for what it lacks; `None` where it is not here.
    fn refusal(ask: impl Fn(&Functions, &RocksOptions)) -> Option<KvError> {
        let library = match library::open() {
            Ok(library) => library,
            Err(why) => {
                use std::io::Write as _;
                let _ = writeln!(std::io::stderr(), "skipped: RocksDB: {why}");
                return None;
            }
        };
        let place = tempfile::tempdir().unwrap();
        let options = StoreOptions::of(StoreEngine::RocksDb);
        let options = RocksOptions::new(library, &options, Opening::Create);
        ask(&library.functions, &options);
        let opened = RocksDb::open_with(library, options, &place.path().join("db"));
        Some(opened.err().expect("the library has no such codec"))
    }

    #[test]
    fn a_codec_that_the_library_lacks_is_refused_in_one_sentence_that_says_what_to_do() {
        let of_all = |functions: &Functions, options: &RocksOptions| {
            // SAFETY: the options are ours and alive.
            unsafe { (functions.options_set_compression)(options.database, XPRESS) };
        };
        let of_levels = |functions: &Functions, options: &RocksOptions| {
            let levels = [0, XPRESS];
            // SAFETY: as above; the library copies that many numbers.
            unsafe { (functions.options_set_compression_per_level)(options.database, levels.as_ptr(), 2) };
        };
        for error in [refusal(of_all), refusal(of_levels)].into_iter().flatten() {
            assert!(matches!(error, KvError::MissingCodec { .. }), "{error:?}");
            let said = error.to_string();
            assert!(
                said.starts_with("RocksDB ") && said.contains(" was built without Xpress; choose"),
                "{said}"
            );
        }
    }
}
