//! `--fail-if 'p99 > +5%'`, `--fail-if 'p99 > 1ms'`: conditions on a comparison or a run, for continuous integration.
//!
//! A row meets a condition when the whole interval of its ratio (candidate ÷ baseline of the medians) is beyond the threshold, and the row
//! still counts after correction for all the rows that the conditions look at ([`crate::compare::verdict`] has the rule). A row whose interval
//! contains the threshold is undecided: a regression of just over the threshold takes more repetitions, and equal sides fail no build.
//! One that the load of the machine may explain is not met either, and counted apart. Between two separate runs, the whole interval has to be
//! beyond the threshold and the drift that is allowed for; one that is not is counted apart too.
//!
//! A limit on the figure itself needs no baseline: it is met in a cell of the candidate, or of a run, when the whole interval of its median
//! is beyond the limit. Each cell is judged by itself, without correction for their number.

mod cells;
mod found;
mod lacking;
mod limit;
mod reading;

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::interval::Interval;
use outcrop_measure::ratio::discoveries;
use serde::Serialize;

use crate::compare::verdict::LEVEL;
use crate::compare::{
    Comparand, Comparison, ComparisonRow, FailedCell, Side, SideCell, Undecided, Verdict, enough_for, failed,
    suffices,
};
use crate::error::ResultsError;
use crate::view::{RunView, longer_by};

pub use cells::CellBeyond;
use found::Found;
use lacking::{are_too_few, is_fallen_to_zero, with_more_operations, zeros};
pub use limit::Limit;

/// Which side of the limit fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// `>`: the candidate is more than the limit.
    Above,
    /// `<`: the candidate is less than the limit.
    Below,
}

/// A condition under which a comparison or a run fails.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailIf {
    /// Full name of the metric.
    pub metric: String,
    /// Which side of the limit fails.
    pub direction: Direction,
    /// What the figure, or its ratio to the baseline's, is held against.
    pub limit: Limit,
}

