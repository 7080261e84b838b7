//! dpzip: a page-granular hardware codec as software, readable by any Zstandard decoder.
//!
//! A block is cut into pages of 4 KiB, the last one shorter. A page is stored in one of three forms, told apart by
//! its stored length, which a drive keeps in its mapping table:
//!
//! | stored length | form |
//! |---|---|
//! | 1 | every byte of the page is this one |
//! | the page's length | the page as it is |
//! | anything between | a magicless Zstandard frame with a window of 4 KiB and one block |
//!
//! A block of one page is just that. A block of several starts with the stored length of each page, two
//! bytes little-endian, standing for that table.
//!
//! *Source*: what is published of the DPZip engine (arXiv 2509.23693); where that is silent, this module says what it does.

mod compiled;
mod cycles;
mod lanes;
mod matcher;
mod options;
mod page;
mod predictor;
mod slots;
mod table;

use crate::{BlockCodec, CodecError};

pub use cycles::{CycleModel, ModelledTime};
pub(crate) use options::ACCEPTED;
pub use options::{DpzipOptions, PAGE_BYTES, Selection};
use page::{PageDecoder, PageEncoder};
pub use page::{PageForm, PageWork, frame_with_magic};

/// Bytes of a page's entry in the table at the front of a block of several pages.
const ENTRY_BYTES: usize = 2;
const NAME: &str = "dpzip";

/// The dpzip codec.
///
/// Each direction's tables are made at its first use: a codec for a single block does not pay for both.
pub struct Dpzip {
    options: DpzipOptions,
    encoder: Option<PageEncoder>,
    decoder: Option<PageDecoder>,
}

impl Dpzip {
    /// Makes a codec with a table of this shape.
    pub fn new(options: DpzipOptions) -> Self {
        Self {
            options,
            encoder: None,
            decoder: None,
        }
    }

    fn encoder(&mut self) -> &mut PageEncoder {
        let options = self.options;
        self.encoder.get_or_insert_with(|| PageEncoder::new(options))
    }

    /// Compresses one page (1 to 4096 bytes) into `target`, which has at least its length; answers the stored length,
    /// and what the hardware would have done, for the [`CycleModel`].
    ///
    /// # Errors
    /// When the page is empty or larger than a page, or `target` is shorter than it.
    pub fn compress_page(&mut self, page: &[u8], target: &mut [u8]) -> Result<(usize, PageWork), CodecError> {
        if page.is_empty() || page.len() > PAGE_BYTES {
            return Err(CodecError::block_too_large(NAME, PAGE_BYTES, page));
        }
        if target.len() < page.len() {
            return Err(CodecError::target_too_small(NAME, page.len(), target));
        }
        let target = &mut target[..page.len()];
        Ok(self.encoder().encode(page, target))
    }
}

/// What a drive stores for `compressed_bytes`: whole slots of `slot_bytes` (64 to 2048 in published drives).
///
/// # Panics
/// When `slot_bytes` is 0.
pub fn slotted_bytes(compressed_bytes: usize, slot_bytes: usize) -> usize {
    compressed_bytes.div_ceil(slot_bytes) * slot_bytes
}

/// Bytes of the table in front of a block of `pages` pages.
fn table_bytes(pages: usize) -> usize {
    if pages > 1 { pages * ENTRY_BYTES } else { 0 }
}

impl BlockCodec for Dpzip {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        source_bytes + table_bytes(source_bytes.div_ceil(PAGE_BYTES))
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let needed = self.compressed_bound(source.len());
        if target.len() < needed {
            return Err(CodecError::target_too_small(NAME, needed, target));
        }
        let table = table_bytes(source.len().div_ceil(PAGE_BYTES));
        let encoder = self.encoder();
        let mut end = table;
        for (index, page) in source.chunks(PAGE_BYTES).enumerate() {
            let (stored, _) = encoder.encode(page, &mut target[end..end + page.len()]);
            if table > 0 {
                let entry = index * ENTRY_BYTES;
                target[entry..entry + ENTRY_BYTES].copy_from_slice(&(stored as u16).to_le_bytes());
            }
            end += stored;
        }
        Ok(end)
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        let page_count = target.len().div_ceil(PAGE_BYTES);
        let table = table_bytes(page_count);
        let Some((table, mut stored)) = source.split_at_checked(table) else {
            let why = format!("the table of {page_count} pages takes {table} B");
            return Err(CodecError::corrupt(NAME, source, why));
        };
        let decoder = self.decoder.get_or_insert_with(PageDecoder::new);
        for (index, page) in target.chunks_mut(PAGE_BYTES).enumerate() {
            let length = match table.chunks_exact(ENTRY_BYTES).nth(index) {
                Some(entry) => usize::from(entry[0]) | usize::from(entry[1]) << 8,
                None => stored.len(),
            };
            let Some((front, rest)) = stored.split_at_checked(length) else {
                let why = format!("page {index} claims {length} B, and {} B are left", stored.len());
                return Err(CodecError::corrupt(NAME, source, why));
            };
            decoder
                .decode(front, page)
                .map_err(|why| CodecError::corrupt(NAME, source, format!("page {index}: {why}")))?;
            stored = rest;
        }
        if !stored.is_empty() {
            let why = format!("{} B follow the last page", stored.len());
            return Err(CodecError::corrupt(NAME, source, why));
        }
        Ok(target.len())
    }

    fn context_bytes(&self) -> Option<usize> {
        let encoder = self.encoder.as_ref().map_or(0, PageEncoder::memory_bytes);
        let decoder = self.decoder.as_ref().map_or(0, PageDecoder::memory_bytes);
        Some(encoder + decoder)
    }
}
