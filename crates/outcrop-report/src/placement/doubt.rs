//! How effort followed doubt in a run: what is clear by all its looks together, and why each candidate got no more trials.

use std::collections::BTreeMap;

use outcrop_measure::TimeSpan;
use outcrop_measure::race::{CONFIDENCE, Contender, Standing, Stop};
use outcrop_results::{RunView, TrialEntry};
use outcrop_schema::kv::{self, Constraints, Figures, MARGIN, SAME_SPACE};
use serde::Serialize;

use super::candidate::{Candidate, CompressedAt, place};
use super::choice::{self, Choice, Sureness};
use super::limits::Limits;
use super::words::as_name;
use crate::cell::Cell;
use crate::command::{More, budget_of};
use crate::layer::undecided::more_repetitions;
use crate::number::counted;

/// What all comparisons of a run say together.
#[derive(Clone, Debug, Serialize)]
pub struct Race {
    /// The time that the run was given; none where the number of trials was fixed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<TimeSpan>,
    /// Whether the answer is decided and clear: what [`Sureness`] says of it, checks included.
    pub is_clear: bool,
    /// Whether all comparisons together leave one candidate, each with its share of the error that [`Self::confidence`] allows. Without a budget
    /// that is one look at the end. Unlike [`Self::is_clear`] it asks nothing else of the run, so both kinds of effort are judged alike by it.
    pub leaves_one: bool,
    /// Confidence that no comparison is wrong.
    pub confidence: f64,
    /// How often the run was judged.
    pub looks: usize,
    /// Trials of the candidates.
    pub trials: usize,
    /// Candidates that got fewer trials than others because they cannot be the answer. What all are compared with is measured to the end.
    #[serde(skip)]
    stopped_early: usize,
    #[serde(skip)]
    standing: Standing,
    #[serde(skip)]
    cells: Vec<String>,
}

