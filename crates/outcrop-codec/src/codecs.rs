//! One module per library, and the list of them.

#[cfg(feature = "brotli")]
mod brotli;
#[cfg(feature = "dpzip")]
mod dpzip;
#[cfg(feature = "libdeflate")]
mod libdeflate;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lz4-flex")]
mod lz4_flex;
mod none;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "system")]
mod system;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zlib-rs")]
mod zlib_rs;
#[cfg(feature = "zstd")]
mod zstd;

use crate::{CodecError, CodecFamily};

pub(crate) const FAMILIES: &[CodecFamily] = &[
    none::FAMILY,
    #[cfg(feature = "zstd")]
    zstd::FAMILY,
    #[cfg(feature = "lz4")]
    lz4::FAST,
    #[cfg(feature = "lz4")]
    lz4::HIGH,
    #[cfg(feature = "lz4-flex")]
    lz4_flex::FAMILY,
    #[cfg(feature = "snappy")]
    snappy::FAMILY,
    #[cfg(feature = "libdeflate")]
    libdeflate::FAMILY,
    #[cfg(feature = "zlib")]
    zlib::RAW_FAMILY,
    #[cfg(feature = "zlib")]
    zlib::ZLIB_FAMILY,
    #[cfg(feature = "zlib-rs")]
    zlib_rs::FAMILY,
    #[cfg(feature = "brotli")]
    brotli::FAMILY,
    #[cfg(feature = "dpzip")]
    dpzip::FAMILY,
    #[cfg(feature = "system")]
    system::ZSTD,
    #[cfg(feature = "system")]
    system::LZ4,
    #[cfg(feature = "system")]
    system::SNAPPY,
    #[cfg(feature = "system")]
    system::ZLIB,
];

/// Checks that `target` can hold whatever comes, where a library would write beyond it or only fail without a reason.
fn check_target(codec: &'static str, needed: usize, target: &[u8]) -> Result<(), CodecError> {
    if target.len() < needed {
        return Err(CodecError::target_too_small(codec, needed, target));
    }
    Ok(())
}

/// The context in `slot`, made at its first use: one that is made for a single block in one direction must not pay
/// for the other direction's.
#[cfg(any(feature = "system", feature = "zlib", feature = "zstd"))]
fn made<T>(slot: &mut Option<T>, make: impl FnOnce() -> Result<T, CodecError>) -> Result<&mut T, CodecError> {
    match slot {
        Some(context) => Ok(context),
        empty => Ok(empty.insert(make()?)),
    }
}

/// Checks that a library's answer fills the block: an incomplete block is a damaged one.
fn check_whole(
    codec: &'static str,
    source: &[u8],
    written: usize,
    target: &[u8],
) -> Result<usize, CodecError> {
    if written != target.len() {
        let why = format!("it holds {written} B, and the block has {} B", target.len());
        return Err(CodecError::corrupt(codec, source, why));
    }
    Ok(written)
}
