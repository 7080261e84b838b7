//! What a plan says of cells that have no such thing: refused where none of them has it.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_schema::{FactorRef, Settings};

use super::{Origin, Refusal};

/// What a plan says of one factor that some of its combinations have no use for, and which these are.
pub(super) type Dropped = BTreeMap<&'static str, BTreeSet<usize>>;

/// One value that a plan gives.
struct Given {
    factor: FactorRef,
    at: usize,
    is_kept: bool,
}

/// Which of these factors a plan gives values of that some cells do not keep. A default that nobody wrote down asks for nothing, and one that
/// stands in a plan may have been written there by us. `kept` is what is left of a combination in its cell.
///
/// # Errors
/// A value that no cell keeps: all cells would be something else than the plan says, and those of several such values one cell. The message
/// is `why`.
pub(super) fn check(
    factors: &[FactorRef],
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
    kept: impl Fn(&Settings) -> Settings,
    why: impl Fn(FactorRef, &Settings) -> String,
) -> Result<Dropped, (usize, Refusal)> {
    let mut all: BTreeMap<(&str, String), Given> = BTreeMap::new();
    let mut dropped = Dropped::new();
    for (at, combination) in combinations.iter().enumerate() {
        let kept = kept(combination);
        for factor in factors {
            let Some(spelling) = combination.spelling(factor.about()) else {
                continue;
            };
            if factor.default == Some(spelling) && origin(factor.name) != Origin::Flag {
                continue;
            }
            let is_kept = kept.has(factor.about());
            if !is_kept {
                dropped.entry(factor.name).or_default().insert(at);
            }
            let given = all.entry((factor.name, spelling.to_owned()));
            let given = given.or_insert(Given {
                factor: *factor,
                at,
                is_kept,
            });
            given.is_kept |= is_kept;
        }
    }
    match all.values().find(|given| !given.is_kept) {
        Some(given) => {
            let message = why(given.factor, &combinations[given.at]);
            Err((given.at, Refusal::of(given.factor.about(), message)))
        }
        None => Ok(dropped),
    }
}

/// Refuses a flag that has no effect: its value, other than the default, is in none of the cells, which the combinations become by `completed`;
/// `why` follows "it has no effect". In a plan, which may be for several uses, such a factor is left out.
pub(super) fn check_flags(
    factors: &[FactorRef],
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
    completed: impl Fn(&Settings) -> Option<Settings>,
    why: impl Fn(FactorRef) -> String,
) -> Result<(), (usize, Refusal)> {
    let flagged = factors.iter().copied();
    let flagged: Vec<FactorRef> = flagged
        .filter(|factor| origin(factor.name) == Origin::Flag)
        .collect();
    // A default asks for nothing, also where a flag gives it; a cell may have one in place of what was asked for.
    let kept = |combination: &Settings| {
        let mut kept = completed(combination).unwrap_or_default();
        for factor in &flagged {
            if kept.spelling(factor.about()) == factor.default {
                kept.remove(factor.about());
            }
        }
        kept
    };
    let message = |factor: FactorRef, _: &Settings| format!("it has no effect {}", why(factor));
    check(&flagged, combinations, &|_| Origin::Plan, kept, message).map(drop)
}
