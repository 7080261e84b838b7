//! How much memory to give a cache.

use std::collections::BTreeSet;

use outcrop_schema::cache::{HIT_RATIO, MEMORY, POLICY};

use super::answer::{ENOUGH_RATIO, hits, hits_along, keys};
use super::cell::{all_of, behind_comma, evicts, listed, rank, told_apart};
use super::findings::hits::Difference;
use super::policy::without_figure;
use super::settled::undecided;
use crate::answer::{Claim, NOT_DECIDED};
use crate::cell::{Cell, largest_family};
use crate::command::Commands;
use crate::number::{Number, SHARE_OF_GETS};

/// From this hit ratio on, next to everything that is asked for is there: more memory adds nothing.
const ALL_HIT: f64 = 0.999;
/// What may be true of a limit without a hit ratio: a smaller limit does not hit more than the others, but may be enough.
const MAY: &str = "may be enough, or hit more than the others";

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
pub(super) fn memory(cells: &[Cell<'_>], commands: &Commands) -> Option<Claim> {
    let family = by_memory(cells);
    let known = hits_along(&family, &MEMORY);
    let most = known.iter().map(|one| one.0.value).fold(0.0, f64::max);
    let is_enough = |one: &(&Number, String)| one.0.value >= most - ENOUGH_RATIO;
    let place = known.iter().position(is_enough).filter(|_| known.len() > 1)?;
    let each = listed(
        known
            .iter()
            .map(|(number, limit)| format!("{} at {limit}", hits(number))),
    );
    let like = family[0];
    let now = format!("{each}; with {}, {}", like.spelling(&POLICY), keys(like));
    let unknown = undecided("Memory", &family, &now, commands)
        .or_else(|| without_figure(("Memory", &MEMORY, MAY), (cells, like), &each, commands));
    unknown.or_else(|| {
        Some(match place + 1 < known.len() {
            true => enough(&known, place, like, &each),
            false => not_enough(&known, place, like, &each),
        })
    })
}

/// That more than a limit adds next to nothing; no advice where an interval leaves room for more.
fn enough(known: &[(&Number, String)], place: usize, cell: &Cell<'_>, each: &str) -> Claim {
    let (number, enough) = &known[place];
    let (hits, keys, policy) = (hits(number), keys(cell), cell.spelling(&POLICY));
    let apart = behind_comma(&told_apart(cell, &[&MEMORY, &POLICY]));
    let mut numbers = vec![(*number).clone().named(SHARE_OF_GETS)];
    let gains = known[place + 1..]
        .iter()
        .map(|(more, limit)| (Difference::of(more, number), more, limit));
    // What a single trial leaves open is said of all advice in one place.
    let open = gains.filter(|(gain, _, _)| gain.greatest().is_some_and(|most| most >= ENOUGH_RATIO));
    let most = open.max_by(|one, other| {
        one.0
            .greatest()
            .unwrap_or(0.0)
            .total_cmp(&other.0.greatest().unwrap_or(0.0))
    });
    if let Some((gain, more, limit)) = most {
        numbers.push((*more).clone().named(format!("{SHARE_OF_GETS}, {limit}")));
        let why = format!(
            "{limit} may add a percentage point and more ({})",
            gain.in_points()
        );
        return Claim::new(
            "Memory",
            format!("{NOT_DECIDED}: {enough} of memory with {policy}{apart}: {hits} of gets hit, but {why}"),
            format!(
                "Not decided: with {enough} of memory {hits} of gets hit, but {why}: the interval of the gain reaches a point ({each}; with {policy}, {keys}). More repetitions narrow it."
            ),
            numbers,
        );
    }
    let brief = format!(
        "{enough} of memory with {policy}{apart}: {hits} of gets hit, and more memory adds less than one percentage point"
    );
    let text = format!(
        "Of the limits measured, {enough} is the smallest within one percentage point of the highest hit ratio ({each}), with {policy}; {keys}."
    );
    let action = format!(
        "Give the cache {enough} of memory with {policy}{apart}: {hits} of gets hit, and more memory adds less than a percentage point"
    );
    Claim::new("Memory", brief, text, numbers).advising(action)
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
