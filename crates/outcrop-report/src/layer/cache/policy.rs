//! Which eviction policy to take.

use std::collections::BTreeSet;

use outcrop_schema::FactorRef;
use outcrop_schema::cache::{EVICTIONS, HIT_RATIO, MEMORY, POLICY, SCHEMA};

use super::answer::{ENOUGH_RATIO, TIE_RATIO, hits, hits_along, keys};
use super::cell::{all_of, behind_comma, evicts, listed, rank, told_apart};
use super::settled::{is_unsettled, undecided};
use crate::answer::{Claim, NOT_DECIDED};
use crate::cell::{Cell, largest_family};
use crate::change::are_apart;
use crate::command::{Commands, More};
use crate::layer::undecided::{add_rival, add_wide_rivals};
use crate::number::{Number, SHARE_OF_GETS};

/// What a policy without a hit ratio may do.
const MAY: &str = "may hit more than the others";

/// The policy that hits most where memory is scarcest, and what it is worth over the next.
pub(super) fn policy(cells: &[Cell<'_>], commands: &Commands) -> Option<Claim> {
    let evicted = all_of(cells, |cell| evicts(cell) && cell.value(&EVICTIONS) > Some(0.0));
    let family = largest_family(evicted, &[&POLICY]);
    let mut known = hits_along(&family, &POLICY);
    known.sort_by(|one, other| other.0.value.total_cmp(&one.0.value));
    let highest = known.first()?.0.value;
    let ties = known
        .iter()
        .filter(|(number, _)| highest - number.value < TIE_RATIO)
        .count();
    // Of a tie, the one that hits most over all limits: with more memory they may differ.
    let over_limits = |(_, policy): &(&Number, String)| hits_in_all(cells, family[0], policy);
    known[..ties].sort_by(|one, other| over_limits(other).total_cmp(&over_limits(one)));
    let [(most, best), (second, next), ..] = &known[..] else {
        return None;
    };
    let each = known.iter();
    let each = listed(each.map(|(number, policy)| format!("{policy} {}", hits(number))));
    if let Some(claim) = undecided(
        "Policy",
        &family,
        &format!("{each}; {}", keys(family[0])),
        commands,
    ) {
        return Some(claim);
    }
    if let Some(claim) = without_figure(("Policy", &POLICY, MAY), (cells, family[0]), &each, commands) {
        return Some(claim);
    }
    let is_behind = |(other, _): &(&Number, String)| are_apart(most, other);
    let sure = if ties > 1 {
        let others = known[1..ties].iter().map(|(_, policy)| policy.clone());
        format!("within half a percentage point of {}", listed(others))
    } else if known[1..].iter().all(is_behind) {
        "clear".to_owned()
    } else {
        "not certain: the intervals overlap".to_owned()
    };
    let others = known[1..].iter();
    let others = listed(others.map(|(number, policy)| format!("{policy} {}", hits(number))));
    let better = better_with_more(cells, family[0], best);
    let (hits, memory, keys) = (hits(most), family[0].shown(&MEMORY), keys(family[0]));
    let load = behind_comma(&told_apart(family[0], &[&MEMORY, &POLICY]));
    let brief = format!("{best} ({sure}): {hits} of gets hit with {memory} of memory{load}{better}");
    let text = format!(
        "With {best}, {hits} of gets hit in {memory} of memory ({sure}); the others: {others}{better}. {keys}."
    );
    let named = |number: &Number, policy: &str| number.clone().named(format!("{SHARE_OF_GETS}, {policy}"));
    let mut numbers = vec![named(most, best), named(second, next)];
    let rivals = known
        .iter()
        .map(|(number, policy)| (format!("{SHARE_OF_GETS}, {policy}"), *number));
    add_rival(&mut numbers, rivals.clone());
    add_wide_rivals(&mut numbers, rivals, most);
    let action =
        format!("Evict with {best}: {hits} of gets hit with {memory} of memory{better} ({sure}; {keys})");
    Some(Claim::new("Policy", brief, text, numbers).advising(action))
}

/// That a policy, or a memory limit, has no hit ratio where the others have one, and what it may do. None where all have one.
pub(super) fn without_figure(
    (topic, along, may): (&str, FactorRef, &str),
    (cells, like): (&[Cell<'_>], &Cell<'_>),
    each: &str,
    commands: &Commands,
) -> Option<Claim> {
    let is_like = |cell: &&Cell<'_>| {
        evicts(cell) && rank(cell) == rank(like) && cell.but_for(&[along]) == like.but_for(&[along])
    };
    let its = cells.iter().filter(is_like);
    let silent: Vec<&Cell<'_>> = its.filter(|cell| cell.number(&HIT_RATIO).is_none()).collect();
    let why = silent.first()?.unavailable(&HIT_RATIO);
    let why = why.filter(|_| silent.len() == 1);
    let names = listed(silent.iter().map(|cell| cell.shown(along)));
    let has = if silent.len() == 1 { "has" } else { "have" };
    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
    let command = commands.again(&[SCHEMA.name], More::Repetitions(5));
    let command = command.map_or_else(String::new, |command| format!("; `{command}` measures it again"));
    let brief = format!("{NOT_DECIDED}: {names} {has} no hit ratio{why}{command}");
    let text = format!("Not decided: {names} {has} no hit ratio{why}, and {may}: {each}{command}.");
    Some(Claim::new(topic, brief, text, Vec::new()))
}

/// The cells of a policy under the load of a cell, with their hit ratios: one for each memory limit.
fn of_policy<'c>(cells: &'c [Cell<'_>], like: &Cell<'_>, policy: &str) -> Vec<(&'c Cell<'c>, f64)> {
    let is_its = |cell: &&Cell<'_>| {
        cell.spelling(&POLICY) == policy
            && cell.but_for(&[&POLICY, &MEMORY]) == like.but_for(&[&POLICY, &MEMORY])
    };
    let its = cells.iter().filter(is_its);
    its.filter_map(|cell| Some((cell, cell.value(&HIT_RATIO)?)))
        .collect()
}

/// Sum of the hit ratios of a policy over all memory limits.
fn hits_in_all(cells: &[Cell<'_>], like: &Cell<'_>, policy: &str) -> f64 {
    of_policy(cells, like, policy).iter().map(|(_, hits)| hits).sum()
}

/// Where another policy hits clearly more than the chosen one under another limit: `; with 4 MiB fifo hits more (99.2 %)`.
fn better_with_more(cells: &[Cell<'_>], like: &Cell<'_>, chosen: &str) -> String {
    let settled = |policy: &str| {
        let mut its = of_policy(cells, like, policy);
        its.retain(|(cell, _)| !is_unsettled(cell));
        its
    };
    let own = settled(chosen);
    let gain = |(cell, hits): (&Cell<'_>, f64)| {
        let of_own = own
            .iter()
            .find(|(one, _)| one.spelling(&MEMORY) == cell.spelling(&MEMORY))?;
        Some((
            hits - of_own.1,
            format!(
                "; with {} {} hits more ({:.1} %)",
                cell.shown(&MEMORY),
                cell.spelling(&POLICY),
                hits * 100.0
            ),
        ))
    };
    let policies: BTreeSet<&str> = cells.iter().map(|cell| cell.spelling(&POLICY)).collect();
    let others = policies
        .into_iter()
        .filter(|policy| *policy != chosen && !policy.is_empty());
    let gains = others.flat_map(settled).filter_map(gain);
    let clear = gains.filter(|(gain, _)| *gain >= ENOUGH_RATIO);
    let most = clear.max_by(|one, other| one.0.total_cmp(&other.0));
    most.map(|(_, words)| words).unwrap_or_default()
}
