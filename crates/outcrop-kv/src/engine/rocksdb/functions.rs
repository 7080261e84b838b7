//! The part of RocksDB's C interface that is used, as a table that is filled from the user's library.
//!
//! All of these have had the same signature since 7.8 at least; `rocksdb_enable_file_deletions`, `rocksdb_options_set_plain_table_factory`
//! and `rocksdb_slicetransform_create`, which have not, are left out.

#![expect(
    unsafe_code,
    reason = "functions of a library that is opened at run time are found by name, and their signatures taken on trust"
)]

use std::ffi::{c_char, c_double, c_int, c_uchar, c_uint, c_void};
use std::path::Path;

use libloading::Library;

use crate::error::KvError;

/// What the library's own types are to us: something behind a pointer.
macro_rules! opaque {
    ($($name:ident)+) => {
        $(
            #[repr(C)]
            pub(super) struct $name {
                _private: [u8; 0],
            }
        )+
    };
}

opaque!(Db Options BlockOptions ReadOptions WriteOptions FlushOptions Cache Filter Iter Pinned);

/// Fills a table of functions whose names in the library begin with `rocksdb_`.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// Every function that is used.
        #[allow(non_snake_case, reason = "the names are the library's")]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+
        }

        impl Functions {
            /// Looks every function up.
            pub(super) fn of(library: &Library, path: &Path) -> Result<Self, KvError> {
                Ok(Self {
                    $($name: {
                        let name = concat!("rocksdb_", stringify!($name), "\0");
                        // SAFETY: the library is RocksDB by its name, and its header gives the function this signature.
                        let found = unsafe { library.get(name.as_bytes()) };
                        *found.map_err(|_| lacks(path, &name[..name.len() - 1]))?
                    },)+
                })
            }
        }
    };
}

/// Why a library is of no use.
fn lacks(path: &Path, name: &str) -> KvError {
    KvError::Absent {
        why: format!(
            "{} has no function {name}: it is not RocksDB 6.14 or later; install librocksdb-dev, or name another library in \
             OUTCROP_ROCKSDB_LIB",
            path.display()
        ),
    }
}

type Text = *const c_char;
type Error = *mut *mut c_char;

functions! {
    open: fn(*const Options, Text, Error) -> *mut Db;
    close: fn(*mut Db);
    put: fn(*mut Db, *const WriteOptions, Text, usize, Text, usize, Error);
    delete: fn(*mut Db, *const WriteOptions, Text, usize, Error);
    get_pinned: fn(*mut Db, *const ReadOptions, Text, usize, Error) -> *mut Pinned;
    pinnableslice_value: fn(*const Pinned, *mut usize) -> Text;
    pinnableslice_destroy: fn(*mut Pinned);
    create_iterator: fn(*mut Db, *const ReadOptions) -> *mut Iter;
    iter_destroy: fn(*mut Iter);
    iter_valid: fn(*const Iter) -> c_uchar;
    iter_seek: fn(*mut Iter, Text, usize);
    iter_next: fn(*mut Iter);
    iter_key: fn(*const Iter, *mut usize) -> Text;
    iter_value: fn(*const Iter, *mut usize) -> Text;
    iter_get_error: fn(*const Iter, Error);
    property_value: fn(*mut Db, Text) -> *mut c_char;
    flush: fn(*mut Db, *const FlushOptions, Error);
    flushoptions_create: fn() -> *mut FlushOptions;
    flushoptions_destroy: fn(*mut FlushOptions);
    free: fn(*mut c_void);
    options_create: fn() -> *mut Options;
    options_destroy: fn(*mut Options);
    options_set_create_if_missing: fn(*mut Options, c_uchar);
    options_set_error_if_exists: fn(*mut Options, c_uchar);
    options_set_compression: fn(*mut Options, c_int);
    options_set_compression_per_level: fn(*mut Options, *const c_int, usize);
    options_set_compression_options: fn(*mut Options, c_int, c_int, c_int, c_int);
    options_set_compression_options_zstd_max_train_bytes: fn(*mut Options, c_int);
    options_set_bottommost_compression: fn(*mut Options, c_int);
    options_set_bottommost_compression_options: fn(*mut Options, c_int, c_int, c_int, c_int, c_uchar);
    options_set_bottommost_compression_options_zstd_max_train_bytes: fn(*mut Options, c_int, c_uchar);
    options_set_use_direct_reads: fn(*mut Options, c_uchar);
    options_set_use_direct_io_for_flush_and_compaction: fn(*mut Options, c_uchar);
    options_set_write_buffer_size: fn(*mut Options, usize);
    options_set_manifest_preallocation_size: fn(*mut Options, usize);
    options_set_compaction_style: fn(*mut Options, c_int);
    options_set_stats_dump_period_sec: fn(*mut Options, c_uint);
    options_enable_statistics: fn(*mut Options);
    options_statistics_get_string: fn(*mut Options) -> *mut c_char;
    options_set_block_based_table_factory: fn(*mut Options, *mut BlockOptions);
    block_based_options_create: fn() -> *mut BlockOptions;
    block_based_options_destroy: fn(*mut BlockOptions);
    block_based_options_set_block_size: fn(*mut BlockOptions, usize);
    block_based_options_set_filter_policy: fn(*mut BlockOptions, *mut Filter);
    block_based_options_set_no_block_cache: fn(*mut BlockOptions, c_uchar);
    block_based_options_set_block_cache: fn(*mut BlockOptions, *mut Cache);
    cache_create_lru: fn(usize) -> *mut Cache;
    cache_destroy: fn(*mut Cache);
    filterpolicy_create_bloom_full: fn(c_double) -> *mut Filter;
    readoptions_create: fn() -> *mut ReadOptions;
    readoptions_destroy: fn(*mut ReadOptions);
    writeoptions_create: fn() -> *mut WriteOptions;
    writeoptions_destroy: fn(*mut WriteOptions);
    writeoptions_disable_WAL: fn(*mut WriteOptions, c_int);
    writeoptions_set_sync: fn(*mut WriteOptions, c_uchar);
}
