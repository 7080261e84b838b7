//! Order-0 entropy of a block.

/// Shannon entropy of the byte frequencies, in bits per byte: 0 for no or one value, 8 for all alike.
pub fn bits_per_byte(bytes: &[u8]) -> f64 {
    let mut counts = [0_u64; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let total = bytes.len() as f64;
    let bits = |&count: &u64| {
        let share = count as f64 / total;
        share * -share.log2()
    };
    // The sum of nothing, and of one term of no bits, is −0.
    counts.iter().filter(|&&count| count > 0).map(bits).sum::<f64>() + 0.0
}
