//! The system's own libzstd, liblz4, libsnappy and libz, opened at run time and called as RocksDB calls them.
//!
//! A store that is linked to the system's libraries is predicted from figures of the same ones: they are opened by the name that programs are linked
//! to, so that the linker finds the file that it finds for everybody (`LD_LIBRARY_PATH` leads both elsewhere).
//!
//! *As RocksDB 7.8 calls them* (`util/compression.h`): zstd keeps its contexts; LZ4 and zlib make a stream for each block; deflate is raw, with a
//! window of 16 KiB. What a call costs besides the library is one load of a function's address, as in a call of a linked function through its table.

mod library;
mod lz4;
mod snappy;
mod zlib;
mod zstd;

pub(super) use lz4::FAMILY as LZ4;
pub(super) use snappy::FAMILY as SNAPPY;
pub(super) use zlib::FAMILY as ZLIB;
pub(super) use zstd::FAMILY as ZSTD;
