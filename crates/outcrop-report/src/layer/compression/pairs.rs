//! Two cells of one sample: how sure it is that one compresses all the data better than the other.

use outcrop_schema::compression::{
    GROUP_BYTES, SAMPLE_GROUPS, SAMPLED_CLUSTERS, SAMPLED_SHARE, UNCOMPRESSED_BYTES,
};

use crate::cell::Cell;

/// The 97.5 % quantile of Student's t with 15 degrees of freedom: one less than there are groups.
const T_15: f64 = 2.131;
const _: () = assert!(SAMPLE_GROUPS.len() == 16, "the quantile is for 16 groups");

/// The 95 % interval of the compressed bytes of `other` over those of `one`, for all the data that their sample was drawn from; none
/// where they did not take the same clusters, or where the sample supports no interval.
///
/// Codecs agree on which data are hard: their ratios spread widely over the clusters, and their quotient little. It is a quotient of
/// two sums over random groups of clusters, with the finite population correction.
pub(super) fn quotient_of_sizes(one: &Cell<'_>, other: &Cell<'_>) -> Option<(f64, f64)> {
    if !is_same_draw(one, other) {
        return None;
    }
    interval(&groups(one)?, &groups(other)?, one.value(&SAMPLED_SHARE)?)
}

/// Whether two cells compressed the same bytes: all of the data, or the same clusters of them.
pub(super) fn have_same_bytes(one: &Cell<'_>, other: &Cell<'_>) -> bool {
    let is_whole = |cell: &Cell<'_>| cell.value(&SAMPLED_SHARE).is_none_or(|share| share >= 1.0);
    one.subject() == other.subject() && (is_whole(one) && is_whole(other) || is_same_draw(one, other))
}

/// Whether both took the same clusters. They are as long as the block size allows: of another length there is another number of
/// them, and the draw was another.
fn is_same_draw(one: &Cell<'_>, other: &Cell<'_>) -> bool {
    let of_the_draw = [SAMPLED_CLUSTERS, SAMPLED_SHARE, UNCOMPRESSED_BYTES];
    one.subject() == other.subject()
        && of_the_draw
            .iter()
            .all(|metric| one.value(metric) == other.value(metric))
}

fn groups(cell: &Cell<'_>) -> Option<Vec<f64>> {
    let value = |metric: &outcrop_measure::metric::Metric| {
        let samples = cell.view()?.metric(metric.name)?;
        samples.values.first().copied()
    };
    GROUP_BYTES.iter().map(value).collect()
}

fn interval(one: &[f64], other: &[f64], share: f64) -> Option<(f64, f64)> {
    let count = one.len() as f64;
    let (sum, other_sum) = (one.iter().sum::<f64>(), other.iter().sum::<f64>());
    let quotient = other_sum / sum;
    let squares: f64 = one
        .iter()
        .zip(other)
        .map(|(one, other)| (other - quotient * one).powi(2))
        .sum();
    let not_taken = (1.0 - share).max(0.0);
    let error = (not_taken * squares / (count - 1.0) * count).sqrt() / sum;
    let ends = (quotient - T_15 * error, quotient + T_15 * error);
    (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::interval;
    use outcrop_measure::seed::Seed;

    /// Groups of eight clusters by two codecs that find the same clusters hard; the other is worse by `worse` on average.
    fn groups(draw: u64, worse: f64) -> (Vec<f64>, Vec<f64>) {
        let mut state = Seed(7).derive_index(draw).0;
        let mut uniform = || {
            state = Seed(state).derive_index(1).0;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut group = || {
            let clusters = (0..8).map(|_| {
                let hard = 20_000.0 + 100_000.0 * uniform().powi(2);
                (hard, hard * worse * (0.95 + 0.1 * uniform()))
            });
            clusters.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        (0..16).map(|_| group()).unzip()
    }

    #[test]
    fn the_interval_of_a_pair_covers_the_quotient_as_often_as_it_says() {
        let covered = (0..2_000).filter(|draw| {
            let (one, other) = groups(*draw, 1.01);
            let (low, high) = interval(&one, &other, 0.01).unwrap();
            (low..=high).contains(&1.01)
        });
        let covered = covered.count();
        assert!((1_860..=1_940).contains(&covered), "{covered} of 2000");
    }

    #[test]
    fn what_was_taken_almost_whole_is_almost_certain() {
        let (one, other) = groups(1, 1.0);
        let width = |share: f64| {
            let (low, high) = interval(&one, &other, share).unwrap();
            high - low
        };
        assert!((width(0.99) / width(0.0) - 0.1).abs() < 1e-9);
    }
}
