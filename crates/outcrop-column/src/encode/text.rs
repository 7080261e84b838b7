//! Newline text as input: split and interned on the caller's number of threads, chunk by chunk.

use std::io::Read;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

use super::chunks::{Chunks, SliceChunks};
use super::encoder::Encoder;
use crate::dictionary::{Interner, Key, Later, Slots, TEXT_AHEAD};
use crate::error::Result;
use crate::format::{LINE_BYTES_LIMIT, VALUE_BYTES_LIMIT};
use crate::kernels;
use crate::segment::{Collected, EncodeOptions, Frame, Framer, side_by_side};

/// Bytes split before their lines are interned: what was fetched meanwhile.
const PIECE_BYTES: usize = TEXT_AHEAD;

/// A chunk with more bytes holds a long row. One is in memory at a time, whatever the number of threads.
const LONG_CHUNK_BYTES: usize = 1 << 24;

/// Rows of a piece, at most, that are looked for once more without the lock: known values are seldom far from the first
/// place for them, so where more rows are left, most of them are new.
const MOST_FAR_OFF: usize = 32;

/// Reads newline-separated rows from `input` to its end, on `options.threads` threads.
///
/// A newline ends a row; the last row may lack it. Bytes other than the newline are kept as
/// they are, an empty line is an empty value, and there are no nulls. The encoder that comes
/// back can be finished or appended.
///
/// # Errors
/// What `input` reports, the limits of [`Encoder::push`], and [`ColumnError::TooLong`](crate::ColumnError::TooLong) for a line
/// of more than [`LINE_BYTES_LIMIT`] bytes; [`encode_text_within`] takes another limit.
///
/// ```
/// use outcrop_column::{EncodeOptions, encode_text};
/// let encoder = encode_text("gneiss\nschist\n".as_bytes(), EncodeOptions::default())?;
/// let mut file = Vec::new();
/// assert_eq!(encoder.finish(&mut file)?.row_count, 2);
/// # Ok::<(), outcrop_column::ColumnError>(())
/// ```
pub fn encode_text(input: impl Read, options: EncodeOptions) -> Result<Encoder> {
    encode_text_within(input, LINE_BYTES_LIMIT, options)
}

/// [`encode_text`] with a limit of its own for the bytes of a line, [`VALUE_BYTES_LIMIT`] at most.
///
/// *Cost*: encoding a value takes several times its bytes in memory.
///
/// # Errors
/// As there.
pub fn encode_text_within(
    mut input: impl Read,
    longest_line: usize,
    options: EncodeOptions,
) -> Result<Encoder> {
    let interner = RwLock::default();
    let mut chunks = Chunks::new(longest_line.min(VALUE_BYTES_LIMIT));
    let parts = if options.threads <= 1 {
        let mut worker = TextWorker::new(&interner);
        let mut buffer = Vec::new();
        while let Some((index, chunk)) = chunks.next(&mut input, buffer)? {
            worker.take(index, &chunk)?;
            buffer = chunk;
        }
        vec![worker.into_parts()]
    } else {
        read_with_threads(&mut input, chunks, &interner, options.threads)?
    };
    Ok(gathered(interner, parts, options))
}

/// Encodes newline-separated rows of `text`, which is in memory, on `options.threads` threads.
///
/// The rows are those of [`encode_text`]. They are split where they stand, which saves a copy of them.
///
/// # Errors
/// The limits of [`Encoder::push`].
///
/// ```
/// use outcrop_column::{EncodeOptions, encode_lines};
/// let encoder = encode_lines(b"gneiss\nschist\n", EncodeOptions::default())?;
/// assert_eq!(encoder.row_count(), 2);
/// # Ok::<(), outcrop_column::ColumnError>(())
/// ```
pub fn encode_lines(text: &[u8], options: EncodeOptions) -> Result<Encoder> {
    let interner = RwLock::default();
    let chunks = Mutex::new(SliceChunks::of(text));
    let locked = || chunks.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        let mut worker = TextWorker::new(&interner);
        loop {
            let chunk = locked().next(VALUE_BYTES_LIMIT)?;
            let Some((index, chunk)) = chunk else {
                return Ok(worker.into_parts());
            };
            // Where one worker fails, the others need not go on.
            worker.take(index, chunk).inspect_err(|_| locked().end())?;
        }
    };
    let parts = side_by_side(0..options.threads.max(1), |_| work());
    let parts = parts.into_iter().collect::<Result<_>>()?;
    Ok(gathered(interner, parts, options))
}

