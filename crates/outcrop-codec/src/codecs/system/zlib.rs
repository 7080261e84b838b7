//! Raw deflate by the system's libz, with a window of 16 KiB and a stream for each block.

#![expect(
    unsafe_code,
    reason = "the C interface of a library that is opened at run time"
)]

use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;

use libz_sys::{
    Z_BUF_ERROR, Z_DEFAULT_STRATEGY, Z_DEFLATED, Z_FINISH, Z_MEM_ERROR, Z_OK, Z_STREAM_END, Z_SYNC_FLUSH,
    z_stream,
};

use super::library::{Slot, functions, text};
use crate::codecs::check_whole;
use crate::{BlockCodec, CodecError, CodecFamily, Settings};

const NAME: &str = "deflate-zlib@system";
/// 16 KiB, without header and checksum.
const WINDOW_BITS: c_int = -14;
const MEMORY_LEVEL: c_int = 8;
const DEFAULT_LEVEL: c_int = 6;

functions! { Zlib of "libz.so.1" in "zlib1g";
    zlibVersion: fn() -> *const c_char;
    deflateInit2_: fn(*mut z_stream, c_int, c_int, c_int, c_int, c_int, *const c_char, c_int) -> c_int;
    deflate: fn(*mut z_stream, c_int) -> c_int;
    deflateEnd: fn(*mut z_stream) -> c_int;
    inflateInit2_: fn(*mut z_stream, c_int, *const c_char, c_int) -> c_int;
    inflate: fn(*mut z_stream, c_int) -> c_int;
    inflateEnd: fn(*mut z_stream) -> c_int;
}

static LIBRARY: Slot<Zlib> = Slot::new();

pub(in crate::codecs) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "raw deflate by the system's libz, as RocksDB calls it",
    settings: Settings::Levels {
        least: 0,
        most: 9,
        default: DEFAULT_LEVEL,
    },
    accepted: "a level from 0 (stored) to 9, such as deflate-zlib@system:1",
    library: || {
        let library = LIBRARY.get(NAME)?;
        Ok(library.described("zlib", &text(version(&library.functions))))
    },
    open: |setting| {
        Ok(Box::new(Codec {
            functions: &LIBRARY.get(NAME)?.functions,
            level: setting.level_or(DEFAULT_LEVEL),
        }))
    },
};

fn version(functions: &Zlib) -> *const c_char {
    // SAFETY: takes nothing; answers a string literal of the library.
    unsafe { (functions.zlibVersion)() }
}

/// The stream of one block. Boxed, because the library's state points back at it.
struct Stream {
    stream: Box<z_stream>,
    end: unsafe extern "C" fn(*mut z_stream) -> c_int,
}

impl Stream {
    /// Sets a zeroed stream up by `init`.
    fn set_up(
        init: impl FnOnce(*mut z_stream) -> c_int,
        end: unsafe extern "C" fn(*mut z_stream) -> c_int,
    ) -> Result<Self, CodecError> {
        let mut stream = Box::new(MaybeUninit::<z_stream>::zeroed());
        match init(stream.as_mut_ptr()) {
            Z_OK => Ok(Self {
                // SAFETY: the library answered that it has set the stream up, allocator included.
                stream: unsafe { stream.assume_init() },
                end,
            }),
            Z_MEM_ERROR => Err(CodecError::out_of_memory(NAME)),
            code => Err(CodecError::refused(
                NAME,
                &[],
                format!("zlib answered {code} to its initialisation"),
            )),
        }
    }

    /// Runs the block through `step`; answers the library's code and the bytes written.
    fn run(
        &mut self,
        step: unsafe extern "C" fn(*mut z_stream, c_int) -> c_int,
        flush: c_int,
        source: &[u8],
        target: &mut [u8],
    ) -> (c_int, usize) {
        let available = u32::try_from(target.len()).unwrap_or(u32::MAX);
        self.stream.next_in = source.as_ptr().cast_mut();
        self.stream.avail_in = u32::try_from(source.len()).unwrap_or(u32::MAX);
        self.stream.next_out = target.as_mut_ptr();
        self.stream.avail_out = available;
        // SAFETY: the stream is set up for the direction of `step`; the library stays within the lengths set above, during this call only.
        let code = unsafe { step(&raw mut *self.stream, flush) };
        (code, (available - self.stream.avail_out) as usize)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: set up, and not used afterwards.
        unsafe { (self.end)(&raw mut *self.stream) };
    }
}

struct Codec {
    functions: &'static Zlib,
    level: c_int,
}

impl BlockCodec for Codec {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        // zlib's bound for any window and memory.
        source_bytes + source_bytes.div_ceil(8) + source_bytes.div_ceil(64) + 5
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        if u32::try_from(source.len()).is_err() {
            return Err(CodecError::block_too_large(NAME, u32::MAX as usize, source));
        }
        let functions = self.functions;
        let init = |stream| {
            // SAFETY: a zeroed stream asks for the library's own allocator; the version is the library's, the size that of its interface.
            unsafe {
                (functions.deflateInit2_)(
                    stream,
                    self.level,
                    Z_DEFLATED,
                    WINDOW_BITS,
                    MEMORY_LEVEL,
                    Z_DEFAULT_STRATEGY,
                    version(functions),
                    size_of::<z_stream>() as c_int,
                )
            }
        };
        let mut stream = Stream::set_up(init, functions.deflateEnd)?;
        match stream.run(functions.deflate, Z_FINISH, source, target) {
            (Z_STREAM_END, written) => Ok(written),
            (Z_OK | Z_BUF_ERROR, _) => {
                let bound = self.compressed_bound(source.len());
                Err(CodecError::target_too_small(NAME, bound, target))
            }
            (code, _) => Err(CodecError::refused(NAME, source, format!("zlib answered {code}"))),
        }
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let functions = self.functions;
        let size = size_of::<z_stream>() as c_int;
        // SAFETY: as for deflate.
        let init =
            |stream| unsafe { (functions.inflateInit2_)(stream, WINDOW_BITS, version(functions), size) };
        let mut stream = Stream::set_up(init, functions.inflateEnd)?;
        // With `Z_FINISH` the library would spare itself the copy to its window; RocksDB's call does not.
        match stream.run(functions.inflate, Z_SYNC_FLUSH, source, target) {
            (Z_STREAM_END, written) => check_whole(NAME, source, written, target),
            (code, written) => {
                let why = format!("zlib answered {code} after {written} of {} B", target.len());
                Err(CodecError::corrupt(NAME, source, why))
            }
        }
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}
