//! What to configure: policy, memory, threads, and the load that may be offered.

use std::cmp::Ordering;

use outcrop_measure::TimeSpan;
use outcrop_measure::percentile;

use super::cell::{Cell, largest_family, typical_first};
use super::figures::OF_PEERS;
use crate::answer::Claim;
use crate::number::Number;

/// A hit ratio this near to another is no reason to choose.
const TIE_RATIO: f64 = 0.005;
/// Memory is enough where more of it would add less than this.
const ENOUGH_RATIO: f64 = 0.01;
/// Threads beyond are not worth a CPU that adds less than this.
const WORTH_THREAD: f64 = 1.2;

/// Policy, memory, threads and load, as far as the run has them.
pub(super) fn claims(cells: &[Cell<'_>]) -> Vec<Claim> {
    [
        policy(cells),
        memory(cells),
        threads(cells),
        load(cells),
        peers(cells),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn hits(number: &Number) -> String {
    format!("{:.1} %", number.value * 100.0)
}

/// The policy that hits most where memory is scarcest, and what it is worth over the next.
fn policy(cells: &[Cell<'_>]) -> Option<Claim> {
    let evicting = cells.iter().filter(|cell| {
        cell.value("evictions").is_some_and(|count| count > 0.0) && cell.factor("policy") != "none"
    });
    let mut family = largest_family(evicting, &["policy"]);
    family.retain(|cell| cell.number("hit_ratio").is_some());
    family.sort_by(|left, right| {
        right
            .value("hit_ratio")
            .partial_cmp(&left.value("hit_ratio"))
            .unwrap_or(Ordering::Equal)
    });
    let [best, rest @ ..] = family.as_slice() else {
        return None;
    };
    let next = rest.first()?;
    let (most, second) = (best.number("hit_ratio")?, next.number("hit_ratio")?);
    let gain = most.value - second.value;
    let overlap = most
        .interval
        .zip(second.interval)
        .is_none_or(|(left, right)| left.overlaps(&right));
    let sure = match (gain < TIE_RATIO, overlap) {
        (true, _) => "a tie with the next",
        (false, true) => "likely",
        (false, false) => "clear",
    };
    let others: Vec<String> = rest
        .iter()
        .filter_map(|cell| {
            Some(format!(
                "{} {}",
                cell.factor("policy"),
                hits(cell.number("hit_ratio")?)
            ))
        })
        .collect();
    Some(Claim {
        topic: "Policy".to_owned(),
        brief: format!(
            "{} ({sure}): {} of gets hit at {}",
            best.factor("policy"),
            hits(most),
            best.factor("memory")
        ),
        text: format!(
            "{} hits {} at {} ({sure}); the others: {}. On {} keys of {}.",
            best.factor("policy"),
            hits(most),
            best.factor("memory"),
            others.join(", "),
            best.factor("keys"),
            best.factor("workload"),
        ),
        numbers: vec![
            most.clone()
                .named(format!("hit ratio, {}", best.factor("policy"))),
            second
                .clone()
                .named(format!("hit ratio, {}", next.factor("policy"))),
        ],
    })
}

/// The least memory whose hit ratio is within a point of the highest.
fn memory(cells: &[Cell<'_>]) -> Option<Claim> {
    let known = cells.iter().filter(|cell| {
        cell.number("hit_ratio").is_some() && cell.memory_bytes().is_some() && cell.rank() == 0
    });
    let family = largest_family(known, &["memory"]);
    let most = family
        .iter()
        .filter_map(|cell| cell.value("hit_ratio"))
        .fold(0.0, f64::max);
    if family.len() < 2 {
        return None;
    }
    let enough = family
        .iter()
        .filter(|cell| {
            cell.value("hit_ratio")
                .is_some_and(|ratio| ratio >= most - ENOUGH_RATIO)
        })
        .min_by(|left, right| {
            left.memory_bytes()
                .partial_cmp(&right.memory_bytes())
                .unwrap_or(Ordering::Equal)
        })?;
    let number = enough.number("hit_ratio")?;
    let each: Vec<String> = family
        .iter()
        .filter_map(|cell| {
            Some(format!(
                "{} at {}",
                hits(cell.number("hit_ratio")?),
                cell.factor("memory")
            ))
        })
        .collect();
    Some(Claim {
        topic: "Memory".to_owned(),
        brief: format!(
            "{} of those measured: {} hit",
            enough.factor("memory"),
            hits(number)
        ),
        text: format!(
            "Of the limits measured, {} is the least within a point of the highest hit ratio ({}), for {} keys of {} with {}.",
            enough.factor("memory"),
            each.join(", "),
            enough.factor("keys"),
            enough.factor("workload"),
            enough.factor("policy"),
        ),
        numbers: vec![number.clone()],
    })
}

/// Whether a second thread of the server answers more.
fn threads(cells: &[Cell<'_>]) -> Option<Claim> {
    let known = cells
        .iter()
        .filter(|cell| cell.number("throughput").is_some() && !cell.factor("server_threads").is_empty());
    let family = largest_family(known, &["server_threads"]);
    let one = family.iter().find(|cell| cell.factor("server_threads") == "1")?;
    let base = one.number("throughput")?;
    let best = family
        .iter()
        .filter(|cell| cell.factor("server_threads") != "1")
        .max_by(|left, right| {
            left.value("throughput")
                .partial_cmp(&right.value("throughput"))
                .unwrap_or(Ordering::Equal)
        })?;
    let number = best.number("throughput")?;
    let gain = number.value / base.value;
    let shared = if best.has_note("had to share a CPU") {
        " Server and driver shared CPUs there: on a machine with more of them, measure it again."
    } else {
        ""
    };
    let choice = if gain >= WORTH_THREAD {
        best.factor("server_threads")
    } else {
        "1"
    };
    Some(Claim {
        topic: "Threads".to_owned(),
        brief: format!(
            "{choice}: {} threads give {gain:.2} × of one",
            best.factor("server_threads")
        ),
        text: format!(
            "{} threads answer {number} where one answers {base}: {gain:.2} times as much.{shared}",
            best.factor("server_threads")
        ),
        numbers: vec![
            base.clone().named("throughput, 1 thread"),
            number
                .clone()
                .named(format!("throughput, {} threads", best.factor("server_threads"))),
        ],
    })
}

/// Whether the percentile of its objective (`p99<1ms`) stayed below the limit, with every request answered.
fn keeps_objective(cell: &Cell<'_>) -> Option<bool> {
    let (name, limit) = cell.factor("objective").split_once('<')?;
    let limit: TimeSpan = limit.parse().ok()?;
    let known = percentile::STANDARD
        .into_iter()
        .find(|known| known.name == name)?;
    let latency_ns = cell.value(&format!("latency_{}", known.identifier))?;
    let is_answered = cell.value("unfinished_requests") == Some(0.0);
    Some(is_answered && latency_ns < limit.as_nanoseconds() as f64)
}

/// The highest load offered that kept the objective.
fn load(cells: &[Cell<'_>]) -> Option<Claim> {
    let kept = |cell: &&Cell<'_>| keeps_objective(cell) == Some(true);
    let open = cells
        .iter()
        .filter(|cell| cell.offered().is_some() && cell.rank() == 0);
    let best = open.clone().filter(kept).max_by(|left, right| {
        left.offered()
            .partial_cmp(&right.offered())
            .unwrap_or(Ordering::Equal)
    });
    let any = open.clone().next()?;
    let Some(best) = best else {
        return Some(Claim {
            topic: "Load".to_owned(),
            brief: format!("no offered load kept {}", any.factor("objective")),
            text: format!(
                "None of the {} loads offered in an open loop kept {}; the lowest is in the figure.",
                open.count(),
                any.factor("objective")
            ),
            numbers: Vec::new(),
        });
    };
    let (offered, tail) = (best.number("offered_load")?, best.number("latency_p99")?);
    Some(Claim {
        topic: "Load".to_owned(),
        brief: format!(
            "{offered} keeps {} ({})",
            best.factor("objective"),
            best.loop_words()
        ),
        text: format!(
            "The highest load offered that kept {} is {offered}, with p99 {tail} from the intended start ({}, {}).",
            best.factor("objective"),
            best.concurrency_words(),
            best.loop_words(),
        ),
        numbers: vec![offered.clone(), tail.clone()],
    })
}

/// CPU per request of ours over that of each peer, under the same load.
fn peers(cells: &[Cell<'_>]) -> Option<Claim> {
    let mut closed = typical_first(cells);
    closed.retain(|cell| cell.is_closed_loop() && cell.number("server_cpu_per_request").is_some());
    let family = largest_family(closed.iter().copied(), &OF_PEERS);
    let ours = family.iter().find(|cell| cell.rank() == 0)?;
    let base = ours.number("server_cpu_per_request")?;
    let beside: Vec<(String, &Number)> = family
        .iter()
        .filter(|cell| cell.rank() > 0)
        .filter_map(|cell| Some((cell.server(), cell.number("server_cpu_per_request")?)))
        .collect();
    if beside.is_empty() {
        return None;
    }
    let ratios: Vec<String> = beside
        .iter()
        .map(|(server, number)| format!("{:.2} × {server}", base.value / number.value))
        .collect();
    let mut numbers = vec![base.clone().named("CPU per request, outcrop")];
    numbers.extend(
        beside
            .iter()
            .map(|(server, number)| (*number).clone().named(format!("CPU per request, {server}"))),
    );
    Some(Claim {
        topic: "Beside peers".to_owned(),
        brief: format!("CPU per request {}", ratios.join(", ")),
        text: format!(
            "Our server takes {base} of CPU time per request, {}; {}, closed loop, the same memory limit.",
            ratios.join(", "),
            ours.concurrency_words(),
        ),
        numbers,
    })
}
