//! Many small files: what they cost in space, in requests to the device, and in time.

use outcrop_measure::metric::Metric;
use outcrop_schema::FactorRef;
use outcrop_schema::filesystem::{
    CREATE_RATE, FILE_SIZE, IOPS, REQUESTS_PER_OPERATION, SPACE_RATIO, USED_BYTES,
};
use outcrop_workload::filesystem::{FileOperation, SyncPolicy};

use super::cell::{CONFIGURATION, configuration, does, may_tie};
use super::writes::{policy, synced};
use crate::answer::{Absence, CONFIGURATION_COLUMN, Capability, Claim, Reading};
use crate::cell::{Cell, best, families};
use crate::finding::as_sentence;
use crate::layer::undecided::{add_rival, add_wide_rivals};
use crate::ties;

/// What is best in each of the three, and in creating, for each size of files.
pub(super) fn rows(cells: &[Cell<'_>]) -> Vec<Capability> {
    let of_size = |family: Vec<&Cell<'_>>| {
        let size = size_of(&family);
        let row = |what: &str, metric: &Metric| {
            let found = best(family.iter().copied(), metric);
            let found = found.map(|(cell, number)| {
                let beside = ties::beside(&family, cell, metric);
                (number.clone(), configuration(cell) + &beside)
            });
            let missing = || {
                let reason = family.iter().find_map(|cell| cell.unavailable(metric));
                Absence::recorded_or(reason, || "no trial gave a value".to_owned())
            };
            Capability {
                label: format!("Files of {size}: {what}"),
                readings: vec![Reading::of(CONFIGURATION_COLUMN, found, missing)],
            }
        };
        [
            row("highest data ÷ space", &SPACE_RATIO),
            row("fewest device requests for each read", &REQUESTS_PER_OPERATION),
            row("most read, cold, per second", &IOPS),
            row("most created per second", &CREATE_RATE),
        ]
    };
    of_each_size(cells).into_iter().flat_map(of_size).collect()
}

/// For each size of files: what reads them soonest, what stores them in the least space, and what each takes of the other.
pub(super) fn claims(cells: &[Cell<'_>]) -> Vec<Claim> {
    of_each_size(cells)
        .iter()
        .filter_map(|family| claim(family))
        .collect()
}

fn claim(family: &[&Cell<'_>]) -> Option<Claim> {
    let (soonest, read) = best(family.iter().copied(), &IOPS).filter(|_| family.len() > 1)?;
    let (smallest, space) = best(family.iter().copied(), &SPACE_RATIO)?;
    let name = configuration(soonest);
    let ties: Vec<String> = family
        .iter()
        .filter(|cell| {
            configuration(cell) != name && cell.number(&IOPS).is_some_and(|one| may_tie(one, read))
        })
        .map(|cell| configuration(cell))
        .collect();
    let tie = match ties.is_empty() {
        true => String::new(),
        false => format!("; a tie with {}", ties.join(", ")),
    };
    let costs = costs_of(soonest);
    let other = match configuration(smallest) {
        other if other == name => "; it also takes the least space".to_owned(),
        other => format!("; least space: {other} ({})", costs_of(smallest)),
    };
    let brief = format!("{name}: {costs}{tie}{other}");
    let size = size_of(family);
    let each = family.iter().map(|cell| {
        let used = cell.number(&USED_BYTES);
        let used = used.map_or_else(String::new, |used| format!(" ({used} in all)"));
        format!("{}: {}{used}", configuration(cell), costs_of(cell))
    });
    let each: Vec<String> = each.collect();
    let text = format!(
        "Of {} configurations {name} reads the most files of {size} per second{tie}. {}",
        family.len(),
        as_sentence(&each.join("; "))
    );
    let mut numbers = vec![
        read.clone()
            .named(format!("files of {size} read per second, {name}")),
        space
            .clone()
            .named(format!("data ÷ space, {}", configuration(smallest))),
    ];
    let rivals = family.iter().filter_map(|cell| {
        let name = format!("files of {size} read per second, {}", configuration(cell));
        Some((name, cell.number(&IOPS)?))
    });
    add_rival(&mut numbers, rivals.clone());
    add_wide_rivals(&mut numbers, rivals, read);
    let action = format!("Use {name} for files of {size}: {costs}{tie}");
    let claim = Claim::new(format!("Files of {size}"), brief, text, numbers).advising(action);
    Some(claim.unless_disturbed(family.iter().copied()))
}

/// Space, requests and time of a cell: `5.2 k read per second, 3.1 device requests each, data ÷ space 0.37`.
fn costs_of(cell: &Cell<'_>) -> String {
    let rate = cell.number_or_dash(&IOPS);
    format!(
        "{} read per second, {} device requests each, data ÷ space {}",
        rate.trim_end_matches("IOPS").trim_end(),
        cell.number_or_dash(&REQUESTS_PER_OPERATION),
        cell.number_or_dash(&SPACE_RATIO)
    )
}

/// Cells with small files that differ in their configuration alone.
fn of_each_size<'c, 'a>(cells: &'c [Cell<'a>]) -> Vec<Vec<&'c Cell<'a>>> {
    let files = cells.iter().filter(|cell| does(cell, FileOperation::SmallFiles));
    families(files, &CONFIGURATION)
}

/// `1500 B`, and how often they were synced where that is not once at the end.
fn size_of(family: &[&Cell<'_>]) -> String {
    let size: FactorRef = &FILE_SIZE;
    family.first().map_or_else(String::new, |cell| {
        let shown = size.shown(cell.spelling(&FILE_SIZE));
        match policy(cell) {
            SyncPolicy::End => shown,
            policy => format!("{shown} ({})", synced(policy)),
        }
    })
}
