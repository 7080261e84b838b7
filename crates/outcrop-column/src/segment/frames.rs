//! Rows while they are read: provisional codes, packed frame by frame, so that memory
//! stays near the size of the file.

use super::side_by_side::side_by_side;
use crate::dictionary::{Interner, Key};
use crate::error::Result;
use crate::format::{BLOCK_ROWS, bits_of, packed_bytes};
use crate::huge::{HugeArray, HugeMap};
use crate::kernels::{self, Measured, measure};
use crate::planes::Planes;

/// Rows of a frame: short, since a block that begins inside one decodes it again.
const FRAME_ROWS: usize = 4096;

/// Bytes of the first piece of memory for frames; each further one doubles, up to the second number.
const FIRST_PIECE_BYTES: usize = 64 << 10;
const MOST_PIECE_BYTES: usize = 1 << 20;

/// Steps in which provisional codes become final ones: in each, an eighth of the rows is in memory twice.
const CODING_STEPS: usize = 8;

/// The packed codes of a worker's frames. They are read once and in order, so huge pages would gain little,
/// and they cost much where a virtual machine returns unused ones to its host: there, the first touch of a
/// huge page was seen to take 5 ms. Small ones are handed out a piece at a time.
#[derive(Debug, Default)]
pub(super) struct Packed {
    pieces: Vec<HugeArray<1>>,
    /// Bytes of the last piece in use.
    used: usize,
}

impl Packed {
    /// Adds `length` bytes of any content; gives the number of their piece and their start in it.
    fn extend(&mut self, length: usize) -> (usize, usize) {
        let room = self
            .pieces
            .last()
            .map_or(0, |piece| piece.get().len() - self.used);
        if self.pieces.is_empty() || room < length {
            let bytes = (FIRST_PIECE_BYTES << self.pieces.len().min(4)).min(MOST_PIECE_BYTES);
            self.pieces.push(if bytes < MOST_PIECE_BYTES {
                HugeArray::zeroed(bytes.max(length))
            } else {
                HugeArray::handed_out(bytes.max(length))
            });
            self.used = 0;
        }
        let start = self.used;
        self.used += length;
        (self.pieces.len() - 1, start)
    }
}

/// Where packed provisional codes are.
#[derive(Debug)]
pub(crate) struct Frame {
    rows: u32,
    base: u32,
    width: u8,
    piece: u32,
    start: u32,
}

impl Frame {
    fn of(codes: &[u32], measured: &Measured, packed: &mut Packed) -> Self {
        let width = bits_of(measured.greatest - measured.least);
        let length = packed_bytes(codes.len(), width);
        let (piece, start) = packed.extend(length);
        let bytes = &mut packed.pieces[piece].get_mut().as_flattened_mut()[start..start + length];
        kernels::pack(codes, measured.least, width, bytes);
        Self {
            rows: codes.len() as u32,
            base: measured.least,
            width,
            piece: piece as u32,
            start: start as u32,
        }
    }

    /// All codes, into `out`, which has the frame's length.
    fn unpack(&self, packed: &Packed, out: &mut [u32]) {
        let (count, start) = (self.rows as usize, self.start as usize);
        let piece = packed.pieces[self.piece as usize].get().as_flattened();
        let bytes = &piece[start..start + packed_bytes(count, self.width)];
        Planes::new(bytes, count, self.width).unpack(self.base, out);
    }
}

/// Provisional codes of a foreign dictionary's entries, filled as entries are met.
#[derive(Debug, Default)]
pub(crate) struct KnownCodes(Vec<u32>);

impl KnownCodes {
    /// No provisional code: there are fewer values.
    const UNKNOWN: u32 = u32::MAX;

    #[inline]
    fn get(&self, index: usize) -> Option<u32> {
        self.0.get(index).copied().filter(|&code| code != Self::UNKNOWN)
    }

    fn set(&mut self, index: usize, code: u32) {
        if index >= self.0.len() {
            self.0.resize(index + 1, Self::UNKNOWN);
        }
        self.0[index] = code;
    }
}

/// Collects the provisional codes of rows in order into frames, and counts the rows of each.
#[derive(Debug, Default)]
pub(crate) struct Framer {
    open: Vec<u32>,
    packed: Packed,
    frames: Vec<Frame>,
    rows_in_frames: u64,
    counts: Counts,
}

/// Rows of each code, as far as it was met: the low bytes apart, so that what each row goes to is small.
#[derive(Debug, Default)]
struct Counts {
    low: HugeArray<1>,
    /// How often the low byte went beyond 255.
    high: HugeArray<4>,
}

/// Codes that there is room for at first.
const FIRST_CODES: usize = 1 << 14;

