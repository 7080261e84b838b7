//! One page and its three stored forms.

use super::compiled::{compress, decompress};
use super::matcher::{MatchWork, Matcher};
use super::options::{DpzipOptions, PAGE_BYTES};
use crate::entropy::{BlockDecoder, BlockEncoder, BlockShape};

/// In which form a page is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageForm {
    /// Every byte is the same; one is stored.
    Fill,
    /// As it is.
    Raw,
    /// A magicless Zstandard frame.
    Frame,
}

/// What the hardware would have done with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWork {
    /// The form in which the page is stored.
    pub form: PageForm,
    /// Bytes of the page.
    pub page_bytes: usize,
    /// Groups of four bytes that went through match finding.
    pub groups: usize,
    /// Candidates that stage 1 compared with.
    pub candidates: usize,
    /// Bytes that matches cover.
    pub matched_bytes: usize,
    /// Literals that went through the Huffman coder.
    pub huffman_symbols: usize,
    /// Sequences that went through the FSE coder.
    pub sequences: usize,
}

/// Frame header without magic: no content size, no checksum, and a window of 2^12.
const FRAME_HEADER: [u8; 2] = [0, (12 - 10) << 3];
const BLOCK_HEADER_BYTES: usize = 3;
/// Low bits of a block's header: compressed, and the last one.
const LAST_COMPRESSED: u32 = 2 << 1 | 1;
const BLOCK_AT: usize = FRAME_HEADER.len() + BLOCK_HEADER_BYTES;
/// The bytes that a Zstandard frame starts with outside a drive.
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// More than a page: bit writers store eight bytes at a time.
const SCRATCH_BYTES: usize = PAGE_BYTES + 64;

/// The stored form of a page of `page_bytes` as a complete Zstandard frame that any decoder reads.
pub fn frame_with_magic(stored: &[u8], page_bytes: usize) -> Vec<u8> {
    let mut frame = MAGIC.to_vec();
    let plain_block = |kind: usize, size: usize| ((size << 3 | kind << 1 | 1) as u32).to_le_bytes();
    match stored {
        stored if stored.len() == page_bytes => {
            frame.extend_from_slice(&FRAME_HEADER);
            frame.extend_from_slice(&plain_block(0, page_bytes)[..BLOCK_HEADER_BYTES]);
        }
        [_] => {
            frame.extend_from_slice(&FRAME_HEADER);
            frame.extend_from_slice(&plain_block(1, page_bytes)[..BLOCK_HEADER_BYTES]);
        }
        _ => {}
    }
    frame.extend_from_slice(stored);
    frame
}

/// Compresses pages.
pub(super) struct PageEncoder {
    matcher: AnyMatcher,
    block: Box<BlockEncoder>,
    scratch: Box<[u8; SCRATCH_BYTES]>,
}

/// A matcher for up to 4, 8 or 16 ways.
enum AnyMatcher {
    Four(Matcher<1>),
    Eight(Matcher<2>),
    Sixteen(Matcher<4>),
}

impl PageEncoder {
    pub(super) fn new(options: DpzipOptions) -> Self {
        let matcher = match options.ways() {
            ..=4 => AnyMatcher::Four(Matcher::new(options)),
            5..=8 => AnyMatcher::Eight(Matcher::new(options)),
            _ => AnyMatcher::Sixteen(Matcher::new(options)),
        };
        Self {
            matcher,
            block: Box::new(BlockEncoder::new()),
            scratch: Box::new([0; SCRATCH_BYTES]),
        }
    }

    /// Stores `page` in `target`, which has its length (1 to 4096): answers the stored length.
    pub(super) fn encode(&mut self, page: &[u8], target: &mut [u8]) -> (usize, PageWork) {
        // Two bytes say no, nearly always, and need no call.
        if page[0] == page[page.len() / 2] && page[1..] == page[..page.len() - 1] {
            target[0] = page[0];
            return (
                1,
                page_work(PageForm::Fill, page, MatchWork::default(), BlockShape::default()),
            );
        }
        let target_block = &mut self.scratch[BLOCK_AT..];
        let (shape, work) = match &mut self.matcher {
            AnyMatcher::Four(matcher) => compress(matcher, &mut self.block, page, target_block),
            AnyMatcher::Eight(matcher) => compress(matcher, &mut self.block, page, target_block),
            AnyMatcher::Sixteen(matcher) => compress(matcher, &mut self.block, page, target_block),
        };
        if let Some(shape) = shape.filter(|shape| BLOCK_AT + shape.bytes < page.len()) {
            let header = (shape.bytes << 3) as u32 | LAST_COMPRESSED;
            self.scratch[..2].copy_from_slice(&FRAME_HEADER);
            self.scratch[2..BLOCK_AT].copy_from_slice(&header.to_le_bytes()[..BLOCK_HEADER_BYTES]);
            let stored = BLOCK_AT + shape.bytes;
            target[..stored].copy_from_slice(&self.scratch[..stored]);
            return (stored, page_work(PageForm::Frame, page, work, shape));
        }
        target.copy_from_slice(page);
        (
            page.len(),
            page_work(PageForm::Raw, page, work, BlockShape::default()),
        )
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let matcher = match &self.matcher {
            AnyMatcher::Four(matcher) => matcher.memory_bytes(),
            AnyMatcher::Eight(matcher) => matcher.memory_bytes(),
            AnyMatcher::Sixteen(matcher) => matcher.memory_bytes(),
        };
        matcher + size_of::<BlockEncoder>() + SCRATCH_BYTES
    }
}

fn page_work(form: PageForm, page: &[u8], work: MatchWork, shape: BlockShape) -> PageWork {
    PageWork {
        form,
        page_bytes: page.len(),
        groups: work.groups,
        candidates: work.candidates,
        matched_bytes: work.matched_bytes,
        huffman_symbols: shape.huffman_symbols,
        sequences: shape.sequences,
    }
}

/// Decompresses pages.
pub(super) struct PageDecoder {
    block: Box<BlockDecoder>,
}

impl PageDecoder {
    pub(super) fn new() -> Self {
        Self {
            block: Box::new(BlockDecoder::new()),
        }
    }

    /// Restores `page` from its stored form; the message says what is wrong with it.
    pub(super) fn decode(&mut self, stored: &[u8], page: &mut [u8]) -> Result<(), String> {
        match stored {
            stored if stored.len() == page.len() => page.copy_from_slice(stored),
            [byte] => page.fill(*byte),
            stored if stored.len() > page.len() => {
                return Err(format!(
                    "{} B stored for a page of {} B",
                    stored.len(),
                    page.len()
                ));
            }
            stored => decompress(&mut self.block, block_of_frame(stored)?, page)?,
        }
        Ok(())
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<BlockDecoder>()
    }
}

/// The compressed block that a stored frame consists of.
fn block_of_frame(stored: &[u8]) -> Result<&[u8], String> {
    let Some(([first, second, header @ ..], block)) = stored.split_first_chunk::<BLOCK_AT>() else {
        return Err(format!("{} B are not a frame", stored.len()));
    };
    if [*first, *second] != FRAME_HEADER {
        return Err(format!(
            "a frame starts with {first:02X} {second:02X}, not with {FRAME_HEADER:02X?}"
        ));
    }
    let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
    if header & 7 != LAST_COMPRESSED {
        return Err(format!(
            "the frame's block is of kind {}; expected {LAST_COMPRESSED}",
            header & 7
        ));
    }
    if (header >> 3) as usize != block.len() {
        return Err(format!(
            "a block claims {} B, and {} B are there",
            header >> 3,
            block.len()
        ));
    }
    Ok(block)
}
