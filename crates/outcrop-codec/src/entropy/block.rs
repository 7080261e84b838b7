//! One compressed block, without its header: literals section, then sequences section.

use super::literals::LiteralsEncoder;
use super::sequences::{Sequence, SequencesEncoder};

/// What went into a block, for the cycle model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockShape {
    pub(crate) bytes: usize,
    pub(crate) huffman_symbols: usize,
    pub(crate) sequences: usize,
}

/// Encodes blocks of at most one page; keeps its tables' memory between them.
pub(crate) struct BlockEncoder {
    literals: LiteralsEncoder,
    sequences: SequencesEncoder,
}

impl BlockEncoder {
    pub(crate) fn new() -> Self {
        Self {
            literals: LiteralsEncoder::new(),
            sequences: SequencesEncoder::new(),
        }
    }

    /// Writes the block; `None` when `target` is too small, which eight bytes beyond the content prevent
    /// for every block that is worth keeping.
    #[inline(always)]
    pub(crate) fn encode(
        &mut self,
        literals: &[u8],
        sequences: &[Sequence],
        target: &mut [u8],
    ) -> Option<BlockShape> {
        let (literals_bytes, huffman_symbols) = self.literals.encode(literals, target)?;
        let sequences_bytes = self
            .sequences
            .encode(sequences, target.get_mut(literals_bytes..)?)?;
        Some(BlockShape {
            bytes: literals_bytes + sequences_bytes,
            huffman_symbols,
            sequences: sequences.len(),
        })
    }
}
