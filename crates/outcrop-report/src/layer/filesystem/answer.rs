//! Which configuration is smallest, which reads soonest, which writes fastest, and what each costs.

use std::collections::BTreeSet;

use outcrop_measure::metric::Metric;
use outcrop_results::RunView;
use outcrop_schema::filesystem::{
    ABSENT, CPU_PER_OPERATION, IOPS, JOBS, KERNEL_THREAD_SHARE, LATENCY, READ_AMPLIFICATION, SCHEMA,
    SPACE_RATIO,
};

use super::cell::{
    CONFIGURATION, behind_comma, configuration, generators, is_closed, is_cold_random_read, is_compressed,
    kind, of_those, rivals_of,
};
use super::limits::{judge, left_open};
use super::price::price;
use super::rivals::may_be_better;
use super::smallest::beside_smallest;
use super::{ageing, small, tail, writes};
use crate::answer::{
    Absence, Answer, CONFIGURATION_COLUMN, Capability, Caution, Claim, NOT_DECIDED, Reading,
};
use crate::cell::{Cell, best, largest_family};
use crate::layer::undecided::{add_rival, add_wide_rivals};
use crate::layer::{cautions, overload, subjects};
use crate::number::{Number, counted};
use crate::placement::{Bounds, Kept, Limit};
use crate::ties;

/// Why a configuration is the one that reads soonest.
const FASTEST_READS: &str = "its cold small reads have the lowest median latency (p50)";
/// Wishes.
const SMALLEST: &str = "Smallest";
const SOONEST: &str = "Fastest small reads, p50";
/// A configuration that reads this many times as often per second is ahead by that measure.
const AHEAD: f64 = 1.05;
/// Compression that gives less data ÷ space than this saves nothing: the metadata of two filesystems differ by as much.
const LEAST_SAVING: f64 = 1.02;

/// The answer of a run with filesystems.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Answer {
    let candidates = candidates(cells);
    Answer {
        subject: format!(
            "{} · {}",
            subjects(cells),
            counted(
                match candidates.len() {
                    0 => cells.iter().map(configuration).collect::<BTreeSet<_>>().len(),
                    count => count,
                },
                "configuration"
            )
        ),
        capabilities: capabilities(cells, &candidates),
        advice: within(&candidates, bounds)
            .into_iter()
            .chain(writes::claims(cells, bounds))
            .chain(small::claims(cells))
            .chain(ageing::claim(cells))
            .collect(),
        cautions: cautions(
            run,
            &SCHEMA,
            cells,
            own_cautions(cells)
                .into_iter()
                .chain(left_open(&candidates, bounds)),
        ),
    }
}

/// Cold small reads of configurations that differ in nothing else, one request at a time where there are such.
pub(super) fn candidates<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<&'c Cell<'a>> {
    let reads = || {
        cells
            .iter()
            .filter(|cell| is_cold_random_read(cell) && cell.value(&LATENCY.p50).is_some())
    };
    // Of an offered load the schedule decides the latency: it is taken where there is nothing else.
    let closed = || reads().filter(|cell| is_closed(cell));
    let alone = largest_family(closed().filter(|cell| cell.is(&JOBS, &1)), &CONFIGURATION);
    let together = || largest_family(closed(), &CONFIGURATION);
    let offered = || {
        let kept_up = overload::kept_up(reads().collect(), super::cell::overload);
        largest_family(kept_up, &CONFIGURATION)
    };
    let found = [alone, together(), offered()];
    found
        .into_iter()
        .find(|family| !family.is_empty())
        .unwrap_or_default()
}

