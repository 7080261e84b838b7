//! Whether a page is worth going on with, judged by its first quarter.

use crate::entropy::Histogram;

/// Whether `sample` (the first quarter of a page, of which `matched_bytes` bytes were found again) looks
/// like random or compressed bytes.
///
/// Two signs have to agree: hardly any match, and byte values as evenly spread as chance spreads them. For n
/// evenly random bytes the squared counts sum up to n + n(n−1)/256 on average, with a deviation of 1.8 % for a
/// quarter of a page: 6 % above the mean is what chance hardly reaches, and what bytes of 7.9 bits of entropy exceed.
pub(super) fn looks_incompressible(sample: &[u8], matched_bytes: usize) -> bool {
    if matched_bytes * 64 > sample.len() {
        return false;
    }
    let mut histogram = Histogram::new();
    histogram.count(sample);
    let n = sample.len() as u64;
    let expected = n + n * (n - 1) / 256;
    histogram.sum_of_squares() * 100 <= expected * 106
}