/// The rows of all workers in the order of their chunks.
fn gathered(interner: RwLock<Interner>, parts: Vec<Parts>, options: EncodeOptions) -> Encoder {
    let (framers, chunks): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut collected = Collected::default();
    let interner = interner.into_inner().unwrap_or_else(PoisonError::into_inner);
    let workers = collected.push_workers(interner, framers);
    let mut chunks: Vec<(usize, usize, Vec<Frame>)> = workers
        .zip(chunks)
        .flat_map(|(worker, chunks)| {
            chunks
                .into_iter()
                .map(move |(chunk, frames)| (chunk, worker, frames))
        })
        .collect();
    chunks.sort_unstable_by_key(|&(chunk, ..)| chunk);
    for (_, worker, frames) in chunks {
        collected.push_frames(worker, frames);
    }
    Encoder::with_rows(options, collected)
}

/// What a worker made: rows, and the frames of each numbered chunk.
type Parts = (Framer, Vec<(usize, Vec<Frame>)>);

/// The caller's thread reads; it splits a chunk itself whenever the other threads have enough to do.
fn read_with_threads(
    input: &mut impl Read,
    chunks: Chunks,
    interner: &RwLock<Interner>,
    threads: usize,
) -> Result<Vec<Parts>> {
    let (full, to_split) = mpsc::sync_channel::<(usize, Vec<u8>)>(threads);
    let (used, to_fill) = mpsc::channel::<Vec<u8>>();
    let to_split = Mutex::new(to_split);
    thread::scope(|scope| {
        let to_split = &to_split;
        let running: Vec<_> = (1..threads)
            .map(|_| {
                let used = used.clone();
                scope.spawn(move || work(TextWorker::new(interner), to_split, &used))
            })
            .collect();
        drop(used);
        let own = feed((input, chunks), TextWorker::new(interner), full, &to_fill);
        let workers = running.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let mut workers: Vec<Parts> = workers.collect::<Result<_>>()?;
        workers.push(own?);
        Ok(workers)
    })
}

/// Sends all chunks, or splits them; ends early when no worker is left, whose error the caller then finds.
fn feed(
    (input, mut chunks): (&mut impl Read, Chunks),
    mut own: TextWorker<'_>,
    full: SyncSender<(usize, Vec<u8>)>,
    to_fill: &Receiver<Vec<u8>>,
) -> Result<Parts> {
    let mut empty = Vec::new();
    while let Some(chunk) = chunks.next(input, to_fill.try_recv().unwrap_or(empty))? {
        empty = Vec::new();
        if chunk.1.len() > LONG_CHUNK_BYTES {
            own.take(chunk.0, &chunk.1)?;
            continue;
        }
        match full.try_send(chunk) {
            Ok(()) => {}
            Err(TrySendError::Full((index, chunk))) => {
                own.take(index, &chunk)?;
                empty = chunk;
            }
            Err(TrySendError::Disconnected(_)) => break,
        }
    }
    // The other threads end when nothing more can come.
    drop(full);
    Ok(own.into_parts())
}

fn work(
    mut worker: TextWorker<'_>,
    to_split: &Mutex<Receiver<(usize, Vec<u8>)>>,
    used: &mpsc::Sender<Vec<u8>>,
) -> Result<Parts> {
    loop {
        let received = to_split.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((index, chunk)) = received else {
            return Ok(worker.into_parts());
        };
        worker.take(index, &chunk)?;
        // The reader may be done and gone; then nobody wants the buffer.
        let _ = used.send(chunk);
    }
}

/// Lines of a chunk: the first begins at `start`, and each ends before the next begins.
struct Lines<'a> {
    chunk: &'a [u8],
    start: usize,
    ends: &'a [u32],
}

