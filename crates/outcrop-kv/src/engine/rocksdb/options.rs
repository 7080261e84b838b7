//! From our options to RocksDB's.

#![expect(unsafe_code, reason = "setters of a C interface")]

use std::ffi::c_int;

use outcrop_workload::store::{CompactionStyle, Durability, StoreCodec, StoreCompression, StoreIo};

use super::functions::{Functions, Options, ReadOptions, WriteOptions};
use super::library::RocksLibrary;
use crate::store::{Opening, StoreOptions};

/// zlib's window as RocksDB has it: raw deflate of 16 KiB.
const WINDOW_BITS: c_int = -14;
/// What RocksDB takes for "the codec's own level".
const OWN_LEVEL: c_int = 32767;
/// The manifest grows in steps of this: with RocksDB's 4 MiB a small database would seem to take that much more, for as long as it is open.
const MANIFEST_STEP_BYTES: usize = 4 << 10;
/// zstd trains a dictionary on a hundred times its size, as its authors advise.
const TRAINING_FACTOR: c_int = 100;

/// Options of an open database, destroyed with it.
pub(super) struct RocksOptions {
    library: &'static RocksLibrary,
    pub(super) database: *mut Options,
    pub(super) read: *mut ReadOptions,
    pub(super) write: *mut WriteOptions,
    pub(super) has_block_cache: bool,
}

// SAFETY: they are set here, before any other thread has them, and only read afterwards; the statistics in them are the library's own,
// and made for threads.
unsafe impl Send for RocksOptions {}
// SAFETY: as above.
unsafe impl Sync for RocksOptions {}

impl RocksOptions {
    pub(super) fn new(library: &'static RocksLibrary, options: &StoreOptions, opening: Opening) -> Self {
        let functions = &library.functions;
        // SAFETY: makes an object of the library's; it cannot fail but by ending the process.
        let database = unsafe { (functions.options_create)() };
        // SAFETY: as above.
        let read = unsafe { (functions.readoptions_create)() };
        // SAFETY: as above.
        let write = unsafe { (functions.writeoptions_create)() };
        let made = Self {
            library,
            database,
            read,
            write,
            has_block_cache: options.block_cache_bytes > 0,
        };
        made.set_opening(functions, opening);
        made.set_compression(functions, options);
        made.set_blocks(functions, options);
        made.set_files(functions, options);
        made.set_writes(functions, options.durability);
        made
    }

    fn set_opening(&self, functions: &Functions, opening: Opening) {
        let is_new = u8::from(opening == Opening::Create);
        // SAFETY: the options are ours and alive.
        unsafe { (functions.options_set_create_if_missing)(self.database, is_new) };
        // SAFETY: as above.
        unsafe { (functions.options_set_error_if_exists)(self.database, is_new) };
        // SAFETY: as above.
        unsafe { (functions.options_enable_statistics)(self.database) };
        // Its log of statistics is nobody's: it would be written, and counted, every ten minutes.
        // SAFETY: as above.
        unsafe { (functions.options_set_stats_dump_period_sec)(self.database, 0) };
    }

    fn set_compression(&self, functions: &Functions, options: &StoreOptions) {
        let dictionary = options.dictionary_bytes as c_int;
        let training = |codec| match codec {
            StoreCodec::Zstd => dictionary.saturating_mul(TRAINING_FACTOR),
            _ => 0,
        };
        let StoreCompression { codec, .. } = options.compression;
        let level = level_of(options.compression);
        // SAFETY: the options are ours and alive.
        unsafe { (functions.options_set_compression)(self.database, number_of(codec)) };
        let set = functions.options_set_compression_options;
        // SAFETY: as above.
        unsafe { set(self.database, WINDOW_BITS, level, 0, dictionary) };
        let train = functions.options_set_compression_options_zstd_max_train_bytes;
        // Codecs of levels share the options of the one that they replace.
        let is_trained = options.level_codecs.codecs().contains(&StoreCodec::Zstd);
        let trained = if is_trained { StoreCodec::Zstd } else { codec };
        // SAFETY: as above.
        unsafe { train(self.database, training(trained)) };
        let levels: Vec<c_int> = options
            .level_codecs
            .codecs()
            .iter()
            .map(|codec| number_of(*codec))
            .collect();
        if !levels.is_empty() {
            let set = functions.options_set_compression_per_level;
            // SAFETY: as above; the library copies that many numbers.
            unsafe { set(self.database, levels.as_ptr(), levels.len()) };
        }
        if let Some(bottommost) = options.bottommost {
            let codec = number_of(bottommost.codec);
            // SAFETY: as above.
            unsafe { (functions.options_set_bottommost_compression)(self.database, codec) };
            let set = functions.options_set_bottommost_compression_options;
            let level = level_of(bottommost);
            // SAFETY: as above.
            unsafe { set(self.database, WINDOW_BITS, level, 0, dictionary, 1) };
            let train = functions.options_set_bottommost_compression_options_zstd_max_train_bytes;
            // SAFETY: as above.
            unsafe { train(self.database, training(bottommost.codec), 1) };
        }
    }

