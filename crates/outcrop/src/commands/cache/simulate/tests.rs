//! What the sentences say of many traces, compared with the table and with a replay that evicts nothing.

mod requests;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{CurvePoint, CurveSpec, MemorySizes, TraceFacts, miss_ratio_curve};
use outcrop_measure::units::ByteSize;
use outcrop_workload::keyed::{RequestKind, Trace};
use proptest::prelude::*;
use regex::{Captures, Regex};

use self::requests::any_requests;
use super::advice;

/// Gets that miss where nothing is evicted, and those of keys that no request named before.
fn unavoidable(trace: &Trace, sets_on_miss: bool) -> (u64, u64) {
    let (mut held, mut named) = (BTreeSet::new(), BTreeSet::new());
    let (mut misses, mut first) = (0, 0);
    for entry in trace.entries() {
        let is_new = named.insert(entry.key_id);
        match entry.kind {
            RequestKind::Set => {
                held.insert(entry.key_id);
            }
            RequestKind::Delete => {
                held.remove(&entry.key_id);
            }
            RequestKind::Get => {
                misses += u64::from(!held.contains(&entry.key_id));
                first += u64::from(is_new);
                if sets_on_miss {
                    held.insert(entry.key_id);
                }
            }
        }
    }
    (misses, first)
}

/// What sentences are compared with.
struct Table<'a> {
    points: &'a [CurvePoint],
    facts: &'a TraceFacts,
    unavoidable: u64,
    first_gets: u64,
}

impl Table<'_> {
    fn at(&self, memory: u64, policy: &str) -> &CurvePoint {
        let found = self
            .points
            .iter()
            .find(|point| point.memory_bytes == memory && point.policy.to_string() == policy);
        found.unwrap_or_else(|| panic!("{policy} at {memory} was not simulated"))
    }

    fn row(&self, memory: u64) -> impl Iterator<Item = &CurvePoint> {
        self.points
            .iter()
            .filter(move |point| point.memory_bytes == memory)
    }

    fn limits(&self) -> BTreeSet<u64> {
        self.points.iter().map(|point| point.memory_bytes).collect()
    }

    /// The difference between the worst and the best policy at a limit, in gets.
    fn spread(&self, memory: u64) -> u64 {
        let most = self.row(memory).map(|point| point.hits).max().unwrap();
        most - self.row(memory).map(|point| point.hits).min().unwrap()
    }
}

const fn misses(point: &CurvePoint) -> u64 {
    point.gets - point.hits
}

fn percent(point: &CurvePoint) -> String {
    let percent = misses(point) as f64 / point.gets as f64 * 100.0;
    assert!(
        percent == 0.0 || percent >= 0.05,
        "a trace here has too few gets for less"
    );
    format!("{percent:.1}")
}

fn bytes(size: &str) -> u64 {
    size.replace(' ', "").parse::<ByteSize>().unwrap().0
}

const NONE_MEANS: &str = " (which stores nothing more once the memory is full)";
const SIZE: &str = r"[0-9.]+ (?:B|KiB|MiB|GiB)";
const POLICY: &str = "none|fifo|lru|sieve|s3-fifo|w-tinylfu";

/// The policies of a list in words; `none` never stands in it without what it means.
fn policies(list: &str) -> Vec<String> {
    for (place, _) in list.match_indices("none") {
        assert!(list[place..].starts_with(&format!("none{NONE_MEANS}")), "{list}");
    }
    let list = list.replace(NONE_MEANS, "").replace(" and ", ", ");
    list.split(", ").map(str::to_owned).collect()
}

/// A pattern of a whole sentence, in which SIZE and POLICY stand for any.
fn pattern(text: &str) -> Regex {
    let text = text.replace("SIZE", SIZE).replace("POLICY", POLICY);
    Regex::new(&format!("^{text}$")).unwrap()
}

