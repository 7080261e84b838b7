//! The naive implementation: the oracle, and what machines without a faster one run.

pub(super) fn within(bytes: &[u8], least: u8, greatest: u8, mask: &mut [u64]) {
    for (word, chunk) in mask.iter_mut().zip(bytes.chunks(64)) {
        *word = chunk.iter().enumerate().fold(0, |bits, (index, &byte)| {
            bits | u64::from(least <= byte && byte <= greatest) << index
        });
    }
}
