//! The one rule by which figures are held against a bound: a verdict, or a claim, is made only where a whole interval lies on one side of it.

use std::ops::RangeInclusive;

use super::Verdict;
use crate::number::Number;

/// Where a figure lies, by its whole interval; by its value where it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// All values that its interval allows lie in the range.
    Within,
    /// None of them does.
    Beyond,
    /// Some do and some do not: nothing is decided.
    Open,
}

impl Side {
    /// Of a number, seen from a range that includes its ends.
    pub(crate) fn of(number: &Number, range: &RangeInclusive<f64>) -> Self {
        let (low, high) = number.ends().unwrap_or((number.value, number.value));
        if range.contains(&low) && range.contains(&high) {
            Self::Within
        } else if high < *range.start() || low > *range.end() {
            Self::Beyond
        } else {
            Self::Open
        }
    }

    /// The same of a figure over trials: how well a single one repeats is not known, so that it leaves open where it lies.
    pub(crate) fn over_trials(number: &Number, range: &RangeInclusive<f64>) -> Self {
        match number.rests_on_one_trial() {
            true => Self::Open,
            false => Self::of(number, range),
        }
    }

    /// How many figures over trials surely lie beyond a range, and of how many that is open.
    pub(crate) fn count<'n>(
        numbers: impl IntoIterator<Item = &'n Number>,
        range: &RangeInclusive<f64>,
    ) -> (usize, usize) {
        let sides: Vec<Self> = numbers
            .into_iter()
            .map(|number| Self::over_trials(number, range))
            .collect();
        let of = |wanted| sides.iter().filter(|side| **side == wanted).count();
        (of(Self::Beyond), of(Self::Open))
    }
}

impl Verdict {
    /// Of a sentence that says of all figures that they lie within a range: one that lies beyond contradicts it, and without such a one, one
    /// whose interval reaches the end of the range leaves it open.
    pub(crate) fn of_sides(beyond: usize, open: usize, why_open: impl FnOnce() -> String) -> Self {
        match (beyond, open) {
            (0, 0) => Self::Holds,
            (0, _) => Self::NotTestable(super::as_sentence(&why_open())),
            _ => Self::DoesNotHold,
        }
    }
}

#[cfg(test)]
mod tests {
    use outcrop_measure::Interval;
    use outcrop_measure::metric::Unit;

    use super::*;

    fn ratio(low: f64, estimate: f64, high: f64) -> Number {
        let interval = Interval {
            estimate,
            low,
            high,
            confidence: 0.75,
            n: 3,
        };
        Number {
            interval: Some(interval),
            ..Number::derived("ratio", estimate, Unit::Ratio, 3)
        }
    }

    #[test]
    fn an_interval_that_reaches_the_end_of_a_range_decides_nothing_on_whichever_side_its_value_is() {
        let range = 0.8..=1.25;
        for (number, side) in [
            (ratio(0.82, 0.9, 1.1), Side::Within),
            (ratio(0.74, 0.797, 0.91), Side::Open),
            (ratio(0.74, 0.81, 0.91), Side::Open),
            (ratio(0.5, 1.0, 2.0), Side::Open),
            (ratio(1.3, 1.4, 3.0), Side::Beyond),
            (Number::derived("ratio", 0.797, Unit::Ratio, 1), Side::Beyond),
            (Number::derived("ratio", 0.8, Unit::Ratio, 1), Side::Within),
        ] {
            assert_eq!(Side::of(&number, &range), side, "{number:?}");
        }
        let verdict = |beyond, open| Verdict::of_sides(beyond, open, || "one is open".to_owned());
        assert_eq!(verdict(0, 0), Verdict::Holds);
        assert_eq!(verdict(0, 1), Verdict::NotTestable("One is open.".to_owned()));
        assert_eq!(verdict(1, 1), Verdict::DoesNotHold);
    }
}
