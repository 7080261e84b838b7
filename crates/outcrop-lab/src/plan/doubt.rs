//! Plans whose trials follow doubt: given a budget, a cell gets trials for as long as it may be the answer.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use outcrop_measure::race::MOST_ROUNDS;
use outcrop_measure::units::{ByteSize, TimeSpan};
use outcrop_schema::Settings;
use outcrop_schema::kv::{self, Constraints};
use outcrop_workload::word::hint;

use super::check::bad;
use super::draft::Draft;
use super::{Plan, PlanOptions, PlanSet};
use crate::cell::Cell;
use crate::error::LabError;
use crate::estimate::{self, Estimate};
use crate::layer::LayerRef;

/// What a time budget does to a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BudgetUse {
    /// All trials become shorter, by one factor.
    #[default]
    Evenly,
    /// Trials keep their length, and go to the cells that may still be the answer to where to compress.
    Doubt,
}

impl BudgetUse {
    const ALL: [Self; 2] = [Self::Evenly, Self::Doubt];

    /// The spelling in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Evenly => "evenly",
            Self::Doubt => "doubt",
        }
    }
}

impl fmt::Display for BudgetUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for BudgetUse {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name);
        let found = Self::ALL.into_iter().find(|budget| budget.name() == text);
        found.ok_or_else(|| format!("unknown use of a budget {text:?}; {}", hint(text, &names)))
    }
}

/// The budget of a run in which effort follows doubt, and what the answer has to meet.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowDoubt {
    /// The time that the whole run may take, over all its sessions.
    pub budget: TimeSpan,
    /// What the answer has to meet.
    pub constraints: Constraints,
}

impl FollowDoubt {
    /// The cells with as many trials as are likely to fit into the budget if no cell stops early.
    pub(super) fn likely_cells(&self, cells: &[Cell]) -> Vec<Cell> {
        let with = |rounds: usize| -> Vec<Cell> {
            let mut cells = cells.to_vec();
            for cell in cells.iter_mut().filter(|cell| cell.follows_doubt) {
                cell.trial.repetitions = u32::try_from(rounds).unwrap_or(u32::MAX);
            }
            cells
        };
        let time = |rounds: usize| estimate::estimate(&with(rounds)).total();
        let (without, once) = (time(0), time(1));
        let round = once.saturating_sub(without).as_secs_f64();
        let room = self.budget.0.saturating_sub(without).as_secs_f64();
        let rounds = if round > 0.0 {
            (room / round) as usize
        } else {
            MOST_ROUNDS
        };
        with(rounds.clamp(1, MOST_ROUNDS))
    }

    /// What these cells cost within the budget. What is written at least is one trial of each: then the answer may be clear, or most trials
    /// may go to the cells that write least.
    pub(super) fn estimate(&self, cells: &[Cell]) -> Estimate {
        let likely = self.likely_cells(cells);
        let mut once = likely.clone();
        for cell in once.iter_mut().filter(|cell| cell.follows_doubt) {
            cell.trial.repetitions = 1;
        }
        Estimate {
            least_bytes_written_measuring: estimate::estimate(&once).least_bytes_written_measuring,
            ..estimate::estimate(&likely)
        }
    }
}

/// What an expanded plan may say that its run has to keep to; constraints without a budget are those of the answer alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunLimits {
    pub(super) budget: Option<TimeSpan>,
    pub(super) max_written: Option<ByteSize>,
    pub(super) constraints: Constraints,
}

impl RunLimits {
    pub(super) const BUDGET: &'static str = "budget";
    pub(super) const MAX_WRITTEN: &'static str = "max_written";

