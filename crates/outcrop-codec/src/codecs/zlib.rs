//! Deflate by C zlib, the library that "deflate level 1" usually means: raw, and in zlib's own format.
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
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Settings};

const DEFAULT_MEMORY_LEVEL: c_int = 8;
const DEFAULT_LEVEL: c_int = 6;

/// What stands around the deflate stream.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    /// The window of 32 KiB; negative without header and checksum.
    window_bits: c_int,
}

const RAW: Form = Form {
    name: "deflate-zlib",
    window_bits: -15,
};

/// Two bytes in front, four of Adler-32 behind.
const ZLIB: Form = Form {
    name: "zlib",
    window_bits: 15,
};

const LEVELS: Settings = Settings::Levels {
    least: 0,
    most: 9,
    default: DEFAULT_LEVEL,
};

pub(super) const RAW_FAMILY: CodecFamily = CodecFamily {
    name: RAW.name,
    summary: "raw deflate by C zlib",
    settings: LEVELS,
    accepted: "a level from 0 (stored) to 9, such as deflate-zlib:1",
    library: || Ok(CodecLibrary::within(name_and_version())),
    open: |setting| Ok(Box::new(Zlib::new(RAW, setting.level_or(DEFAULT_LEVEL)))),
};

pub(super) const ZLIB_FAMILY: CodecFamily = CodecFamily {
    name: ZLIB.name,
    summary: "zlib's format by C zlib: deflate with a header and Adler-32",
    settings: LEVELS,
    accepted: "a level from 0 (stored) to 9, such as zlib:1",
    library: || Ok(CodecLibrary::within(name_and_version())),
    open: |setting| Ok(Box::new(Zlib::new(ZLIB, setting.level_or(DEFAULT_LEVEL)))),
};

fn name_and_version() -> String {
    format!("zlib {}", version().to_string_lossy())
}

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

    fn deflate(form: Form, level: c_int) -> Result<Self, CodecError> {
        let mut stream = Self::empty();
        // SAFETY: a zeroed stream asks for the library's own allocator; version and size are those that we link.
        let code = unsafe {
            deflateInit2_(
                stream.as_mut_ptr(),
                level,
                Z_DEFLATED,
                form.window_bits,
                DEFAULT_MEMORY_LEVEL,
                Z_DEFAULT_STRATEGY,
                version().as_ptr(),
                size_of::<z_stream>() as c_int,
            )
        };
        Self::initialised(form, stream, code, deflateEnd)
    }

    fn inflate(form: Form) -> Result<Self, CodecError> {
        let mut stream = Self::empty();
        // SAFETY: as for deflate.
        let code = unsafe {
            inflateInit2_(
                stream.as_mut_ptr(),
                form.window_bits,
                version().as_ptr(),
                size_of::<z_stream>() as c_int,
            )
        };
        Self::initialised(form, stream, code, inflateEnd)
    }

    fn initialised(
        form: Form,
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
            Z_MEM_ERROR => Err(CodecError::out_of_memory(form.name)),
            code => Err(CodecError::refused(
                form.name,
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
    form: Form,
    level: c_int,
    deflate: Option<Stream>,
    inflate: Option<Stream>,
}

impl Zlib {
    const fn new(form: Form, level: c_int) -> Self {
        Self {
            form,
            level,
            deflate: None,
            inflate: None,
        }
    }
}

impl BlockCodec for Zlib {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        // zlib's bound for its default window and memory.
        source_bytes + (source_bytes >> 12) + (source_bytes >> 14) + (source_bytes >> 25) + 13
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let stream = made(&mut self.deflate, || Stream::deflate(self.form, self.level))?;
        match stream.run(deflateReset, deflate, source, target) {
            (Z_STREAM_END, written) => Ok(written),
            (Z_OK | Z_BUF_ERROR, _) => Err(CodecError::target_too_small(
                self.form.name,
                self.compressed_bound(source.len()),
                target,
            )),
            (code, _) => Err(CodecError::refused(
                self.form.name,
                source,
                format!("zlib answered {code}"),
            )),
        }
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let stream = made(&mut self.inflate, || Stream::inflate(self.form))?;
        match stream.run(inflateReset, inflate, source, target) {
            (Z_STREAM_END, written) => check_whole(self.form.name, source, written, target),
            (code, written) => {
                let why = format!("zlib answered {code} after {written} of {} B", target.len());
                Err(CodecError::corrupt(self.form.name, source, why))
            }
        }
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}
