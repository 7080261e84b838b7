//! How much memory and which policy to take, in words. A sentence says what the table has, or what is known of every cache.

use std::collections::BTreeMap;

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{CurveAdvice, CurvePoint, NEARLY, TraceFacts};
use outcrop_measure::units::{format_bytes, format_data};
use outcrop_report::number::{enumerated, given_percent};

use super::fall::{fall, of_less, of_more};

/// What the points advise, and how the misses fall; none where there is nothing to advise.
pub(super) fn sentences(points: &[CurvePoint], facts: &TraceFacts) -> Option<Vec<String>> {
    let advice = CurveAdvice::of(points)?;
    if facts.first_gets >= facts.gets {
        return Some(vec![NOTHING_AGAIN.to_owned()]);
    }
    let chosen = &advice.chosen;
    let misses_least = advice.policies_tie && chosen.hits >= facts.most_hits;
    let mut sentences = match misses_least {
        true => vec![of_least_misses(&advice, facts), of_tied(&advice)],
        false => vec![of_memory(&advice, points, facts), of_policies(&advice, points)],
    };
    let smaller = points
        .iter()
        .filter(|point| point.memory_bytes < chosen.memory_bytes);
    let smaller: Vec<CurvePoint> = smaller.copied().collect();
    // Of policies that tie none is advised: the fall is that of the one that is best with less memory.
    let advised = (!advice.policies_tie).then_some(chosen.policy);
    let differing = widest_difference(&smaller, advised);
    let best_of_less = differing.as_ref().map(|(best, _)| *best);
    let policy = advised.or(best_of_less).unwrap_or(chosen.policy);
    sentences.extend(differing.map(|(_, sentence)| sentence));
    sentences.extend(fall(points, policy, facts));
    Some(sentences)
}

/// Servers add more to each object than the default of --overhead, by their size classes and tables: for small values a third of the memory.
const MOST_FILLED: f64 = 0.75;

/// Said of a trace that no cache helps.
const NOTHING_AGAIN: &str = "No get asks for a key that an earlier request named, so every get misses, with any policy and in any memory: only more requests can \
                             show what memory is worth.";

/// `25.9 %` of the gets miss.
pub(super) fn percent(point: &CurvePoint) -> String {
    spelled(point.miss_ratio().unwrap_or_default())
}

/// A share in per cent: `25.9 %`. One that a decimal would make nothing has two digits: `0.02 %`.
pub(super) fn spelled(share: f64) -> String {
    let percent = share * 100.0;
    if percent <= 0.0 || percent >= 0.05 {
        return format!("{percent:.1} %");
    }
    let place = 10_f64.powi(1 - percent.log10().floor() as i32);
    given_percent((percent * place).round() / place / 100.0)
}

/// By how many percentage points one point misses more than another: `0.6`.
pub(super) fn difference(more: &CurvePoint, less: &CurvePoint) -> String {
    let ratio = |point: &CurvePoint| point.miss_ratio().unwrap_or_default();
    match (ratio(more) - ratio(less)) * 100.0 {
        points if points < 0.05 => "less than 0.1".to_owned(),
        points => format!("{points:.1}"),
    }
}

/// The memory in which no simulated policy misses more than it must.
fn of_least_misses(advice: &CurveAdvice, facts: &TraceFacts) -> String {
    let chosen = &advice.chosen;
    let all = format_data(facts.all_bytes as f64);
    let fits = match facts.all_bytes <= chosen.memory_bytes {
        true => format!(
            "where everything fits (all objects take {all}{})",
            narrowly(chosen, facts)
        ),
        false => format!("where not everything fits (all objects take {all})"),
    };
    let missing = match chosen.gets - chosen.hits {
        0 => "no get misses".to_owned(),
        misses if misses == facts.first_gets => {
            format!(
                "only the first request of a key misses ({} of gets)",
                percent(chosen)
            )
        }
        _ => format!(
            "gets miss only where a key was not stored, was deleted or has expired ({} of gets)",
            percent(chosen)
        ),
    };
    format!(
        "Memory: {}, {fits}: {missing}{}.",
        format_bytes(chosen.memory_bytes),
        of_less(advice)
    )
}

/// That the policies do not differ: of those that were not simulated it is not known.
fn of_tied(advice: &CurveAdvice) -> String {
    match &advice.policies[..] {
        [only] => format!("Policy: {only}; no other was simulated."),
        policies => {
            let names: Vec<String> = policies.iter().map(ToString::to_string).collect();
            format!("Policy: {} miss equally there.", enumerated(&names))
        }
    }
}

