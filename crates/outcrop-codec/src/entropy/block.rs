//! One compressed block, without its header: literals section, then sequences section.

use super::fse::Tables;
use super::literals::LiteralsEncoder;
use super::sequences::{Sequence, SequencesEncoder};

/// Below these numbers of both, tables are quick ones: a page that compresses to an eighth is mostly the work of making and
/// describing tables, on both sides.
const FEW_LITERALS: usize = 640;
const FEW_SEQUENCES: usize = 220;

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
        let tables = if literals.len() < FEW_LITERALS && sequences.len() < FEW_SEQUENCES {
            Tables::Quick
        } else {
            Tables::Fitting
        };
        let (literals_bytes, huffman_symbols) = self.literals.encode(literals, tables, target)?;
        let sequences_bytes = self
            .sequences
            .encode(sequences, tables, target.get_mut(literals_bytes..)?)?;
        Some(BlockShape {
            bytes: literals_bytes + sequences_bytes,
            huffman_symbols,
            sequences: sequences.len(),
        })
    }
}
