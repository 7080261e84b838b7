//! How long keys and values are: `etc`, `etc-lite`, `fixed:BYTES`; each a function of the key's number alone.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::Seed;
use outcrop_measure::units::ByteSize;
use serde::{Deserialize, Serialize};

use super::distribution::{ETC_KEY_SIZE, etc_value_size};
use crate::error::WorkloadError;
use crate::spelling::{Spelling, form_and_argument, spelled_as_string};

/// The longest key that memcached takes.
pub const MAX_KEY_BYTES: usize = 250;
/// Values are cut here: larger than what caches take by default (1 MiB), and a bound on memory.
pub(super) const MAX_VALUE_BYTES: u64 = 64 << 20;

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
            Self::Fixed(size) => size.0 as f64,
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
    by_cell: Box<[u32]>,
    quantile: SizeQuantile,
    domain: Seed,
    max: u32,
}

#[derive(Clone, Copy)]
pub(super) enum SizeQuantile {
    Key(KeySize),
    Value(ValueSize),
}

const CELLS: usize = 1 << 14;

impl SizeTable {
    pub(super) fn new(quantile: SizeQuantile, domain: &str, max: u32) -> Self {
        let by_cell = (0..CELLS)
            .map(|cell| size_at(quantile, (cell as f64 + 0.5) / CELLS as f64, max))
            .collect();
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

fn size_at(quantile_of: SizeQuantile, quantile: f64, max: u32) -> u32 {
    let size = match quantile_of {
        SizeQuantile::Key(sizes) => sizes.quantile(quantile),
        SizeQuantile::Value(sizes) => sizes.quantile(quantile),
    };
    (size.round().max(0.0) as u32).min(max)
}

const ACCEPTED: &str = "`etc`, `etc-lite` or `fixed:BYTES` (fixed:64)";

enum Form {
    Etc,
    EtcLite,
    Fixed(ByteSize),
}

fn form(what: &'static str, text: &str) -> Result<Form, WorkloadError> {
    let spelling = Spelling {
        what,
        accepted: ACCEPTED,
        seen: text,
    };
    match form_and_argument(text) {
        ("etc", None) => Ok(Form::Etc),
        ("etc-lite", None) => Ok(Form::EtcLite),
        ("fixed", Some(argument)) => argument
            .parse()
            .map(Form::Fixed)
            .map_err(|_| spelling.not_understood()),
        _ => Err(spelling.not_understood()),
    }
}

impl FromStr for KeySize {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match form("key size", text)? {
            Form::Etc => Ok(Self::Etc),
            Form::EtcLite => Ok(Self::EtcLite),
            Form::Fixed(size) if (1..=MAX_KEY_BYTES as u64).contains(&size.0) => Ok(Self::Fixed(size)),
            Form::Fixed(_) => Err(WorkloadError::OutOfRange {
                what: "key size",
                seen: text.to_owned(),
                why: format!("a key has 1 to {MAX_KEY_BYTES} bytes"),
            }),
        }
    }
}

impl FromStr for ValueSize {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match form("value size", text)? {
            Form::Etc => Ok(Self::Etc),
            Form::EtcLite => Ok(Self::EtcLite),
            Form::Fixed(size) if size.0 <= MAX_VALUE_BYTES => Ok(Self::Fixed(size)),
            Form::Fixed(_) => Err(WorkloadError::OutOfRange {
                what: "value size",
                seen: text.to_owned(),
                why: format!("a value has at most {MAX_VALUE_BYTES} bytes"),
            }),
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
            Self::Fixed(size) => write!(f, "fixed:{size}"),
        }
    }
}

spelled_as_string!(KeySize);
spelled_as_string!(ValueSize);
