//! The rule that picks one candidate, and how sure it is.
//!
//! 1. Candidates that break a constraint, or that lack the figure for it, are left out. Where one that may keep the constraints all the same
//!    would be chosen if it did, nothing is decided.
//! 2. Those whose throughput ties with the highest stay: it is lower by at most 5 %, or by at most 10 % where the intervals overlap.
//! 3. Of these, the one that takes the least space is chosen. Where space ties within 2 %, no compression is chosen if it is among them,
//!    else the fastest.
//!
//! The store's log is in the space. Where the rule would choose another one by the space without it, the choice is not clear.
//!
//! So compression is advised where it costs no throughput that was measured, and as much of it as that allows. Who accepts less
//! throughput for less space says how much space is needed (`--min-ratio`). The second best is what the rule chooses without the best.

use serde::Serialize;

use outcrop_schema::kv::{Constraints, MARGIN, SAME_SPACE};

use super::bounds::{Kept, SURE};
use super::candidate::{self, Candidate};
use super::front;
use crate::change::ties;

/// How sure a choice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sureness {
    /// Its throughput is within the margin of the highest, and that of everything that saves more space is not, intervals included.
    Clear,
    /// The intervals leave one of the two open, or are too uncertain themselves.
    NotClear,
}

impl Sureness {
    /// Itself where the answer is decided; else not clear.
    pub(super) const fn only_if(self, is_decided: bool) -> Self {
        if is_decided { self } else { Self::NotClear }
    }
}

/// What was chosen of a list of candidates, by index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Choice {
    /// The best; none where nothing meets the constraints.
    pub(super) best: Option<usize>,
    /// What the rule would choose of those that save more space than the best.
    pub(super) saves_more: Option<usize>,
    /// The least ratio, as it is printed, under which that one is the answer; none where no such limit makes it that.
    pub(super) least_ratio: Option<f64>,
    /// What the rule would choose without the best; none where nothing else meets the constraints.
    pub(super) second: Option<usize>,
    /// What the best would be if all that may keep the constraints did; none where that is the best.
    pub(super) if_kept: Option<usize>,
    /// What the best would be by the space without the store's log; none where that is the best.
    pub(super) without_log: Option<usize>,
    /// Whether nothing else keeps the constraints, for sure: then throughput decides nothing.
    pub(super) is_only: bool,
    /// Whether the best would be another one if the space was compared with another cell without compression, which may be the fastest too.
    pub(super) is_left_to_base: bool,
    /// How sure the best is.
    pub(super) sureness: Option<Sureness>,
}

/// Leaves the candidate of the cell `base` without compression alone, marks the front and what is left out, and chooses. The candidates are
/// those that were measured, the fastest first.
pub(super) fn choose(
    candidates: &mut Vec<Candidate>,
    base: Option<&str>,
    constraints: &Constraints,
) -> Choice {
    candidates.retain(|one| !one.is_plain() || base == Some(one.cell.as_str()));
    candidate::relate(candidates);
    for candidate in &mut *candidates {
        candidate.judge(constraints);
    }
    front::mark(candidates);
    let eligible: Vec<usize> = eligible(candidates).collect();
    let Some(best) = pick(candidates, &eligible, ratio) else {
        return Choice {
            if_kept: pick(candidates, &perhaps(candidates), ratio),
            ..Choice::default()
        };
    };
    let mut choice = Choice::default();
    choice.choose(candidates, best);
    choice.sureness = Some(sureness(candidates, &choice, best));
    choice
}

impl Choice {
    /// Notes that the best depends on which cell without compression is the fastest, and that this is open.
    pub(super) fn leave_to_base(&mut self) {
        self.is_left_to_base = true;
        self.sureness = self.sureness.map(|_| Sureness::NotClear);
    }

    /// Takes another candidate for the best.
    pub(super) fn choose(&mut self, candidates: &[Candidate], best: usize) {
        let others: Vec<usize> = eligible(candidates).filter(|index| *index != best).collect();
        let other_than_best = |one: Option<usize>| one.filter(|one| *one != best);
        let kept: Vec<usize> = eligible(candidates).collect();
        self.if_kept = other_than_best(pick(candidates, &perhaps(candidates), ratio));
        self.without_log = other_than_best(pick(candidates, &kept, ratio_of_more_records));
        self.is_only = kept.len() == 1 && candidates.iter().all(|one| one.verdict.is_sure);
        self.best = Some(best);
        self.saves_more = pick(candidates, &savers(candidates, best), ratio);
        self.second = pick(candidates, &others, ratio);
    }
}

/// Candidates that meet the constraints, the fastest first. Modelled ones never do.
fn eligible(candidates: &[Candidate]) -> impl Iterator<Item = usize> {
    (0..candidates.len()).filter(|index| candidates[*index].left_out.is_none())
}

