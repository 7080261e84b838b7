//! The most requests in flight that keep the tail near that of a lone one, over every combination of jobs and depth.

use outcrop_schema::FactorRef;
use outcrop_schema::device::{Direction, IOPS, JOBS, QUEUE_DEPTH};

use super::super::cell::{DeviceCell, P99};
use super::{LATENCY_KEPT, aside, claim_with_action, named, topic};
use crate::answer::Claim;
use crate::cell::Cell;
use crate::layer::undecided::{add_rival, add_unclear};
use crate::number::Number;

fn p99_of<'c>(cell: &'c Cell<'_>, direction: Direction) -> Option<&'c Number> {
    cell.directed(direction, &P99)
}

/// The advice; `curve` says which cells it is about, and those that differ from them in jobs and depth are among the choices.
pub(super) fn depth(cells: &[Cell<'_>], curve: &[&Cell<'_>], direction: Direction) -> Option<Claim> {
    let steps = by_load(cells, curve[0], direction);
    let has_several = steps.iter().any(|cell| cell.jobs() != steps[0].jobs());
    let words_of = |cell: &Cell<'_>| match (has_several, cell.jobs()) {
        (true, 1) => format!("1 job × {}", cell.depth_words()),
        _ => cell.depth_words(),
    };
    let p99 = |cell: &Cell<'_>| p99_of(cell, direction).cloned();
    let lone = p99(steps[0])?;
    let limit = LATENCY_KEPT * lone.value;
    let within = |cell: &&&Cell<'_>| p99(cell).is_some_and(|p99| p99.value <= limit);
    let kept_count = steps.iter().take_while(within).count();
    let deepest = *steps.get(kept_count.checked_sub(1)?)?;
    let kept = p99(deepest)?;
    let iops = deepest.number(&IOPS.both)?;
    let (lone_words, words) = (words_of(steps[0]), words_of(deepest));
    // The next one ends what is kept, or nobody knows.
    let next = steps.get(kept_count).map_or_else(String::new, |next| {
        let next_words = words_of(next);
        match p99(next) {
            // Cut short at a parenthesis, it still says so.
            Some(tail) => {
                let beyond = match words == lone_words {
                    true => "is more than twice as much",
                    false => "is more than that",
                };
                format!("; at {next_words} it {beyond}: {}", tail.with_ends())
            }
            None => format!("; the p99 of {next_words} is not known"),
        }
    });
    let under = deepest.circumstances();
    let brief = match words == lone_words {
        true => format!("{words}{under}: p99 {kept}, {iops}{next}"),
        false => format!("{words}{under}: p99 {kept}, at most twice {lone_words}; {iops}"),
    };
    let mut numbers = vec![
        named(&lone, format!("p99 at {lone_words}")),
        named(iops, format!("{direction} IOPS at {words}")),
    ];
    let tails = steps.iter().take(kept_count + 1);
    let tails =
        tails.filter_map(|cell| Some((format!("p99 at {}", words_of(cell)), p99_of(cell, direction)?)));
    add_rival(&mut numbers, tails.clone());
    add_unclear(&mut numbers, tails, limit);
    let text = if words == lone_words {
        format!("{lone_words}{under}, with a p99 of {lone} and {iops}{next}.")
    } else {
        numbers.push(named(&kept, format!("p99 at {words}")));
        // Others with as many in flight may keep less.
        let up_to = if has_several { "with" } else { "up to" };
        format!(
            "{up_to} {words}{} the p99 ({kept}) stays within twice that of {lone_words} ({lone}), with {iops}{next}.",
            aside(deepest)
        )
    };
    let access = deepest.access();
    let action =
        format!("For low latency, keep to {words} with {access} {direction}s{under}: p99 {kept}, {iops}");
    let topic = topic(direction, "latency");
    Some(claim_with_action(topic, brief, text, action, numbers))
}

/// The cells that differ from one in jobs and depth alone, by the requests that they keep in flight: of those that keep as many, the one with the
/// lowest p99.
fn by_load<'c, 'a>(cells: &'c [Cell<'a>], like: &'c Cell<'a>, direction: Direction) -> Vec<&'c Cell<'a>> {
    let along: [FactorRef; 2] = [&QUEUE_DEPTH, &JOBS];
    let in_flight = |cell: &Cell<'_>| cell.concurrency().unwrap_or(f64::INFINITY);
    let tail = |cell: &Cell<'_>| p99_of(cell, direction).map_or(f64::INFINITY, |p99| p99.value);
    let alike =
        |cell: &&Cell<'_>| cell.place(&QUEUE_DEPTH).is_some() && cell.but_for(&along) == like.but_for(&along);
    let mut steps: Vec<&Cell<'_>> = cells.iter().filter(alike).collect();
    steps.sort_by(|one, other| {
        let by_load = in_flight(one).total_cmp(&in_flight(other));
        by_load.then_with(|| tail(one).total_cmp(&tail(other)))
    });
    steps.dedup_by(|later, first| in_flight(later) == in_flight(first));
    steps
}
