//! What a row says about the candidate: the rule, and the correction for the number of rows.
//!
//! 1. Fewer than [`LEAST_REPETITIONS`] repetitions on a side, or [`LEAST_PAIRS`] pairs, decide nothing. Neither does a value that a run has once, nor a figure
//!    of one sample of the data beside that of another sample without intervals of their own.
//! 2. A ratio whose interval lies within the margin (± 5 % by default) is *the same*.
//! 3. A ratio whose interval excludes 1 is *better* or *worse* if it also counts after correction for the number of rows
//!    (Benjamini and Hochberg at [`LEVEL`]): of two equal sides, at most one comparison in twenty finds any in a family of rows.
//!    What the machine does differently between two separate runs is in no interval: there the whole interval of a time or a rate has to be
//!    farther from 1 than the drift that is allowed for (± 5 % by default, and more beside others that use a tenth of the CPUs), or the row is [`Undecided::Drift`].
//!    Not so where the machine, or the block device, had more to do for others on the side that looks worse, or the same: [`Undecided::Load`].
//!    Nor where the side that looks better, or the same, leaves the submission out of its latencies: [`Undecided::Definition`].
//! 4. All others are undecided.
//!
//! The metrics of `--fail-if` are a family, headline metrics are one and all others another, so that a hundred secondary rows do not drown the few
//! that a layer is known by. Over all families, chance finds a row more often: in at most one of ten comparisons without conditions (two
//! families), and in 15 of a hundred with some (three). A gate looks at one family. A row that repeats another is not counted. A ratio of
//! properties of the same data is exact: nothing is left to chance, and the ratio itself decides.

use std::collections::BTreeSet;

use outcrop_measure::metric::Better;
use outcrop_measure::ratio::discoveries;
use serde::Serialize;

use super::{ComparisonRow, NotComparable, definitions, load, remedy};

/// Below this many repetitions a side, nothing is decided.
pub const LEAST_REPETITIONS: usize = 5;
/// Below this many pairs, nothing is decided.
pub const LEAST_PAIRS: usize = 6;
/// Below this many repetitions beside a single published value, nothing is decided: five signs on one side are no rarer than one in sixteen.
pub const LEAST_BESIDE_A_CONSTANT: usize = 6;
/// Share of comparisons of two equal sides that find any difference in a family of rows, at most.
pub const LEVEL: f64 = 0.05;
/// What counts as the same unless somebody asks for another margin: ± 5 %.
pub const DEFAULT_MARGIN: f64 = 0.05;
/// What two separate runs may differ by with nothing changed, unless somebody knows better: ± 5 %.
pub const DEFAULT_DRIFT: f64 = 0.05;
/// Exact ratios nearer to 1 than this print as 1.
const EXACTLY_ONE: f64 = 0.000_5;

/// What a row says about the candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is on the good side of 1, and chance does not explain it.
    Better,
    /// The whole interval is on the bad side of 1, and chance does not explain it.
    Worse,
    /// The whole interval lies within the margin.
    Same,
    /// The interval excludes 1, chance does not explain it, and neither direction is an improvement as such.
    Different,
    /// The ratio is not known well enough, for this reason.
    Undecided(Undecided),
    /// A ratio would mean nothing, for these reasons.
    NotComparable(Vec<NotComparable>),
}

/// Why a ratio decides nothing. What would decide it, [`Undecided::with_remedy`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Undecided {
    /// A side has too few repetitions.
    #[error("fewer than {LEAST_REPETITIONS} repetitions on a side")]
    FewRepetitions,
    /// There are too few pairs of trials: of fewer, no pattern is rarer than one in twenty.
    #[error("fewer than {LEAST_PAIRS} pairs")]
    FewPairs,
    /// A single published value has no repetitions of its own.
    #[error("fewer than {LEAST_BESIDE_A_CONSTANT} repetitions to compare with a single published value")]
    FewBesidePublished,
    /// Both sides have a single published value.
    #[error("each side has a single published value, and no repetitions")]
    BothPublished,
    /// A run has one such value, however often it repeats its trials.
    #[error("there is one value per run, so repetitions give no interval")]
    OncePerRun,
    /// The two sides sampled the data differently, and nothing says how much that matters.
    #[error(
        "one value per sample of the data, and the two samples differ; measure both with the same --seed"
    )]
    OtherSample,
    /// The values do not allow a test: a repetition was zero or negative.
    #[error("a trial has the value 0, and no ratio to 0 is defined")]
    NoRatio,
    /// The interval contains 1 and reaches beyond the margin.
    #[error("the interval contains 1 and reaches beyond the margin")]
    Wide,
    /// The interval excludes 1, but among this many rows some do so by chance.
    #[error("the interval excludes 1, but among this many rows some do so by chance")]
    Chance,
    /// The interval excludes 1, and is no farther from it than two separate runs may be with nothing changed.
    #[error(
        "two separate runs may differ by this much even if nothing changed; where a factor differs, `outcrop ab` measures both variants in one run"
    )]
    Drift,
    /// Whatever the interval is, the machine or the block device was busier on the side that looks worse, or the same.
    #[error(
        "the machine or its storage was busier on the side that looks worse, or the same, which may be the difference or hide one; measure both again on an idle machine, or, where a factor differs, in one run with `outcrop ab`"
    )]
    Load,
    /// The interval excludes 1 or lies within the margin, and the latency of the side that looks better, or the same, is lower by definition.
    #[error(
        "the latency of one side is lower by definition, by the time of the submission, which may be the difference or hide one; fio's percentiles begin before it with --lat_percentiles=1"
    )]
    Definition,
}