    /// The keys under `[run]`.
    pub(super) fn keys() -> impl Iterator<Item = &'static str> {
        [Self::BUDGET, Self::MAX_WRITTEN]
            .into_iter()
            .chain(Constraints::KEYS)
    }

    /// Takes the value of a key.
    pub(super) fn read(&mut self, key: &str, text: &str) -> Result<(), String> {
        if key == Self::BUDGET {
            let span = text.parse::<TimeSpan>().map_err(|error| error.to_string())?;
            self.budget = Some(span);
            return Ok(());
        }
        if key == Self::MAX_WRITTEN {
            let size = text.parse::<ByteSize>().map_err(|error| error.to_string())?;
            self.max_written = Some(size);
            return Ok(());
        }
        let number = text.parse::<f64>().ok();
        let number = number.filter(|number| number.is_finite() && *number > 0.0);
        let number = number.ok_or_else(|| format!("{text:?} is not a number above 0"))?;
        let known: Vec<(&str, f64)> = self
            .constraints
            .by_name()
            .chain([(key_of(key), number)])
            .collect();
        let value_of = |name: &str| {
            known
                .iter()
                .rev()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        };
        self.constraints = Constraints::named(value_of);
        Ok(())
    }
}

/// The key among those of the constraints.
fn key_of(key: &str) -> &'static str {
    Constraints::KEYS
        .into_iter()
        .find(|known| *known == key)
        .unwrap_or_default()
}

impl PlanSet {
    /// Makes the run fit its budget: evenly, or by doubt.
    pub(super) fn keep_to_budget(
        &mut self,
        options: &PlanOptions,
        own: Option<TimeSpan>,
    ) -> Result<(), LabError> {
        let is_of_doubt = !self.has_variants() && self.cells.iter().any(|cell| cell.follows_doubt);
        let has_others = self.cells.iter().any(|cell| !cell.follows_doubt);
        if let Some(budget) = options.budget.filter(|_| !is_of_doubt || has_others) {
            self.shorten_to(budget)?;
        }
        // Whoever repeats a run with a number of trials does not want those of its budget.
        let own = own.filter(|_| options.repetitions.is_none());
        let follow = options.budget.or(own).map(|budget| FollowDoubt {
            budget,
            constraints: self.constraints.clone(),
        });
        let Some(follow) = follow.filter(|_| is_of_doubt) else {
            return Ok(());
        };
        if options.budget.is_some() && options.repetitions.is_some() {
            return Err(LabError::BadPlan {
                at: "--repetitions".to_owned(),
                message: "the budget decides how many trials the cells of these plans get; leave --repetitions or --budget out"
                    .to_owned(),
            });
        }
        self.check_rounds(&follow, has_others)?;
        self.doubt = Some(follow);
        self.recount();
        Ok(())
    }

    /// Refuses a budget that is too short for one trial of each cell.
    fn check_rounds(&self, follow: &FollowDoubt, has_others: bool) -> Result<(), LabError> {
        let mut cells = self.cells.clone();
        for cell in cells.iter_mut().filter(|cell| cell.follows_doubt) {
            cell.trial.repetitions = 1;
        }
        let least = estimate::estimate(&cells);
        if has_others || least.total() <= follow.budget.0 {
            return Ok(());
        }
        Err(LabError::OverBudget {
            budget: follow.budget.to_string(),
            trials: least.trials,
            shortest: TimeSpan(Duration::from_secs(least.total().as_secs() + 1)).to_string(),
        })
    }
}

/// Whether a budget lets doubt decide about cells of these factors.
pub(super) fn is_for(plan: &Plan, factors: &Settings) -> bool {
    plan.budget == BudgetUse::Doubt && plan.layer.name() == kv::SCHEMA.name && kv::is_candidate(factors)
}

/// Refuses a plan of another layer that asks for it: it has no answer to where to compress.
pub(super) fn check(draft: &Draft, layer: LayerRef) -> Result<(), LabError> {
    if draft.budget == BudgetUse::Evenly || layer.name() == kv::SCHEMA.name {
        return Ok(());
    }
    let message = format!(
        "budget = \"{}\" is for plans of the {} layer; leave it out, and a budget shortens all trials evenly",
        BudgetUse::Doubt,
        kv::SCHEMA.name
    );
    Err(bad(&draft.name.at, message))
}

/// A cell that may be the answer gets as many trials as that takes.
pub(super) fn let_go_on(cell: &mut Cell) {
    if cell.follows_doubt {
        cell.trial.repetitions = MOST_TRIALS;
    }
}

/// Trials of a cell that follows doubt, at most.
const MOST_TRIALS: u32 = MOST_ROUNDS as u32;
