//! What the caches give, what to configure, and how sure that is.

use std::collections::BTreeSet;

use outcrop_measure::metric::Metric;
use outcrop_measure::units::format_exact_count;
use outcrop_results::RunView;
use outcrop_schema::FactorRef;
use outcrop_schema::cache::{
    ARRIVAL, CONNECTIONS, DRIVER_LIMIT, HIT_RATIO, KEYS, LATENCY, MEMORY, OF_SERVERS, POLICY, REFUSED_SHARE,
    SCHEMA, SERVER, SERVER_CPU, SERVER_THREADS, SHARED_CPU, THROUGHPUT, WORKLOAD,
};

use super::cell::{
    all_apart, all_of, behind_comma, concurrency, evicts, generators, held_over_limit, holds, is_closed_loop,
    is_this_build, listed, load, named, named_memory, rank, server, told_apart, typical, words,
};
use super::policy::policy;
use super::settled::{is_unsettled, undecided};
use super::{offered, settled};
use crate::answer::{Absence, Answer, Capability, Caution, Claim, NOT_DECIDED, Reading};
use crate::cell::{Cell, best, largest_family};
use crate::change::Difference;
use crate::command::Commands;
use crate::layer::{cautions, overload, subjects};
use crate::number::{Number, SHARE_OF_GETS};
use crate::ties;

/// Columns of the table: more servers than these are a plan of the user's, and in the figures.
const MOST_SERVERS: usize = 4;

/// Row, metric, and which cells count.
type Row = (&'static str, Metric, fn(&Cell<'_>) -> bool);

const ROWS: [Row; 5] = [
    ("Highest hit ratio", HIT_RATIO, |_| true),
    ("Highest throughput, closed loop", THROUGHPUT, is_closed_loop),
    ("Lowest p95, closed loop", LATENCY.p95, is_closed_loop),
    ("Lowest p99, open loop", LATENCY.p99, |cell| !is_closed_loop(cell)),
    ("Least CPU per request", SERVER_CPU, |_| true),
];

/// A hit ratio this near to another is no reason to choose.
pub(super) const TIE_RATIO: f64 = 0.005;
/// From this hit ratio on, next to everything that is asked for is there: more memory adds nothing.
const ALL_HIT: f64 = 0.999;
/// Memory is enough where more of it would add less than this.
pub(super) const ENOUGH_RATIO: f64 = 0.01;
/// Where more is refused, throughput and cost are not those of the requests alone.
const MUCH_REFUSED: f64 = 0.01;
/// Threads beyond are not worth a CPU that adds less than this.
const WORTH_THREAD: f64 = 1.2;

const SHARED: &str = " Server and driver shared CPUs there; measure it again on a machine with more CPUs.";

/// The answer of a run with caches.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>]) -> Answer {
    let shown = cells.iter().filter(|cell| is_this_build(cell));
    let servers: BTreeSet<(usize, String)> = shown.map(|cell| (rank(cell), server(cell))).collect();
    let columns = || servers.iter().take(MOST_SERVERS);
    let capability = |row: &Row| Capability {
        label: row.0.to_owned(),
        readings: columns().map(|one| reading(row, &one.1, cells)).collect(),
    };
    let commands = Commands::of(run);
    let claims = [
        policy(cells, &commands),
        memory(cells, &commands),
        threads(cells),
        offered::claim(cells),
        peers(cells),
    ];
    Answer {
        subject: format!("caches · {}", subjects(cells)),
        capabilities: ROWS.iter().map(capability).collect(),
        advice: claims.into_iter().flatten().collect(),
        cautions: cautions(run, &SCHEMA, cells, own_cautions(cells, &commands)),
    }
}

