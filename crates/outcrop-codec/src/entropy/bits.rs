//! Bits written forwards that a decoder reads backwards: the bit streams of Huffman and FSE.

/// Appends bits, lowest first, to a byte buffer.
///
/// Running out of room is remembered instead of reported bit by bit: `finish` then answers `None`.
pub(super) struct BitWriter<'a> {
    target: &'a mut [u8],
    at: usize,
    pending: u64,
    pending_bits: u32,
    overflowed: bool,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(target: &'a mut [u8]) -> Self {
        Self {
            target,
            at: 0,
            pending: 0,
            pending_bits: 0,
            overflowed: false,
        }
    }

    /// Adds the `bits` low bits of `value`, which has no higher ones. At most 56 bits fit between two flushes.
    #[inline(always)]
    pub(super) fn push(&mut self, value: u64, bits: u32) {
        debug_assert!(bits >= 64 || value >> bits == 0);
        self.pending |= value << self.pending_bits;
        self.pending_bits += bits;
    }

    /// Moves whole bytes to the buffer; at most seven bits stay pending.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        debug_assert!(self.pending_bits <= 63);
        let rest = self.target.get_mut(self.at..);
        if let Some(word) = rest.and_then(|rest| rest.first_chunk_mut()) {
            *word = self.pending.to_le_bytes();
        } else {
            self.overflowed = true;
            self.at = 0;
        }
        let bytes = self.pending_bits >> 3;
        self.at += bytes as usize;
        self.pending >>= bytes * 8;
        self.pending_bits &= 7;
    }

    /// Bytes written so far, a last incomplete one included; `None` when the buffer was too small. For bit
    /// strings that are read forwards (table descriptions).
    #[inline(always)]
    pub(super) fn finish(mut self) -> Option<usize> {
        self.flush();
        (!self.overflowed).then_some(self.at + usize::from(self.pending_bits > 0))
    }

    /// As `finish`, after the closing bit that tells a backward reader where the stream starts.
    #[inline(always)]
    pub(super) fn close(mut self) -> Option<usize> {
        self.push(1, 1);
        self.finish()
    }
}
