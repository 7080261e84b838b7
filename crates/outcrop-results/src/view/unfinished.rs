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
        // Another program's results have no plan of ours to resume.
        let Some(run) = plan.get("run") else {
            return false;
        };
        let asked = repetitions(&plan);
        if run.get("budget").is_some() || asked.is_empty() {
            return false;
        }
        let mut ended: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for trial in &self.trials {
            let of_cell = ended.entry(&trial.cell).or_default();
            if trial.outcome != Outcome::Interrupted {
                of_cell.insert(trial.repetition);
            }
        }
        let falls_short = |trial: &TrialEntry| {
            let asked = trial
                .plans
                .iter()
                .filter_map(|name| asked.get(name.as_str()))
                .max();
            let ended = ended.get(trial.cell.as_str()).map_or(0, BTreeSet::len);
            asked.is_some_and(|asked| ended < *asked)
        };
        self.trials.is_empty() || self.trials.iter().any(falls_short)
    }
}

/// How many trials each plan asks for, of those that ask for a number.
fn repetitions(plan: &Table) -> BTreeMap<&str, usize> {
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
