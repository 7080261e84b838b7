//! Reading what [`super::BlockEncoder`] writes, and every other compressed block that may open a frame: blocks of
//! at most one page.
//!
//! Nothing here can leave its buffers: positions that come from a stream are masked to the size of an array, and what was
//! read outside a stream is found out at its end, where each stream must be used up to the bit.

mod copy;
mod fse;
mod huffman;
mod input;
mod literals;
mod memory;
mod sequences;

use input::Input;
use literals::LiteralsDecoder;
use memory::{EMPTY, SPACE, Space};
use sequences::SequencesDecoder;

/// Decodes blocks of at most one page; keeps its tables between them.
///
/// It is large, and one piece: every part is found from the same address, which leaves registers free.
pub(crate) struct BlockDecoder {
    input: Input,
    literals: LiteralsDecoder,
    sequences: SequencesDecoder,
    page: Space,
}

impl BlockDecoder {
    pub(crate) fn new() -> Self {
        Self {
            input: Input::new(),
            literals: LiteralsDecoder::new(),
            sequences: SequencesDecoder::new(),
            page: EMPTY,
        }
    }

    /// Restores `page` (at most 4 KiB) from `block`, which is a compressed block without its header.
    ///
    /// # Errors
    /// What is wrong with the block, in a few words.
    #[inline(always)]
    pub(crate) fn decode(&mut self, block: &[u8], page: &mut [u8]) -> Result<(), &'static str> {
        if page.len() > SPACE / 2 {
            return Err("a page is longer than 4 KiB");
        }
        self.input.load(block)?;
        let (used, literals) = self.literals.decode(&self.input, page.len())?;
        let count = self.sequences.decode(&self.input, used, page.len())?;
        copy::restore(
            self.sequences.decoded(count),
            literals,
            &mut self.page,
            page.len(),
        )?;
        page.copy_from_slice(&self.page[..page.len()]);
        Ok(())
    }
}
