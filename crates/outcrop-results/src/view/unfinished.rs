//! Whether a run has all the cells and trials that its plan asks for.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::RunView;
use crate::trial::{Outcome, TrialEntry};

impl RunView {
    /// Whether trials are missing that resuming the run would measure: it was interrupted, or is still being measured, or a bound left some out.
    /// Plans that end when figures are steady or decided have no number of trials to fall short of.
    pub fn is_unfinished(&self) -> bool {
        let plan: Table = toml::from_str(&self.plan).unwrap_or_default();
        let asked = asked(&plan);
        (self.trials.is_empty() && !asked.is_empty())
            || asked.iter().any(|plan| self.lacks_cells_of(plan))
            || self.trials_that_fall_short(&asked).next().is_some()
    }

    /// Whether a cell of any layer lacks trials that resuming the run would measure.
    pub fn lacks_any_trials(&self) -> bool {
        let plan: Table = toml::from_str(&self.plan).unwrap_or_default();
        self.trials_that_fall_short(&asked(&plan)).next().is_some()
    }

    /// Whether the run did not come to all cells of this layer, which resuming it would measure. Earlier versions did not say how many there are.
    pub fn lacks_cells(&self, layer: &str) -> bool {
        let plan: Table = toml::from_str(&self.plan).unwrap_or_default();
        let asked = asked(&plan);
        let mut of_layer = asked.iter().filter(|plan| plan.layer == layer);
        of_layer.any(|plan| self.lacks_cells_of(plan))
    }

    fn lacks_cells_of(&self, plan: &Asked<'_>) -> bool {
        self.cells_not_begun(plan) > 0
    }

    /// A trial that was interrupted says nothing of its cell: the signal that ends a run leaves one.
    fn cells_not_begun(&self, plan: &Asked<'_>) -> usize {
        let of_plan = self
            .trials
            .iter()
            .filter(|trial| trial.outcome != Outcome::Interrupted)
            .filter(|trial| trial.plans.iter().any(|name| name == plan.name));
        let begun: BTreeSet<&str> = of_plan.map(|trial| trial.cell.as_str()).collect();
        plan.cells.map_or(0, |cells| cells.saturating_sub(begun.len()))
    }

    /// How many cells of each layer the run did not come to, whatever ended it.
    pub(crate) fn cells_without_trials(&self) -> BTreeMap<String, usize> {
        let plan: Table = toml::from_str(&self.plan).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for plan in asked_under_any_budget(&plan) {
            *counts.entry(plan.layer.to_owned()).or_default() += self.cells_not_begun(&plan);
        }
        counts
    }

    /// How many trials of a cell each plan asks for, by the plan's name; a budget, a bound or a signal may have ended the run before. Plans that
    /// spend a budget on what is in doubt ask for none in particular.
    pub(crate) fn trials_asked(&self) -> BTreeMap<String, usize> {
        let plan: Table = toml::from_str(&self.plan).unwrap_or_default();
        let has_budget = plan.get("run").is_some_and(|run| run.get("budget").is_some());
        let asked = asked_under_any_budget(&plan).into_iter();
        let asked = asked.filter(|plan| !(has_budget && plan.is_by_doubt));
        asked
            .map(|plan| (plan.name.to_owned(), plan.repetitions))
            .collect()
    }

    /// Whether a cell of this layer lacks trials that resuming the run would measure, and has at least so many: only then may a figure of
    /// so many trials be of such a cell.
    pub fn lacks_trials(&self, layer: &str, completed: usize) -> bool {
        let plan: Table = toml::from_str(&self.plan).unwrap_or_default();
        let asked = asked(&plan);
        let short = self
            .trials_that_fall_short(&asked)
            .filter(|trial| trial.layer == layer);
        let mut of_cells: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for trial in short {
            let of_cell = of_cells.entry(&trial.cell).or_default();
            if trial.is_completed() {
                of_cell.insert(trial.repetition);
            }
        }
        of_cells.values().any(|counted| counted.len() >= completed)
    }

    /// The trials of cells that have fewer than their plans ask for.
    fn trials_that_fall_short<'r>(&'r self, asked: &[Asked<'_>]) -> impl Iterator<Item = &'r TrialEntry> {
        let mut ended: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for trial in &self.trials {
            let of_cell = ended.entry(&trial.cell).or_default();
            if trial.outcome != Outcome::Interrupted {
                of_cell.insert(trial.repetition);
            }
        }
        self.trials.iter().filter(move |trial| {
            let of_trial = asked
                .iter()
                .filter(|plan| trial.plans.iter().any(|name| name == plan.name));
            let asked = of_trial.map(|plan| plan.repetitions).max();
            let ended = ended.get(trial.cell.as_str()).map_or(0, BTreeSet::len);
            asked.is_some_and(|asked| ended < asked)
        })
    }
}

/// What a plan asks for that asks for a number of trials.
struct Asked<'p> {
    name: &'p str,
    layer: &'p str,
    repetitions: usize,
    cells: Option<usize>,
    /// Whether a budget is spent on what is still in doubt: then the plan leaves out other trials on purpose.
    is_by_doubt: bool,
}

/// Another program's results have no plan of ours to resume, and under a budget the clock decides.
fn asked(plan: &Table) -> Vec<Asked<'_>> {
    match plan.get("run").is_some_and(|run| run.get("budget").is_none()) {
        true => asked_under_any_budget(plan),
        false => Vec::new(),
    }
}

/// The same, also of plans of which the clock decides how much is measured.
fn asked_under_any_budget(plan: &Table) -> Vec<Asked<'_>> {
    if plan.get("run").is_none() {
        return Vec::new();
    }
    fn count(table: &Value, key: &str) -> Option<usize> {
        usize::try_from(table.get(key)?.as_integer()?).ok()
    }
    fn of_plan(plan: &Value) -> Option<Asked<'_>> {
        let text = |key: &str| plan.get(key)?.as_str();
        let trial = plan.get("trial")?;
        let asked = Asked {
            name: text("name")?,
            layer: text("layer").unwrap_or_default(),
            repetitions: count(trial, "repetitions")?,
            cells: count(plan, "cells"),
            is_by_doubt: text("budget") == Some("doubt"),
        };
        trial.get("stop").is_none().then_some(asked)
    }
    let plans = plan.get("plan").and_then(Value::as_array);
    plans.into_iter().flatten().filter_map(of_plan).collect()
}
