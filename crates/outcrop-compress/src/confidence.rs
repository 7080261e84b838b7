//! How far the ratio of a sample may be from that of all the data.

/// The 95 % interval of the compression ratio of all the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Uncompressed and compressed bytes of one cluster.
pub(crate) type Cluster = (f64, f64);

/// The interval from clusters drawn at random without replacement from `population` of them; `None` for fewer than
/// two of more.
///
/// The compressed share c ÷ u is a ratio of two sums; its variance is that of the residuals c − share · u, with the finite population
/// correction, and its distribution taken as Student's t. *Source*: Cochran, "Sampling Techniques", 3rd ed., 1977,
/// section 6.3.
pub(crate) fn interval(clusters: &[Cluster], population: u64) -> Option<RatioInterval> {
    let n = clusters.len() as f64;
    let uncompressed: f64 = clusters.iter().map(|cluster| cluster.0).sum();
    let compressed: f64 = clusters.iter().map(|cluster| cluster.1).sum();
    let share = compressed / uncompressed;
    if clusters.len() as u64 >= population {
        return Some(RatioInterval {
            low: 1.0 / share,
            high: 1.0 / share,
        });
    }
    if clusters.len() < 2 {
        return None;
    }
    let residuals: f64 = clusters.iter().map(|(u, c)| (c - share * u).powi(2)).sum();
    let mean = uncompressed / n;
    let not_taken = 1.0 - n / population as f64;
    let variance = not_taken * residuals / (n - 1.0) / (n * mean * mean);
    let margin = student_t_975(n - 1.0) * variance.sqrt();
    Some(RatioInterval {
        low: 1.0 / (share + margin),
        // A share of nothing is no ratio: the interval stays finite, as wide as the data allow.
        high: 1.0 / (share - margin).max(share * 1e-3),
    })
}

/// The 97.5 % quantile of Student's t, to 1 % from three degrees of freedom on.
///
/// *Source*: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5; one and two degrees exactly.
fn student_t_975(degrees: f64) -> f64 {
    const Z: f64 = 1.959_964;
    match degrees {
        d if d < 1.5 => 12.706,
        d if d < 2.5 => 4.303,
        d => {
            let (z3, z5, z7) = (Z.powi(3), Z.powi(5), Z.powi(7));
            let first = (z3 + Z) / 4.0;
            let second = (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / 96.0;
            let third = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / 384.0;
            Z + first / d + second / d.powi(2) + third / d.powi(3)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_students_t_are_those_of_the_tables() {
        for (degrees, expected) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (3.0, 3.182),
            (5.0, 2.571),
            (10.0, 2.228),
            (127.0, 1.979),
        ] {
            let t = student_t_975(degrees);
            assert!((t - expected).abs() < 0.012 * expected, "{degrees}: {t}");
        }
    }

    #[test]
    fn a_sample_of_everything_leaves_no_doubt() {
        let all = interval(&[(100.0, 50.0), (100.0, 30.0)], 2).unwrap();
        assert!((all.low - 2.5).abs() < 1e-12 && all.low == all.high, "{all:?}");
        assert_eq!(interval(&[(100.0, 50.0)], 2), None);
    }
}
