//! What comes next to the answer, and what takes less space than it, in sentences.

use outcrop_schema::kv::{self, Constraints};

use super::candidate::{Candidate, CompressedAt};
use super::choice::Choice;
use super::doubt::Race;
use super::limits::{Limits, asked};
use super::open;
use super::words::as_name;
use crate::change::{Difference, percent as changed};
use crate::command::Commands;

/// What was compared, and what was chosen of it.
pub(super) struct Rivals<'r> {
    pub(super) candidates: &'r [Candidate],
    pub(super) choice: &'r Choice,
    pub(super) best: &'r Candidate,
    pub(super) plain: Option<&'r Candidate>,
    pub(super) limits: &'r Limits,
    pub(super) commands: &'r Commands,
    pub(super) race: &'r Race,
}

impl Rivals<'_> {
    /// The candidate that comes next by the rule, or that there is none.
    pub(super) fn second(&self) -> Option<String> {
        let Some(second) = self.choice.second else {
            let is_limited = self.limits.constraints_from.is_some();
            return is_limited.then(|| open::no_other(self.candidates));
        };
        Some(format!(
            "Second best: {}.",
            self.compared(&self.candidates[second])
        ))
    }

    /// What takes less space than the answer, and the ratio with which it would be the answer; none where nothing does.
    pub(super) fn smaller(&self) -> Option<String> {
        let more = self.choice.saves_more?;
        let is_said = self.choice.second == Some(more);
        let name = (!is_said).then(|| format!("Less space: {}.", self.compared(&self.candidates[more])));
        let needed = self.choice.least_ratio.map(|least| {
            let asked = asked(&Constraints {
                min_ratio: Some(least),
                ..self.limits.constraints.clone()
            });
            let command = self.commands.report(&asked.join(" "));
            format!("It would be the answer if you need a ratio of {least} (`{command}`).")
        });
        let sentences: Vec<String> = [name, needed].into_iter().flatten().collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    /// The same in a few words; none where no ratio makes it the answer.
    pub(super) fn smaller_in_short(&self) -> Option<String> {
        let (more, least) = (
            &self.candidates[self.choice.saves_more?],
            self.choice.least_ratio?,
        );
        let space = more.space()?;
        Some(format!(
            "{} ({space} of the space) would be the answer if you need a ratio of {least}.",
            as_name(more)
        ))
    }

    /// `lz4, blocks of 16 KiB in the store, which takes 46 % of the space and is slower than no compression (blocks of 4 KiB): throughput −26 %`.
    fn compared(&self, one: &Candidate) -> String {
        let difference = Difference::of(&one.throughput, &self.best.throughput);
        let change = changed(one.throughput.value, self.best.throughput.value);
        let (name, takes) = (as_name(one), one.takes());
        let is_lower = one.throughput.value < self.best.throughput.value;
        // What does not compress takes all of the space without compression.
        let space = match one.place {
            CompressedAt::Nowhere => String::new(),
            _ => format!(", which {}", one.takes_of_plain()),
        };
        if !(is_lower && difference == Difference::Clear)
            && self.race.cannot_be_best(one)
            && let Some(why) = &one.stopped
        {
            // Its few trials may have been in a better time than the later ones of the answer: the rounds that both had say more than the medians.
            return format!("{name}{space}; it was stopped early: {why}");
        }
        let throughput = match difference {
            Difference::None => format!("no measurable change in {}", kv::THROUGHPUT.name),
            _ => format!("{} {change}", kv::THROUGHPUT.name),
        };
        let caveat = difference.caveat();
        if self.best.place == CompressedAt::Nowhere {
            let none = format!("no compression ({})", self.best.what);
            return match difference {
                Difference::Clear | Difference::Unclear if is_lower => {
                    format!("{name}, which {takes} and is slower than {none}: {throughput}{caveat}")
                }
                _ => format!("{name}, which {takes}; {throughput} compared with {none}{caveat}"),
            };
        }
        let slower = self.slower_than_none(one).map_or_else(String::new, |change| {
            format!(", {change} compared with no compression")
        });
        format!("{name}{space}; {throughput} compared with the answer{caveat}{slower}")
    }

    /// By how much it is slower than no compression; none where it is not, or where that cannot be told.
    fn slower_than_none(&self, one: &Candidate) -> Option<String> {
        let plain = self.plain.filter(|_| one.place != CompressedAt::Nowhere)?;
        let is_slower = one.throughput.value < plain.throughput.value;
        let is_known = Difference::of(&one.throughput, &plain.throughput) == Difference::Clear;
        (is_slower && is_known).then(|| changed(one.throughput.value, plain.throughput.value))
    }
}
