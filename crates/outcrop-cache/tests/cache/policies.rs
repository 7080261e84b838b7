//! Every policy's hit ratio on traces, beside that of its textbook simulator.

use outcrop_cache::store::{Draft, PolicyKind, Store, StoreOptions};

use crate::kit::Random;
use crate::simulator::{Fifo, Lru, S3Fifo, Sieve, Simulator, TinyLfu};

/// Skewed popularity, keys that are never asked for again, and now and then a scan.
fn trace(seed: u64, len: usize) -> Vec<u64> {
    let mut random = Random::new(seed);
    let mut keys = Vec::with_capacity(len + 5000);
    let mut fresh = 1 << 40;
    while keys.len() < len {
        let draw = random.unit();
        if draw < 0.0002 {
            let start = random.next() % 20_000;
            keys.extend(start..start + 1000);
        } else if draw < 0.2 {
            fresh += 1;
            keys.push(fresh);
        } else {
            keys.push((20_000.0_f64.powf(random.unit()) - 1.0) as u64);
        }
    }
    keys
}

fn store_hits(policy: PolicyKind, capacity: u64, trace: &[u64]) -> usize {
    let store = Store::new(&StoreOptions {
        memory_bytes: 16 << 20,
        max_items: Some(capacity),
        policy,
        shards: 1,
        ..StoreOptions::default()
    })
    .unwrap();
    let ask = |key: &u64| {
        let key = key.to_be_bytes();
        let mut slot = store.slot(&key, 1);
        let hit = slot.read().is_some();
        if !hit {
            slot.put(Draft {
                value: b"value",
                ..Draft::default()
            })
            .unwrap();
        }
        hit
    };
    let hits = trace.iter().filter(|key| ask(key)).count();
    assert!(store.report().items <= capacity);
    hits
}

fn simulated_hits(mut simulator: impl Simulator, trace: &[u64]) -> usize {
    trace.iter().filter(|&&key| simulator.ask(key)).count()
}

#[test]
fn lru_and_fifo_hit_exactly_as_often_as_their_simulators() {
    for (seed, capacity) in [(1, 100), (2, 1000), (3, 5000)] {
        let trace = trace(seed, 60_000);
        let fifo = simulated_hits(Fifo::new(capacity), &trace);
        assert_eq!(
            store_hits(PolicyKind::Fifo, capacity as u64, &trace),
            fifo,
            "{capacity}"
        );
        let lru = simulated_hits(Lru::new(capacity), &trace);
        assert_eq!(
            store_hits(PolicyKind::Lru, capacity as u64, &trace),
            lru,
            "{capacity}"
        );
        assert!(lru > fifo, "{lru} {fifo}");
    }
}

fn assert_within(points_allowed: f64, policy: PolicyKind, capacity: usize, trace: &[u64], simulated: usize) {
    let store = store_hits(policy, capacity as u64, trace);
    let points = (store as f64 - simulated as f64).abs() / trace.len() as f64 * 100.0;
    assert!(
        points <= points_allowed,
        "{policy} at {capacity}: {store} hits, simulated {simulated}: {points} points"
    );
}

#[test]
fn sieve_s3_fifo_and_w_tinylfu_hit_within_a_tenth_of_a_point_of_their_simulators() {
    for (seed, capacity) in [(1, 500), (2, 1000), (3, 3000)] {
        let trace = trace(seed, 60_000);
        let sieve = simulated_hits(Sieve::new(capacity), &trace);
        assert_within(0.1, PolicyKind::Sieve, capacity, &trace, sieve);
        let s3_fifo = simulated_hits(S3Fifo::new(capacity), &trace);
        assert_within(0.1, PolicyKind::S3Fifo, capacity, &trace, s3_fifo);
        let tiny_lfu = simulated_hits(TinyLfu::new(capacity), &trace);
        // The simulator counts exactly, the policy by a sketch.
        assert_within(0.1, PolicyKind::TinyLfu, capacity, &trace, tiny_lfu);
    }
}

#[test]
fn s3_fifo_beats_lru_where_many_keys_are_asked_for_once() {
    let trace = trace(4, 60_000);
    let (s3_fifo, lru) = (
        store_hits(PolicyKind::S3Fifo, 1000, &trace),
        store_hits(PolicyKind::Lru, 1000, &trace),
    );
    assert!(s3_fifo > lru, "{s3_fifo} {lru}");
}

#[test]
fn w_tinylfu_keeps_what_fits_of_a_loop_in_bytes_too_where_lru_keeps_nothing() {
    const KEYS: u64 = 26_000;
    for mebibytes in [1, 2, 3, 4] {
        let store = Store::new(&StoreOptions {
            memory_bytes: mebibytes << 20,
            policy: PolicyKind::TinyLfu,
            shards: 1,
            ..StoreOptions::default()
        })
        .unwrap();
        let ask = |key: u64| {
            let key = format!("k{key:07}");
            let mut slot = store.slot(key.as_bytes(), 1);
            let hit = slot.read().is_some();
            if !hit {
                let draft = Draft {
                    value: &[7; 96],
                    ..Draft::default()
                };
                slot.put(draft).unwrap();
            }
            hit
        };
        (0..2 * KEYS).for_each(|number| {
            ask(number % KEYS);
        });
        let hits = (0..KEYS).filter(|key| ask(*key)).count() as u64;
        let items = store.report().items;
        assert!(
            items < KEYS && hits * 10 >= items * 9,
            "{mebibytes} MiB: {hits} hits of {items} items"
        );
    }
}
