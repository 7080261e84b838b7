//! The store against a plain map, and its limit under every mix of sizes.

use std::collections::HashMap;

use outcrop_cache::store::{Draft, PolicyKind, Refusal, Store, StoreOptions};
use proptest::prelude::*;

fn store(memory_bytes: u64, policy: PolicyKind) -> Store {
    Store::new(&StoreOptions {
        memory_bytes,
        policy,
        shards: 1,
        ..StoreOptions::default()
    })
    .unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    Put {
        key: u8,
        len: usize,
        flags: u32,
        ttl: u32,
    },
    Join {
        key: u8,
        len: usize,
        is_behind: bool,
    },
    Read(u8),
    Remove(u8),
    SetExpiry(u8, u32),
    AssignCas(u8),
    Clear(u32),
    Wait(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![0_usize..40, 0_usize..3000, 15_000_usize..70_000];
    let joined = prop_oneof![0_usize..40, 0_usize..3000];
    let ttl = prop_oneof![Just(0_u32), 1_u32..20];
    let flags = prop_oneof![Just(0_u32), any::<u32>()];
    prop_oneof![
        6 => (any::<u8>(), len, flags, ttl.clone()).prop_map(|(key, len, flags, ttl)| Step::Put { key, len, flags, ttl }),
        1 => (any::<u8>(), joined, any::<bool>()).prop_map(|(key, len, is_behind)| Step::Join { key, len, is_behind }),
        4 => any::<u8>().prop_map(Step::Read),
        1 => any::<u8>().prop_map(Step::Remove),
        1 => (any::<u8>(), ttl).prop_map(|(key, ttl)| Step::SetExpiry(key, ttl)),
        1 => any::<u8>().prop_map(Step::AssignCas),
        1 => prop_oneof![20 => Just(1000_u32), 1 => 0_u32..5].prop_map(Step::Clear),
        2 => (0_u32..5).prop_map(Step::Wait),
    ]
}

#[derive(Clone, Debug, PartialEq)]
struct Expected {
    value: Vec<u8>,
    flags: u32,
    expiry: u32,
}

fn value(number: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + number * 7) as u8).collect()
}

/// A store beside a plain map.
struct Pair {
    store: Store,
    model: HashMap<u8, Expected>,
    /// Items may be missing from the store.
    evicts: bool,
    /// What is to be stored may be refused.
    refuses: bool,
    now: u32,
    clear_at: Option<u32>,
}

impl Pair {
    fn expiry(&self, ttl: u32) -> u32 {
        if ttl == 0 { 0 } else { self.now + ttl }
    }

    /// Lets the map's items end as the store's do.
    fn age(&mut self) {
        if self.clear_at.is_some_and(|at| self.now >= at) {
            self.model.clear();
            self.clear_at = None;
        }
        let now = self.now;
        self.model.retain(|_, item| item.expiry == 0 || item.expiry > now);
    }

    fn put(&mut self, key: u8, expected: Expected) -> Result<(), TestCaseError> {
        let draft = Draft {
            value: &expected.value,
            flags: expected.flags,
            expiry: expected.expiry,
            ..Draft::default()
        };
        let put = self.store.slot(&[b'k', key], self.now).put(draft);
        prop_assert!(put.is_ok() || self.refuses, "{put:?}");
        // Refused, it leaves what was there.
        if put.is_ok() {
            self.model.insert(key, expected);
        }
        Ok(())
    }

    fn join(&mut self, key: u8, piece: &[u8], is_behind: bool) -> Result<(), TestCaseError> {
        let joined = self.store.slot(&[b'k', key], self.now).join(piece, is_behind);
        match (joined, self.model.get_mut(&key)) {
            (Ok(true), Some(item)) => {
                let parts = if is_behind {
                    [&item.value[..], piece]
                } else {
                    [piece, &item.value]
                };
                item.value = parts.concat();
            }
            (Ok(false), None) => {}
            (Ok(false), Some(_)) if self.evicts => {
                self.model.remove(&key);
            }
            (Err(_), Some(_)) if self.refuses => {}
            (joined, item) => prop_assert!(false, "{joined:?} {item:?}"),
        }
        Ok(())
    }