/// The memory that is advised, and the policy where one is.
fn check_memory(sentence: &str, table: &Table<'_>) -> (u64, Option<String>) {
    let form = pattern(
        r"Memory: (?<memory>SIZE)(?: with (?<policy>POLICY), where (?<of>(?<share>[0-9.]+) % of gets miss|no get misses)(?:; (?<more>.+))?|, where (?<not>not )?everything fits \(all objects take [^)]+\): (?<why>.+?)(?: \((?<least>[0-9.]+) % of gets\))?(?<less>; less was not simulated and may do \(--memory\))?)\.",
    );
    let seen = form.captures(sentence).unwrap_or_else(|| panic!("{sentence}"));
    let memory = bytes(&seen["memory"]);
    let Some(policy) = seen.name("policy") else {
        assert_eq!(
            seen.name("not").is_none(),
            table.facts.all_bytes <= memory,
            "{sentence}"
        );
        for point in table.row(memory) {
            assert_eq!(misses(point), table.unavoidable, "{sentence}");
            let share = seen.name("least").map_or("0.0", |share| share.as_str());
            assert_eq!(percent(point), share, "{sentence}");
        }
        match &seen["why"] {
            "no get misses" => assert_eq!(table.unavoidable, 0),
            "only the first request of a key misses" => {
                assert!(
                    table.unavoidable == table.first_gets && table.first_gets > 0,
                    "{sentence}"
                );
            }
            "gets miss only where a key was not stored, was deleted or has expired" => {
                assert!(table.unavoidable > 0, "{sentence}");
            }
            other => panic!("an unknown claim: {other}"),
        }
        let is_smallest = table.limits().first() == Some(&memory);
        assert_eq!(seen.name("less").is_some(), is_smallest, "{sentence}");
        return (memory, None);
    };
    let chosen = table.at(memory, policy.as_str());
    match seen.name("share") {
        Some(share) => assert_eq!(percent(chosen), share.as_str(), "{sentence}"),
        None => assert_eq!(misses(chosen), 0, "{sentence}"),
    }
    if let Some(more) = seen.name("more") {
        for clause in more.as_str().split("; ") {
            check_more(clause, chosen, table);
        }
    }
    (memory, Some(policy.as_str().to_owned()))
}

fn check_more(clause: &str, chosen: &CurvePoint, table: &Table<'_>) {
    let larger = || {
        let points = table.points.iter();
        points.filter(|point| point.memory_bytes > chosen.memory_bytes)
    };
    let lowers = pattern(
        r"(?<memory>SIZE) with (?<policy>.+) lowers that by (?<points>[0-9.]+|less than 0\.1) percentage points, to (?<share>[0-9.]+) %",
    );
    if let Some(seen) = lowers.captures(clause) {
        let point = table.at(bytes(&seen["memory"]), &policies(&seen["policy"])[0]);
        assert!(point.memory_bytes > chosen.memory_bytes, "{clause}");
        assert!(larger().all(|other| other.hits <= point.hits), "{clause}");
        assert_eq!(percent(point), seen["share"], "{clause}");
        let exact = (point.hits - chosen.hits) as f64 / point.gets as f64 * 100.0;
        assert!(exact > 0.0, "{clause}");
        let said = seen["points"].parse().unwrap_or(0.0);
        assert!((exact - said).abs() < 0.0501, "{clause}: {exact}");
        return;
    }
    match clause {
        "less was not simulated and may do (--memory)" => {
            assert_eq!(table.limits().first(), Some(&chosen.memory_bytes));
            assert!(misses(chosen) == table.unavoidable);
        }
        "no memory can avoid these misses" => assert_eq!(misses(chosen), table.unavoidable),
        "more was not simulated and may help (--memory)" => assert_eq!(larger().count(), 0),
        "no larger limit that was simulated lowers that" => {
            assert!(larger().all(|point| point.hits <= chosen.hits) && larger().count() > 0);
        }
        other => panic!("an unknown claim: {other}"),
    }
}

fn check_policy(sentence: &str, memory: u64, chosen: Option<&str>, table: &Table<'_>) {
    let simulated: BTreeSet<String> = table.row(memory).map(|point| point.policy.to_string()).collect();
    let Some(chosen) = chosen else {
        let seen =
            pattern("Policy: (?:(?<only>POLICY); no other was simulated|(?<all>.+) miss equally there)\\.");
        let seen = seen.captures(sentence).unwrap_or_else(|| panic!("{sentence}"));
        let named: BTreeSet<String> = match (seen.name("only"), seen.name("all")) {
            (Some(only), _) => BTreeSet::from([only.as_str().to_owned()]),
            (None, all) => {
                let names = all.unwrap().as_str().replace(" and ", ", ");
                names.split(", ").map(str::to_owned).collect()
            }
        };
        assert_eq!(named, simulated, "{sentence}");
        return;
    };
    let form = pattern(
        r"Policy: (?<chosen>.+?)(?:; within half a percentage point of it: (?<near>.+?))?(?:; with the same memory, (?<worst>.+) (?:is|are) the worst: (?<share>[0-9.]+) % of gets miss)?\.",
    );
    let seen = form.captures(sentence).unwrap_or_else(|| panic!("{sentence}"));
    assert_eq!(policies(&seen["chosen"]), [chosen], "{sentence}");
    let list = |name: &str| {
        seen.name(name)
            .map_or_else(Vec::new, |list| policies(list.as_str()))
    };
    let (near, worst) = (list("near"), list("worst"));
    let own = table.at(memory, chosen);
    for point in table.row(memory) {
        let name = point.policy.to_string();
        let is_near = name == chosen || near.contains(&name);
        let difference = misses(point) as f64 - misses(own) as f64;
        assert!(
            difference.abs() <= 0.005 * point.gets as f64 || !is_near,
            "{sentence}: {name}"
        );
        if !is_near {
            assert!(misses(point) > misses(own), "{sentence}: {name}");
            assert!(!worst.is_empty(), "{sentence}: {name}");
        }
        assert!(
            worst
                .iter()
                .all(|worst| misses(table.at(memory, worst)) + 2 >= misses(point)),
            "{sentence}"
        );
        if let Some(share) = seen.name("share") {
            assert_eq!(
                worst.contains(&name),
                percent(point) == share.as_str(),
                "{sentence}: {name}"
            );
        }
    }
}

