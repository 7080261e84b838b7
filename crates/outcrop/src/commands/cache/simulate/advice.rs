//! How much memory and which policy to take, in words.

use std::collections::BTreeMap;

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{CurveAdvice, CurvePoint, NEARLY, TraceFacts};
use outcrop_measure::units::{format_bytes, format_data};
use outcrop_report::number::enumerated;

use super::fall::{fall, of_more};

/// What the points advise, and how the misses fall; none where there is nothing to advise.
pub(super) fn sentences(points: &[CurvePoint], facts: &TraceFacts) -> Option<Vec<String>> {
    let advice = CurveAdvice::of(points)?;
    if facts.first_gets >= facts.gets {
        return Some(vec![NOTHING_AGAIN.to_owned()]);
    }
    let mut sentences = of_advice(&advice, points, facts);
    // Where nothing is evicted that is asked for again, the choice of a policy is for those who have less memory.
    let mut policy = advice.chosen.policy;
    let is_all = facts.all_bytes <= advice.chosen.memory_bytes && advice.policies_tie;
    let fits = is_all || advice.chosen.misses_first_gets_alone(facts.first_gets);
    let of_less = points
        .iter()
        .filter(|point| point.memory_bytes < advice.chosen.memory_bytes);
    let of_less: Vec<CurvePoint> = of_less.copied().collect();
    match fits.then(|| widest_difference(&of_less)).flatten() {
        Some((best, sentence)) => {
            sentences.push(sentence);
            policy = best;
        }
        None => sentences.extend(better_with_less(points, &advice.chosen)),
    }
    sentences.extend(fall(points, policy, facts));
    sentences.push(OF_A_SERVER.to_owned());
    Some(sentences)
}

/// Servers add more to each object than the default of --overhead, by their size classes and tables: for small values a third of the memory.
const MOST_FILLED: f64 = 0.75;

/// What the figures are not.
const OF_A_SERVER: &str = "A server holds fewer items in as much memory, and may then miss far more: try the memory on yours with `outcrop cache load --trace`.";

/// Said of a trace that no cache helps.
const NOTHING_AGAIN: &str = "No get asks for a key that an earlier request named, so every get misses, with any policy and in any memory: only more requests can \
                             show what memory is worth.";

/// `25.9 %` of the gets miss.
pub(super) fn percent(point: &CurvePoint) -> String {
    format!("{:.1} %", point.miss_ratio().unwrap_or_default() * 100.0)
}

/// By how many percentage points one point misses more than another: `0.6`.
pub(super) fn difference(more: &CurvePoint, less: &CurvePoint) -> String {
    let ratio = |point: &CurvePoint| point.miss_ratio().unwrap_or_default();
    match (ratio(more) - ratio(less)) * 100.0 {
        points if points < 0.05 => "less than 0.1".to_owned(),
        points => format!("{points:.1}"),
    }
}

/// What to take. The first get of a key misses in every cache.
fn of_advice(advice: &CurveAdvice, points: &[CurvePoint], facts: &TraceFacts) -> Vec<String> {
    let size = |point: &CurvePoint| format_bytes(point.memory_bytes);
    let chosen = &advice.chosen;
    let is_all = facts.all_bytes <= chosen.memory_bytes;
    let all = format!(
        "{}{}",
        format_data(facts.all_bytes as f64),
        if is_all {
            narrowly(chosen, facts)
        } else {
            String::new()
        }
    );
    let are_first = chosen.misses_first_gets_alone(facts.first_gets);
    let is_any_policy = advice.policies_tie && (are_first || is_all);
    let missing = match are_first {
        true => "only the first request of each key misses",
        false => "gets miss only where a key was never stored, was deleted or has expired",
    };
    if is_any_policy && advice.everything_fits {
        let memory = format!("{}, the smallest memory simulated", size(chosen));
        let fits = match is_all {
            true => format!("Everything fits in {memory} (all objects take {all})"),
            false => format!("{memory}, holds everything that is requested again (all objects take {all})"),
        };
        return vec![
            format!("{fits}: {missing} ({} of gets).", percent(chosen)),
            "Policy: it makes no difference, because nothing that is requested again is evicted. Smaller values of --memory show where it does."
                .to_owned(),
        ];
    }
    if is_any_policy {
        let fits = match is_all {
            true => format!("where everything fits (all objects take {all})"),
            false => format!("where everything that is requested again fits (all objects take {all})"),
        };
        return vec![
            format!(
                "Memory: {}, {fits}: {missing} ({} of gets).",
                size(chosen),
                percent(chosen)
            ),
            "Policy: any, because nothing that is requested again is evicted.".to_owned(),
        ];
    }
    let mut memory = format!(
        "Memory: {} with {}, where {} of gets miss",
        size(chosen),
        chosen.policy,
        percent(chosen)
    );
    memory.push_str(&of_more(advice, points, facts));
    vec![format!("{memory}."), of_policies(advice, points)]
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

/// Where another policy misses less than the chosen one in less memory, by more than a percentage point: most of all where.
fn better_with_less(points: &[CurvePoint], chosen: &CurvePoint) -> Option<String> {
    let smaller = points.iter().filter(|point| {
        point.memory_bytes < chosen.memory_bytes
            && point.policy != chosen.policy
            && point.policy != PolicyKind::None
    });
    let gains = smaller.filter_map(|other| {
        let own = points
            .iter()
            .find(|own| own.policy == chosen.policy && own.memory_bytes == other.memory_bytes)?;
        Some((own.miss_ratio()? - other.miss_ratio()?, own, other))
    });
    let (gain, own, other) = gains.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (gain > NEARLY).then(|| {
        format!(
            "With less memory another policy is better, most at {}: {} of gets miss with {}, {} with {}.",
            format_bytes(other.memory_bytes),
            percent(other),
            other.policy,
            percent(own),
            own.policy
        )
    })
}

/// The policy to take, those that are as good, and those that are worst.
fn of_policies(advice: &CurveAdvice, points: &[CurvePoint]) -> String {
    // What refuses to store when the memory is full is no advice, though it may miss as seldom.
    let others = advice.policies[1..].iter().map(|policy| match policy {
        PolicyKind::None => format!("{policy} ({REFUSING})"),
        policy => policy.to_string(),
    });
    let others: Vec<String> = others.collect();
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
                listed(&worst),
                percent(&advice.worst)
            )
        }
    };
    format!("Policy: {}{ties}{most}.", advice.chosen.policy)
}

