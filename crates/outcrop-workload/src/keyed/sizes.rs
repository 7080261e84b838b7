//! How long keys and values are: `etc`, `etc-lite`, `fixed:BYTES`, for values `mixgraph` too; each a function of the key's number alone.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use outcrop_measure::Seed;
use outcrop_measure::units::ByteSize;
use serde::{Deserialize, Serialize};

use super::distribution::{ETC_KEY_SIZE, etc_value_size};
use super::mixgraph;
use crate::error::WorkloadError;
use crate::spelling::{Spelling, form_and_argument, spelled_as_string};

/// The longest key that memcached takes.
pub const MAX_KEY_BYTES: usize = 250;
/// Values are cut here: larger than what caches take by default (1 MiB), and a bound on memory.
pub(super) const MAX_VALUE_BYTES: u64 = 64 << 20;
/// ETC's tail has no end; the one value in many millions beyond this is given this length, which every cache's
/// default limit of 1 MiB takes.
const ETC_MAX_VALUE_BYTES: u32 = 1_000_000;

/// Lengths of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum KeySize {
    /// Generalised extreme value, mean 36.22 B.
    Etc,
    /// 70 % of keys of 1 to 40 B, 30 % of 41 to 80 B, even within each.
    EtcLite,
    /// All alike.
    Fixed(ByteSize),
}

/// Lengths of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ValueSize {
    /// 0 to 14 B from a table, above that generalised Pareto: median 39.2 B, mean 194.4 B.
    Etc,
    /// Half of the values 1 to 10 B, half 11 to 500 B, even within each.
    EtcLite,
    /// Generalised Pareto, rounded up: median 20 B, mean 35 B, at most 1024 B.
    Mixgraph,
    /// All alike.
    Fixed(ByteSize),
}

impl KeySize {
    /// The length, without rounding, that a fraction `quantile` of the keys does not exceed.
    pub fn quantile(&self, quantile: f64) -> f64 {
        match self {
            Self::Etc => ETC_KEY_SIZE.quantile(quantile),
            Self::EtcLite if quantile < 0.7 => even(1, 40, quantile / 0.7),
            Self::EtcLite => even(41, 80, (quantile - 0.7) / 0.3),
            Self::Fixed(size) => size.0 as f64,
        }
    }
}

impl ValueSize {
    /// The length, without rounding, that a fraction `quantile` of the values does not exceed.
    pub fn quantile(&self, quantile: f64) -> f64 {
        match self {
            Self::Etc => etc_value_size(quantile),
            Self::EtcLite if quantile < 0.5 => even(1, 10, quantile * 2.0),
            Self::EtcLite => even(11, 500, quantile * 2.0 - 1.0),
            Self::Mixgraph => {
                let size = mixgraph::VALUE_SIZE.quantile(quantile);
                mixgraph::folded(size, u64::from(mixgraph::MAX_VALUE_BYTES)) as f64
            }
            Self::Fixed(size) => size.0 as f64,
        }
    }

    /// No value is longer.
    pub const fn longest_bytes(&self) -> u32 {
        match self {
            Self::Etc | Self::EtcLite => ETC_MAX_VALUE_BYTES,
            Self::Mixgraph => mixgraph::MAX_VALUE_BYTES,
            Self::Fixed(ByteSize(size)) if *size < MAX_VALUE_BYTES => *size as u32,
            Self::Fixed(_) => MAX_VALUE_BYTES as u32,
        }
    }
}

/// A whole number of `low..=high`, each as likely.
fn even(low: u64, high: u64, quantile: f64) -> f64 {
    (low as f64 + (quantile * (high - low + 1) as f64).floor()).min(high as f64)
}

/// Lengths by key, from a table of quantiles; the longest are computed, so that the tail is not cut off.
#[derive(Clone)]
pub(super) struct SizeTable {
    by_cell: Arc<[u32]>,
    quantile: SizeQuantile,
    domain: Seed,
    max: u32,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum SizeQuantile {
    Key(KeySize),
    Value(ValueSize),
}

const CELLS: usize = 1 << 14;

impl SizeTable {
    pub(super) fn new(quantile: SizeQuantile, domain: &str, max: u32) -> Self {
        let by_cell = cells(quantile, max);
        Self {
            by_cell,
            quantile,
            domain: Seed(0).derive(domain),
            max,
        }
    }

