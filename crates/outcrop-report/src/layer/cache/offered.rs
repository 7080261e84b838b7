//! The highest load that a server may be offered, and how sure that is.

use outcrop_schema::cache::{LATENCY, OBJECTIVE, OFFERED, UNFINISHED};

use super::cell::{all_of, load, loop_words, rank};
use crate::answer::Claim;
use crate::cell::{Cell, best};

/// Whether the percentile of its objective (`p99<1ms`) stayed below the limit, with every request answered.
fn keeps_objective(cell: &Cell<'_>) -> Option<bool> {
    let objective = cell.get(&OBJECTIVE)?;
    let latency_ns = cell.value(&LATENCY.of(&objective.percentile)?)?;
    let is_answered = cell.value(&UNFINISHED) == Some(0.0);
    Some(is_answered && latency_ns < objective.limit.as_nanoseconds() as f64)
}

/// Why it is not certain that a load keeps its objective; empty where the whole interval lies below the limit.
fn doubt(cell: &Cell<'_>) -> String {
    let told = cell.get(&OBJECTIVE).and_then(|objective| {
        let latency = cell.number(&LATENCY.of(&objective.percentile)?)?;
        let (_, high) = latency.ends()?;
        let limit_ns = objective.limit.as_nanoseconds() as f64;
        let range = latency.with_ends();
        (high >= limit_ns).then(|| format!("; not certain: its {} is {range}", objective.percentile.name))
    });
    told.unwrap_or_default()
}

/// The highest load offered that kept the objective.
pub(super) fn claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let mut open = all_of(cells, |cell| cell.value(&OFFERED).is_some() && rank(cell) == 0);
    let first = *open.first()?;
    open.retain(|cell| cell.subject() == first.subject());
    let objective = first.spelling(&OBJECTIVE);
    let mut kept = open.clone();
    kept.retain(|cell| keeps_objective(cell) == Some(true));
    let Some((cell, offered)) = best(kept, &OFFERED) else {
        let (brief, all) = (format!("no offered load met {objective}"), open.len());
        let text = format!("None of the {all} offered loads met {objective}; the figure shows the lowest.");
        return Some(Claim::new("Load", brief, text, Vec::new()).unless_disturbed(open));
    };
    let tail = cell.number(&LATENCY.p99)?;
    let (objective, load) = (cell.spelling(&OBJECTIVE), load(cell));
    let doubt = doubt(cell);
    let brief = format!("{offered} meets {objective} ({}){doubt}", loop_words(cell));
    let text = format!(
        "The highest offered load that met {objective} is {offered}, with a p99 of {} from the intended start ({load}){doubt}.",
        tail.told()
    );
    let numbers = vec![offered.clone(), tail.clone()];
    let action = format!(
        "Offer at most {offered} to meet {objective}: p99 {}{doubt}",
        tail.told()
    );
    let claim = Claim::new("Load", brief, text, numbers).advising(action);
    Some(claim.unless_disturbed(open))
}
