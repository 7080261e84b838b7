//! Factors that are left out of every cell: a flag that gives one would change nothing.

use outcrop_schema::{FactorRef, Settings};

use super::{Origin, Refusal};

/// Refuses a flag whose other values than the default are in none of the cells, which the combinations become by `completed`; `why` follows
/// "it has no effect". In a plan, which may be for several uses, such a factor is left out.
pub(super) fn check(
    factors: &[FactorRef],
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
    completed: &dyn Fn(&Settings) -> Option<Settings>,
    why: &dyn Fn(FactorRef) -> String,
) -> Result<(), (usize, Refusal)> {
    let flagged: Vec<FactorRef> = factors
        .iter()
        .copied()
        .filter(|factor| origin(factor.name) == Origin::Flag)
        .collect();
    if flagged.is_empty() {
        return Ok(());
    }
    let cells: Vec<Settings> = combinations.iter().filter_map(completed).collect();
    for factor in flagged {
        let is_other = |factors: &Settings| {
            let spelling = factors.spelling(factor.about());
            spelling.is_some() && spelling != factor.default
        };
        if let Some(at) = combinations.iter().position(is_other)
            && !cells.iter().any(is_other)
        {
            let message = format!("it has no effect {}", why(factor));
            return Err((at, Refusal::of(factor.about(), message)));
        }
    }
    Ok(())
}
