//! Entropy coding in Zstandard's format (RFC 8878), for blocks of at most one page.
//!
//! Our own encoder instead of `ZSTD_compressSequences`, which spends most of its time per call in setting
//! up and validating what a page of 4 KiB does not need. No decoder here: libzstd is that, and the oracle.

mod bits;
mod block;
mod fse;
mod histogram;
mod huffman;
mod literals;
mod sequences;

pub(crate) use block::{BlockEncoder, BlockShape};
pub(crate) use histogram::Histogram;
pub(crate) use sequences::Sequence;
