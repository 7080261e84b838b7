//! Mixgraph: reads, writes and seeks as a social graph's store gets them.
//!
//! *Source*: Cao, Dong, Vemuri and Du, "Characterizing, modeling, and benchmarking RocksDB key-value workloads at
//! Facebook", FAST 2020, and `db_bench`'s benchmark `mixgraph` with the paper's parameters. Four things differ from
//! `db_bench`, because they are faults of its method and not of the model: the operation, the key range, the key and the sizes are drawn
//! independently (it takes all four from one random number, so that a popular key always gets the same operation); a
//! range has its share without rounding to a multiple of the smallest one; keys of a range are
//! scattered by a hash (it seeds a Mersenne twister for each request); every record is loaded.

use outcrop_measure::seed::{Generator, Seed};
use rand::Rng;

use super::distribution::GeneralisedPareto;
use crate::error::WorkloadError;
use crate::uniform::{uniform_below, uniform_unit};

/// Parts of reads, updates, inserts, scans and read-modify-writes: get .85, put .14, seek .01.
pub(super) const PARTS: [u32; 5] = [85, 14, 0, 1, 0];

/// Bytes of a key.
pub(super) const KEY_BYTES: usize = 48;

/// Bytes of values, before they are rounded up.
pub const VALUE_SIZE: GeneralisedPareto = GeneralisedPareto {
    location: 0.0,
    scale: 25.45,
    shape: 0.2615,
};
/// Records that are read after a seek, before they are rounded up.
pub const SCAN_LENGTH: GeneralisedPareto = GeneralisedPareto {
    location: 0.0,
    scale: 14.236,
    shape: 2.517,
};
/// What is longer is folded back by its remainder, as in `db_bench`.
pub(super) const MAX_VALUE_BYTES: u32 = 1024;
const MAX_SCAN_LENGTH: u64 = 10_000;

/// Requests for range `i`, from 1 on: `a·e^(b·i) + c·e^(d·i)`, before the sum is made 1.
const RANGE_TERMS: [(f64, f64); 2] = [(14.18, -2.917), (0.0164, -0.08082)];
const RANGES: usize = 30;

/// Requests for the keys of rank up to `k` within a range: `a·k^b`.
const KEY_POWER: (f64, f64) = (0.002_312, 0.3467);

/// Rounds up and folds what is beyond the maximum.
pub(super) fn folded(size: f64, max: u64) -> u64 {
    let size = size.ceil() as u64;
    if size > max { size % max } else { size }
}

/// How many records a scan reads, for a uniform draw from 0 to below 1: at least 1.
#[inline]
pub fn scan_length(draw: f64) -> u32 {
    folded(SCAN_LENGTH.quantile(draw), MAX_SCAN_LENGTH).max(1) as u32
}

/// Appends a key: the number with its highest byte first, filled up with `0` digits as `db_bench` does.
pub(super) fn write_key(key_id: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&key_id.to_be_bytes());
    out.extend_from_slice(&[b'0'; KEY_BYTES - size_of::<u64>()]);
}

/// The number of a key that [`write_key`] wrote.
pub(super) fn key_id(key: &[u8]) -> Option<u64> {
    let (number, filling) = key.split_first_chunk()?;
    let is_whole = key.len() == KEY_BYTES && filling.iter().all(|byte| *byte == b'0');
    is_whole.then(|| u64::from_be_bytes(*number))
}

/// Thirty equal ranges of keys, few of them popular, and few popular keys in each.
#[derive(Clone, Debug)]
pub struct KeyRanges {
    keys_per_range: u64,
    /// A draw below this falls into the range of the same index or one before it.
    draws_below: [f64; RANGES],
    /// Where the range of an index lies: the popular ones are scattered.
    places: [u64; RANGES],
    scatter: Seed,
}

impl KeyRanges {
    /// The ranges of this many keys. Where they are not a multiple of 30, the last ones are never asked for, as in `db_bench`.
    ///
    /// # Errors
    /// Fewer keys than ranges.
    pub fn new(key_count: u64) -> Result<Self, WorkloadError> {
        let keys_per_range = key_count / RANGES as u64;
        if keys_per_range == 0 {
            return Err(WorkloadError::OutOfRange {
                what: "number of records",
                seen: key_count.to_string(),
                why: format!("mixgraph has {RANGES} ranges of keys and needs at least one key for each"),
            });
        }
        // Not the run's seed: which keys are popular belongs to the workload.
        let layout = Seed(0).derive("key ranges of mixgraph");
        let mut places: [u64; RANGES] = std::array::from_fn(|index| index as u64);
        let mut draws = layout.rng();
        for index in (1..RANGES).rev() {
            places.swap(index, uniform_below(draws.next_u64(), index as u64 + 1) as usize);
        }
        let shares = Self::shares();
        let mut below = 0.0;
        Ok(Self {
            keys_per_range,
            draws_below: std::array::from_fn(|index| {
                below += shares[index];
                below
            }),
            places,
            scatter: layout.derive("keys of a range"),
        })
    }

    /// The share of requests that each range gets, the most popular first.
    pub fn shares() -> [f64; RANGES] {
        let weights: [f64; RANGES] = std::array::from_fn(|index| {
            let range = (index + 1) as f64;
            RANGE_TERMS
                .iter()
                .map(|(factor, power)| factor * (power * range).exp())
                .sum()
        });
        let sum: f64 = weights.iter().sum();
        weights.map(|weight| weight / sum)
    }

    /// The place of the range, counted from the lowest keys, that is the `index`-th popular from 0 on.
    pub fn place(&self, index: usize) -> u64 {
        self.places[index]
    }

    /// Keys in a range.
    pub fn keys_per_range(&self) -> u64 {
        self.keys_per_range
    }

    /// The next key. *Cost*: a power and two hashes.
    #[inline]
    pub(super) fn next_key(&self, draws: &mut Generator) -> u64 {
        let draw = uniform_unit(draws.next_u64());
        let index = self.draws_below.partition_point(|below| *below <= draw);
        let place = self.places[index.min(RANGES - 1)];
        place * self.keys_per_range + self.offset(uniform_unit(draws.next_u64()))
    }

    /// The key within its range, for a uniform draw from 0 to below 1.
    #[inline]
    fn offset(&self, draw: f64) -> u64 {
        uniform_below(self.scatter.derive_index(rank(draw)).0, self.keys_per_range)
    }
}

/// The rank of a key within its range by popularity, from 1 on, for a uniform draw from 0 to below 1.
#[inline]
fn rank(draw: f64) -> u64 {
    (draw / KEY_POWER.0).powf(1.0 / KEY_POWER.1).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_up_to_k_get_the_share_that_the_published_power_law_gives_them() {
        // 0.002312·k^0.3467 worked out by hand for three ranks.
        for (most, share) in [(100, 0.011_413), (10_000, 0.056_336), (1_000_000, 0.278_09)] {
            assert!(rank(share * 0.999) <= most, "{share}");
            assert!(rank(share * 1.001) > most, "{share}");
            // A rank's first draw is where the share of those before it ends.
            assert!(rank(share * 0.99) as f64 > most as f64 * 0.96, "{share}");
        }
        assert_eq!(rank(0.002_3), 1);
    }
}
