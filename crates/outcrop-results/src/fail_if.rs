//! `--fail-if 'p99 > +5%'`: a condition on a comparison, for continuous integration.
//!
//! A row meets a condition when the whole interval of its ratio (candidate ÷ baseline of the medians) is beyond the threshold, and the row
//! still counts after correction for all the rows that the conditions look at ([`crate::compare::verdict`] has the rule). A row whose interval
//! contains the threshold is undecided: a regression of just over the threshold takes more repetitions, and equal sides fail no build.
//! One that the load of the machine may explain is not met either, and counted apart.

use std::collections::BTreeSet;
use std::str::FromStr;

use outcrop_measure::interval::Interval;
use outcrop_measure::ratio::{discoveries, least_p_value, least_p_value_of_pairs};
use serde::Serialize;

use crate::compare::verdict::LEVEL;
use crate::compare::{Comparison, ComparisonRow, Undecided, Verdict};
use crate::error::ResultsError;
use outcrop_schema::metrics::full_name;

/// Which side of the threshold fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// `>`: the candidate is more than the threshold.
    Above,
    /// `<`: the candidate is less than the threshold.
    Below,
}

/// A condition under which a comparison fails.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailIf {
    /// Full name of the metric.
    pub metric: String,
    /// Which side of the threshold fails.
    pub direction: Direction,
    /// The ratio of candidate to baseline beyond which a row fails: 1.05 for `+5%`.
    pub threshold_ratio: f64,
}

/// What a condition found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailIfReport<'a> {
    /// Rows that meet the condition; the comparison fails when there is one.
    pub offending: Vec<&'a ComparisonRow>,
    /// Rows of the metric that could be checked.
    pub checked: usize,
    /// Those of them that do not meet it and of which the interval does not exclude it: more repetitions would decide.
    pub undecided: usize,
    /// Rows that would meet it, had the machine not been busier on the side that looks worse.
    pub under_load: usize,
    /// Rows of the metric that could not: not comparable, too few repetitions, or one value.
    pub unchecked: usize,
    /// Repetitions that it would take to find a change in one row alone; none where those that there are suffice.
    pub needed: Option<usize>,
}

impl FailIf {
    /// Full names of the metrics that conditions look at: what [`crate::CompareOptions::asked`] takes.
    pub fn metrics(conditions: &[Self]) -> BTreeSet<String> {
        conditions
            .iter()
            .map(|condition| condition.metric.clone())
            .collect()
    }

    /// Checks conditions on every cell of a comparison, all of them together at 5 %.
    ///
    /// # Errors
    /// [`ResultsError::UnknownMetric`] with the metrics that there are; [`ResultsError::NothingToCheck`] when
    /// every row of a metric is not comparable or decides nothing. A check that checks nothing does not pass.
    pub fn check_all<'a>(
        conditions: &[Self],
        comparison: &'a Comparison,
    ) -> Result<Vec<FailIfReport<'a>>, ResultsError> {
        let is_looked_at =
            |row: &&ComparisonRow| conditions.iter().any(|condition| condition.metric == row.metric);
        let p_values: Vec<f64> = comparison
            .rows
            .iter()
            .filter(is_looked_at)
            .filter_map(|row| row.p_value)
            .collect();
        let found = discoveries(&p_values, LEVEL);
        let counted = p_values.iter().zip(&found).filter(|(_, is_found)| **is_found);
        let limit = counted.fold(f64::NEG_INFINITY, |limit, (p, _)| limit.max(*p));
        conditions
            .iter()
            .map(|condition| condition.check(comparison, limit, p_values.len()))
            .collect()
    }

    fn check<'a>(
        &self,
        comparison: &'a Comparison,
        limit: f64,
        tested: usize,
    ) -> Result<FailIfReport<'a>, ResultsError> {
        let rows: Vec<&ComparisonRow> = comparison
            .rows
            .iter()
            .filter(|row| row.metric == self.metric)
            .collect();
        let Some(first) = rows.first() else {
            let mut available: Vec<String> = comparison.rows.iter().map(|row| row.metric.clone()).collect();
            available.sort_unstable();
            available.dedup();
            return Err(ResultsError::UnknownMetric {
                metric: self.metric.clone(),
                available,
            });
        };
        let checked: Vec<&ComparisonRow> = rows
            .iter()
            .copied()
            .filter(|row| row.bounds().is_some())
            .collect();
        if checked.is_empty() {
            return Err(ResultsError::NothingToCheck {
                metric: self.metric.clone(),
                reason: reason_of(first),
            });
        }
        let (met, passed): (Vec<_>, Vec<_>) = checked
            .iter()
            .copied()
            .partition(|row| self.is_met_by(row, limit));
        let (under_load, offending): (Vec<_>, Vec<_>) = met
            .into_iter()
            .partition(|row| row.verdict == Verdict::Undecided(Undecided::Load));
        let is_undecided = |row: &&&ComparisonRow| self.is_possible_by(row);
        let of_tests = checked.iter().filter(|row| row.p_value.is_some());
        let repetitions = of_tests
            .filter_map(|row| row.interval.map(|interval: Interval| interval.n))
            .min();
        Ok(FailIfReport {
            offending,
            checked: checked.len(),
            undecided: passed.iter().filter(is_undecided).count(),
            under_load: under_load.len(),
            unchecked: rows.len() - checked.len(),
            needed: repetitions.and_then(|n| needed(n, tested, comparison.is_paired)),
        })
    }

    fn is_met_by(&self, row: &ComparisonRow, limit: f64) -> bool {
        let Some((low, high)) = row.bounds() else {
            return false;
        };
        let is_found = row.p_value.is_none_or(|p| p <= limit);
        is_found
            && match self.direction {
                Direction::Above => low > self.threshold_ratio,
                Direction::Below => high < self.threshold_ratio,
            }
    }

    /// Whether some of the interval is beyond the threshold.
    fn is_possible_by(&self, row: &ComparisonRow) -> bool {
        row.bounds().is_some_and(|(low, high)| match self.direction {
            Direction::Above => high > self.threshold_ratio,
            Direction::Below => low < self.threshold_ratio,
        })
    }
}