/// The best value of a metric among the cells of a server, with the cell that it was reached in.
fn reading((_, metric, counts): &Row, name: &str, cells: &[Cell<'_>]) -> Reading {
    let its = all_of(cells, |cell| server(cell) == name);
    let absent = its.iter().find_map(|cell| cell.unavailable(&THROUGHPUT));
    let counted = its.into_iter().filter(|cell| counts(cell)).collect();
    let counted = overload::kept_up(counted, super::cell::overload);
    let within_limit = |cell: &&Cell<'_>| metric.name != HIT_RATIO.name || held_over_limit(cell).is_none();
    let (counted, beyond): (Vec<_>, Vec<_>) = counted.into_iter().partition(within_limit);
    let found = best(counted.iter().copied(), metric);
    // Where a run compares policies, a figure without its policy is nobody's.
    let stated = cells.iter().map(|cell| cell.spelling(&POLICY));
    let policies: BTreeSet<&str> = stated.filter(|policy| !policy.is_empty()).collect();
    let policy = |cell: &Cell<'_>| match policies.len() {
        0 | 1 => String::new(),
        _ => named(cell, &POLICY),
    };
    let settling = |cell: &Cell<'_>| match metric.name == HIT_RATIO.name && is_unsettled(cell) {
        true => "not settled".to_owned(),
        false => String::new(),
    };
    // What else tells the cells of the run apart, or a figure is one of several cells'.
    let conditions = |cell: &Cell<'_>| {
        let told = all_apart(cell);
        let before = [policy(cell), named_memory(cell)];
        listed(before.into_iter().chain(told).chain([load(cell), settling(cell)]))
    };
    let shown = |number: &Number| match metric.name == HIT_RATIO.name {
        true => number.clone().named(SHARE_OF_GETS),
        false => number.clone(),
    };
    let beside = |cell: &Cell<'_>| conditions(cell) + &ties::beside(&counted, cell, metric);
    let found = found.map(|(cell, number)| (shown(number), beside(cell)));
    Reading::of(name, found, || {
        Absence::recorded_or(absent, || match beyond.first() {
            Some(cell) => format!(
                "{} is not kept, so the hit ratio is not that of the limit",
                named_memory(cell)
            ),
            None => not_in_this_run(name),
        })
    })
}

/// Which plan has what a run lacks. A server at a URL is in no plan that ships.
fn not_in_this_run(server: &str) -> String {
    let plan = if server.contains("://") {
        "your own plan with that URL as the target and arrival = [\"closed\", \"poisson:50%\"]"
    } else {
        "`outcrop run cache-peers`"
    };
    format!("this run has no such load; {plan} has it")
}

pub(super) fn hits(number: &Number) -> String {
    format!("{:.1} %", number.value * 100.0)
}

/// `100,000 keys, requests of etc`.
pub(super) fn keys(cell: &Cell<'_>) -> String {
    let count = cell.place(&KEYS).map_or_else(
        || cell.spelling(&KEYS).to_owned(),
        |keys| format_exact_count(keys as u64),
    );
    let load = told_apart(cell, &[&MEMORY, &POLICY, &KEYS, &WORKLOAD]);
    let requests = format!("{count} keys, requests of {}", cell.spelling(&WORKLOAD));
    listed(std::iter::once(requests).chain(load))
}

/// The hit ratios of a family, each with the factor that the family is along.
pub(super) fn hits_along<'c>(family: &[&'c Cell<'_>], along: FactorRef) -> Vec<(&'c Number, String)> {
    let hits = |cell: &&'c Cell<'_>| Some((cell.number(&HIT_RATIO)?, cell.shown(along)));
    family.iter().filter_map(hits).collect()
}

/// Of our server, the cells of one policy that differ in memory alone, from the least to the most: of the policy that hits most
/// over the same limits, as nobody configures the memory of another.
fn by_memory<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<&'c Cell<'a>> {
    let is_known = |cell: &Cell<'_>| cell.get(&MEMORY).is_some() && cell.value(&HIT_RATIO).is_some();
    let limited = all_of(cells, |cell| rank(cell) == 0 && evicts(cell) && is_known(cell));
    let policies: BTreeSet<&str> = limited.iter().map(|cell| cell.spelling(&POLICY)).collect();
    let of = |policy: &str| {
        let its = limited.iter().filter(|cell| cell.spelling(&POLICY) == policy);
        largest_family(its.copied(), &[&MEMORY])
    };
    let families: Vec<Vec<&Cell<'_>>> = policies.into_iter().map(of).collect();
    let most = families.iter().map(Vec::len).max().unwrap_or(0);
    let hits = |family: &Vec<&Cell<'_>>| {
        family
            .iter()
            .filter_map(|cell| cell.value(&HIT_RATIO))
            .sum::<f64>()
    };
    let longest = families.into_iter().filter(|family| family.len() == most);
    longest
        .max_by(|one, other| hits(one).total_cmp(&hits(other)))
        .unwrap_or_default()
}

