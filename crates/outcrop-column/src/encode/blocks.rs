//! Encodes the blocks of a segment on the caller's number of threads and writes them in order.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::frames::Rows;
use super::sections::SectionWriter;
use crate::codes::section::BlockEntry;
use crate::codes::{BlockEncoder, CLASS_LIMIT, ClassTable, Effort};
use crate::error::{ColumnError, Result};
use crate::format::{BLOCK_ROWS, Section, SectionKind};
use crate::huge::HugeMap;
use crate::kernels::measure;
use crate::progress::{Step, Watch};

/// Blocks kept to find an equal one: repeated data often repeats within a few blocks.
const REMEMBERED_BLOCKS: usize = 16;

/// Blocks a thread that may be encoded or waiting to be written at a time.
const BLOCKS_PER_THREAD: usize = 8;

/// Rows with all that makes them ranks.
pub(super) struct CodeSource<'a> {
    pub(super) rows: &'a Rows,
    /// For each worker and epoch the code of each provisional one.
    pub(super) maps: &'a [Vec<HugeMap>],
    /// Rank of each code; `None` where they are the same.
    pub(super) ranks: Option<HugeMap>,
    pub(super) classes: Option<&'a ClassTable>,
    /// The code of null, if there is one.
    pub(super) null: Option<u32>,
}

impl CodeSource<'_> {
    /// Says that the blocks up to `block` are written.
    fn report(&self, watch: &Watch, block: u64) {
        let row_count = self.rows.row_count();
        let done = ((block + 1) * BLOCK_ROWS as u64).min(row_count);
        watch.report(Step::Codes, done, row_count);
    }
}

/// An encoded block and what its table says of it.
struct Encoded {
    bytes: Vec<u8>,
    crc: u32,
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
            crc: block.crc,
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

/// Writes the forward codes: the caller's thread writes, in order, what the others encode.
pub(super) fn write_codes(
    source: &CodeSource<'_>,
    effort: Effort,
    threads: usize,
    watch: &Watch,
    out: &mut SectionWriter<'_>,
) -> Result<Section> {
    let mut writer = BlockWriter::new(source.classes.unwrap_or(&ClassTable::default()));
    let block_count = source.rows.row_count().div_ceil(BLOCK_ROWS as u64);
    if threads <= 1 || block_count <= 1 {
        let mut worker = BlockWorker::new(source, effort)?;
        for block in 0..block_count {
            writer.push(worker.encode(block)?, out)?;
            source.report(watch, block);
        }
        return out.finish(SectionKind::Codes, &writer.table, 0);
    }
    // A ticket is the right to encode one block: as many are out as blocks may wait to be written.
    let (ticket, tickets) = mpsc::channel::<u64>();
    let tickets = Mutex::new(tickets);
    let (done, encoded) = mpsc::channel::<(u64, Result<Encoded>)>();
    let workers = (0..threads).map(|_| BlockWorker::new(source, effort));
    let workers: Vec<_> = workers.collect::<Result<_>>()?;
    thread::scope(|scope| {
        for worker in workers {
            let (tickets, done) = (&tickets, done.clone());
            scope.spawn(move || work(worker, tickets, &done));
        }
        drop(done);
        // Moved in, so that on every way out the workers find no more tickets and end.
        let ticket = ticket;
        let mut next_ticket = 0..block_count;
        for block in next_ticket.by_ref().take(threads * BLOCKS_PER_THREAD) {
            let _ = ticket.send(block);
        }
        let mut early = BTreeMap::new();
        for next in 0..block_count {
            while !early.contains_key(&next) {
                // A worker ends early only by a panic, which the scope passes on.
                let Ok((block, encoded)) = encoded.recv() else {
                    return Ok(());
                };
                early.insert(block, encoded?);
            }
            if let Some(encoded) = early.remove(&next) {
                writer.push(encoded, out)?;
                source.report(watch, next);
            }
            if let Some(block) = next_ticket.next() {
                let _ = ticket.send(block);
            }
        }
        Ok::<(), ColumnError>(())
    })?;
    out.finish(SectionKind::Codes, &writer.table, 0)
}

/// Blocks that are encoded to tell how large all will be.
const SAMPLED_BLOCKS: u64 = 4;

/// Estimate of the bytes of all blocks, from some spread evenly over the rows.
pub(super) fn estimated_bytes(source: &CodeSource<'_>, effort: Effort) -> Result<u64> {
    let block_count = source.rows.row_count().div_ceil(BLOCK_ROWS as u64);
    let sampled = block_count.min(SAMPLED_BLOCKS);
    let mut worker = BlockWorker::new(source, effort)?;
    let mut bytes = 0;
    for index in 0..sampled {
        bytes += worker.encode(index * block_count / sampled)?.bytes.len() as u64;
    }
    Ok(bytes * block_count / sampled.max(1))
}

/// Bytes of the blocks of the class map, as [`write_class_map`] writes them, and of what names them.
pub(super) fn class_map_bytes(classes: &[u32], effort: Effort) -> Result<u64> {
    /// The section's entry in the footer, and the class table in the codes section.
    const NAMING_BYTES: u64 = 48 + 8 * CLASS_LIMIT as u64;
    let mut encoder = BlockEncoder::new(None, effort)?;
    let mut bytes = NAMING_BYTES;
    for block in classes.chunks(BLOCK_ROWS) {
        bytes += encoder.encode(block)?.len() as u64 + BlockEntry::BYTES;
    }
    Ok(bytes)
}

fn work(mut worker: BlockWorker<'_>, tickets: &Mutex<Receiver<u64>>, done: &Sender<(u64, Result<Encoded>)>) {
    loop {
        let ticket = tickets.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(block) = ticket else { return };
        // The writer may have failed and gone; then nobody wants the block.
        if done.send((block, worker.encode(block))).is_err() {
            return;
        }
    }
}

/// Turns rows into blocks, reusing its memory.
struct BlockWorker<'a> {
    source: &'a CodeSource<'a>,
    encoder: BlockEncoder<'a>,
    codes: Vec<u32>,
}

