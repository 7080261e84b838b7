//! Oracles: the chi-square statistic and the point beyond which it is too large to be chance.

/// Σ (observed − expected)² ÷ expected.
pub(crate) fn chi_square(observed: &[u64], expected: &[f64]) -> f64 {
    observed
        .iter()
        .zip(expected)
        .map(|(&seen, &wanted)| (seen as f64 - wanted).powi(2) / wanted)
        .sum()
}

/// The value that chance exceeds once in 10⁵ times (Wilson and Hilferty's approximation, 1931).
pub(crate) fn chi_square_limit(degrees_of_freedom: f64) -> f64 {
    const NORMAL_QUANTILE: f64 = 4.265;
    let spread = 2.0 / (9.0 * degrees_of_freedom);
    degrees_of_freedom * (1.0 - spread + NORMAL_QUANTILE * spread.sqrt()).powi(3)
}
