//! `none`: copies. What it costs is what every measurement here costs beside the codec.

use super::{check_target, check_whole};
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Settings};

const NAME: &str = "none";

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "a copy: measures the overhead of measuring",
    settings: Settings::None,
    accepted: "`none` alone",
    library: || Ok(CodecLibrary::within("memcpy")),
    open: |_| Ok(Box::new(Copy)),
};

struct Copy;

impl BlockCodec for Copy {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        source_bytes
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        check_target(NAME, source.len(), target)?;
        target[..source.len()].copy_from_slice(source);
        Ok(source.len())
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        check_whole(NAME, source, source.len(), target)?;
        target.copy_from_slice(source);
        Ok(source.len())
    }

    fn context_bytes(&self) -> Option<usize> {
        Some(0)
    }
}
