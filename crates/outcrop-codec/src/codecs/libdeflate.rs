//! Raw deflate by libdeflate, which is made for whole buffers.

use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::check_whole;
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Settings};

const NAME: &str = "deflate-libdeflate";

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "raw deflate by libdeflate, made for whole buffers",
    settings: Settings::Levels {
        least: 0,
        most: 12,
        default: 6,
    },
    accepted: "a level from 0 (stored) to 12, such as deflate-libdeflate:1",
    library: || Ok(CodecLibrary::within("libdeflate 1.26")),
    open: |setting| {
        let level = setting.level_or(6);
        let level = CompressionLvl::new(level)
            .map_err(|_| CodecError::refused(NAME, &[], format!("no level {level}")))?;
        Ok(Box::new(Libdeflate {
            level,
            compressor: None,
            decompressor: None,
        }))
    },
};

struct Libdeflate {
    level: CompressionLvl,
    compressor: Option<Compressor>,
    decompressor: Option<Decompressor>,
}

impl BlockCodec for Libdeflate {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        // libdeflate's own bound for any level: stored blocks of at least 5000 bytes, five bytes each,
        // and room for its bit writer.
        source_bytes + 5 * source_bytes.div_ceil(5000).max(1) + 10
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        self.compressor
            .get_or_insert_with(|| Compressor::new(self.level))
            .deflate_compress(source, target)
            .map_err(|_| CodecError::target_too_small(NAME, self.compressed_bound(source.len()), target))
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let written = self
            .decompressor
            .get_or_insert_with(Decompressor::new)
            .deflate_decompress(source, target)
            .map_err(|why| CodecError::corrupt(NAME, source, why.to_string()))?;
        check_whole(NAME, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}