fn capabilities(cells: &[Cell<'_>], candidates: &[&Cell<'_>]) -> Vec<Capability> {
    let of = |label: &str, metric: &Metric, only_reads: bool, plan: &str| {
        let contenders: Vec<&Cell<'_>> = match only_reads || !candidates.is_empty() {
            true => candidates.to_vec(),
            false => cells.iter().collect(),
        };
        let which = match only_reads || !candidates.is_empty() {
            true => of_those,
            false => behind_comma,
        };
        let found = best(contenders.iter().copied(), metric);
        let found = found.map(|(cell, number)| {
            let rivals = rivals_of(cell, &contenders);
            let beside = ties::beside(&rivals, cell, metric);
            let beside = beside + &may_be_better(&rivals, number, metric);
            (number.clone(), configuration(cell) + &which(cell, &[]) + &beside)
        });
        let plan = plan.to_owned();
        Capability {
            label: label.to_owned(),
            readings: vec![Reading::of(CONFIGURATION_COLUMN, found, || {
                let reason = cells.iter().find_map(|cell| cell.unavailable(metric));
                Absence::recorded_or(reason, || format!("see the plan {plan}"))
            })],
        }
    };
    let mut rows = vec![of("Smallest, data ÷ space", &SPACE_RATIO, false, "fs-choice")];
    rows.push(of(
        "Fastest cold small read, p50",
        &LATENCY.p50,
        true,
        "fs-choice",
    ));
    rows.push(tail::row(cells, candidates));
    rows.push(of(
        "Lowest read amplification",
        &READ_AMPLIFICATION,
        true,
        "fs-read-amplification",
    ));
    rows.push(of(
        "Least CPU time of a cold small read",
        &CPU_PER_OPERATION,
        true,
        "fs-choice",
    ));
    rows.extend(writes::rows(cells, candidates));
    rows.extend(small::rows(cells));
    rows
}

/// What to choose for which wish of the configurations that keep the limits; where none does, what each choice breaks.
fn within(candidates: &[&Cell<'_>], bounds: &Bounds<'_>) -> Vec<Claim> {
    let keeps = |cell: &&&Cell<'_>| judge(cell, bounds).is_kept();
    let kept: Vec<&Cell<'_>> = candidates.iter().filter(keeps).copied().collect();
    match kept.as_slice() {
        [only] if candidates.len() > 1 => vec![only_one(only, candidates, bounds)],
        [_, _, ..] => advice(&kept, bounds),
        _ => advice(candidates, bounds),
    }
}

/// The one configuration that keeps the limits.
fn only_one(cell: &Cell<'_>, candidates: &[&Cell<'_>], bounds: &Bounds<'_>) -> Claim {
    let breaks = |other: &&&Cell<'_>| judge(other, bounds).kept == Kept::Breaks;
    let known = match candidates.iter().filter(breaks).count() + 1 == candidates.len() {
        true => "meets",
        false => "is known to meet",
    };
    let why = format!("it is the only one that {known} the given limits");
    let claim = claim("Within the limits", cell, &why);
    let (name, count) = (configuration(cell), candidates.len());
    let claim = claim.advising(format!(
        "Use {name}: of {count} configurations it is the only one that {known} the limits"
    ));
    let claim = claim.under(&name, &judge(cell, bounds));
    // Load of other programs changes no size.
    match bounds.besides(&[Limit::Ratio]).is_empty() {
        true => claim,
        false => claim.unless_disturbed(candidates.iter().copied()),
    }
}

/// What to choose for which wish.
fn advice(candidates: &[&Cell<'_>], bounds: &Bounds<'_>) -> Vec<Claim> {
    if candidates.len() < 2 {
        return Vec::new();
    }
    let claim = |topic: &str, cell: &Cell<'_>, why: &str| {
        claim(topic, cell, why).under(&configuration(cell), &judge(cell, bounds))
    };
    let mut claims = Vec::new();
    let smallest = best(candidates.iter().copied(), &SPACE_RATIO).map(|(cell, _)| cell);
    let soonest = best(candidates.iter().copied(), &LATENCY.p50).map(|(cell, _)| cell);
    if let Some(nothing) = smallest.and_then(|most| nothing_saved(most, candidates, bounds)) {
        claims.push(nothing);
        claims.extend(
            soonest.map(|cell| beside_soonest(claim(SOONEST, cell, FASTEST_READS), cell, candidates)),
        );
        return claims;
    }
    let wishes = [
        (SMALLEST, smallest, "it takes the least space, metadata included"),
        (SOONEST, soonest, FASTEST_READS),
    ];
    for (topic, cell, why) in wishes {
        claims.extend(cell.map(|cell| match topic {
            SOONEST => beside_soonest(claim(topic, cell, why), cell, candidates),
            _ => beside_smallest(claim(topic, cell, why), cell, candidates),
        }));
    }
    claims.extend(smallest.and_then(|most| price(most, candidates, bounds)));
    claims
}

