//! The most requests in flight that keep the tail near that of a lone one, over every combination of jobs and depth.

use outcrop_schema::device::{Direction, IOPS, QUEUE_DEPTH};

use super::super::cell::{DeviceCell, P99};
use super::super::curve::ties;
use super::beyond::differs_in_load_alone;
use super::{LATENCY_KEPT, claim_with_action, growth, named, topic};
use crate::answer::Claim;
use crate::cell::Cell;
use crate::finding::Side;
use crate::layer::undecided::{add_rival, add_unclear};
use crate::number::Number;

fn p99_of<'c>(cell: &'c Cell<'_>, direction: Direction) -> Option<&'c Number> {
    cell.directed(direction, &P99)
}

/// The advice; `curve` says which cells it is about, and those that differ from them in jobs and depth are among the choices.
pub(super) fn depth<'c, 'a>(
    cells: &'c [Cell<'a>],
    curve: &[&'c Cell<'a>],
    direction: Direction,
) -> Option<Claim> {
    let loads = by_load(cells, curve[0], direction);
    let steps: Vec<&Cell<'_>> = loads.iter().map(|load| load.chosen).collect();
    let mut settings = loads.iter().flat_map(|load| &load.settings);
    let has_several = settings.any(|cell| cell.jobs() != steps[0].jobs());
    let words_of = |cell: &Cell<'_>| match (has_several, cell.jobs()) {
        (true, 1) => format!("1 job × {}", cell.depth_words()),
        _ => cell.depth_words(),
    };
    let p99 = |cell: &Cell<'_>| p99_of(cell, direction).cloned();
    let lone = p99(steps[0])?;
    let limit = LATENCY_KEPT * lone.value;
    // What the intervals leave open is not advised as near.
    let within = |cell: &&&Cell<'_>| p99(cell).is_some_and(|p99| growth(&p99, &lone) == Side::Within);
    let kept_count = 1 + steps[1..].iter().take_while(within).count();
    let deepest = steps[kept_count - 1];
    let kept = p99(deepest)?;
    let iops = deepest.number(&IOPS.both)?;
    let (lone_words, words) = (words_of(steps[0]), words_of(deepest));
    let next = steps.get(kept_count).map(|cell| Next {
        words: words_of(cell),
        tail: p99(cell),
    });
    let is_lone = words == lone_words;
    let told = |next: &Next| next.told(&lone, is_lone);
    let open = next.as_ref().map_or_else(String::new, |next| next.open(&lone));
    let next = next.as_ref().map_or_else(String::new, told);
    let tied = loads[kept_count - 1].ties_in_words(direction, &words_of);
    let under = deepest.circumstances();
    let apart = format!("{}{under}", deepest.access_apart());
    let brief = match is_lone {
        true => format!("{words}{apart}: p99 {kept}, {iops}{next}{tied}"),
        false => format!("{words}{apart}: p99 {kept}, at most twice {lone_words}{open}; {iops}{tied}"),
    };
    let mut numbers = vec![
        named(&lone, format!("p99 at {lone_words}")),
        named(iops, format!("{direction} IOPS at {words}")),
    ];
    let tail = |cell: &&'c Cell<'a>| Some((format!("p99 at {}", words_of(cell)), p99_of(cell, direction)?));
    let looked_at = &loads[..loads.len().min(kept_count + 1)];
    let settings = looked_at.iter().flat_map(|load| &load.settings);
    add_rival(&mut numbers, settings.filter_map(tail));
    // What is worse than another with as many in flight decides nothing, wherever it lies.
    let choosable = looked_at
        .iter()
        .flat_map(|load| [&load.chosen].into_iter().chain(&load.tied));
    add_unclear(&mut numbers, choosable.filter_map(tail), limit);
    let text = if is_lone {
        format!("{lone_words}{under}, with a p99 of {lone} and {iops}{next}{tied}.")
    } else {
        numbers.push(named(&kept, format!("p99 at {words}")));
        // Others with as many in flight may keep less.
        let up_to = if has_several { "with" } else { "up to" };
        format!(
            "{up_to} {words}{}{} the p99 ({}) stays within twice that of {lone_words} ({}), with {iops}{next}{tied}.",
            apart,
            if apart.is_empty() { "" } else { "," },
            kept.told(),
            lone.told()
        )
    };
    let access = deepest.access();
    let action = format!(
        "For low latency, keep to {words} with {access} {direction}s{under}: p99 {kept}, {iops}{tied}"
    );
    let topic = topic(direction, "latency");
    Some(claim_with_action(topic, brief, text, action, numbers))
}

