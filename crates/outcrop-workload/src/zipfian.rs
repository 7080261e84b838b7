//! Popularity ranks of a Zipf distribution, exact for every skew and span, in constant memory.

use outcrop_measure::seed::Generator;
use rand::Rng;

use crate::uniform::uniform_below;

/// Draws ranks `1..=count` with probability ∝ `1/rank^theta`.
///
/// Rejection from a staircase: ranks are grouped into buckets (the first 64 alone, then 32 to each doubling),
/// a bucket is drawn in proportion to its width times the weight of its first rank, then a rank evenly
/// within it, which is kept with the ratio of its weight to the first one's. Nearly all draws fall below
/// the smallest such ratio of the bucket and need no power.
///
/// *Cost*: set-up takes about 32 powers for each doubling of the span and no sum over it, unlike Gray's method
/// (YCSB), which is approximate besides; a draw is an order of magnitude quicker than `rand_distr::Zipf`,
/// whose powers would show in the CPU time per I/O that this is for.
/// *Source*: the alias method that draws the bucket is Vose's (IEEE TSE 17(9), 1991).
#[derive(Clone, Debug)]
pub(crate) struct ZipfianRanks {
    theta: f64,
    buckets: Box<[Bucket]>,
}

/// Ranks `first_rank..first_rank + width`, and the bucket's cell of the alias table.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first_rank: u64,
    width: u64,
    /// A draw below this, as a fraction of 2⁶⁴, keeps every rank of the bucket.
    kept_below: u64,
    /// A draw below this, as a fraction of 2⁶⁴, stays in this cell; others go to `alias`.
    stays_below: u64,
    alias: u32,
}

const SINGLE_RANKS: u64 = 64;
const BUCKETS_PER_DOUBLING: u64 = 32;

impl ZipfianRanks {
    /// Ranks `1..=count`; a count of 0 is taken as 1.
    pub(crate) fn new(count: u64, theta: f64) -> Self {
        let mut buckets = Vec::new();
        let mut first_rank = 1;
        while first_rank <= count.max(1) {
            let wanted = if first_rank <= SINGLE_RANKS {
                1
            } else {
                (1 << first_rank.ilog2()) / BUCKETS_PER_DOUBLING
            };
            let width = wanted.min(count.max(1) - first_rank + 1);
            let smallest_ratio = weight_ratio(first_rank, first_rank + (width - 1), theta);
            buckets.push(Bucket {
                first_rank,
                width,
                kept_below: fraction_of_2_64(smallest_ratio),
                stays_below: u64::MAX,
                alias: 0,
            });
            let Some(next) = first_rank.checked_add(width) else {
                break;
            };
            first_rank = next;
        }
        fill_alias_table(&mut buckets, theta);
        Self {
            theta,
            buckets: buckets.into_boxed_slice(),
        }
    }

    /// The next rank, from 1 on.
    #[inline]
    pub(crate) fn next_rank(&self, draws: &mut Generator) -> u64 {
        loop {
            let scaled = u128::from(draws.next_u64()) * self.buckets.len() as u128;
            let cell = &self.buckets[(scaled >> 64) as usize];
            let stays = scaled as u64 <= cell.stays_below;
            let bucket = if stays {
                cell
            } else {
                &self.buckets[cell.alias as usize]
            };
            if bucket.width == 1 {
                return bucket.first_rank;
            }
            let rank = bucket.first_rank + uniform_below(draws.next_u64(), bucket.width);
            let draw = draws.next_u64();
            if draw < bucket.kept_below
                || draw < fraction_of_2_64(weight_ratio(bucket.first_rank, rank, self.theta))
            {
                return rank;
            }
        }
    }
}

/// The weight of `rank` over that of `first_rank`: at most 1.
fn weight_ratio(first_rank: u64, rank: u64, theta: f64) -> f64 {
    (rank as f64 / first_rank as f64).powf(-theta)
}

fn fraction_of_2_64(share: f64) -> u64 {
    // The cast saturates: a share of 1 becomes the largest number.
    (share * 2_f64.powi(64)) as u64
}

/// Gives each bucket its cell: cells are drawn evenly, and each is shared by at most two buckets.
fn fill_alias_table(buckets: &mut [Bucket], theta: f64) {
    let masses: Vec<f64> = buckets
        .iter()
        .map(|bucket| bucket.width as f64 * (bucket.first_rank as f64).powf(-theta))
        .collect();
    let mean = masses.iter().sum::<f64>() / masses.len() as f64;
    let mut shares: Vec<f64> = masses.iter().map(|mass| mass / mean).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..shares.len()).partition(|&i| shares[i] < 1.0);
    while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
        small.pop();
        buckets[poor].stays_below = fraction_of_2_64(shares[poor]);
        buckets[poor].alias = rich as u32;
        shares[rich] -= 1.0 - shares[poor];
        if shares[rich] < 1.0 {
            large.pop();
            small.push(rich);
        }
    }
    // What is left over differs from a whole cell by rounding alone, and keeps its cell.
    for left in small.into_iter().chain(large) {
        buckets[left].stays_below = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use outcrop_measure::Seed;
    use rand_distr::{Distribution, Zipf};

    use super::*;

    #[test]
    fn every_rank_has_its_analytic_probability() {
        for theta in [0.01, 0.5, 0.99, 1.0, 1.5, 4.0, 10.0] {
            let (count, draws) = (700_usize, 1_000_000);
            let ranks = ZipfianRanks::new(count as u64, theta);
            let mut generator = Seed(1).rng();
            let mut seen = vec![0_u64; count];
            for _ in 0..draws {
                seen[ranks.next_rank(&mut generator) as usize - 1] += 1;
            }
            let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-theta)).collect();
            let total: f64 = weights.iter().sum();
            for (rank, (&seen, weight)) in seen.iter().zip(weights).enumerate() {
                let probability = weight / total;
                let expected = probability * f64::from(draws);
                let deviation = (expected * (1.0 - probability)).sqrt();
                // 4900 comparisons: five deviations, and one rare draw more where next to none is expected.
                assert!(
                    (seen as f64 - expected).abs() <= 5.0 * deviation + 1.0,
                    "theta {theta}, rank {}: {seen} draws, expected {expected}",
                    rank + 1
                );
            }
        }
    }

    #[test]
    fn large_spans_agree_with_rejection_inversion() {
        for theta in [0.5, 0.99, 1.0, 1.2] {
            let (count, draws) = (1_u64 << 40, 200_000);
            let (ranks, oracle) = (
                ZipfianRanks::new(count, theta),
                Zipf::new(count as f64, theta).unwrap(),
            );
            let (mut ours, mut theirs) = (Seed(2).rng(), Seed(3).rng());
            let (mut seen, mut wanted) = ([0_i64; 41], [0_i64; 41]);
            for _ in 0..draws {
                seen[ranks.next_rank(&mut ours).ilog2() as usize] += 1;
                wanted[(oracle.sample(&mut theirs) as u64).ilog2() as usize] += 1;
            }
            for (doubling, (seen, wanted)) in seen.iter().zip(wanted).enumerate() {
                let deviation = ((seen + wanted) as f64).sqrt();
                assert!(
                    (seen - wanted).abs() as f64 <= 5.0 * deviation,
                    "theta {theta}, ranks from 2^{doubling}: {seen} draws against {wanted}"
                );
            }
        }
    }
}
