//! Which others the trials do not distinguish from the best: said beside every superlative, by this one rule in every layer.
//!
//! A tie is an overlap of two intervals, a figure of one trial within the interval of another, or two equal figures without one. What has no
//! figure is no opponent, and that is said as well: the best of one is not the best of many. So is that the best rests on one trial where
//! others rest on several.

use outcrop_measure::metric::Metric;

use crate::cell::Cell;
use crate::number::{Number, ONE_TRIAL, counted};

/// What follows where the best of some cells was reached: `; ties with 2 others; 1 of 4 cells has no such figure`.
pub(crate) fn beside(cells: &[&Cell<'_>], best: &Cell<'_>, metric: &Metric) -> String {
    let Some(number) = best.number(metric) else {
        return String::new();
    };
    let others = cells.iter().filter(|cell| !std::ptr::eq(**cell, best));
    among(number, others.map(|cell| cell.number(metric)))
}

/// The same of numbers: the best, and those of the others, as far as they have one.
pub(crate) fn among<'n>(best: &Number, others: impl IntoIterator<Item = Option<&'n Number>>) -> String {
    let others: Vec<Option<&Number>> = others.into_iter().collect();
    let is_any_repeated = others.iter().flatten().any(|other| other.interval.is_some());
    let once = match best.rests_on_one_trial() && is_any_repeated {
        true => format!("; {ONE_TRIAL}"),
        false => String::new(),
    };
    let ties = match others
        .iter()
        .flatten()
        .filter(|other| are_tied(best, other))
        .count()
    {
        0 => String::new(),
        count => format!("; ties with {}", counted(count, "other")),
    };
    let cells = counted(others.len() + 1, "cell");
    let unknown = match others.iter().filter(|other| other.is_none()).count() {
        0 => String::new(),
        count if count == others.len() => format!("; the only one of {cells} with such a figure"),
        1 => format!("; 1 of {cells} has no such figure"),
        count => format!("; {count} of {cells} have no such figure"),
    };
    once + &ties + &unknown
}

/// Whether the trials do not distinguish two numbers.
pub(crate) fn are_tied(one: &Number, other: &Number) -> bool {
    let is_within = |one: &Number, other: &Number| {
        let interval = other.interval.filter(|_| one.rests_on_one_trial());
        interval.is_some_and(|interval| interval.contains(one.value))
    };
    // Sizes are the same in every trial, so that many have no interval: of these, equal ones tie.
    let has_none = |number: &Number| number.interval.is_none() && !number.rests_on_one_trial();
    let are_equal = has_none(one) && has_none(other) && one.value.total_cmp(&other.value).is_eq();
    are_equal || one.overlaps(other) || is_within(one, other) || is_within(other, one)
}

#[cfg(test)]
mod tests {
    use outcrop_measure::Interval;
    use outcrop_measure::metric::{Provenance, Unit};

    use super::*;

    fn number(low: f64, estimate: f64, high: f64) -> Number {
        Number {
            interval: Some(Interval {
                estimate,
                low,
                high,
                confidence: 0.75,
                n: 3,
            }),
            ..Number::derived("IOPS", estimate, Unit::PerSecond, 3)
        }
    }

    #[test]
    fn a_superlative_says_with_how_many_it_ties_and_how_many_have_no_figure() {
        let (best, near, far) = (
            number(90.0, 100.0, 110.0),
            number(80.0, 95.0, 99.0),
            number(1.0, 2.0, 3.0),
        );
        let said = |others: &[Option<&Number>]| among(&best, others.iter().copied());
        assert_eq!(said(&[]), "");
        assert_eq!(said(&[Some(&far)]), "");
        assert_eq!(said(&[Some(&near), Some(&far)]), "; ties with 1 other");
        assert_eq!(
            said(&[Some(&near), Some(&near), None]),
            "; ties with 2 others; 1 of 4 cells has no such figure"
        );
        assert_eq!(
            said(&[Some(&far), None, None]),
            "; 2 of 4 cells have no such figure"
        );
    }

    #[test]
    fn the_best_of_one_trial_says_so_and_ties_with_what_may_be_as_good() {
        let once = Number {
            interval: None,
            provenance: Provenance::Measured,
            ..Number::derived("throughput", 65.4, Unit::PerSecond, 1)
        };
        let (wide, far) = (number(30.0, 54.2, 66.3), number(1.0, 2.0, 3.0));
        assert_eq!(
            among(&once, [Some(&wide), Some(&far)]),
            "; one trial: its repeatability is unknown; ties with 1 other"
        );
        assert_eq!(among(&wide, [Some(&once), Some(&far)]), "; ties with 1 other");
        // Of a run of single trials that is said once for all.
        assert_eq!(among(&once, [Some(&once)]), "");
    }

    #[test]
    fn what_won_without_an_opponent_says_so() {
        let best = number(90.0, 100.0, 110.0);
        assert_eq!(
            among(&best, [None]),
            "; the only one of 2 cells with such a figure"
        );
        assert_eq!(
            among(&best, [None, None]),
            "; the only one of 3 cells with such a figure"
        );
    }

    #[test]
    fn equal_sizes_of_one_trial_tie_and_others_do_not() {
        let size = |value: f64| Number {
            provenance: Provenance::Measured,
            ..Number::derived("data ÷ space", value, Unit::Ratio, 1)
        };
        let (best, same, less) = (size(4.5), size(4.5), size(4.4));
        assert_eq!(among(&best, [Some(&same), Some(&less)]), "; ties with 1 other");
        assert_eq!(among(&best, [Some(&less)]), "");
    }
}