/// What is said of less memory; whether it is a sentence of that.
fn check_less(sentence: Option<&str>, memory: u64, chosen: Option<&str>, table: &Table<'_>) -> bool {
    let smaller: Vec<u64> = table
        .limits()
        .into_iter()
        .filter(|limit| *limit < memory)
        .collect();
    let widest = smaller
        .iter()
        .map(|limit| table.spread(*limit))
        .max()
        .unwrap_or(0);
    let form = pattern(r"With less memory the policy matters, most at (?<memory>SIZE): (?<figures>.+)\.");
    let Some(seen) = sentence.and_then(|sentence| form.captures(sentence)) else {
        assert!(
            widest as f64 <= 0.01 * table.facts.gets as f64,
            "the policy matters with less memory"
        );
        return false;
    };
    let at = bytes(&seen["memory"]);
    assert!(smaller.contains(&at) && table.spread(at) == widest, "{seen:?}");
    let figures = seen["figures"].replacen(" of gets miss with ", " with ", 1);
    let head = Regex::new("(?:^|, )([0-9.]+) % with ").unwrap();
    let heads: Vec<Captures<'_>> = head.captures_iter(&figures).collect();
    let mut named = BTreeSet::new();
    for (number, head) in heads.iter().enumerate() {
        let next = heads.get(number + 1).and_then(|next| next.get(0));
        let list = &figures[head.get(0).unwrap().end()..next.map_or(figures.len(), |next| next.start())];
        let alike = table.row(at).filter(|point| percent(point) == head[1]);
        let alike: Vec<String> = alike.map(|point| point.policy.to_string()).collect();
        assert_eq!(policies(list), alike, "{figures}");
        named.extend(alike);
    }
    let is_named = |point: &CurvePoint| named.contains(&point.policy.to_string());
    let by_hits = |one: &&CurvePoint, other: &&CurvePoint| one.hits.cmp(&other.hits);
    assert!(table.row(at).max_by(by_hits).is_some_and(is_named), "{figures}");
    assert!(table.row(at).min_by(by_hits).is_some_and(is_named), "{figures}");
    assert!(chosen.is_none_or(|chosen| named.contains(chosen)), "{figures}");
    true
}

