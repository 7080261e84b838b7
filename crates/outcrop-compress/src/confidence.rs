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
    /// The draws do not differ, so nothing says how those differ that were not drawn.
    #[error(
        "all {clusters} sampled clusters compress equally, which does not show that all the data do: if the {:.1} % that such a sample may miss (95 %) did not compress, the ratio would be {least_ratio:.2}; give a larger --sample-size",
        100.0 * UNSEEN / *clusters as f64
    )]
    Alike {
        /// Clusters drawn.
        clusters: usize,
        /// The ratio if the share that the draw may have missed were incompressible.
        least_ratio: f64,
    },
    /// Nearly all of the spread comes from a few draws.
    #[error(
        "the spread of the {clusters} sampled clusters comes from a few of them, and another sample may have none or more of those; give a \
         larger --sample-size"
    )]
    FewDiffer {
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

/// Below this number of draws the interval covers less than it says, for data as uneven as files are.
const FEWEST: usize = 16;
/// Clusters whose compressed shares differ by less than this part are alike.
const ALIKE: f64 = 1e-3;
/// The spread must rest on at least this many draws, as the squared sum of squares over the sum of fourth powers counts them.
const FEWEST_THAT_DIFFER: f64 = 3.0;
/// Rule of three: of n draws that are alike, 3/n of all may be unlike them, at 95 %. *Source*: Hanley and Lippman-Hand, "If nothing goes
/// wrong, is everything all right?", JAMA 249(13), 1983.
const UNSEEN: f64 = 3.0;

/// The interval from clusters drawn at random without replacement from `population` of them.
///
/// The compressed share c ÷ u is a ratio of two sums; its variance is that of the residuals c − share · u, with the finite population
/// correction, and its distribution taken as Student's t. Few clusters that compress far worse than the others make that
/// distribution skewed, and the upper end of the share is moved by the first term of the expansion for it.
/// *Sources*: Cochran, "Sampling Techniques", 3rd ed., 1977, section 6.3; Chen, "Testing the mean of skewed distributions", JASA
/// 90(430), 1995.
pub(crate) fn interval(clusters: &[Cluster], population: u64) -> Result<RatioInterval, NoInterval> {
    let count = clusters.len();
    let n = count as f64;
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
    let residuals = || clusters.iter().map(|(u, c)| c - share * u);
    let shares = || clusters.iter().map(|(u, c)| c / u);
    let (least, most) = shares().fold((f64::INFINITY, 0.0_f64), |(least, most), one| {
        (least.min(one), most.max(one))
    });
    if most - least <= ALIKE * share {
        let missed = UNSEEN / n;
        return Err(NoInterval::Alike {
            clusters: count,
            least_ratio: 1.0 / (share * (1.0 - missed) + missed),
        });
    }
    let moment = |power: i32| residuals().map(|residual| residual.powi(power)).sum::<f64>();
    let squares = moment(2);
    if squares.powi(2) / moment(4) < FEWEST_THAT_DIFFER {
        return Err(NoInterval::FewDiffer { clusters: count });
    }
    let mean = uncompressed / n;
    let not_taken = 1.0 - n / population as f64;
    let variance = squares / (n - 1.0);
    let error = (not_taken * variance / n).sqrt() / mean;
    let skewness = moment(3) / n / variance.powf(1.5) * not_taken.sqrt();
    let t = student_t_975(n - 1.0);
    let skew = (skewness / (6.0 * n.sqrt()) * (1.0 + 2.0 * t * t)).max(0.0);
    Ok(RatioInterval {
        low: 1.0 / (share + error * (t + skew)),
        // A share of nothing is no ratio: the interval stays finite, as wide as the data allow.
        high: 1.0 / (share - error * t).max(share * 1e-3),
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
    use outcrop_measure::seed::Seed;

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
        assert_eq!(
            interval(&[(100.0, 50.0)], 2),
            Err(NoInterval::FewClusters { clusters: 1 })
        );
    }

    const BYTES: f64 = 131_072.0;

    /// Clusters of which every `one_in`-th does not compress, and the rest become `share`.
    fn mostly(count: u64, one_in: u64, share: f64) -> Vec<Cluster> {
        (0..count)
            .map(|index| (BYTES, if index % one_in == 0 { BYTES } else { BYTES * share }))
            .collect()
    }

    /// Clusters as uneven as those of a directory of files: a mixture of kinds, each with its own spread.
    fn files(count: u64) -> Vec<Cluster> {
        let cluster = |index: u64| {
            let kind = [0.12, 0.25, 0.35, 0.45, 0.55, 0.9][(index * 6 / count) as usize];
            (BYTES, BYTES * kind * (0.8 + 0.05 * (index * 7 % 9) as f64))
        };
        (0..count).map(cluster).collect()
    }

    /// Of 600 draws, how many have an interval, and how many of these cover the ratio of all.
    fn coverage(all: &[Cluster], draws: u64) -> (u32, u32) {
        let ratio = all.iter().map(|cluster| cluster.0).sum::<f64>()
            / all.iter().map(|cluster| cluster.1).sum::<f64>();
        let (mut given, mut covered) = (0, 0);
        for seed in 0..600 {
            let chosen = crate::stream::distinct_below(all.len() as u64, draws, Seed(seed));
            let sample: Vec<Cluster> = chosen.into_iter().map(|index| all[index as usize]).collect();
            if let Ok(RatioInterval { low, high }) = interval(&sample, all.len() as u64) {
                given += 1;
                covered += u32::from((low..=high).contains(&ratio));
            }
        }
        (given, covered)
    }

    #[test]
    fn an_interval_covers_the_ratio_of_all_the_data_as_often_as_it_says_or_is_not_given() {
        // The audit's cases: a disk image with 1 % of random clusters, 400 clusters with 5 % of them, and files; and nearby.
        let cases = [
            ("1 % of an image", mostly(16_384, 100, 0.004), 128),
            ("2 % of an image", mostly(16_384, 50, 0.004), 128),
            ("5 % of 400", mostly(400, 20, 0.004), 32),
            ("5 % of many", mostly(4_000, 20, 0.004), 128),
            ("20 %", mostly(1_000, 5, 0.004), 32),
            ("half", mostly(1_000, 2, 0.004), 16),
            ("16 draws of files", files(625), 16),
            ("32 draws of files", files(625), 32),
            ("128 draws of files", files(625), 128),
        ];
        let mut narrow = Vec::new();
        for (name, all, draws) in cases {
            let (given, covered) = coverage(&all, draws);
            println!("{name}: {draws} draws, {given} of 600 have an interval, {covered} cover");
            if f64::from(covered) < 0.93 * f64::from(given) {
                narrow.push((name, given, covered));
            }
            assert!(given > 400 || !name.contains("files"), "{name}: {given} of 600");
        }
        assert!(narrow.is_empty(), "{narrow:?}");
    }

    #[test]
    fn clusters_that_are_all_alike_give_no_interval_but_what_they_may_have_missed() {
        let zeros = vec![(BYTES, BYTES * 0.004); 128];
        let reason = interval(&zeros, 16_384).unwrap_err();
        let NoInterval::Alike { least_ratio, .. } = reason else {
            panic!("{reason}")
        };
        // The image of the audit: 1 % of it is random.
        assert!((30.0..71.2).contains(&least_ratio), "{least_ratio}");
        assert!(
            reason
                .to_string()
                .contains("the 2.3 % that such a sample may miss"),
            "{reason}"
        );
    }

    #[test]
    fn too_few_clusters_and_a_single_one_that_differs_give_no_interval() {
        assert_eq!(
            interval(&files(625)[..2], 82),
            Err(NoInterval::FewClusters { clusters: 2 })
        );
        let mut one = vec![(BYTES, BYTES * 0.004); 128];
        one[7].1 = BYTES;
        assert_eq!(
            interval(&one, 16_384),
            Err(NoInterval::FewDiffer { clusters: 128 })
        );
    }
}
