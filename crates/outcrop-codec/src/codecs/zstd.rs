//! Zstandard by libzstd: one frame per block, with its content size and without a checksum, as `zstd -b` has it.

use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer};

use super::{check_whole, made};
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Settings};

const NAME: &str = "zstd";
/// What a kernel's buffers hold.
const PAGE_BYTES: usize = 4096;
/// The smallest window of the format, as a power of two.
const LEAST_WINDOW_LOG: u32 = 10;

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "Zstandard",
    settings: Settings::Levels {
        least: -131_072,
        most: 22,
        default: 3,
    },
    accepted: "a level from -131072 (fastest) to 22, such as zstd:3 or zstd:-5",
    library: || {
        Ok(CodecLibrary::within(format!(
            "libzstd {}",
            zstd_safe::version_string()
        )))
    },
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

fn decompressor() -> Result<DCtx<'static>, CodecError> {
    DCtx::try_create().ok_or_else(|| CodecError::out_of_memory(NAME))
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
        let decompressor = made(&mut self.decompressor, decompressor)?;
        let written = decompressor
            .decompress(&mut *target, source)
            .map_err(|code| CodecError::corrupt(NAME, source, zstd_safe::get_error_name(code)))?;
        check_whole(NAME, source, written, target)
    }

    fn decompress_in_pages(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let decompressor = made(&mut self.decompressor, decompressor)?;
        let corrupt = |code| CodecError::corrupt(NAME, source, zstd_safe::get_error_name(code));
        decompressor.init().map_err(corrupt)?;
        // A stream buffers a window: no frame that we wrote has a larger one than its block.
        let window_log = target.len().next_power_of_two().ilog2().max(LEAST_WINDOW_LOG);
        decompressor
            .set_parameter(DParameter::WindowLogMax(window_log))
            .map_err(corrupt)?;
        let mut page = [0_u8; PAGE_BYTES];
        let mut written = 0;
        let mut pages = source.chunks(PAGE_BYTES);
        let mut input = InBuffer::around(pages.next().unwrap_or_default());
        loop {
            let mut output = OutBuffer::around(&mut page[..]);
            let wanted = decompressor
                .decompress_stream(&mut output, &mut input)
                .map_err(corrupt)?;
            let made = output.as_slice();
            let Some(place) = target.get_mut(written..written + made.len()) else {
                return Err(CodecError::corrupt(NAME, source, "more data than the block has"));
            };
            place.copy_from_slice(made);
            written += made.len();
            if wanted == 0 {
                break;
            }
            // A full page of output may leave more of it in the stream.
            if input.pos() == input.src.len() && made.len() < PAGE_BYTES {
                let Some(next) = pages.next() else {
                    return Err(CodecError::corrupt(NAME, source, "the frame ends too early"));
                };
                input = InBuffer::around(next);
            }
        }
        if input.pos() < input.src.len() || pages.next().is_some() {
            return Err(CodecError::corrupt(NAME, source, "bytes follow the frame"));
        }
        check_whole(NAME, source, written, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        let compressor = self.compressor.as_ref().map_or(0, CCtx::sizeof);
        Some(compressor + self.decompressor.as_ref().map_or(0, DCtx::sizeof))
    }
}
