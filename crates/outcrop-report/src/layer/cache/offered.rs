//! The highest load that a server may be offered, and how sure that is.

use std::collections::BTreeSet;

use outcrop_measure::units::format_count;
use outcrop_results::{lacks_operations, says_what_gives_more};
use outcrop_schema::cache::{
    ARRIVAL, CONNECTIONS, LATENCY, OBJECTIVE, OFFERED, REQUESTS, SERVICE_LATENCY, UNFINISHED,
};

use super::cell::{
    all_of, behind_comma, generators, listed, load, loop_words, overload, rank, server, told_apart,
};
use crate::answer::{Claim, NOT_DECIDED};
use crate::cell::{Cell, best};
use crate::number::{Number, counted};

/// How a load stands to its objective (`p99<1ms`).
enum Met {
    /// The percentile stayed below the limit, with every request answered.
    Yes,
    No,
    /// Its figures do not tell, for this reason.
    Unknown(String),
}

fn met(cell: &Cell<'_>) -> Option<Met> {
    let objective = cell.get(&OBJECTIVE)?;
    let (percentile, limit_ns) = (&objective.percentile, objective.limit.as_nanoseconds() as f64);
    // Requests without an answer miss it, whatever the others took.
    if cell.value(&UNFINISHED) > Some(0.0) {
        return Some(Met::No);
    }
    let metric = LATENCY.of(percentile);
    let Some(latency_ns) = metric.and_then(|metric| cell.value(&metric)) else {
        let why = metric.and_then(|metric| cell.unavailable(&metric));
        let gives = why.map_or("", |why| what_gives(cell, why));
        let why = why.map_or_else(String::new, |why| format!(" ({})", why.trim_end_matches('.')));
        return Some(Met::Unknown(format!("it has no {}{why}{gives}", percentile.name)));
    };
    if cell.value(&UNFINISHED).is_none() {
        return Some(Met::Unknown(
            "how many requests were never answered was not recorded".to_owned(),
        ));
    }
    if latency_ns < limit_ns {
        return Some(Met::Yes);
    }
    // What the driver's own delay may have missed says nothing of the server, unless that was behind for good.
    let service = SERVICE_LATENCY
        .of(percentile)
        .and_then(|metric| cell.number(&metric));
    let kept = service.filter(|service| service.value < limit_ns);
    Some(match kept.filter(|_| is_late(cell) && overload(cell).is_none()) {
        Some(service) => Met::Unknown(format!(
            "this machine issued its requests late, and from their real start its {} is {service}",
            percentile.name
        )),
        None => Met::No,
    })
}

