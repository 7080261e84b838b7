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