/// What a condition found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FailIfReport<'a> {
    /// Rows that meet a condition on their ratio; the comparison fails when there is one.
    pub offending: Vec<&'a ComparisonRow>,
    /// Cells that meet a condition on their figure; the run fails when there is one.
    pub beyond: Vec<CellBeyond>,
    /// Rows or cells of the metric that could be checked.
    pub checked: usize,
    /// Those of them that do not meet it and of which the interval does not exclude it: more repetitions would decide.
    pub undecided: usize,
    /// About how many repetitions each of them would take, as far as that is known: of a ratio beyond the threshold by less than the drift it is not.
    pub repetitions_needed: Vec<usize>,
    /// Of them, those of samples of the data: repetitions do not decide them, and a larger sample may.
    pub undecided_by_sample: usize,
    /// Rows that meet it, or do not, perhaps only because the machine or its storage was busier on one side.
    pub under_load: usize,
    /// Rows that meet it, or do not, perhaps only because one side leaves the submission out of its latencies.
    pub by_definition: usize,
    /// Cells that a limit passes with a latency that begins where the submission ends: from its beginning, it may be beyond the limit.
    pub from_submission_end: usize,
    /// Rows whose whole interval is beyond the threshold, but by less than two separate runs may differ with nothing changed.
    pub within_drift: WithinDrift,
    /// Rows that have no ratio because of a 0, and would perhaps meet it: how many for each reason.
    pub without_ratio: BTreeMap<String, usize>,
    /// The drift that was allowed for: 0.05 for ± 5 %.
    #[serde(skip)]
    pub drift: f64,
    /// Of the undecided rows, those whose ratio is beyond the threshold by less than the drift that was allowed for: no number of repetitions
    /// decides them where it is.
    #[serde(skip)]
    pub undecided_within_drift: WithinDrift,
    /// Rows of the metric that could not: not comparable, too few repetitions, or one value.
    pub unchecked: usize,
    /// Of them, those of runs of ours that lack the figure because their trials have too few operations for it.
    pub lacking_operations: usize,
    /// The flags that make trials of ours longer, where they have too few operations for the figure; empty where none lacks it for that.
    #[serde(skip)]
    pub longer_by: BTreeSet<&'static str>,
    /// Why cells lack the figure that a limit is about, each with its reason. The slower a cell, the fewer operations it completes, which may be
    /// too few for a percentile.
    pub without_figure: Vec<String>,
    /// Why cells have the figure without an interval, each with its reason: where its true value lies is not known, however far the limit is.
    pub without_interval: Vec<String>,
    /// Rows whose candidate has no such figure and whose baseline has: a cell that became slower completes fewer operations, and may lose
    /// its percentile, or all figures, by that.
    #[serde(skip)]
    pub lost: Vec<&'a ComparisonRow>,
    /// Rows that would meet it if a fall to 0 had a ratio: the candidate's median is 0, and the baseline's is not.
    #[serde(skip)]
    pub fallen_to_zero: Vec<&'a ComparisonRow>,
    /// Cells of the baseline's run, of a layer that has the metric, which the candidate does not have: nothing is checked there. Of a condition on a
    /// ratio without those that the candidate's run did not come to.
    #[serde(skip)]
    pub missing: usize,
    /// Cells of a layer that has the metric which failed in the candidate or in the only run; of a condition on a ratio those that did not fail in the
    /// baseline too.
    #[serde(skip)]
    pub failed: Vec<FailedCell>,
    /// The same of cells that have the metric and in which failures left too few trials to judge it.
    #[serde(skip)]
    pub depleted: Vec<FailedCell>,
    /// The same of cells that have too few because the run ended, or its time was over, before.
    #[serde(skip)]
    pub cut_short: Vec<FailedCell>,
    /// Cells of a layer that has the metric to which the run did not come; of a condition on a ratio those that the baseline has enough trials of.
    #[serde(skip)]
    pub without_trials: usize,
    /// Repetitions that it would take to find a change in one row alone; none where those that there are suffice, or did.
    pub needed: Option<usize>,
}

/// Rows whose ratio is beyond a threshold by less than the drift that was allowed for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WithinDrift {
    /// All of them.
    pub rows: usize,
    /// Those that were allowed more, beside the load of others.
    pub crowded: usize,
}

impl WithinDrift {
    fn of<'r>(rows: impl IntoIterator<Item = &'r ComparisonRow>) -> Self {
        let mut counted = Self::default();
        for row in rows {
            counted.rows += 1;
            counted.crowded += usize::from(row.crowding.is_some());
        }
        counted
    }
}

impl FailIfReport<'_> {
    /// Rows or cells that meet the condition.
    pub fn met(&self) -> usize {
        self.offending.len() + self.beyond.len()
    }

    /// Undecided rows of which no number of repetitions is known to decide them.
    pub fn open(&self) -> usize {
        let known = self.repetitions_needed.len() + self.undecided_by_sample;
        self.undecided.saturating_sub(known)
    }

    /// Rows or cells that neither meet the condition nor exclude it, for whatever reason.
    pub fn all_undecided(&self) -> usize {
        let without_ratio: usize = self.without_ratio.values().sum();
        self.undecided + self.under_load + self.by_definition + self.within_drift.rows + without_ratio
    }

    /// Rows that may meet the condition or not, as their ratio is beyond the threshold by less than the drift that was allowed for.
    pub fn open_for_drift(&self) -> usize {
        self.within_drift.rows + self.undecided_within_drift.rows
    }
}

impl FailIf {
    /// Whether it is about the ratio to a baseline, and not about the figure itself.
    pub const fn is_relative(&self) -> bool {
        matches!(self.limit, Limit::Ratio(_))
    }

    /// Full names of the metrics whose ratios conditions look at: what [`crate::CompareOptions::asked`] takes.
    pub fn metrics(conditions: &[Self]) -> BTreeSet<String> {
        let relative = conditions.iter().filter(|condition| condition.is_relative());
        relative.map(|condition| condition.metric.clone()).collect()
    }

