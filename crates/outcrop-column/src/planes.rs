//! Planes: the one way in which the format stores small integers. The integers are split into parts of 8, 4,
//! 2 and 1 bits, most significant first, and equal parts of all integers stand together.

use crate::error::Result;
use crate::format::{Fields, packed_bytes, plane_bytes, plane_widths};
use crate::kernels::{self, CACHE_LINE_BYTES};

/// Appends the planes of `values[i] - base`, each less than 2^width, to `out`.
pub(crate) fn pack(values: &[u32], base: u32, width: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + packed_bytes(values.len(), width), 0);
    kernels::pack(values, base, width, &mut out[start..]);
}

/// A stored vector of integers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planes<'a> {
    bytes: &'a [u8],
    count: usize,
    width: u8,
    /// Where each plane begins, and its bits; the planes that there are, of those that there can be.
    parts: [(usize, u8); MOST_PLANES],
    part_count: usize,
}

/// 31 bits are 8 + 8 + 8 + 4 + 2 + 1.
const MOST_PLANES: usize = 6;

impl<'a> Planes<'a> {
    /// The vector of `count` integers of `width` bits (at most 32) in `bytes`, which has exactly their bytes.
    pub(crate) fn new(bytes: &'a [u8], count: usize, width: u8) -> Self {
        let mut parts = [(0, 0); MOST_PLANES];
        let (mut part_count, mut start) = (0, 0);
        for bits in plane_widths(width) {
            parts[part_count] = (start, bits);
            part_count += 1;
            start += plane_bytes(count, bits);
        }
        assert_eq!(bytes.len(), start, "the caller takes the bytes by this length");
        Self {
            bytes,
            count,
            width,
            parts,
            part_count,
        }
    }

    /// The vector of `count` integers of `width` bits that is next in `fields`.
    pub(crate) fn take(fields: &mut Fields<'a>, count: usize, width: u8) -> Result<Self> {
        if width > 32 {
            return Err(fields.wrong(format!("integers of {width} bits, at most 32 allowed")));
        }
        Ok(Self::new(fields.take(packed_bytes(count, width))?, count, width))
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The stored bytes: for a width of 4, the plane of tags.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Integer `index`, which must be less than the count.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> u32 {
        debug_assert!(index < self.count);
        let mut value = 0_u32;
        for &(start, bits) in &self.parts[..self.part_count] {
            if bits == 8 {
                value = value << 8 | u32::from(self.bytes[start + index]);
            } else {
                let bit = index * usize::from(bits);
                let byte = u32::from(self.bytes[start + bit / 8]);
                value = value << bits | (byte >> (bit % 8)) & ((1 << bits) - 1);
            }
        }
        value
    }

    /// All integers, each plus `base`, into `out`, which has the count's length.
    pub(crate) fn unpack(&self, base: u32, out: &mut [u32]) {
        assert_eq!(out.len(), self.count, "the caller sizes the output by the count");
        kernels::unpack(self.bytes, self.width, (self.count, 0), base, out);
    }

    /// All integers, each plus `base`, for merging with those of other classes.
    pub(crate) fn stream(&self, base: u32) -> kernels::Stream<'a> {
        kernels::Stream {
            planes: self.bytes,
            count: self.count,
            width: self.width,
            base,
        }
    }

    /// Appends the indexes, ascending, of the integers in `least ..= greatest` to `found`.
    pub(crate) fn find_within(&self, least: u32, greatest: u32, found: &mut Vec<u32>) {
        let top = ((1_u64 << self.width) - 1) as u32;
        if least > greatest || least > top {
            return;
        }
        if least == 0 && greatest >= top {
            found.extend(0..self.count as u32);
        } else if self.width < 8 {
            self.find_in_narrow(least, greatest, found);
        } else {
            self.find_by_first_plane(least, greatest.min(top), found);
        }
    }

    fn find_in_narrow(&self, least: u32, greatest: u32, found: &mut Vec<u32>) {
        let mut values = vec![0; self.count];
        self.unpack(0, &mut values);
        let bytes: Vec<u8> = values.iter().map(|&value| value as u8).collect();
        let mut mask = vec![0; self.count.div_ceil(64)];
        kernels::within(&bytes, least as u8, greatest.min(255) as u8, &mut mask);
        for_each_bit(&mask, |index| found.push(index as u32));
    }

