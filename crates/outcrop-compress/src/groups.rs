//! Random groups of a sample's clusters: two codecs that saw the same clusters are compared group by group.
//!
//! Codecs agree on which data are hard, so the spread of a ratio over the clusters hides how surely one codec beats another. Group
//! totals keep what is needed to tell, in 16 numbers for any sample.
//! *Source*: Wolter, "Introduction to Variance Estimation", 2nd ed., 2007, chapter 2 (random groups).

use outcrop_measure::seed::Seed;
use rand::seq::SliceRandom;

use crate::confidence::Cluster;

/// Groups of every sample: a t-interval of 15 degrees of freedom is 9 % wider than one of many.
pub const GROUPS: usize = 16;

/// Compressed bytes of each group.
pub type Groups = [u64; GROUPS];

/// Clusters whose compressed shares differ by less than this part are alike.
const ALIKE: f64 = 1e-3;
/// The spread must rest on at least this many clusters, as the squared sum of squares over the sum of fourth powers counts them.
const FEWEST_THAT_DIFFER: f64 = 3.0;

/// Whether the groups' sums can show how clusters differ: not where all are alike, nor where a few make up the spread, because another
/// sample may have none or more of those.
pub(crate) fn show_the_spread(clusters: &[Cluster]) -> bool {
    let (uncompressed, compressed) = clusters
        .iter()
        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let share = compressed / uncompressed;
    let shares = clusters.iter().map(|(u, c)| c / u);
    let (least, most) = shares.fold((f64::INFINITY, 0.0_f64), |(least, most), one| {
        (least.min(one), most.max(one))
    });
    let moment = |power: i32| {
        let residuals = clusters.iter().map(|(u, c)| c - share * u);
        residuals.map(|residual| residual.powi(power)).sum::<f64>()
    };
    most - least > ALIKE * share && moment(2).powi(2) / moment(4) >= FEWEST_THAT_DIFFER
}

/// The same clusters are in a group whatever became of them: the order depends on their number alone.
pub(crate) fn of(clusters: &[Cluster]) -> Groups {
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    order.shuffle(&mut Seed(0).derive("groups of clusters").rng());
    let mut groups = [0; GROUPS];
    for (place, cluster) in order.into_iter().enumerate() {
        groups[place % GROUPS] += clusters[cluster].1 as u64;
    }
    groups
}