impl Verdict {
    /// Whether it is undecided for want of repetitions.
    pub const fn is_of_few(&self) -> bool {
        matches!(
            self,
            Self::Undecided(Undecided::FewRepetitions | Undecided::FewPairs | Undecided::FewBesidePublished)
        )
    }
}

impl Undecided {
    /// Whether there was a test, and it did not decide.
    pub const fn is_of_test(self) -> bool {
        matches!(
            self,
            Self::Wide | Self::Chance | Self::Drift | Self::Load | Self::Definition
        )
    }
}

/// Rows that are corrected for their number together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Metrics of the conditions.
    Asked,
    /// Headline metrics of the layers.
    Headline,
    /// All others.
    Other,
}

/// Allows times and rates that repetitions of two separate runs test to differ by this much. What belongs to the data, to an algorithm or to the
/// space that it takes does not drift with the machine.
pub(super) fn allow_for_drift(rows: &mut [ComparisonRow], drift: f64) {
    for row in rows.iter_mut() {
        // Whoever allows for none has none.
        let drifts = drift > 0.0 && row.p_value.is_some() && !row.is_of_sample && load::is_of_time(row);
        let beside_load = row.crowding.map(|crowding| load::drift_beside(row, crowding));
        let widened = beside_load.filter(|beside_load| drifts && *beside_load > drift);
        row.crowding = row.crowding.filter(|_| widened.is_some());
        row.drift = if drifts { widened.unwrap_or(drift) } else { 0.0 };
    }
}

/// Gives every tested row its verdict; the others have theirs already.
pub(super) fn judge(rows: &mut [ComparisonRow], margin: f64, asked: &BTreeSet<String>, is_paired: bool) {
    let family_of = |row: &ComparisonRow| match () {
        () if asked.contains(&row.metric) => Family::Asked,
        () if row.is_headline => Family::Headline,
        () => Family::Other,
    };
    for family in [Family::Asked, Family::Headline, Family::Other] {
        let is_in_family = |row: &ComparisonRow| family_of(row) == family && row.p_value.is_some();
        // What somebody asks for counts, whichever other row repeats it.
        let is_counted = |row: &ComparisonRow| family == Family::Asked || !row.is_repeated;
        let tested: Vec<usize> = (0..rows.len())
            .filter(|index| is_in_family(&rows[*index]) && is_counted(&rows[*index]))
            .collect();
        let p_values: Vec<f64> = tested.iter().filter_map(|index| rows[*index].p_value).collect();
        let found = discoveries(&p_values, LEVEL);
        // A row that repeats another is judged with it: by the least p-value that counted.
        let counted = tested.iter().zip(&found).filter(|(_, is_found)| **is_found);
        let limit = counted
            .filter_map(|(index, _)| rows[*index].p_value)
            .fold(f64::NEG_INFINITY, f64::max);
        for row in rows.iter_mut().filter(|row| is_in_family(row)) {
            let is_found = row.p_value.is_some_and(|p| p <= limit);
            let verdict = definitions::unless_explained(row, of_test(row, margin, is_found));
            row.verdict = load::unless_explained(row, verdict);
            row.repetitions_needed = remedy::needed(row, margin, tested.len(), is_paired);
        }
    }
}

fn of_test(row: &ComparisonRow, margin: f64, is_found: bool) -> Verdict {
    let Some(interval) = row.interval else {
        return Verdict::Undecided(Undecided::NoRatio);
    };
    if interval.low >= 1.0 / (1.0 + margin) && interval.high <= 1.0 + margin {
        Verdict::Same
    } else if interval.contains(1.0) {
        Verdict::Undecided(Undecided::Wide)
    } else if !is_found {
        Verdict::Undecided(Undecided::Chance)
    } else if interval.high >= 1.0 / (1.0 + row.drift) && interval.low <= 1.0 + row.drift {
        Verdict::Undecided(Undecided::Drift)
    } else {
        beyond(row, interval.low > 1.0)
    }
}

/// The verdict of a ratio that nothing is left to chance in.
pub(super) fn of_exact(row: &ComparisonRow, ratio: f64) -> Verdict {
    if (ratio - 1.0).abs() < EXACTLY_ONE {
        Verdict::Same
    } else {
        beyond(row, ratio > 1.0)
    }
}

fn beyond(row: &ComparisonRow, is_above: bool) -> Verdict {
    match row.better {
        None => Verdict::Different,
        Some(better) if (better == Better::Higher) == is_above => Verdict::Better,
        Some(_) => Verdict::Worse,
    }
}
