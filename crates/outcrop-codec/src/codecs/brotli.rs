//! Brotli by Google's C library, through its calls for whole buffers. Encoder and decoder make their tables anew for
//! every block: there is no context to keep.
#![expect(unsafe_code, reason = "compu-brotli-sys is the C interface")]

use compu_brotli_sys::{
    BrotliDecoderDecompress, BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS, BrotliEncoderCompress,
    BrotliEncoderMaxCompressedSize, BrotliEncoderMode_BROTLI_MODE_GENERIC, BrotliEncoderVersion,
};

use super::check_whole;
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Settings};

const NAME: &str = "brotli";
/// Largest window of the standard format, 4 MiB; the encoder takes a smaller one for a smaller block.
const WINDOW_BITS: i32 = 22;

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "Brotli",
    settings: Settings::Levels {
        least: 0,
        most: 11,
        default: 5,
    },
    accepted: "a quality from 0 to 11, such as brotli:5",
    library: || Ok(CodecLibrary::within(version())),
    open: |setting| {
        let quality = setting.level_or(5);
        Ok(Box::new(Brotli { quality }))
    },
};

/// Twelve bits each for the major, minor and patch numbers.
fn version() -> String {
    // SAFETY: takes nothing; answers a number.
    let version = unsafe { BrotliEncoderVersion() };
    format!(
        "brotli {}.{}.{}",
        version >> 24,
        (version >> 12) & 0xfff,
        version & 0xfff
    )
}

struct Brotli {
    quality: i32,
}

impl BlockCodec for Brotli {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        // SAFETY: a function of the number alone.
        unsafe { BrotliEncoderMaxCompressedSize(source_bytes) }
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let mut written = target.len();
        // SAFETY: pointers and lengths are those of live slices.
        let is_done = unsafe {
            BrotliEncoderCompress(
                self.quality,
                WINDOW_BITS,
                BrotliEncoderMode_BROTLI_MODE_GENERIC,
                source.len(),
                source.as_ptr(),
                &raw mut written,
                target.as_mut_ptr(),
            )
        };
        let needed = self.compressed_bound(source.len());
        match is_done {
            0 if target.len() < needed => Err(CodecError::target_too_small(NAME, needed, target)),
            // Into a target of the bound everything fits, stored if need be.
            0 => Err(CodecError::out_of_memory(NAME)),
            _ => Ok(written),
        }
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let mut written = target.len();
        // SAFETY: pointers and lengths are those of live slices.
        let result = unsafe {
            BrotliDecoderDecompress(
                source.len(),
                source.as_ptr(),
                &raw mut written,
                target.as_mut_ptr(),
            )
        };
        if result == BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS {
            return check_whole(NAME, source, written, target);
        }
        let why = format!(
            "the stream is damaged, or longer than {} B unpacked",
            target.len()
        );
        Err(CodecError::corrupt(NAME, source, why))
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}
