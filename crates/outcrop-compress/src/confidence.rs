//! How far the ratio of a sample may be from that of all the data.

/// The 95 % interval of the compression ratio of all the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Why a sample supports no interval for the ratio of all the data.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoInterval {
    /// Too few draws.
    #[error(
        "only {clusters} clusters of the data were sampled, and an interval needs {FEWEST}; give a larger --sample-size or smaller blocks"
    )]
    FewClusters {
        /// Clusters drawn.
        clusters: usize,
    },
    /// Blocks were chosen after the draw.
    #[error(
        "the blocks were selected from the sample by entropy; the interval would not cover that selection"
    )]
    Chosen,
}

/// Uncompressed and compressed bytes of one cluster.
pub(crate) type Cluster = (f64, f64);

/// Of fewer draws the interval is so wide that it says nothing.
const FEWEST: usize = 16;
/// What a cluster becomes that does not compress.
const INCOMPRESSIBLE: f64 = 1.0;
/// The 97.5 % quantile of the normal distribution.
const DEVIATIONS: f64 = 1.959_964;

/// The interval from clusters drawn at random without replacement from `population` of them.
///
/// However alike the drawn clusters are, some that were not drawn may not compress at all, or become nothing. So each end is that of a
/// Bayesian bootstrap of the clusters and one more that was not drawn: one as large as the largest, incompressible for the upper end of the
/// compressed share, and of no bytes for its lower end. Of n draws that are all alike this allows for 3.7 ÷ n of the other kind, as the
/// exact bound does. Both distances are shortened by the finite population correction.
///
/// *Sources*: Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable", Mathematical
/// Methods of Statistics 14(4), 2005; Learned-Miller and Thomas, "A new confidence interval for the mean of a bounded random variable",
/// arXiv 1905.06208, 2019 (no distribution is known for which it covers less than it says); Cochran, "Sampling Techniques", 3rd ed.,
/// 1977, section 2.6.
pub(crate) fn interval(clusters: &[Cluster], population: u64) -> Result<RatioInterval, NoInterval> {
    let count = clusters.len();
    let uncompressed: f64 = clusters.iter().map(|cluster| cluster.0).sum();
    let compressed: f64 = clusters.iter().map(|cluster| cluster.1).sum();
    let share = compressed / uncompressed;
    if count as u64 >= population {
        return Ok(RatioInterval {
            low: 1.0 / share,
            high: 1.0 / share,
        });
    }
    if count < FEWEST {
        return Err(NoInterval::FewClusters { clusters: count });
    }
    let most = clusters.iter().map(|(u, c)| c / u).fold(INCOMPRESSIBLE, f64::max);
    let not_taken = (1.0 - count as f64 / population as f64).sqrt();
    let end = |unseen: f64| share + not_taken * (bound(clusters, share, unseen) - share);
    Ok(RatioInterval {
        low: 1.0 / end(most),
        high: 1.0 / end(0.0),
    })
}

/// The compressed share, from that of the sample towards that of a cluster that was not drawn, beyond which 2.5 % of the bootstrap lies.
fn bound(clusters: &[Cluster], share: f64, unseen: f64) -> f64 {
    let largest = clusters.iter().map(|cluster| cluster.0).fold(0.0, f64::max);
    let mut residuals = vec![0.0; clusters.len() + 1];
    let (mut near, mut far) = (share, unseen);
    while (far - near).abs() > 1e-6 * near.min(far).max(1e-3 * share) {
        let middle = f64::midpoint(near, far);
        let all = clusters.iter().copied().chain([(largest, unseen * largest)]);
        for (residual, (u, c)) in residuals.iter_mut().zip(all) {
            *residual = (c - middle * u) * (unseen - share).signum();
        }
        if deviations(&residuals) < DEVIATIONS {
            near = middle;
        } else {
            far = middle;
        }
    }
    far
}

