//! Bit strings, least significant bit first.

/// Appends bits to bytes.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    pending: u64,
    pending_bits: u32,
}

impl BitWriter {
    /// Appends the `count` low bits of `value` (`count` ≤ 56, the other bits zero).
    pub(super) fn push(&mut self, value: u64, count: u32) {
        debug_assert!(count <= 56 && value >> count == 0);
        self.pending |= value << self.pending_bits;
        self.pending_bits += count;
        while self.pending_bits >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.pending_bits -= 8;
        }
    }

    /// Appends `count` zero bits.
    pub(super) fn push_zeros(&mut self, mut count: u64) {
        while count > 0 {
            let step = count.min(56);
            self.push(0, step as u32);
            count -= step;
        }
    }

    /// Fills the last byte with zeros; the bytes so far. The writer is empty afterwards.
    pub(super) fn take(&mut self) -> Vec<u8> {
        if self.pending_bits > 0 {
            self.bytes.push(self.pending as u8);
        }
        (self.pending, self.pending_bits) = (0, 0);
        std::mem::take(&mut self.bytes)
    }
}

/// Bits `[bit, bit + count)` of `bytes`, `count` ≤ 56; bits past the end are zero.
#[inline]
pub(super) fn bits_at(bytes: &[u8], bit: u64, count: u32) -> u64 {
    word_at(bytes, bit) & ((1 << count) - 1)
}

/// At least 57 bits from `bit` on; bits past the end are zero.
#[inline]
pub(super) fn word_at(bytes: &[u8], bit: u64) -> u64 {
    let start = (bit / 8) as usize;
    let word = match bytes.get(start..start.saturating_add(8)) {
        Some(eight) => eight.try_into().map_or(0, u64::from_le_bytes),
        None => {
            let tail = bytes.get(start..).unwrap_or_default();
            tail.iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u64::from(byte))
        }
    };
    word >> (bit % 8)
}