    fn set_blocks(&self, functions: &Functions, options: &StoreOptions) {
        // SAFETY: makes an object of the library's.
        let blocks = unsafe { (functions.block_based_options_create)() };
        // SAFETY: it is ours and alive.
        unsafe { (functions.block_based_options_set_block_size)(blocks, options.block_size_bytes as usize) };
        if options.block_cache_bytes == 0 {
            // SAFETY: as above.
            unsafe { (functions.block_based_options_set_no_block_cache)(blocks, 1) };
        } else {
            let bytes = usize::try_from(options.block_cache_bytes).unwrap_or(usize::MAX);
            // SAFETY: makes an object of the library's.
            let cache = unsafe { (functions.cache_create_lru)(bytes) };
            // SAFETY: both are alive; the options hold the cache from here on.
            unsafe { (functions.block_based_options_set_block_cache)(blocks, cache) };
            // SAFETY: gives our share of it back; what the options hold lives on.
            unsafe { (functions.cache_destroy)(cache) };
        }
        if options.bloom_bits > 0 {
            // SAFETY: makes an object of the library's.
            let filter = unsafe { (functions.filterpolicy_create_bloom_full)(f64::from(options.bloom_bits)) };
            // SAFETY: both are alive; the options own the filter from here on.
            unsafe { (functions.block_based_options_set_filter_policy)(blocks, filter) };
        }
        // SAFETY: both are alive; the table factory copies the block options.
        unsafe { (functions.options_set_block_based_table_factory)(self.database, blocks) };
        // SAFETY: it is ours and not used again.
        unsafe { (functions.block_based_options_destroy)(blocks) };
    }

    fn set_files(&self, functions: &Functions, options: &StoreOptions) {
        let is_direct = u8::from(options.io == StoreIo::Direct);
        // SAFETY: the options are ours and alive.
        unsafe { (functions.options_set_use_direct_reads)(self.database, is_direct) };
        // SAFETY: as above.
        unsafe { (functions.options_set_use_direct_io_for_flush_and_compaction)(self.database, is_direct) };
        let buffer = usize::try_from(options.write_buffer_bytes).unwrap_or(usize::MAX);
        // SAFETY: as above.
        unsafe { (functions.options_set_write_buffer_size)(self.database, buffer) };
        // SAFETY: as above.
        unsafe { (functions.options_set_manifest_preallocation_size)(self.database, MANIFEST_STEP_BYTES) };
        let style = match options.compaction {
            CompactionStyle::Leveled => 0,
            CompactionStyle::Universal => 1,
        };
        // SAFETY: as above.
        unsafe { (functions.options_set_compaction_style)(self.database, style) };
    }

    fn set_writes(&self, functions: &Functions, durability: Durability) {
        let is_synced = u8::from(durability == Durability::Synced);
        // SAFETY: the options are ours and alive.
        unsafe { (functions.writeoptions_set_sync)(self.write, is_synced) };
        let is_unlogged = c_int::from(durability == Durability::Unlogged);
        // SAFETY: as above.
        unsafe { (functions.writeoptions_disable_WAL)(self.write, is_unlogged) };
    }
}

impl Drop for RocksOptions {
    fn drop(&mut self) {
        let functions = &self.library.functions;
        // SAFETY: the database that used them is closed: it is dropped before them.
        unsafe { (functions.writeoptions_destroy)(self.write) };
        // SAFETY: as above.
        unsafe { (functions.readoptions_destroy)(self.read) };
        // SAFETY: as above.
        unsafe { (functions.options_destroy)(self.database) };
    }
}

fn level_of(compression: StoreCompression) -> c_int {
    compression.level.unwrap_or(OWN_LEVEL)
}

/// The number in RocksDB's header.
const fn number_of(codec: StoreCodec) -> c_int {
    match codec {
        StoreCodec::None => 0,
        StoreCodec::Snappy => 1,
        StoreCodec::Zlib => 2,
        StoreCodec::Lz4 => 4,
        StoreCodec::Lz4Hc => 5,
        StoreCodec::Zstd => 7,
    }
}
