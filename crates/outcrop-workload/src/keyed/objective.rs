//! What a service promises: `p95<1ms`.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::TimeSpan;
use outcrop_measure::percentile::{self, Percentile};

use crate::WorkloadError;

/// A bound on a percentile of the latency. A request counts as goodput when it keeps the bound itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Which percentile.
    pub percentile: Percentile,
    /// It must stay below this.
    pub limit: TimeSpan,
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}", self.percentile.name, self.limit)
    }
}

impl FromStr for Objective {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || WorkloadError::Spelling {
            what: "objective",
            seen: text.to_owned(),
            accepted: "a percentile (p50, p90, p95, p99, p99.9 or p99.99) below a time, as in p95<1ms",
        };
        let (name, limit) = text.split_once('<').ok_or_else(refuse)?;
        let percentile = percentile::STANDARD
            .into_iter()
            .find(|known| known.name == name.trim())
            .ok_or_else(refuse)?;
        let limit: TimeSpan = limit.trim().parse().map_err(|_| refuse())?;
        if limit.0.is_zero() {
            return Err(refuse());
        }
        Ok(Self { percentile, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_read_back_and_others_are_refused() {
        for text in ["p95<1ms", "p99.9<250us", "p50<10ms"] {
            assert_eq!(text.parse::<Objective>().unwrap().to_string(), text);
        }
        for text in ["p95", "p95>1ms", "p42<1ms", "p95<1", "p95<0", "<1ms"] {
            assert!(text.parse::<Objective>().is_err(), "{text}");
        }
    }
}