/// Counts asked for before they go up.
const COUNTS_AHEAD: usize = 64;

impl Counts {
    /// Adds a row for each of `codes`, which are no greater than `greatest`.
    fn add(&mut self, codes: &[u32], greatest: u32) {
        if self.low.get().len() <= greatest as usize {
            // Four times as many at a time: hardly any of it is copied, and only what is used is taken from the system.
            let room = (4 * (greatest as usize + 1)).max(FIRST_CODES);
            self.low = self.low.lengthened(room);
            self.high = self.high.lengthened(room);
        }
        let (low, high) = (self.low.get_mut(), self.high.get_mut());
        for (index, &code) in codes.iter().enumerate() {
            if let Some(&later) = codes.get(index + COUNTS_AHEAD) {
                kernels::prefetch(low, later as usize);
            }
            let low = &mut low[code as usize][0];
            *low = low.wrapping_add(1);
            if *low == 0 {
                let high = &mut high[code as usize];
                *high = (u32::from_le_bytes(*high) + 1).to_le_bytes();
            }
        }
    }

    /// The rows of each code; more than a segment may have are refused before these are used.
    fn into_vec(self) -> Vec<u32> {
        let both = self.high.get().iter().zip(self.low.get());
        both.map(|(high, [low])| u32::from_le_bytes(*high) << 8 | u32::from(*low))
            .collect()
    }
}

impl Framer {
    #[inline]
    fn push(&mut self, code: u32) {
        self.open.push(code);
        if self.open.len() == FRAME_ROWS {
            self.end_frame();
        }
    }

    /// Adds rows.
    pub(crate) fn extend(&mut self, codes: &[u32]) {
        let mut rest = codes;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(FRAME_ROWS - self.open.len()));
            self.open.extend_from_slice(part);
            if self.open.len() == FRAME_ROWS {
                self.end_frame();
            }
            rest = after;
        }
    }

    fn row_count(&self) -> u64 {
        self.rows_in_frames + self.open.len() as u64
    }

    fn end_frame(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let measured = measure(&self.open);
        self.frames
            .push(Frame::of(&self.open, &measured, &mut self.packed));
        self.rows_in_frames += self.open.len() as u64;
        self.counts.add(&self.open, measured.greatest);
        self.open.clear();
    }

    /// The frames since the last call, the open one closed.
    pub(crate) fn take_frames(&mut self) -> Vec<Frame> {
        self.end_frame();
        std::mem::take(&mut self.frames)
    }

    /// Ends collecting, once all frames are taken: what they point to, and the rows of each code.
    pub(super) fn into_parts(self) -> (Packed, Vec<u32>) {
        (self.packed, self.counts.into_vec())
    }
}

/// Collects rows in order, with their values.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    interner: Interner,
    framer: Framer,
}

impl Collector {
    /// One whose table need not grow for this many values.
    pub(crate) fn with_room(values: usize) -> Self {
        Self {
            interner: Interner::with_room(values),
            ..Self::default()
        }
    }

    /// Adds a row; `None` is null. Gives its code.
    pub(crate) fn push(&mut self, value: Option<&[u8]>) -> Result<u32> {
        let code = match value {
            Some(value) => self.interner.intern(value, &Key::of(value))?,
            None => self.interner.intern_null()?,
        };
        self.framer.push(code);
        Ok(code)
    }

    /// Adds a row with entry `index` of a foreign dictionary, whose `value` is
    /// only asked for at its first row.
    #[inline]
    pub(crate) fn push_entry<'v>(
        &mut self,
        known: &mut KnownCodes,
        index: usize,
        value: impl FnOnce() -> &'v [u8],
    ) -> Result<()> {
        if let Some(code) = known.get(index) {
            self.framer.push(code);
        } else {
            known.set(index, self.push(Some(value()))?);
        }
        Ok(())
    }

    /// Rows pushed so far.
    pub(crate) fn row_count(&self) -> u64 {
        self.framer.row_count()
    }

    pub(super) fn into_parts(self) -> (Interner, Framer) {
        (self.interner, self.framer)
    }
}

/// All rows of a segment in order; each frame with the worker that made it.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    frames: Vec<(usize, Frame)>,
    /// For each worker, what its frames point to.
    packed: Vec<Packed>,
    /// For each worker, the number of the dictionary of its provisional codes.
    dictionaries: Vec<usize>,
    starts: Vec<u64>,
    row_count: u64,
}

impl Rows {
    /// Adds the next worker: what its frames point to, and the number of its dictionary.
    pub(super) fn push_worker(&mut self, packed: Packed, dictionary: usize) {
        self.packed.push(packed);
        self.dictionaries.push(dictionary);
    }

