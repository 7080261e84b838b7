//! Traces of many kinds: small hot sets, loops, Zipf distributions, keys that come once, sets and deletes, sizes that vary.

use std::fmt::Write as _;

use outcrop_workload::keyed::Trace;
use proptest::prelude::*;

/// Which keys requests name, and how often one is a set or a delete.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    /// Shares of a small hot set, a loop, keys of a Zipf distribution, and keys that come once.
    shares: [u32; 4],
    /// Sizes of the hot set, the loop, and the Zipf distribution.
    keys: [u64; 3],
    /// Of a hundred requests.
    sets: u64,
    deletes: u64,
    /// Whether the trace sets every key before it asks for any.
    fills: bool,
    /// Values have this size, up to so many times as much for others, and another one on each request.
    sizes: (u64, u64, bool),
    seed: u64,
}

pub(super) fn any_requests() -> impl Strategy<Value = Requests> {
    let shares = prop_oneof![
        Just([1, 0, 0, 0]),
        Just([0, 1, 0, 0]),
        Just([0, 0, 1, 0]),
        Just([4, 0, 1, 1]),
        Just([0, 1, 1, 1]),
        prop::array::uniform4(0_u32..5),
    ];
    let sizes = (20_u64..2000, prop_oneof![Just(1_u64), 2_u64..200], any::<bool>());
    let writes = (
        prop_oneof![Just(0_u64), 1_u64..30],
        prop_oneof![Just(0_u64), 1_u64..10],
        any::<bool>(),
    );
    let keys = [1_u64..40, 2_u64..400, 2_u64..900];
    (shares, keys, writes, sizes, any::<u64>()).prop_map(
        |(shares, keys, (sets, deletes, fills), sizes, seed)| Requests {
            shares,
            keys,
            sets,
            deletes,
            fills,
            sizes,
            seed,
        },
    )
}

const REQUESTS: u64 = 1500;

impl Requests {
    pub(super) fn trace(&self) -> Trace {
        let mut state = self.seed | 1;
        let mut below = move |limit: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % limit.max(1)
        };
        let (least, times, varies) = self.sizes;
        let mut text = String::new();
        let mut push = |number: u64, key: &str, kind: &str, draw: u64| {
            let of_key = key
                .bytes()
                .fold(7_u64, |hash, byte| hash * 31 % 9973 + u64::from(byte));
            let size = least * (1 + (of_key + if varies { draw } else { 0 }) % times);
            writeln!(text, "{number},{key},{kind},{},{size},0", key.len()).unwrap();
        };
        if self.fills {
            (0..self.keys[0]).for_each(|key| push(0, &format!("h{key}"), "set", 0));
            (0..self.keys[1]).for_each(|key| push(0, &format!("l{key}"), "set", 0));
        }
        let total: u64 = self.shares.iter().map(|share| u64::from(*share)).sum();
        for number in 0..REQUESTS {
            let mut place = below(total);
            let source = self.shares.iter().position(|share| {
                let is_it = place < u64::from(*share);
                place = place.saturating_sub(u64::from(*share));
                is_it
            });
            let key = match source {
                Some(0) => format!("h{}", below(self.keys[0])),
                Some(1) => format!("l{}", number % self.keys[1]),
                // The logarithm of its rank is drawn evenly.
                Some(2) => format!(
                    "z{}",
                    (self.keys[2] as f64).powf(below(1000) as f64 / 1000.0) as u64
                ),
                _ => format!("o{number}"),
            };
            let kind = match below(100) {
                chance if chance < self.sets => "set",
                chance if chance < self.sets + self.deletes => "delete",
                _ => "get",
            };
            push(number, &key, kind, below(1000));
        }
        Trace::read(text.as_bytes()).unwrap()
    }
}
