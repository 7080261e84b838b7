//! Opens a library of the system, once, and fills a table of its functions.

#![expect(
    unsafe_code,
    reason = "opening a library runs its initialisers, and its functions' signatures are taken on trust"
)]

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::{CodecError, CodecLibrary};

/// A table of functions of one library.
pub(super) trait Functions: Sized {
    /// What programs are linked to: `libzstd.so.1`.
    const NAME: &'static str;
    /// Debian's package.
    const PACKAGE: &'static str;

    /// Looks every function up; else the name of the first that is missing.
    fn of(library: &Library) -> Result<Self, &'static str>;

    /// Where any of them is.
    fn address(&self) -> *const c_void;
}

/// Fills a table of functions from the library that has them.
macro_rules! functions {
    ($table:ident of $library:literal in $package:literal; $($name:ident: fn($($argument:ty),*) -> $result:ty;)+) => {
        /// Every function that is used.
        #[allow(non_snake_case, reason = "the names are the library's")]
        struct $table {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)+
        }

        impl $crate::codecs::system::library::Functions for $table {
            const NAME: &'static str = $library;
            const PACKAGE: &'static str = $package;

            fn of(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: the library's name has the version of its interface, whose header gives the function this signature.
                        let found = unsafe { library.get(name.as_bytes()) };
                        *found.map_err(|_| stringify!($name))?
                    },)+
                })
            }

            fn address(&self) -> *const std::ffi::c_void {
                [$(self.$name as *const std::ffi::c_void),+][0]
            }
        }
    };
}
pub(super) use functions;

/// An open library, which stays open for the life of the process.
pub(super) struct SystemLibrary<F> {
    pub(super) functions: F,
    /// Its file, links followed.
    file: PathBuf,
    _library: Library,
}

impl<F: Functions> SystemLibrary<F> {
    fn open() -> Result<Self, String> {
        let install = format!("install the package {}", F::PACKAGE);
        // SAFETY: these four libraries have no initialisers but those of the C and C++ libraries, which this program does not rely on.
        let library = unsafe { Library::new(F::NAME) };
        let library = library.map_err(|error| {
            let why = error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string);
            format!("{why}; {install}")
        })?;
        let functions = F::of(&library)
            .map_err(|missing| format!("{} has no function {missing}; {install}, or a newer one", F::NAME))?;
        let file = file_of(functions.address()).ok_or_else(|| format!("{} has no file", F::NAME))?;
        Ok(Self {
            functions,
            file,
            _library: library,
        })
    }

    /// The version in the name of its file: `1.1.9` of `libsnappy.so.1.1.9`.
    pub(super) fn version_of_file(&self) -> &str {
        let name = self.file.file_name().and_then(|name| name.to_str());
        let version = name.and_then(|name| name.split_once(".so."));
        version.map_or("of unknown version", |(_, version)| version)
    }

    /// The library with a version, as records have it.
    pub(super) fn described(&self, name: &str, version: &str) -> CodecLibrary {
        CodecLibrary {
            name: format!("{name} {version}"),
            file: Some(self.file.clone()),
        }
    }
}

/// The file that holds an address, links followed.
fn file_of(address: *const c_void) -> Option<PathBuf> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for, and the answer has room.
    let is_found = unsafe { libc::dladdr(address, found.as_mut_ptr()) } != 0;
    // SAFETY: zeroed, which is a valid value, and perhaps filled in.
    let found = unsafe { found.assume_init() };
    if !is_found || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker's own text, which lives as long as the library is open.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    Some(std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
}

/// Text that a library answered, which is part of it.
pub(super) fn text(start: *const c_char) -> String {
    // SAFETY: the callers' functions answer a string literal of their library, which stays open.
    unsafe { CStr::from_ptr(start) }.to_string_lossy().into_owned()
}

/// Where a library is kept once it is open, or why it cannot be opened.
pub(super) struct Slot<F>(OnceLock<Result<SystemLibrary<F>, String>>);

impl<F: Functions> Slot<F> {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The library, opened by the first who asks.
    pub(super) fn get(&self, codec: &'static str) -> Result<&SystemLibrary<F>, CodecError> {
        let opened = self.0.get_or_init(SystemLibrary::open);
        opened
            .as_ref()
            .map_err(|why| CodecError::absent(codec, why.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_int;

    use super::*;

    functions! { Nowhere of "liboutcrop-has-none.so.7" in "outcrop-none";
        none: fn() -> c_int;
    }

    functions! { Lacking of "libz.so.1" in "zlib1g";
        zlibVersion: fn() -> *const c_char;
        no_such_function: fn() -> c_int;
    }

    #[test]
    fn a_library_that_is_not_there_is_answered_with_its_package() {
        static NOWHERE: Slot<Nowhere> = Slot::new();
        let error = NOWHERE.get("none@system").err().expect("nobody has it");
        assert_eq!(
            error.to_string(),
            "none@system cannot be used on this machine: liboutcrop-has-none.so.7: cannot open shared object file: No such file or directory; \
             install the package outcrop-none"
        );
    }

    #[test]
    fn a_library_without_a_function_is_answered_with_its_name() {
        static LACKING: Slot<Lacking> = Slot::new();
        let error = LACKING
            .get("deflate@system")
            .err()
            .expect("it has no such function");
        assert_eq!(
            error.to_string(),
            "deflate@system cannot be used on this machine: libz.so.1 has no function no_such_function; install the package zlib1g, or a newer one"
        );
    }
}