/// The memory to take with the policy that is best in it.
fn of_memory(advice: &CurveAdvice, points: &[CurvePoint], facts: &TraceFacts) -> String {
    let chosen = &advice.chosen;
    let missing = match chosen.gets - chosen.hits {
        0 => "no get misses".to_owned(),
        _ => format!("{} of gets miss", percent(chosen)),
    };
    format!(
        "Memory: {} with {}, where {missing}{}.",
        format_bytes(chosen.memory_bytes),
        chosen.policy,
        of_more(advice, points, facts)
    )
}

/// That all objects fill a limit nearly; empty where they leave room for what a server adds to each.
fn narrowly(chosen: &CurvePoint, facts: &TraceFacts) -> String {
    let filled = facts.all_bytes as f64 / chosen.memory_bytes as f64;
    match filled > MOST_FILLED {
        true => format!(
            ", {:.0} % of it, which leaves little for what a server adds",
            filled * 100.0
        ),
        false => String::new(),
    }
}

/// The policy to take, those that are as good, and those that are worst.
fn of_policies(advice: &CurveAdvice, points: &[CurvePoint]) -> String {
    let others: Vec<String> = advice.policies[1..].iter().map(named).collect();
    let ties = match others.is_empty() {
        true => String::new(),
        false => format!("; within half a percentage point of it: {}", others.join(", ")),
    };
    let most = match advice.policies.contains(&advice.worst.policy) {
        true => String::new(),
        false => {
            let worst = alike(points, &advice.worst);
            let are = if worst.len() == 1 { "is" } else { "are" };
            format!(
                "; with the same memory, {} {are} the worst: {} of gets miss",
                enumerated(&worst),
                percent(&advice.worst)
            )
        }
    };
    format!("Policy: {}{ties}{most}.", named(&advice.chosen.policy))
}

/// A policy by its name, with what it does where it evicts nothing: that is no advice, though it may miss as seldom.
pub(super) fn named(policy: &PolicyKind) -> String {
    match policy {
        PolicyKind::None => format!("{policy} (which stores nothing more once the memory is full)"),
        policy => policy.to_string(),
    }
}

/// The policies that, in the memory of a point, miss as much as it in the figure that is shown.
fn alike(points: &[CurvePoint], point: &CurvePoint) -> Vec<String> {
    let of_memory = points
        .iter()
        .filter(|other| other.memory_bytes == point.memory_bytes);
    let alike = of_memory.filter(|other| percent(other) == percent(point));
    alike.map(|other| named(&other.policy)).collect()
}

