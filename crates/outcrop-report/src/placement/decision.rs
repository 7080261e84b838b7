//! What is chosen of a run's stores under some limits: of the answer itself, and of every statement about what it would be under others.

use outcrop_results::RunView;
use outcrop_schema::kv::Constraints;

use super::candidate::{self, Candidate};
use super::choice::{self, Choice, ratio};
use super::doubt::{self, Race};
use super::open;
use crate::cell::Cell;

/// The stores that are compared.
pub(super) struct Compared<'s> {
    pub(super) run: &'s RunView,
    pub(super) family: &'s [&'s Cell<'s>],
    pub(super) cpus: Option<u64>,
}

/// What was chosen of them.
pub(super) struct Decision {
    pub(super) race: Race,
    pub(super) candidates: Vec<Candidate>,
    pub(super) choice: Choice,
}

impl Compared<'_> {
    /// What is chosen under these limits, with what would take less space and the least ratio that it takes.
    pub(super) fn decide(&self, constraints: &Constraints) -> Decision {
        let mut decision = self.under(constraints);
        if let Some((place, least)) = self.with_less_space(&decision, constraints) {
            decision.choice.saves_more = Some(place);
            decision.choice.least_ratio = Some(least);
        }
        decision
    }

    fn under(&self, constraints: &Constraints) -> Decision {
        let race = doubt::judge(self.run, self.family, constraints, self.cpus);
        let (mut candidates, mut choice) = self.against(race.base(), constraints);
        let answer = cell_of_best(&candidates, &choice);
        let is_other = |base: &str| {
            let (candidates, choice) = self.against(Some(base), constraints);
            cell_of_best(&candidates, &choice) != answer
        };
        if race.other_bases().any(is_other) {
            choice.leave_to_base();
        }
        race.decide(&mut candidates, &mut choice, constraints);
        Decision {
            race,
            candidates,
            choice,
        }
    }

    /// What is chosen where everything is compared with one cell without compression.
    fn against(&self, base: Option<&str>, constraints: &Constraints) -> (Vec<Candidate>, Choice) {
        let mut candidates = candidate::measured(self.family, self.cpus);
        let choice = choice::choose(&mut candidates, base, constraints);
        (candidates, choice)
    }

    /// What takes less space and would be the answer if a ratio was wanted, with that ratio as it is printed. It is tried out: with a limit the
    /// rule may choose another one than of all that saves more, as less is tied with the fastest or more.
    fn with_less_space(&self, decision: &Decision, constraints: &Constraints) -> Option<(usize, f64)> {
        let mut place = decision.choice.saves_more?;
        for _ in &decision.candidates {
            // Rounded down, so that the candidate itself meets it.
            let least = (ratio(&decision.candidates[place]) * 100.0).floor() / 100.0;
            let limited = self.under(&Constraints {
                min_ratio: Some(least),
                ..constraints.clone()
            });
            let cell = &limited.answer()?.cell;
            let named = decision.candidates.iter().position(|one| one.cell == *cell)?;
            if named == place {
                return Some((place, least));
            }
            place = named;
        }
        None
    }
}

/// Which cell is the best: nothing where none is, and the same for all without compression.
fn cell_of_best(candidates: &[Candidate], choice: &Choice) -> Option<String> {
    let best = &candidates[choice.best?];
    Some(match best.is_plain() {
        true => String::new(),
        false => best.cell.clone(),
    })
}

impl Decision {
    /// The answer; none where limits or the log leave it open.
    fn answer(&self) -> Option<&Candidate> {
        let is_open = self.choice.if_kept.is_some() || open::by_log(&self.candidates, &self.choice).is_some();
        self.choice
            .best
            .filter(|_| !is_open)
            .map(|best| &self.candidates[best])
    }
}
