//! Writes the dictionary of a segment: its blocks are made on the caller's number of threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::LONG_DICTIONARY;
use crate::dictionary::{BlockMaker, DictionaryOptions, DictionaryWriter, MadeBlock, ValuesInOrder};
use crate::error::{ColumnError, Result};
use crate::format::{Section, SectionWriter};

/// Blocks that a thread makes at a time, and lots of them that may wait to be written for each thread.
const LOT_BLOCKS: usize = 16;
const LOTS_PER_THREAD: usize = 4;

/// The blocks of a dictionary, and who makes the next ones.
struct Blocks<'a, V> {
    values: &'a V,
    options: DictionaryOptions,
    shift: u32,
    next_lot: AtomicUsize,
}

impl<V: ValuesInOrder> Blocks<'_, V> {
    fn lot_count(&self) -> usize {
        self.values.value_count().div_ceil(LOT_BLOCKS << self.shift)
    }

    /// The values of each block of a lot.
    fn of_lot(&self, lot: usize) -> impl Iterator<Item = Range<usize>> {
        let (count, size) = (self.values.value_count(), 1 << self.shift);
        let first = (lot * LOT_BLOCKS) << self.shift;
        let starts = (first..count).step_by(size).take(LOT_BLOCKS);
        starts.map(move |start| start..count.min(start + size))
    }

    fn make_lot(&self, lot: usize, maker: &mut BlockMaker) -> Result<Vec<MadeBlock>> {
        self.of_lot(lot)
            .map(|block| maker.make(self.values, block))
            .collect()
    }

    /// Makes one lot after the other until nobody wants more.
    fn work(&self, mut maker: BlockMaker, done: &SyncSender<(usize, Result<Vec<MadeBlock>>)>) {
        loop {
            let lot = self.next_lot.fetch_add(1, Ordering::Relaxed);
            if lot >= self.lot_count() || done.send((lot, self.make_lot(lot, &mut maker))).is_err() {
                return;
            }
        }
    }
}

/// Writes the dictionary of `values`, which have `value_bytes` bytes in all, and does what is to be done `aside`: on one of
/// the threads, if there are several.
pub(super) fn write_dictionary<V: ValuesInOrder, A: Send>(
    values: &V,
    value_bytes: usize,
    options: DictionaryOptions,
    threads: usize,
    aside: impl FnOnce() -> A + Send,
    out: &mut SectionWriter<'_>,
) -> Result<(A, Section)> {
    let blocks = Blocks {
        values,
        options,
        shift: options.shift(values.value_count(), value_bytes),
        next_lot: AtomicUsize::new(0),
    };
    let mut writer = DictionaryWriter::default();
    let aside = if threads <= 1 || values.value_count() < LONG_DICTIONARY {
        let mut maker = BlockMaker::new(options)?;
        for block in (0..blocks.lot_count()).flat_map(|lot| blocks.of_lot(lot)) {
            writer.push(&maker.make(values, block)?, out)?;
        }
        aside()
    } else {
        write_with_threads(&blocks, threads, aside, &mut writer, out)?
    };
    Ok((aside, writer.finish(blocks.shift, out)?))
}

/// The caller's thread writes, in order, what the others make.
fn write_with_threads<V: ValuesInOrder, A: Send>(
    blocks: &Blocks<'_, V>,
    threads: usize,
    aside: impl FnOnce() -> A + Send,
    writer: &mut DictionaryWriter,
    out: &mut SectionWriter<'_>,
) -> Result<A> {
    let makers = (0..threads).map(|_| BlockMaker::new(blocks.options));
    let mut makers = makers.collect::<Result<Vec<_>>>()?.into_iter();
    let (done, made) = sync_channel(threads * LOTS_PER_THREAD);
    thread::scope(|scope| {
        let (first, done_first) = (makers.next(), done.clone());
        let aside = scope.spawn(move || {
            let aside = aside();
            if let Some(maker) = first {
                blocks.work(maker, &done_first);
            }
            aside
        });
        for maker in makers {
            let done = done.clone();
            scope.spawn(move || blocks.work(maker, &done));
        }
        drop(done);
        // Moved in, so that on every way out the workers find that nobody wants more.
        let made = made;
        let mut early = BTreeMap::new();
        for lot in 0..blocks.lot_count() {
            while !early.contains_key(&lot) {
                // A worker ends early only by a panic, which the scope passes on.
                let Ok((number, blocks)) = made.recv() else { break };
                early.insert(number, blocks?);
            }
            for block in early.remove(&lot).into_iter().flatten() {
                writer.push(&block, out)?;
            }
        }
        let aside = aside.join();
        Ok::<A, ColumnError>(aside.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
