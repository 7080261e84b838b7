//! Findings on hit ratios, which are decided by whole intervals: each trial draws other requests.

use std::ops::RangeInclusive;

use outcrop_measure::metric::Unit;
use outcrop_schema::cache::{
    EVICTIONS, HIT_RATIO, ITEMS, MEMORY, POLICY, Policy, RESIDENT_BYTES, SIMULATED_HIT_RATIO,
    WARM_UP_REQUESTS,
};

use super::{ends, no_pair, pairs_with_peers, servers_of, span};
use crate::cell::Cell;
use crate::finding::{Finding, Side, Verdict};
use crate::layer::cache::cell::{behind_comma, rank, server, told_apart};
use crate::layer::cache::settled::is_unsettled;
use crate::number::{Number, SHARE_OF_GETS, counted};

/// How far a store may be from its policy simulated, as a ratio of gets.
const FROM_SIMULATION: f64 = 0.01;
/// W-TinyLFU is compared with its simulation where that had so many requests for each item held before measuring: until then it holds cold
/// keys of the fill …
const WARM_PER_ITEM: f64 = 20.0;
/// … and where so many items are held: of few, a large one displaces several, and simulated ones are of equal size.
const MANY_ITEMS: f64 = 10_000.0;
/// A policy is behind another when it hits so much less.
const BEHIND: f64 = 0.002;

