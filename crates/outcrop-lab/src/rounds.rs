//! Rounds that end when they are steady: which trials of a run are left out once five rounds in a row met the rule of the SNIA PTS.
//!
//! A round is a repetition of all cells of a plan. What is judged are the trials in the journal, each by its number, so that a resumed
//! run decides as one that was never interrupted.

use std::collections::BTreeMap;

use outcrop_measure::steady_state::{WINDOW_ROUNDS, steady_state};
use outcrop_results::{RunFolder, TrialEntry};

use crate::error::LabError;
use crate::order::Trial;
use crate::plan::PlanSet;

/// The plans whose rounds may end early, and the trials that are left of them.
pub(crate) struct Rounds {
    plans: Vec<PlanRounds>,
    pending: Vec<Trial>,
}

/// The rounds of one plan.
struct PlanRounds {
    name: String,
    /// Its cells that no other plan wants measured to the end.
    cells: Vec<usize>,
    /// What the tracked cells gave in each round.
    tracked: BTreeMap<usize, BTreeMap<u32, f64>>,
    most: u32,
    /// After how many rounds it was steady.
    steady_after: Option<u32>,
    is_told: bool,
}

impl Rounds {
    /// With the trials that the folder has.
    pub(crate) fn of(set: &PlanSet, folder: &RunFolder, pending: &[Trial]) -> Result<Self, LabError> {
        let of_plan = |plan: &crate::plan::Plan| {
            let is_its = |index: &usize| {
                let cell = &set.cells()[*index];
                cell.trial.stops_when_steady && cell.plans.contains(&plan.name)
            };
            let cells: Vec<usize> = (0..set.cells().len()).filter(is_its).collect();
            let is_tracked = |index: &&usize| {
                let cell = &set.cells()[**index];
                cell.layer.tracked(&cell.factors).is_some()
            };
            let tracked = cells.iter().filter(is_tracked);
            PlanRounds {
                name: plan.name.clone(),
                tracked: tracked.map(|cell| (*cell, BTreeMap::new())).collect(),
                cells,
                most: plan.trial.repetitions,
                steady_after: None,
                is_told: false,
            }
        };
        let stopping = set.plans().iter().filter(|plan| plan.trial.stops_when_steady);
        let mut rounds = Self {
            plans: stopping.map(of_plan).collect(),
            pending: pending.to_vec(),
        };
        if !rounds.plans.is_empty() {
            for entry in folder.trials()? {
                if let Some(cell) = set.cells().iter().position(|cell| cell.id == entry.cell) {
                    rounds.observe(set, cell, &entry);
                }
            }
        }
        Ok(rounds)
    }

    /// Takes note of a trial.
    pub(crate) fn observe(&mut self, set: &PlanSet, index: usize, entry: &TrialEntry) {
        if entry.is_completed() {
            self.pending
                .retain(|trial| (trial.cell, trial.repetition) != (index, entry.repetition));
        }
        let cell = &set.cells()[index];
        let tracked = cell.layer.tracked(&cell.factors);
        let Some(metric) = tracked.filter(|_| entry.is_completed()) else {
            return;
        };
        // A trial in which no operation completed has no figure; the device stood still.
        let value = entry.number(&metric).unwrap_or(0.0);
        for plan in &mut self.plans {
            plan.observe(index, entry.repetition, value);
        }
    }

    /// Whether a trial is still to be measured.
    pub(crate) fn wants(&self, trial: &Trial) -> bool {
        let mut its = self
            .plans
            .iter()
            .filter(|plan| plan.cells.contains(&trial.cell))
            .peekable();
        its.peek().is_none() || its.any(|plan| plan.wants(trial.repetition))
    }

