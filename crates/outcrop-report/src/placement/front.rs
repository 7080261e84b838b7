//! Which candidates no other one beats: in throughput and space, and with CPU time and energy counted too.

use super::candidate::Candidate;
use crate::chart::unbeaten;

/// Marks both fronts of candidates that were measured. CPU time and energy count where every candidate has them.
pub(super) fn mark(candidates: &mut [Candidate]) {
    let [gains, all] = [gains, gains_and_costs].map(|figures: fn(&Candidate) -> Vec<Option<f64>>| {
        let rows: Vec<Vec<Option<f64>>> = candidates.iter().map(figures).collect();
        front(&rows)
    });
    for ((candidate, on_front), with_costs) in candidates.iter_mut().zip(gains).zip(all) {
        candidate.on_front = on_front;
        candidate.on_front_with_costs = with_costs;
    }
}

/// Throughput and ratio; more is better.
fn gains(candidate: &Candidate) -> Vec<Option<f64>> {
    let ratio = candidate.ratio.as_ref().map(|number| number.value);
    vec![Some(candidate.throughput.value), ratio]
}

/// The same and what an operation costs in CPU time and energy, negated.
fn gains_and_costs(candidate: &Candidate) -> Vec<Option<f64>> {
    let costs = [&candidate.cpu, &candidate.energy];
    let costs = costs.map(|cost| cost.as_ref().map(|number| -number.value));
    gains(candidate).into_iter().chain(costs).collect()
}

/// Which rows no other row beats. A figure that a row lacks compares nothing.
fn front(rows: &[Vec<Option<f64>>]) -> Vec<bool> {
    let is_known = |column: &usize| {
        let figures = rows.iter().map(|row| row.get(*column).copied().flatten());
        figures
            .into_iter()
            .all(|figure| figure.is_some_and(f64::is_finite))
    };
    let columns: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).filter(is_known).collect();
    let known = rows
        .iter()
        .map(|row| columns.iter().filter_map(|&column| row[column]).collect());
    unbeaten(&known.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::front;

    #[test]
    fn a_row_that_costs_less_is_on_the_front_though_it_gives_less() {
        let rows = [
            vec![Some(9.0), Some(2.0), Some(-5.0)],
            vec![Some(8.0), Some(1.0), Some(-4.0)],
            vec![Some(8.0), Some(1.0), Some(-6.0)],
        ];
        assert_eq!(front(&rows), [true, true, false]);
    }

    #[test]
    fn a_figure_that_one_row_lacks_decides_nothing() {
        let rows = [
            vec![Some(9.0), Some(2.0), Some(-5.0)],
            vec![Some(8.0), Some(1.0), None],
        ];
        assert_eq!(front(&rows), [true, false]);
    }
}
