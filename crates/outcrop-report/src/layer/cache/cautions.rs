//! How far the answer about caches can be relied on.

use outcrop_results::RunView;

use super::super::cautions::{lost_trials, note, repetitions, warning, width};
use super::cell::Cell;
use crate::answer::Caution;
use crate::environment;

/// Everything a careful reader must know, warnings first.
pub(super) fn cautions(run: &RunView, cells: &[Cell<'_>]) -> Vec<Caution> {
    let throughputs = || cells.iter().filter_map(|cell| cell.number("throughput"));
    let mut cautions: Vec<Caution> = lost_trials(run, "cache").into_iter().collect();
    cautions.extend(width("throughput", throughputs().collect::<Vec<_>>().into_iter()));
    cautions.extend(repetitions(throughputs()));
    cautions.extend(absent(cells));
    cautions.extend(of_notes(cells));
    let closed = cells.iter().filter(|cell| cell.is_closed_loop()).count();
    cautions.push(note(format!(
        "{closed} of {} cells are closed loops: their latency says how soon an answer came, not how long a user would have waited \
         at a given load; that is what the open loops measure.",
        cells.len()
    )));
    if cells.iter().any(|cell| !cell.factor("server").is_empty()) {
        cautions.push(note(
            "Everything went over the loopback interface: a network adds its own time, and the kernel's part of CPU per \
             request differs with the network card."
                .to_owned(),
        ));
    }
    cautions.extend(environment::warnings(&run.environment).into_iter().map(note));
    cautions.sort_by_key(|caution| std::cmp::Reverse(caution.severity));
    cautions
}

/// Servers that are not on the machine.
fn absent(cells: &[Cell<'_>]) -> Vec<Caution> {
    let mut reasons: Vec<&str> = cells.iter().filter_map(Cell::absent).collect();
    reasons.sort_unstable();
    reasons.dedup();
    reasons
        .into_iter()
        .map(|reason| note(format!("Not measured: {reason}.")))
        .collect()
}

/// What the trials remarked that a figure may rest on.
fn of_notes(cells: &[Cell<'_>]) -> Vec<Caution> {
    let count = |words: &str| cells.iter().filter(|cell| cell.has_note(words)).count();
    let mut cautions = Vec::new();
    let (shared, limited) = (
        count("had to share a CPU"),
        count("the driver had no CPU time to spare"),
    );
    if limited > 0 {
        cautions.push(warning(format!(
            "In {limited} of {} cells the driver had no CPU time to spare: throughput and latency there are its own; CPU per request \
             of the server stays true.",
            cells.len()
        )));
    }
    if shared > 0 {
        cautions.push(warning(format!(
            "In {shared} of {} cells server and driver shared a CPU: throughput and latency there are those of both together.",
            cells.len()
        )));
    }
    cautions
}