    /// The trials that are not measured any more.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &Trial> {
        self.pending.iter().filter(|trial| !self.wants(trial))
    }

    /// A sentence for each plan that became steady since the last call.
    pub(crate) fn news(&mut self) -> Vec<String> {
        let mut news = Vec::new();
        for plan in &mut self.plans {
            if let Some(end) = plan.steady_after.filter(|_| !plan.is_told) {
                plan.is_told = true;
                let left = match plan.most.saturating_sub(end) {
                    0 => String::new(),
                    1 => "; the remaining round is not measured".to_owned(),
                    left => format!("; the remaining {left} rounds are not measured"),
                };
                let begin = end + 1 - WINDOW_ROUNDS as u32;
                news.push(format!(
                    "{}: rounds {begin} to {end} are steady by the rule of the SNIA PTS{left}",
                    plan.name
                ));
            }
        }
        news
    }
}

impl PlanRounds {
    fn observe(&mut self, cell: usize, repetition: u32, value: f64) {
        let Some(rounds) = self.tracked.get_mut(&cell) else {
            return;
        };
        rounds.insert(repetition, value);
        // Judged once all of a round is there; a journal has its trials in the order of the rounds.
        let is_whole = self
            .tracked
            .values()
            .all(|rounds| rounds.contains_key(&repetition));
        if self.steady_after.is_none() && is_whole && self.is_steady(repetition) {
            self.steady_after = Some(repetition + 1);
        }
    }

    /// Whether the five rounds up to this one, none of which is missing, are steady for every cell that is tracked.
    fn is_steady(&self, last: u32) -> bool {
        let Some(first) = (last + 1).checked_sub(WINDOW_ROUNDS as u32) else {
            return false;
        };
        self.tracked.values().all(|rounds| {
            let window: Vec<f64> = rounds.range(first..=last).map(|(_, value)| *value).collect();
            let judged = steady_state(&window).last();
            judged.is_some_and(|window| window.is_steady())
        })
    }

    fn wants(&self, repetition: u32) -> bool {
        self.steady_after.is_none_or(|end| repetition < end)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::PlanRounds;

    fn plan(tracked: usize) -> PlanRounds {
        PlanRounds {
            name: "rounds".to_owned(),
            cells: vec![0, 1, 2],
            tracked: (0..tracked).map(|cell| (cell, BTreeMap::new())).collect(),
            most: 25,
            steady_after: None,
            is_told: false,
        }
    }

    #[test]
    fn rounds_end_with_the_first_five_that_are_steady_and_not_before() {
        let mut plan = plan(1);
        for (round, iops) in [900.0, 700.0, 400.0, 210.0, 200.0, 201.0, 199.0, 202.0, 200.0]
            .into_iter()
            .enumerate()
        {
            assert!(round > 7 || plan.wants(round as u32), "round {round} is measured");
            plan.observe(0, round as u32, iops);
            if round < 7 {
                assert_eq!(plan.steady_after, None, "after round {round}");
            }
        }
        assert_eq!(plan.steady_after, Some(8));
        assert!(plan.wants(7) && !plan.wants(8));
    }

    #[test]
    fn a_round_that_failed_or_stood_still_is_not_left_out_of_five_in_a_row() {
        for stalled in [None, Some(0.0)] {
            let mut plan = plan(1);
            for round in 0..8 {
                let iops = if round == 2 { stalled } else { Some(100.0) };
                if let Some(iops) = iops {
                    plan.observe(0, round, iops);
                }
                assert_eq!(plan.steady_after, (round == 7).then_some(8), "round {round}");
            }
        }
    }

    #[test]
    fn every_tracked_cell_has_to_be_steady() {
        let mut plan = plan(2);
        for round in 0..9 {
            plan.observe(0, round, 100.0);
            plan.observe(1, round, 1000.0 - 100.0 * f64::from(round));
        }
        assert_eq!(plan.steady_after, None);
        for round in 9..14 {
            plan.observe(1, round, 100.0);
            plan.observe(0, round, 100.0);
        }
        assert_eq!(plan.steady_after, Some(14));
    }
}
