//! Zstandard by libzstd: one frame per block, with its content size and without a checksum, as `zstd -b` has it.

use zstd_safe::{CCtx, CParameter, DCtx};

use super::{check_whole, made};
use crate::{BlockCodec, CodecError, CodecFamily, Settings};

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
    open: |setting| {
        let level = setting.level_or(3);
        Ok(Box::new(Zstd {
            level,
            compressor: None,
            decompressor: None,
        }))
    },
};

struct Zstd {
    level: i32,
    compressor: Option<CCtx<'static>>,
    decompressor: Option<DCtx<'static>>,
}

fn compressor(level: i32) -> Result<CCtx<'static>, CodecError> {
    let mut compressor = CCtx::try_create().ok_or_else(|| CodecError::out_of_memory(NAME))?;
    compressor
        .set_parameter(CParameter::CompressionLevel(level))
        .map_err(|code| CodecError::refused(NAME, &[], zstd_safe::get_error_name(code)))?;
    Ok(compressor)
}

impl BlockCodec for Zstd {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        zstd_safe::compress_bound(source_bytes)
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        made(&mut self.compressor, || compressor(self.level))?
            .compress2(target, source)
            .map_err(|code| CodecError::refused(NAME, source, zstd_safe::get_error_name(code)))
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let decompressor = made(&mut self.decompressor, || {
            DCtx::try_create().ok_or_else(|| CodecError::out_of_memory(NAME))
        })?;
        let written = decompressor
            .decompress(&mut *target, source)
            .map_err(|code| CodecError::corrupt(NAME, source, zstd_safe::get_error_name(code)))?;
        check_whole(NAME, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        let compressor = self.compressor.as_ref().map_or(0, CCtx::sizeof);
        Some(compressor + self.decompressor.as_ref().map_or(0, DCtx::sizeof))
    }
}
