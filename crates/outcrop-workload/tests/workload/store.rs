//! Loads of stores: counts per operation, keys, scans, and what may be read while others insert.

use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::Seed;
use outcrop_workload::keyed::{
    AcknowledgedKeys, KeyNames, Operation, OperationKind, OperationMix, RecordValues, RequestDistribution,
    StoreLoad, StoreLoadSpec, StoreWorkload, ValueSize, YcsbCore, mixgraph,
};
use outcrop_workload::{Content, WorkloadError};
use proptest::prelude::*;

use crate::statistics::{chi_square, chi_square_limit};

const RECORDS: u64 = 10_000;
const COUNT: u64 = 200_000;

fn load(workload: &str, requests: Option<&str>, records: u64) -> StoreLoad {
    let workload: StoreWorkload = workload.parse().unwrap();
    StoreLoad::new(StoreLoadSpec {
        workload,
        requests: requests.map_or(workload.requests(), |text| text.parse().unwrap()),
        records,
        operations: COUNT,
        seed: Seed(11),
    })
    .unwrap()
}

/// Operations of the first worker, each insert acknowledged at once.
fn operations(load: &StoreLoad, count: u64) -> Vec<Operation> {
    let mut operations = load.operations(0);
    (0..count)
        .map(|_| {
            let operation = operations.next_operation().unwrap();
            load.acknowledge(operation.key_id);
            operation
        })
        .collect()
}

#[test]
fn each_workload_has_its_operations_in_its_shares() {
    for (text, shares) in [
        ("ycsb-a", [0.5, 0.5, 0.0, 0.0, 0.0]),
        ("ycsb-b", [0.95, 0.05, 0.0, 0.0, 0.0]),
        ("ycsb-c", [1.0, 0.0, 0.0, 0.0, 0.0]),
        ("ycsb-d", [0.95, 0.0, 0.05, 0.0, 0.0]),
        ("ycsb-e", [0.0, 0.0, 0.05, 0.95, 0.0]),
        ("ycsb-f", [0.5, 0.0, 0.0, 0.0, 0.5]),
        ("mixgraph", [0.85, 0.14, 0.0, 0.01, 0.0]),
        ("read:2,update:1,scan:1", [0.5, 0.25, 0.0, 0.25, 0.0]),
    ] {
        let load = load(text, None, RECORDS);
        let mut seen = [0_u64; 5];
        for operation in operations(&load, COUNT) {
            seen[operation.kind as usize] += 1;
            assert_eq!(operation.scan_length > 0, operation.kind == OperationKind::Scan);
        }
        for (kind, share) in OperationKind::ALL.into_iter().zip(shares) {
            let workload: StoreWorkload = text.parse().unwrap();
            assert!((workload.mix().share(kind) - share).abs() < 1e-12);
            let deviation = (COUNT as f64 * share * (1.0 - share)).sqrt();
            let off = seen[kind as usize] as f64 - COUNT as f64 * share;
            assert!(off.abs() <= 4.5 * deviation, "{text}, {kind}: {off}");
        }
        assert_eq!(
            load.acknowledged(),
            RECORDS + seen[OperationKind::Insert as usize]
        );
    }
}

