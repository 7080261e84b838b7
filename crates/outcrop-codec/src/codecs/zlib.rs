//! Raw deflate by C zlib, the library that "deflate level 1" usually means.
#![expect(
    unsafe_code,
    reason = "libz-sys is the C interface; flate2 links one back end only, and it is zlib-rs"
)]

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

use libz_sys::{
    Z_BUF_ERROR, Z_DEFAULT_STRATEGY, Z_DEFLATED, Z_FINISH, Z_MEM_ERROR, Z_OK, Z_STREAM_END, deflate,
    deflateEnd, deflateInit2_, deflateReset, inflate, inflateEnd, inflateInit2_, inflateReset, z_stream,
    zlibVersion,
};

use super::{check_whole, made};
use crate::{BlockCodec, CodecError, CodecFamily, Settings};

const NAME: &str = "deflate-zlib";
/// Negative: no zlib header and no checksum.
const RAW_WINDOW_BITS: c_int = -15;
const DEFAULT_MEMORY_LEVEL: c_int = 8;

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "raw deflate by C zlib",
    settings: Settings::Levels {
        least: 0,
        most: 9,
        default: 6,
    },
    accepted: "a level from 0 (stored) to 9, such as deflate-zlib:1",
    library: || format!("zlib {}", version().to_string_lossy()),
    open: |setting| {
        let level = setting.level_or(6);
        Ok(Box::new(Zlib {
            level,
            deflate: None,
            inflate: None,
        }))
    },
};

fn version() -> &'static CStr {
    // SAFETY: takes nothing; answers a string literal of the library.
    let version = unsafe { zlibVersion() };
    // SAFETY: a string literal ends with a zero and lives as long as the program.
    unsafe { CStr::from_ptr(version) }
}

/// One direction's stream. Boxed, because the library's state points back at it.
struct Stream {
    stream: Box<z_stream>,
    end: unsafe extern "C" fn(*mut z_stream) -> c_int,
    /// Whether a block has gone through: a new stream needs no reset, which costs as much again as making it.
    is_used: bool,
}

// SAFETY: the stream and its state belong to this value alone, and zlib keeps nothing per thread.
unsafe impl Send for Stream {}

impl Stream {
    fn empty() -> Box<MaybeUninit<z_stream>> {
        Box::new(MaybeUninit::zeroed())
    }

    fn deflate(level: c_int) -> Result<Self, CodecError> {
        let mut stream = Self::empty();
        // SAFETY: a zeroed stream asks for the library's own allocator; version and size are those that we link.
        let code = unsafe {
            deflateInit2_(
                stream.as_mut_ptr(),
                level,
                Z_DEFLATED,
                RAW_WINDOW_BITS,
                DEFAULT_MEMORY_LEVEL,
                Z_DEFAULT_STRATEGY,
                version().as_ptr(),
                size_of::<z_stream>() as c_int,
            )
        };
        Self::initialised(stream, code, deflateEnd)
    }

    fn inflate() -> Result<Self, CodecError> {
        let mut stream = Self::empty();
        // SAFETY: as for deflate.
        let code = unsafe {
            inflateInit2_(
                stream.as_mut_ptr(),
                RAW_WINDOW_BITS,
                version().as_ptr(),
                size_of::<z_stream>() as c_int,
            )
        };
        Self::initialised(stream, code, inflateEnd)
    }

    fn initialised(
        stream: Box<MaybeUninit<z_stream>>,
        code: c_int,
        end: unsafe extern "C" fn(*mut z_stream) -> c_int,
    ) -> Result<Self, CodecError> {
        match code {
            Z_OK => Ok(Self {
                // SAFETY: the library answered that it has set the stream up, allocator included.
                stream: unsafe { stream.assume_init() },
                end,
                is_used: false,
            }),
            Z_MEM_ERROR => Err(CodecError::OutOfMemory { codec: NAME }),
            code => Err(CodecError::refused(
                NAME,
                &[],
                format!("zlib answered {code} to its initialisation"),
            )),
        }
    }

    /// Runs one whole block through `step`; answers the library's code and the bytes written.
    fn run(
        &mut self,
        reset: unsafe extern "C" fn(*mut z_stream) -> c_int,
        step: unsafe extern "C" fn(*mut z_stream, c_int) -> c_int,
        source: &[u8],
        target: &mut [u8],
    ) -> (c_int, usize) {
        if std::mem::replace(&mut self.is_used, true) {
            // SAFETY: the stream is initialised for the direction of `reset` and `step`.
            unsafe { reset(&raw mut *self.stream) };
        }
        self.stream.next_in = source.as_ptr().cast_mut();
        self.stream.avail_in = u32::try_from(source.len()).unwrap_or(u32::MAX);
        self.stream.next_out = target.as_mut_ptr();
        self.stream.avail_out = u32::try_from(target.len()).unwrap_or(u32::MAX);
        let available = self.stream.avail_out;
        // SAFETY: the library reads and writes within the lengths set above, during this call only.
        let code = unsafe { step(&raw mut *self.stream, Z_FINISH) };
        (code, (available - self.stream.avail_out) as usize)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: initialised, and not used afterwards.
        unsafe { (self.end)(&raw mut *self.stream) };
    }
}

struct Zlib {
    level: c_int,
    deflate: Option<Stream>,
    inflate: Option<Stream>,
}

impl BlockCodec for Zlib {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        // zlib's bound for its default window and memory.
        source_bytes + (source_bytes >> 12) + (source_bytes >> 14) + (source_bytes >> 25) + 13
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let stream = made(&mut self.deflate, || Stream::deflate(self.level))?;
        match stream.run(deflateReset, deflate, source, target) {
            (Z_STREAM_END, written) => Ok(written),
            (Z_OK | Z_BUF_ERROR, _) => Err(CodecError::TargetTooSmall {
                codec: NAME,
                needed: self.compressed_bound(source.len()),
                available: target.len(),
            }),
            (code, _) => Err(CodecError::refused(NAME, source, format!("zlib answered {code}"))),
        }
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let stream = made(&mut self.inflate, Stream::inflate)?;
        match stream.run(inflateReset, inflate, source, target) {
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
