//! Which plain contender all savings are against.

use super::{Contender, Rules};

/// The plain ones, by index.
pub(super) fn plain(contenders: &[Contender]) -> impl Iterator<Item = usize> {
    let plain = contenders.iter().enumerate().filter(|(_, one)| one.is_plain);
    plain.map(|(index, _)| index)
}

/// The plain contender that savings are against, by medians, of some that may be; of all where none is known to be.
pub(super) fn base(contenders: &[Contender], rules: &Rules, bases: &[usize]) -> Option<usize> {
    let keeps = |one: &Contender| {
        let mut limits = one.limited.iter().zip(&rules.limits);
        limits.all(|(values, most)| median_of(values, usize::MAX).is_some_and(|value| value <= *most))
    };
    let among: Vec<usize> = match bases {
        [] => plain(contenders).collect(),
        known => known.to_vec(),
    };
    // What drifts from round to round is the same in the rounds that all of them have.
    let value = |index: usize, round: usize| contenders[index].throughput.get(round).copied().flatten();
    let is_shared = |round: &usize| {
        among
            .iter()
            .all(|index| value(*index, *round).is_some_and(|value| value > 0.0))
    };
    let rounds = contenders
        .iter()
        .map(|one| one.throughput.len())
        .max()
        .unwrap_or(0);
    let shared: Vec<usize> = (0..rounds).filter(is_shared).collect();
    let known = among.iter().filter_map(|&index| {
        median_of(&contenders[index].stored, usize::MAX)?;
        let throughput = match shared.as_slice() {
            [] => median_of(&contenders[index].throughput, usize::MAX),
            shared => median(shared.iter().filter_map(|round| value(index, *round)).collect()),
        };
        Some((keeps(&contenders[index]), throughput.unwrap_or(0.0), index))
    });
    // The first among equals.
    let best = known.reduce(|best, next| match (next.0, next.1) > (best.0, best.1) {
        true => next,
        false => best,
    });
    best.map(|(.., index)| index)
}

/// The median of what some rounds gave; what is not above 0 was not measured.
pub(super) fn median_of(by_round: &[Option<f64>], rounds: usize) -> Option<f64> {
    let known = by_round.iter().take(rounds).flatten().copied();
    median(known.filter(|value| *value > 0.0).collect())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}