#[test]
fn spellings_of_stores_workloads_read_back_and_others_are_refused() {
    for text in [
        "ycsb-a",
        "ycsb-b",
        "ycsb-c",
        "ycsb-d",
        "ycsb-e",
        "ycsb-f",
        "mixgraph",
        "read:50,update:50",
        "read:95,insert:5",
        "update:1,insert:2,scan:3,read-modify-write:4",
    ] {
        assert_eq!(text.parse::<StoreWorkload>().unwrap().to_string(), text);
        let json = serde_json::to_string(&text.parse::<StoreWorkload>().unwrap()).unwrap();
        assert_eq!(json, format!("\"{text}\""));
        assert_eq!(
            serde_json::from_str::<StoreWorkload>(&json).unwrap().to_string(),
            text
        );
    }
    for text in ["zipfian", "latest", "uniform", "zipf:0.99", "mixgraph"] {
        assert_eq!(text.parse::<RequestDistribution>().unwrap().to_string(), text);
    }
    for text in ["mixgraph", "fixed:1000B"] {
        assert!(text.parse::<ValueSize>().is_ok(), "{text}");
    }
    let reordered: OperationMix = " update:50 , read:0,read-modify-write:1".parse().unwrap();
    assert_eq!(reordered.to_string(), "update:50,read-modify-write:1");
    // What commands take and what records have are the same mix.
    let joined: OperationMix = "read:95+insert:5".parse().unwrap();
    assert_eq!(joined, "read:95,insert:5".parse().unwrap());
    let refused = "read:50/update:50"
        .parse::<StoreWorkload>()
        .unwrap_err()
        .to_string();
    assert!(refused.contains("read:50+update:50"), "{refused}");
    for wrong in [
        "",
        "ycsb-g",
        "read:0",
        "read:1,read:2",
        "read",
        "read:-1",
        "write:1",
        "read:1,,",
        "read:1:2",
    ] {
        assert!(wrong.parse::<StoreWorkload>().is_err(), "{wrong}");
    }
    for wrong in ["zipf", "zipf:0", "zipf:1", "zipf:NaN", "zipfian:0.99", "hotspot"] {
        assert!(wrong.parse::<RequestDistribution>().is_err(), "{wrong}");
    }
    let near = "ycsb-aa".parse::<StoreWorkload>().unwrap_err().to_string();
    assert!(near.contains("did you mean `ycsb-a`?"), "{near}");
}

#[test]
fn uniform_requests_ask_for_all_loaded_records_alike() {
    let load = load("ycsb-a", Some("uniform"), 1000);
    let mut seen = vec![0; 1000];
    for operation in operations(&load, COUNT) {
        seen[operation.key_id as usize] += 1;
    }
    let found = chi_square(&seen, &vec![COUNT as f64 / 1000.0; 1000]);
    assert!(found < chi_square_limit(999.0), "{found}");
}

#[test]
fn operation_and_key_are_independent() {
    let load = load("ycsb-a", Some("zipf:0.9"), 16);
    let mut seen = [[0_u64; 16]; 2];
    for operation in operations(&load, COUNT) {
        seen[usize::from(operation.kind.writes())][operation.key_id as usize] += 1;
    }
    let totals = [0, 1].map(|row: usize| seen[row].iter().sum::<u64>() as f64);
    let found: f64 = (0..16)
        .map(|key| {
            let of_key = (seen[0][key] + seen[1][key]) as f64;
            let expected = totals.map(|total| total * of_key / COUNT as f64);
            chi_square(&[seen[0][key], seen[1][key]], &expected)
        })
        .sum();
    assert!(found < chi_square_limit(15.0), "{found}");
}

#[test]
fn scans_read_1_to_100_records_evenly() {
    let load = load("ycsb-e", None, RECORDS);
    let mut seen = vec![0; 100];
    let scans = operations(&load, COUNT)
        .into_iter()
        .filter(|operation| operation.kind == OperationKind::Scan)
        .map(|operation| seen[operation.scan_length as usize - 1] += 1)
        .count();
    let found = chi_square(&seen, &vec![scans as f64 / 100.0; 100]);
    assert!(found < chi_square_limit(99.0), "{found}");
}

#[test]
fn latest_asks_for_the_newest_records_while_they_come() {
    let load = load("ycsb-d", None, RECORDS);
    let mut operations = load.operations(0);
    let (mut reads, mut newest, mut newer_than_load) = (0_u64, 0_u64, 0_u64);
    for _ in 0..COUNT {
        let operation = operations.next_operation().unwrap();
        if operation.kind == OperationKind::Read {
            let last = load.acknowledged() - 1;
            assert!(operation.key_id <= last);
            reads += 1;
            newest += u64::from(last - operation.key_id < 100);
            newer_than_load += u64::from(operation.key_id >= RECORDS);
        }
        load.acknowledge(operation.key_id);
    }
    // Σ 1/k^0.99 over the first 100 of 10,000 to 20,000: 0.52 to 0.48 of the requests.
    let share = newest as f64 / reads as f64;
    assert!((0.46..0.54).contains(&share), "{share}");
    assert!(newer_than_load > reads / 2, "{newer_than_load} of {reads}");
}

#[test]
fn versions_are_unique_over_workers_and_never_that_of_the_load() {
    let load = load("ycsb-a", None, 100);
    let mut versions = std::collections::BTreeSet::new();
    for worker in 0..4 {
        let mut operations = load.operations(worker);
        for _ in 0..1000 {
            let version = operations.next_operation().unwrap().version;
            assert!(version != RecordValues::LOADED && versions.insert(version));
        }
    }
}

