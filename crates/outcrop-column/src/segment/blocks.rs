//! Encodes the blocks of a segment on the caller's number of threads and writes them in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;

use super::frames::Rows;
use super::zone::Zone;
use crate::codes::section::BlockEntry;
use crate::codes::{BlockEncoder, ClassTable, Effort, GROUP_BLOCKS, Joined, encoding};
use crate::error::{ColumnError, Result};
use crate::format::{BLOCK_ROWS, CLASS_LIMIT, Section, SectionKind, SectionWriter, TOKENS};
use crate::huge::HugeMap;
use crate::kernels::{Measured, measure};
use crate::progress::{Step, Watch};

/// Blocks kept to find an equal one: repeated data often repeats within a few blocks.
const REMEMBERED_BLOCKS: usize = 16;

/// Blocks a thread that may be encoded or waiting to be written at a time, and lots of blocks at least.
const BLOCKS_PER_THREAD: usize = 8;
const LOTS_PER_THREAD: usize = 2;

/// Blocks that a thread encodes at a time where there are many for each, so that the writer is woken less often.
const LOT_BLOCKS: usize = 4;

/// Blocks written until the memory of their rows is given back: whoever writes waits for those that read rows.
const BLOCKS_KEPT: u64 = 64;

/// Rows with all that makes them ranks.
pub(super) struct CodeSource<'a> {
    pub(super) rows: &'a RwLock<Rows>,
    pub(super) row_count: u64,
    /// Whether nobody needs the rows once their codes are written: pages that they give back at once are those that a
    /// file in the system's cache takes next.
    pub(super) forgets_rows: bool,
    /// For each dictionary the rank of each provisional code, named where that is said.
    pub(super) maps: &'a [HugeMap],
    /// Whether the maps lead to ranks [named](ClassTable::named) by their classes. There is no null then.
    pub(super) is_named: bool,
    /// The classes and the code of each rank; `None` where ranks are codes.
    pub(super) classes: Option<(&'a ClassTable, &'a HugeMap)>,
    /// The rank of null, if there is one.
    pub(super) null: Option<u32>,
}

impl<'a> CodeSource<'a> {
    fn class_table(&self) -> Option<&'a ClassTable> {
        self.classes.map(|(table, _)| table)
    }

    /// Says that the blocks before `block` are written.
    fn report(&self, watch: &Watch, block: u64) {
        let done = (block * BLOCK_ROWS as u64).min(self.row_count);
        watch.report(Step::Codes, done, self.row_count);
        if self.forgets_rows && block.is_multiple_of(BLOCKS_KEPT) {
            let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            let forgotten = rows.forget_before(done);
            // Giving memory back takes long: nobody waits for it.
            drop(rows);
            drop(forgotten);
        }
    }

    /// What the maps lead to for the rows from `start` on.
    fn mapped(&self, start: u64, numbers: &mut [u32]) {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        rows.mapped(start, self.maps, numbers);
    }

    fn block_count(&self) -> u64 {
        self.row_count.div_ceil(BLOCK_ROWS as u64)
    }

    /// What is encoded at a time: a block or a few, or as many blocks as may become a group.
    fn lots(&self, effort: Effort, threads: usize) -> Vec<Range<u64>> {
        let block_count = self.block_count();
        let size = if effort.joins_blocks {
            GROUP_BLOCKS
        } else if block_count as usize >= threads * BLOCKS_PER_THREAD * LOT_BLOCKS {
            LOT_BLOCKS
        } else {
            1
        };
        (0..block_count)
            .step_by(size)
            .map(|first| first..block_count.min(first + size as u64))
            .collect()
    }
}

/// A block, or a group of blocks, encoded, and what the table says of each.
struct Encoded {
    bytes: Vec<u8>,
    crc: u32,
    zones: Vec<Zone>,
}

impl Encoded {
    fn new(bytes: Vec<u8>, zones: Vec<Zone>) -> Self {
        Self {
            crc: crc32c::crc32c(&bytes),
            bytes,
            zones,
        }
    }
}

