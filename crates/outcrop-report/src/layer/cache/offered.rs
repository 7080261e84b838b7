//! The highest load that a server may be offered, and how sure that is.

use std::collections::BTreeSet;

use outcrop_schema::cache::{ARRIVAL, CONNECTIONS, LATENCY, OBJECTIVE, OFFERED, UNFINISHED};

use super::cell::{all_of, behind_comma, listed, load, loop_words, rank, server, told_apart};
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
    let told = best(open, &OFFERED).and_then(|(cell, offered)| {
        let apart = behind_comma(&told_apart(cell, &[&ARRIVAL]));
        Some(format!("; not certain of {offered}{apart}: {}", doubt(cell)?))
    });
    told.unwrap_or_default()
}

/// The highest load offered that kept the objective, of the cells with the objective of the first one.
pub(super) fn claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let mut open = all_of(cells, |cell| cell.value(&OFFERED).is_some() && rank(cell) == 0);
    let first = *open.first()?;
    let is_like_first = |cell: &&Cell<'_>| {
        cell.subject() == first.subject() && cell.spelling(&OBJECTIVE) == first.spelling(&OBJECTIVE)
    };
    open.retain(is_like_first);
    let objective = first.spelling(&OBJECTIVE);
    let servers: BTreeSet<String> = cells.iter().map(server).collect();
    let of_server = (servers.len() > 1).then(|| server(first));
    let mut kept = open.clone();
    kept.retain(|cell| keeps_objective(cell) == Some(true));
    let Some((cell, offered)) = best(kept, &OFFERED) else {
        let (all, missed) = (open.len(), may_keep(&open, 0.0));
        let of_server = of_server.map_or_else(String::new, |server| format!(" ({server})"));
        let brief = format!("no offered load met {objective}{of_server}{missed}");
        let text = format!(
            "None of the {all} offered loads met {objective}{of_server}{missed}; the figure shows the lowest."
        );
        return Some(Claim::new("Load", brief, text, Vec::new()).unless_disturbed(open));
    };
    let percentile = &cell.get(&OBJECTIVE)?.percentile;
    let (tail, name) = (cell.number(&LATENCY.of(percentile)?)?, percentile.name);
    let apart = told_apart(cell, &[&ARRIVAL]);
    let conditions = |load: String, apart: &[String]| {
        let before = [load].into_iter().chain(of_server.clone());
        listed(before.chain(apart.iter().cloned()))
    };
    let doubt = doubt(cell).map_or_else(String::new, |why| format!("; not certain: {why}"));
    let missed = may_keep(&open, offered.value);
    let brief = format!(
        "{offered} meets {objective} ({}){doubt}{missed}",
        conditions(loop_words(cell), &apart)
    );
    let text = format!(
        "The highest offered load that met {objective} is {offered}, with a {name} of {} from the intended start ({}){doubt}{missed}.",
        tail.told(),
        conditions(load(cell), &told_apart(cell, &[&ARRIVAL, &CONNECTIONS]))
    );
    let numbers = vec![offered.clone(), tail.clone()];
    let with = match apart.is_empty() {
        true => String::new(),
        false => format!(" ({})", apart.join(", ")),
    };
    let of_server = of_server.map_or_else(String::new, |server| format!(" {server}"));
    let action = format!(
        "Offer{of_server} at most {offered}{with} to meet {objective}: {name} {}{doubt}",
        tail.told()
    );
    let claim = Claim::new("Load", brief, text, numbers).advising(action);
    Some(claim.unless_disturbed(open))
}