    pub(super) fn worker_count(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn push(&mut self, worker: usize, frame: Frame) {
        self.starts.push(self.row_count);
        self.row_count += u64::from(frame.rows);
        self.frames.push((worker, frame));
    }

    pub(crate) fn row_count(&self) -> u64 {
        self.row_count
    }

    /// What the maps, one a dictionary, make of the provisional codes of rows `[start, start + codes.len())`.
    pub(crate) fn mapped(&self, start: u64, maps: &[HugeMap], codes: &mut [u32]) {
        let first = self
            .starts
            .partition_point(|&frame| frame <= start)
            .saturating_sub(1);
        let mut frames = self.frames[first..].iter();
        let mut skipped = self.starts.get(first).map_or(0, |&frame| start - frame) as usize;
        let mut rest = codes;
        let mut whole = Vec::new();
        while !rest.is_empty()
            && let Some((worker, frame)) = frames.next()
        {
            let rows = frame.rows as usize;
            let (part, after) = rest.split_at_mut((rows - skipped).min(rest.len()));
            if part.len() == rows {
                frame.unpack(&self.packed[*worker], part);
            } else {
                whole.resize(rows, 0);
                frame.unpack(&self.packed[*worker], &mut whole);
                part.copy_from_slice(&whole[skipped..skipped + part.len()]);
            }
            maps[self.dictionaries[*worker]].apply(part);
            skipped = 0;
            rest = after;
        }
    }

    /// The rows with what the maps make of their provisional codes, in consecutive parts, `threads` of them
    /// at a time. The memory of these rows is freed on the way.
    pub(super) fn coded(mut self, maps: &[HugeMap], threads: usize) -> Vec<CodedRows> {
        let block_count = self.row_count.div_ceil(BLOCK_ROWS as u64) as usize;
        let threads = threads.max(1);
        let rows_per_part = block_count.div_ceil(threads * CODING_STEPS).max(1) * BLOCK_ROWS;
        let starts: Vec<u64> = (0..self.row_count).step_by(rows_per_part).collect();
        let mut parts = Vec::with_capacity(starts.len());
        for step in starts.chunks(threads) {
            parts.append(&mut side_by_side(step, |&start| {
                let end = (start + rows_per_part as u64).min(self.row_count);
                CodedRows::of(&self, maps, start, end)
            }));
            self.forget_before(step[0] + (step.len() * rows_per_part) as u64);
        }
        parts
    }

    /// Takes out the memory that only rows before `row` need. The pieces of a worker are in the order of its frames.
    pub(super) fn forget_before(&mut self, row: u64) -> Vec<HugeArray<1>> {
        let mut forgotten = Vec::new();
        let kept = self
            .starts
            .partition_point(|&start| start <= row)
            .saturating_sub(1);
        for (worker, packed) in self.packed.iter_mut().enumerate() {
            let first = self.frames[kept..].iter().find(|(of, _)| *of == worker);
            let needed = first.map_or(packed.pieces.len(), |(_, frame)| frame.piece as usize);
            forgotten.extend(packed.pieces[..needed].iter_mut().map(std::mem::take));
        }
        forgotten
    }
}

/// Consecutive rows as the codes of the file, packed frame by frame.
#[derive(Debug)]
pub(super) struct CodedRows {
    first_row: u64,
    frames: Vec<Frame>,
    packed: Packed,
}

impl CodedRows {
    fn of(rows: &Rows, maps: &[HugeMap], first_row: u64, end: u64) -> Self {
        let mut coded = Self {
            first_row,
            frames: Vec::new(),
            packed: Packed::default(),
        };
        let mut codes = vec![0; BLOCK_ROWS.min((end - first_row) as usize)];
        for start in (first_row..end).step_by(BLOCK_ROWS) {
            let codes = &mut codes[..(end - start).min(BLOCK_ROWS as u64) as usize];
            rows.mapped(start, maps, codes);
            for frame in codes.chunks(FRAME_ROWS) {
                let frame = Frame::of(frame, &measure(frame), &mut coded.packed);
                coded.frames.push(frame);
            }
        }
        coded
    }

    pub(super) fn row_count(&self) -> u64 {
        self.frames.iter().map(|frame| u64::from(frame.rows)).sum()
    }

    /// Calls `action` with runs of codes, in order, and the row of the first of each.
    pub(super) fn for_each_run(&self, mut action: impl FnMut(u64, &[u32])) {
        let mut codes = [0; FRAME_ROWS];
        let mut row = self.first_row;
        for frame in &self.frames {
            let codes = &mut codes[..frame.rows as usize];
            frame.unpack(&self.packed, codes);
            action(row, codes);
            row += u64::from(frame.rows);
        }
    }
}
