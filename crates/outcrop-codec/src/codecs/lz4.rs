//! LZ4 blocks by the C library: the fast compressor and the high-compression one.
#![expect(
    unsafe_code,
    reason = "lz4-sys is the C interface; no safe binding keeps a context between blocks"
)]

use std::ffi::{c_char, c_int, c_void};

use super::{check_target, check_whole};
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Setting, Settings};

pub(super) const FAST: CodecFamily = CodecFamily {
    name: "lz4",
    summary: "LZ4 blocks by the C library",
    settings: Settings::Acceleration { most: 65_537 },
    accepted: "an acceleration from 1 (default) to 65537, such as lz4 or lz4:8",
    library: || Ok(CodecLibrary::within(version())),
    open: |setting| {
        let acceleration = match setting {
            Setting::Acceleration(acceleration) => acceleration,
            _ => 1,
        };
        Ok(Box::new(Lz4::new(
            "lz4",
            acceleration,
            LZ4_compress_fast_extState,
            state_bytes_fast(),
        )))
    },
};

pub(super) const HIGH: CodecFamily = CodecFamily {
    name: "lz4hc",
    summary: "LZ4 blocks by the C library's high-compression mode",
    settings: Settings::Levels {
        least: 2,
        most: 12,
        default: 9,
    },
    accepted: "a level from 2 to 12, such as lz4hc:9",
    library: || Ok(CodecLibrary::within(version())),
    open: |setting| {
        let level = setting.level_or(9);
        Ok(Box::new(Lz4::new(
            "lz4hc",
            level,
            LZ4_compress_HC_extStateHC,
            state_bytes_high(),
        )))
    },
};

/// Both compressors with a state of the caller's: state, source, target, source's and target's length, and
/// the acceleration or level.
type CompressWithState =
    unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_char, c_int, c_int, c_int) -> c_int;

// Public functions of lz4.h and lz4hc.h that lz4-sys links but does not declare.
unsafe extern "C" {
    fn LZ4_compress_fast_extState(
        state: *mut c_void,
        source: *const c_char,
        target: *mut c_char,
        source_bytes: c_int,
        target_bytes: c_int,
        acceleration: c_int,
    ) -> c_int;
    fn LZ4_compress_HC_extStateHC(
        state: *mut c_void,
        source: *const c_char,
        target: *mut c_char,
        source_bytes: c_int,
        target_bytes: c_int,
        level: c_int,
    ) -> c_int;
    fn LZ4_sizeofState() -> c_int;
    fn LZ4_sizeofStateHC() -> c_int;
}

/// Largest block (`LZ4_MAX_INPUT_SIZE`).
const MAX_BLOCK_BYTES: usize = 0x7E00_0000;

fn version() -> String {
    // SAFETY: takes nothing and returns a number.
    let version = unsafe { lz4_sys::LZ4_versionNumber() };
    format!(
        "liblz4 {}.{}.{}",
        version / 10_000,
        version / 100 % 100,
        version % 100
    )
}

fn state_bytes_fast() -> usize {
    // SAFETY: takes nothing and returns a number.
    let bytes = unsafe { LZ4_sizeofState() };
    usize::try_from(bytes).unwrap_or(0)
}

fn state_bytes_high() -> usize {
    // SAFETY: takes nothing and returns a number.
    let bytes = unsafe { LZ4_sizeofStateHC() };
    usize::try_from(bytes).unwrap_or(0)
}

struct Lz4 {
    name: &'static str,
    setting: c_int,
    compress: CompressWithState,
    /// Eight-byte words, because the library wants its state aligned. Made by the first block that is compressed.
    state: Vec<u64>,
    state_words: usize,
}

impl Lz4 {
    fn new(name: &'static str, setting: c_int, compress: CompressWithState, state_bytes: usize) -> Self {
        Self {
            name,
            setting,
            compress,
            state: Vec::new(),
            state_words: state_bytes.div_ceil(8),
        }
    }
}

impl BlockCodec for Lz4 {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        source_bytes + source_bytes / 255 + 16
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        if source.len() > MAX_BLOCK_BYTES {
            return Err(CodecError::block_too_large(self.name, MAX_BLOCK_BYTES, source));
        }
        if source.is_empty() {
            // The library computes 12 bytes below the end of its source, which for the dangling address of an
            // empty slice wraps around and crashes at level 12. An empty block is one token of zero.
            check_target(self.name, 1, target)?;
            target[0] = 0;
            return Ok(1);
        }
        if self.state.is_empty() {
            self.state = vec![0; self.state_words];
        }
        let (needed, capacity) = (self.compressed_bound(source.len()), c_length(target.len()));
        // SAFETY: the state has the size that the library asked for, aligned to eight bytes; the library reads
        // `source` and writes `target` within the lengths given.
        let written = unsafe {
            (self.compress)(
                self.state.as_mut_ptr().cast(),
                source.as_ptr().cast(),
                target.as_mut_ptr().cast(),
                c_length(source.len()),
                capacity,
                self.setting,
            )
        };
        if written <= 0 {
            check_target(self.name, needed, target)?;
            return Err(CodecError::refused(
                self.name,
                source,
                format!("the library returned {written}"),
            ));
        }
        Ok(written as usize)
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        // SAFETY: `LZ4_decompress_safe` stays within the two lengths, whatever the bytes say.
        let written = unsafe {
            lz4_sys::LZ4_decompress_safe(
                source.as_ptr().cast(),
                target.as_mut_ptr().cast(),
                c_length(source.len()),
                c_length(target.len()),
            )
        };
        let Ok(written) = usize::try_from(written) else {
            let why = format!("malformed near byte {}", -i64::from(written));
            return Err(CodecError::corrupt(self.name, source, why));
        };
        check_whole(self.name, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        Some(self.state.len() * 8)
    }
}

/// A length as C takes it; a longer buffer is used up to the largest.
fn c_length(bytes: usize) -> c_int {
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}
