//! All rows in order, block by block.

use super::segment::Segment;
use crate::codes::Scratch;
use crate::error::Result;
use crate::format::BLOCK_ROWS;
use crate::storage::ReadAt;

/// The rows of one block as dictionary codes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// Number of the segment whose dictionary the codes refer to.
    pub segment: usize,
    /// Row of the first code.
    pub first_row: u64,
    /// For each row the position of its value in the segment's sorted dictionary, or `null_code`.
    pub codes: Vec<u32>,
    /// The code that stands for null; the number of the segment's values.
    pub null_code: u32,
}

/// A block before it is decoded; its fields are those of [`Batch`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Upcoming {
    pub(crate) segment: usize,
    pub(crate) first_row: u64,
    pub(crate) row_count: usize,
    pub(crate) null_code: u32,
}

/// Iterator over the blocks of a column; see [`super::Column::scan_codes`].
pub struct Batches<'a> {
    source: &'a dyn ReadAt,
    segments: &'a [Segment],
    segment: usize,
    block: usize,
    /// Whether codes come as they are stored, in the order of ranks.
    as_stored: bool,
    scratch: Scratch,
}

impl std::fmt::Debug for Batches<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches")
            .field("segment", &self.segment)
            .field("block", &self.block)
            .finish_non_exhaustive()
    }
}

impl<'a> Batches<'a> {
    pub(super) fn new(source: &'a dyn ReadAt, segments: &'a [Segment]) -> Self {
        Self {
            source,
            segments,
            segment: 0,
            block: 0,
            as_stored: false,
            scratch: Scratch::default(),
        }
    }

    /// The same blocks with the numbers that the file stores: ranks where it has them.
    #[cfg(feature = "arrow")]
    pub(crate) fn with_stored_numbers(self) -> Self {
        Self {
            as_stored: true,
            ..self
        }
    }

    /// The block that [`Batches::decode_into`] decodes next; `None` at the end.
    pub(crate) fn upcoming(&mut self) -> Option<Upcoming> {
        loop {
            let segment = self.segments.get(self.segment)?;
            let first_row = (self.block * BLOCK_ROWS) as u64;
            if first_row < segment.row_count() {
                return Some(Upcoming {
                    segment: self.segment,
                    first_row: segment.first_row + first_row,
                    row_count: (segment.row_count() - first_row).min(BLOCK_ROWS as u64) as usize,
                    null_code: segment.dictionary.value_count() as u32,
                });
            }
            self.segment += 1;
            self.block = 0;
        }
    }

    /// Decodes the upcoming block into a slice of its length, and goes on to the next.
    pub(crate) fn decode_into(&mut self, codes: &mut [u32]) -> Result<()> {
        let Some(segment) = self.segments.get(self.segment) else {
            return Ok(());
        };
        let block = self.block;
        self.block += 1;
        if self.as_stored {
            segment
                .codes()?
                .decode_into(self.source, block, codes, &mut self.scratch)
        } else {
            segment.decode_into(self.source, block, codes, &mut self.scratch)
        }
    }

    /// Fills `batch` with the next block; `false` at the end.
    pub(crate) fn next_into(&mut self, batch: &mut Batch) -> Result<bool> {
        let Some(block) = self.upcoming() else {
            return Ok(false);
        };
        batch.segment = block.segment;
        batch.first_row = block.first_row;
        batch.null_code = block.null_code;
        batch.codes.resize(block.row_count, 0);
        self.decode_into(&mut batch.codes)?;
        Ok(true)
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batch = Batch::default();
        self.next_into(&mut batch)
            .map(|is_there| is_there.then_some(batch))
            .transpose()
    }
}
