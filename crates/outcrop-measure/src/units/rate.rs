//! [`Rate`]: events per second that a load generator is asked for.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::decimal::Decimal;
use super::text_serde;
use crate::error::MeasureError;

/// Events per second: finite and not negative.
///
/// Reads `1000`, `10k`, `1.5M/s`; prefixes are powers of 1000. Prints the shortest exact form with `/s`
/// (`10k/s`), which reads back as the same value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate(f64);

const QUANTITY: &str = "a rate";
const EXAMPLES: &str = "`1000`, `10k` or `1.5M/s`";

/// Prefix and power of ten, ascending.
pub(crate) const PREFIXES: [(&str, i32); 4] = [("k", 3), ("M", 6), ("G", 9), ("T", 12)];

impl Rate {
    /// A rate of `per_second` events a second.
    ///
    /// # Errors
    /// When `per_second` is negative, infinite or not a number.
    pub fn new(per_second: f64) -> Result<Self, MeasureError> {
        if per_second.is_finite() && per_second >= 0.0 {
            // Adding zero turns −0.0 into 0.0, so that equal rates have equal bits.
            return Ok(Self(per_second + 0.0));
        }
        let problem = if per_second < 0.0 {
            "it is negative"
        } else {
            "it is not finite"
        };
        Err(MeasureError::quantity(
            &per_second.to_string(),
            QUANTITY,
            problem,
            EXAMPLES,
        ))
    }

    /// Events per second.
    pub const fn per_second(self) -> f64 {
        self.0
    }
}

/// The power of ten that `prefix` stands for.
pub(crate) fn exponent(prefix: &str) -> Result<i32, String> {
    match prefix {
        "" => Ok(0),
        "K" => Ok(3),
        _ => PREFIXES
            .iter()
            .find(|(name, _)| *name == prefix)
            .map(|(_, exponent)| *exponent)
            .ok_or_else(|| format!("`{prefix}` is not known (k, M, G, T, and `/s`)")),
    }
}

impl FromStr for Rate {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Self, MeasureError> {
        let error = |problem: String| MeasureError::quantity(text, QUANTITY, problem, EXAMPLES);
        let trimmed = text.trim();
        let number_and_prefix = trimmed.strip_suffix("/s").unwrap_or(trimmed);
        let (number, rest) = Decimal::split(number_and_prefix).map_err(error)?;
        let exponent = exponent(rest.trim()).map_err(error)?;
        let per_second = number.to_f64(exponent);
        if per_second.is_finite() {
            Ok(Self(per_second))
        } else {
            Err(error("it is too large".to_owned()))
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.0.to_string();
        let mut shortest = plain.clone();
        for (prefix, exponent) in PREFIXES {
            let candidate = format!("{}{prefix}", self.0 / 10f64.powi(exponent));
            // Division may round: only a form that reads back as the same bits is printed.
            let is_exact = candidate.parse::<Self>().is_ok_and(|read| read == *self);
            if is_exact && candidate.len() < shortest.len() {
                shortest = candidate;
            }
        }
        formatter.pad(&(shortest + "/s"))
    }
}

impl PartialEq for Rate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rate {}

impl PartialOrd for Rate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Serialize for Rate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    /// Takes the printed form, or a number of events per second.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_serde::from_text_or_real(deserializer, QUANTITY, Self::new)
    }
}