    /// *Cost*: a hash and a look-up; one key in 256 takes a power.
    #[inline]
    pub(super) fn size_bytes(&self, key_id: u64) -> usize {
        let hash = self.domain.derive_index(key_id).0;
        let cell = (hash >> 50) as usize;
        if cell < CELLS - CELLS / 256 {
            return self.by_cell[cell] as usize;
        }
        // 53 bits and a half step: never 0 and never 1.
        let quantile = ((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        size_at(self.quantile, quantile, self.max) as usize
    }
}

/// Sizes, the longest that is allowed, and their table.
type Kept = (SizeQuantile, u32, Arc<[u32]>);

/// The table of these sizes. It is kept, since plans make the same one for each of their cells, and a new one takes thousands of powers.
fn cells(quantile: SizeQuantile, max: u32) -> Arc<[u32]> {
    /// Few sizes are ever asked for in one process.
    const MOST_KEPT: usize = 16;
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., cells)) = kept.iter().find(|(of, most, _)| (*of, *most) == (quantile, max)) {
        return Arc::clone(cells);
    }
    let cells: Arc<[u32]> = (0..CELLS)
        .map(|cell| size_at(quantile, (cell as f64 + 0.5) / CELLS as f64, max))
        .collect();
    kept.truncate(MOST_KEPT - 1);
    kept.push((quantile, max, Arc::clone(&cells)));
    cells
}

fn size_at(quantile_of: SizeQuantile, quantile: f64, max: u32) -> u32 {
    let size = match quantile_of {
        SizeQuantile::Key(sizes) => sizes.quantile(quantile),
        SizeQuantile::Value(sizes) => sizes.quantile(quantile),
    };
    (size.round().max(0.0) as u32).min(max)
}

/// Reads the forms that keys and values share.
fn etc_or_fixed<T>(
    spelling: &Spelling<'_>,
    etc: [T; 2],
    fixed: impl Fn(ByteSize) -> T,
) -> Result<T, WorkloadError> {
    let [etc, etc_lite] = etc;
    match form_and_argument(spelling.seen) {
        ("etc", None) => Ok(etc),
        ("etc-lite", None) => Ok(etc_lite),
        ("fixed", Some(argument)) => argument.parse().map(fixed).map_err(|_| spelling.not_understood()),
        _ => Err(spelling.not_understood()),
    }
}

impl FromStr for KeySize {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "key size",
            accepted: "`etc`, `etc-lite` or `fixed:BYTES` (fixed:64)",
            seen: text,
        };
        match etc_or_fixed(&spelling, [Self::Etc, Self::EtcLite], Self::Fixed)? {
            Self::Fixed(size) if !(1..=MAX_KEY_BYTES as u64).contains(&size.0) => {
                Err(spelling.out_of_range(format!("a key has 1 to {MAX_KEY_BYTES} bytes")))
            }
            size => Ok(size),
        }
    }
}

impl FromStr for ValueSize {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "value size",
            accepted: "`etc`, `etc-lite`, `mixgraph` or `fixed:BYTES` (fixed:64)",
            seen: text,
        };
        if text.trim() == "mixgraph" {
            return Ok(Self::Mixgraph);
        }
        match etc_or_fixed(&spelling, [Self::Etc, Self::EtcLite], Self::Fixed)? {
            Self::Fixed(size) if size.0 > MAX_VALUE_BYTES => {
                Err(spelling.out_of_range(format!("a value has at most {MAX_VALUE_BYTES} bytes")))
            }
            size => Ok(size),
        }
    }
}

impl fmt::Display for KeySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Etc => f.write_str("etc"),
            Self::EtcLite => f.write_str("etc-lite"),
            Self::Fixed(size) => write!(f, "fixed:{size}"),
        }
    }
}

impl fmt::Display for ValueSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Etc => f.write_str("etc"),
            Self::EtcLite => f.write_str("etc-lite"),
            Self::Mixgraph => f.write_str("mixgraph"),
            Self::Fixed(size) => write!(f, "fixed:{size}"),
        }
    }
}

spelled_as_string!(KeySize);
spelled_as_string!(ValueSize);
