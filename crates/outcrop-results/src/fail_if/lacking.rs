//! Rows that lack a figure: on which side, and whether longer trials would have it.

use std::collections::BTreeMap;

use outcrop_measure::metric::Scope;
use outcrop_schema::Vocabulary;

use super::{Direction, FailIf, FailIfReport, no_ratio, reason_of};
use crate::compare::verdict::LEAST_REPETITIONS;
use crate::compare::{Comparison, ComparisonRow, FailedCell, NotComparable, Side, SideCell, Verdict};
use crate::view::{lacks_operations, longer_by};

impl<'a> FailIfReport<'a> {
    /// The cells that a condition says nothing of although the candidate may have become much worse there.
    pub(super) fn passing_over(condition: &FailIf, comparison: &'a Comparison) -> Self {
        let rows = || {
            comparison
                .rows
                .iter()
                .filter(|row| row.metric == condition.metric)
        };
        let cells = &comparison.candidate_cells[..];
        // What failed on both sides did not become worse; a limit on the figure itself needs no baseline.
        let counts = |cell: &&FailedCell| match condition.is_relative() {
            true => cell.sides.iter().eq([&Side::Candidate]),
            false => cell.sides.contains(&Side::Candidate),
        };
        let failing = [&comparison.failed, &comparison.depleted, &comparison.cut_short]
            .map(|cells| cells.iter().filter(counts).cloned().collect());
        let has_metric =
            |layer: &str| has_metric(condition, cells, layer) || rows().any(|row| row.layer == layer);
        let is_failed = |layer: &str, factors: &BTreeMap<String, String>| {
            let mut failed = comparison.failed.iter();
            failed.any(|cell| cell.layer == layer && cell.factors == *factors)
        };
        let mut missing: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        let only_in_baseline = comparison
            .unmatched
            .iter()
            .filter(|cell| cell.side == Side::Baseline && has_metric(&cell.layer))
            .filter(|cell| !is_failed(&cell.layer, &cell.factors));
        for cell in only_in_baseline {
            let [all, judgeable] = missing.entry(&cell.layer).or_default();
            *all += 1;
            *judgeable += usize::from(cell.judgeable.contains(&condition.metric));
        }
        // Of a ratio, only the cells that the baseline could judge are missed.
        let without_trials: BTreeMap<String, usize> = match condition.is_relative() {
            false => comparison.without_trials.clone(),
            true => missing
                .iter()
                .map(|(layer, [_, judgeable])| {
                    let not_come_to = comparison.without_trials.get(*layer).copied();
                    ((*layer).to_owned(), not_come_to.unwrap_or(0).min(*judgeable))
                })
                .collect(),
        };
        let failing = Self::failing(condition, cells, failing, &without_trials);
        let of_all = missing.values().map(|[all, _]| all).sum::<usize>();
        Self {
            lost: rows().filter(|row| is_lost(row)).collect(),
            // A limit on the figure itself is checked where it is 0.
            fallen_to_zero: match condition.direction {
                Direction::Below if condition.is_relative() => {
                    rows().filter(|row| is_fallen_to_zero(row)).collect()
                }
                _ => Vec::new(),
            },
            // Each is named once.
            missing: match condition.is_relative() {
                true => of_all - failing.without_trials,
                false => of_all,
            },
            ..failing
        }
    }

    /// Of the cells that failed, of those that failures left too few trials, and of those that were cut short, the ones that the condition would be about.
    pub(super) fn failing(
        condition: &FailIf,
        cells: &[SideCell],
        [failed, depleted, cut_short]: [Vec<FailedCell>; 3],
        without_trials: &BTreeMap<String, usize>,
    ) -> Self {
        // What belongs to the data needs no number of trials.
        let is_of_trials = |failed: &FailedCell| {
            let its = cells
                .iter()
                .find(|cell| cell.layer == failed.layer && cell.factors == failed.factors);
            let samples = its.and_then(|cell| cell.metrics.get(&condition.metric));
            samples.is_some_and(|samples| samples.scope == Scope::Trial)
        };
        // Where all cells of a layer failed, none is left to tell which figures they would have.
        let of_layer = |cell: &FailedCell| {
            let has_figures = cells.iter().any(|other| other.layer == cell.layer);
            let schema = Vocabulary::default().layer(&cell.layer).filter(|_| !has_figures);
            has_metric(condition, cells, &cell.layer)
                || schema.is_some_and(|schema| schema.metric(&condition.metric).is_some())
        };
        Self {
            failed: failed.into_iter().filter(of_layer).collect(),
            depleted: depleted.into_iter().filter(is_of_trials).collect(),
            cut_short: cut_short.into_iter().filter(is_of_trials).collect(),
            without_trials: without_trials
                .iter()
                .filter(|(layer, _)| has_metric(condition, cells, layer))
                .map(|(_, count)| count)
                .sum(),
            ..Self::default()
        }
    }

