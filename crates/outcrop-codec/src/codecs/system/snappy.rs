//! Snappy blocks by the system's libsnappy, Google's own.

#![expect(
    unsafe_code,
    reason = "the C interface of a library that is opened at run time"
)]

use std::ffi::{c_char, c_int};

use super::library::{Slot, functions};
use crate::codecs::{check_target, check_whole};
use crate::{BlockCodec, CodecError, CodecFamily, Settings};

const NAME: &str = "snappy@system";
/// `SNAPPY_OK`.
const OK: c_int = 0;

functions! { Snappy of "libsnappy.so.1" in "libsnappy1v5";
    snappy_max_compressed_length: fn(usize) -> usize;
    snappy_compress: fn(*const c_char, usize, *mut c_char, *mut usize) -> c_int;
    snappy_uncompressed_length: fn(*const c_char, usize, *mut usize) -> c_int;
    snappy_uncompress: fn(*const c_char, usize, *mut c_char, *mut usize) -> c_int;
}

static LIBRARY: Slot<Snappy> = Slot::new();

pub(in crate::codecs) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "Snappy blocks by the system's libsnappy, through its C interface",
    settings: Settings::None,
    accepted: "`snappy@system` alone",
    library: || {
        let library = LIBRARY.get(NAME)?;
        // No function of the library says its version.
        Ok(library.described("libsnappy", library.version_of_file()))
    },
    open: |_| {
        Ok(Box::new(Codec {
            functions: &LIBRARY.get(NAME)?.functions,
        }))
    },
};

struct Codec {
    functions: &'static Snappy,
}

impl BlockCodec for Codec {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        // SAFETY: a function of the number alone.
        unsafe { (self.functions.snappy_max_compressed_length)(source_bytes) }
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        check_target(NAME, self.compressed_bound(source.len()), target)?;
        let mut written = target.len();
        // SAFETY: the library reads the source's length and writes at most the target's.
        let code = unsafe {
            (self.functions.snappy_compress)(
                source.as_ptr().cast(),
                source.len(),
                target.as_mut_ptr().cast(),
                &raw mut written,
            )
        };
        match code {
            OK => Ok(written),
            code => Err(CodecError::refused(
                NAME,
                source,
                format!("the library returned {code}"),
            )),
        }
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let mut length = 0;
        // SAFETY: the library reads no more than the source.
        let code = unsafe {
            (self.functions.snappy_uncompressed_length)(source.as_ptr().cast(), source.len(), &raw mut length)
        };
        if code != OK {
            return Err(CodecError::corrupt(NAME, source, "it does not say its length"));
        }
        let mut written = check_whole(NAME, source, length, target)?;
        // SAFETY: the library refuses what says it is longer than the target, and writes no more than that.
        let code = unsafe {
            (self.functions.snappy_uncompress)(
                source.as_ptr().cast(),
                source.len(),
                target.as_mut_ptr().cast(),
                &raw mut written,
            )
        };
        if code != OK {
            return Err(CodecError::corrupt(NAME, source, "the data are malformed"));
        }
        check_whole(NAME, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}
