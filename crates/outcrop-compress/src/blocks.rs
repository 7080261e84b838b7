//! A sample cut into the independent blocks that a codec compresses.

use crate::entropy::bits_per_byte;
use crate::sample::Sample;

/// One block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'s> {
    /// Its bytes.
    pub bytes: &'s [u8],
    /// The piece of the sample that it was cut from.
    pub piece: usize,
}

/// The blocks of a sample.
#[derive(Clone, Debug)]
pub struct Blocks<'s> {
    sample: &'s Sample,
    block_bytes: usize,
    blocks: Vec<Block<'s>>,
    /// Whether what they contain decided which are among them.
    are_chosen: bool,
}

impl<'s> Blocks<'s> {
    /// Cuts every piece into blocks of `block_bytes`; its last one may be shorter, as a file's last block is.
    ///
    /// # Panics
    /// When `block_bytes` is 0.
    pub fn cut(sample: &'s Sample, block_bytes: usize) -> Self {
        let of_piece = |(piece, found): (usize, &crate::sample::Piece)| {
            let content = &sample.bytes()[found.range.clone()];
            content
                .chunks(block_bytes)
                .map(move |bytes| Block { bytes, piece })
        };
        Self {
            sample,
            block_bytes,
            blocks: sample.pieces().iter().enumerate().flat_map(of_piece).collect(),
            are_chosen: false,
        }
    }

    /// Keeps the sixteenth of the blocks (one at least) whose order-0 entropy is nearest to `bits`; none shorter than
    /// three quarters of the longest.
    #[must_use]
    pub fn nearest_in_entropy(&self, bits: f64) -> Self {
        let longest = self
            .blocks
            .iter()
            .map(|block| block.bytes.len())
            .max()
            .unwrap_or(0);
        let mut whole: Vec<(f64, usize)> = self
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| 4 * block.bytes.len() >= 3 * longest)
            .map(|(index, block)| ((bits_per_byte(block.bytes) - bits).abs(), index))
            .collect();
        whole.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
        whole.truncate((self.blocks.len() / 16).max(1));
        let mut indices: Vec<usize> = whole.into_iter().map(|(_, index)| index).collect();
        indices.sort_unstable();
        Self {
            blocks: indices.into_iter().map(|index| self.blocks[index]).collect(),
            are_chosen: true,
            ..self.clone()
        }
    }

    /// The blocks, in the order of the sample.
    pub fn as_slice(&self) -> &[Block<'s>] {
        &self.blocks
    }

    /// Whether they are some of the sample's, chosen by their content.
    pub(crate) const fn are_chosen(&self) -> bool {
        self.are_chosen
    }

    /// What they were cut from.
    pub const fn sample(&self) -> &'s Sample {
        self.sample
    }

    /// The length that was asked for.
    pub const fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Bytes of all blocks.
    pub fn total_bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.bytes.len()).sum()
    }

    /// Mean order-0 entropy of the blocks, each counted by its length.
    pub fn mean_entropy(&self) -> f64 {
        let weighted: f64 = self
            .blocks
            .iter()
            .map(|block| bits_per_byte(block.bytes) * block.bytes.len() as f64)
            .sum();
        weighted / self.total_bytes() as f64
    }

    /// File and offset of a block, for messages.
    pub fn origin(&self, index: usize) -> String {
        let block = &self.blocks[index];
        let piece = &self.sample.pieces()[block.piece];
        let within = block.bytes.as_ptr().addr() - self.sample.bytes()[piece.range.start..].as_ptr().addr();
        format!("{} at {}", piece.name, piece.offset + within as u64)
    }
}
