//! Encodes the blocks of a segment on the caller's number of threads and writes them in order.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::frames::Rows;
use crate::codes::section::BlockEntry;
use crate::codes::{BlockEncoder, ClassTable, Effort};
use crate::error::{ColumnError, Result};
use crate::format::{BLOCK_ROWS, CLASS_LIMIT, Section, SectionKind, SectionWriter};
use crate::huge::HugeMap;
use crate::kernels::{Measured, measure};
use crate::progress::{Step, Watch};

/// Blocks kept to find an equal one: repeated data often repeats within a few blocks.
const REMEMBERED_BLOCKS: usize = 16;

/// Blocks a thread that may be encoded or waiting to be written at a time.
const BLOCKS_PER_THREAD: usize = 8;

/// Rows with all that makes them ranks.
pub(super) struct CodeSource<'a> {
    pub(super) rows: &'a Rows,
    /// For each worker and epoch the rank of each provisional code.
    pub(super) maps: &'a [Vec<HugeMap>],
    /// The classes and the code of each rank; `None` where ranks are codes.
    pub(super) classes: Option<(&'a ClassTable, &'a HugeMap)>,
    /// The rank of null, if there is one.
    pub(super) null: Option<u32>,
}

impl<'a> CodeSource<'a> {
    fn class_table(&self) -> Option<&'a ClassTable> {
        self.classes.map(|(table, _)| table)
    }

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
    zone: Zone,
}

/// Least and greatest code that is not null, and the number of nulls.
#[derive(Debug, Clone, Copy)]
struct Zone {
    least: u32,
    greatest: u32,
    null_count: u32,
}

impl Zone {
    const EMPTY: Self = Self {
        least: u32::MAX,
        greatest: 0,
        null_count: 0,
    };

    fn of(codes: &[u32], null: Option<u32>) -> Self {
        let mut zone = Self::EMPTY;
        let Some(null) = null else {
            zone.least = codes.iter().fold(u32::MAX, |least, &code| least.min(code));
            zone.greatest = codes.iter().fold(0, |greatest, &code| greatest.max(code));
            return zone;
        };
        for &code in codes {
            if code == null {
                zone.null_count += 1;
            } else {
                zone.least = zone.least.min(code);
                zone.greatest = zone.greatest.max(code);
            }
        }
        zone
    }

