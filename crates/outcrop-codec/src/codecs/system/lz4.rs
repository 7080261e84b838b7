//! LZ4 blocks by the system's liblz4, with a stream for each block.

#![expect(
    unsafe_code,
    reason = "the C interface of a library that is opened at run time"
)]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;

use super::library::{Slot, functions, text};
use crate::codecs::{check_target, check_whole};
use crate::{BlockCodec, CodecError, CodecFamily, Setting, Settings};

const NAME: &str = "lz4@system";
/// Largest block (`LZ4_MAX_INPUT_SIZE`).
const MAX_BLOCK_BYTES: usize = 0x7E00_0000;

functions! { Lz4 of "liblz4.so.1" in "liblz4-1";
    LZ4_versionString: fn() -> *const c_char;
    LZ4_createStream: fn() -> *mut c_void;
    LZ4_freeStream: fn(*mut c_void) -> c_int;
    LZ4_compress_fast_continue: fn(*mut c_void, *const c_char, *mut c_char, c_int, c_int, c_int) -> c_int;
    LZ4_createStreamDecode: fn() -> *mut c_void;
    LZ4_freeStreamDecode: fn(*mut c_void) -> c_int;
    LZ4_decompress_safe_continue: fn(*mut c_void, *const c_char, *mut c_char, c_int, c_int) -> c_int;
}

static LIBRARY: Slot<Lz4> = Slot::new();

pub(in crate::codecs) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "LZ4 blocks by the system's liblz4, as RocksDB calls it",
    settings: Settings::Acceleration { most: 65_537 },
    accepted: "an acceleration from 1 (default) to 65537, such as lz4@system or lz4@system:8",
    library: || {
        let library = LIBRARY.get(NAME)?;
        // SAFETY: takes nothing; answers a string literal.
        let version = unsafe { (library.functions.LZ4_versionString)() };
        Ok(library.described("liblz4", &text(version)))
    },
    open: |setting| {
        Ok(Box::new(Codec {
            functions: &LIBRARY.get(NAME)?.functions,
            acceleration: match setting {
                Setting::Acceleration(acceleration) => acceleration,
                _ => 1,
            },
        }))
    },
};

/// A stream of either direction, for one block.
struct Stream {
    stream: NonNull<c_void>,
    free: unsafe extern "C" fn(*mut c_void) -> c_int,
}

impl Stream {
    fn of(stream: *mut c_void, free: unsafe extern "C" fn(*mut c_void) -> c_int) -> Result<Self, CodecError> {
        let stream = NonNull::new(stream).ok_or_else(|| CodecError::out_of_memory(NAME))?;
        Ok(Self { stream, free })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: it was made by the library and is not used again.
        unsafe { (self.free)(self.stream.as_ptr()) };
    }
}

struct Codec {
    functions: &'static Lz4,
    acceleration: c_int,
}

impl BlockCodec for Codec {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        source_bytes + source_bytes / 255 + 16
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        if source.len() > MAX_BLOCK_BYTES {
            return Err(CodecError::block_too_large(NAME, MAX_BLOCK_BYTES, source));
        }
        if source.is_empty() {
            // The library computes with the end of its source, and that of an empty slice is nowhere. An empty block is one token of zero.
            check_target(NAME, 1, target)?;
            target[0] = 0;
            return Ok(1);
        }
        // SAFETY: takes nothing; answers a stream or null.
        let stream = unsafe { (self.functions.LZ4_createStream)() };
        let stream = Stream::of(stream, self.functions.LZ4_freeStream)?;
        // SAFETY: the stream is new; the library reads `source` and writes `target` within the lengths given.
        let written = unsafe {
            (self.functions.LZ4_compress_fast_continue)(
                stream.stream.as_ptr(),
                source.as_ptr().cast(),
                target.as_mut_ptr().cast(),
                c_length(source.len()),
                c_length(target.len()),
                self.acceleration,
            )
        };
        if written <= 0 {
            check_target(NAME, self.compressed_bound(source.len()), target)?;
            return Err(CodecError::refused(
                NAME,
                source,
                format!("the library returned {written}"),
            ));
        }
        Ok(written as usize)
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        // SAFETY: takes nothing; answers a stream or null.
        let stream = unsafe { (self.functions.LZ4_createStreamDecode)() };
        let stream = Stream::of(stream, self.functions.LZ4_freeStreamDecode)?;
        // SAFETY: the stream is new; `LZ4_decompress_safe_continue` stays within the two lengths, whatever the bytes say.
        let written = unsafe {
            (self.functions.LZ4_decompress_safe_continue)(
                stream.stream.as_ptr(),
                source.as_ptr().cast(),
                target.as_mut_ptr().cast(),
                c_length(source.len()),
                c_length(target.len()),
            )
        };
        let Ok(written) = usize::try_from(written) else {
            let why = format!("malformed near byte {}", -i64::from(written));
            return Err(CodecError::corrupt(NAME, source, why));
        };
        check_whole(NAME, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}

/// A length as C takes it; a longer buffer is used up to the largest.
fn c_length(bytes: usize) -> c_int {
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}