    /// How many cells the condition says nothing of although the candidate may have become much worse there, and why; none where there are none. A
    /// gate that let them pass would pass the more surely, the worse they became.
    pub fn passed_over(&self) -> Option<String> {
        let failed = self.failed.first().map(|first| {
            let (cells, whose, message) = (cells(self.failed.len()), whose(first), &first.message);
            format!("{cells} failed{whose}, and cannot be checked; the first reason: {message}")
        });
        let depleted = self.depleted.first().map(|first| {
            let (cells, whose, message) = (cells(self.depleted.len()), whose(first), &first.message);
            format!(
                "trials of {cells} failed{whose}, and fewer than {LEAST_REPETITIONS} completed, which decide nothing; the first reason: {message}"
            )
        });
        let without_trials = (self.without_trials > 0).then(|| {
            let cells = cells(self.without_trials);
            format!("the run ended before it came to {cells}; resuming it, or more time where it had a budget, measures them")
        });
        let lost = self.lost.first().map(|first| {
            let (cells, reason) = (cells(self.lost.len()), reason_of(first));
            format!("in {cells} the candidate lacks this figure, which the baseline has; the first reason: {reason}")
        });
        // Those that the baseline has are named with that.
        let others = self.without_figure.len().saturating_sub(self.lost.len());
        let without = self.without_figure.first().filter(|_| others > 0).map(|reason| {
            let lack = if others == 1 { "lacks" } else { "lack" };
            format!(
                "{} {lack} this figure, and cannot be checked; the first reason: {reason}",
                cells(others)
            )
        });
        let fallen = self.fallen_to_zero.first().map(|first| {
            let (cells, reason) = (cells(self.fallen_to_zero.len()), no_ratio(first));
            format!("in {cells} it cannot be checked: {reason}")
        });
        let told = [
            failed,
            depleted,
            self.why_cut_short(),
            without_trials,
            lost,
            without,
            self.without_interval(),
            fallen,
        ];
        let told: Vec<String> = told.into_iter().flatten().collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Why a condition can be checked nowhere: in place of too few repetitions, that the run ended before it had those that its plan asks for.
    pub(super) fn why_none(&self, reason: String, is_of_few: bool) -> String {
        self.why_cut_short().filter(|_| is_of_few).unwrap_or(reason)
    }

    /// How many cells have too few trials because the run ended before, and what measures the rest.
    fn why_cut_short(&self) -> Option<String> {
        let first = self.cut_short.first()?;
        let (cells, whose, message) = (cells(self.cut_short.len()), whose(first), &first.message);
        Some(format!(
            "the run ended before {cells}{whose} had {LEAST_REPETITIONS} trials, and fewer decide nothing; of the first, {message}; \
             resuming the run, or more time where it had a budget, measures the rest"
        ))
    }

    /// How many cells have the figure without an interval, and why.
    fn without_interval(&self) -> Option<String> {
        let reason = self.without_interval.first()?;
        let cells = match self.without_interval.len() {
            1 => "1 cell has".to_owned(),
            count => format!("{count} cells have"),
        };
        Some(format!(
            "{cells} no interval of this figure, and cannot be checked; the first reason: {reason}"
        ))
    }
}

fn cells(count: usize) -> String {
    match count {
        1 => "1 cell".to_owned(),
        count => format!("{count} cells"),
    }
}

/// Whose cell it is, where there are two sides.
fn whose(cell: &FailedCell) -> &'static str {
    match cell.sides.is_empty() {
        true => "",
        false => " in the candidate",
    }
}

/// Whether a cell of the layer has the metric.
fn has_metric(condition: &FailIf, cells: &[SideCell], layer: &str) -> bool {
    let mut of_layer = cells.iter().filter(|cell| cell.layer == layer);
    of_layer.any(|cell| cell.metrics.contains_key(&condition.metric))
}

/// Why the sides of a row cannot be compared; empty where they can.
fn reasons_of(row: &ComparisonRow) -> &[NotComparable] {
    match &row.verdict {
        Verdict::NotComparable(reasons) => reasons,
        _ => &[],
    }
}

/// Whether a run of ours lacks the figure because its trials have too few operations for it.
pub(super) fn are_too_few(row: &ComparisonRow) -> bool {
    reasons_of(row).iter().any(|reason| match reason {
        NotComparable::Unavailable { side, reason } => {
            !row.imported.contains(side) && lacks_operations(reason)
        }
        _ => false,
    })
}

/// Whether the candidate alone does not have the figure, whatever the reason.
fn is_lost(row: &ComparisonRow) -> bool {
    let lacks = |wanted: Side| {
        let is_it = |reason: &NotComparable| match reason {
            NotComparable::Unavailable { side, .. } | NotComparable::MetricMissing { side, .. } => {
                *side == wanted
            }
            _ => false,
        };
        reasons_of(row).iter().any(is_it)
    };
    lacks(Side::Candidate) && !lacks(Side::Baseline)
}

/// The sides whose medians are 0, where nothing else is in the way of a ratio, and whether each trial of them is.
pub(super) fn zeros(row: &ComparisonRow) -> Vec<(Side, bool)> {
    let zero = |reason: &NotComparable| match reason {
        NotComparable::Zero { side, is_always } => Some((*side, *is_always)),
        _ => None,
    };
    let zeros: Option<Vec<(Side, bool)>> = reasons_of(row).iter().map(zero).collect();
    zeros.unwrap_or_default()
}

/// Whether the candidate's median alone is 0, and nothing else is in the way of a ratio.
pub(super) fn is_fallen_to_zero(row: &ComparisonRow) -> bool {
    matches!(zeros(row)[..], [(Side::Candidate, _)])
}

pub(super) fn with_more_operations(row: &ComparisonRow, reason: &NotComparable) -> String {
    match reason {
        NotComparable::Unavailable { side, reason: why } if !row.imported.contains(side) => {
            format!(
                "{reason}{}",
                more_operations(why, longer_by(&row.layer, &row.factors))
            )
        }
        _ => reason.to_string(),
    }
}

/// What gives a figure that trials of ours have too few operations for, as a clause; empty where that is not why it lacks, or is said.
pub(super) fn more_operations(why: &str, longer_by: &str) -> String {
    match lacks_operations(why) && !why.contains(longer_by) {
        true => format!("; longer trials have more ({longer_by})"),
        false => String::new(),
    }
}
