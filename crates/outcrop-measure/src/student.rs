//! Quantiles of Student's t, for intervals of means of few values.

/// The value that Student's t with `freedom` degrees of freedom exceeds with probability `tail`; infinite where that is 0, and where there is no
/// freedom.
///
/// ```
/// let t = outcrop_measure::student::upper_quantile(0.025, 9.0);
/// assert!((t - 2.262).abs() < 1e-3, "{t}");
/// ```
///
/// *Source*: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.7.1 and 26.5.8 (continued fraction of the incomplete beta
/// function); found by halving.
pub fn upper_quantile(tail: f64, freedom: f64) -> f64 {
    if !(tail > 0.0 && freedom > 0.0) {
        return f64::INFINITY;
    }
    if tail >= 0.5 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 2.0);
    while tail_beyond(high, freedom) > tail {
        low = high;
        high *= 2.0;
        if high > 1e12 {
            return f64::INFINITY;
        }
    }
    for _ in 0..44 {
        let middle = f64::midpoint(low, high);
        if tail_beyond(middle, freedom) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Probability that t exceeds a value that is not negative.
fn tail_beyond(value: f64, freedom: f64) -> f64 {
    let x = freedom / value.mul_add(value, freedom);
    0.5 * incomplete_beta(freedom / 2.0, 0.5, x)
}

/// The regularised incomplete beta function.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction, by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..=300 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            value *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// Lanczos's approximation, for positive values.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.120_865_097_386_617_9e-2,
        -0.539_523_938_495_3e-5,
    ];
    let base = x + 5.5;
    let mut series = 1.000_000_000_190_015;
    for (index, coefficient) in COEFFICIENTS.iter().enumerate() {
        series += coefficient / (x + 1.0 + index as f64);
    }
    (2.506_628_274_631_000_5 * series / x).ln() + (x + 0.5) * base.ln() - base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        // Tails 0.05, 0.025, 0.005, 0.0005, as any table has them.
        for (freedom, row) in [
            (1.0, [6.314, 12.706, 63.657, 636.619]),
            (4.0, [2.132, 2.776, 4.604, 8.610]),
            (9.0, [1.833, 2.262, 3.250, 4.781]),
            (30.0, [1.697, 2.042, 2.750, 3.646]),
            (120.0, [1.658, 1.980, 2.617, 3.373]),
        ] {
            for (tail, expected) in [0.05, 0.025, 0.005, 0.0005].into_iter().zip(row) {
                let found = upper_quantile(tail, freedom);
                assert!((found / expected - 1.0).abs() < 5e-4, "{freedom} {tail}: {found}");
            }
        }
    }

    #[test]
    fn more_values_and_larger_tails_give_smaller_quantiles() {
        for freedom in 1..60 {
            for tail in [1e-6, 1e-4, 0.01, 0.2] {
                let (here, freer) = (
                    upper_quantile(tail, f64::from(freedom)),
                    upper_quantile(tail, f64::from(freedom + 1)),
                );
                assert!(freer < here && upper_quantile(tail * 2.0, f64::from(freedom)) < here);
            }
        }
        assert_eq!(upper_quantile(0.0, 5.0), f64::INFINITY);
        assert_eq!(upper_quantile(0.01, 0.0), f64::INFINITY);
    }
}