/// Repetitions with which a change in one of `tested` rows can be found, where `repetitions` cannot.
fn needed(repetitions: usize, tested: usize, is_paired: bool) -> Option<usize> {
    let least = |n: usize| {
        if is_paired {
            least_p_value_of_pairs(n)
        } else {
            least_p_value(n, n)
        }
    };
    let enough = (2..50).find(|n| least(*n) * tested as f64 <= LEVEL)?;
    (enough > repetitions).then_some(enough)
}

fn reason_of(row: &ComparisonRow) -> String {
    match &row.verdict {
        Verdict::NotComparable(reasons) => reasons
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; "),
        Verdict::Undecided(reason) => reason.to_string(),
        _ => "it has no interval".to_owned(),
    }
}

impl FromStr for FailIf {
    type Err = ResultsError;

    /// Reads `METRIC > +5%`, `METRIC < -3%`, `METRIC > 1.05x`.
    fn from_str(text: &str) -> Result<Self, ResultsError> {
        let bad = |reason: String| ResultsError::BadCondition {
            condition: text.to_owned(),
            reason,
        };
        let Some(at) = text.find(['<', '>']) else {
            return Err(bad(
                "it has no `>` or `<`; expected a condition such as `p99 > +5%` or `iops < -3%`".to_owned(),
            ));
        };
        let (name, rest) = text.split_at(at);
        let direction = if rest.starts_with('>') {
            Direction::Above
        } else {
            Direction::Below
        };
        let name = name.trim();
        if name.is_empty()
            || !name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
        {
            return Err(bad(format!(
                "{name:?} is not a metric name; `outcrop results export` lists those of a run"
            )));
        }
        let threshold_ratio = threshold(rest[1..].trim()).map_err(bad)?;
        let is_reachable = match direction {
            Direction::Above => threshold_ratio >= 1.0,
            Direction::Below => threshold_ratio <= 1.0,
        };
        if !is_reachable {
            let (than, turned) = if direction == Direction::Above {
                ("below", '<')
            } else {
                ("above", '>')
            };
            let change = (threshold_ratio - 1.0) * 100.0;
            return Err(bad(format!(
                "the threshold {change:+.3}% is {than} no change, so an unchanged candidate would meet it; \
                 did you mean `{turned}`?"
            )));
        }
        Ok(Self {
            metric: full_name(name),
            direction,
            threshold_ratio,
        })
    }
}

/// The ratio of `+5%`, `-3%` or `1.05x`.
fn threshold(text: &str) -> Result<f64, String> {
    let expected = "expected a change as `+5%` or `-3%`, or a ratio as `1.05x`";
    let number = |digits: &str| {
        let value = digits
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite());
        value.ok_or_else(|| format!("{text:?} is not a threshold; {expected}"))
    };
    let ratio = if let Some(percent) = text.strip_suffix('%') {
        let change = number(percent)?;
        if !percent.starts_with(['+', '-']) {
            return Err(format!(
                "{text:?} has no sign; write `+{text}` for an increase or `-{text}` for a decrease"
            ));
        }
        1.0 + change / 100.0
    } else if let Some(factor) = text.strip_suffix('x') {
        number(factor)?
    } else {
        return Err(format!(
            "{text:?} is not a change relative to the baseline, and no other limits are understood; {expected}, for example \
             --fail-if 'p99 > +5%'"
        ));
    };
    if ratio > 0.0 {
        Ok(ratio)
    } else {
        Err(format!("{text:?} leaves nothing; {expected}"))
    }
}
