//! Rows while they are read: provisional codes, packed frame by frame, so that memory stays near the size of the file.

use crate::dictionary::Interner;
use crate::planes::{Planes, bits_of, pack};

/// Rows of a frame: short, since a block that begins inside one decodes it again.
const FRAME_ROWS: usize = 4096;

/// Packed provisional codes.
#[derive(Debug)]
pub(super) struct Frame {
    rows: u32,
    base: u32,
    width: u8,
    bytes: Box<[u8]>,
}

impl Frame {
    fn of(codes: &[u32]) -> Self {
        let base = codes.iter().copied().min().unwrap_or(0);
        let greatest = codes.iter().copied().max().unwrap_or(0);
        let width = bits_of(greatest - base);
        let relative: Vec<u32> = codes.iter().map(|code| code - base).collect();
        let mut bytes = Vec::new();
        pack(&relative, width, &mut bytes);
        Self {
            rows: codes.len() as u32,
            base,
            width,
            bytes: bytes.into_boxed_slice(),
        }
    }

    fn unpack(&self, out: &mut Vec<u32>) {
        out.resize(self.rows as usize, 0);
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
}

impl Collector {
    #[inline]
    pub(super) fn push(&mut self, code: u32) {
        self.open.push(code);
        if self.open.len() == FRAME_ROWS {
            self.end_frame();
        }
    }

    fn end_frame(&mut self) {
        if !self.open.is_empty() {
            self.frames.push(Frame::of(&self.open));
            self.open.clear();
        }
    }

    /// The frames since the last call, the open one closed.
    pub(super) fn take_frames(&mut self) -> Vec<Frame> {
        self.end_frame();
        std::mem::take(&mut self.frames)
    }
}

/// Codes of a provisional code: the final one, and the rank that is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct FinalCode {
    pub(super) code: u32,
    pub(super) rank: u32,
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

    /// Calls `action` with the final codes of rows `[start, end)`, in order.
    pub(super) fn for_each(
        &self,
        start: u64,
        end: u64,
        maps: &[Vec<FinalCode>],
        mut action: impl FnMut(FinalCode),
    ) {
        let mut codes = Vec::with_capacity(FRAME_ROWS);
        let first = self
            .starts
            .partition_point(|&frame| frame <= start)
            .saturating_sub(1);
        for ((worker, frame), &frame_start) in self.frames.iter().zip(&self.starts).skip(first) {
            if frame_start >= end {
                break;
            }
            frame.unpack(&mut codes);
            let from = start.saturating_sub(frame_start) as usize;
            let to = (end - frame_start).min(u64::from(frame.rows)) as usize;
            let map = &maps[*worker];
            for &code in &codes[from..to] {
                action(map[code as usize]);
            }
        }
    }
}