/// How many standard deviations of a normal quantity 0 is above Σ Eᵢ·aᵢ, where the Eᵢ are independent and exponential: the weights of a
/// Bayesian bootstrap. By the saddle point, which is within a few per cent of the probability of a tail.
///
/// *Source*: Barndorff-Nielsen, "Approximate interval probabilities", Journal of the Royal Statistical Society B 52(3), 1990.
fn deviations(residuals: &[f64]) -> f64 {
    let (least, most) = residuals.iter().fold((0.0_f64, 0.0_f64), |(least, most), one| {
        (least.min(*one), most.max(*one))
    });
    if most <= 0.0 {
        return f64::INFINITY;
    }
    if least >= 0.0 {
        return f64::NEG_INFINITY;
    }
    // The derivative of the cumulant generating function −Σ ln(1 − s·aᵢ) rises from −∞ to ∞ between these.
    let (mut low, mut high) = (1.0 / least, 1.0 / most);
    let tolerance = 1e-12 * (high - low);
    let slope_and_curvature = |s: f64| {
        residuals.iter().fold((0.0, 0.0), |(slope, curvature), a| {
            let tilted = a / (1.0 - s * a);
            (slope + tilted, tilted.mul_add(tilted, curvature))
        })
    };
    let mut s = 0.0;
    for _ in 0..100 {
        let (slope, curvature) = slope_and_curvature(s);
        if slope > 0.0 {
            high = s;
        } else {
            low = s;
        }
        let newton = s - slope / curvature;
        let next = if low < newton && newton < high {
            newton
        } else {
            f64::midpoint(low, high)
        };
        let step = (next - s).abs();
        s = next;
        if step <= tolerance {
            break;
        }
    }
    let likelihood_ratio: f64 = residuals.iter().map(|a| (-s * a).ln_1p()).sum();
    let root = s.signum() * (2.0 * likelihood_ratio.max(0.0)).sqrt();
    // At the mean itself the correction is 0 ÷ 0.
    if root.abs() < 1e-3 {
        return root;
    }
    root + (s * slope_and_curvature(s).1.sqrt() / root).ln() / root
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcrop_measure::interval::{CONFIDENCE, Interval};
    use outcrop_measure::ratio::of_intervals;
    use outcrop_measure::seed::Seed;
    use rand::RngExt;

    const BYTES: f64 = 131_072.0;
    const DRAWS: u64 = 600;

    #[test]
    fn a_sample_of_everything_leaves_no_doubt() {
        let all = interval(&[(100.0, 50.0), (100.0, 30.0)], 2).unwrap();
        assert!((all.low - 2.5).abs() < 1e-12 && all.low == all.high, "{all:?}");
        assert_eq!(
            interval(&[(100.0, 50.0)], 2),
            Err(NoInterval::FewClusters { clusters: 1 })
        );
        assert_eq!(
            interval(&files(625)[..2], 82),
            Err(NoInterval::FewClusters { clusters: 2 })
        );
    }

    #[test]
    fn of_clusters_that_are_all_alike_the_interval_is_the_exact_one_for_what_was_not_drawn() {
        for (n, share) in [(16, 0.004), (128, 0.004), (128, 0.5), (1_000, 0.9)] {
            let RatioInterval { low, high } = interval(&vec![(BYTES, BYTES * share); n], u64::MAX).unwrap();
            let unseen = 1.0 - 0.025_f64.powf(1.0 / n as f64);
            let least = 1.0 / (share * (1.0 - unseen) + unseen);
            let most = 1.0 / (share * (1.0 - unseen));
            assert!(
                (low / least - 1.0).abs() < 0.01,
                "{n} of {share}: {low} and {least}"
            );
            assert!(
                (high / most - 1.0).abs() < 0.01,
                "{n} of {share}: {high} and {most}"
            );
        }
        // What no codec makes smaller: nothing is larger than that.
        let copied = interval(&vec![(BYTES, BYTES); 128], 16_384).unwrap();
        assert!(copied.low == 1.0 && copied.high < 1.03, "{copied:?}");
    }

    #[test]
    fn the_ends_are_those_of_the_bootstrap_that_they_stand_for() {
        let sample = &files(625)[300..332];
        let RatioInterval { low, high } = interval(sample, u64::MAX).unwrap();
        let mut random = Seed(3).rng();
        let mut beyond = |share: f64, unseen: f64| {
            let all = || sample.iter().copied().chain([(BYTES, unseen * BYTES)]);
            let mut outside = 0;
            for _ in 0..40_000 {
                let weighted = all().map(|(u, c)| (share * u - c) * (1.0 - random.random::<f64>()).ln());
                let sum: f64 = weighted.sum();
                outside += u32::from(if unseen > share { sum > 0.0 } else { sum < 0.0 });
            }
            f64::from(outside) / 40_000.0
        };
        for (share, unseen) in [(1.0 / low, 1.0), (1.0 / high, 0.0)] {
            let outside = beyond(share, unseen);
            assert!((outside - 0.025).abs() < 0.003, "{share}: {outside}");
        }
    }

    /// Clusters of which every `one_in`-th does not compress, and the rest become `share`.
    fn mostly(count: u64, one_in: u64, share: f64) -> Vec<Cluster> {
        with_rare(count, one_in, 1.0, |_| share)
    }

    /// Clusters of which every `one_in`-th becomes `rare` (none where there are fewer), and the others what `share` makes of a uniform number.
    fn with_rare(count: u64, one_in: u64, rare: f64, share: impl Fn(f64) -> f64) -> Vec<Cluster> {
        let mut random = Seed(1).rng();
        let mut cluster = |index: u64| {
            let is_rare = one_in < count && index.is_multiple_of(one_in);
            let usual = share(random.random()).min(1.0);
            (BYTES, BYTES * if is_rare { rare } else { usual })
        };
        (0..count).map(&mut cluster).collect()
    }

    /// Within so much of `share`.
    fn about(share: f64, spread: f64) -> impl Fn(f64) -> f64 {
        move |uniform| share * (1.0 + spread * (2.0 * uniform - 1.0))
    }

    /// Skewed to the right as a log-normal quantity is, with a median of `share`: that of the logistic distribution is nearly the same.
    fn skewed(share: f64, deviations: f64) -> impl Fn(f64) -> f64 {
        move |uniform| share * (uniform / (1.0 - uniform)).powf(deviations * 0.551)
    }

    /// Clusters as uneven as those of a directory of files: a mixture of kinds, each with its own spread.
    fn files(count: u64) -> Vec<Cluster> {
        let cluster = |index: u64| {
            let kind = [0.12, 0.25, 0.35, 0.45, 0.55, 0.9][(index * 6 / count) as usize];
            (BYTES, BYTES * kind * (0.8 + 0.05 * (index * 7 % 9) as f64))
        };
        (0..count).map(cluster).collect()
    }

    /// Populations, and how many clusters of them are drawn.
    fn cases() -> Vec<(&'static str, Vec<Cluster>, u64)> {
        let mut short = with_rare(400, u64::MAX, 1.0, about(0.35, 0.01));
        short[7] = (BYTES / 8.0, BYTES / 8.0);
        vec![
            // The first audit's cases: a disk image with 1 % of random clusters, 400 clusters with 5 % of them, and files; and nearby.
            ("1 % of an image", mostly(16_384, 100, 0.004), 128),
            ("2 % of an image", mostly(16_384, 50, 0.004), 128),
            ("5 % of 400", mostly(400, 20, 0.004), 32),
            ("5 % of many", mostly(4_000, 20, 0.004), 128),
            ("20 %", mostly(1_000, 5, 0.004), 32),
            ("half", mostly(1_000, 2, 0.004), 16),
            ("16 draws of files", files(625), 16),
            ("32 draws of files", files(625), 32),
            ("128 draws of files", files(625), 128),
            // The second audit's: the rest is not quite alike.
            (
                "1 % of 2,000, zeros ±1 %",
                with_rare(2_000, 100, 1.0, about(0.005, 0.01)),
                128,
            ),
            (
                "0.5 %, rest ±1 %",
                with_rare(16_384, 200, 1.0, about(0.1, 0.01)),
                128,
            ),
            (
                "1 %, rest ±10 %",
                with_rare(16_384, 100, 1.0, about(0.1, 0.1)),
                128,
            ),
            (
                "2 %, rest ±10 %",
                with_rare(16_384, 50, 1.0, about(0.1, 0.1)),
                128,
            ),
            (
                "5 % of 400, rest ±10 %",
                with_rare(400, 20, 1.0, about(0.1, 0.1)),
                32,
            ),
            (
                "1 % of 400, rest ±10 %",
                with_rare(400, 100, 1.0, about(0.25, 0.1)),
                32,
            ),
            ("1 %, 16 draws", with_rare(1_000, 100, 1.0, about(0.1, 0.1)), 16),
            (
                "1 %, rest skewed",
                with_rare(16_384, 100, 1.0, skewed(0.1, 0.3)),
                128,
            ),
            ("skewed", with_rare(16_384, u64::MAX, 1.0, skewed(0.1, 1.0)), 128),
            (
                "1 % of zeros",
                with_rare(16_384, 100, 0.004, about(0.5, 0.01)),
                128,
            ),
            ("5 % of zeros", with_rare(16_384, 20, 0.004, about(0.9, 0.1)), 128),
            ("alike", with_rare(16_384, u64::MAX, 1.0, about(0.35, 0.01)), 128),
            ("the short end of a file", short, 32),
        ]
    }

    fn ratio_of(clusters: &[Cluster]) -> f64 {
        clusters.iter().map(|one| one.0).sum::<f64>() / clusters.iter().map(|one| one.1).sum::<f64>()
    }

    /// The ratio of each of 600 samples, with its interval.
    fn samples(all: &[Cluster], draws: u64) -> Vec<Interval> {
        let sample = |seed| {
            let chosen = crate::stream::distinct_below(all.len() as u64, draws, Seed(seed));
            let sample: Vec<Cluster> = chosen.into_iter().map(|index| all[index as usize]).collect();
            let RatioInterval { low, high } = interval(&sample, all.len() as u64).ok()?;
            Some(Interval {
                estimate: ratio_of(&sample),
                low,
                high,
                confidence: CONFIDENCE,
                n: sample.len(),
            })
        };
        (0..DRAWS).filter_map(sample).collect()
    }

    #[test]
    fn an_interval_covers_the_ratio_of_all_the_data_as_often_as_it_says_and_no_two_samples_disagree_more_often()
     {
        let mut narrow = Vec::new();
        for (name, all, draws) in cases() {
            let ratio = ratio_of(&all);
            let intervals = samples(&all, draws);
            let given = intervals.len();
            let covered = intervals
                .iter()
                .filter(|interval| (interval.low..=interval.high).contains(&ratio))
                .count();
            let different = intervals
                .chunks_exact(2)
                .filter_map(|pair| of_intervals(&pair[0], &pair[1]))
                .filter(|test| !test.interval.contains(1.0))
                .count();
            let mut widths: Vec<f64> = intervals.iter().map(|one| (one.high - one.low) / ratio).collect();
            widths.sort_by(f64::total_cmp);
            let width = 100.0 * widths.get(given / 2).unwrap_or(&f64::NAN);
            println!(
                "{name}: ratio {ratio:.2}, {draws} draws, {given} of {DRAWS} have an interval, {covered} cover, \
                 {different} of {} pairs differ, median width {width:.1} %",
                given / 2
            );
            if covered * 100 < 93 * given || different * 100 > 7 * (given / 2) || given < DRAWS as usize {
                narrow.push((name, given, covered, different));
            }
        }
        assert!(narrow.is_empty(), "{narrow:?}");
    }

    #[test]
    fn the_interval_of_data_that_are_alike_is_narrow_enough_to_say_something() {
        for (share, widest) in [(0.35, 0.09), (0.5, 0.07)] {
            let all = with_rare(16_384, u64::MAX, 1.0, about(share, 0.1));
            let intervals = samples(&all, 128);
            let is_wide = |one: &&Interval| one.high / one.low - 1.0 > widest;
            assert_eq!(intervals.iter().filter(is_wide).count(), 0, "{share}");
        }
    }
}