/// Judges a run's candidates as it judged them while it measured.
pub(super) fn judge(
    run: &RunView,
    family: &[&Cell<'_>],
    constraints: &Constraints,
    cpus: Option<u64>,
) -> Race {
    let budget = budget_of(run);
    let trials: Vec<BTreeMap<u32, Figures>> = family.iter().map(|cell| figures(cell, cpus)).collect();
    let contenders: Vec<Contender> = family
        .iter()
        .zip(&trials)
        .map(|(cell, trials)| kv::contender(place(cell) == CompressedAt::Nowhere, constraints, trials))
        .collect();
    let rounds = contenders.iter().map(|one| one.throughput.len());
    let rules = constraints.rules();
    let standing = match budget {
        Some(_) => Standing::after(rounds.max().unwrap_or(0), true, &contenders, &rules),
        None => Standing::of_equal_effort(rounds.min().unwrap_or(0), &contenders, &rules),
    };
    let most = trials.iter().map(BTreeMap::len).max().unwrap_or(0);
    let ended = trials.iter().zip(&standing.stops);
    let stopped_early = ended
        .filter(|(trials, stop)| stop.is_some() && trials.len() < most)
        .count();
    Race {
        budget,
        is_clear: false,
        leaves_one: !standing.clear.is_empty(),
        confidence: CONFIDENCE,
        looks: standing.looks,
        trials: trials.iter().map(BTreeMap::len).sum(),
        stopped_early,
        standing,
        cells: family.iter().map(|cell| identifier(cell)).collect(),
    }
}

pub(super) fn identifier(cell: &Cell<'_>) -> String {
    cell.view().map_or_else(String::new, |view| view.id.to_owned())
}

fn figures(cell: &Cell<'_>, cpus: Option<u64>) -> BTreeMap<u32, Figures> {
    let of_trial = |trial: &&TrialEntry| {
        let value = |metric: &outcrop_measure::Metric| trial.number(metric);
        (trial.repetition, Figures::of(cell.factors(), value, cpus))
    };
    cell.trials().iter().map(of_trial).collect()
}

/// What a budget decided.
pub(super) fn clear_after(race: &Race, choice: &Choice, limits: &Limits) -> String {
    let percent = race.confidence * 100.0;
    let decided = if choice.is_only {
        "nothing else that was compared meets the limits".to_owned()
    } else {
        let of_whom = match limits.constraints == Constraints::default() {
            true => "",
            false => " of those that meet the limits",
        };
        format!(
            "its throughput is within {:.0} % of the highest{of_whom}, and nothing with a ratio over {:.0} % higher is",
            MARGIN * 100.0,
            SAME_SPACE * 100.0
        )
    };
    format!("This is clear, with {percent:.0} % confidence in all comparisons together: {decided}.")
}

/// What a budget did not decide. One candidate that is left is no doubt between several: then it is open whether it is one at all.
pub(super) fn open_after(
    budget: TimeSpan,
    (candidates, best): (&[Candidate], &Candidate),
    race: &Race,
    limits: &Limits,
) -> String {
    let after = format!("after the budget of {budget}");
    match race.open() {
        0 => format!("{after}, nothing that was compared is sure to be the answer"),
        1 if race.leaves_open(best) => {
            let doubt = match limits.constraints == Constraints::default() {
                true => format!(
                    "it is not certain that its throughput is within {:.0} % of the highest",
                    MARGIN * 100.0
                ),
                false => "it is not certain that this one meets the limits".to_owned(),
            };
            format!("{after}, no other candidate may be the answer, but {doubt}")
        }
        1 => match candidates.iter().find(|candidate| race.leaves_open(candidate)) {
            Some(other) => format!("{after}, the answer may still be {}", as_name(other)),
            None => format!("{after}, the answer may still be another one"),
        },
        count => format!("{after}, {} may still be the answer", counted(count, "candidate")),
    }
}

impl Race {
    /// The cell without compression that all others are compared with: what one has otherwise.
    pub(super) fn base(&self) -> Option<&str> {
        self.standing.base.map(|base| self.cells[base].as_str())
    }

    /// Other cells without compression that may be it.
    pub(super) fn other_bases(&self) -> impl Iterator<Item = &str> {
        let bases = self
            .standing
            .bases
            .iter()
            .filter(|base| Some(**base) != self.standing.base);
        bases.map(|base| self.cells[*base].as_str())
    }

    /// [`Self::base`] as a cell.
    pub(super) fn base_of<'c, 'a>(&self, family: &[&'c Cell<'a>]) -> Option<&'c Cell<'a>> {
        let is_base = |cell: &&Cell<'_>| self.base() == Some(identifier(cell).as_str());
        family.iter().copied().find(is_base)
    }

    fn place_of(&self, candidate: &Candidate) -> Option<usize> {
        self.cells.iter().position(|cell| *cell == candidate.cell)
    }

    /// Takes what is clear by all looks over what single intervals say, and writes to each candidate why it got no more trials.
    pub(super) fn decide(
        &self,
        candidates: &mut [Candidate],
        choice: &mut Choice,
        constraints: &Constraints,
    ) {
        if self.budget.is_none() {
            return;
        }
        let is_clear = |candidate: &Candidate| {
            let place = self.place_of(candidate);
            place.is_some_and(|place| self.standing.clear.contains(&place))
        };
        let chosen = choice.best.filter(|best| is_clear(&candidates[*best]));
        let clear = chosen.or_else(|| candidates.iter().position(is_clear));
        if let Some(clear) = clear {
            choice.choose(candidates, clear);
            // All looks together have judged the limits too.
            choice.if_kept = None;
            choice.is_only |= self.is_alone_within_limits(candidates, clear);
        } else if choice
            .best
            .is_some_and(|best| self.has_stopped(&candidates[best]))
            && let Some(open) = choice::pick_of(candidates, |candidate| self.leaves_open(candidate))
        {
            // Its median may be the best because its trials were in a better time than the later ones of others.
            choice.choose(candidates, open);
            self.leave_out_stopped(candidates, choice, open, constraints);
        }
        if choice.best.is_some() {
            choice.sureness = Some(match clear.filter(|_| choice.without_log.is_none()) {
                Some(_) => Sureness::Clear,
                None => Sureness::NotClear,
            });
        }
        let names: Vec<String> = self.cells.iter().map(|cell| name_of(candidates, cell)).collect();
        for candidate in candidates {
            let Some(place) = self.place_of(candidate) else {
                continue;
            };
            let name = |other: usize| names[other].clone();
            candidate.stopped = Some(match &self.standing.stops[place] {
                Some(stop) => constraints.reason(stop, name),
                None if !self.standing.clear.is_empty() => "decided".to_owned(),
                None => "budget spent: it may still be the answer".to_owned(),
            });
        }
    }

    /// Whether limits alone left all others out of the race, whatever their throughput.
    fn is_alone_within_limits(&self, candidates: &[Candidate], chosen: usize) -> bool {
        let its = self.place_of(&candidates[chosen]);
        let mut others = self
            .standing
            .stops
            .iter()
            .enumerate()
            .filter(|(place, _)| Some(*place) != its);
        others.all(|(_, stop)| matches!(stop, Some(Stop::SavesTooLittle { .. } | Stop::BreaksLimit { .. })))
    }

    /// Names no stopped candidate as an alternative to one that was chosen in the place of another stopped one.
    fn leave_out_stopped(
        &self,
        candidates: &[Candidate],
        choice: &mut Choice,
        best: usize,
        constraints: &Constraints,
    ) {
        let best = &candidates[best];
        let is_open = |one: &Candidate| self.leaves_open(one) && one.cell != best.cell;
        choice.saves_more = choice::pick_of(candidates, |one| is_open(one) && choice::saves_more(one, best));
        // Within limits it is said where nothing else meets them.
        let second = choice.second.filter(|_| *constraints != Constraints::default());
        choice.second = choice::pick_of(candidates, is_open).or(second);
        choice.without_log = choice.without_log.filter(|one| is_open(&candidates[*one]));
        choice.if_kept = choice.if_kept.filter(|one| is_open(&candidates[*one]));
    }

    /// Whether a candidate was stopped early because it cannot be the answer.
    fn has_stopped(&self, candidate: &Candidate) -> bool {
        let place = self.place_of(candidate);
        place.is_some_and(|place| self.standing.stops[place].is_some())
    }

    /// Whether it was stopped because the rounds that both had show another one to be better.
    pub(super) fn cannot_be_best(&self, candidate: &Candidate) -> bool {
        let place = self.place_of(candidate);
        place.is_some_and(|place| {
            matches!(
                self.standing.stops[place],
                Some(Stop::TooSlow { .. } | Stop::SavesLess { .. })
            )
        })
    }

    /// Candidates that may still be the answer.
    pub(super) fn open(&self) -> usize {
        self.standing.open()
    }

    /// Whether a candidate is one of them.
    pub(super) fn leaves_open(&self, candidate: &Candidate) -> bool {
        let place = self.place_of(candidate);
        !self.standing.is_decided() && place.is_some_and(|place| self.standing.stops[place].is_none())
    }

    /// Where the trials went, as a sentence; none where their number was fixed before.
    pub(super) fn effort(&self) -> Option<String> {
        self.budget?;
        let count = self.cells.len();
        let (candidates, trials) = (counted(count, "candidate"), counted(self.trials, "trial"));
        Some(match self.stopped_early {
            0 => format!("None of {candidates} stopped early; they had {trials}."),
            stopped => format!(
                "Of {candidates}, {stopped} stopped early because {} cannot be the answer; the others got the rest of the {trials}.",
                if stopped == 1 { "it" } else { "they" }
            ),
        })
    }

    /// What measures more of it: a budget that is three times as long, or more trials of each than these.
    pub(super) fn more(&self, trials: usize) -> More {
        let by_budget = self.budget.map(More::after);
        by_budget.unwrap_or_else(|| More::Repetitions(more_repetitions(trials)))
    }
}

/// What a candidate is called, also one that another stands for.
fn name_of(candidates: &[Candidate], cell: &str) -> String {
    let found = candidates.iter().find(|candidate| candidate.cell == cell);
    found.map_or_else(|| "no compression".to_owned(), Candidate::name)
}
