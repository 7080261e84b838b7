//! Encodes the blocks of a segment on the caller's number of threads and writes them in order.

use std::thread;

use super::frames::{FinalCode, Rows};
use super::sections::SectionWriter;
use crate::codes::section::BlockEntry;
use crate::codes::{BlockEncoder, ClassTable, Classifier, Effort};
use crate::error::Result;
use crate::format::{BLOCK_ROWS, Section, SectionKind};

/// Blocks kept to find an equal one: repeated data often repeats within a few blocks.
const REMEMBERED_BLOCKS: usize = 16;

/// Blocks that one thread encodes between two writes.
const BLOCKS_PER_THREAD: usize = 16;

/// An encoded block and what its table says of it.
struct Encoded {
    bytes: Vec<u8>,
    least: u32,
    greatest: u32,
    null_count: u32,
}

/// Writes the blocks one by one; equal blocks share their bytes.
struct BlockWriter {
    recent: Vec<(BlockEntry, Vec<u8>)>,
    next_recent: usize,
    table: Vec<u8>,
}

impl BlockWriter {
    fn new(classes: &ClassTable) -> Self {
        let mut table = Vec::new();
        classes.push_to(&mut table);
        Self {
            recent: Vec::new(),
            next_recent: 0,
            table,
        }
    }

    fn push(&mut self, block: Encoded, out: &mut SectionWriter<'_>) -> Result<()> {
        let mut entry = BlockEntry {
            offset: out.position(),
            length: block.bytes.len() as u32,
            crc: crc32c::crc32c(&block.bytes),
            least: block.least,
            greatest: block.greatest,
            null_count: block.null_count,
        };
        if let Some((same, _)) = self
            .recent
            .iter()
            .find(|(other, bytes)| other.crc == entry.crc && *bytes == block.bytes)
        {
            entry.offset = same.offset;
        } else {
            out.push(&block.bytes)?;
            let slot = (entry, block.bytes);
            if self.recent.len() < REMEMBERED_BLOCKS {
                self.recent.push(slot);
            } else {
                self.recent[self.next_recent] = slot;
            }
            self.next_recent = (self.next_recent + 1) % REMEMBERED_BLOCKS;
        }
        entry.push_to(&mut self.table);
        Ok(())
    }
}

/// Writes the forward codes. `null` is the code of null, if there is one.
pub(super) fn write_codes(
    rows: &Rows,
    maps: &[Vec<FinalCode>],
    (classes, null): (Option<&ClassTable>, Option<u32>),
    (effort, threads): (Effort, usize),
    out: &mut SectionWriter<'_>,
) -> Result<Section> {
    let empty = ClassTable::default();
    let mut writer = BlockWriter::new(classes.unwrap_or(&empty));
    let classifier = classes.map(|table| Classifier::new(table.clone()));
    let block_count = rows.row_count().div_ceil(BLOCK_ROWS as u64);
    let encode = |blocks: std::ops::Range<u64>| -> Result<Vec<Encoded>> {
        let mut encoder = BlockEncoder::new(classifier.as_ref(), effort)?;
        blocks
            .map(|block| encode_block(rows, maps, null, block, &mut encoder))
            .collect()
    };
    let threads = threads.max(1) as u64;
    let mut block = 0;
    while block < block_count {
        let end = (block + threads * BLOCKS_PER_THREAD as u64).min(block_count);
        let share = (end - block).div_ceil(threads);
        let shares = (block..end)
            .step_by(share as usize)
            .map(|start| start..(start + share).min(end));
        let encoded: Vec<Result<Vec<Encoded>>> = if threads == 1 {
            shares.map(encode).collect()
        } else {
            thread::scope(|scope| {
                let encode = &encode;
                let running: Vec<_> = shares.map(|share| scope.spawn(move || encode(share))).collect();
                running
                    .into_iter()
                    .map(|thread| {
                        thread
                            .join()
                            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    })
                    .collect()
            })
        };
        for part in encoded {
            for encoded in part? {
                writer.push(encoded, out)?;
            }
        }
        block = end;
    }
    out.finish(SectionKind::Codes, &writer.table, 0)
}

fn encode_block(
    rows: &Rows,
    maps: &[Vec<FinalCode>],
    null: Option<u32>,
    block: u64,
    encoder: &mut BlockEncoder<'_>,
) -> Result<Encoded> {
    let start = block * BLOCK_ROWS as u64;
    let end = (start + BLOCK_ROWS as u64).min(rows.row_count());
    let mut ranks = Vec::with_capacity(BLOCK_ROWS);
    let (mut least, mut greatest, mut null_count) = (u32::MAX, 0, 0);
    rows.for_each(start, end, maps, |FinalCode { code, rank }| {
        ranks.push(rank);
        if Some(code) == null {
            null_count += 1;
        } else {
            least = least.min(code);
            greatest = greatest.max(code);
        }
    });
    Ok(Encoded {
        bytes: encoder.encode(&ranks)?,
        least,
        greatest,
        null_count,
    })
}

/// Writes the class of each symbol.
pub(super) fn write_class_map(
    classes: &[u32],
    effort: Effort,
    out: &mut SectionWriter<'_>,
) -> Result<Section> {
    let mut writer = BlockWriter::new(&ClassTable::default());
    let mut encoder = BlockEncoder::new(None, effort)?;
    for block in classes.chunks(BLOCK_ROWS) {
        let bytes = encoder.encode(block)?;
        writer.push(
            Encoded {
                bytes,
                least: 0,
                greatest: 0,
                null_count: 0,
            },
            out,
        )?;
    }
    out.finish(SectionKind::ClassMap, &writer.table, 0)
}
