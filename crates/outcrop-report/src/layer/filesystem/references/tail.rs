//! What a published tail by offered load is a tail of.

use std::collections::BTreeMap;

use outcrop_measure::metric::Unit;
use outcrop_schema::filesystem::{OFFERED, OFFERED_SHARE, PUBLISHED_LATENCY, PUBLISHED_TAIL};

use crate::cell::Cell;
use crate::finding::Finding;
use crate::number::Number;

/// Of latencies of milliseconds a tail below this part of them is not theirs.
const NOT_THEIRS: f64 = 0.01;
/// From one share of the load to the next a tail grows so much where a queue begins.
const STEP: f64 = 100.0;

/// One subject's tail: by share of the load, and beside its latency.
struct Tail<'c> {
    subject: &'c str,
    /// At the lightest load, over the latency at the lightest load.
    part: f64,
    /// The largest growth from one share to the next.
    step: f64,
    /// The shares before and after it, in per cent.
    between: (f64, f64),
}

/// Below saturation the tail is too short to be that of the latency, and above it is as long as the queue.
pub(super) fn tail_is_of_completion(cells: &[Cell<'_>]) -> Option<Finding> {
    let tails = tails(cells);
    if tails.is_empty() {
        return None;
    }
    let holds = tails
        .iter()
        .all(|tail| tail.part < NOT_THEIRS && tail.step > STEP);
    let words: Vec<String> = tails
        .iter()
        .map(|tail| {
            format!(
                "{} {:.2} %, {:.0} × between {:.0} and {:.0} % of the load",
                tail.subject,
                tail.part * 100.0,
                tail.step,
                tail.between.0,
                tail.between.1
            )
        })
        .collect();
    let tested = format!(
        "p99.9 − p50 at the lightest load over the latency at the lightest load (below {:.0} %), and the largest growth from one share of \
         the load to the next (above {STEP:.0} ×): {}.",
        NOT_THEIRS * 100.0,
        words.join("; ")
    );
    let numbers = tails.iter().map(|tail| {
        let name = format!("growth of the tail, {}", tail.subject);
        Number::derived(name, tail.step, Unit::Ratio, 1)
    });
    let sentence = "Below saturation the published tail is that of completion alone, without submission; above it, it is the wait in the queue.";
    let finding = Finding::tested("tail-is-of-completion", sentence, holds, tested).numbers(numbers);
    Some(finding.meaning(
        "Reads that take milliseconds do not differ by microseconds: what is plotted begins when a read is submitted, and submission \
         takes nearly all of the latency. The seconds beyond are the wait in a queue that is always full; neither is a property of the \
         compression.",
    ))
}

/// The tails of the subjects that have a latency too.
fn tails<'c>(cells: &'c [Cell<'_>]) -> Vec<Tail<'c>> {
    let mut by_subject: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for cell in cells {
        if let (Some(share), Some(tail)) = (cell.get(&OFFERED_SHARE), cell.value(&PUBLISHED_TAIL)) {
            by_subject.entry(cell.subject()).or_default().push((*share, tail));
        }
    }
    let tail = |(subject, mut points): (&'c str, Vec<(f64, f64)>)| {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let latencies = cells.iter().filter(|cell| cell.subject() == subject);
        let latencies =
            latencies.filter_map(|cell| Some((*cell.get(&OFFERED)?, cell.value(&PUBLISHED_LATENCY)?)));
        let (_, lightest) = latencies.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let steps = points.windows(2).filter_map(|pair| match pair {
            [before, after] => Some((after.1 / before.1, (before.0, after.0))),
            _ => None,
        });
        let (step, between) = steps.max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(Tail {
            subject,
            part: points.first()?.1 / lightest,
            step,
            between,
        })
    };
    by_subject.into_iter().filter_map(tail).collect()
}
