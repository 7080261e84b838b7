//! The hash of keys, of which clients can know nothing that would let them choose keys that collide.
//!
//! foldhash multiplies parts of a key by constants. Those of its `FixedState` are published: a key that contains the
//! right eight bytes makes the product zero whatever the seed is, so that any number of keys has one hash. All of the
//! constants therefore come from the seed.

use std::hash::Hasher;

use foldhash::SharedSeed;
use foldhash::quality::FoldHasher;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct KeyHash {
    seed: u64,
    constants: SharedSeed,
}

impl KeyHash {
    pub(crate) const fn new(seed: u64) -> Self {
        Self {
            seed,
            constants: SharedSeed::from_u64(seed ^ 0x9E37_79B9_7F4A_7C15),
        }
    }

    #[inline]
    pub(crate) fn of(&self, key: &[u8]) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.seed, &self.constants);
        hasher.write(key);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::{Draft, PolicyKind, Store, StoreOptions};
    use super::*;

    /// The constants of foldhash's `FixedState` that short and long keys are multiplied by: digits of pi.
    const PUBLISHED: [u64; 2] = [0x3F84_D5B5_B547_0917, 0xC0AC_29B7_C97C_50DD];
    const KEYS: usize = 20_000;

    fn store(seed: u64) -> Store {
        Store::new(&StoreOptions {
            memory_bytes: 32 << 20,
            policy: PolicyKind::None,
            shards: 1,
            seed,
            ..StoreOptions::default()
        })
        .expect("32 MiB of address space")
    }

    /// The items of the chain with most of them, after storing all of these keys.
    fn longest_chain<'a>(store: &Store, keys: impl Iterator<Item = &'a [u8]>) -> usize {
        for key in keys {
            store.slot(key, 2).put(Draft::default()).expect("room");
        }
        let shard = store.shard(0);
        assert_eq!(shard.entries.len() as usize, KEYS);
        (0..shard.index.chain_count() as u64)
            .map(|chain| {
                let first = shard.index.head(chain);
                std::iter::successors(Some(first), |&at| Some(shard.entries.chain(at)))
                    .take_while(|&at| at != super::super::entries::NOBODY)
                    .count()
            })
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn keys_with_the_published_constants_of_the_hash_do_not_collide() {
        // Where a factor is zero, nothing in front of it matters.
        let attacks: [fn(usize) -> Vec<u8>; 2] = [
            |number| [(number as u64).to_le_bytes(), PUBLISHED[0].to_le_bytes()].concat(),
            |number| {
                let ends = [PUBLISHED[1].to_le_bytes(); 2].concat();
                [&(number as u64).to_le_bytes()[..], &ends].concat()
            },
        ];
        for attack in attacks {
            let keys: Vec<Vec<u8>> = (0..KEYS).map(attack).collect();
            let longest = longest_chain(&store(7), keys.iter().map(Vec::as_slice));
            assert!(longest <= 16, "{longest} of {KEYS} keys in one chain");
        }
    }

    #[test]
    fn keys_that_collide_in_one_server_do_not_in_another() {
        let (one, other) = (KeyHash::new(1), KeyHash::new(2));
        // All that fall into one in 64 chains of a server whose seed is known.
        let keys: Vec<String> = (0_u64..)
            .map(|number| format!("user:{number}"))
            .filter(|key| one.of(key.as_bytes()) % 64 == 0)
            .take(KEYS)
            .collect();
        let bytes = || keys.iter().map(String::as_bytes);
        let known = longest_chain(&store(1), bytes());
        let unknown = longest_chain(&store(2), bytes());
        assert!(known > 64 && unknown <= 16, "{known} and {unknown}");
        let mut chains: HashMap<u64, usize> = HashMap::new();
        bytes().for_each(|key| *chains.entry(other.of(key) % 64).or_default() += 1);
        let mean = KEYS / 64;
        assert!(chains.values().all(|&count| count < mean * 3 / 2), "{chains:?}");
    }

    #[test]
    fn hashes_of_small_and_large_keys_are_spread_over_chains_shards_and_tags() {
        let hash = KeyHash::new(3);
        for length in [1, 4, 8, 16, 17, 32, 100, 250] {
            let keys = (0..1000_u32).map(|number| {
                let mut key = vec![b'x'; length];
                let digits = number.to_le_bytes();
                key[..length.min(4)].copy_from_slice(&digits[..length.min(4)]);
                key
            });
            let hashes: std::collections::HashSet<u64> = keys.map(|key| hash.of(&key)).collect();
            assert_eq!(hashes.len(), if length == 1 { 256 } else { 1000 }, "{length}");
        }
    }
}