#[test]
fn a_seed_means_the_same_operations_and_workers_have_their_own() {
    let keys = |worker, seed| {
        let load = StoreLoad::new(StoreLoadSpec {
            workload: StoreWorkload::Ycsb(YcsbCore::A),
            requests: RequestDistribution::ScrambledZipfian,
            records: RECORDS,
            operations: COUNT,
            seed: Seed(seed),
        })
        .unwrap();
        let mut operations = load.operations(worker);
        std::array::from_fn::<u64, 5, _>(|_| operations.next_operation().unwrap().key_id)
    };
    assert_eq!(keys(0, 1), keys(0, 1));
    assert_ne!(keys(0, 1), keys(1, 1));
    assert_ne!(keys(0, 1), keys(0, 2));
}

#[test]
fn workers_load_each_record_once() {
    for (records, workers) in [(10, 3), (1, 4), (1000, 1), (u64::MAX, 7)] {
        let load = load("ycsb-c", Some("uniform"), records);
        let mut next = 0;
        for worker in 0..workers {
            let range = load.loaded(worker, workers);
            assert_eq!(range.start, next);
            next = range.end;
        }
        assert_eq!(next, records);
    }
}

/// Workers that insert and read at once, and mark what they stored *before* they acknowledge it.
fn insert_and_read(load: &StoreLoad, stored: &[AtomicBool], workers: u32, count: u64) {
    std::thread::scope(|scope| {
        for worker in 0..workers {
            scope.spawn(move || {
                let mut operations = load.operations(worker);
                for _ in 0..count {
                    let operation = operations.next_operation().unwrap();
                    let slot = &stored[operation.key_id as usize];
                    if operation.kind == OperationKind::Insert {
                        assert!(!slot.swap(true, Ordering::SeqCst), "inserted twice");
                        load.acknowledge(operation.key_id);
                    } else {
                        assert!(slot.load(Ordering::SeqCst), "key {}", operation.key_id);
                    }
                }
            });
        }
    });
}

#[test]
fn no_worker_draws_a_key_whose_insert_another_has_not_acknowledged() {
    for requests in ["zipfian", "latest"] {
        let (workers, count, records) = (4, 30_000, 1000);
        let load = load("read:50,insert:50", Some(requests), records);
        let stored: Vec<AtomicBool> = (0..records + u64::from(workers) * count)
            .map(|key| AtomicBool::new(key < records))
            .collect();
        insert_and_read(&load, &stored, workers, count);
        // Nothing is left over: every insert was seen to be acknowledged by the last one at the latest.
        let inserted = stored.iter().filter(|slot| slot.load(Ordering::SeqCst)).count();
        assert_eq!(load.acknowledged(), inserted as u64);
    }
}

proptest! {
    #[test]
    fn what_is_acknowledged_in_any_order_counts_up_to_the_first_gap(
        order in Just((0..200_u64).collect::<Vec<_>>()).prop_shuffle(), records in 1..u64::from(u32::MAX),
    ) {
        let keys = AcknowledgedKeys::new(records);
        for _ in 0..200 {
            keys.next().unwrap();
        }
        let mut done = [false; 200];
        for offset in order {
            keys.acknowledge(records + offset);
            done[offset as usize] = true;
            let gap = done.iter().take_while(|done| **done).count() as u64;
            prop_assert_eq!(keys.count(), records + gap);
        }
        // What was never given out, and what is there already, changes nothing.
        keys.acknowledge(records + 200);
        keys.acknowledge(0);
        prop_assert_eq!(keys.count(), records + 200);
    }
}

#[test]
fn the_window_turns_many_times_and_a_lost_insert_is_named() {
    const WINDOW: u64 = 1 << 20;
    let keys = AcknowledgedKeys::new(5);
    for wanted in 5..5 + 3 * WINDOW {
        assert_eq!(keys.next(), Ok(wanted));
        keys.acknowledge(wanted);
    }
    let lost = keys.next().unwrap();
    for _ in 1..WINDOW {
        let key = keys.next().unwrap();
        keys.acknowledge(key);
    }
    assert_eq!(
        keys.next(),
        Err(WorkloadError::TooManyUnacknowledged { oldest_key_id: lost })
    );
    keys.acknowledge(lost);
    assert_eq!(keys.count(), lost + WINDOW);
    assert!(keys.next().is_ok());
}

