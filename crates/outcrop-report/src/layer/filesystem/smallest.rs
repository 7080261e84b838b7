//! Which configurations tie in the least space.

use outcrop_schema::filesystem::SPACE_RATIO;

use super::cell::configuration;
use crate::answer::Claim;
use crate::cell::Cell;
use crate::ties;

/// The claim that a configuration takes the least space, with those that tie with it.
pub(super) fn beside_smallest(mut claim: Claim, smallest: &Cell<'_>, candidates: &[&Cell<'_>]) -> Claim {
    let tie = tie_of_space(smallest, candidates);
    if !tie.is_empty() {
        claim.brief = format!("{}; data ÷ space: {tie}", claim.brief);
        claim.text = format!("{} Data ÷ space: {tie}.", claim.text);
    }
    claim
}

/// `a tie with btrfs zstd:3`; empty where nothing takes as little space.
pub(super) fn tie_of_space(smallest: &Cell<'_>, candidates: &[&Cell<'_>]) -> String {
    let own = smallest.number(&SPACE_RATIO);
    let is_tied = |cell: &Cell<'_>| {
        let both = own.zip(cell.number(&SPACE_RATIO));
        both.is_some_and(|(own, other)| ties::are_tied(own, other))
    };
    let others = candidates
        .iter()
        .filter(|cell| !std::ptr::eq(**cell, smallest) && is_tied(cell));
    let names: Vec<String> = others.map(|cell| configuration(cell)).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("a tie with {}", names.join(", ")),
    }
}