/// What gives a percentile that is unavailable for a reason, as a clause; empty where the reason is not that of too few operations, or says it.
fn what_gives(cell: &Cell<'_>, why: &str) -> &'static str {
    if !lacks_operations(why) || says_what_gives_more(why) {
        return "";
    }
    // Such a trial lasts until its requests are answered, whatever its duration.
    let requests = cell.spelling(&REQUESTS);
    let is_of_requests = !requests.is_empty() && REQUESTS.default != Some(requests);
    match is_of_requests {
        true => ", which more requests (`requests` in the plan) give",
        false => ", which longer trials (`--duration`) give",
    }
}

fn is_late(cell: &Cell<'_>) -> bool {
    generators(std::slice::from_ref(cell)).are_late()
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

/// What a load missed its objective by.
fn why_missed(cell: &Cell<'_>) -> Option<String> {
    if let Some(count) = cell.value(&UNFINISHED).filter(|count| *count > 0.0) {
        return Some(format!(
            "{} of its requests were never answered",
            format_count(count)
        ));
    }
    let percentile = &cell.get(&OBJECTIVE)?.percentile;
    let latency = cell.number(&LATENCY.of(percentile)?)?;
    Some(format!("its {} is {}", percentile.name, latency.with_ends()))
}

/// The highest load beyond a rate that missed the objective by its value, but may have met it: `; not certain of 500 k/s: its p99 is …`.
fn may_keep(loads: &[&Cell<'_>], beyond: f64) -> String {
    let open = loads.iter().copied().filter(|cell| {
        let is_higher = cell.value(&OFFERED).is_some_and(|rate| rate > beyond);
        is_higher && matches!(met(cell), Some(Met::No)) && doubt(cell).is_some()
    });
    let told = best(open, &OFFERED).and_then(|(cell, offered)| {
        let apart = behind_comma(&told_apart(cell, &[&ARRIVAL]));
        Some(format!("; not certain of {offered}{apart}: {}", doubt(cell)?))
    });
    told.unwrap_or_default()
}

/// The highest load of which it is unknown whether it met the objective, and how many more there are: `500 k/s: its p99 is unknown (…)`.
fn unknown(loads: &[&Cell<'_>]) -> Option<String> {
    let is_unknown = |cell: &&&Cell<'_>| matches!(met(cell), Some(Met::Unknown(_)));
    let unknown: Vec<&Cell<'_>> = loads.iter().filter(is_unknown).copied().collect();
    let (cell, offered) = best(unknown.iter().copied(), &OFFERED)?;
    let Some(Met::Unknown(why)) = met(cell) else {
        return None;
    };
    let apart = behind_comma(&told_apart(cell, &[&ARRIVAL]));
    let more = match unknown.len() - 1 {
        0 => String::new(),
        more => format!("; nor of {}", counted(more, "other load")),
    };
    Some(format!("{offered}{apart}: {why}{more}"))
}

/// A lower load of the same kind that missed what this one met, for certain if there is such: servers that are seldom asked may wake late.
fn lower_missed(loads: &[&Cell<'_>], chosen: &Cell<'_>, rate: f64) -> Option<String> {
    let is_lower = |cell: &&Cell<'_>| {
        cell.is_like(chosen, &[&ARRIVAL]) && cell.value(&OFFERED).is_some_and(|its| its < rate)
    };
    let missed = |cell: &&Cell<'_>| is_lower(cell) && matches!(met(cell), Some(Met::No));
    let missed = loads.iter().copied().filter(missed);
    let (open, sure): (Vec<_>, Vec<_>) = missed.partition(|cell| doubt(cell).is_some());
    let verb = if sure.is_empty() { "may not" } else { "does not" };
    let missed = if sure.is_empty() { open } else { sure };
    let (cell, offered) = best(missed, &OFFERED)?;
    Some(format!("; {offered} {verb}: {}", why_missed(cell)?))
}

/// Whether it is unknown of a lower load of the same kind if it met the objective.
fn is_lower_unknown(loads: &[&Cell<'_>], chosen: &Cell<'_>, rate: f64) -> bool {
    loads.iter().any(|cell| {
        let is_lower = cell.value(&OFFERED).is_some_and(|its| its < rate);
        is_lower && cell.is_like(chosen, &[&ARRIVAL]) && matches!(met(cell), Some(Met::Unknown(_)))
    })
}

/// The highest load offered that kept the objective, of the cells with the objective of the first one.
pub(super) fn claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let mut open = all_of(cells, |cell| cell.value(&OFFERED).is_some() && rank(cell) == 0);
    let first = *open.first()?;
    let is_like_first = |cell: &&Cell<'_>| {
        cell.subject() == first.subject() && cell.spelling(&OBJECTIVE) == first.spelling(&OBJECTIVE)
    };
    open.retain(is_like_first);
    let servers: BTreeSet<String> = cells.iter().map(server).collect();
    let of_server = (servers.len() > 1).then(|| server(first));
    let mut kept = open.clone();
    kept.retain(|cell| matches!(met(cell), Some(Met::Yes)));
    let claim = match best(kept, &OFFERED) {
        Some((cell, offered)) => highest(&open, (cell, offered), of_server)?,
        None => none_kept(&open, first.spelling(&OBJECTIVE), of_server),
    };
    Some(claim.unless_disturbed(open))
}

/// That no load kept the objective, or that the figures of some do not tell.
fn none_kept(open: &[&Cell<'_>], objective: &str, of_server: Option<String>) -> Claim {
    let (all, missed) = (open.len(), may_keep(open, 0.0));
    let of_server = of_server.map_or_else(String::new, |server| format!(" ({server})"));
    if let Some(unknown) = unknown(open) {
        let why = format!(
            "no offered load is known to meet {objective}{of_server}; not known of {unknown}{missed}"
        );
        let brief = format!("{NOT_DECIDED}: {why}");
        return Claim::new("Load", brief, format!("Not decided: {why}."), Vec::new());
    }
    let brief = format!("no offered load met {objective}{of_server}{missed}");
    let text = format!(
        "None of the {all} offered loads met {objective}{of_server}{missed}; the figure shows the lowest."
    );
    // What lies beyond the limit with its whole interval decides it, however wide that is.
    let unsure = open.iter().filter_map(|cell| {
        let latency = cell.number(&LATENCY.of(&cell.get(&OBJECTIVE)?.percentile)?)?;
        let is_unsure = latency.rests_on_one_trial() || doubt(cell).is_some();
        let name = format!("{} at {} offered", latency.name, cell.number(&OFFERED)?);
        is_unsure.then(|| latency.clone().named(name))
    });
    let unsure: Vec<Number> = unsure.collect();
    Claim::new("Load", brief, text, unsure)
}

/// The highest load that kept it. Where a lower one did not, or may not have, less is no safe advice.
fn highest(
    open: &[&Cell<'_>],
    (cell, offered): (&Cell<'_>, &Number),
    of_server: Option<String>,
) -> Option<Claim> {
    let objective = cell.spelling(&OBJECTIVE);
    let percentile = &cell.get(&OBJECTIVE)?.percentile;
    let (tail, name) = (cell.number(&LATENCY.of(percentile)?)?, percentile.name);
    let apart = told_apart(cell, &[&ARRIVAL]);
    let conditions = |load: String, apart: &[String]| {
        let before = [load].into_iter().chain(of_server.clone());
        listed(before.chain(apart.iter().cloned()))
    };
    let doubt = doubt(cell).map_or_else(String::new, |why| format!("; not certain: {why}"));
    let lower = lower_missed(open, cell, offered.value);
    let unknown = unknown(open).map_or_else(String::new, |loads| format!("; not known of {loads}"));
    let others = format!(
        "{}{}{unknown}",
        lower.as_deref().unwrap_or_default(),
        may_keep(open, offered.value)
    );
    let brief = format!(
        "{offered} meets {objective} ({}){doubt}{others}",
        conditions(loop_words(cell), &apart)
    );
    let text = format!(
        "The highest offered load that met {objective} is {offered}, with a {name} of {} from the intended start ({}){doubt}{others}.",
        tail.told(),
        conditions(load(cell), &told_apart(cell, &[&ARRIVAL, &CONNECTIONS]))
    );
    let claim = Claim::new("Load", brief, text, vec![offered.clone(), tail.clone()]);
    if lower.is_some() || is_lower_unknown(open, cell, offered.value) {
        return Some(claim);
    }
    let with = match apart.is_empty() {
        true => String::new(),
        false => format!(" ({})", apart.join(", ")),
    };
    let of_server = of_server.map_or_else(String::new, |server| format!(" {server}"));
    Some(claim.advising(format!(
        "Offer{of_server} at most {offered}{with} to meet {objective}: {name} {}{doubt}",
        tail.told()
    )))
}