    /// The zone of ranks, of which each stream holds those of one class: ranks in a class
    /// are in the order of their codes.
    fn of_streams<'r>(streams: impl Iterator<Item = &'r [u32]>, null: Option<u32>, codes: &HugeMap) -> Self {
        streams.fold(Self::EMPTY, |mut zone, stream| {
            let ranks = Self::of(stream, null);
            if ranks.least <= ranks.greatest {
                zone.least = zone.least.min(codes.get(ranks.least));
                zone.greatest = zone.greatest.max(codes.get(ranks.greatest));
            }
            zone.null_count += ranks.null_count;
            zone
        })
    }
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

    /// Writes a block; gives memory that is no longer needed.
    fn push(&mut self, block: Encoded, out: &mut SectionWriter<'_>) -> Result<Vec<u8>> {
        let mut entry = BlockEntry {
            offset: out.position(),
            length: block.bytes.len() as u32,
            crc: block.crc,
            least: block.zone.least,
            greatest: block.zone.greatest,
            null_count: block.zone.null_count,
        };
        let is_same =
            |(other, bytes): &&(BlockEntry, Vec<u8>)| other.crc == entry.crc && *bytes == block.bytes;
        let same = self.recent.iter().find(is_same).map(|(same, _)| same.offset);
        let mut spare = block.bytes;
        if let Some(offset) = same {
            entry.offset = offset;
        } else {
            out.push(&spare)?;
            if self.recent.len() < REMEMBERED_BLOCKS {
                self.recent.push((entry, std::mem::take(&mut spare)));
            } else {
                let (oldest, bytes) = &mut self.recent[self.next_recent];
                *oldest = entry;
                std::mem::swap(bytes, &mut spare);
            }
            self.next_recent = (self.next_recent + 1) % REMEMBERED_BLOCKS;
        }
        entry.push_to(&mut self.table);
        Ok(spare)
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
    let mut writer = BlockWriter::new(source.class_table().unwrap_or(&ClassTable::default()));
    let block_count = source.rows.row_count().div_ceil(BLOCK_ROWS as u64);
    if threads <= 1 || block_count <= 1 {
        let mut worker = BlockWorker::new(source, effort)?;
        let mut spare = Vec::new();
        for block in 0..block_count {
            spare = writer.push(worker.encode(block, spare)?, out)?;
            source.report(watch, block);
        }
        return out.finish(SectionKind::Codes, &writer.table, 0);
    }
    // A ticket is the right to encode one block: as many are out as blocks may wait to be written.
    let (ticket, tickets) = mpsc::channel::<u64>();
    let tickets = Mutex::new(tickets);
    let (done, encoded) = mpsc::channel::<(u64, Result<Encoded>)>();
    // Memory of blocks that are written, for those to come.
    let spares = Mutex::new(Vec::new());
    let workers = (0..threads).map(|_| BlockWorker::new(source, effort));
    let workers: Vec<_> = workers.collect::<Result<_>>()?;
    thread::scope(|scope| {
        for worker in workers {
            let (tickets, spares, done) = (&tickets, &spares, done.clone());
            scope.spawn(move || work(worker, tickets, spares, &done));
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
                let spare = writer.push(encoded, out)?;
                locked(&spares).push(spare);
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
        let block = worker.encode(index * block_count / sampled, Vec::new())?;
        bytes += block.bytes.len() as u64;
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

fn work(
    mut worker: BlockWorker<'_>,
    tickets: &Mutex<Receiver<u64>>,
    spares: &Mutex<Vec<Vec<u8>>>,
    done: &Sender<(u64, Result<Encoded>)>,
) {
    loop {
        let Ok(block) = locked(tickets).recv() else { return };
        let spare = locked(spares).pop().unwrap_or_default();
        // The writer may have failed and gone; then nobody wants the block.
        if done.send((block, worker.encode(block, spare))).is_err() {
            return;
        }
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Turns rows into blocks, reusing its memory.
struct BlockWorker<'a> {
    source: &'a CodeSource<'a>,
    encoder: BlockEncoder<'a>,
    ranks: Vec<u32>,
}

impl<'a> BlockWorker<'a> {
    fn new(source: &'a CodeSource<'a>, effort: Effort) -> Result<Self> {
        Ok(Self {
            source,
            encoder: BlockEncoder::new(source.class_table(), effort)?,
            ranks: Vec::new(),
        })
    }

    /// Encodes a block in the memory of `spare`.
    fn encode(&mut self, block: u64, spare: Vec<u8>) -> Result<Encoded> {
        let rows = self.source.rows;
        let start = block * BLOCK_ROWS as u64;
        let count = (rows.row_count() - start).min(BLOCK_ROWS as u64) as usize;
        self.ranks.resize(count, 0);
        rows.mapped(start, self.source.maps, &mut self.ranks);
        let measured = measure(&self.ranks);
        let bytes = self.encoder.encode_measured(&self.ranks, &measured, spare)?;
        Ok(Encoded {
            crc: crc32c::crc32c(&bytes),
            bytes,
            zone: self.zone(&measured),
        })
    }

    /// That of the block encoded last.
    fn zone(&self, measured: &Measured) -> Zone {
        let null = self.source.null;
        match self.source.classes {
            None if null.is_none() => Zone {
                least: measured.least,
                greatest: measured.greatest,
                null_count: 0,
            },
            None => Zone::of(&self.ranks, null),
            // The encoder did not look at classes.
            Some((_, codes)) if measured.least == measured.greatest => {
                Zone::of_streams(std::iter::once(&self.ranks[..]), null, codes)
            }
            Some((_, codes)) => Zone::of_streams(self.encoder.class_streams(), null, codes),
        }
    }
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
                zone: Zone {
                    least: 0,
                    ..Zone::EMPTY
                },
            },
            out,
        )?;
    }
    out.finish(SectionKind::ClassMap, &writer.table, 0)
}
