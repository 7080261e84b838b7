//! Where more requests in flight stop buying throughput.

use outcrop_schema::device::{Direction, IOPS, JOBS, LATENCY};

use super::super::cell::DeviceCell;
use super::super::curve::{iops_of, load_points, still_rises};
use super::super::findings::predicted_knee;
use super::super::knee::ObservedKnee;
use super::{claim, named};
use crate::answer::Claim;
use crate::cell::{Cell, best};
use crate::layer::undecided::add_rival;

/// Where more depth stops buying throughput: predicted from both ends of the curve where it begins at a single request, and observed on it.
pub(super) fn claim_on(curve: &[&Cell<'_>], direction: Direction) -> Option<Claim> {
    let (_, peak) = best(curve.iter().copied(), &IOPS.both)?;
    let lone = curve[0].number(&LATENCY.both.mean)?;
    let predicted = predicted_knee(curve, "requests in flight at the predicted knee");
    let points = load_points(curve);
    let observed = ObservedKnee::of(curve);
    let with_figures = match points.len() == curve.len() {
        true => "",
        false => " that has figures",
    };
    let (least, about) = at_least(still_rises(curve));
    if predicted.is_none() && observed.is_none() {
        return None;
    }
    let mut numbers = vec![named(peak, format!("highest {direction} IOPS of the curve"))];
    if let Some(predicted) = &predicted {
        numbers.insert(0, predicted.clone());
        numbers.push(named(lone, "mean latency at the smallest depth"));
    }
    let (short, long) = match &observed {
        Some(knee) => {
            numbers.extend(knee.numbers("observed knee, requests in flight", peak.n));
            knee.in_words()
        }
        None if points.len() < 3 => (
            "not observed: a knee needs three depths".to_owned(),
            "not observed: fewer than three depths have figures".to_owned(),
        ),
        None => (
            format!("not observed among the depths measured{with_figures}"),
            format!(
                "not observed: throughput per latency is greatest at the deepest queue measured{with_figures}"
            ),
        ),
    };
    add_rival(&mut numbers, iops_of(curve, direction));
    let requests = format!("{} {direction}s{}", curve[0].access(), aside(curve[0]));
    // Where the run has loads of several jobs, its highest IOPS may be another.
    let of_jobs = match (curve[0].apart(&[&JOBS]).is_empty(), curve[0].jobs()) {
        (true, _) => String::new(),
        (false, 1) => " of one job".to_owned(),
        (false, jobs) => format!(" of {jobs} jobs"),
    };
    let under = format!("{of_jobs}{}{}", curve[0].access_apart(), curve[0].circumstances());
    let (brief, text) = match predicted.map(|predicted| predicted.value) {
        Some(predicted) => (
            format!("{least}{predicted:.1} in flight predicted{under}; {short}"),
            format!(
                "{requests} start to queue at {about} {predicted:.1} requests in flight (highest IOPS{of_jobs} × mean latency of a single request); {long}."
            ),
        ),
        None => (
            format!("{short}{under}; not predicted without QD 1"),
            format!(
                "The knee of {requests} is {long}. It is not predicted: that needs the latency of a single request, and the least depth is {}.",
                curve[0].depth_words()
            ),
        ),
    };
    Some(claim(format!("Knee of {direction}s"), brief, text, numbers))
}

/// Under which circumstances, as an aside within a sentence: `, sync dsync,`.
fn aside(cell: &Cell<'_>) -> String {
    match cell.circumstances() {
        none if none.is_empty() => none,
        some => format!("{some},"),
    }
}

/// What stands before a predicted knee, in brief and in full: where more in flight than was measured may give more, requests may queue later.
const fn at_least(is_bound: bool) -> (&'static str, &'static str) {
    match is_bound {
        true => ("at least ", "no less than about"),
        false => ("", "about"),
    }
}
