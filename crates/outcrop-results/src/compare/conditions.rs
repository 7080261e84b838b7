//! Which cells meet, and under which conditions a ratio of theirs means something.

use outcrop_measure::ByteSize;

use super::cells::Cell;
use super::{NotComparable, Side};
use crate::references::NOT_STATED;

/// Factors that do not name a cell: they say under which conditions its figures hold.
const CONDITIONS: [&str; 4] = ["span", "state", "sku", "arrival"];
/// Without these a device figure names no cell at all.
const WORKLOAD_TO_STATE: [&str; 2] = ["io_block_size", "queue_depth"];
/// The state of a subject that was neither preconditioned nor discarded before the run.
const AS_FOUND: &str = "as found";
/// Spans nearer than this are one span: `512 MB` is often written where 512 MiB is meant.
const SPAN_TOLERANCE: f64 = 0.1;

/// Factors that name a cell among runs, and are a condition beside a publication: a matrix made with libaio
/// and ours made with io_uring meet, and the answer says that the engines differ.
const CONDITIONS_OF_PUBLICATIONS: [&str; 1] = ["engine"];

/// True when the two cells are of one workload. Runs meet on equal factors, a reference on those it shares.
pub(super) fn meet(a: &Cell, b: &Cell) -> bool {
    let names_a_cell = |name: &str| {
        let is_condition =
            CONDITIONS.contains(&name) || (is_published(a, b) && CONDITIONS_OF_PUBLICATIONS.contains(&name));
        !is_condition
    };
    let agrees = |from: &Cell, to: &Cell| {
        from.factors
            .iter()
            .filter(|(name, _)| names_a_cell(name))
            .all(|(name, value)| {
                to.factors
                    .get(name)
                    .map_or(from.is_reference || to.is_reference, |other| other == value)
            })
    };
    a.layer == b.layer && agrees(a, b) && agrees(b, a)
}

/// The workload factors that a reference does not state, so that no cell can be said to be like it.
pub(super) fn unstated_workload(cell: &Cell, side: Side) -> Vec<NotComparable> {
    let is_unstated = |name: &&str| cell.factors.get(*name).is_some_and(|value| value == NOT_STATED);
    WORKLOAD_TO_STATE
        .into_iter()
        .filter(is_unstated)
        .map(|name| NotComparable::ConditionNotStated {
            condition: name.to_owned(),
            side,
        })
        .collect()
}

/// The reasons why figures of two cells that meet cannot be compared; empty when they can.
pub(super) fn reasons(baseline: &Cell, candidate: &Cell) -> Vec<NotComparable> {
    let mut reasons = Vec::new();
    let loops = (arrival(baseline), arrival(candidate));
    if loops.0 != loops.1 {
        reasons.push(differs("arrival", loops.0, loops.1));
    }
    for name in CONDITIONS_OF_PUBLICATIONS {
        if let (Some(a), Some(b)) = (stated(baseline, name), stated(candidate, name))
            && a != b
        {
            reasons.push(differs(name, &a, &b));
        }
    }
    if baseline.layer == "device"
        && (baseline.subject != candidate.subject || is_published(baseline, candidate))
    {
        check(
            &mut reasons,
            "span",
            (span(baseline), span(candidate)),
            is_same_span,
        );
    }
    check(
        &mut reasons,
        "state",
        (state(baseline), state(candidate)),
        |a, b| a == b,
    );
    reasons
}

fn check(
    reasons: &mut Vec<NotComparable>,
    condition: &str,
    values: (Option<String>, Option<String>),
    is_same: impl Fn(&str, &str) -> bool,
) {
    match values {
        (Some(a), Some(b)) if is_same(&a, &b) => {}
        (Some(a), Some(b)) => reasons.push(differs(condition, &a, &b)),
        (a, b) => {
            for (value, side) in [(a, Side::Baseline), (b, Side::Candidate)] {
                if value.is_none() {
                    reasons.push(NotComparable::ConditionNotStated {
                        condition: condition.to_owned(),
                        side,
                    });
                }
            }
        }
    }
}

fn differs(condition: &str, baseline: &str, candidate: &str) -> NotComparable {
    NotComparable::ConditionDiffers {
        condition: condition.to_owned(),
        baseline: baseline.to_owned(),
        candidate: candidate.to_owned(),
    }
}

fn is_published(a: &Cell, b: &Cell) -> bool {
    a.is_reference || b.is_reference
}

fn stated(cell: &Cell, name: &str) -> Option<String> {
    cell.factors
        .get(name)
        .filter(|value| *value != NOT_STATED)
        .cloned()
}

/// Publications that do not speak of arrival are of closed-loop load, as fio's and every datasheet's are.
fn arrival(cell: &Cell) -> &str {
    cell.factors.get("arrival").map_or("closed", String::as_str)
}

/// A run that says nothing measured its subject as it found it; a publication that says nothing is unknown.
fn state(cell: &Cell) -> Option<String> {
    let default = (!cell.is_reference || cell.layer != "device").then(|| AS_FOUND.to_owned());
    stated(cell, "state").or(default)
}

/// The span of a device cell: its factor, or the size at the end of the subject (`scratch-file 2GiB`).
fn span(cell: &Cell) -> Option<String> {
    stated(cell, "span").or_else(|| {
        let last = cell.subject.split_whitespace().next_back()?;
        // A bare number at the end of a name is a model, not a size.
        let is_size = last.ends_with('B') && last.parse::<ByteSize>().is_ok();
        (is_size && !cell.is_reference).then(|| last.to_owned())
    })
}

fn is_same_span(a: &str, b: &str) -> bool {
    match (a.parse::<ByteSize>(), b.parse::<ByteSize>()) {
        (Ok(ByteSize(a)), Ok(ByteSize(b))) => (a.abs_diff(b) as f64) <= SPAN_TOLERANCE * a.max(b) as f64,
        _ => a == b,
    }
}