    fn apply(&mut self, number: usize, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Put { key, len, flags, ttl } => {
                let (value, expiry) = (value(number, len), self.expiry(ttl));
                self.put(key, Expected { value, flags, expiry })?;
            }
            Step::Join { key, len, is_behind } => self.join(key, &value(number, len), is_behind)?,
            Step::Remove(key) => {
                let removed = self.store.slot(&[b'k', key], self.now).remove();
                prop_assert!(removed == self.model.remove(&key).is_some() || self.evicts && !removed);
            }
            Step::SetExpiry(key, ttl) => {
                let expiry = self.expiry(ttl);
                match self.store.slot(&[b'k', key], self.now).set_expiry(expiry) {
                    Ok(true) => self.model.get_mut(&key).unwrap().expiry = expiry,
                    Ok(false) => prop_assert!(self.model.remove(&key).is_none() || self.evicts),
                    Err(refusal) => prop_assert!(self.evicts, "{refusal:?}"),
                }
            }
            Step::AssignCas(key) => match self.store.slot(&[b'k', key], self.now).assign_cas() {
                Ok(true) => {}
                Ok(false) => prop_assert!(self.model.remove(&key).is_none() || self.evicts),
                Err(refusal) => prop_assert!(self.evicts, "{refusal:?}"),
            },
            Step::Clear(delay) => {
                if delay < 1000 {
                    self.store.clear(self.now + delay, self.now);
                    self.clear_at = Some(self.now + delay);
                }
            }
            Step::Wait(seconds) => self.now += seconds,
            Step::Read(_) => {}
        }
        Ok(())
    }

    fn compare(&mut self, key: u8) -> Result<(), TestCaseError> {
        let name = [b'k', key];
        let seen = self.store.slot(&name, self.now).read().map(|item| Expected {
            value: item.value.to_vec(),
            flags: item.flags,
            expiry: item.expiry,
        });
        if seen.is_none() && self.evicts {
            self.model.remove(&key);
        }
        prop_assert!(seen.as_ref() == self.model.get(&key), "key {key}");
        let report = self.store.report();
        // Cleaning may keep one segment more: here, 16 KiB.
        let most = report.limit_bytes + (16 << 10);
        prop_assert!(report.memory_bytes <= most, "{report:?}");
        prop_assert!(report.items >= self.model.len() as u64 || self.evicts);
        Ok(())
    }
}

