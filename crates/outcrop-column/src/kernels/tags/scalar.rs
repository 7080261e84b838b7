//! The naive implementation: the oracle, and what machines without a faster one run.

pub(super) fn tags(plane: &[u8], tag: u8, mask: &mut [u64]) {
    for (word, chunk) in mask.iter_mut().zip(plane.chunks(32)) {
        *word = chunk.iter().enumerate().fold(0, |bits, (index, &byte)| {
            bits | u64::from(byte & 15 == tag) << (2 * index) | u64::from(byte >> 4 == tag) << (2 * index + 1)
        });
    }
}
