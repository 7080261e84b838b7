//! What to configure: queue depth for throughput and for latency, access size, and what a mix costs.

mod beyond;
mod knee;
mod latency;
mod mix;

use outcrop_measure::metric::Unit;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{
    ACCESS, ACCESS_PATTERN, ARRIVAL, BANDWIDTH, Direction, IO_BLOCK_SIZE, IOPS, JOBS, QUEUE_DEPTH, SYNC,
};
use outcrop_workload::Arrivals;

use super::cell::{DeviceCell, P99};
use super::cliff;
use super::curve::{depth_curve, first_of_ties, iops_of, offered_curve, pure_curves, without_iops};
use super::durability;
use super::findings::{generators, is_of_memory, steady_rounds};
use super::limits::MEMORY_ANSWERED;
use crate::answer::{Claim, UNCERTAIN};
use crate::cell::Cell;
use crate::disturbed::why_disturbed;
use crate::finding::{Side, as_sentence};
use crate::layer::undecided::{add_rival, add_unclear, is_disturbed};
use crate::number::Number;
use beyond::{deeper, with_more_jobs};

/// Tail growth over the lone request that counts as "latency kept".
const LATENCY_KEPT: f64 = 2.0;

/// Where a tail lies by that growth over another, as far as the intervals of both tell.
fn growth(tail: &Number, least: &Number) -> Side {
    let ratio = Number::computed("", Unit::Ratio, &[tail, least], |tails| tails[0] / tails[1]);
    Side::of(&ratio, &(0.0..=LATENCY_KEPT))
}