    /// Checks limits on every cell of a run: a condition that cannot be checked hides no other.
    ///
    /// # Errors
    /// For each as [`FailIf::check_each`]; [`ResultsError::NothingToCheck`] also for a condition on a ratio, as a run has no baseline.
    pub fn check_run_each(
        conditions: &[Self],
        run: &RunView,
    ) -> Vec<Result<FailIfReport<'static>, ResultsError>> {
        let cells = SideCell::all_of(Comparand::Run(run));
        let check = |condition: &Self| match condition.limit {
            Limit::Value { value, unit } => {
                let without_trials = run.cells_without_trials();
                let gaps = FailIfReport::failing(condition, &cells, failed::of_run(run), &without_trials);
                condition.check_cells((value, unit), &cells, gaps)
            }
            Limit::Ratio(_) => Err(ResultsError::NothingToCheck {
                metric: condition.metric.clone(),
                reason: "a change needs a baseline, which `outcrop compare` takes".to_owned(),
            }),
        };
        conditions.iter().map(check).collect()
    }

    /// Checks conditions on every cell of a comparison, those on ratios all together at 5 %: one that cannot be checked hides no other.
    ///
    /// # Errors
    /// For each: [`ResultsError::UnknownMetric`] with the metrics that there are; [`ResultsError::NothingToCheck`] when
    /// every row of a metric is not comparable or decides nothing. A check that checks nothing does not pass.
    pub fn check_each<'a>(
        conditions: &[Self],
        comparison: &'a Comparison,
    ) -> Vec<Result<FailIfReport<'a>, ResultsError>> {
        let relative = conditions.iter().filter(|condition| condition.is_relative());
        let is_looked_at =
            |row: &&ComparisonRow| relative.clone().any(|condition| condition.metric == row.metric);
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
            .map(|condition| match condition.limit {
                Limit::Ratio(ratio) => condition.check(ratio, comparison, limit, p_values.len()),
                Limit::Value { value, unit } => {
                    let gaps = FailIfReport::passing_over(condition, comparison);
                    condition.check_cells((value, unit), &comparison.candidate_cells, gaps)
                }
            })
            .collect()
    }

    fn check<'a>(
        &self,
        ratio: f64,
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
            return Err(self.without_row(comparison));
        };
        let checked: Vec<&ComparisonRow> = rows
            .iter()
            .copied()
            .filter(|row| {
                row.bounds().is_some() || self.is_open_without_ratio(row) || self.excludes_zeros(row)
            })
            .collect();
        let gaps = || FailIfReport::passing_over(self, comparison);
        // Rows without a ratio alone check nothing, except where the zeros of all of them exclude the condition.
        let is_excluded = |row: &&ComparisonRow| self.excludes_zeros(row);
        if checked.iter().all(|row| row.bounds().is_none()) && !rows.iter().all(is_excluded) {
            let open = checked.iter().find(|row| !is_excluded(row));
            let first = rows.iter().find(|row| !is_excluded(row)).unwrap_or(first);
            return Err(ResultsError::NothingToCheck {
                metric: self.metric.clone(),
                reason: open.map_or_else(
                    || gaps().why_none(reason_of(first), first.verdict.is_of_few()),
                    |row| no_ratio(row),
                ),
            });
        }
        let found: Vec<Found> = checked.iter().map(|row| self.found(row, ratio, limit)).collect();
        let those = |wanted: Found| -> Vec<&ComparisonRow> {
            let of_rows = checked.iter().zip(&found);
            of_rows
                .filter(|(_, found)| **found == wanted)
                .map(|(row, _)| *row)
                .collect()
        };
        let undecided = those(Found::Undecided);
        // Named with what is passed over.
        let (fallen, without_ratio): (Vec<&ComparisonRow>, Vec<_>) = those(Found::NoRatio)
            .into_iter()
            .partition(|row| is_fallen_to_zero(row));
        let is_paired = comparison.is_paired;
        let needed = |row: &&ComparisonRow| self.repetitions_needed(row, ratio, tested, is_paired);
        let is_within_drift = |row: &&&ComparisonRow| self.is_within_drift(row, ratio);
        Ok(FailIfReport {
            offending: those(Found::Met),
            beyond: Vec::new(),
            checked: checked.len() - fallen.len(),
            undecided: undecided.len(),
            repetitions_needed: undecided.iter().filter_map(needed).collect(),
            undecided_by_sample: undecided.iter().filter(|row| row.is_of_sample).count(),
            under_load: those(Found::UnderLoad).len(),
            by_definition: those(Found::ByDefinition).len(),
            within_drift: WithinDrift::of(those(Found::WithinDrift)),
            undecided_within_drift: WithinDrift::of(undecided.iter().filter(is_within_drift).copied()),
            without_ratio: counts(without_ratio.into_iter().map(no_ratio)),
            drift: comparison.drift,
            unchecked: rows.len() - checked.len(),
            lacking_operations: rows.iter().filter(|row| are_too_few(row)).count(),
            longer_by: rows
                .iter()
                .filter(|row| are_too_few(row))
                .map(|row| longer_by(&row.layer, &row.factors))
                .collect(),
            needed: for_one_of(&checked, tested, is_paired).filter(|_| !found.contains(&Found::Met)),
            ..gaps()
        })
    }

    /// Whether the row has no ratio because a trial or a median is 0, and may have changed as the condition says. A rise from 0 has no ratio,
    /// and a fall to 0 no interval.
    fn is_open_without_ratio(&self, row: &ComparisonRow) -> bool {
        let zero = match self.direction {
            Direction::Above => Side::Baseline,
            Direction::Below => Side::Candidate,
        };
        row.verdict == Verdict::Undecided(Undecided::NoRatio)
            || matches!(zeros(row)[..], [(side, _)] if side == zero)
    }

    /// Why a comparison has no row of the metric: its cells meet none, or nothing has it.
    fn without_row(&self, comparison: &Comparison) -> ResultsError {
        let mut cells = comparison.candidate_cells.iter();
        let is_measured = cells.any(|cell| cell.metrics.contains_key(&self.metric));
        match is_measured && !comparison.unmatched.is_empty() {
            true => ResultsError::NothingToCheck {
                metric: self.metric.clone(),
                reason: "no cell of the candidate that has it matches a cell of the baseline: their factors have different values"
                    .to_owned(),
            },
            false => self.unknown(comparison.rows.iter().map(|row| &row.metric)),
        }
    }
}