/// What a policy does that evicts nothing.
const REFUSING: &str = "which stores nothing more once the memory is full";

/// The policies that, in the memory of a point, miss as much as it in the figure that is shown.
fn alike(points: &[CurvePoint], point: &CurvePoint) -> Vec<PolicyKind> {
    let of_memory = points
        .iter()
        .filter(|other| other.memory_bytes == point.memory_bytes);
    let alike = of_memory.filter(|other| percent(other) == percent(point));
    alike.map(|other| other.policy).collect()
}

/// `fifo, lru and sieve`.
fn listed(policies: &[PolicyKind]) -> String {
    let names: Vec<String> = policies.iter().map(ToString::to_string).collect();
    enumerated(&names)
}

/// The policy that is best at the memory at which the policies differ most, by more than a percentage point, and a sentence on it. One that
/// refuses to store is no advice, but what misses less is named.
fn widest_difference(points: &[CurvePoint]) -> Option<(PolicyKind, String)> {
    let mut by_memory: BTreeMap<u64, Vec<(f64, &CurvePoint)>> = BTreeMap::new();
    for point in points {
        let ratio = point.miss_ratio()?;
        by_memory
            .entry(point.memory_bytes)
            .or_default()
            .push((ratio, point));
    }
    let differences = by_memory.into_values().filter_map(|mut of_memory| {
        of_memory.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut evicting = of_memory
            .iter()
            .filter(|(_, point)| point.policy != PolicyKind::None);
        let best = evicting.next().or(of_memory.first())?;
        Some((*of_memory.first()?, *best, *of_memory.last()?))
    });
    let (lowest, best, worst) =
        differences.max_by(|one, other| (one.2.0 - one.1.0).total_cmp(&(other.2.0 - other.1.0)))?;
    (worst.0 - best.0 > NEARLY).then(|| {
        let (lowest, best, worst) = (lowest.1, best.1, worst.1);
        let refusing = match lowest.hits > best.hits {
            true => format!(", {} with {} ({REFUSING})", percent(lowest), lowest.policy),
            false => String::new(),
        };
        let mut best_alike = alike(points, best);
        best_alike.retain(|policy| *policy != PolicyKind::None || *policy == best.policy);
        let sentence = format!(
            "With less memory the policy matters, most at {}: {} of gets miss with {}{refusing}, {} with {}.",
            format_bytes(best.memory_bytes),
            percent(best),
            listed(&best_alike),
            percent(worst),
            listed(&alike(points, worst)),
        );
        (best.policy, sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: TraceFacts = TraceFacts {
        gets: 1000,
        first_gets: 67,
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
            "With less memory the policy matters, most at 2 MiB: 25.9 % of gets miss with w-tinylfu, 25.7 % with none (which stores nothing \
             more once the memory is full), 100.0 % with lru and fifo."
        );
        let alike = [
            (None, [257, 67]),
            (Lru, [258, 67]),
            (Fifo, [900, 67]),
            (Sieve, [258, 67]),
        ];
        assert_eq!(
            said(&alike, &FACTS)[2],
            "With less memory the policy matters, most at 2 MiB: 25.8 % of gets miss with lru and sieve, 25.7 % with none (which stores nothing \
             more once the memory is full), 90.0 % with fifo."
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
    fn the_answer_says_where_another_policy_is_better_and_by_how_much_more_memory_helps() {
        use PolicyKind::{Sieve, TinyLfu};
        let crossing = [(Sieve, [600, 199]), (TinyLfu, [450, 210])];
        assert_eq!(
            said(&crossing, &FACTS)[2],
            "With less memory another policy is better, most at 2 MiB: 45.0 % of gets miss with w-tinylfu, 60.0 % with sieve."
        );
        let alike = [(Sieve, [600, 199]), (TinyLfu, [595, 210])];
        assert!(!said(&alike, &FACTS).concat().contains("another policy"));
        assert!(
            said(&[(Sieve, [199, 193])], &FACTS)[0]
                .contains("; 4 MiB lowers that by 0.6 percentage points, to 19.3 %")
        );
        assert!(
            said(&[(Sieve, [199, 199]), (TinyLfu, [600, 190])], &FACTS)[0]
                .contains("; 4 MiB lowers that by 0.9 percentage points, to 19.0 %")
        );
    }

    #[test]
    fn of_a_trace_in_which_no_key_comes_again_neither_memory_nor_a_policy_is_advised() {
        let facts = TraceFacts {
            first_gets: 1000,
            ..FACTS
        };
        assert_eq!(said(&[(PolicyKind::Lru, [1000, 1000])], &facts), [NOTHING_AGAIN]);
    }

    #[test]
    fn where_everything_fits_misses_after_deletes_ask_for_neither_memory_nor_a_policy() {
        let deleted = [(PolicyKind::Lru, [90, 90]), (PolicyKind::Sieve, [90, 90])];
        let facts = TraceFacts {
            all_bytes: 1_000_000,
            ..FACTS
        };
        let said = said(&deleted, &facts);
        assert_eq!(
            said[0],
            "Everything fits in 2 MiB, the smallest memory simulated (all objects take 1.00 MB): gets miss only where a key was never stored, was \
             deleted or has expired (9.0 % of gets)."
        );
        assert!(said[1].starts_with("Policy: it makes no difference"), "{said:?}");
    }

    #[test]
    fn the_smallest_of_memories_that_miss_alike_is_not_all_that_is_said_where_more_may_help() {
        let flat = [(PolicyKind::Lru, [1000, 1000])];
        let large = TraceFacts {
            all_bytes: 9_000_000,
            ..FACTS
        };
        assert_eq!(
            said(&flat, &FACTS)[0],
            "Memory: 2 MiB with lru, where 100.0 % of gets miss; no memory lowers that: everything fits in 4 MiB."
        );
        assert_eq!(
            said(&flat, &large)[0],
            "Memory: 2 MiB with lru, where 100.0 % of gets miss; more, up to 4 MiB, does not lower that; still more was not simulated and may \
             (--memory)."
        );
    }

    #[test]
    fn where_everything_fits_the_answer_says_how_much_that_is_and_what_never_comes_again_need_not_fit() {
        use PolicyKind::{Lru, Sieve};
        let doubled = [(Lru, [300, 67]), (Sieve, [200, 67])];
        assert_eq!(
            said(&doubled, &FACTS)[0],
            "Memory: 4 MiB, where everything fits (all objects take 2.55 MB): only the first request of each key misses (6.7 % of gets)."
        );
        let larger = TraceFacts {
            all_bytes: 5_000_000,
            ..FACTS
        };
        assert_eq!(
            said(&doubled, &larger)[0],
            "Memory: 4 MiB, where everything that is requested again fits (all objects take 5.00 MB): only the first request of each key \
             misses (6.7 % of gets)."
        );
        let roomy = [(Lru, [67, 67]), (Sieve, [67, 67])];
        assert!(said(&roomy, &FACTS)[0].starts_with(
            "2 MiB, the smallest memory simulated, holds everything that is requested again (all objects take 2.55 MB): only the first"
        ));
        let narrow = TraceFacts {
            all_bytes: 4_130_000,
            ..FACTS
        };
        assert_eq!(
            said(&doubled, &narrow)[0],
            "Memory: 4 MiB, where everything fits (all objects take 4.13 MB, 98 % of it, which leaves little for what a server adds): only the \
             first request of each key misses (6.7 % of gets)."
        );
        let small = TraceFacts {
            all_bytes: 1_000_000,
            ..FACTS
        };
        assert!(said(&roomy, &small)[0].starts_with(
            "Everything fits in 2 MiB, the smallest memory simulated (all objects take 1.00 MB): only the first"
        ));
    }
}