/// What `blocks` will take: of equal ones, one is stored.
fn stored_bytes(blocks: &[Encoded]) -> usize {
    let mut all: Vec<&[u8]> = blocks.iter().map(|block| &block.bytes[..]).collect();
    all.sort_unstable();
    all.dedup();
    all.iter().map(|bytes| bytes.len()).sum()
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

    /// Writes a block or a group; returns memory that can be used again.
    fn push(&mut self, block: Encoded, out: &mut SectionWriter<'_>) -> Result<Vec<u8>> {
        let mut entry = BlockEntry {
            offset: out.position(),
            length: block.bytes.len() as u32,
            crc: block.crc,
            least: 0,
            greatest: 0,
            null_count: 0,
            part: 0,
        };
        if block.bytes.first().is_some_and(|&byte| encoding::is_group(byte)) {
            out.need(TOKENS);
        }
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
        for (part, zone) in (0_u32..).zip(block.zones) {
            let of_block = BlockEntry {
                least: zone.least,
                greatest: zone.greatest,
                null_count: zone.null_count,
                part,
                ..entry
            };
            of_block.push_to(&mut self.table);
        }
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
    let lots = source.lots(effort, threads);
    if threads <= 1 || lots.len() <= 1 {
        let mut worker = BlockWorker::new(source, effort)?;
        for lot in lots {
            for block in worker.encode(&lot)? {
                worker.spares.push(writer.push(block, out)?);
            }
            source.report(watch, lot.end);
        }
        return out.finish(SectionKind::Codes, &writer.table, 0);
    }
    // A ticket is the right to encode one lot: as many are out as lots may wait to be written.
    let (ticket, tickets) = mpsc::channel::<Range<u64>>();
    let tickets = Mutex::new(tickets);
    let (done, encoded) = mpsc::channel::<(u64, Result<Vec<Encoded>>)>();
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
        let lot_blocks = lots.first().map_or(1, |lot| lot.end - lot.start) as usize;
        let at_once = threads * (BLOCKS_PER_THREAD / lot_blocks).max(LOTS_PER_THREAD);
        let mut next_tickets = lots.iter().cloned();
        for lot in next_tickets.by_ref().take(at_once) {
            let _ = ticket.send(lot);
        }
        let mut early = BTreeMap::new();
        for next in &lots {
            while !early.contains_key(&next.start) {
                // A worker ends early only by a panic, which the scope passes on.
                let Ok((first, encoded)) = encoded.recv() else {
                    return Ok(());
                };
                early.insert(first, encoded?);
            }
            for block in early.remove(&next.start).into_iter().flatten() {
                let spare = writer.push(block, out)?;
                locked(&spares).push(spare);
            }
            source.report(watch, next.end);
            if let Some(lot) = next_tickets.next() {
                let _ = ticket.send(lot);
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
    let block_count = source.block_count();
    let sampled = block_count.min(SAMPLED_BLOCKS);
    let mut worker = BlockWorker::new(source, effort)?;
    let mut bytes = 0;
    for index in 0..sampled {
        let block = index * block_count / sampled;
        for encoded in worker.encode(&(block..block + 1))? {
            bytes += encoded.bytes.len() as u64;
        }
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
    tickets: &Mutex<Receiver<Range<u64>>>,
    spares: &Mutex<Vec<Vec<u8>>>,
    done: &Sender<(u64, Result<Vec<Encoded>>)>,
) {
    loop {
        let Ok(lot) = locked(tickets).recv() else { return };
        let wanted = ((lot.end - lot.start) as usize).saturating_sub(worker.spares.len());
        {
            let mut spares = locked(spares);
            let left = spares.len().saturating_sub(wanted);
            worker.spares.extend(spares.drain(left..));
        }
        // The writer may have failed and gone; then nobody wants the blocks.
        if done.send((lot.start, worker.encode(&lot))).is_err() {
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
    /// Memory of blocks that are written, for those to come.
    spares: Vec<Vec<u8>>,
}

impl<'a> BlockWorker<'a> {
    fn new(source: &'a CodeSource<'a>, effort: Effort) -> Result<Self> {
        Ok(Self {
            source,
            encoder: BlockEncoder::new(source.class_table(), effort)?,
            ranks: Vec::new(),
            spares: Vec::new(),
        })
    }

    /// Encodes consecutive blocks, on their own or as groups.
    fn encode(&mut self, blocks: &Range<u64>) -> Result<Vec<Encoded>> {
        let start = blocks.start * BLOCK_ROWS as u64;
        let count = (self.source.row_count - start).min((blocks.end - blocks.start) * BLOCK_ROWS as u64);
        let mut ranks = std::mem::take(&mut self.ranks);
        ranks.resize(count as usize, 0);
        self.source.mapped(start, &mut ranks);
        let mut single = Vec::with_capacity(ranks.len().div_ceil(BLOCK_ROWS));
        for block in ranks.chunks_mut(BLOCK_ROWS) {
            let mut spare = self.spares.pop().unwrap_or_default();
            let in_classes = match self.source.classes {
                Some(classes) if self.source.is_named => self.encode_named(block, classes, &mut spare)?,
                _ => None,
            };
            single.push(match in_classes {
                Some(encoded) => encoded,
                None => self.encode_ranks(block, spare)?,
            });
        }
        let joined = self.joined(single, &ranks);
        self.ranks = ranks;
        joined
    }

    /// A block of rows that are named, in classes; where another encoding may be smaller, they become ranks.
    fn encode_named(
        &mut self,
        rows: &mut [u32],
        (table, codes): (&ClassTable, &HugeMap),
        spare: &mut Vec<u8>,
    ) -> Result<Option<Encoded>> {
        if let Some(bytes) = self.encoder.encode_named(rows, &measure(rows), spare)? {
            let zone = Zone::of_extremes(self.encoder.class_extremes(), codes);
            return Ok(Some(Encoded::new(bytes, vec![zone])));
        }
        rows.iter_mut().for_each(|row| *row = table.rank(*row));
        Ok(None)
    }

    fn encode_ranks(&mut self, ranks: &[u32], spare: Vec<u8>) -> Result<Encoded> {
        let measured = measure(ranks);
        let bytes = self.encoder.encode_measured(ranks, &measured, spare)?;
        Ok(Encoded::new(bytes, vec![self.zone(ranks, &measured)]))
    }

    /// The blocks of `ranks`, joined to a group or two where these are smaller.
    fn joined(&self, mut single: Vec<Encoded>, ranks: &[u32]) -> Result<Vec<Encoded>> {
        Ok(match self.encoder.join(ranks, stored_bytes(&single))? {
            Joined::Smaller(bytes) => {
                let zones = single.into_iter().flat_map(|block| block.zones).collect();
                vec![Encoded::new(bytes, zones)]
            }
            Joined::TooLong if single.len() > 1 => {
                let half = single.len() / 2;
                let (first, second) = ranks.split_at(half * BLOCK_ROWS);
                let rest = single.split_off(half);
                let mut joined = self.joined(single, first)?;
                joined.append(&mut self.joined(rest, second)?);
                joined
            }
            Joined::TooLong | Joined::NotSmaller => single,
        })
    }

    /// That of the block encoded last.
    fn zone(&self, ranks: &[u32], measured: &Measured) -> Zone {
        let null = self.source.null;
        match self.source.classes {
            None if null.is_none() => Zone {
                least: measured.least,
                greatest: measured.greatest,
                null_count: 0,
            },
            None => Zone::of(ranks, null),
            // The encoder did not look at classes.
            Some((_, codes)) if measured.least == measured.greatest => {
                Zone::of_streams(std::iter::once(ranks), null, codes)
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
        let zone = Zone {
            least: 0,
            ..Zone::EMPTY
        };
        writer.push(Encoded::new(encoder.encode(block)?, vec![zone]), out)?;
    }
    out.finish(SectionKind::ClassMap, &writer.table, 0)
}