/// How many repetitions it takes to find a change in only one of so many tests, where the rows have fewer.
fn for_one_of(rows: &[&ComparisonRow], tested: usize, is_paired: bool) -> Option<usize> {
    let of_tests = rows.iter().filter(|row| row.p_value.is_some());
    let too_few = of_tests.filter(|row| !suffices(row, tested, is_paired));
    let least = too_few
        .filter_map(|row| row.interval.map(|interval: Interval| interval.n))
        .min()?;
    enough_for(tested, is_paired).filter(|enough| *enough > least)
}

/// Why a row has no ratio, and what can be checked instead.
fn no_ratio(row: &ComparisonRow) -> String {
    format!("{}; a limit on the figure itself needs no ratio", reason_of(row))
}

fn counts(reasons: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    reasons.fold(BTreeMap::new(), |mut counts, reason| {
        *counts.entry(reason).or_default() += 1;
        counts
    })
}

/// Why a row cannot be judged, and what helps.
fn reason_of(row: &ComparisonRow) -> String {
    match &row.verdict {
        Verdict::NotComparable(reasons) => {
            let told: Vec<String> = reasons
                .iter()
                .map(|reason| with_more_operations(row, reason))
                .collect();
            told.join("; ")
        }
        Verdict::Undecided(_) => row.why().join("; "),
        _ => "it has no interval".to_owned(),
    }
}
