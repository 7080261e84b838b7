//! Sentences about caches, checked against the records.

pub(super) mod hits;

use std::collections::BTreeSet;

use outcrop_measure::interval::median;
use outcrop_measure::metric::{Metric, Unit};
use outcrop_results::{Outcome, RunView, TrialEntry};
use outcrop_schema::cache::{
    ANSWERED, ARRIVAL, CONNECTIONS, HIT_RATIO, LATENCY, MISMATCHES, OF_SERVERS, OFFERED, PIPELINE,
    REFUSED_SHARE, SCHEMA, SERVER, SERVER_CPU, Server, THROUGHPUT,
};
use outcrop_workload::Arrivals;
use outcrop_workload::keyed::VALUES_DIFFERED;

use super::cell::{
    MOST_REFUSED, all_of, behind_comma, concurrency, generators, is_closed_loop, is_usual, rank, server,
    told_apart,
};
use super::settled::{is_unsettled, turnovers_of};
use crate::cell::Cell;
use crate::disturbed::why_disturbed;
use crate::finding::Finding;
use crate::number::{Number, counted, enumerated};

/// How far concurrency may be from throughput × latency.
const LITTLE: f64 = 0.1;
/// Below this share of the closed loop, every request offered has to be answered …
const EASY_SHARE: f64 = 60.0;
/// … to this share of the offered load.
const LEAST_ANSWERED: f64 = 0.98;
/// All of them, in the order of the page.
pub(super) fn all(run: &RunView, cells: &[Cell<'_>]) -> Vec<Finding> {
    vec![
        verified(run, cells).of_run("Some returned values are not those stored under their key"),
        hits::as_simulated(cells),
        hits::s3_fifo_beside_lru(cells),
        littles_law(cells).of_run("Requests in flight are not throughput × mean latency (Little's law)"),
        open_loop_is_answered(cells),
        generators(cells).finding("cache-generator-was-on-time"),
        settled(cells).of_run("Hit ratios of some cells are not settled after so short a warm-up"),
        less_cpu_than_peers(cells),
        hits::hits_more_than_peers(cells),
    ]
}

/// The least and the greatest of some values, each with what it is of, and how many there are.
type Ends<T> = ((f64, T), (f64, T), usize);

fn ends<T: Copy>(found: impl IntoIterator<Item = (f64, T)>) -> Option<Ends<T>> {
    let mut found: Vec<(f64, T)> = found.into_iter().collect();
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    Some((*found.first()?, *found.last()?, found.len()))
}

fn ratio(name: &str, value: f64, n: usize) -> [Number; 1] {
    [Number::derived(name, value, Unit::Ratio, n)]
}

fn span(of: &str, least: f64, greatest: f64, n: usize) -> [Number; 2] {
    let end = |(end, value)| Number::derived(format!("{end} {of}"), value, Unit::Ratio, n);
    [("least", least), ("greatest", greatest)].map(end)
}

fn settled(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-hits-are-settled";
    const SENTENCE: &str = "The warm-up of every cell replaced the contents of the cache often enough.";
    let known = all_of(cells, |cell| turnovers_of(cell).is_some());
    if known.is_empty() {
        let reason = "no cell has a hit ratio that a warm-up settles: nothing was evicted, misses store nothing, or sets alone filled the cache";
        return Finding::not_testable(ID, SENTENCE, reason);
    }
    let unsettled = known.iter().filter(|cell| is_unsettled(cell)).count();
    let all = counted(known.len(), "cell");
    let tested =
        format!("requests of the warm-up that set an item ÷ items held; too few in {unsettled} of {all}.");
    Finding::tested(ID, SENTENCE, unsettled == 0, tested)
}

fn verified(run: &RunView, cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-values-verified";
    const SENTENCE: &str = "Every value that was returned is the one stored under its key.";
    // A trial with a wrong value has failed: its figures count nowhere, and it counts here.
    let is_wrong = |trial: &&TrialEntry| match &trial.outcome {
        Outcome::Failed { message } => trial.layer == SCHEMA.name && message.contains(VALUES_DIFFERED),
        _ => false,
    };
    let failed = run.trials.iter().filter(is_wrong).count();
    let trials = || cells.iter().flat_map(|cell| cell.trials().iter());
    let counts: Vec<f64> = trials().filter_map(|trial| trial.number(&MISMATCHES)).collect();
    if counts.is_empty() && failed == 0 {
        return Finding::not_testable(ID, SENTENCE, "this run could not measure any server");
    }
    let wrong = failed + counts.iter().filter(|count| **count > 0.0).count();
    let tested = format!(
        "every value of every get in {}, by length and bytes.",
        counted(counts.len() + failed, "trial")
    );
    let number = Number::derived(
        "trials with values that differed",
        wrong as f64,
        Unit::Count,
        counts.len() + failed,
    );
    Finding::tested(ID, SENTENCE, wrong == 0, tested).numbers([number])
}

fn littles_law(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-littles-law";
    const SENTENCE: &str = "In a closed loop, connections × pipeline = throughput × mean latency.";
    // Sets that follow misses are in flight beside the pipeline: where many miss, more is in flight than was asked for.
    let is_meant = |cell: &&Cell<'_>| is_closed_loop(cell) && cell.value(&HIT_RATIO) > Some(0.95);
    let distances = cells.iter().filter(is_meant).filter_map(|cell| {
        let asked = cell.place(&CONNECTIONS)? * cell.place(&PIPELINE)?;
        let ratio = cell.value(&THROUGHPUT)? * cell.value(&LATENCY.mean)? / 1e9 / asked;
        Some(((ratio - 1.0).abs(), ratio))
    });
    let Some((_, (distance, worst), n)) = ends(distances) else {
        return Finding::not_testable(ID, SENTENCE, "no closed loop had more than 95 % hits");
    };
    let tested = format!(
        "throughput × mean latency ÷ (connections × pipeline) in {} with more than 95 % hits, within 10 %.",
        counted(n, "closed loop")
    );
    let meaning = "Where it does not hold, latency or throughput is counted wrongly, or the driver sent its next requests late.";
    let finding = Finding::tested(ID, SENTENCE, distance <= LITTLE, tested).meaning(meaning);
    finding.numbers(ratio("farthest from 1", worst, n))
}

fn open_loop_is_answered(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-open-loop-answered";
    const SENTENCE: &str = "At an offered load of 60 % of the closed loop's throughput, or less, every server answers all requests.";
    let is_easy =
        |arrival: &Arrivals| matches!(arrival, Arrivals::Share(_, percent) if *percent <= EASY_SHARE);
    let loops = all_of(cells, |cell| cell.get(&ARRIVAL).is_some_and(is_easy));
    // What other programs take from the server is not what it cannot answer.
    if let Some(why) = why_disturbed(loops.iter().copied()) {
        return Finding::not_testable(ID, SENTENCE, why);
    }
    if generators(cells).are_late() {
        return Finding::not_testable(ID, SENTENCE, "this machine issued requests late");
    }
    let Some(((margin, share), _, n)) = ends(loops.into_iter().filter_map(answered)) else {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "no open loop had a share of 60 % or less, or the run is older than the count of answers without sets on miss.",
        );
    };
    let tested = format!(
        "answers, refusals among them, ÷ requests offered, of each trial, the median in each of {n} open loops; at least 0.98, less two standard deviations of the offered number for a Poisson process. Sets on miss are left out."
    );
    Finding::tested(ID, SENTENCE, margin >= 0.0, tested).numbers(ratio("least answered", share, n))
}

