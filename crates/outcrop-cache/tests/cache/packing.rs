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
    // Each with its bound: a third above the bytes that were measured as moved for each byte sent.
    let floods = [
        (2.2, vec![long, sets(200_000, 1)]),
        (
            4.2,
            vec![sets(150_000, 1), long, Flood::Clear, long, sets(150_000, 1)],
        ),
        (
            8.0,
            vec![
                sets(500, 1100),
                sets(100_000, 1),
                sets(100, 9000),
                sets(500, 5000),
            ],
        ),
        (
            1.8,
            vec![
                sets(50, 17_000),
                sets(100_000, 1),
                sets(8, 200_000),
                sets(300, 12_500),
                sets(50_000, 20),
            ],
        ),
        // The sketch of W-TinyLFU doubles while memory is full.
        (0.2, vec![sets(20_000, 300), sets(100_000, 40), sets(150_000, 1)]),
    ];
    for policy in PolicyKind::ALL {
        for (most_moved, flood) in &floods {
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
                    let memory = store.report().memory_bytes;
                    assert!(
                        memory <= MEMORY_BYTES,
                        "{policy:?} {step:?} {key}: {memory} bytes"
                    );
                }
            }
            let moved = store.report().counters.moved_bytes as f64 / sent as f64;
            assert!(
                moved < *most_moved,
                "{policy:?} {flood:?}: {moved} bytes moved for each sent"
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

#[test]
fn long_items_fill_their_segments_and_of_mixed_lengths_most_of_the_memory() {
    const SEGMENT_BYTES: u64 = 256 << 10;
    let limit = 256 * SEGMENT_BYTES;
    for policy in PolicyKind::ALL {
        for lens in [
            20_000..20_001,
            40_000..40_001,
            90_000..90_001,
            20_000..110_000_u64,
        ] {
            let store = Store::new(&StoreOptions {
                memory_bytes: limit,
                policy,
                shards: 1,
                ..StoreOptions::default()
            })
            .unwrap();
            for key in 0..6000_u64 {
                let spread = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (lens.end - lens.start);
                let stored = store.slot(&key.to_be_bytes(), 1).put(Draft {
                    value: &vec![7; (lens.start + spread) as usize],
                    ..Draft::default()
                });
                assert!(
                    stored.is_ok() || policy == PolicyKind::None,
                    "{policy:?} {lens:?} {key}"
                );
            }
            let report = store.report();
            let is_filled = match lens.end - lens.start {
                1 => report.items >= 235 * (SEGMENT_BYTES / (lens.start + 32)),
                // Without eviction nothing makes room that is contiguous.
                _ if policy == PolicyKind::None => report.item_bytes > limit * 8 / 10,
                _ => report.item_bytes > limit * 9 / 10,
            };
            assert!(is_filled, "{policy:?} {lens:?}: {report:?}");
        }
    }
}

/// Items of 12.5 kB leave a quarter of each segment of 16 KiB empty: their bytes are within the limit, but no segment has room for another.
#[test]
fn a_store_that_evicts_nothing_finds_what_has_ended_also_where_items_pack_badly() {
    let store = store(PolicyKind::None);
    let put = |key: u32, now: u32, expiry: u32| {
        store.slot(&key.to_be_bytes(), now).put(Draft {
            value: &[7; 12_500],
            expiry,
            ..Draft::default()
        })
    };
    let stored = (0..600).filter(|&key| put(key, 1, 50).is_ok()).count();
    assert!((200..600).contains(&stored), "{stored}");
    let later = (1000..1600).filter(|&key| put(key, 60, 0).is_ok()).count();
    assert!(later >= stored, "{later} of {stored}");
}