/// Those that meet the constraints and those that may, the fastest first.
fn perhaps(candidates: &[Candidate]) -> Vec<usize> {
    let may_be = |index: &usize| candidates[*index].left_out.is_none() || candidates[*index].may_keep;
    (0..candidates.len()).filter(may_be).collect()
}

/// The other candidates that the intervals leave open as the answer: what saves more and may be as fast as the fastest, and what may be so
/// much faster that the best is not.
pub(super) fn left_open<'c>(
    candidates: &'c [Candidate],
    choice: &Choice,
) -> impl Iterator<Item = &'c Candidate> {
    let ends = |candidate: &Candidate| {
        let throughput = &candidate.throughput;
        throughput.ends().unwrap_or((throughput.value, throughput.value))
    };
    let best = choice.best;
    let fastest = eligible(candidates).next();
    let low_of = move |one: Option<usize>| one.map_or(f64::INFINITY, |one| ends(&candidates[one]).0);
    let (own_low, top_low) = (low_of(best), low_of(fastest));
    let is_open = move |candidate: &Candidate| {
        let high = ends(candidate).1;
        match best.is_some_and(|best| saves_more(candidate, &candidates[best])) {
            true => high >= top_low * (1.0 - MARGIN),
            false => high * (1.0 - MARGIN) > own_low,
        }
    };
    let others = eligible(candidates).filter(move |index| Some(*index) != best);
    others
        .map(|index| &candidates[index])
        .filter(move |candidate| is_open(candidate))
}

/// What the rule chooses of the candidates that meet the constraints and of which something is true.
pub(super) fn pick_of(candidates: &[Candidate], is_so: impl Fn(&Candidate) -> bool) -> Option<usize> {
    let those: Vec<usize> = eligible(candidates)
        .filter(|index| is_so(&candidates[*index]))
        .collect();
    pick(candidates, &those, ratio)
}

/// Those that meet the constraints and take less space than one.
fn savers(candidates: &[Candidate], best: usize) -> Vec<usize> {
    eligible(candidates)
        .filter(|index| saves_more(&candidates[*index], &candidates[best]))
        .collect()
}

/// Steps 2 and 3 of the rule, on some of the candidates in their order, by one kind of ratio.
fn pick(candidates: &[Candidate], eligible: &[usize], ratio: fn(&Candidate) -> f64) -> Option<usize> {
    let top = &candidates[*eligible.first()?].throughput;
    let tied = eligible
        .iter()
        .copied()
        .filter(|index| ties(&candidates[*index].throughput, top));
    let ratios = tied.clone().map(|index| ratio(&candidates[index]));
    let most = ratios.fold(0.0, f64::max);
    let mut takes_as_little = tied.filter(|index| ratio(&candidates[*index]) * (1.0 + SAME_SPACE) >= most);
    // Compression that saves nothing is not advised, however fast it was. Else the first is the fastest of them.
    let first = takes_as_little.clone().next();
    let plain = takes_as_little.find(|index| candidates[*index].is_plain());
    plain.or(first)
}

/// Space without compression over space with it; what is unknown saves nothing.
pub(super) fn ratio(candidate: &Candidate) -> f64 {
    candidate.ratio.as_ref().map_or(0.0, |number| number.value)
}

/// The ratio that it comes to with more records, of which the log is a smaller share, as far as that is known.
fn ratio_of_more_records(candidate: &Candidate) -> f64 {
    candidate.ratio_without_log.unwrap_or_else(|| ratio(candidate))
}

/// Whether one candidate takes less space than another, beyond what counts as the same.
pub(super) fn saves_more(one: &Candidate, other: &Candidate) -> bool {
    ratio(one) > ratio(other) * (1.0 + SAME_SPACE)
}

/// Clear needs intervals of at least 90 %: the best is within the margin of whatever may be the fastest, and what saves more is not. Nothing
/// is clear where limits or the log leave another one open.
fn sureness(candidates: &[Candidate], choice: &Choice, best: usize) -> Sureness {
    let is_open = choice.if_kept.is_some() || choice.without_log.is_some();
    if is_open || candidates[best].verdict.kept != Kept::Keeps {
        return Sureness::NotClear;
    }
    if choice.is_only {
        return Sureness::Clear;
    }
    let is_known = |index: usize| {
        let interval = candidates[index].throughput.interval;
        interval.is_some_and(|interval| interval.confidence >= SURE)
    };
    match eligible(candidates).all(is_known) && left_open(candidates, choice).next().is_none() {
        true => Sureness::Clear,
        false => Sureness::NotClear,
    }
}
