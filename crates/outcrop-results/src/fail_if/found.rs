//! What a row says to a condition on its ratio.

use super::lacking::zeros;
use super::{Direction, FailIf};
use crate::compare::{ComparisonRow, Side, load};
use crate::compare::{enough, enough_for, suffices, to_be_beyond, with_drift};

/// What a row says to a condition on its ratio.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It meets it.
    Met,
    /// It meets it or does not, perhaps only because the machine or its storage was busier on one side.
    UnderLoad,
    /// It meets it or does not, perhaps only because one side leaves the submission out.
    ByDefinition,
    /// Its whole interval is beyond the threshold, but by less than two separate runs may differ with nothing changed.
    WithinDrift,
    /// Its interval does not exclude it.
    Undecided,
    /// A trial or a median is 0: there is no ratio to hold against it.
    NoRatio,
    /// It does not meet it.
    NotMet,
}

impl FailIf {
    /// What a row says; `limit` is the largest p-value that counts.
    pub(super) fn found(&self, row: &ComparisonRow, ratio: f64, limit: f64) -> Found {
        let Some((low, high)) = row.bounds() else {
            return if self.excludes_zeros(row) {
                Found::NotMet
            } else {
                Found::NoRatio
            };
        };
        let is_above = self.is_above();
        // A latency that is lower by definition may be beyond the threshold all the same.
        let side_that_hides = if is_above { Side::Candidate } else { Side::Baseline };
        // The end that is nearer to no change, and the other one.
        let (near, far) = if is_above { (low, high) } else { (high, low) };
        let is_beyond = |value: f64, threshold: f64| self.is_beyond(value, threshold);
        let allowed = with_drift(ratio, row.drift, is_above);
        let is_found = row.p_value.is_none_or(|p| p <= limit);
        let is_lower = |side: Side| row.lower_by_definition == Some(side);
        if is_found && is_beyond(near, allowed) {
            match () {
                () if load::may_explain(row, is_above) => Found::UnderLoad,
                () if is_lower(side_that_hides.other()) => Found::ByDefinition,
                () => Found::Met,
            }
        } else if is_found && is_beyond(near, ratio) && self.is_within_drift(row, ratio) {
            Found::WithinDrift
        } else if is_beyond(far, ratio) {
            // More repetitions cannot take away what else may be the cause, of the change or of its absence.
            let leads_to_met = row.ratio.is_some_and(|found| is_beyond(found, ratio));
            match () {
                () if load::may_explain(row, is_above) => Found::UnderLoad,
                () if !leads_to_met && load::may_explain(row, !is_above) => Found::UnderLoad,
                () if row.lower_by_definition.is_some() => Found::ByDefinition,
                () => Found::Undecided,
            }
        } else if is_lower(side_that_hides) {
            Found::ByDefinition
        } else if load::may_explain(row, !is_above) {
            // A side that was busier may hide a change against its favour.
            Found::UnderLoad
        } else {
            Found::NotMet
        }
    }

    /// About how many repetitions bring all of a row's interval to one side of a ratio.
    pub(super) fn repetitions_needed(
        &self,
        row: &ComparisonRow,
        ratio: f64,
        tests: usize,
        is_paired: bool,
    ) -> Option<usize> {
        let interval = row.interval.filter(|_| !row.is_of_sample)?;
        let is_above = self.is_above();
        let estimate = to_be_beyond(&interval, (ratio, row.drift), is_above, tests)?;
        let least = enough_for(tests, is_paired).filter(|_| !suffices(row, tests, is_paired));
        Some(enough(estimate, interval.n, least))
    }

    /// Whether the ratio of a row is beyond the threshold, but by less than the drift that is allowed for.
    pub(super) fn is_within_drift(&self, row: &ComparisonRow, ratio: f64) -> bool {
        let allowed = with_drift(ratio, row.drift, self.is_above());
        row.ratio
            .is_some_and(|found| self.is_beyond(found, ratio) && !self.is_beyond(found, allowed))
    }

    /// Whether a row has no ratio because each trial of a side is 0, and cannot have changed as the condition says: both sides are 0, or what
    /// is 0 would have had to fall, or what fell to 0 would have had to rise.
    pub(super) fn excludes_zeros(&self, row: &ComparisonRow) -> bool {
        match zeros(row)[..] {
            [(Side::Baseline, true), (Side::Candidate, true)] => true,
            [(Side::Baseline, true)] => self.direction == Direction::Below,
            [(Side::Candidate, true)] => self.direction == Direction::Above,
            _ => false,
        }
    }

    fn is_above(&self) -> bool {
        self.direction == Direction::Above
    }

    fn is_beyond(&self, value: f64, threshold: f64) -> bool {
        match self.direction {
            Direction::Above => value > threshold,
            Direction::Below => value < threshold,
        }
    }
}