/// The policy to take at the memory at which the policies differ most, by more than a percentage point, and a sentence on it: the best and the worst
/// policies, the best one that evicts, and the one that is advised for more memory.
fn widest_difference(points: &[CurvePoint], advised: Option<PolicyKind>) -> Option<(PolicyKind, String)> {
    let mut by_memory: BTreeMap<u64, Vec<&CurvePoint>> = BTreeMap::new();
    for point in points {
        by_memory.entry(point.memory_bytes).or_default().push(point);
    }
    for of_memory in by_memory.values_mut() {
        of_memory.sort_by_key(|point| std::cmp::Reverse(point.hits));
    }
    let spread = |of_memory: &[&CurvePoint]| {
        let hits = |point: Option<&&CurvePoint>| point.map_or(0, |point| point.hits);
        hits(of_memory.first()) - hits(of_memory.last())
    };
    let widest = by_memory
        .into_values()
        .max_by_key(|of_memory| spread(of_memory))?;
    let (lowest, worst) = (*widest.first()?, *widest.last()?);
    if spread(&widest) as f64 <= NEARLY * lowest.gets as f64 {
        return None;
    }
    let evicting = widest.iter().find(|point| point.policy != PolicyKind::None);
    let best = *evicting.unwrap_or(&lowest);
    let is_shown = |point: &&CurvePoint| {
        [lowest.policy, best.policy, worst.policy].contains(&point.policy) || advised == Some(point.policy)
    };
    let mut shown: Vec<&CurvePoint> = widest.iter().copied().filter(is_shown).collect();
    shown.dedup_by_key(|point| percent(point));
    let figure = |(place, point): (usize, &CurvePoint)| {
        let of_gets = if place == 0 { " of gets miss" } else { "" };
        let policies = enumerated(&alike(points, point));
        format!("{}{of_gets} with {policies}", percent(point))
    };
    let figures: Vec<String> = shown.into_iter().enumerate().map(figure).collect();
    let sentence = format!(
        "With less memory the policy matters, most at {}: {}.",
        format_bytes(best.memory_bytes),
        figures.join(", ")
    );
    Some((best.policy, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: TraceFacts = TraceFacts {
        gets: 1000,
        first_gets: 67,
        most_hits: 933,
        all_bytes: 2_550_000,
        keys_without_size: 0,
    };

    /// How many of a thousand gets miss with each policy, in 2 MiB and in 4 MiB.
    fn said(policies: &[(PolicyKind, [u64; 2])], facts: &TraceFacts) -> Vec<String> {
        let points = policies.iter().flat_map(|(policy, misses)| {
            let points = misses.iter().zip([2_u64 << 20, 4 << 20]);
            points.map(|(misses, memory_bytes)| CurvePoint {
                policy: *policy,
                memory_bytes,
                gets: 1000,
                hits: 1000 - misses,
                asked_bytes: 0,
                hit_bytes: 0,
                items: 0,
                held_bytes: 0,
            })
        });
        sentences(&points.collect::<Vec<_>>(), facts).unwrap()
    }

    #[test]
    fn every_policy_that_misses_most_is_named_and_one_that_refuses_to_store_and_misses_least_is_too() {
        use PolicyKind::{Fifo, Lru, None, Sieve, TinyLfu};
        let fitting = [
            (None, 257),
            (Lru, 1000),
            (Fifo, 1000),
            (Sieve, 996),
            (TinyLfu, 259),
        ];
        let fitting = fitting.map(|(policy, misses)| (policy, [misses, 67]));
        assert_eq!(
            said(&fitting, &FACTS)[2],
            "With less memory the policy matters, most at 2 MiB: 25.7 % of gets miss with none (which stores nothing more once the memory is \
             full), 25.9 % with w-tinylfu, 100.0 % with lru and fifo."
        );
        let alike = [
            (None, [257, 67]),
            (Lru, [258, 67]),
            (Fifo, [900, 67]),
            (Sieve, [258, 67]),
        ];
        assert_eq!(
            said(&alike, &FACTS)[2],
            "With less memory the policy matters, most at 2 MiB: 25.7 % of gets miss with none (which stores nothing more once the memory is \
             full), 25.8 % with lru and sieve, 90.0 % with fifo."
        );
        let full = [
            (TinyLfu, [700, 500]),
            (Lru, [800, 600]),
            (Fifo, [800, 600]),
            (Sieve, [800, 550]),
        ];
        assert_eq!(
            said(&full, &FACTS)[1],
            "Policy: w-tinylfu; with the same memory, lru and fifo are the worst: 60.0 % of gets miss."
        );
        assert_eq!(
            said(&full[..2], &FACTS)[1],
            "Policy: w-tinylfu; with the same memory, lru is the worst: 60.0 % of gets miss."
        );
    }

    #[test]
    fn of_less_memory_the_policies_that_differ_most_and_the_advised_one_are_named_and_of_more_memory_how_much_it_helps()
     {
        use PolicyKind::{Fifo, None, Sieve, TinyLfu};
        let crossing = [(Fifo, [700, 230]), (Sieve, [600, 199]), (TinyLfu, [450, 210])];
        assert_eq!(
            said(&crossing, &FACTS)[2],
            "With less memory the policy matters, most at 2 MiB: 45.0 % of gets miss with w-tinylfu, 60.0 % with sieve, 70.0 % with fifo."
        );
        // Policies that are alike in enough memory differ in less of it, as of requests of a Zipf distribution.
        let zipf = [(Fifo, [527, 205]), (Sieve, [389, 203])];
        assert_eq!(
            said(&zipf, &FACTS)[1..3],
            [
                "Policy: sieve; within half a percentage point of it: fifo.",
                "With less memory the policy matters, most at 2 MiB: 38.9 % of gets miss with sieve, 52.7 % with fifo."
            ]
        );
        let alike = [(Sieve, [600, 199]), (TinyLfu, [595, 210])];
        assert!(!said(&alike, &FACTS).concat().contains("With less memory"));
        assert!(
            said(&[(Sieve, [199, 193])], &FACTS)[0]
                .contains("; 4 MiB with sieve lowers that by 0.6 percentage points, to 19.3 %")
        );
        assert!(
            said(&[(Sieve, [199, 199]), (TinyLfu, [600, 190])], &FACTS)[0]
                .contains("; 4 MiB with w-tinylfu lowers that by 0.9 percentage points, to 19.0 %")
        );
        assert_eq!(
            said(&[(None, [600, 199]), (Sieve, [600, 250])], &FACTS)[1],
            "Policy: none (which stores nothing more once the memory is full); with the same memory, sieve is the worst: 25.0 % of gets miss."
        );
    }

    #[test]
    fn of_a_trace_in_which_no_key_comes_again_neither_memory_nor_a_policy_is_advised() {
        let facts = TraceFacts {
            first_gets: 1000,
            most_hits: 0,
            ..FACTS
        };
        assert_eq!(said(&[(PolicyKind::Lru, [1000, 1000])], &facts), [NOTHING_AGAIN]);
    }

    #[test]
    fn where_everything_fits_misses_after_deletes_ask_for_neither_memory_nor_a_policy() {
        let deleted = [(PolicyKind::Lru, [90, 90]), (PolicyKind::Sieve, [90, 90])];
        let facts = TraceFacts {
            most_hits: 910,
            all_bytes: 1_000_000,
            ..FACTS
        };
        assert_eq!(
            said(&deleted, &facts),
            [
                "Memory: 2 MiB, where everything fits (all objects take 1.00 MB): gets miss only where a key was not stored, was deleted or has \
                 expired (9.0 % of gets); less was not simulated and may do (--memory).",
                "Policy: lru and sieve miss equally there."
            ]
        );
    }

    #[test]
    fn of_a_single_policy_it_is_not_said_that_another_would_do() {
        let said = said(&[(PolicyKind::Lru, [300, 67])], &FACTS);
        assert_eq!(said[1], "Policy: lru; no other was simulated.");
    }

    #[test]
    fn where_no_get_misses_none_is_said_to() {
        let facts = TraceFacts {
            first_gets: 0,
            most_hits: 1000,
            ..FACTS
        };
        let tied = said(
            &[(PolicyKind::Lru, [300, 0]), (PolicyKind::Sieve, [200, 0])],
            &facts,
        );
        assert_eq!(
            tied[0],
            "Memory: 4 MiB, where everything fits (all objects take 2.55 MB): no get misses."
        );
        let one = said(
            &[(PolicyKind::Lru, [300, 0]), (PolicyKind::Sieve, [200, 4])],
            &facts,
        );
        assert_eq!(one[0], "Memory: 4 MiB with lru, where no get misses.");
    }

    #[test]
    fn the_smallest_of_memories_that_miss_alike_is_not_all_that_is_said_where_more_may_help() {
        let flat = [(PolicyKind::Lru, [1000, 1000])];
        assert_eq!(
            said(&flat, &FACTS)[0],
            "Memory: 2 MiB with lru, where 100.0 % of gets miss; no larger limit that was simulated lowers that."
        );
        let falling = [(PolicyKind::Lru, [1000, 500])];
        assert_eq!(
            said(&falling, &FACTS)[0],
            "Memory: 4 MiB with lru, where 50.0 % of gets miss; more was not simulated and may help (--memory)."
        );
    }

    #[test]
    fn where_everything_fits_the_answer_says_how_much_that_is_and_what_never_comes_again_need_not_fit() {
        use PolicyKind::{Lru, Sieve};
        let doubled = [(Lru, [300, 67]), (Sieve, [200, 67])];
        assert_eq!(
            said(&doubled, &FACTS)[0],
            "Memory: 4 MiB, where everything fits (all objects take 2.55 MB): only the first request of a key misses (6.7 % of gets)."
        );
        let larger = TraceFacts {
            all_bytes: 5_000_000,
            ..FACTS
        };
        assert_eq!(
            said(&doubled, &larger)[0],
            "Memory: 4 MiB, where not everything fits (all objects take 5.00 MB): only the first request of a key misses (6.7 % of gets)."
        );
        let narrow = TraceFacts {
            all_bytes: 4_130_000,
            ..FACTS
        };
        assert_eq!(
            said(&doubled, &narrow)[0],
            "Memory: 4 MiB, where everything fits (all objects take 4.13 MB, 98 % of it, which leaves little for what a server adds): only the \
             first request of a key misses (6.7 % of gets)."
        );
        let best = [(Lru, [300, 67]), (Sieve, [200, 70])];
        assert!(
            said(&best, &FACTS)[0]
                .ends_with("with lru, where 6.7 % of gets miss; no memory can avoid these misses.")
        );
        let smallest = [(Lru, [67, 67]), (Sieve, [70, 70])];
        assert_eq!(
            said(&smallest, &FACTS)[0],
            "Memory: 2 MiB with lru, where 6.7 % of gets miss; no memory can avoid these misses; less was not simulated and may do (--memory)."
        );
        // Of policies that are as good with more memory, the same one is named, and not one that refuses to store.
        let refusing = [(PolicyKind::None, [300, 67]), (Lru, [76, 67]), (Sieve, [74, 67])];
        assert!(
            said(&refusing, &FACTS)[0]
                .ends_with("; 4 MiB with sieve lowers that by 0.7 percentage points, to 6.7 %.")
        );
    }
}
