//! Rows while they are read: provisional codes, packed frame by frame, so that memory
//! stays near the size of the file.

use super::side_by_side::side_by_side;
use crate::dictionary::{Interner, Key};
use crate::error::Result;
use crate::format::{BLOCK_ROWS, bits_of, packed_bytes};
use crate::huge::{HugeArray, HugeMap};
use crate::kernels::{self, measure};
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
/// huge page was seen to take 5 ms.
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
            self.pieces.push(HugeArray::zeroed(bytes.max(length)));
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
    /// That of the codes.
    epoch: u32,
    base: u32,
    width: u8,
    piece: u32,
    start: u32,
}

impl Frame {
    fn of(codes: &[u32], epoch: usize, packed: &mut Packed) -> Self {
        let measured = measure(codes);
        let width = bits_of(measured.greatest - measured.least);
        let length = packed_bytes(codes.len(), width);
        let (piece, start) = packed.extend(length);
        let bytes = &mut packed.pieces[piece].get_mut().as_flattened_mut()[start..start + length];
        kernels::pack(codes, measured.least, width, bytes);
        Self {
            rows: codes.len() as u32,
            epoch: epoch as u32,
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

/// Provisional codes of a foreign dictionary's entries, filled as entries are met; valid for one epoch.
#[derive(Debug, Default)]
pub(crate) struct KnownCodes {
    codes: Vec<u32>,
    epoch: usize,
}

impl KnownCodes {
    /// No provisional code: the last slot of the largest table is never filled.
    const UNKNOWN: u32 = u32::MAX;
}

/// Collects rows in order into frames.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) interner: Interner,
    open: Vec<u32>,
    packed: Packed,
    frames: Vec<Frame>,
    rows_in_frames: u64,
}

impl Collector {
    /// One whose table need not grow for this many values.
    pub(crate) fn with_room(values: usize) -> Self {
        Self {
            interner: Interner::with_room(values),
            ..Self::default()
        }
    }

    /// Makes room in the table for the values of `rows` rows; if it grows, earlier
    /// codes are of an older epoch.
    #[inline]
    pub(crate) fn make_room(&mut self, rows: usize) {
        while !self.interner.has_room(rows) {
            self.end_frame();
            self.interner.grow();
        }
    }

    /// Adds a row; `None` is null. Gives its code, which holds for the epoch.
    pub(crate) fn push(&mut self, value: Option<&[u8]>) -> Result<u32> {
        self.make_room(1);
        let code = match value {
            Some(value) => self.interner.intern(value, &Key::of(value))?,
            None => self.interner.intern_null()?,
        };
        self.push_code(code);
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
        if known.epoch != self.interner.epoch() {
            known.codes.clear();
            known.epoch = self.interner.epoch();
        }
        match known.codes.get(index) {
            Some(&code) if code != KnownCodes::UNKNOWN => {
                self.interner.repeat(code);
                self.push_code(code);
            }
            _ => {
                let code = self.push(Some(value()))?;
                // Codes of an epoch that has just ended are dropped at the next row.
                if index >= known.codes.len() {
                    known.codes.resize(index + 1, KnownCodes::UNKNOWN);
                }
                if known.epoch == self.interner.epoch() {
                    known.codes[index] = code;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn push_code(&mut self, code: u32) {
        self.open.push(code);
        if self.open.len() == FRAME_ROWS {
            self.end_frame();
        }
    }

    /// Adds rows that are interned and counted.
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

    /// Rows pushed so far.
    pub(crate) fn row_count(&self) -> u64 {
        self.rows_in_frames + self.open.len() as u64
    }

    fn end_frame(&mut self) {
        if !self.open.is_empty() {
            let frame = Frame::of(&self.open, self.interner.epoch(), &mut self.packed);
            self.frames.push(frame);
            self.rows_in_frames += self.open.len() as u64;
            self.open.clear();
        }
    }

    /// The frames since the last call, the open one closed.
    pub(crate) fn take_frames(&mut self) -> Vec<Frame> {
        self.end_frame();
        std::mem::take(&mut self.frames)
    }

    /// Ends collecting, once all frames are taken: the values, and what the frames point to.
    pub(super) fn into_parts(self) -> (Interner, Packed) {
        (self.interner, self.packed)
    }
}

/// All rows of a segment in order; each frame with the worker whose provisional codes it holds.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    frames: Vec<(usize, Frame)>,
    /// For each worker, what its frames point to.
    packed: Vec<Packed>,
    starts: Vec<u64>,
    row_count: u64,
}

impl Rows {
    /// Adds the next worker: what its frames point to.
    pub(super) fn push_worker(&mut self, packed: Packed) {
        self.packed.push(packed);
    }

    pub(super) fn push(&mut self, worker: usize, frame: Frame) {
        self.starts.push(self.row_count);
        self.row_count += u64::from(frame.rows);
        self.frames.push((worker, frame));
    }

    pub(crate) fn row_count(&self) -> u64 {
        self.row_count
    }

    /// What the maps of each worker, one an epoch, make of the provisional codes of rows
    /// `[start, start + codes.len())`.
    pub(crate) fn mapped(&self, start: u64, maps: &[Vec<HugeMap>], codes: &mut [u32]) {
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
            maps[*worker][frame.epoch as usize].apply(part);
            skipped = 0;
            rest = after;
        }
    }

    /// The rows with what the maps make of their provisional codes, in consecutive parts, `threads` of them
    /// at a time. The memory of these rows is freed on the way.
    pub(super) fn coded(mut self, maps: &[Vec<HugeMap>], threads: usize) -> Vec<CodedRows> {
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

    /// Frees what only rows before `row` need. The pieces of a worker are in the order of its frames.
    fn forget_before(&mut self, row: u64) {
        let kept = self
            .starts
            .partition_point(|&start| start <= row)
            .saturating_sub(1);
        for (worker, packed) in self.packed.iter_mut().enumerate() {
            let first = self.frames[kept..].iter().find(|(of, _)| *of == worker);
            let needed = first.map_or(packed.pieces.len(), |(_, frame)| frame.piece as usize);
            packed.pieces[..needed].fill_with(HugeArray::default);
        }
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
    fn of(rows: &Rows, maps: &[Vec<HugeMap>], first_row: u64, end: u64) -> Self {
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
                coded.frames.push(Frame::of(frame, 0, &mut coded.packed));
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
