//! Snappy blocks by `snap`, which is Google's reference algorithm in Rust.

use snap::raw::{Decoder, Encoder, max_compress_len};

use super::check_whole;
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Settings};

const NAME: &str = "snappy";

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "Snappy blocks",
    settings: Settings::None,
    accepted: "`snappy` alone",
    library: || Ok(CodecLibrary::within("snap 1.1")),
    open: |_| {
        Ok(Box::new(Snappy {
            encoder: Encoder::new(),
            decoder: Decoder::new(),
        }))
    },
};

struct Snappy {
    encoder: Encoder,
    decoder: Decoder,
}

impl BlockCodec for Snappy {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        max_compress_len(source_bytes)
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        self.encoder
            .compress(source, target)
            .map_err(|why| CodecError::refused(NAME, source, why.to_string()))
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let written = self
            .decoder
            .decompress(source, target)
            .map_err(|why| CodecError::corrupt(NAME, source, why.to_string()))?;
        check_whole(NAME, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        Some(size_of::<Encoder>() + size_of::<Decoder>())
    }
}
