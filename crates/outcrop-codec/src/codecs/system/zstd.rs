//! Zstandard by the system's libzstd, with kept contexts.

#![expect(
    unsafe_code,
    reason = "the C interface of a library that is opened at run time"
)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::{NonNull, null};

use super::library::{Slot, functions, text};
use crate::codecs::{check_whole, made};
use crate::{BlockCodec, CodecError, CodecFamily, Settings};

const NAME: &str = "zstd@system";

functions! { Zstd of "libzstd.so.1" in "libzstd1";
    ZSTD_versionString: fn() -> *const c_char;
    ZSTD_isError: fn(usize) -> c_uint;
    ZSTD_getErrorName: fn(usize) -> *const c_char;
    ZSTD_compressBound: fn(usize) -> usize;
    ZSTD_createCCtx: fn() -> *mut c_void;
    ZSTD_freeCCtx: fn(*mut c_void) -> usize;
    ZSTD_sizeof_CCtx: fn(*const c_void) -> usize;
    ZSTD_compress_usingDict: fn(*mut c_void, *mut c_void, usize, *const c_void, usize, *const c_void, usize, c_int) -> usize;
    ZSTD_createDCtx: fn() -> *mut c_void;
    ZSTD_freeDCtx: fn(*mut c_void) -> usize;
    ZSTD_sizeof_DCtx: fn(*const c_void) -> usize;
    ZSTD_decompress_usingDict: fn(*mut c_void, *mut c_void, usize, *const c_void, usize, *const c_void, usize) -> usize;
}

static LIBRARY: Slot<Zstd> = Slot::new();

pub(in crate::codecs) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "Zstandard by the system's libzstd, as RocksDB calls it",
    settings: Settings::Levels {
        least: -131_072,
        most: 22,
        default: 3,
    },
    accepted: "a level from -131072 (fastest) to 22, such as zstd@system:3",
    library: || {
        let library = LIBRARY.get(NAME)?;
        // SAFETY: takes nothing; answers a string literal.
        let version = unsafe { (library.functions.ZSTD_versionString)() };
        Ok(library.described("libzstd", &text(version)))
    },
    open: |setting| {
        Ok(Box::new(Codec {
            functions: &LIBRARY.get(NAME)?.functions,
            level: setting.level_or(3),
            compressor: None,
            decompressor: None,
        }))
    },
};

/// A context of either direction.
struct Context {
    context: NonNull<c_void>,
    free: unsafe extern "C" fn(*mut c_void) -> usize,
}

// SAFETY: a context belongs to this value alone, and the library keeps nothing per thread.
unsafe impl Send for Context {}

impl Context {
    fn of(
        context: *mut c_void,
        free: unsafe extern "C" fn(*mut c_void) -> usize,
    ) -> Result<Self, CodecError> {
        let context = NonNull::new(context).ok_or_else(|| CodecError::out_of_memory(NAME))?;
        Ok(Self { context, free })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was made by the library and is not used again.
        unsafe { (self.free)(self.context.as_ptr()) };
    }
}

struct Codec {
    functions: &'static Zstd,
    level: c_int,
    compressor: Option<Context>,
    decompressor: Option<Context>,
}

/// What a code says, if it is an error.
fn refusal(functions: &Zstd, code: usize) -> Option<String> {
    // SAFETY: a function of the number alone.
    if unsafe { (functions.ZSTD_isError)(code) } == 0 {
        return None;
    }
    // SAFETY: as above; answers a string literal.
    Some(text(unsafe { (functions.ZSTD_getErrorName)(code) }))
}

fn compressor(functions: &Zstd) -> Result<Context, CodecError> {
    // SAFETY: takes nothing; answers a context or null.
    let context = unsafe { (functions.ZSTD_createCCtx)() };
    Context::of(context, functions.ZSTD_freeCCtx)
}

fn decompressor(functions: &Zstd) -> Result<Context, CodecError> {
    // SAFETY: takes nothing; answers a context or null.
    let context = unsafe { (functions.ZSTD_createDCtx)() };
    Context::of(context, functions.ZSTD_freeDCtx)
}

impl BlockCodec for Codec {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        // SAFETY: a function of the number alone.
        unsafe { (self.functions.ZSTD_compressBound)(source_bytes) }
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let functions = self.functions;
        let context = made(&mut self.compressor, || compressor(functions))?;
        // SAFETY: the context is alive, and the dictionary is empty; the library stays within the two lengths, which are those of live slices.
        let code = unsafe {
            (functions.ZSTD_compress_usingDict)(
                context.context.as_ptr(),
                target.as_mut_ptr().cast(),
                target.len(),
                source.as_ptr().cast(),
                source.len(),
                null(),
                0,
                self.level,
            )
        };
        match refusal(functions, code) {
            Some(why) => Err(CodecError::refused(NAME, source, why)),
            None => Ok(code),
        }
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let functions = self.functions;
        let context = made(&mut self.decompressor, || decompressor(functions))?;
        // SAFETY: as above, and the dictionary is empty; whatever the bytes say, the library writes no more than the target holds.
        let code = unsafe {
            (functions.ZSTD_decompress_usingDict)(
                context.context.as_ptr(),
                target.as_mut_ptr().cast(),
                target.len(),
                source.as_ptr().cast(),
                source.len(),
                null(),
                0,
            )
        };
        match refusal(functions, code) {
            Some(why) => Err(CodecError::corrupt(NAME, source, why)),
            None => check_whole(NAME, source, code, target),
        }
    }

    fn context_bytes(&self) -> Option<usize> {
        let size = |context: &Option<Context>, of: unsafe extern "C" fn(*const c_void) -> usize| {
            // SAFETY: the context is alive.
            let size = |context: &Context| unsafe { of(context.context.as_ptr()) };
            context.as_ref().map_or(0, size)
        };
        let compressor = size(&self.compressor, self.functions.ZSTD_sizeof_CCtx);
        Some(compressor + size(&self.decompressor, self.functions.ZSTD_sizeof_DCtx))
    }
}