#[test]
fn loads_that_cannot_be_are_refused() {
    let refused = |workload: &str, records| {
        let workload: StoreWorkload = workload.parse().unwrap();
        StoreLoad::new(StoreLoadSpec {
            workload,
            requests: workload.requests(),
            records,
            operations: 1,
            seed: Seed(0),
        })
        .is_err()
    };
    assert!(refused("ycsb-a", 0));
    assert!(refused("mixgraph", 29));
    assert!(!refused("mixgraph", 30));
    assert!(!refused("ycsb-d", 1));
}

#[test]
fn mixgraph_asks_for_its_ranges_as_often_as_the_model_says() {
    let ranges = mixgraph::KeyRanges::new(30_000).unwrap();
    let load = load("mixgraph", None, 30_000);
    let mut by_place = vec![0; 30];
    let mut keys = std::collections::BTreeMap::<u64, u64>::new();
    for operation in operations(&load, COUNT) {
        by_place[(operation.key_id / ranges.keys_per_range()) as usize] += 1;
        *keys.entry(operation.key_id).or_default() += 1;
    }
    let mut expected = vec![0.0; 30];
    for (index, share) in mixgraph::KeyRanges::shares().into_iter().enumerate() {
        // The model as it is published, before the sum is made 1.
        let model =
            14.18 * (-2.917 * (index + 1) as f64).exp() + 0.0164 * (-0.08082 * (index + 1) as f64).exp();
        assert!((share / model - 1.0).abs() < 0.02, "range {index}: {share}");
        expected[ranges.place(index) as usize] = share * COUNT as f64;
    }
    let found = chi_square(&by_place, &expected);
    assert!(found < chi_square_limit(29.0), "{found}");
    // Rank 1 of the power law gets .002312 of a range's requests, and the most popular range .79 of all; other ranks fold onto its key.
    let most = *keys.values().max().unwrap() as f64 / COUNT as f64;
    let rank_1 = 0.002_312 * mixgraph::KeyRanges::shares()[0];
    assert!((rank_1 * 0.9..rank_1 * 2.5).contains(&most), "{most}, {rank_1}");
}

#[test]
fn mixgraph_sizes_and_scans_follow_pareto() {
    let values = RecordValues::of_content(Content::Random, ValueSize::Mixgraph, Seed(1));
    let mut sizes: Vec<usize> = (0..100_000).map(|key| values.size_bytes(key, 3)).collect();
    sizes.sort_unstable();
    // σ((1 − q)^−k − 1)/k, rounded up.
    for (quantile, size) in [(0.5, 20), (0.9, 81), (0.99, 228)] {
        let found = sizes[(quantile * 1e5) as usize];
        assert!(found.abs_diff(size) <= 1 + size / 40, "{quantile}: {found}");
    }
    assert!(*sizes.first().unwrap() >= 1 && *sizes.last().unwrap() <= 1024);
    for (draw, length) in [(0.0, 1), (0.5, 27), (0.9, 1855)] {
        assert_eq!(mixgraph::scan_length(draw), length, "{draw}");
    }
    assert!((0..1000).all(|draw| (1..=10_000).contains(&mixgraph::scan_length(f64::from(draw) / 1000.0))));
}

#[test]
fn keys_of_mixgraph_are_in_the_order_of_their_numbers_and_ycsbs_are_not() {
    let keys = |names: KeyNames| {
        (0..1000)
            .map(|id| {
                let mut key = Vec::new();
                names.write_key(id * 7, &mut key);
                assert!(key.len() <= names.longest_bytes());
                key
            })
            .collect::<Vec<_>>()
    };
    assert!(keys(KeyNames::Mixgraph).is_sorted());
    assert!(keys(KeyNames::Mixgraph).iter().all(|key| key.len() == 48));
    assert!(!keys(KeyNames::Ycsb).is_sorted());
    let read_back: Vec<_> = keys(KeyNames::Mixgraph)
        .iter()
        .map(|key| KeyNames::Mixgraph.key_id(key))
        .collect();
    assert!(read_back.into_iter().eq((0..1000).map(|id| Some(id * 7))));
    assert_eq!(KeyNames::Mixgraph.key_id(b"user1"), None);
}
