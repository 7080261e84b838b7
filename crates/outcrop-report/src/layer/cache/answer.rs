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
    Chosen, all_apart, all_of, behind_comma, concurrency, generators, held_over_limit, holds, is_closed_loop,
    is_this_build, listed, load, named, named_memory, rank, server, told_apart, typical, words,
};
use super::memory::memory;
use super::policy::policy;
use super::settled::is_unsettled;
use super::{offered, settled};
use crate::answer::{Absence, Answer, Capability, Caution, Claim, Gravity, Reading};
use crate::cell::{Cell, best};
use crate::change::Difference;
use crate::command::Commands;
use crate::disturbed::busy_cpus;
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
/// Memory is enough where more of it would add less than this.
pub(super) const ENOUGH_RATIO: f64 = 0.01;
/// Where more is refused, throughput and cost are not those of the requests alone.
const MUCH_REFUSED: f64 = 0.01;
/// Threads beyond are not worth a CPU that adds less than this.
const WORTH_THREAD: f64 = 1.2;

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
            Some(cell) => Absence::of_more_memory(format!(
                "{} is not kept, so the hit ratio is not that of the limit",
                named_memory(cell)
            )),
            None => not_in_this_run(name).into(),
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
        "{threads} threads answer {number}, one thread {base}: {gain:.2} times the throughput ({conditions}){doubt}."
    );
    let base = base.clone().named("throughput, 1 thread");
    let number = number.clone().named(format!("throughput, {threads} threads"));
    let claim = Claim::new("Threads", brief, text, vec![base, number]);
    let compared = [one[0], most];
    Some(match why_of_driver(compared) {
        Some(why) => claim.of_something_else(why),
        None => claim.unless_disturbed(compared),
    })
}

/// Why throughputs say nothing of a server's threads: the driver set one of them, or took CPU time that they would have had.
fn why_of_driver(compared: [&Cell<'_>; 2]) -> Option<&'static str> {
    let has = |remark| compared.iter().any(|cell| cell.has(remark));
    if has(&SHARED_CPU) {
        return Some("the server and the driver shared a CPU, which a machine with more CPUs avoids");
    }
    has(&DRIVER_LIMIT).then_some("the load driver had no CPU time to spare, so the throughput is its own")
}

/// In what else than its name a peer is started otherwise than ours, of what both have: `server threads 2`.
fn started_otherwise(peer: &Cell<'_>, ours: &Cell<'_>) -> Vec<String> {
    let of_starts = OF_SERVERS.iter().filter(|factor| factor.name != SERVER.name);
    let differs = |factor: &&FactorRef| {
        let [own, other] = [ours, peer].map(|cell| cell.spelling(factor.about()));
        !own.is_empty() && !other.is_empty() && own != other
    };
    of_starts
        .filter(differs)
        .map(|factor| named(peer, *factor))
        .collect()
}

/// Peers that are started as ours; of a server that never is, all of its cells.
fn comparable<'c, 'a>(family: &Chosen<'c, 'a>, ours: &Cell<'_>) -> Chosen<'c, 'a> {
    let is_alike = |cell: &Cell<'_>| started_otherwise(cell, ours).is_empty();
    let has_alike = |name: &str| family.iter().any(|cell| server(cell) == name && is_alike(cell));
    let peers = family.iter().copied().filter(|cell| rank(cell) > 0);
    peers
        .filter(|cell| is_alike(cell) || !has_alike(&server(cell)))
        .collect()
}

/// CPU per request of ours over that of each peer, under the same load.
fn peers(cells: &[Cell<'_>]) -> Option<Claim> {
    let family = typical(cells, OF_SERVERS, &SERVER_CPU);
    let ours = *family.iter().find(|cell| rank(cell) == 0)?;
    let base = ours.number(&SERVER_CPU)?;
    let (mut ratios, mut numbers) = (Vec::new(), vec![base.clone().named("CPU per request, outcrop")]);
    let compared = comparable(&family, ours);
    let name = |peer: &Cell<'_>| match started_otherwise(peer, ours).join(", ") {
        apart if apart.is_empty() => server(peer),
        apart => format!("{} ({apart})", server(peer)),
    };
    for peer in &compared {
        let (number, name) = (peer.number(&SERVER_CPU)?, name(peer));
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
    let beyond = [ours].into_iter().chain(compared.iter().copied());
    let beyond = beyond.filter_map(|cell| {
        let held = holds(held_over_limit(cell)?);
        Some(format!(" ({} {held} under it)", server(cell)))
    });
    let beyond: String = beyond.collect();
    let text = format!(
        "Outcrop's server takes {base} of CPU time per request, {ratios}; {concurrency}, closed loop, the same memory limit{beyond}{apart}."
    );
    let claim = (numbers.len() > 1).then(|| Claim::new("Compared with peers", brief, text, numbers));
    claim.map(|claim| claim.unless_disturbed([ours].into_iter().chain(compared)))
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
    // The server and the load driver share the CPUs with whatever else runs.
    let busy = busy_cpus(cells, words).map(Caution::warning);
    cautions.extend(busy.map(|busy| busy.graded(Gravity::Contaminated)));
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
