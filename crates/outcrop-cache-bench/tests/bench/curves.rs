//! Miss-ratio curves against naive replays, and against what must be true of every curve.

use std::sync::atomic::AtomicBool;

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::simulator::simulator_of_bytes;
use outcrop_cache_bench::{CurvePoint, CurveSpec, MemorySizes, Policies, miss_ratio_curve};
use outcrop_workload::keyed::Trace;
use proptest::prelude::*;

fn spec(memory_bytes: Vec<u64>) -> CurveSpec {
    CurveSpec {
        memory_bytes,
        policies: PolicyKind::ALL.to_vec(),
        overhead_bytes: 0,
        value_size_bytes: 1,
        sets_on_miss: true,
        threads: 2,
    }
}

fn curve(trace: &Trace, spec: &CurveSpec) -> Vec<CurvePoint> {
    miss_ratio_curve(trace, spec, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

/// LRU by bytes, as a list from the newest object to the oldest.
fn naive_lru(requests: &[(u8, u32)], limit: u64) -> u64 {
    let mut held: Vec<(u8, u32)> = Vec::new();
    let mut hits = 0;
    for (key, size) in requests {
        let weight = |held: &[(u8, u32)]| held.iter().map(|one| u64::from(one.1)).sum::<u64>();
        if let Some(place) = held.iter().position(|one| one.0 == *key) {
            hits += 1;
            let used = held.remove(place);
            held.insert(0, used);
        } else if u64::from(*size) <= limit {
            while weight(&held) + u64::from(*size) > limit {
                held.pop();
            }
            held.insert(0, (*key, *size));
        }
    }
    hits
}

proptest! {
    #[test]
    fn objects_of_all_sizes_hit_as_in_a_list(
        keys in prop::collection::vec(0_u8..64, 1..300),
        limit in 1_u64..2000,
    ) {
        let size = |key: u8| u32::from(key) * 3 + 1;
        let line = |(number, key): (usize, &u8)| format!("{number},{},{}\n", char::from(b'0' + key), size(*key));
        let text: String = keys.iter().enumerate().map(line).collect();
        // The name of a key has one byte, which counts as well.
        let sized: Vec<(u8, u32)> = keys.iter().map(|key| (*key, size(*key) + 1)).collect();
        let trace = Trace::read(text.as_bytes()).unwrap();
        let points = curve(&trace, &spec(vec![limit]));
        let lru = points.iter().find(|point| point.policy == PolicyKind::Lru).unwrap();
        prop_assert_eq!(lru.hits, naive_lru(&sized, limit));
        for point in &points {
            prop_assert!(point.held_bytes <= limit, "{:?}", point);
        }
    }

    #[test]
    fn no_policy_ever_holds_more_than_its_limit_whatever_sizes_change(
        steps in prop::collection::vec((0_u32..30, 0_u8..8, 1_u32..200), 1..400),
        limit in 1_u64..600,
    ) {
        for policy in PolicyKind::ALL {
            let mut cache = simulator_of_bytes(policy, limit, 30);
            for (key, action, weight) in &steps {
                match action {
                    0 => cache.delete(*key),
                    1..=4 => {
                        let is_new = !cache.get(*key);
                        cache.set_sized(*key, *weight);
                        // One that grows where it is may be the next to go.
                        let may_refuse = matches!(policy, PolicyKind::None | PolicyKind::TinyLfu);
                        if is_new && !may_refuse {
                            prop_assert_eq!(cache.get(*key), u64::from(*weight) <= limit, "{}", policy);
                        }
                    }
                    _ => drop(cache.get(*key)),
                }
                prop_assert!(cache.weight() <= limit, "{policy}: {} of {limit}", cache.weight());
                prop_assert_eq!(cache.is_empty(), cache.weight() == 0);
            }
        }
    }
}

#[test]
fn with_memory_for_everything_only_first_requests_miss() {
    let text: String = (0..5000)
        .map(|number| format!("{number},key{},{}\n", number * number % 97, 100))
        .collect();
    let trace = Trace::read(text.as_bytes()).unwrap();
    let spec = spec(vec![1 << 10, 1 << 20]);
    let facts = spec.facts(&trace);
    assert_eq!((facts.gets, facts.first_gets), (5000, trace.key_count()));
    assert!(facts.all_bytes < 1 << 20 && facts.keys_without_size == 0);
    let points = curve(&trace, &spec);
    assert_eq!(points.len(), 2 * PolicyKind::ALL.len());
    for pair in points.chunks(2) {
        assert_eq!((pair[0].memory_bytes, pair[1].memory_bytes), (1 << 10, 1 << 20));
        assert_eq!(pair[1].gets - pair[1].hits, facts.first_gets, "{:?}", pair[1]);
        assert!(pair[0].hits < pair[1].hits && pair[1].held_bytes == facts.all_bytes);
    }
}

#[test]
fn an_object_that_has_ended_misses() {
    let text = "0,a,set,1,10,5\n1,a,get,1,0,0\n6,a,get,1,0,0\n7,a,get,1,0,0\n";
    let trace = Trace::read(text.as_bytes()).unwrap();
    let filled = spec(vec![1000]);
    assert!(curve(&trace, &filled).iter().all(|point| point.hits == 2));
    let bare = CurveSpec {
        sets_on_miss: false,
        ..filled
    };
    assert!(curve(&trace, &bare).iter().all(|point| point.hits == 1));
}

#[test]
fn what_a_get_stores_after_a_miss_lives_as_long_as_what_the_trace_sets() {
    // Every value lives for five seconds: those stored at 0, 6 and 11 are found at 4, 7, 12 and 13.
    let text = "0,a,set,1,10,5\n4,a,get,1,0,0\n6,a,get,1,0,0\n7,a,get,1,0,0\n11,a,get,1,0,0\n12,a,get,1,0,0\n13,a,get,1,0,0\n";
    let trace = Trace::read(text.as_bytes()).unwrap();
    let filled = spec(vec![1000]);
    assert!(curve(&trace, &filled).iter().all(|point| point.hits == 4));
    assert_eq!(filled.facts(&trace).most_hits, 4);
}

#[test]
fn only_what_is_ever_stored_takes_memory() {
    let text = "0,a,set,1,10,0\n1,a,get,1,0,0\n2,b,get,1,1000,0\n3,c,delete,1,1000,0\n";
    let trace = Trace::read(text.as_bytes()).unwrap();
    let filled = spec(vec![1 << 20]);
    let bare = CurveSpec {
        sets_on_miss: false,
        ..filled.clone()
    };
    for spec in [filled, bare] {
        let points = curve(&trace, &spec);
        let fifo = points.iter().find(|point| point.policy == PolicyKind::Fifo);
        assert_eq!(fifo.unwrap().held_bytes, spec.facts(&trace).all_bytes, "{spec:?}");
    }
    let gets = Trace::read("0,a,10\n1,a,10\n".as_bytes()).unwrap();
    let bare = CurveSpec {
        sets_on_miss: false,
        ..spec(vec![100])
    };
    assert_eq!(bare.facts(&gets).all_bytes, 0);
}

#[test]
fn a_stop_flag_ends_it() {
    let trace = Trace::read("a\nb\n".as_bytes()).unwrap();
    let stopped = miss_ratio_curve(&trace, &spec(vec![10]), &AtomicBool::new(true), &mut |_| {});
    assert_eq!(stopped, None);
}

#[test]
fn limits_and_policies_are_read_as_people_write_them() {
    let sizes = |text: &str| text.parse::<MemorySizes>();
    assert_eq!(sizes("1KiB..4KiB").unwrap().0, [1024, 2048, 4096]);
    assert_eq!(sizes("1KiB..3KiB").unwrap().0, [1024, 2048, 3072]);
    assert_eq!(sizes("1KiB").unwrap().0, [1024]);
    assert_eq!(sizes("3KiB,1KiB").unwrap().to_string(), "3KiB,1KiB");
    for text in ["1KiB..4KiB", "1KiB..3KiB", "1KiB,3KiB", "3KiB", "1KiB,2KiB"] {
        assert_eq!(sizes(text).unwrap().to_string(), text);
    }
    let beyond = |text: &str| {
        let sizes = sizes(text).unwrap();
        let [half, double] = [sizes.from_half(), sizes.to_double()];
        [half, double].map(|sizes| sizes.map_or_else(String::new, |sizes| sizes.to_string()))
    };
    assert_eq!(beyond("1MiB..4MiB"), ["512KiB..4MiB", "1MiB..8MiB"]);
    assert_eq!(
        beyond("5KiB,2KiB,3KiB"),
        ["1KiB,2KiB,3KiB,5KiB", "2KiB,3KiB,5KiB,10KiB"]
    );
    assert_eq!(beyond("1B,2B"), ["", "1..4"]);
    for text in ["", "4KiB..1KiB", "0B", "1B..16EiB", "many"] {
        assert!(sizes(text).unwrap_err().contains("64MiB..8GiB"), "{text}");
    }
    assert_eq!("all".parse::<Policies>().unwrap().0, PolicyKind::ALL);
    assert_eq!("lru, fifo".parse::<Policies>().unwrap().0.len(), 2);
    assert!("mru".parse::<Policies>().unwrap_err().contains("s3-fifo"));
}
