//! zstd frames without magic number: the smallest that a few settings give;
//! reading checks every length first.

use std::io::Write;

use zstd::zstd_safe::{CParameter, Strategy};

use super::PACKED_BYTES_LIMIT;
use crate::codes::inflate;
use crate::error::Result;
use crate::format::Fields;

const PART: &str = "packed frame";

/// What a frame begins with elsewhere.
const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// zstd's level of the usual try, the one that others are compared at.
const LEVEL: i32 = 19;
/// The level that the settings below change.
const HIGHEST_LEVEL: i32 = 22;

/// Bytes compressed in search of better settings: it ends within a few seconds.
const TRIED_BYTES: usize = 4 << 20;

/// Content of this size and more is split into blocks where zstd sees it change, unless
/// it is passed in smaller pieces.
const WHOLE_BYTES: usize = 128 << 10;

/// How hard to look for matches, and whether zstd may split blocks where it likes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    strategy: Strategy,
    least_match: u32,
    splits: bool,
}

/// Further tries, those that save most over 39 real columns first.
const SETTINGS: [Setting; 8] = [
    Setting::new(Strategy::ZSTD_btultra2, 3, true),
    Setting::new(Strategy::ZSTD_btopt, 3, true),
    Setting::new(Strategy::ZSTD_btlazy2, 5, false),
    Setting::new(Strategy::ZSTD_btopt, 6, false),
    Setting::new(Strategy::ZSTD_btopt, 5, true),
    Setting::new(Strategy::ZSTD_btultra, 6, false),
    Setting::new(Strategy::ZSTD_btultra2, 4, true),
    Setting::new(Strategy::ZSTD_btultra2, 5, true),
];

impl Setting {
    /// Matches from this length on are taken without a look at others: as good as never.
    const TARGET_LENGTH: u32 = 999;

    const fn new(strategy: Strategy, least_match: u32, splits: bool) -> Self {
        Self {
            strategy,
            least_match,
            splits,
        }
    }

    fn frame_of(self, content: &[u8]) -> Result<Vec<u8>> {
        let parameters = [
            CParameter::Strategy(self.strategy),
            CParameter::MinMatch(self.least_match),
            CParameter::TargetLength(Self::TARGET_LENGTH),
        ];
        if self.splits {
            let mut whole = zstd::bulk::Compressor::new(HIGHEST_LEVEL)?;
            for parameter in parameters {
                whole.set_parameter(parameter)?;
            }
            return Ok(without_magic(whole.compress(content)?));
        }
        let mut frame = zstd::stream::write::Encoder::new(Vec::new(), HIGHEST_LEVEL)?;
        for parameter in parameters {
            frame.set_parameter(parameter)?;
        }
        frame.set_pledged_src_size(Some(content.len() as u64))?;
        let mut pieces = content.chunks(WHOLE_BYTES - 1).peekable();
        while let Some(piece) = pieces.next() {
            frame.write_all(piece)?;
            // The last piece ends with the frame: flushed, it would be followed by an empty block.
            if pieces.peek().is_some() {
                frame.flush()?;
            }
        }
        Ok(without_magic(frame.finish()?))
    }
}

/// A frame of `content` as level 19 gives it.
pub(super) fn compress(content: &[u8]) -> Result<Vec<u8>> {
    Ok(without_magic(zstd::bulk::compress(content, LEVEL)?))
}

/// The settings that are worth a try on content of this many bytes.
pub(super) fn settings(content_bytes: usize) -> impl Iterator<Item = &'static Setting> {
    let tries = TRIED_BYTES / content_bytes.max(1);
    // Short content is not split: all that would differ is the strategy, and that seldom wins there.
    let differs = move |setting: &&Setting| setting.splits || content_bytes >= WHOLE_BYTES;
    SETTINGS.iter().take(tries).filter(differs)
}

/// The smallest frame of `content` that is found: `best`, which is that of [`compress`], or a smaller
/// one. Calls `tried` after each try.
pub(super) fn compress_smallest(
    content: &[u8],
    mut best: Vec<u8>,
    mut tried: impl FnMut(),
) -> Result<Vec<u8>> {
    for setting in settings(content.len()) {
        let frame = setting.frame_of(content)?;
        if frame.len() < best.len() {
            best = frame;
        }
        tried();
    }
    Ok(best)
}

fn without_magic(mut frame: Vec<u8>) -> Vec<u8> {
    frame.drain(..ZSTD_MAGIC.len());
    frame
}

/// A frame that stands in a packed file, not yet decompressed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'a> {
    bytes: &'a [u8],
    content_bytes: usize,
}

impl<'a> Frame<'a> {
    /// The frame that is next in `fields`: walks over its block headers to its end.
    pub(super) fn take(fields: &mut Fields<'a>) -> Result<Self> {
        /// Checksum, reserved bit, dictionary identifier.
        const UNUSED: u8 = 0b0000_1111;
        const SINGLE_SEGMENT: u8 = 0b0010_0000;
        let mut ahead = fields.clone();
        let descriptor = ahead.u8()?;
        if descriptor & UNUSED != 0 || descriptor & SINGLE_SEGMENT == 0 {
            return Err(fields.wrong(format!(
                "frame descriptor {descriptor:#04x}: a single segment without checksum and dictionary is expected"
            )));
        }
        let content_bytes = match descriptor >> 6 {
            0 => u64::from(ahead.u8()?),
            1 => u64::from(ahead.u16()?) + 256,
            2 => u64::from(ahead.u32()?),
            _ => ahead.u64()?,
        };
        if content_bytes > PACKED_BYTES_LIMIT {
            return Err(fields.wrong(format!(
                "content of {content_bytes} bytes, at most {PACKED_BYTES_LIMIT} allowed"
            )));
        }
        while !take_block(&mut ahead)? {}
        let length = ahead.position() - fields.position();
        Ok(Self {
            bytes: fields.take(length)?,
            content_bytes: content_bytes as usize,
        })
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// What the frame holds.
    pub(super) fn content(&self) -> Result<Vec<u8>> {
        let frame = [&ZSTD_MAGIC, self.bytes].concat();
        inflate(PART, 0, &frame, self.content_bytes)
    }
}

/// Walks over one block; gives whether it is the last.
fn take_block(fields: &mut Fields<'_>) -> Result<bool> {
    let header = [fields.u8()?, fields.u8()?, fields.u8()?, 0];
    let header = u32::from_le_bytes(header);
    let size = (header >> 3) as usize;
    match header >> 1 & 3 {
        // A byte that is repeated.
        1 => fields.take(1)?,
        0 | 2 => fields.take(size)?,
        _ => return Err(fields.wrong("a zstd block of the reserved type")),
    };
    Ok(header & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_no_larger_than_that_of_the_usual_level_and_comes_back() {
        let text: Vec<u8> = (0..5000_u32)
            .flat_map(|row| format!("row {} of many\n", row * row % 977).into_bytes())
            .collect();
        for length in [0, 1, 255, 256, 65_791, text.len()] {
            let content = &text[..length];
            let usual = compress(content).expect("memory is enough");
            let frame = compress_smallest(content, usual, || ()).expect("memory is enough");
            // The frame of level 19 with the magic number that is left out here.
            assert!(frame.len() + 4 <= zstd::bulk::compress(content, 19).expect("memory is enough").len());
            let bytes = [&frame[..], b"behind"].concat();
            let mut fields = Fields::new(PART, 0, &bytes);
            let taken = Frame::take(&mut fields).expect("it was just written");
            assert_eq!(fields.rest(), b"behind");
            assert!(taken.content().expect("it was just written") == content);
        }
    }
}