/// The least memory whose hit ratio is within a point of the highest; no advice where that is the most that was measured.
fn memory(cells: &[Cell<'_>], commands: &Commands) -> Option<Claim> {
    let family = by_memory(cells);
    let known = hits_along(&family, &MEMORY);
    let most = known.iter().map(|one| one.0.value).fold(0.0, f64::max);
    let is_enough = |one: &(&Number, String)| one.0.value >= most - ENOUGH_RATIO;
    let place = known.iter().position(is_enough).filter(|_| known.len() > 1)?;
    let (number, enough) = &known[place];
    let each = listed(
        known
            .iter()
            .map(|(number, limit)| format!("{} at {limit}", hits(number))),
    );
    let (keys, policy) = (keys(family[0]), family[0].spelling(&POLICY));
    let apart = behind_comma(&told_apart(family[0], &[&MEMORY, &POLICY]));
    if place + 1 < known.len() {
        if let Some(claim) = undecided(
            "Memory",
            &family,
            &format!("{each}; with {policy}, {keys}"),
            commands,
        ) {
            return Some(claim);
        }
        let brief = format!(
            "{enough} of memory with {policy}{apart}: {} of gets hit, and more memory adds less than one percentage point",
            hits(number)
        );
        let text = format!(
            "Of the limits measured, {enough} is the smallest within one percentage point of the highest hit ratio ({each}), with {policy}; {keys}."
        );
        let action = format!(
            "Give the cache {enough} of memory with {policy}{apart}: {} of gets hit, and more memory adds less than a percentage point",
            hits(number)
        );
        return Some(
            Claim::new(
                "Memory",
                brief,
                text,
                vec![(*number).clone().named(SHARE_OF_GETS)],
            )
            .advising(action),
        );
    }
    Some(not_enough(&known, place, family[0], &each))
}

/// That the most memory that was measured is the least that is enough, or that even that is not.
fn not_enough(known: &[(&Number, String)], place: usize, cell: &Cell<'_>, each: &str) -> Claim {
    let (number, enough) = &known[place];
    let (keys, policy) = (keys(cell), cell.spelling(&POLICY));
    let below = &known[place - 1].1;
    // In every trial, as far as is known.
    let every = match number.ends().map_or(number.value, |(low, _)| low) >= 1.0 {
        true => "every get",
        false => "nearly every get",
    };
    let (where_it_lies, in_brief) = match number.value >= ALL_HIT {
        true => (
            format!("the smallest sufficient limit lies between {below} and {enough}, where {every} hits"),
            format!("{every} hits at {enough}, and not at {below}"),
        ),
        false => (
            format!("the hit ratio still rises at {enough}, the largest limit measured"),
            format!("the hit ratio still rises at {enough}"),
        ),
    };
    // A terminal has this line alone.
    let apart = behind_comma(&told_apart(cell, &[&MEMORY]));
    let brief = format!("{NOT_DECIDED}: {in_brief}{apart}; `outcrop cache simulate TRACE` decides it");
    let text = format!(
        "Not decided: {where_it_lies} ({each}; with {policy}, {keys}). A plan with more values of `memory` decides it, or \
         `outcrop cache simulate TRACE` with a trace of your requests."
    );
    Claim::new(
        "Memory",
        brief,
        text,
        vec![(*number).clone().named(SHARE_OF_GETS)],
    )
}

/// Whether a second thread of the server answers more, under the most usual number of connections that several were measured with.
fn threads(cells: &[Cell<'_>]) -> Option<Claim> {
    // The schedule of an open loop sets its throughput: closed loops alone.
    let mut family = typical(cells, &[&SERVER_THREADS], &THROUGHPUT);
    family.retain(|cell| cell.get(&SERVER_THREADS).is_some());
    let (one, several): (Vec<&Cell<'_>>, _) =
        family.into_iter().partition(|cell| cell.is(&SERVER_THREADS, &1));
    let base = one.first()?.number(&THROUGHPUT)?;
    let (most, number) = best(several.iter().copied(), &THROUGHPUT)?;
    let threads = most.spelling(&SERVER_THREADS);
    let gain = number.value / base.value;
    let choice = if gain >= WORTH_THREAD { threads } else { "1" };
    let shared = if most.has(&SHARED_CPU) { SHARED } else { "" };
    // Fewer threads that tie with the most are as good.
    let doubt = Difference::of(number, base).caveat().to_owned() + &ties::beside(&several, most, &THROUGHPUT);
    let servers: BTreeSet<String> = cells.iter().map(server).collect();
    let of_server = (servers.len() > 1).then(|| server(most)).into_iter();
    let apart: Vec<String> = of_server.chain(told_apart(most, &[&SERVER_THREADS])).collect();
    let apart = behind_comma(&apart);
    let brief = format!("{choice}: {threads} threads give {gain:.2} × the throughput of one{apart}{doubt}");
    let conditions = listed(
        [server(most), named(most, &MEMORY)]
            .into_iter()
            .chain(told_apart(
                most,
                &[&SERVER_THREADS, &MEMORY, &CONNECTIONS, &ARRIVAL],
            ))
            .chain([load(most)]),
    );
    let text = format!(
        "{threads} threads answer {number}, one thread {base}: {gain:.2} times the throughput ({conditions}){doubt}.{shared}"
    );
    let base = base.clone().named("throughput, 1 thread");
    let number = number.clone().named(format!("throughput, {threads} threads"));
    let claim = Claim::new("Threads", brief, text, vec![base, number]);
    Some(claim.unless_disturbed([one[0], most]))
}

/// CPU per request of ours over that of each peer, under the same load.
fn peers(cells: &[Cell<'_>]) -> Option<Claim> {
    let family = typical(cells, OF_SERVERS, &SERVER_CPU);
    let ours = family.iter().find(|cell| rank(cell) == 0)?;
    let base = ours.number(&SERVER_CPU)?;
    let (mut ratios, mut numbers) = (Vec::new(), vec![base.clone().named("CPU per request, outcrop")]);
    for peer in family.iter().filter(|cell| rank(cell) > 0) {
        let (number, name) = (peer.number(&SERVER_CPU)?, server(peer));
        let caveat = Difference::of(base, number).caveat();
        ratios.push(format!("{:.2} × {name}{caveat}", base.value / number.value));
        numbers.push(number.clone().named(format!("CPU per request, {name}")));
    }
    let (ratios, concurrency) = (ratios.join(", "), concurrency(ours));
    let brief = format!(
        "CPU per request {ratios}{}",
        behind_semicolon(&told_apart(ours, &[]))
    );
    let apart = behind_comma(&told_apart(ours, &[&CONNECTIONS, &ARRIVAL]));
    let beyond = family.iter().filter_map(|cell| {
        let held = holds(held_over_limit(cell)?);
        Some(format!(" ({} {held} under it)", server(cell)))
    });
    let beyond: String = beyond.collect();
    let text = format!(
        "Outcrop's server takes {base} of CPU time per request, {ratios}; {concurrency}, closed loop, the same memory limit{beyond}{apart}."
    );
    let claim = (numbers.len() > 1).then(|| Claim::new("Compared with peers", brief, text, numbers));
    claim.map(|claim| claim.unless_disturbed(family))
}

/// `; memory 8 MiB, 50 connections, closed loop`: behind a list.
fn behind_semicolon(words: &[String]) -> String {
    match words.is_empty() {
        true => String::new(),
        false => format!("; {}", words.join(", ")),
    }
}

/// What a careful reader of figures about caches must also know.
fn own_cautions(cells: &[Cell<'_>], commands: &Commands) -> Vec<Caution> {
    let all = cells.len();
    let open = all_of(cells, |cell| !is_closed_loop(cell));
    let overloaded = overload::caution("cache", open, super::cell::overload, words);
    let reasons = cells.iter().filter_map(|cell| cell.unavailable(&THROUGHPUT));
    let reasons: BTreeSet<&str> = reasons.collect();
    let not_measured = |reason| Caution::note(format!("Not measured: {reason}."));
    let reasons = reasons.into_iter().map(not_measured);
    let mut cautions: Vec<Caution> = overloaded.into_iter().chain(reasons).collect();
    cautions.extend(generators(cells).caution());
    cautions.extend(settled::caution(cells, commands));
    let limited = all_of(cells, |cell| cell.has(&DRIVER_LIMIT)).len();
    if limited > 0 {
        cautions.push(Caution::warning(format!(
            "In {limited} of {all} cells the load driver had no CPU time to spare: throughput and latency there are the driver's, but the server's CPU per request is valid."
        )));
    }
    let with_share = cells
        .iter()
        .filter_map(|cell| Some((cell, cell.value(&REFUSED_SHARE)?)));
    let refusing: Vec<_> = with_share.filter(|(_, share)| *share > MUCH_REFUSED).collect();
    if let Some((worst, share)) = refusing.iter().max_by(|one, other| one.1.total_cmp(&other.1)) {
        cautions.push(Caution::warning(format!(
            "In {} of {all} cells the server refused more than 1 % of the requests, most ({:.0} %) in {}: the throughput does not count refusals, and CPU per request covers answers and refusals.",
            refusing.len(),
            share * 100.0,
            words(worst)
        )));
    }
    let shared = all_of(cells, |cell| cell.has(&SHARED_CPU)).len();
    if shared > 0 {
        cautions.push(Caution::warning(format!(
            "In {shared} of {all} cells the server and the driver shared a CPU: throughput and latency there are those of both together."
        )));
    }
    let closed = all_of(cells, is_closed_loop).len();
    if closed > 0 {
        cautions.push(Caution::note(format!(
            "{closed} of {all} cells are closed loops: their latency is the time to an answer, not the time that a user would have waited at a given load, which open loops measure."
        )));
    }
    if cells.iter().any(|cell| cell.get(&SERVER).is_some()) {
        cautions.push(Caution::note(
            "All requests used the loopback interface: a network adds latency, and the kernel's share of CPU per request depends on the network card.",
        ));
    }
    cautions
}