/// The claim that a configuration reads soonest, with those that tie with it, and with the one that reads more often per second: the rate is that
/// of the mean latency, which a long tail raises and the median does not show.
fn beside_soonest(mut claim: Claim, soonest: &Cell<'_>, candidates: &[&Cell<'_>]) -> Claim {
    let others = || {
        candidates
            .iter()
            .copied()
            .filter(|cell| !std::ptr::eq(*cell, soonest))
    };
    let p50s = others().filter_map(|cell| {
        let name = format!("p50 of {}", configuration(cell));
        Some((name, cell.number(&LATENCY.p50)?))
    });
    add_rival(&mut claim.numbers, p50s.clone());
    if let Some(p50) = soonest.number(&LATENCY.p50) {
        add_wide_rivals(&mut claim.numbers, p50s, p50);
    }
    let ties = soonest.number(&LATENCY.p50).map(|p50| {
        let overlaps = |cell: &&Cell<'_>| cell.number(&LATENCY.p50).is_some_and(|other| p50.overlaps(other));
        others().filter(overlaps).map(configuration).collect::<Vec<_>>()
    });
    let mut more = match ties.unwrap_or_default().as_slice() {
        [] => String::new(),
        ties => format!("; a tie with {}", ties.join(", ")),
    };
    if let (Some(rate), Some((ahead, highest))) = (soonest.number(&IOPS), best(others(), &IOPS))
        && highest.value > rate.value * AHEAD
        && !highest.overlaps(rate)
    {
        more.push_str(&format!(
            "; by reads per second, which include the tail of the latency, {} is ahead: {highest}, compared with {rate}",
            configuration(ahead)
        ));
    }
    claim.brief.push_str(&more);
    claim.text = format!("{}{more}.", claim.text.trim_end_matches('.'));
    claim.unless_disturbed(candidates.iter().copied())
}

/// That compression saves nothing, where it was tried and does not: then no configuration is smallest.
fn nothing_saved(most: &Cell<'_>, candidates: &[&Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    let number = most.number(&SPACE_RATIO)?;
    let tried = candidates.iter().filter(|cell| is_compressed(cell)).count();
    if tried == 0 || number.value >= LEAST_SAVING {
        return None;
    }
    let name = configuration(most);
    let brief = format!("leave it off: it saves nothing here (at most data ÷ space {number}, {name})");
    let text = format!(
        "Leave it off: {tried} of {} configurations compress, but none of them saves space on these data. The most data ÷ space is \
         {number}, of {name}; a value below 1 is the cost of metadata.",
        candidates.len()
    );
    let action = format!(
        "Leave the filesystem's compression off: it saves nothing here (at most data ÷ space {number})"
    );
    let claim = Claim::new("Compression", brief, text, vec![number.clone()]).advising(action);
    Some(claim.under(&name, &judge(most, bounds)))
}

