//! Entropy coding in Zstandard's format (RFC 8878), for blocks of at most one page.
//!
//! Our own encoder instead of `ZSTD_compressSequences`, which spends most of its time per call in setting
//! up and validating what a page of 4 KiB does not need; and our own decoder, which needs nothing of what streams and
//! windows ask of libzstd. libzstd and ruzstd are the oracles of both.

mod bits;
mod block;
mod bytes;
mod decode;
mod fse;
mod histogram;
mod huffman;
mod literals;
mod sequences;

pub(crate) use block::{BlockEncoder, BlockShape};
pub(crate) use decode::BlockDecoder;
pub(crate) use histogram::Histogram;
pub(crate) use sequences::Sequence;
