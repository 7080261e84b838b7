//! How often each byte occurs.

/// Counts of the 256 byte values, kept in four parts so that a frequent byte does not wait for its own
/// last increment.
#[derive(Clone)]
pub(crate) struct Histogram {
    counts: [u16; 256],
    others: [[u16; 256]; 3],
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self {
            counts: [0; 256],
            others: [[0; 256]; 3],
        }
    }

    /// Counts `bytes` anew. At most 65 535 of them, which a page is far below.
    #[inline(always)]
    pub(crate) fn count(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= usize::from(u16::MAX));
        self.counts.fill(0);
        self.others = [[0; 256]; 3];
        let [second, third, fourth] = &mut self.others;
        let mut quads = bytes.chunks_exact(4);
        for quad in &mut quads {
            self.counts[usize::from(quad[0])] += 1;
            second[usize::from(quad[1])] += 1;
            third[usize::from(quad[2])] += 1;
            fourth[usize::from(quad[3])] += 1;
        }
        for &byte in quads.remainder() {
            self.counts[usize::from(byte)] += 1;
        }
        let others = second.iter().zip(&*third).zip(&*fourth);
        for (count, ((second, third), fourth)) in self.counts.iter_mut().zip(others) {
            *count += second + third + fourth;
        }
    }

    pub(crate) fn counts(&self) -> &[u16; 256] {
        &self.counts
    }

    /// The sum of the squared counts: small when bytes are spread evenly, whatever their order.
    pub(crate) fn sum_of_squares(&self) -> u64 {
        let squares = self
            .counts
            .iter()
            .map(|&count| u32::from(count) * u32::from(count));
        squares.map(u64::from).sum()
    }
}