fn claim(topic: &str, cell: &Cell<'_>, why: &str) -> Claim {
    // What the wish is about decides whether it is decided.
    let rests_on: &[Metric] = match topic {
        SMALLEST => &[SPACE_RATIO],
        SOONEST => &[LATENCY.p50],
        _ => &[SPACE_RATIO, LATENCY.p50],
    };
    let numbers = rests_on.iter().filter_map(|metric| cell.number(metric));
    let mut numbers: Vec<Number> = numbers.cloned().collect();
    // What does not decide and is known badly is left out, of the sentence as of its numbers: else it would withhold the claim.
    let beside = [
        SPACE_RATIO,
        LATENCY.p50,
        LATENCY.p99,
        READ_AMPLIFICATION,
        CPU_PER_OPERATION,
    ];
    let is_beside = |metric: &&Metric| rests_on.iter().all(|known| known.name != metric.name);
    let beside = beside
        .iter()
        .filter(is_beside)
        .filter_map(|metric| cell.number(metric));
    numbers.extend(beside.filter(|number| number.told_beside().is_some()).cloned());
    let told = |metric: &Metric| match cell.number(metric) {
        Some(number) if rests_on.iter().any(|known| known.name == metric.name) => number.told(),
        Some(number) => number.told_beside().unwrap_or_else(|| NOT_DECIDED.to_owned()),
        None => "–".to_owned(),
    };
    let name = configuration(cell);
    let brief = format!(
        "{name}{}: data ÷ space {}, p50 {}, read amplification {}",
        of_those(cell, &[]),
        told(&SPACE_RATIO),
        told(&LATENCY.p50),
        told(&READ_AMPLIFICATION)
    );
    let share = cell.value(&KERNEL_THREAD_SHARE);
    let kernel = share.map_or_else(String::new, |share| {
        format!(", {:.0} % of it in kernel threads", share * 100.0)
    });
    // What was not measured is left out; the table of cells has the reason.
    let part = |metric: &Metric, words: &dyn Fn(&str) -> String| {
        let number = cell.number(metric).and_then(Number::told_beside);
        number.map_or_else(String::new, |number| words(&number))
    };
    let p99 = part(&LATENCY.p99, &|number| format!(" and {number} at p99"));
    let read = part(&READ_AMPLIFICATION, &|number| {
        format!(", reads {number} bytes for each byte requested")
    });
    let cpu = part(&CPU_PER_OPERATION, &|number| {
        format!(", and takes {number} of CPU time{kernel}")
    });
    let p50 = match told(&LATENCY.p50) {
        unknown if unknown == NOT_DECIDED => format!("how long the median cold read takes is {NOT_DECIDED}"),
        p50 => format!("the median cold read takes {p50}{p99}"),
    };
    let sentence = format!(
        "{name}{}: {why}. Data ÷ space {}; {p50}{read}{cpu}.",
        of_those(cell, &[]),
        told(&SPACE_RATIO)
    );
    Claim::new(topic, brief, sentence, numbers)
}

/// Open loops that asked for more than was answered.
fn overloaded(cells: &[Cell<'_>]) -> Option<Caution> {
    let open = cells.iter().filter(|cell| !is_closed(cell));
    overload::caution("filesystem", open, super::cell::overload, super::cell::words)
}

/// The configurations that could not be measured, those of one reason together.
fn absent(cells: &[Cell<'_>]) -> Option<Caution> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.has(&ABSENT)) {
        let why = cell.unavailable(&SPACE_RATIO).unwrap_or("see the remarks");
        let name = configuration(cell);
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let words = reasons
        .iter()
        .map(|(why, names)| format!("{}; {why}", names.join(", ")));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| Caution::warning(format!("Not measured: {}.", words.join(". Nor: "))))
}

/// What limits the answer about filesystems.
fn own_cautions(cells: &[Cell<'_>]) -> Vec<Caution> {
    let mut cautions: Vec<Caution> = overloaded(cells).into_iter().collect();
    cautions.extend(generators(cells).caution());
    cautions.extend(absent(cells));
    let (made, found): (Vec<_>, Vec<_>) = cells.iter().partition(|cell| kind(cell).is_some());
    if !made.is_empty() {
        let whose = if found.is_empty() {
            "Every filesystem"
        } else {
            "Every filesystem that was made for a trial"
        };
        cautions.push(Caution::note(format!(
            "{whose} is in a file on the disk, behind a loop device with direct I/O; the latency of the device is that of the same \
             loop device."
        )));
    }
    if !found.is_empty() {
        cautions.push(Caution::note(
            "The files in a directory have no names, and other processes use the filesystem too: some of the bytes, the space and \
             the time may be theirs.",
        ));
    }
    cautions
}
