//! Whether a run has all the trials that its plan asks for.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::RunView;
use crate::trial::{Outcome, TrialEntry};

impl RunView {
    /// Whether trials are missing that resuming the run would measure: it was interrupted, or is still being measured, or a bound left some out.
    /// Plans that end when figures are steady or decided have no number of trials to fall short of.
    pub fn is_unfinished(&self) -> bool {
        let plan: Table = toml::from_str(&self.plan).unwrap_or_default();
        let asked = repetitions(&plan);
        (self.trials.is_empty() && !asked.is_empty()) || self.trials_that_fall_short(&asked).next().is_some()
    }

    /// Whether a cell of this layer lacks trials that resuming the run would measure, and has at least so many: only then may a figure of
    /// so many trials be of such a cell.
    pub fn lacks_trials(&self, layer: &str, completed: usize) -> bool {
        let plan: Table = toml::from_str(&self.plan).unwrap_or_default();
        let asked = repetitions(&plan);
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
    fn trials_that_fall_short<'r>(
        &'r self,
        asked: &BTreeMap<&str, usize>,
    ) -> impl Iterator<Item = &'r TrialEntry> {
        let mut ended: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for trial in &self.trials {
            let of_cell = ended.entry(&trial.cell).or_default();
            if trial.outcome != Outcome::Interrupted {
                of_cell.insert(trial.repetition);
            }
        }
        self.trials.iter().filter(move |trial| {
            let asked = trial
                .plans
                .iter()
                .filter_map(|name| asked.get(name.as_str()))
                .max();
            let ended = ended.get(trial.cell.as_str()).map_or(0, BTreeSet::len);
            asked.is_some_and(|asked| ended < *asked)
        })
    }
}

/// How many trials each plan asks for, of those that ask for a number. Another program's results have no plan of ours to resume.
fn repetitions(plan: &Table) -> BTreeMap<&str, usize> {
    let run = plan.get("run").filter(|run| run.get("budget").is_none());
    if run.is_none() {
        return BTreeMap::new();
    }
    let plans = plan.get("plan").and_then(Value::as_array);
    fn asked(plan: &Value) -> Option<(&str, usize)> {
        let trial = plan.get("trial")?;
        let count = trial.get("repetitions")?.as_integer()?;
        let is_open = trial.get("stop").is_some();
        let name = plan.get("name")?.as_str()?;
        (!is_open).then_some((name, usize::try_from(count).ok()?))
    }
    plans.into_iter().flatten().filter_map(asked).collect()
}
