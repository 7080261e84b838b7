//! The simulators against naive lists, and against the server's own store, which shares nothing with them.

use outcrop_cache::store::{Draft, PolicyKind, Store, StoreOptions};
use outcrop_cache_bench::simulator::{Simulator, simulator};
use proptest::prelude::*;

/// A list from the newest key to the oldest; `moves` makes it LRU.
struct Naive {
    keys: Vec<u32>,
    capacity: usize,
    moves: bool,
}

impl Naive {
    fn get(&mut self, key: u32) -> bool {
        let Some(place) = self.keys.iter().position(|known| *known == key) else {
            return false;
        };
        if self.moves {
            self.keys.remove(place);
            self.keys.insert(0, key);
        }
        true
    }

    fn set(&mut self, key: u32) {
        if !self.get(key) {
            self.keys.truncate(self.capacity - 1);
            self.keys.insert(0, key);
        }
    }

    fn delete(&mut self, key: u32) {
        self.keys.retain(|known| *known != key);
    }
}

proptest! {
    #[test]
    fn fifo_and_lru_are_lists(
        capacity in 1..20_usize,
        requests in proptest::collection::vec((0..4_u8, 0..30_u32), 0..400),
    ) {
        for (policy, moves) in [(PolicyKind::Fifo, false), (PolicyKind::Lru, true)] {
            let mut simulated = simulator(policy, capacity, 30);
            let mut naive = Naive { keys: Vec::new(), capacity, moves };
            for &(what, key) in &requests {
                match what {
                    0 => { simulated.set(key); naive.set(key); }
                    1 => { simulated.delete(key); naive.delete(key); }
                    _ => prop_assert_eq!(simulated.get(key), naive.get(key)),
                }
                prop_assert_eq!(simulated.len(), naive.keys.len());
            }
        }
    }

    #[test]
    fn no_policy_holds_more_than_it_may_or_loses_what_was_just_stored(
        capacity in 1..20_usize,
        requests in proptest::collection::vec((0..4_u8, 0..30_u32), 0..400),
    ) {
        for policy in PolicyKind::ALL {
            let mut simulated = simulator(policy, capacity, 30);
            for &(what, key) in &requests {
                let before = simulated.len();
                match what {
                    0 => {
                        simulated.set(key);
                        let is_full = policy == PolicyKind::None && before == capacity;
                        prop_assert!(is_full || simulated.get(key), "{policy}");
                    }
                    1 => {
                        simulated.delete(key);
                        prop_assert!(!simulated.get(key), "{policy}");
                    }
                    _ => { simulated.get(key); }
                }
                prop_assert!(simulated.len() <= capacity, "{policy}");
            }
        }
    }
}

/// A generator good enough for traces (Vigna's splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

const KEYS: u32 = 20_000;

/// Skewed, with a scan now and then.
fn trace(seed: u64, len: usize) -> Vec<u32> {
    let mut random = Random(seed);
    let mut keys = Vec::new();
    while keys.len() < len {
        let draw = random.next();
        if draw.is_multiple_of(5000) {
            let start = (random.next() % 19_000) as u32;
            keys.extend(start..start + 1000);
        } else {
            let unit = (draw >> 11) as f64 / (1_u64 << 53) as f64;
            keys.push((f64::from(KEYS).powf(unit) - 1.0) as u32);
        }
    }
    keys
}

fn hits_of_store(policy: PolicyKind, capacity: u64, trace: &[u32]) -> usize {
    let store = Store::new(&StoreOptions {
        memory_bytes: 16 << 20,
        max_items: Some(capacity),
        policy,
        shards: 1,
        ..StoreOptions::default()
    })
    .unwrap();
    let ask = |key: &&u32| {
        let key = key.to_be_bytes();
        let mut slot = store.slot(&key, 1);
        let is_hit = slot.read().is_some();
        if !is_hit {
            let draft = Draft {
                value: b"value",
                ..Draft::default()
            };
            slot.put(draft).unwrap();
        }
        is_hit
    };
    trace.iter().filter(ask).count()
}

fn hits_of(mut simulated: Box<dyn Simulator>, trace: &[u32]) -> usize {
    let ask = |key: &&u32| {
        let is_hit = simulated.get(**key);
        if !is_hit {
            simulated.set(**key);
        }
        is_hit
    };
    trace.iter().filter(ask).count()
}

#[test]
fn each_policy_hits_as_often_as_the_store_that_implements_it() {
    // W-TinyLFU's store has a sketch in place of exact counts.
    let allowed = [
        (PolicyKind::Fifo, 0.0),
        (PolicyKind::Lru, 0.0),
        (PolicyKind::Sieve, 0.1),
        (PolicyKind::S3Fifo, 0.1),
        (PolicyKind::TinyLfu, 2.0),
    ];
    for (seed, capacity) in [(1, 300), (2, 1000), (3, 5000)] {
        let trace = trace(seed, 60_000);
        for (policy, points_allowed) in allowed {
            let simulated = hits_of(simulator(policy, capacity, KEYS), &trace);
            let stored = hits_of_store(policy, capacity as u64, &trace);
            let points = (simulated as f64 - stored as f64).abs() / trace.len() as f64 * 100.0;
            assert!(
                points <= points_allowed,
                "{policy} at {capacity}: simulated {simulated}, store {stored}: {points} points"
            );
        }
    }
}
