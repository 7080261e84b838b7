//! What a plan asks of servers that lack it: refused where none of them has it, said where some have it.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_schema::cache::{MEMORY, OF_SERVERS, SERVER};
use outcrop_schema::{FactorRef, Settings};

use super::{parameters, url_of};
use crate::cell::Subject;
use crate::layer::{Origin, Refusal, dropped};

/// Refuses a setting that none of a plan's servers has. A server at a URL may be named for a plan that is written for others, so that a note
/// says what is left out.
pub(super) fn check(
    subject: &Subject,
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
) -> Result<Vec<String>, (usize, Refusal)> {
    let kept = |combination: &Settings| {
        let mut kept = combination.clone();
        parameters::complete(subject, &mut kept);
        kept
    };
    if let Some(url) = url_of(subject) {
        let factors = [&[&MEMORY as FactorRef], OF_SERVERS].concat();
        let is_given = |factor: &&FactorRef| {
            let spelling = combinations.iter().find_map(|one| one.spelling(factor.about()));
            spelling.is_some_and(|spelling| factor.default != Some(spelling))
        };
        let given: Vec<&str> = factors
            .iter()
            .filter(is_given)
            .map(|factor| factor.name)
            .collect();
        let note = || {
            format!(
                "{url} has its own settings: what the plan says of {} is left out",
                given.join(", ")
            )
        };
        return Ok((!given.is_empty()).then(note).into_iter().collect());
    }
    let why = |_: FactorRef, combination: &Settings| {
        let server = server_of(&kept(combination));
        format!("{server} has no such setting; leave it out, or use the server outcrop")
    };
    let dropped = dropped::check(OF_SERVERS, combinations, origin, kept, why)?;
    let mut lacked: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (factor, places) in dropped {
        for at in places {
            let server = server_of(&kept(&combinations[at]));
            lacked.entry(server).or_default().insert(factor);
        }
    }
    let note = |(server, factors): (String, BTreeSet<&str>)| {
        let factors: Vec<&str> = factors.into_iter().collect();
        format!(
            "{server} has no {}: its cells are measured without",
            factors.join(", ")
        )
    };
    Ok(lacked.into_iter().map(note).collect())
}

/// The server of a completed combination.
fn server_of(factors: &Settings) -> String {
    factors.spelling(&SERVER).unwrap_or_default().to_owned()
}
