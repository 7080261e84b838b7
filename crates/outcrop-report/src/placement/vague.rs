//! Figures that decide nothing, by the rule that withholds advice in every layer: known too badly, of one trial, or disturbed.

use super::bounds::{Kept, SURE};
use super::candidate::{Candidate, CompressedAt};
use super::choice::{Choice, Sureness};
use super::doubt::Race;
use super::words::as_name;
use crate::disturbed;
use crate::finding::as_sentence;

/// Why the throughput that an answer compares decides nothing, as a clause; none where it does, or where limits alone decide.
pub(super) fn why(candidates: &[Candidate], choice: &Choice, race: &Race) -> Option<String> {
    let best = choice.best.filter(|_| !choice.is_only)?;
    let compared = compared(candidates, best, choice, race);
    if let Some(place) = compared.iter().position(|one| is_wide(one)) {
        let one = compared[place];
        return Some(match place {
            0 => "the throughput differs too much between trials".to_owned(),
            _ => format!(
                "the throughput of {} is known only as {}",
                as_name(one),
                one.throughput.with_ends()
            ),
        });
    }
    let is_of_one_trial = |one: &&Candidate| one.throughput.rests_on_one_trial();
    if compared.iter().any(is_of_one_trial) {
        return Some("the repeatability of one trial is unknown".to_owned());
    }
    disturbed(&compared)
}

/// That the answer may break a limit, as a clause: its figures keep all limits, but an interval reaches beyond one. None where none does.
pub(super) fn at_limit(best: &Candidate) -> Option<String> {
    let it = match best.place {
        CompressedAt::Nowhere => "no compression",
        _ => "it",
    };
    (best.verdict.kept == Kept::MayBreak).then(|| format!("{it} {}", best.verdict.why))
}

/// How sure an answer is, with that clause where another doubt was said first.
pub(super) fn with_limit(sure: String, best: &Candidate, sureness: Sureness) -> String {
    // What all looks of a race made clear, they judged by the limits too.
    let clause = at_limit(best).filter(|clause| sureness == Sureness::NotClear && !sure.contains(clause));
    match clause {
        Some(clause) => format!("{sure} {}", as_sentence(&clause)),
        None => sure,
    }
}

/// What the answer rests on, itself first: and no compression, or where that is the answer, what takes less space. Limits that leave one out decide
/// without its throughput. A race that is clear has judged all others by their own intervals, with one confidence for all comparisons together.
fn compared<'c>(
    candidates: &'c [Candidate],
    best: usize,
    choice: &Choice,
    race: &Race,
) -> Vec<&'c Candidate> {
    let is_clear = race.budget.is_some() && choice.sureness == Some(Sureness::Clear);
    let own = &candidates[best];
    let other = match own.place {
        CompressedAt::Nowhere => choice.saves_more,
        _ => candidates.iter().position(Candidate::is_plain),
    };
    let other = other.map(|place| &candidates[place]);
    let other = other.filter(|one| !is_clear && one.left_out.is_none());
    std::iter::once(own).chain(other).collect()
}

/// Whether its throughput is known too badly to decide anything.
fn is_wide(one: &Candidate) -> bool {
    one.throughput.is_too_wide()
}

/// What other programs did meanwhile, where few trials were measured: the noise of many is in their intervals.
fn disturbed(compared: &[&Candidate]) -> Option<String> {
    let mut intervals = compared.iter().filter_map(|one| one.throughput.interval);
    let has_few = intervals.any(|interval| interval.confidence < SURE);
    let shares = compared.iter().filter_map(|one| one.others_share);
    disturbed::in_words(shares).filter(|_| has_few)
}
