//! Rows while they are read: provisional codes, packed frame by frame, so that memory stays near the size of the file.

use crate::dictionary::{Interner, Key};
use crate::error::Result;
use crate::huge::HugeMap;
use crate::kernels::measure;
use crate::planes::{Planes, bits_of, pack};

/// Rows of a frame: short, since a block that begins inside one decodes it again.
const FRAME_ROWS: usize = 4096;

/// Packed provisional codes.
#[derive(Debug)]
pub(super) struct Frame {
    rows: u32,
    /// That of the codes.
    epoch: u32,
    base: u32,
    width: u8,
    bytes: Box<[u8]>,
}

impl Frame {
    fn of(codes: &[u32], epoch: usize) -> Self {
        let measured = measure(codes);
        let width = bits_of(measured.greatest - measured.least);
        let mut bytes = Vec::new();
        pack(codes, measured.least, width, &mut bytes);
        Self {
            rows: codes.len() as u32,
            epoch: epoch as u32,
            base: measured.least,
            width,
            bytes: bytes.into_boxed_slice(),
        }
    }

    /// All codes, into `out`, which has the frame's length.
    fn unpack(&self, out: &mut [u32]) {
        Planes::new(&self.bytes, self.rows as usize, self.width).unpack(out);
        out.iter_mut().for_each(|code| *code += self.base);
    }
}

/// Collects rows in order into frames.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) interner: Interner,
    open: Vec<u32>,
    frames: Vec<Frame>,
    rows_in_frames: u64,
}

impl Collector {
    /// Makes room in the table for the values of `rows` rows; what was collected before is of an older epoch if it grows.
    #[inline]
    pub(super) fn make_room(&mut self, rows: usize) {
        while !self.interner.has_room(rows) {
            self.end_frame();
            self.interner.grow();
        }
    }

    /// Adds a row; `None` is null. Gives its code, which holds for the epoch.
    pub(super) fn push(&mut self, value: Option<&[u8]>) -> Result<u32> {
        self.make_room(1);
        let code = match value {
            Some(value) => self.interner.intern(value, &Key::of(value))?,
            None => self.interner.intern_null()?,
        };
        self.push_code(code);
        Ok(code)
    }

    /// Adds a row with a value that this epoch knows.
    #[inline]
    pub(super) fn repeat(&mut self, code: u32) {
        self.interner.repeat(code);
        self.push_code(code);
    }

    #[inline]
    fn push_code(&mut self, code: u32) {
        self.open.push(code);
        if self.open.len() == FRAME_ROWS {
            self.end_frame();
        }
    }

    /// Adds rows that are interned and counted.
    pub(super) fn extend(&mut self, codes: &[u32]) {
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
    pub(super) fn row_count(&self) -> u64 {
        self.rows_in_frames + self.open.len() as u64
    }

    fn end_frame(&mut self) {
        if !self.open.is_empty() {
            self.frames.push(Frame::of(&self.open, self.interner.epoch()));
            self.rows_in_frames += self.open.len() as u64;
            self.open.clear();
        }
    }

    /// The frames since the last call, the open one closed.
    pub(super) fn take_frames(&mut self) -> Vec<Frame> {
        self.end_frame();
        std::mem::take(&mut self.frames)
    }
}

/// All rows of a segment in order; each frame with the worker whose provisional codes it holds.
#[derive(Debug, Default)]
pub(super) struct Rows {
    frames: Vec<(usize, Frame)>,
    starts: Vec<u64>,
    row_count: u64,
}

impl Rows {
    pub(super) fn push(&mut self, worker: usize, frame: Frame) {
        self.starts.push(self.row_count);
        self.row_count += u64::from(frame.rows);
        self.frames.push((worker, frame));
    }

    pub(super) fn row_count(&self) -> u64 {
        self.row_count
    }

    /// The final codes of rows `[start, start + codes.len())`, by the maps of each worker, one an epoch.
    pub(super) fn final_codes(&self, start: u64, maps: &[Vec<HugeMap>], codes: &mut [u32]) {
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
                frame.unpack(part);
            } else {
                whole.resize(rows, 0);
                frame.unpack(&mut whole);
                part.copy_from_slice(&whole[skipped..skipped + part.len()]);
            }
            maps[*worker][frame.epoch as usize].apply(part);
            skipped = 0;
            rest = after;
        }
    }
}
