//! The memory of the value table: cache lines, zeroed, on huge pages where the table is large.

use memmap2::{Advice, MmapMut};

/// Bytes of a cache line.
pub(super) const LINE_BYTES: usize = 64;

/// Tables from this size on are mapped on huge pages: with small ones nearly each row would miss the TLB too.
const MAPPED_BYTES: usize = 4 << 20;

/// A growable-by-replacement array of cache lines.
#[derive(Debug)]
pub(super) enum Lines {
    Heap(Vec<[u8; LINE_BYTES]>),
    Mapped(MmapMut),
}

impl Lines {
    /// `count` lines of zeros.
    pub(super) fn zeroed(count: usize) -> Self {
        let bytes = count * LINE_BYTES;
        if bytes >= MAPPED_BYTES
            && let Ok(map) = MmapMut::map_anon(bytes)
        {
            // Advice only: a kernel without huge pages ignores it.
            let _ = map.advise(Advice::HugePage);
            return Self::Mapped(map);
        }
        Self::Heap(vec![[0; LINE_BYTES]; count])
    }

    #[inline]
    pub(super) fn get(&self) -> &[[u8; LINE_BYTES]] {
        match self {
            Self::Heap(lines) => lines,
            Self::Mapped(map) => map.as_chunks().0,
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut [[u8; LINE_BYTES]] {
        match self {
            Self::Heap(lines) => lines,
            Self::Mapped(map) => map.as_chunks_mut().0,
        }
    }
}