fn check_fall(sentence: &str, table: &Table<'_>) {
    let form = pattern(
        r"(?<form>Knee with|With|No single knee with) (?<policy>POLICY)(?: from (?<least>SIZE) to (?<most>SIZE): three quarters of the fall take more than a doubling of the memory;|:|,) from (?<from>SIZE) to (?<to>SIZE) the misses fall from (?<high>[0-9.]+) % to (?<low>[0-9.]+) % of gets, which is (?<part>all|[0-9.]+) of the (?<whole>[0-9.]+) percentage points by which they fall from (?<first>SIZE) to (?<last>SIZE)\.(?<rest>.*)",
    );
    let seen = form.captures(sentence).unwrap_or_else(|| panic!("{sentence}"));
    let end = |name: &str| table.at(bytes(&seen[name]), &seen["policy"]);
    let [from, to, first, last] = ["from", "to", "first", "last"].map(end);
    assert_eq!(
        (percent(from), percent(to)),
        (seen["high"].to_owned(), seen["low"].to_owned()),
        "{sentence}"
    );
    let gets = table.facts.gets as f64;
    let exact = |from: &CurvePoint, to: &CurvePoint| (misses(from) as f64 - misses(to) as f64) / gets * 100.0;
    let (part, whole) = (exact(from, to), exact(first, last));
    let said: f64 = seen["whole"].parse().unwrap();
    assert!((whole - said).abs() < 0.0501, "{sentence}: {whole}");
    match &seen["part"] {
        "all" => assert!((part - whole).abs() < 1e-9, "{sentence}"),
        said => assert!(
            (part - said.parse::<f64>().unwrap()).abs() < 0.0501,
            "{sentence}: {part}"
        ),
    }
    assert!(part >= 0.75 * whole - 1e-9, "{sentence}");
    let column: Vec<&CurvePoint> = table
        .points
        .iter()
        .filter(|point| point.policy == from.policy)
        .collect();
    for one in &column {
        for other in column
            .iter()
            .filter(|other| other.memory_bytes > one.memory_bytes)
        {
            let fall = exact(one, other);
            assert!(fall <= whole + 1e-9, "{sentence}: the largest fall is {fall}");
            let is_doubling = other.memory_bytes <= 2 * one.memory_bytes;
            assert!(
                !(is_doubling && seen.name("least").is_some()) || fall < 0.75 * whole,
                "{sentence}"
            );
        }
    }
    let is_wide = to.memory_bytes > 2 * from.memory_bytes;
    assert_eq!(
        &seen["form"] == "No single knee with",
        seen.name("least").is_some(),
        "{sentence}"
    );
    match &seen["form"] {
        "Knee with" => assert!(!is_wide && seen["rest"].is_empty(), "{sentence}"),
        "No single knee with" => {
            assert!(is_wide, "{sentence}");
            let ends = [bytes(&seen["least"]), bytes(&seen["most"])];
            let limits = table.limits();
            assert_eq!(Some(&ends[0]), limits.first(), "{sentence}");
            assert_eq!(Some(&ends[1]), limits.last(), "{sentence}");
        }
        _ => assert!(seen["rest"].contains("a knee is not known"), "{sentence}"),
    }
    check_rest(&seen, table);
}

/// Where less or more may have a knee, less may hit and more may miss less.
fn check_rest(seen: &Captures<'_>, table: &Table<'_>) {
    let of_policy = table
        .points
        .iter()
        .filter(|point| point.policy.to_string() == seen["policy"]);
    let least = of_policy.clone().min_by_key(|point| point.memory_bytes).unwrap();
    let most = of_policy.max_by_key(|point| point.memory_bytes).unwrap();
    let rest = &seen["rest"];
    if rest.contains("Less than") || rest.contains("too little smaller") {
        assert!(least.hits > 0, "{rest}");
    }
    if rest.contains("More than") || rest.contains("too little larger") {
        assert!(misses(most) > table.unavoidable, "{rest}");
    }
}

fn check(sentences: &[String], table: &Table<'_>) {
    if let [only] = sentences {
        assert!(
            only.starts_with("No get asks for a key that an earlier request named"),
            "{only}"
        );
        assert_eq!(table.first_gets, table.facts.gets, "{only}");
        return;
    }
    let (memory, chosen) = check_memory(&sentences[0], table);
    check_policy(&sentences[1], memory, chosen.as_deref(), table);
    let third = sentences.get(2).map(String::as_str);
    let rest = 2 + usize::from(check_less(third, memory, chosen.as_deref(), table));
    for sentence in &sentences[rest..] {
        check_fall(sentence, table);
    }
    assert!(sentences.len() <= rest + 1, "{sentences:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_number_and_every_claim_of_the_sentences_is_that_of_the_table(
        requests in any_requests(),
        policies in prop_oneof![
            Just(PolicyKind::ALL.to_vec()),
            prop::sample::subsequence(PolicyKind::ALL.to_vec(), 1..3),
        ],
        limits in prop_oneof![
            Just(None),
            prop::collection::btree_set(6_u32..22, 1..6).prop_map(Some),
        ],
        sets_on_miss in prop::bool::weighted(0.8),
    ) {
        let trace = requests.trace();
        let mut spec = CurveSpec {
            memory_bytes: Vec::new(),
            policies,
            overhead_bytes: 32,
            value_size_bytes: 0,
            sets_on_miss,
            threads: 1,
        };
        let facts = spec.facts(&trace);
        prop_assume!(facts.gets > 0);
        spec.memory_bytes = match limits {
            None => MemorySizes::around(facts.all_bytes).0,
            Some(powers) => powers.into_iter().map(|power| 1 << power).collect(),
        };
        let points = miss_ratio_curve(&trace, &spec, &AtomicBool::new(false), &mut |_| {}).unwrap();
        let (unavoidable, first_gets) = unavoidable(&trace, sets_on_miss);
        let sentences = advice::sentences(&points, &facts).unwrap();
        let table = Table { points: &points, facts: &facts, unavoidable, first_gets };
        check(&sentences, &table);
    }
}
