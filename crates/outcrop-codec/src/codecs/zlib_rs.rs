//! Raw deflate by zlib-rs, which follows zlib-ng: its level 1 is much faster and larger than C zlib's.

use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use super::check_whole;
use crate::{BlockCodec, CodecError, CodecFamily, CodecLibrary, Settings};

const NAME: &str = "deflate-zlib-rs";
const WINDOW_BITS: u8 = 15;

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: NAME,
    summary: "raw deflate by zlib-rs (zlib-ng's levels, in Rust)",
    settings: Settings::Levels {
        least: 0,
        most: 9,
        default: 6,
    },
    accepted: "a level from 0 (stored) to 9, such as deflate-zlib-rs:1",
    library: || Ok(CodecLibrary::within("zlib-rs 0.6")),
    open: |setting| {
        let level = setting.level_or(6);
        Ok(Box::new(ZlibRs {
            level,
            deflate: None,
            inflate: None,
        }))
    },
};

struct ZlibRs {
    level: i32,
    deflate: Option<Deflate>,
    inflate: Option<Inflate>,
}

impl BlockCodec for ZlibRs {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        zlib_rs::compress_bound(source_bytes)
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let stream = match &mut self.deflate {
            Some(used) => {
                used.reset();
                used
            }
            none => none.insert(Deflate::new(self.level, false, WINDOW_BITS)),
        };
        let status = stream
            .compress(source, target, DeflateFlush::Finish)
            .map_err(|error| CodecError::refused(NAME, source, error.as_str()))?;
        if status != Status::StreamEnd {
            return Err(CodecError::target_too_small(
                NAME,
                self.compressed_bound(source.len()),
                target,
            ));
        }
        Ok(stream.total_out() as usize)
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let stream = match &mut self.inflate {
            Some(used) => {
                used.reset(false);
                used
            }
            none => none.insert(Inflate::new(false, WINDOW_BITS)),
        };
        let status = stream
            .decompress(source, target, InflateFlush::Finish)
            .map_err(|error| CodecError::corrupt(NAME, source, error.as_str()))?;
        if status != Status::StreamEnd {
            return Err(CodecError::corrupt(
                NAME,
                source,
                "the stream does not end within the block's length",
            ));
        }
        check_whole(NAME, source, stream.total_out() as usize, target)
    }

    fn context_bytes(&self) -> Option<usize> {
        None
    }
}
