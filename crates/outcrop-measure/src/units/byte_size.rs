//! [`ByteSize`]: sizes of blocks and files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::decimal::{Decimal, NotWhole};
use super::text_serde;
use crate::error::MeasureError;

/// A number of bytes.
///
/// Reads `4KiB` and, as fio does, `4k` = 4 KiB; `4kB` is 4000. `k`, `K`, `M`, `G`, `T`, `P`, `E` alone or with
/// `iB` are powers of 1024, with `B` powers of 1000; `B` or nothing is bytes. `4kb` is refused, because fio
/// and others disagree on it. A fraction is taken when the result is whole (`1.5GiB`).
///
/// Prints the shortest exact form without a space (`4KiB`, `1MB`, `4097`), which reads back as the same value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

const QUANTITY: &str = "a byte size";
const EXAMPLES: &str = "`512`, `4KiB`, `128k` (= 128 KiB), `1.5GiB` or `1MB` (= 1,000,000)";

/// Prefix, binary and decimal multiplier, ascending.
pub(crate) const PREFIXES: [(&str, u64, u64); 6] = [
    ("k", 1 << 10, 1_000),
    ("M", 1 << 20, 1_000_000),
    ("G", 1 << 30, 1_000_000_000),
    ("T", 1 << 40, 1_000_000_000_000),
    ("P", 1 << 50, 1_000_000_000_000_000),
    ("E", 1 << 60, 1_000_000_000_000_000_000),
];

impl ByteSize {
    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// `count` × 1024 bytes.
    pub const fn kib(count: u64) -> Self {
        Self(count * (1 << 10))
    }

    /// `count` × 1024² bytes.
    pub const fn mib(count: u64) -> Self {
        Self(count * (1 << 20))
    }

    /// `count` × 1024³ bytes.
    pub const fn gib(count: u64) -> Self {
        Self(count * (1 << 30))
    }
}

/// Bytes in one `suffix`.
pub(crate) fn multiplier(suffix: &str) -> Result<u64, String> {
    if matches!(suffix, "" | "B") {
        return Ok(1);
    }
    let mut characters = suffix.chars();
    let prefix = characters.next().unwrap_or_default().to_ascii_lowercase();
    let known = PREFIXES
        .iter()
        .find(|(name, ..)| name.to_ascii_lowercase().starts_with(prefix));
    match (known, characters.as_str()) {
        (Some((_, binary, _)), "" | "iB" | "ib" | "IB") => Ok(*binary),
        (Some((_, _, decimal)), "B") => Ok(*decimal),
        (Some((name, ..)), "b") => {
            let binary = if *name == "k" { "K" } else { name };
            Err(format!(
                "`{suffix}` has two meanings: write `{binary}iB` for powers of 1024 or `{name}B` for powers of 1000"
            ))
        }
        _ => Err(format!("the unit `{suffix}` is not known")),
    }
}

impl FromStr for ByteSize {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Self, MeasureError> {
        let error = |problem: String| MeasureError::quantity(text, QUANTITY, problem, EXAMPLES);
        let (number, rest) = Decimal::split(text.trim()).map_err(error)?;
        let multiplier = multiplier(rest.trim_start()).map_err(error)?;
        number.times(multiplier).map(Self).map_err(|reason| {
            error(match reason {
                NotWhole::TooLarge => format!("it is larger than {} bytes (16 EiB − 1)", u64::MAX),
                NotWhole::Fraction => "it is not a whole number of bytes".to_owned(),
            })
        })
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |unit: u64| (self.0 >= unit && self.0.is_multiple_of(unit)).then(|| self.0 / unit);
        let mut shortest = self.0.to_string();
        for (name, binary, decimal) in PREFIXES {
            let binary_name = if name == "k" { "K" } else { name };
            let candidates = [
                whole(decimal).map(|count| format!("{count}{name}B")),
                whole(binary).map(|count| format!("{count}{binary_name}iB")),
            ];
            // A unit is taken even when it does not save a character, unless digits alone are shorter.
            for candidate in candidates.into_iter().flatten() {
                if candidate.len() <= shortest.len() {
                    shortest = candidate;
                }
            }
        }
        formatter.pad(&shortest)
    }
}

impl Serialize for ByteSize {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    /// Takes the printed form, or an integer that counts bytes.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_serde::from_text_or_integer(deserializer, QUANTITY, Self)
    }
}
