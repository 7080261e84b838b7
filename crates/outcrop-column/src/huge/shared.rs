//! Atomic integers on huge pages: an array that several threads read and write at once.
#![expect(unsafe_code, reason = "memory from the system is used as atomic integers")]

use std::sync::atomic::AtomicU64;

use memmap2::{Advice, MmapMut, MmapRaw};

use super::MAPPED_BYTES;

/// Smaller arrays than this cost less when they are filled with zeros than when the system is asked for some.
const ZEROED_BYTES: usize = 128 << 10;

/// A cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [AtomicU64; 8]);

/// An array of them, zeros at first.
#[derive(Debug)]
pub(crate) enum SharedArray {
    Heap(Vec<Line>),
    /// With the number of items.
    Mapped(MmapRaw, usize),
}

impl SharedArray {
    /// `count` lines of zeros.
    pub(crate) fn zeroed(count: usize) -> Self {
        let bytes = count * size_of::<Line>();
        if bytes >= ZEROED_BYTES
            && let Ok(map) = MmapMut::map_anon(bytes)
        {
            if bytes >= MAPPED_BYTES {
                // Advice only: a kernel without huge pages ignores it.
                let _ = map.advise(Advice::HugePage);
            }
            return Self::Mapped(MmapRaw::from(map), count);
        }
        Self::Heap(std::iter::repeat_with(Line::default).take(count).collect())
    }

    #[inline]
    pub(crate) fn get(&self) -> &[Line] {
        match self {
            Self::Heap(items) => items,
            Self::Mapped(map, count) => {
                let items = map.as_mut_ptr().cast::<Line>().cast_const();
                // SAFETY: the map has this many items, at the start of a page, for as long as `self` lives. All bytes are
                // valid atomic integers, and nothing else reaches the map.
                unsafe { std::slice::from_raw_parts(items, *count) }
            }
        }
    }
}