pub(super) fn as_simulated(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-hits-as-simulated";
    const SENTENCE: &str = "The hit ratio of Outcrop's server is within one point of a textbook simulation of its policy with as many items.";
    let has_simulation = |cell: &&Cell<'_>| rank(cell) == 0 && cell.value(&SIMULATED_HIT_RATIO).is_some();
    let (unlike, alike): (Vec<_>, Vec<_>) = cells
        .iter()
        .filter(has_simulation)
        .partition(|cell| is_unlike_simulation(cell));
    let not_judged = match unlike.len() {
        0 => String::new(),
        count => format!(
            " W-TinyLFU is not judged in {}: its simulation needs {WARM_PER_ITEM:.0} requests for each item before measuring, and \
             {MANY_ITEMS:.0} items.",
            counted(count, "cell")
        ),
    };
    let differences = alike.into_iter().filter_map(|cell| {
        let difference = Difference::of(cell.number(&HIT_RATIO)?, cell.number(&SIMULATED_HIT_RATIO)?);
        Some((difference, cell))
    });
    let within = -FROM_SIMULATION..=FROM_SIMULATION;
    let differences: Vec<_> = differences.collect();
    let (outside, open) = sides(&differences, &within);
    // Of those that decide it, where any does; else of those that leave it open.
    let wanted = match (outside, open) {
        (0, 0) => None,
        (0, _) => Some(Side::Open),
        _ => Some(Side::Beyond),
    };
    let decides = |one: &&(Difference, _)| wanted.is_none_or(|side| one.0.side(&within) == side);
    let value = |one: &(Difference, _)| one.0.0.value.abs();
    let deciding = differences.iter().filter(decides);
    let Some((most, worst)) = deciding.max_by(|one, other| value(one).total_cmp(&value(other))) else {
        let reason = match not_judged.trim_start() {
            "" => "no policy was simulated; the plan cache-policies does that",
            reason => reason,
        };
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let (policy, memory) = (worst.spelling(&POLICY), worst.shown(&MEMORY));
    let apart = behind_comma(&told_apart(worst, &[&POLICY, &MEMORY]));
    let cells = counted(differences.len(), "cell");
    let tested = format!(
        "hit ratio − simulated hit ratio in {cells}, by intervals: more than a point in {outside}, undecided in {open}, most with {policy} at \
         {memory}{apart} ({}). The numbers of requests and items are the same; the random draws differ.{not_judged}",
        most.in_points()
    );
    let verdict = Verdict::of_sides(outside, open, || {
        format!(
            "in {open} of {cells}, {}. Most with {policy} at {memory}{apart}: {}. {MORE}",
            reaches("one point"),
            most.in_points()
        )
    });
    let meaning = "Where it holds, the store implements the policy of its paper, and value sizes, which the simulation ignores, do not matter. They do for W-TinyLFU: after a short warm-up the simulation still holds more of the cold keys of the fill, because items of equal size replace each other one by one; where few items fit, a large one displaces several on the server.";
    let finding = Finding::judged(ID, SENTENCE, verdict, tested).meaning(meaning);
    let largest = Number::derived(
        "largest difference",
        most.0.value.abs(),
        Unit::Ratio,
        differences.len(),
    );
    finding.numbers([largest]).by_intervals()
}

/// Why a difference of hit ratios decides nothing.
fn reaches(limit: &str) -> String {
    format!("the interval of the difference has values on both sides of {limit}, or there is one trial")
}
/// What decides it.
const MORE: &str = "More repetitions narrow it";

/// By how much one hit ratio is above another, with the interval that theirs give it.
pub(crate) struct Difference(Number);

impl Difference {
    pub(crate) fn of(one: &Number, other: &Number) -> Self {
        let [one, other] = [one, other].map(|number| number.clone().named(SHARE_OF_GETS));
        let minus = |values: &[f64]| {
            values
                .iter()
                .copied()
                .reduce(|one, other| one - other)
                .unwrap_or(0.0)
        };
        Self(Number::computed(
            "difference",
            Unit::Ratio,
            &[&one, &other],
            minus,
        ))
    }

    /// Where it lies; one that rests on a single trial is not known well enough.
    fn side(&self, range: &RangeInclusive<f64>) -> Side {
        Side::over_trials(&self.0, range)
    }

    /// The most that its interval leaves room for; none of a single trial.
    pub(crate) fn greatest(&self) -> Option<f64> {
        self.0.ends().map(|(_, high)| high)
    }

    /// `−1.87 points, −2.25 to +0.35`
    pub(crate) fn in_points(&self) -> String {
        let ends = self.0.ends().map_or_else(
            || ", of one trial".to_owned(),
            |(low, high)| format!(", {} to {}", signed_points(low), signed_points(high)),
        );
        format!("{} points{ends}", signed_points(self.0.value))
    }
}

/// A share in percentage points: `−1.87`.
fn signed_points(share: f64) -> String {
    format!("{:+.2}", share * 100.0).replace('-', "−")
}

/// How many differences surely lie outside a range, and of how many that is not decided.
fn sides<T>(differences: &[(Difference, T)], range: &RangeInclusive<f64>) -> (usize, usize) {
    let count = |wanted: Side| {
        let its = differences.iter().filter(|one| one.0.side(range) == wanted);
        its.count()
    };
    (count(Side::Beyond), count(Side::Open))
}

/// Whether the simulation of a cell is of a cache that differs from the server for reasons that are known, whatever the policy is.
fn is_unlike_simulation(cell: &Cell<'_>) -> bool {
    let known = cell.value(&ITEMS).zip(cell.value(&WARM_UP_REQUESTS));
    let is_cold =
        known.is_some_and(|(items, requests)| items < MANY_ITEMS || requests < WARM_PER_ITEM * items);
    cell.is(&POLICY, &Policy::TinyLfu) && is_cold
}

pub(super) fn s3_fifo_beside_lru(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-s3-fifo-beside-lru";
    const SENTENCE: &str = "S3-FIFO hits at least as often as LRU at every memory limit.";
    let of = |policy| cells.iter().filter(move |cell| cell.is(&POLICY, &policy));
    let pairs = of(Policy::S3Fifo).filter_map(|cell| {
        let lru = of(Policy::Lru).find(|lru| lru.is_like(cell, &[&POLICY]))?;
        let advantage = Difference::of(cell.number(&HIT_RATIO)?, lru.number(&HIT_RATIO)?);
        Some((is_unsettled(cell) || is_unsettled(lru), (advantage, cell)))
    });
    let (unsettled, settled): (Vec<_>, Vec<_>) = pairs.partition(|(is_unsettled, _)| *is_unsettled);
    let settled: Vec<_> = settled.into_iter().map(|(_, pair)| pair).collect();
    let (below, open) = sides(&settled, &(-BEHIND..=f64::INFINITY));
    let values = settled.iter().map(|(advantage, cell)| (advantage.0.value, *cell));
    let Some(((least, worst), (most, _), n)) = ends(values) else {
        let reason = match unsettled.is_empty() {
            true => "the two were not measured under the same load; the plan cache-policies does that",
            false => "their hit ratios are not settled after so short a warm-up",
        };
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let left_out = match unsettled.len() {
        0 => String::new(),
        count => format!(
            " Left out, because hit ratios are not settled: {}.",
            counted(count, "pair")
        ),
    };
    let apart = behind_comma(&told_apart(worst, &[&POLICY, &MEMORY]));
    let (from, memory, to) = (signed_points(least), worst.shown(&MEMORY), signed_points(most));
    let pairs = counted(n, "pair");
    let tested = format!(
        "hit ratio of S3-FIFO − that of LRU in {pairs} of cells, from {from} points (at {memory}{apart}) to {to}; a deficit below 0.2 points \
         does not count. By intervals, it is larger in {below}, and undecided in {open}.{left_out}"
    );
    let verdict = Verdict::of_sides(below, open, || {
        format!(
            "in {open} of {pairs} of cells, {}. {MORE}",
            reaches("a deficit of 0.2 points")
        )
    });
    let finding = Finding::judged(ID, SENTENCE, verdict, tested);
    finding.numbers(span("advantage", least, most, n)).by_intervals()
}

pub(super) fn hits_more_than_peers(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-hits-more-than-peers";
    const SENTENCE: &str = "With the same memory limit, Outcrop's server hits more often than each peer that it was compared with.";
    let pairs = pairs_with_peers(cells, is_fair).into_iter();
    let gains = pairs.filter_map(|(ours, peer)| {
        let gain = Difference::of(ours.number(&HIT_RATIO)?, peer.number(&HIT_RATIO)?);
        Some((gain, peer))
    });
    let gains: Vec<_> = gains.collect();
    let (behind, open) = sides(&gains, &(f64::MIN_POSITIVE..=f64::INFINITY));
    let gains: Vec<_> = gains
        .into_iter()
        .map(|(gain, peer)| (gain.0.value, peer))
        .collect();
    let compared = servers_of(&gains);
    let Some(((least, peer), (most, _), n)) = ends(gains) else {
        if let Some(reason) = no_pair(cells, &HIT_RATIO, "cache-peer-hits") {
            return Finding::not_testable(ID, SENTENCE, &reason);
        }
        let reason = if !cells.iter().any(|cell| rank(cell) > 0 && has_evicted(cell)) {
            "no peer was measured with too little memory for its keys; the plan cache-peer-hits does that"
        } else {
            "where a peer evicted, either hit ratios are not settled after so short a warm-up, or the peer's process holds more than twice its \
             memory limit"
        };
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let (from, to) = (signed_points(least), signed_points(most));
    let (server, memory) = (server(peer), peer.shown(&MEMORY));
    let apart = behind_comma(&told_apart(peer, &[&MEMORY]));
    let pairs = counted(n, "pair");
    let tested = format!(
        "outcrop − peer ({compared}) in {pairs} of cells in which the peer evicted, hit ratios are settled, and the peer's process holds at most twice its \
         memory limit, from {from} points (against {server} at {memory}{apart}) to {to}. By intervals, it hits no more often in {behind}, \
         and {open} are undecided."
    );
    let verdict = Verdict::of_sides(behind, open, || {
        format!(
            "in {open} of {pairs} of cells, {}. {MORE}",
            reaches("equal hit ratios")
        )
    });
    let meaning =
        "The limit is the configured one, not the memory of the process: see resident memory in the records.";
    let finding = Finding::judged(ID, SENTENCE, verdict, tested).meaning(meaning);
    finding.numbers(span("gain", least, most, n)).by_intervals()
}

/// How many times its memory limit a peer's process may hold: memcached does not keep to limits below some 16 MiB.
const MOST_OVER: f64 = 2.0;

/// Whether hit ratios of a cell of ours and one of a peer show which keeps the better values in the same memory.
fn is_fair(ours: &Cell<'_>, peer: &Cell<'_>) -> bool {
    let limit = peer.get(&MEMORY).map(|limit| limit.bytes() as f64);
    let keeps_limit = !matches!((peer.value(&RESIDENT_BYTES), limit), (Some(held), Some(limit)) if held > MOST_OVER * limit);
    has_evicted(peer) && keeps_limit && !is_unsettled(ours) && !is_unsettled(peer)
}

fn has_evicted(cell: &Cell<'_>) -> bool {
    cell.value(&EVICTIONS) > Some(0.0)
}
