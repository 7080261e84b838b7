//! Brotli by the `brotli` crate. Its encoder and decoder make their tables anew for every block: there is
//! no context to keep.

use brotli::enc::encode::{BrotliEncoderDestroyInstance, BrotliEncoderOperation, BrotliEncoderStateStruct};
use brotli::enc::{BrotliEncoderParams, StandardAlloc};
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};

use super::check_whole;
use crate::{BlockCodec, CodecError, CodecFamily, Setting, Settings};

const NAME: &str = "brotli";
/// Largest window of the standard format; the encoder takes a smaller one for a smaller block.
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
    library: || "brotli 9 (Rust)".to_owned(),
    open: |setting| {
        let quality = match setting {
            Setting::Level(level) => level,
            _ => 5,
        };
        Ok(Box::new(Brotli { quality }))
    },
};

struct Brotli {
    quality: i32,
}

impl BlockCodec for Brotli {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        brotli::enc::BrotliEncoderMaxCompressedSize(source_bytes).max(source_bytes + source_bytes / 1024 + 64)
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let mut encoder = BrotliEncoderStateStruct::new(StandardAlloc::default());
        encoder.params = BrotliEncoderParams {
            quality: self.quality,
            lgwin: WINDOW_BITS,
            size_hint: source.len(),
            ..BrotliEncoderParams::default()
        };
        let (mut source_left, mut target_left) = (source.len(), target.len());
        let (mut read, mut written) = (0, 0);
        let done = encoder.compress_stream(
            BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
            &mut source_left,
            source,
            &mut read,
            &mut target_left,
            target,
            &mut written,
            &mut None,
            &mut |_, _, _, _| (),
        );
        let finished = encoder.is_finished();
        BrotliEncoderDestroyInstance(&mut encoder);
        if finished {
            return Ok(written);
        }
        if done && target_left == 0 {
            return Err(CodecError::TargetTooSmall {
                codec: NAME,
                needed: self.compressed_bound(source.len()),
                available: target.len(),
            });
        }
        Err(CodecError::refused(NAME, source, "the encoder gave up"))
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let heap = StandardAlloc::default;
        let mut state = BrotliState::new(heap(), heap(), heap());
        let (mut source_left, mut target_left) = (source.len(), target.len());
        let (mut read, mut written, mut total) = (0, 0, 0);
        let result = BrotliDecompressStream(
            &mut source_left,
            &mut read,
            source,
            &mut target_left,
            &mut written,
            target,
            &mut total,
            &mut state,
        );
        match result {
            BrotliResult::ResultSuccess => check_whole(NAME, source, written, target),
            result => Err(CodecError::corrupt(
                NAME,
                source,
                format!("{result:?} after {read} B"),
            )),
        }
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}