/// What is left is what was put. Where the memory is small, a policy that evicts may have taken it, and the other one refuses.
fn follows_a_map(
    policy: PolicyKind,
    memory_bytes: u64,
    steps: &[Step],
    is_small: bool,
) -> Result<(), TestCaseError> {
    let mut pair = Pair {
        store: store(memory_bytes, policy),
        model: HashMap::new(),
        evicts: is_small && policy != PolicyKind::None,
        refuses: is_small,
        now: 1,
        clear_at: None,
    };
    for (number, step) in steps.iter().enumerate() {
        pair.age();
        pair.apply(number, step)?;
        pair.age();
        pair.compare(if let Step::Read(key) = *step {
            key
        } else {
            number as u8
        })?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn with_memory_enough_it_is_a_map_with_expiry(steps in prop::collection::vec(step(), 1..300)) {
        for policy in [PolicyKind::None, PolicyKind::S3Fifo, PolicyKind::Lru] {
            follows_a_map(policy, 64 << 20, &steps, false)?;
        }
    }

    #[test]
    fn with_little_memory_it_forgets_or_refuses_items_but_never_mixes_them_up(steps in prop::collection::vec(step(), 100..600)) {
        for policy in PolicyKind::ALL {
            follows_a_map(policy, 1 << 20, &steps, true)?;
        }
    }
}

#[test]
fn a_full_store_that_evicts_nothing_refuses_until_something_ends() {
    let store = store(1 << 20, PolicyKind::None);
    let mut put = 0_u32;
    let refusal = loop {
        let expiry = if put < 10 { 50 } else { 0 };
        let stored = store.slot(&put.to_be_bytes(), 1).put(Draft {
            value: &[7; 1000],
            expiry,
            ..Draft::default()
        });
        match stored {
            Ok(()) => put += 1,
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal, Refusal::NoRoom);
    assert!(put > 700, "{put} items of 1 KB in 1 MiB");
    assert!((0..put).all(|number| store.slot(&number.to_be_bytes(), 1).read().is_some()));
    let later = store.slot(b"late", 50).put(Draft {
        value: &[7; 1000],
        ..Draft::default()
    });
    assert_eq!(later, Ok(()));
}

#[test]
fn a_refused_set_reads_a_bounded_number_of_items_and_still_finds_those_that_ended() {
    let store = store(1 << 20, PolicyKind::None);
    let put = |number: u32, expiry: u32, now: u32| {
        store.slot(&number.to_be_bytes(), now).put(Draft {
            value: &[7; 100],
            expiry,
            ..Draft::default()
        })
    };
    let mut count = 0;
    while put(count, if count < 2 { 50 } else { 0 }, 1).is_ok() {
        count += 1;
    }
    assert!(count > 5000, "{count}");
    let swept = || store.report().counters.swept;
    let refused = |now: u32, sets: u32| {
        let keys = now * 10_000..now * 10_000 + sets;
        keys.filter(|number| put(*number, 0, now).is_err()).count()
    };
    assert_eq!((refused(1, 100), swept()), (100, 0));
    // An item whose end comes nearer is found at its new end, and then nothing is looked for until the next one.
    assert_eq!(store.slot(&0_u32.to_be_bytes(), 1).set_expiry(20), Ok(true));
    assert_eq!(refused(20, 1000), 999);
    let pass = swept();
    assert!(
        pass >= u64::from(count) && pass < 2 * u64::from(count),
        "{pass} of {count}"
    );
    assert_eq!((refused(49, 1000), swept()), (1000, pass));
    assert_eq!(refused(50, 1000), 999);
    assert_eq!(store.report().counters.expired, 2);
    // What ends at once makes every pass be followed by another: each set still reads no more than its share.
    for number in 1..1000 {
        let before = swept();
        let _ = put(3, 1, 60);
        refused(60 + number, 1);
        assert!(swept() - before <= 2 * 33, "{}", swept() - before);
    }
}

#[test]
fn a_sweep_by_the_clock_removes_what_has_ended_a_part_at_a_time() {
    let store = store(1 << 20, PolicyKind::None);
    for number in 0..4000_u32 {
        let draft = Draft {
            value: &[7; 100],
            expiry: 2 + number % 2 * 100,
            ..Draft::default()
        };
        store.slot(&number.to_be_bytes(), 1).put(draft).unwrap();
    }
    store.sweep(4000, 1);
    assert_eq!(store.report().items, 4000);
    store.sweep(3000, 2);
    assert_eq!(store.report().items, 2500);
    store.sweep(3000, 2);
    assert_eq!(
        (store.report().items, store.report().counters.swept),
        (2000, 4000)
    );
    store.sweep(3000, 101);
    assert_eq!(
        (store.report().items, store.report().counters.swept),
        (2000, 4000)
    );
    store.sweep(10_000, 102);
    assert_eq!(store.report().items, 0);
}

#[test]
fn an_item_too_large_is_refused_and_the_old_one_stays() {
    let store = store(64 << 20, PolicyKind::Lru);
    let mut slot = store.slot(b"key", 1);
    slot.put(Draft {
        value: b"small",
        ..Draft::default()
    })
    .unwrap();
    let large = vec![0; 1 << 20];
    assert_eq!(
        slot.put(Draft {
            value: &large,
            ..Draft::default()
        }),
        Err(Refusal::TooLarge)
    );
    assert_eq!(slot.join(&large, true), Err(Refusal::TooLarge));
    assert_eq!(slot.replace_value(&large), Err(Refusal::TooLarge));
    assert_eq!(slot.read().unwrap().value, b"small");
    slot.put(Draft {
        value: &large[..(1 << 20) - 100],
        ..Draft::default()
    })
    .unwrap();
    assert_eq!(slot.read().unwrap().value.len(), (1 << 20) - 100);
}

#[test]
fn items_of_changing_sizes_keep_the_limit_and_most_of_the_memory_in_use() {
    for policy in [PolicyKind::Fifo, PolicyKind::S3Fifo, PolicyKind::TinyLfu] {
        let store = store(32 << 20, policy);
        let mut state = 1_u64;
        for phase_max in [900_000_u64, 60_000, 2000, 300, 40, 5000] {
            let mut stored = 0;
            while stored < 60 << 20 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let len = (state >> 33) % phase_max;
                let key = (state >> 20).to_be_bytes();
                store
                    .slot(&key, 1)
                    .put(Draft {
                        value: &vec![1; len as usize],
                        ..Draft::default()
                    })
                    .unwrap();
                stored += len + 60;
            }
            let report = store.report();
            assert!(report.memory_bytes <= report.limit_bytes, "{report:?}");
            let share = report.item_bytes as f64 / report.limit_bytes as f64;
            assert!(share > 0.55, "{policy} {phase_max}: {share}");
        }
    }
}

#[test]
fn memory_reserved_for_others_is_given_back_at_once() {
    let store = store(32 << 20, PolicyKind::S3Fifo);
    for number in 0..200_000_u32 {
        store
            .slot(&number.to_be_bytes(), 1)
            .put(Draft {
                value: &[1; 200],
                ..Draft::default()
            })
            .unwrap();
    }
    assert!(store.reserve(10 << 20, 1));
    let report = store.report();
    assert!(report.memory_bytes <= 22 << 20, "{report:?}");
    assert!(report.items > 60_000, "{report:?}");
    assert!(store.reserve(0, 1));
    let full = self::store(1 << 20, PolicyKind::None);
    while full
        .slot(&full.report().items.to_be_bytes(), 1)
        .put(Draft {
            value: &[1; 200],
            ..Draft::default()
        })
        .is_ok()
    {}
    assert!(!full.reserve(512 << 10, 1));
}

#[test]
fn a_limit_for_items_alone_holds_below_what_a_store_needs_for_itself() {
    for (limit_bytes, policy) in [
        (100, PolicyKind::Lru),
        (1000, PolicyKind::S3Fifo),
        (10_000, PolicyKind::TinyLfu),
    ] {
        let store = Store::new(&StoreOptions {
            item_memory_bytes: Some(limit_bytes),
            policy,
            ..StoreOptions::default()
        })
        .unwrap();
        for number in 0..2000_u32 {
            let value = [7; 40];
            let draft = Draft {
                value: &value[..number as usize % 40],
                ..Draft::default()
            };
            store.slot(&number.to_be_bytes(), 1).put(draft).unwrap();
            assert!(
                store.report().item_bytes <= limit_bytes,
                "{policy}, item {number}"
            );
        }
        let report = store.report();
        assert!(report.items > 0 && report.counters.evicted > 1500, "{report:?}");
        let long = vec![0; limit_bytes as usize];
        let draft = Draft {
            value: &long,
            ..Draft::default()
        };
        assert_eq!(store.slot(b"long", 1).put(draft), Err(Refusal::TooLarge));
        assert_eq!(store.report().items, report.items, "nothing was evicted for it");
    }
}
