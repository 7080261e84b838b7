//! Where the level of a series falls, and whether it recovers.

use std::ops::Range;

use outcrop_measure::change_point::{self, LEAST_SHIFT, MIN_SEGMENT};
use outcrop_measure::interval::mean;

/// How far below the level before a fall a later stretch may be that is back at it, as a share of that level: half of what counts as a fall.
pub(in super::super) const BACK_WITHIN: f64 = LEAST_SHIFT / 2.0;

/// A fall of the level that a series begins with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LevelFall {
    /// Index of the first value behind it.
    pub(super) at: usize,
    /// The level that the series begins with, which it fell from.
    pub(super) first_level: f64,
    /// The mean of all values before it: after a dip or a rise, that is not the first level.
    pub(super) before: f64,
    /// The mean of all values behind it.
    pub(super) after: f64,
    /// The first stretch behind it that is back at the first level; none where the level stayed low.
    pub(super) recovered: Option<Range<usize>>,
}

impl LevelFall {
    /// `after` ÷ `before`.
    pub(super) fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// The fall of a series from its first level by more than [`LEAST_SHIFT`]; none where that does not fall so far.
///
/// It does not last where a later stretch as long as that level was, or half of what follows if that is less, is back at it. What follows the
/// last such stretch is a fall of its own, and lasts, if it is longer than any that the series recovered from: an early dip hides no cliff.
pub(super) fn of(series: &[f64]) -> Option<LevelFall> {
    let shift = change_point::level_shift(series).filter(|shift| shift.ratio() < 1.0)?;
    let (low, least) = (
        shift.before * (1.0 - LEAST_SHIFT),
        shift.before * (1.0 - BACK_WITHIN),
    );
    // The first shift may be a rise.
    let is_low = |at: &usize| {
        let segment = &series[*at..series.len().min(at + MIN_SEGMENT)];
        segment[0] < low && mean(segment) < low
    };
    let at = (shift.at..series.len()).find(is_low)?;
    let length = at.min((series.len() - at) / 2).max(MIN_SEGMENT);
    let starts = at..(series.len() + 1).saturating_sub(length);
    // From its first value that is back to its last one.
    let trimmed = |start: usize| {
        let stretch = &series[start..start + length];
        let is_back = |value: &f64| *value >= least;
        let (first, last) = (
            stretch.iter().position(is_back)?,
            stretch.iter().rposition(is_back)?,
        );
        // A single round far above it is no level.
        let is_most = stretch.iter().filter(|value| is_back(value)).count() * 2 > length;
        (is_most && mean(stretch) >= least).then_some(start + first..start + last + 1)
    };
    let back: Vec<Range<usize>> = starts.filter_map(trimmed).collect();
    let fall = |at: usize, recovered| LevelFall {
        at,
        first_level: shift.before,
        before: mean(&series[..at]),
        after: mean(&series[at..]),
        recovered,
    };
    // What follows a long dip may be below the first level, and yet above the mean of all before it.
    let lasting = |at: usize| Some(fall(at, None)).filter(|fall| fall.after < low && fall.ratio() < 1.0);
    let Some((first, last)) = back.first().zip(back.last()) else {
        return lasting(at);
    };
    let gaps = back
        .windows(2)
        .map(|pair| pair[1].start.saturating_sub(pair[0].end));
    let longest_dip = gaps.fold(first.start - at, usize::max);
    let rest = series.len() - last.end;
    let is_longer = rest > longest_dip && rest >= MIN_SEGMENT;
    is_longer
        .then(|| lasting(last.end))
        .flatten()
        .or_else(|| Some(fall(at, Some(first.clone()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series of levels, each for so many rounds, with a little noise.
    fn levels(levels: &[(f64, usize)]) -> Vec<f64> {
        let rounds = levels.iter().flat_map(|(level, count)| vec![*level; *count]);
        rounds
            .enumerate()
            .map(|(round, level)| level * [1.0, 1.02, 0.99, 1.01, 0.98][round % 5])
            .collect()
    }

    #[test]
    fn a_level_that_stays_low_has_fallen_for_good() {
        let fallen = of(&levels(&[(100.0, 10), (30.0, 20)])).unwrap();
        assert_eq!((fallen.at, fallen.recovered.clone()), (10, None));
        assert!((0.28..0.32).contains(&fallen.ratio()), "{fallen:?}");
        assert_eq!(of(&levels(&[(100.0, 30)])), None);
        assert_eq!(of(&levels(&[(30.0, 10), (100.0, 20)])), None, "a rise");
    }

    #[test]
    fn a_level_that_comes_back_has_fallen_and_recovered() {
        let dip = of(&levels(&[(100.0, 10), (30.0, 8), (100.0, 20)])).unwrap();
        assert_eq!(dip.at, 10);
        assert!(dip.recovered.is_some_and(|back| (17..20).contains(&back.start)));
        // Random writes of 15 s beside other load, in thousands of operations per second.
        let noisy = [
            39.2, 41.5, 40.3, 23.3, 22.1, 24.0, 34.1, 29.5, 25.3, 26.1, 30.6, 41.5, 39.4, 26.6, 24.4,
        ];
        let fallen = of(&noisy).unwrap();
        assert_eq!((fallen.at, fallen.recovered.clone()), (3, Some(11..13)));
        assert!((28.8..29.0).contains(&fallen.after), "{fallen:?}");
    }

    #[test]
    fn what_stays_within_a_fifth_of_the_level_before_is_no_cliff_and_a_rise_is_no_fall() {
        let settled = of(&levels(&[(100.0, 10), (50.0, 5), (100.0, 10), (85.0, 40)])).unwrap();
        assert!(settled.at == 10 && settled.recovered.is_some(), "{settled:?}");
        assert_eq!(of(&levels(&[(100.0, 10), (50.0, 5), (85.0, 40)])), None);
        let later = of(&levels(&[(100.0, 10), (130.0, 10), (30.0, 30)])).unwrap();
        assert_eq!((later.at, later.recovered), (20, None));
    }

    #[test]
    fn the_rate_before_a_fall_is_the_mean_of_all_before_it_and_not_of_the_first_level_alone() {
        let risen = of(&levels(&[(60.0, 6), (110.0, 5), (20.0, 20)])).unwrap();
        assert_eq!((risen.at, risen.recovered.clone()), (11, None));
        assert!((59.0..61.0).contains(&risen.first_level), "{risen:?}");
        assert!((82.0..84.0).contains(&risen.before), "{risen:?}");
        // Above the mean of all before it, a level is no fall for good.
        let long_dip = of(&levels(&[(100.0, 3), (10.0, 30), (100.0, 3), (50.0, 40)]));
        assert!(long_dip.is_none_or(|fall| fall.ratio() < 1.0));
    }

    #[test]
    fn an_early_dip_hides_no_cliff() {
        let cliff = of(&levels(&[(100.0, 10), (50.0, 5), (100.0, 10), (20.0, 40)])).unwrap();
        assert_eq!((cliff.at, cliff.recovered.clone()), (25, None));
        // The dip is part of what was written before it: 20 ÷ 90.
        assert!((0.215..0.23).contains(&cliff.ratio()), "{cliff:?}");
    }
}