/// By how much an open loop is above the share that has to be answered, with what noise allows for; and that share.
///
/// Medians over trials. Each trial offers a share of its own closed loop: medians of answers and of offers may come from
/// different trials.
fn answered(cell: &Cell<'_>) -> Option<(f64, f64)> {
    let of_trial = |trial: &&TrialEntry| {
        let offered = trial.number(&OFFERED)?;
        // A refusal is an answer.
        let refused = trial.number(&REFUSED_SHARE).unwrap_or(0.0).min(MOST_REFUSED);
        let answered = trial.number(&ANSWERED)? / (1.0 - refused);
        Some((answered / offered, offered * trial.duration_s))
    };
    let trials: Option<Vec<(f64, f64)>> = cell.trials().iter().map(of_trial).collect();
    let (shares, counts): (Vec<f64>, Vec<f64>) = trials?.into_iter().unzip();
    // Two standard deviations of the number offered, as a share of it.
    let (share, noise) = (median(&shares)?, 2.0 / median(&counts)?.max(1.0).sqrt());
    Some((share + noise - LEAST_ANSWERED, share))
}

/// Our usual cells, each with every peer's cell under the same load, as far as that counts.
fn pairs_with_peers<'c, 'a>(
    cells: &'c [Cell<'a>],
    counts: fn(&Cell<'_>, &Cell<'_>) -> bool,
) -> Vec<(&'c Cell<'a>, &'c Cell<'a>)> {
    let ours = all_of(cells, |cell| cell.is(&SERVER, &Server::Outcrop) && is_usual(cell));
    let beside = |ours: &'c Cell<'a>| {
        let peers = all_of(cells, |peer| {
            rank(peer) > 0 && peer.is_like(ours, OF_SERVERS) && counts(ours, peer)
        });
        peers.into_iter().map(move |peer| (ours, peer))
    };
    ours.into_iter().flat_map(beside).collect()
}

