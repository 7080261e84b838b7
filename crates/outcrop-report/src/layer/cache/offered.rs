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

/// Why it is not certain whether a load keeps its objective: the interval of the percentile reaches from below the limit to it, or beyond.
fn doubt(cell: &Cell<'_>) -> Option<String> {
    let objective = cell.get(&OBJECTIVE)?;
    let latency = cell.number(&LATENCY.of(&objective.percentile)?)?;
    let (low, high) = latency.ends()?;
    let limit_ns = objective.limit.as_nanoseconds() as f64;
    // Requests without an answer miss it, whatever the others took.
    let is_answered = cell.value(&UNFINISHED) == Some(0.0);
    let is_open = is_answered && low < limit_ns && high >= limit_ns;
    is_open.then(|| format!("its {} is {}", objective.percentile.name, latency.with_ends()))
}

/// The highest load beyond a rate that missed the objective by its value, but may have met it: `; not certain of 500 k/s: its p99 is …`.
fn may_keep(loads: &[&Cell<'_>], beyond: f64) -> String {
    let open = loads.iter().copied().filter(|cell| {
        let is_higher = cell.value(&OFFERED).is_some_and(|rate| rate > beyond);
        is_higher && keeps_objective(cell) == Some(false) && doubt(cell).is_some()
    });
    let told = best(open, &OFFERED)
        .and_then(|(cell, offered)| Some(format!("; not certain of {offered}: {}", doubt(cell)?)));
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
        let (all, missed) = (open.len(), may_keep(&open, 0.0));
        let brief = format!("no offered load met {objective}{missed}");
        let text =
            format!("None of the {all} offered loads met {objective}{missed}; the figure shows the lowest.");
        return Some(Claim::new("Load", brief, text, Vec::new()).unless_disturbed(open));
    };
    let tail = cell.number(&LATENCY.p99)?;
    let (objective, load) = (cell.spelling(&OBJECTIVE), load(cell));
    let doubt = doubt(cell).map_or_else(String::new, |why| format!("; not certain: {why}"));
    let missed = may_keep(&open, offered.value);
    let brief = format!(
        "{offered} meets {objective} ({}){doubt}{missed}",
        loop_words(cell)
    );
    let text = format!(
        "The highest offered load that met {objective} is {offered}, with a p99 of {} from the intended start ({load}){doubt}{missed}.",
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