/// Makes the recommendation of a curve in one direction.
type Make<'m> = &'m dyn Fn(&[&Cell<'_>], Direction) -> Option<Claim>;

/// Every recommendation that the cells support.
pub(super) fn claims(cells: &[Cell<'_>]) -> Vec<Claim> {
    let offered = offered_load(cells);
    // An offered rate is no answer to the others.
    let closed: Vec<Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.is_closed_loop())
        .cloned()
        .collect();
    let cells = closed.as_slice();
    let depths = Direction::ALL.map(|direction| (depth_curve(cells, direction), direction));
    // Whoever raised the number of jobs instead of the depth asks the same.
    let loads = Direction::ALL.map(|direction| {
        let by_jobs = || pure_curves(cells, &JOBS, direction).next();
        (depth_curve(cells, direction).or_else(by_jobs), direction)
    });
    let throughput = |curve: &[&Cell<'_>], direction| throughput_depth(cells, curve, direction);
    let latency = |curve: &[&Cell<'_>], direction| latency::depth(cells, curve, direction);
    let kinds: [(Make<'_>, _); 3] = [
        (&throughput, &loads),
        (&latency, &loads),
        (&knee::claim_on, &depths),
    ];
    let of_curves = kinds.iter().flat_map(|(make, curves)| {
        let make = |(curve, direction): &(Option<Vec<_>>, _)| {
            let curve = curve.as_deref()?;
            Some(of_the_device(make(curve, *direction)?, curve))
        };
        curves.iter().filter_map(make)
    });
    // Whoever measured for one of these questions looks for its answer first.
    let of_questions = durability::cost(cells).into_iter().chain(cliff::claim(cells));
    let of_rounds = steady_rounds(cells);
    of_rounds
        .into_iter()
        .chain(of_questions)
        .chain(of_curves)
        .chain(access_size(cells))
        .chain(mix::cost(cells))
        .chain(mix::depth(cells))
        .chain(offered)
        .collect()
}

/// The same without its advice where figures of the cells that it compares are not those of the device, or other programs disturbed them.
pub(super) fn of_the_device(claim: Claim, cells: &[&Cell<'_>]) -> Claim {
    if cells.iter().any(|cell| is_of_memory(cell)) {
        return claim.of_something_else(MEMORY_ANSWERED);
    }
    // A ratio of two figures has a lower confidence than either, however many trials they have.
    let disturbed = cells.iter().copied().filter(|cell| is_disturbed(cell));
    match why_disturbed(disturbed) {
        Some(why) => claim.disturbed(&why),
        None => claim,
    }
}

/// A claim, which says so if it rests on a number that would not repeat well.
pub(super) fn claim(topic: impl Into<String>, brief: String, text: String, numbers: Vec<Number>) -> Claim {
    match doubt(&numbers) {
        None => Claim::new(topic, brief, text, numbers),
        Some(doubt) => Claim::new(
            topic,
            format!("{brief}; {UNCERTAIN}{}", doubt.short),
            format!("{text} Uncertain: {}.", doubt.long),
            numbers,
        ),
    }
}

/// The same with what to do, which says so too if it is uncertain.
fn claim_with_action(
    topic: String,
    brief: String,
    text: String,
    action: String,
    numbers: Vec<Number>,
) -> Claim {
    let action = match doubt(&numbers) {
        None => action,
        Some(doubt) => format!("{action}; {UNCERTAIN}{}", doubt.short),
    };
    claim(topic, brief, text, numbers).advising(action)
}

/// That a number is known badly: as a sentence, and so short that a terminal has room for it.
struct WideNumber {
    long: String,
    short: String,
}

/// Which of some numbers is known least well, where that is a wide interval.
fn doubt(numbers: &[Number]) -> Option<WideNumber> {
    let wide = numbers.iter().filter(|number| number.is_wide());
    let width = |number: &&Number| number.plus_minus_percent().unwrap_or(0.0);
    let widest = wide.max_by(|one, other| width(one).total_cmp(&width(other)))?;
    Some(WideNumber {
        long: widest.doubt()?,
        short: format!("{} ± {:.0} %", widest.name, width(&widest)),
    })
}

/// `Read throughput`.
fn topic(direction: Direction, what: &str) -> String {
    match direction {
        Direction::Read => format!("Read {what}"),
        Direction::Write => format!("Write {what}"),
    }
}

/// The same number under another name.
fn named(number: &Number, name: impl Into<String>) -> Number {
    number.clone().named(name)
}

/// The least depth, or number of jobs, whose throughput ties with the highest of the curve.
fn throughput_depth(cells: &[Cell<'_>], curve: &[&Cell<'_>], direction: Direction) -> Option<Claim> {
    let ((cell, iops), other) = first_of_ties(curve, &IOPS.both)?;
    let (peak_cell, peak) = other.unwrap_or((cell, iops));
    let is_of_jobs = curve.iter().any(|cell| cell.jobs() != curve[0].jobs());
    let words_of = |cell: &Cell<'_>| match cell.jobs() {
        1 if is_of_jobs => format!("1 job × {}", cell.depth_words()),
        _ => cell.depth_words(),
    };
    let (words, peak_words) = (words_of(cell), words_of(peak_cell));
    let is_peak = other.is_none();
    let (access, under) = (cell.access(), cell.circumstances());
    let apart = format!("{}{under}", cell.access_apart());
    let any_other = if is_of_jobs { "number of jobs" } else { "depth" };
    // A curve of several jobs says so in each of its depths.
    let jobs = match cell.jobs() {
        1 if !is_of_jobs => " and one job",
        _ => "",
    };
    let lacking = without_iops(curve, &words_of);
    let measured = match lacking.as_str() {
        "" => "measured",
        _ => "that has a figure",
    };
    let more_jobs = with_more_jobs(cells, cell, peak, direction).unwrap_or_default();
    let more = more_jobs + &lacking + deeper(cell, curve, is_of_jobs);
    // Where the run has loads of several jobs, a depth alone does not name this one.
    let brief_words = match cells.iter().any(|other| other.jobs() > cell.jobs()) {
        true if !jobs.is_empty() => format!("1 job × {words}"),
        _ => words.clone(),
    };
    let mut numbers = vec![named(iops, format!("{direction} IOPS at {words}"))];
    let (mut brief, mut text) = match is_peak {
        true => (
            format!("{brief_words}{apart}: {iops}"),
            format!(
                "{words} gives {iops}, more than any other {any_other} {measured} with {access} {direction}s{jobs}{under}"
            ),
        ),
        false => (
            format!("{brief_words}{apart}: {iops}, a tie with {peak_words} ({peak})"),
            format!(
                "{words} gives {iops} with {access} {direction}s{jobs}{under}; its interval overlaps that of {peak_words} ({peak})"
            ),
        ),
    };
    let p99 = |cell: &Cell<'_>| cell.directed(direction, &P99).cloned();
    if let (Some(p99), Some(peak_p99)) = (p99(cell), p99(peak_cell)) {
        brief.push_str(&format!(", p99 {p99}"));
        if is_peak {
            text.push_str(&format!(", at a p99 of {p99}"));
        } else {
            text.push_str(&format!(": its p99 is {p99}, that of {peak_words} {peak_p99}"));
            numbers.push(peak_p99.named(format!("p99 at {peak_words}")));
        }
        numbers.push(p99.named(format!("p99 at {words}")));
    }
    if !is_peak {
        numbers.push(named(peak, format!("{direction} IOPS at {peak_words}")));
    }
    add_rival(&mut numbers, iops_of(curve, direction));
    brief.push_str(&more);
    text.push_str(&more);
    text.push('.');
    let tail = p99(cell).map_or_else(String::new, |p99| format!(", p99 {p99}"));
    let why = match is_peak {
        true => String::new(),
        false => format!("; {peak_words} ties with it"),
    };
    let action = format!(
        "For throughput, use {words} with {access} {direction}s{jobs}{under}: {iops}{tail}{why}{more}"
    );
    let topic = topic(direction, "throughput");
    Some(claim_with_action(topic, brief, text, action, numbers))
}

/// The smallest access whose bandwidth ties with the highest.
fn access_size(cells: &[Cell<'_>]) -> Option<Claim> {
    let (mut briefs, mut texts, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let mut compared: Vec<&Cell<'_>> = Vec::new();
    for direction in Direction::ALL {
        let Some(curve) = pure_curves(cells, &IO_BLOCK_SIZE, direction).next() else {
            continue;
        };
        let Some(((cell, number), other)) = first_of_ties(&curve, &BANDWIDTH.both) else {
            continue;
        };
        compared.extend(&curve);
        let access = cell.access();
        let under = match cell.circumstances().strip_prefix(", ") {
            Some(under) => format!(" ({under})"),
            None => String::new(),
        };
        let has_patterns = !cell.apart(&[&ACCESS_PATTERN]).is_empty();
        let in_brief = |access: &str| match has_patterns {
            true => access.to_owned(),
            false => access.replace(" random", ""),
        };
        let at = match cell.apart(&[&QUEUE_DEPTH, &JOBS]).is_empty() {
            true => String::new(),
            false => format!(" at {}", cell.depth_words()),
        };
        let brief = format!("{} {direction}s {number}{at}{under}", in_brief(&access));
        numbers.push(named(number, format!("{direction} bandwidth of {access}")));
        let rivals = curve.iter().filter_map(|cell| {
            let name = format!("{direction} bandwidth of {}", cell.access());
            Some((name, cell.number(&BANDWIDTH.both)?))
        });
        add_rival(&mut numbers, rivals);
        let (depth, reached) = (
            format!("{}{}", cell.depth_words(), cell.circumstances()),
            format!("{access} {direction}s reach {number}"),
        );
        let Some((peak_cell, peak)) = other else {
            briefs.push(brief);
            let has_all = curve.iter().all(|cell| cell.number(&BANDWIDTH.both).is_some());
            let measured = if has_all { "measured" } else { "that has a figure" };
            texts.push(format!(
                "at {depth}, {reached}, more than any other size {measured}"
            ));
            continue;
        };
        let peak_access = peak_cell.access();
        briefs.push(format!("{brief}, a tie with {}", in_brief(&peak_access)));
        texts.push(format!(
            "at {depth}, {reached}, whose interval overlaps that of {peak_access} ({peak})"
        ));
        numbers.push(named(peak, format!("{direction} bandwidth of {peak_access}")));
    }
    (!texts.is_empty()).then(|| {
        let text = as_sentence(&texts.join("; "));
        of_the_device(claim("Access size", briefs.join("; "), text, numbers), &compared)
    })
}

/// Up to which offered load the tail stays near that of the least.
fn offered_load(cells: &[Cell<'_>]) -> Option<Claim> {
    let p99 = |cell: &Cell<'_>| cell.latency(&P99).cloned();
    // The lowest rates may have too few operations for a p99.
    let mut curve = offered_curve(cells)?;
    curve.retain(|cell| p99(cell).is_some());
    let lowest = *curve.first()?;
    let least = p99(lowest)?;
    if lowest.is_overloaded() {
        return None;
    }
    let side = |cell: &Cell<'_>| Some(growth(&p99(cell)?, &least));
    let keeps = |cell: &&Cell<'_>| side(cell) == Some(Side::Within) && !cell.is_overloaded();
    let kept_count = 1 + curve[1..].iter().copied().take_while(keeps).count();
    let highest = curve[kept_count - 1];
    let (kept, answered) = (p99(highest)?, highest.number(&IOPS.both)?);
    let rate_of = |cell: &Cell<'_>| {
        let spelling = cell.spelling(&ARRIVAL);
        match (cell.get(&ARRIVAL), spelling.split_once(':')) {
            (Some(Arrivals::Share(_, percent)), Some((process, _))) => {
                format!("{percent} % of the closed loop's rate ({process})")
            }
            _ => spelling.to_owned(),
        }
    };
    let (rate, lowest_rate) = (rate_of(highest), rate_of(lowest));
    let mut numbers = vec![
        least.clone().named(format!("p99 at {lowest_rate}")),
        named(answered, format!("answered IOPS at {rate}")),
    ];
    if rate != lowest_rate {
        numbers.push(kept.clone().named(format!("p99 at {rate}")));
    }
    let tails = curve.iter().take(kept_count + 1);
    let tails = tails.filter_map(|cell| Some((format!("p99 at {}", rate_of(cell)), cell.latency(&P99)?)));
    add_rival(&mut numbers, tails.clone());
    add_unclear(&mut numbers, tails, LATENCY_KEPT * least.value);
    let limit = match curve.get(kept_count) {
        Some(next) if side(next) == Some(Side::Open) && !next.is_overloaded() => {
            format!("{} may be too much", rate_of(next))
        }
        Some(next) => format!("{} is too much", rate_of(next)),
        None => "no higher rate was measured".to_owned(),
    };
    let told = [&SYNC as FactorRef, &ACCESS].map(|factor| highest.told(factor));
    let told = told.iter().flatten().map(|words| format!(", {words}"));
    let requests = format!("{}{}", highest.requests(), told.collect::<String>());
    let brief = format!("{rate}: {answered} answered, p99 {kept}; {limit}");
    let text = format!(
        "{rate} of {requests} is answered ({answered}) with a p99 ({kept}) within twice that of {lowest_rate} ({least}); {limit}."
    );
    let action = format!("For low latency, offer at most {rate} of {requests}: p99 {kept}, {answered}");
    let claim = claim_with_action("Offered load".to_owned(), brief, text, action, numbers);
    let compared = &curve[..curve.len().min(kept_count + 1)];
    Some(match generators(compared.iter().copied()).are_late() {
        true => claim.of_something_else("this machine issued requests late, and the p99 includes that delay"),
        false => of_the_device(claim, compared),
    })
}