    /// The first plane (the 8 most significant bits) leaves few candidates where the range is narrow; only
    /// those in its two outermost values need a look at the other planes.
    fn find_by_first_plane(&self, least: u32, greatest: u32, found: &mut Vec<u32>) {
        let shift = self.width - 8;
        let (first, last) = ((least >> shift) as u8, (greatest >> shift) as u8);
        let plane = &self.bytes[..self.count];
        // As many as an equality leaves of equally frequent values, and some.
        let mut candidates = Vec::with_capacity(self.count / 64 + SCANNED_ROWS);
        for (start, bytes) in (0..).step_by(SCANNED_ROWS).zip(plane.chunks(SCANNED_ROWS)) {
            let seen = candidates.len();
            // The processor prefetches a plane by itself, but not past the end of a page, and its requests
            // wait behind the second plane's lines.
            let ahead = plane.get(start as usize + SCANNED_ROWS..).unwrap_or_default();
            for line in ahead[..ahead.len().min(SCANNED_ROWS)].chunks(CACHE_LINE_BYTES) {
                kernels::prefetch(line, 0);
            }
            if last - first < FEWEST_OF_DENSE {
                kernels::matches(bytes, first, last, &mut candidates);
                candidates[seen..].iter_mut().for_each(|index| *index += start);
            } else {
                let mut mask = [0; SCANNED_ROWS / 64];
                let mask = &mut mask[..bytes.len().div_ceil(64)];
                kernels::within(bytes, first, last, mask);
                kernels::positions(mask, start, &mut candidates);
            }
            // The second plane, one cache line per candidate, is read once all candidates are known.
            for &index in &candidates[seen..] {
                kernels::prefetch(self.bytes, self.count + index as usize);
            }
        }
        self.keep_within(&candidates, (least, greatest), (first, last), found);
    }

    /// Appends those of `candidates` whose integers lie in `least ..= greatest`, given that their first
    /// planes lie in `first ..= last`.
    fn keep_within(
        &self,
        candidates: &[u32],
        (least, greatest): (u32, u32),
        (first, last): (u8, u8),
        found: &mut Vec<u32>,
    ) {
        // In a range within one value of the first plane, the second plane rejects nearly all candidates
        // left: one cache line each instead of one for every plane.
        let narrowed = first == last && self.width >= 16;
        let shift = self.width.saturating_sub(16);
        let second = ((least >> shift) as u8)..=((greatest >> shift) as u8);
        for &candidate in candidates {
            let index = candidate as usize;
            if narrowed && !second.contains(&self.bytes[self.count + index]) {
                continue;
            }
            let inner = first < self.bytes[index] && self.bytes[index] < last;
            if inner || (least..=greatest).contains(&self.get(index)) {
                found.push(candidate);
            }
        }
    }
}

/// Rows whose first plane is searched before the other planes of those that it leaves are looked at.
const SCANNED_ROWS: usize = if cfg!(miri) { 128 } else { 2048 };

/// Values of the first plane from which on, if they are equally frequent, two of 64 rows lie within a range.
const FEWEST_OF_DENSE: u8 = 8;

/// Calls `action` with the index of each set bit, ascending.
#[inline]
pub(crate) fn for_each_bit(mask: &[u64], mut action: impl FnMut(usize)) {
    for (word_index, &word) in mask.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            action(word_index * 64 + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Planes, pack};

    /// Miri takes a second for what the processor does in a microsecond.
    const MOST_VALUES: usize = if cfg!(miri) { 300 } else { 5000 };

    proptest! {
        #[test]
        fn finding_and_getting_agree_with_the_plain_vector(
            values in proptest::collection::vec(any::<u32>(), 0..MOST_VALUES), width in 0_u8..=32, least: u32, span: u32, narrower in 0_u32..32,
        ) {
            let top = ((1_u64 << width) - 1) as u32;
            let values: Vec<u32> = values.iter().map(|value| value & top).collect();
            let least = least & top;
            let greatest = least.saturating_add((span & top) >> narrower);
            let mut bytes = Vec::new();
            pack(&values, 0, width, &mut bytes);
            let planes = Planes::new(&bytes, values.len(), width);
            let mut found = Vec::new();
            planes.find_within(least, greatest, &mut found);
            let expected: Vec<u32> = (0..values.len() as u32).filter(|&index| (least..=greatest).contains(&values[index as usize])).collect();
            prop_assert_eq!(found, expected);
            for (index, &value) in values.iter().enumerate() {
                prop_assert_eq!(planes.get(index), value);
            }
        }
    }
}