impl<'a> Lines<'a> {
    fn value(&self, index: u16) -> (&'a [u8], Key) {
        let index = usize::from(index);
        let before = index.checked_sub(1);
        let begin = before.map_or(self.start, |before| self.ends[before] as usize + 1);
        let end = self.ends[index] as usize;
        (&self.chunk[begin..end], Key::within(self.chunk, begin, end))
    }
}

/// Splits text and interns its lines. Most of them it finds without the lock of the interner that it shares.
#[derive(Debug)]
struct TextWorker<'a> {
    interner: &'a RwLock<Interner>,
    /// The interner's table as it was when this worker last had a new value.
    slots: Arc<Slots>,
    framer: Framer,
    chunks: Vec<(usize, Vec<Frame>)>,
    ends: Vec<u32>,
    codes: Vec<u32>,
    /// Lines whose values were not found without the lock.
    later: Later,
}

impl<'a> TextWorker<'a> {
    fn new(interner: &'a RwLock<Interner>) -> Self {
        let slots = Arc::clone(interner.read().unwrap_or_else(PoisonError::into_inner).slots());
        Self {
            interner,
            slots,
            framer: Framer::default(),
            chunks: Vec::new(),
            ends: Vec::new(),
            codes: vec![0; PIECE_BYTES],
            later: Later::default(),
        }
    }

    fn into_parts(self) -> Parts {
        (self.framer, self.chunks)
    }

    fn take(&mut self, index: usize, chunk: &[u8]) -> Result<()> {
        let mut start = 0;
        let mut mask = [0_u64; PIECE_BYTES / 64];
        let mut ends = std::mem::take(&mut self.ends);
        for (piece_index, piece) in chunk.chunks(PIECE_BYTES).enumerate() {
            let mask = &mut mask[..piece.len().div_ceil(64)];
            kernels::within(piece, b'\n', b'\n', mask);
            ends.clear();
            kernels::positions(mask, (piece_index * PIECE_BYTES) as u32, &mut ends);
            self.intern(&Lines {
                chunk,
                start,
                ends: &ends,
            })?;
            start = ends.last().map_or(start, |&end| end as usize + 1);
        }
        if start < chunk.len() {
            self.intern(&Lines {
                chunk,
                start,
                ends: &[chunk.len() as u32],
            })?;
        }
        self.ends = ends;
        self.chunks.push((index, self.framer.take_frames()));
        Ok(())
    }

    fn intern(&mut self, lines: &Lines<'_>) -> Result<()> {
        let codes = &mut self.codes[..lines.ends.len()];
        let later = &mut self.later;
        self.slots
            .look(lines.chunk, lines.start, lines.ends, codes, later);
        if !later.is_empty() {
            self.intern_later(lines)?;
        }
        self.framer.extend(&self.codes[..lines.ends.len()]);
        Ok(())
    }

    /// Codes of the lines whose values were not found near the first place for them. Some are further off; long ones
    /// are compared under the lock, which many can have for that; new ones are put in by one worker at a time.
    #[cold]
    fn intern_later(&mut self, lines: &Lines<'_>) -> Result<()> {
        let (codes, later) = (&mut self.codes, &mut self.later);
        let has_long = later.has_long();
        // Of many short ones nearly all are new, and looking for them once more would be for nothing.
        if !has_long && later.len() <= MOST_FAR_OFF {
            later.retain(|index| {
                let (_, key) = lines.value(index);
                let code = self.slots.find(&key);
                codes[usize::from(index)] = code.unwrap_or_default();
                code.is_none()
            });
        }
        if has_long {
            let interner = self.interner.read().unwrap_or_else(PoisonError::into_inner);
            later.retain(|index| {
                let (value, key) = lines.value(index);
                let code = interner.find(value, &key);
                codes[usize::from(index)] = code.unwrap_or_default();
                code.is_none()
            });
        }
        if !later.is_empty() {
            let mut interner = self.interner.write().unwrap_or_else(PoisonError::into_inner);
            for index in later.indexes() {
                let (value, key) = lines.value(index);
                codes[usize::from(index)] = interner.intern(value, &key)?;
            }
            self.slots = Arc::clone(interner.slots());
        }
        Ok(())
    }
}
