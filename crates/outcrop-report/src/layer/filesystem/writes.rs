//! What writing costs: each sync policy is ranked alone, since a write that nothing syncs ends in memory.

use outcrop_measure::metric::Metric;
use outcrop_schema::filesystem::{LATENCY, SPACE_RATIO, SYNC, WRITE_THROUGHPUT};
use outcrop_workload::filesystem::{FileOperation, SyncPolicy};

use super::cell::{CONFIGURATION, behind_comma, configuration, does, may_tie, of_those, rivals_of, words};
use crate::answer::{Absence, CONFIGURATION_COLUMN, Capability, Claim, Reading};
use crate::cell::{Cell, best, largest_family};
use crate::number::Number;
use crate::placement::{Bound, Bounded, Bounds};
use crate::ties;

/// When the writes of a cell were made durable, in words.
pub(super) fn synced(policy: SyncPolicy) -> String {
    match policy {
        SyncPolicy::End => "synced at the end".to_owned(),
        SyncPolicy::Each(1) => "each write synced".to_owned(),
        SyncPolicy::Each(count) => format!("synced every {count} writes"),
    }
}

/// The policy of what a cell does.
pub(super) fn policy(cell: &Cell<'_>) -> SyncPolicy {
    cell.get(&SYNC).copied().unwrap_or(SyncPolicy::End)
}

/// The policy of a cell's write throughput: files that something else is done with are written at once, and synced then.
fn policy_of_throughput(cell: &Cell<'_>) -> SyncPolicy {
    match does(cell, FileOperation::Write) || does(cell, FileOperation::Append) {
        true => policy(cell),
        false => SyncPolicy::End,
    }
}

/// Cells by their policy, the one that syncs most often first.
fn by_policy<'c, 'a>(
    cells: impl IntoIterator<Item = &'c Cell<'a>>,
    policy: impl Fn(&Cell<'_>) -> SyncPolicy,
) -> Vec<(SyncPolicy, Vec<&'c Cell<'a>>)> {
    let mut groups: Vec<(SyncPolicy, Vec<&'c Cell<'a>>)> = Vec::new();
    for cell in cells {
        let own = policy(cell);
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, group)) => group.push(cell),
            None => groups.push((own, vec![cell])),
        }
    }
    groups.sort_by_key(|(policy, _)| match policy {
        SyncPolicy::Each(count) => *count,
        SyncPolicy::End => u32::MAX,
    });
    groups
}

/// The fastest writing and the fastest small overwrite, a row for each policy.
pub(super) fn rows(cells: &[Cell<'_>], candidates: &[&Cell<'_>]) -> Vec<Capability> {
    let row = |label: String, found: Option<(Number, String)>, missing: &dyn Fn() -> Absence| Capability {
        label,
        readings: vec![Reading::of(CONFIGURATION_COLUMN, found, missing)],
    };
    let nothing = || Absence::from(String::new());
    let known = |cell: &&Cell<'_>| cell.value(&WRITE_THROUGHPUT).is_some();
    let written: Vec<&Cell<'_>> = match candidates.is_empty() {
        true => cells.iter().filter(known).collect(),
        false => candidates.iter().copied().filter(known).collect(),
    };
    let mut rows = Vec::new();
    for (policy, group) in by_policy(written, policy_of_throughput) {
        let found = best(group.iter().copied(), &WRITE_THROUGHPUT).map(|(cell, number)| {
            let beside = ties::beside(&rivals_of(cell, &group), cell, &WRITE_THROUGHPUT);
            // The label says the policy.
            let apart = match candidates.is_empty() {
                false => of_those(cell, &[&SYNC]),
                true => behind_comma(cell, &[&SYNC]),
            };
            (number.clone(), configuration(cell) + &apart + &beside)
        });
        rows.push(row(
            format!("Fastest writing, {}", synced(policy)),
            found,
            &nothing,
        ));
    }
    if rows.is_empty() {
        let reason = || {
            let reason = cells.iter().find_map(|cell| cell.unavailable(&WRITE_THROUGHPUT));
            Absence::recorded_or(reason, || "see the plan fs-choice".to_owned())
        };
        rows.push(row("Fastest writing".to_owned(), None, &reason));
    }
    for (policy, family) in overwritten(cells) {
        let found = best(family.iter().copied(), &LATENCY.p50).map(|(cell, number)| {
            let beside = ties::beside(&family, cell, &LATENCY.p50);
            (number.clone(), words(cell) + &beside)
        });
        let label = format!("Fastest small overwrite, {}, p50", synced(policy));
        rows.push(row(label, found, &nothing));
    }
    rows
}

/// Overwrites that differ in their configuration alone: of each policy the most.
fn overwritten<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<(SyncPolicy, Vec<&'c Cell<'a>>)> {
    let writes = cells
        .iter()
        .filter(|cell| does(cell, FileOperation::Overwrite) && cell.value(&LATENCY.p50).is_some());
    let groups = by_policy(writes, policy).into_iter();
    groups
        .map(|(policy, group)| (policy, largest_family(group, &CONFIGURATION)))
        .collect()
}

/// Which configuration overwrites small blocks soonest, for each policy. What to do is said of the one that syncs most often.
pub(super) fn claims(cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Vec<Claim> {
    let families = overwritten(cells).into_iter();
    let claims = families.filter_map(|(policy, family)| claim(policy, &family, bounds));
    let only_first = |(place, mut claim): (usize, Claim)| {
        claim.action = claim.action.filter(|_| place == 0);
        claim
    };
    claims.enumerate().map(only_first).collect()
}

fn claim(policy: SyncPolicy, family: &[&Cell<'_>], bounds: &Bounds<'_>) -> Option<Claim> {
    const P50: Metric = LATENCY.p50;
    let (chosen, number) = best(family.iter().copied(), &P50).filter(|_| family.len() > 1)?;
    let (name, synced, p50) = (configuration(chosen), synced(policy), number.told());
    let ties = family.iter().filter(|cell| {
        let other = cell.number(&P50);
        configuration(cell) != name && other.is_some_and(|other| may_tie(number, other))
    });
    let ties: Vec<String> = ties.map(|cell| configuration(cell)).collect();
    let tie = match ties.is_empty() {
        true => String::new(),
        false => format!("; a tie with {}", ties.join(", ")),
    };
    let numbers = family.iter().filter_map(|cell| {
        let name = format!("p50 of overwrites, {synced}, {}", configuration(cell));
        Some(cell.number(&P50)?.clone().named(name))
    });
    let memory = match policy {
        SyncPolicy::End => " This is the time of a write that is not yet durable.",
        SyncPolicy::Each(_) => "",
    };
    let text = format!(
        "{name} has the lowest median for a small overwrite, {synced}, of {} configurations{tie}: {p50}. {}.{memory}",
        family.len(),
        words(chosen)
    );
    let claim = Claim::new(
        format!("Small overwrites, {synced}"),
        format!("{name}: p50 {p50}{tie}"),
        text,
        numbers.collect(),
    );
    let claim = claim.advising(format!(
        "Use {name} for small overwrites, {synced}: p50 {p50}{tie}"
    ));
    // What it takes for a write is not the latency of a read.
    let verdict = bounds.judge(Bounded {
        ratio: Bound::of(chosen.number(&SPACE_RATIO)),
        ..Bounded::default()
    });
    Some(
        claim
            .under(&name, &verdict)
            .unless_disturbed(family.iter().copied()),
    )
}
