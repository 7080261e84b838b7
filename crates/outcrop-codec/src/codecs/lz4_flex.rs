//! LZ4 blocks by `lz4_flex`, in safe Rust. The crate keeps no context between blocks.

use lz4_flex::block;

use super::{check_target, check_whole};
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Settings};

const NAME: &str = "lz4_flex";

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "LZ4 blocks in safe Rust",
    settings: Settings::None,
    accepted: "`lz4_flex` alone",
    library: || Ok(CodecLibrary::within("lz4_flex 0.14 (safe)")),
    open: |_| Ok(Box::new(Lz4Flex)),
};

struct Lz4Flex;

impl BlockCodec for Lz4Flex {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        block::get_maximum_output_size(source_bytes)
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        check_target(NAME, self.compressed_bound(source.len()), target)?;
        block::compress_into(source, target).map_err(|why| CodecError::refused(NAME, source, why.to_string()))
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let written = block::decompress_into(source, target)
            .map_err(|why| CodecError::corrupt(NAME, source, why.to_string()))?;
        check_whole(NAME, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}
