//! Work for each set is bounded, however badly items of different sizes pack.

use outcrop_cache::store::{Draft, PolicyKind, Store, StoreOptions};

const MEMORY_BYTES: u64 = 4 << 20;

fn store(policy: PolicyKind) -> Store {
    let options = StoreOptions {
        memory_bytes: MEMORY_BYTES,
        policy,
        shards: 1,
        ..StoreOptions::default()
    };
    Store::new(&options).unwrap()
}

/// What a client may send that packs badly: long items leave ends of segments empty, and tiny ones fill memory with tables.
#[derive(Clone, Copy, Debug)]
enum Flood {
    Sets { count: u32, len: usize },
    Clear,
}

#[test]
fn work_for_a_set_is_bounded_whatever_sizes_follow_each_other() {
    let sets = |count: u32, len: usize| Flood::Sets { count, len };
    // A segment has 16 KiB here: one item of 12.5 kB leaves a quarter of it empty, and one of 17 kB takes two.
    let long = sets(300, 12_500);
    let floods = [
        vec![long, sets(200_000, 1)],
        vec![sets(150_000, 1), long, Flood::Clear, long, sets(150_000, 1)],
        vec![
            sets(500, 1100),
            sets(100_000, 1),
            sets(100, 9000),
            sets(500, 5000),
        ],
        vec![
            sets(50, 17_000),
            sets(100_000, 1),
            sets(8, 200_000),
            sets(300, 12_500),
            sets(50_000, 20),
        ],
    ];
    for policy in PolicyKind::ALL {
        for flood in &floods {
            let store = store(policy);
            let (mut sent, mut key) = (0, 0_u32);
            for step in flood {
                let Flood::Sets { count, len } = *step else {
                    store.clear(1, 1);
                    continue;
                };
                let value = vec![7; len];
                for _ in 0..count {
                    key += 1;
                    let draft = Draft {
                        value: &value,
                        ..Draft::default()
                    };
                    let stored = store.slot(&key.to_be_bytes(), 1).put(draft);
                    assert!(
                        stored.is_ok() || policy == PolicyKind::None,
                        "{policy:?} {step:?}: {stored:?}"
                    );
                    sent += len as u64 + 20;
                }
            }
            let moved = store.report().counters.moved_bytes;
            assert!(
                moved < 40 * sent,
                "{policy:?} {flood:?}: {moved} bytes moved for {sent} sent"
            );
            assert!(
                store.report().memory_bytes <= MEMORY_BYTES,
                "{policy:?} {flood:?}"
            );
        }
    }
}

#[test]
fn short_items_before_long_ones_that_are_deleted_all_stay() {
    // Each short one begins a segment of 16 KiB that the long one behind it does not fit into.
    for policy in PolicyKind::ALL {
        let store = store(policy);
        let put = |key: &str, len: usize| {
            let draft = Draft {
                value: &vec![7; len],
                ..Draft::default()
            };
            store.slot(key.as_bytes(), 1).put(draft)
        };
        for round in 0..900 {
            assert_eq!(put(&format!("short-{round}"), 100), Ok(()), "{policy:?} {round}");
            for long in 0..4 {
                let key = format!("long-{long}");
                assert_eq!(put(&key, 16_300), Ok(()), "{policy:?} {round}");
                assert!(store.slot(key.as_bytes(), 1).remove());
            }
        }
        let report = store.report();
        assert_eq!((report.items, report.counters.evicted), (900, 0), "{policy:?}");
    }
}
