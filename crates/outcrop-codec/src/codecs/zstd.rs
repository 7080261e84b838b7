//! Zstandard by libzstd: one frame per block, with its content size and without a checksum, as `zstd -b` has it.

use zstd_safe::{CCtx, CParameter, DCtx};

use super::check_whole;
use crate::{BlockCodec, CodecError, CodecFamily, Setting, Settings};

const NAME: &str = "zstd";

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "Zstandard",
    settings: Settings::Levels {
        least: -131_072,
        most: 22,
        default: 3,
    },
    accepted: "a level from -131072 (fastest) to 22, such as zstd:3 or zstd:-5",
    library: || format!("libzstd {}", zstd_safe::version_string()),
    open: |setting| Ok(Box::new(Zstd::new(setting)?)),
};

struct Zstd {
    compressor: CCtx<'static>,
    decompressor: DCtx<'static>,
}

impl Zstd {
    fn new(setting: Setting) -> Result<Self, CodecError> {
        let out_of_memory = CodecError::OutOfMemory { codec: NAME };
        let mut compressor = CCtx::try_create().ok_or_else(|| out_of_memory.clone())?;
        let level = match setting {
            Setting::Level(level) => level,
            _ => 3,
        };
        compressor
            .set_parameter(CParameter::CompressionLevel(level))
            .map_err(|code| CodecError::refused(NAME, &[], zstd_safe::get_error_name(code)))?;
        Ok(Self {
            compressor,
            decompressor: DCtx::try_create().ok_or(out_of_memory)?,
        })
    }
}

impl BlockCodec for Zstd {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        zstd_safe::compress_bound(source_bytes)
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        self.compressor
            .compress2(target, source)
            .map_err(|code| CodecError::refused(NAME, source, zstd_safe::get_error_name(code)))
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let written = self
            .decompressor
            .decompress(&mut *target, source)
            .map_err(|code| CodecError::corrupt(NAME, source, zstd_safe::get_error_name(code)))?;
        check_whole(NAME, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        Some(self.compressor.sizeof() + self.decompressor.sizeof())
    }
}