impl<'a> BlockWorker<'a> {
    fn new(source: &'a CodeSource<'a>, effort: Effort) -> Result<Self> {
        Ok(Self {
            source,
            encoder: BlockEncoder::new(source.classes, effort)?,
            codes: Vec::new(),
        })
    }

    fn encode(&mut self, block: u64) -> Result<Encoded> {
        let CodeSource {
            rows,
            maps,
            ranks,
            null,
            ..
        } = self.source;
        let start = block * BLOCK_ROWS as u64;
        let count = (rows.row_count() - start).min(BLOCK_ROWS as u64) as usize;
        self.codes.resize(count, 0);
        rows.final_codes(start, maps, &mut self.codes);
        let (least, greatest, null_count) = zone(&self.codes, *null);
        if let Some(ranks) = ranks {
            ranks.apply(&mut self.codes);
        }
        let bytes = self.encoder.encode(&self.codes)?;
        Ok(Encoded {
            crc: crc32c::crc32c(&bytes),
            bytes,
            least,
            greatest,
            null_count,
        })
    }
}

/// Least and greatest code that is not null, and the number of nulls.
fn zone(codes: &[u32], null: Option<u32>) -> (u32, u32, u32) {
    let Some(null) = null else {
        let measured = measure(codes);
        return (measured.least, measured.greatest, 0);
    };
    let (mut least, mut greatest, mut null_count) = (u32::MAX, 0, 0);
    for &code in codes {
        if code == null {
            null_count += 1;
        } else {
            least = least.min(code);
            greatest = greatest.max(code);
        }
    }
    (least, greatest, null_count)
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
                crc: crc32c::crc32c(&bytes),
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