/// The same compared in a metric that both have.
fn beside_peers<'c, 'a>(
    cells: &'c [Cell<'a>],
    metric: &Metric,
    counts: fn(&Cell<'_>, &Cell<'_>) -> bool,
    compare: fn(f64, f64) -> f64,
) -> Vec<(f64, &'c Cell<'a>)> {
    let pairs = pairs_with_peers(cells, counts).into_iter();
    pairs
        .filter_map(|(ours, peer)| Some((compare(ours.value(metric)?, peer.value(metric)?), peer)))
        .collect()
}

/// Why nothing could be compared with peers where it is not a matter of how cells were measured; `plan` measures what can be.
fn no_pair(cells: &[Cell<'_>], metric: &Metric, plan: &str) -> Option<String> {
    if !cells.iter().any(|cell| rank(cell) > 0) {
        return Some(format!("no peer was measured; the plan {plan} does that"));
    }
    beside_peers(cells, metric, |_, _| true, |ours, _| ours).is_empty().then(|| {
        format!(
            "no cell of a peer with this figure differs in the server alone from one of Outcrop's server with its default policy and build; the plan \
             {plan} measures such pairs"
        )
    })
}

/// The servers of the peers that were compared: `memcached and redis`.
fn servers_of(compared: &[(f64, &Cell<'_>)]) -> String {
    let servers: BTreeSet<String> = compared.iter().map(|(_, peer)| server(peer)).collect();
    enumerated(&servers.into_iter().collect::<Vec<_>>())
}

fn less_cpu_than_peers(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-less-cpu-than-peers";
    const SENTENCE: &str = "Outcrop's server takes less CPU time per request than each peer that it was compared with, under the same closed loop.";
    let ratios = beside_peers(
        cells,
        &SERVER_CPU,
        |ours, _| is_closed_loop(ours),
        |ours, theirs| ours / theirs,
    );
    let compared = servers_of(&ratios);
    let above = ratios.iter().filter(|(ratio, _)| *ratio >= 1.0).count();
    // By whole intervals: of two that overlap it is not known which is less, nor of a single trial.
    let numbers: Vec<(&Number, &Number)> = pairs_with_peers(cells, |ours, _| is_closed_loop(ours))
        .into_iter()
        .filter_map(|(ours, peer)| ours.number(&SERVER_CPU).zip(peer.number(&SERVER_CPU)))
        .filter(|(ours, peer)| {
            !(ours.rests_on_one_trial() || peer.rests_on_one_trial() || ours.overlaps(peer))
        })
        .collect();
    let below = numbers
        .iter()
        .filter(|(ours, peer)| ours.value < peer.value)
        .count();
    let surely_above = numbers.len() - below;
    let Some(((least, _), (most, peer), n)) = ends(ratios) else {
        let open = || {
            "no pair of cells was measured under a closed loop; the plan cache-peers has such pairs"
                .to_owned()
        };
        let reason = no_pair(cells, &SERVER_CPU, "cache-peers").unwrap_or_else(open);
        return Finding::not_testable(ID, SENTENCE, &reason);
    };
    let (server, load) = (server(peer), concurrency(peer));
    let apart = behind_comma(&told_apart(peer, &[&CONNECTIONS, &ARRIVAL]));
    let tested = format!(
        "outcrop ÷ peer ({compared}) in {} of cells that differ only in the server; 1 or more in {above}, the highest against {server} at {load}{apart}. By their intervals {below} are below 1, {surely_above} above, and {} undecided.",
        counted(n, "pair"),
        n.saturating_sub(numbers.len())
    );
    if surely_above == 0 && below < n {
        return Finding::not_testable(
            ID,
            SENTENCE,
            format!(
                "the intervals of {} overlap, or rest on a single trial",
                counted(n - below, "pair")
            ),
        );
    }
    let meaning = "Outcrop's server runs in the driver's process and its peers in their own, which does not affect CPU per request, because all bytes go through sockets.";
    let finding = Finding::tested(ID, SENTENCE, surely_above == 0, tested).meaning(meaning);
    let finding = finding.numbers(span("ratio", least, most, n));
    let compared = pairs_with_peers(cells, |ours, _| is_closed_loop(ours));
    finding.unless_disturbed(compared.into_iter().flat_map(|(ours, peer)| [ours, peer]))
}
