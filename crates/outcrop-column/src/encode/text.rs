//! Newline text as input: split and interned on the caller's number of threads, chunk by chunk.

use std::io::Read;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

use super::encoder::Encoder;
use crate::dictionary::{Interner, Key, Later, Slots};
use crate::error::{ColumnError, Result};
use crate::format::VALUE_BYTES_LIMIT;
use crate::kernels;
use crate::segment::{Collected, EncodeOptions, Frame, Framer};

/// Bytes of text that a worker takes at a time: they stay in its second-level
/// cache from reading to splitting.
const CHUNK_BYTES: usize = 1 << 18;

/// Bytes split before their lines are interned.
const PIECE_BYTES: usize = 8192;

/// Reads newline-separated rows from `input` to its end, on `options.threads` threads.
///
/// A newline ends a row; the last row may lack it. Bytes other than the newline are kept as
/// they are, an empty line is an empty value, and there are no nulls. The encoder that comes
/// back can be finished or appended.
///
/// # Errors
/// What `input` reports, and the limits of [`Encoder::push`].
///
/// ```
/// use outcrop_column::{EncodeOptions, encode_text};
/// let encoder = encode_text("gneiss\nschist\n".as_bytes(), EncodeOptions::default())?;
/// let mut file = Vec::new();
/// assert_eq!(encoder.finish(&mut file)?.row_count, 2);
/// # Ok::<(), outcrop_column::ColumnError>(())
/// ```
pub fn encode_text(mut input: impl Read, options: EncodeOptions) -> Result<Encoder> {
    let interner = RwLock::default();
    let parts = if options.threads <= 1 {
        let mut worker = TextWorker::new(&interner);
        let mut chunks = Chunks::new(VALUE_BYTES_LIMIT);
        let mut buffer = Vec::new();
        while let Some((index, chunk)) = chunks.next(&mut input, buffer)? {
            worker.take(index, &chunk)?;
            buffer = chunk;
        }
        vec![worker.into_parts()]
    } else {
        read_with_threads(&mut input, &interner, options.threads)?
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
    let rest = Mutex::new(Lots { rest: text, index: 0 });
    let work = || {
        let mut worker = TextWorker::new(&interner);
        loop {
            let lot = rest
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next(VALUE_BYTES_LIMIT)?;
            let Some((index, lot)) = lot else {
                return Ok(worker.into_parts());
            };
            worker.take(index, lot)?;
        }
    };
    let parts: Result<Vec<Parts>> = if options.threads <= 1 {
        work().map(|parts| vec![parts])
    } else {
        thread::scope(|scope| {
            let running: Vec<_> = (0..options.threads).map(|_| scope.spawn(work)).collect();
            let workers = running.into_iter().map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            workers.collect()
        })
    };
    let parts = parts?;
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
        let own = feed(input, TextWorker::new(interner), full, &to_fill);
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
    input: &mut impl Read,
    mut own: TextWorker<'_>,
    full: SyncSender<(usize, Vec<u8>)>,
    to_fill: &Receiver<Vec<u8>>,
) -> Result<Parts> {
    let mut chunks = Chunks::new(VALUE_BYTES_LIMIT);
    let mut empty = Vec::new();
    while let Some(chunk) = chunks.next(input, to_fill.try_recv().unwrap_or(empty))? {
        empty = Vec::new();
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

/// Cuts the input into numbered chunks that end with a newline, the last one perhaps without.
#[derive(Debug)]
struct Chunks {
    longest_row: usize,
    carried: Vec<u8>,
    index: usize,
    is_over: bool,
}

impl Chunks {
    const fn new(longest_row: usize) -> Self {
        Self {
            longest_row,
            carried: Vec::new(),
            index: 0,
            is_over: false,
        }
    }

    fn next(&mut self, input: &mut impl Read, mut buffer: Vec<u8>) -> Result<Option<(usize, Vec<u8>)>> {
        if self.is_over {
            return Ok(None);
        }
        buffer.clear();
        buffer.append(&mut self.carried);
        // A row longer than a chunk makes the chunk grow until its end is found.
        let cut = loop {
            let before = buffer.len();
            // What is here has no newline yet: it is one row.
            check_row(before, self.longest_row)?;
            if buffer.capacity() < before + CHUNK_BYTES {
                // By an eighth at a time: doubled, a long row would take twice its bytes.
                buffer.reserve_exact(CHUNK_BYTES.max(before / 8));
            }
            // Positions in a chunk have 32 bits: a value and a chunk more are within them.
            let read = input.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut buffer)?;
            if read < CHUNK_BYTES {
                self.is_over = true;
                break buffer.len();
            }
            if let Some(newline) = memchr::memrchr(b'\n', &buffer[before..]) {
                break before + newline + 1;
            }
        };
        self.carried.extend_from_slice(&buffer[cut..]);
        buffer.truncate(cut);
        let index = self.index;
        self.index += 1;
        Ok((!buffer.is_empty()).then_some((index, buffer)))
    }
}

/// Text that nobody has taken yet, cut into numbered lots that end with a newline, the last one perhaps without.
#[derive(Debug)]
struct Lots<'a> {
    rest: &'a [u8],
    index: usize,
}

impl<'a> Lots<'a> {
    fn next(&mut self, longest_row: usize) -> Result<Option<(usize, &'a [u8])>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (first, behind) = self.rest.split_at(self.rest.len().min(CHUNK_BYTES));
        let cut = match memchr::memrchr(b'\n', first) {
            Some(newline) => newline + 1,
            // A row longer than a lot makes the lot grow to its end.
            None => first.len() + memchr::memchr(b'\n', behind).map_or(behind.len(), |newline| newline + 1),
        };
        let (lot, rest) = self.rest.split_at(cut);
        if cut > CHUNK_BYTES {
            check_row(cut - 1, longest_row).inspect_err(|_| self.rest = &[])?;
        }
        self.rest = rest;
        self.index += 1;
        Ok(Some((self.index - 1, lot)))
    }
}

/// Refuses a row that is longer than a value may be before any more of it is read.
fn check_row(bytes: usize, longest: usize) -> Result<()> {
    if bytes <= longest {
        return Ok(());
    }
    Err(ColumnError::Limit {
        what: "bytes of a value",
        seen: bytes as u64,
        limit: longest as u64,
        hint: "is this text with newlines?",
    })
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
        let mut has_long = false;
        later.retain(|index| {
            let (_, key) = lines.value(index);
            has_long |= key.is_long();
            let code = self.slots.find(&key);
            codes[usize::from(index)] = code.unwrap_or_default();
            code.is_none()
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what is read of a line without end.
    struct Endless(usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b'x');
            self.0 += buffer.len();
            Ok(buffer.len())
        }
    }

    #[test]
    fn lots_are_the_text_cut_behind_newlines_and_a_row_that_is_too_long_is_refused_and_ends_them() {
        let long = "x".repeat(3 * CHUNK_BYTES);
        let text = format!(
            "{}{long}\n{}last",
            "short\n".repeat(CHUNK_BYTES / 4),
            "y\n".repeat(CHUNK_BYTES)
        );
        let mut lots = Lots {
            rest: text.as_bytes(),
            index: 0,
        };
        let mut taken = Vec::new();
        while let Some((index, lot)) = lots.next(VALUE_BYTES_LIMIT).expect("no row is too long") {
            assert_eq!(index, taken.len());
            taken.push(lot);
        }
        assert_eq!(taken.concat(), text.as_bytes());
        let (last, others) = taken.split_last().expect("there are lots");
        assert!(others.iter().all(|lot| lot.ends_with(b"\n") && !last.is_empty()));
        assert!(others.len() > 4);
        let mut lots = Lots {
            rest: long.as_bytes(),
            index: 0,
        };
        assert!(matches!(
            lots.next(2 * CHUNK_BYTES),
            Err(ColumnError::Limit { .. })
        ));
        assert!(matches!(lots.next(2 * CHUNK_BYTES), Ok(None)));
    }

    #[test]
    fn a_line_without_end_is_refused_when_it_is_longer_than_a_value_may_be() {
        let (mut endless, limit) = (Endless(0), 3 << 20);
        let refused = Chunks::new(limit).next(&mut endless, Vec::new());
        assert!(matches!(refused, Err(ColumnError::Limit { .. })), "{refused:?}");
        assert!(endless.0 <= limit + CHUNK_BYTES, "{} bytes were read", endless.0);
    }
}