/// The load that ends what is kept, or of which nobody knows.
struct Next {
    words: String,
    tail: Option<Number>,
}

impl Next {
    /// `; at QD 32 it is more than that: 221 µs (217–225)`; more than twice as much where a lone request alone is advised.
    fn told(&self, lone: &Number, is_lone: bool) -> String {
        let next = &self.words;
        let Some(tail) = &self.tail else {
            return format!("; the p99 of {next} is not known");
        };
        // Cut short at a parenthesis, it still says so.
        let beyond = match (is_lone, growth(tail, lone) == Side::Beyond) {
            (true, true) => "is more than twice as much",
            (true, false) => "may be more than twice as much",
            (false, true) => "is more than that",
            (false, false) => "may be more than that",
        };
        format!("; at {next} it {beyond}: {}", tail.with_ends())
    }

    /// ` (QD 32 may exceed that)`; empty where it is known whether it does, or nothing of it is.
    fn open(&self, lone: &Number) -> String {
        let tail = self.tail.as_ref();
        match tail.is_some_and(|tail| growth(tail, lone) == Side::Open) {
            true => format!(" ({} may exceed that)", self.words),
            false => String::new(),
        }
    }
}

/// The settings that keep one number of requests in flight.
struct Load<'c, 'a> {
    /// All of them, the fewest jobs first.
    settings: Vec<&'c Cell<'a>>,
    /// The one with the fewest jobs whose p99 has an interval that overlaps that of the lowest.
    chosen: &'c Cell<'a>,
    /// Those whose p99 has an interval that overlaps that of the chosen one.
    tied: Vec<&'c Cell<'a>>,
}

impl<'c, 'a> Load<'c, 'a> {
    fn of(settings: Vec<&'c Cell<'a>>, direction: Direction) -> Option<Self> {
        let tail = |cell: &'c Cell<'a>| p99_of(cell, direction);
        let tails = settings.iter().filter_map(|cell| tail(cell));
        let lowest = tails.min_by(|one, other| one.value.total_cmp(&other.value));
        let is_lowest = |cell: &&&'c Cell<'a>| {
            tail(cell)
                .zip(lowest)
                .is_some_and(|(p99, least)| ties(least, p99))
        };
        let chosen = *settings.iter().find(is_lowest).or(settings.first())?;
        let ties_with_chosen = |cell: &&'c Cell<'a>| {
            let both = tail(cell).zip(tail(chosen));
            both.is_some_and(|(one, other)| match one.value < other.value {
                true => ties(one, other),
                false => ties(other, one),
            })
        };
        let others = settings
            .iter()
            .copied()
            .filter(|cell| !std::ptr::eq(*cell, chosen));
        let tied = others.filter(ties_with_chosen).collect();
        Some(Self {
            settings,
            chosen,
            tied,
        })
    }

    /// `; 4 jobs × QD 1 (p99 149 µs) ties with 1 job × QD 4`
    fn ties_in_words(&self, direction: Direction, words_of: &dyn Fn(&Cell<'_>) -> String) -> String {
        let figure =
            |cell: &&'c Cell<'a>| Some(format!("{} (p99 {})", words_of(cell), p99_of(cell, direction)?));
        let tied: Vec<String> = self.tied.iter().filter_map(figure).collect();
        let tie = if tied.len() == 1 { "ties" } else { "tie" };
        match tied.is_empty() {
            true => String::new(),
            false => format!("; {} {tie} with {}", tied.join(" and "), words_of(self.chosen)),
        }
    }
}

/// The cells that differ from one in jobs and depth alone, by the requests that they keep in flight.
fn by_load<'c, 'a>(cells: &'c [Cell<'a>], like: &'c Cell<'a>, direction: Direction) -> Vec<Load<'c, 'a>> {
    let in_flight = |cell: &Cell<'_>| cell.concurrency().unwrap_or(f64::INFINITY);
    let alike = |cell: &&Cell<'_>| cell.place(&QUEUE_DEPTH).is_some() && differs_in_load_alone(cell, like);
    let mut settings: Vec<&Cell<'_>> = cells.iter().filter(alike).collect();
    settings.sort_by(|one, other| {
        let by_load = in_flight(one).total_cmp(&in_flight(other));
        by_load.then_with(|| one.jobs().cmp(&other.jobs()))
    });
    let loads = settings.chunk_by(|one, other| in_flight(one) == in_flight(other));
    loads
        .filter_map(|settings| Load::of(settings.to_vec(), direction))
        .collect()
}
