//! Advice that its own figures cannot carry is withheld: for every layer, in this one place.

use outcrop_results::RunView;
use outcrop_results::layout::PLAN_FILE;

use crate::answer::{Claim, NOT_DECIDED};
use crate::finding::as_sentence;
use crate::number::Number;

/// An interval that reaches further than this to either side on average decides nothing, in per cent of the value.
const WIDEST_PERCENT: f64 = 30.0;
/// Repetitions at which an interval is one of 95 % that a single outlier no longer sets.
const ENOUGH: usize = 9;

/// The claims of a layer; one that rests on an interval that is too wide says which command would decide it.
pub(super) fn withhold(claims: Vec<Claim>, run: &RunView, layer: &str) -> Vec<Claim> {
    let decide = |claim: Claim| match widest(&claim.numbers) {
        Some(number) => undecided(&claim, number, run, layer),
        None => claim,
    };
    claims.into_iter().map(decide).collect()
}

/// The number with the widest interval, where that is too wide.
fn widest(numbers: &[Number]) -> Option<&Number> {
    let width = |number: &&Number| number.plus_minus_percent().unwrap_or(0.0);
    let too_wide = numbers.iter().filter(|number| width(number) > WIDEST_PERCENT);
    too_wide.max_by(|one, other| width(one).total_cmp(&width(other)))
}

fn undecided(claim: &Claim, number: &Number, run: &RunView, layer: &str) -> Claim {
    let command = deciding(number.n, run, layer);
    Claim::new(
        claim.topic.clone(),
        format!(
            "{NOT_DECIDED} ({}: {}); {command}",
            number.name,
            number.with_ends()
        ),
        format!(
            "Not decided: the interval of the {} is too wide ({}, {}). {}",
            number.name,
            number,
            number.certainty(),
            as_sentence(&command)
        ),
        claim.numbers.clone(),
    )
}

/// What would decide it: the same cells with more repetitions. The plan that a run keeps has all that its flags said.
fn deciding(n: usize, run: &RunView, layer: &str) -> String {
    let repetitions = if n < ENOUGH { ENOUGH } else { 2 * n };
    let is_alone = run.trials.iter().all(|trial| trial.layer == layer);
    if is_alone {
        let plan = run.dir.join(PLAN_FILE);
        format!(
            "`outcrop run {} --repetitions {repetitions}` would decide",
            plan.display()
        )
    } else {
        format!("`outcrop profile --layer {layer} --repetitions {repetitions}` would decide")
    }
}
