//! How much of a workload reads: `70:30` is 70 % reads and 30 % writes.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::seed::{Generator, Seed};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::spelling::{Spelling, spelled_as_string};
use crate::uniform::uniform_below;

/// The share of reads in whole per cent; the rest are writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReadWriteMix {
    read_percent: u8,
}

const ACCEPTED: &str = "`READS:WRITES` in per cent with a sum of 100, such as `100:0`, `70:30` or `0:100`";

impl ReadWriteMix {
    /// `100:0`.
    pub const READ_ONLY: Self = Self { read_percent: 100 };
    /// `0:100`.
    pub const WRITE_ONLY: Self = Self { read_percent: 0 };

    /// A mix with this share of reads.
    ///
    /// # Errors
    /// More than 100 per cent.
    pub fn of_reads(read_percent: u8) -> Result<Self, WorkloadError> {
        if read_percent > 100 {
            return Err(WorkloadError::OutOfRange {
                what: "read:write mix",
                seen: format!("{read_percent} % reads"),
                why: "the share of reads is at most 100 per cent".to_owned(),
            });
        }
        Ok(Self { read_percent })
    }

    /// Share of reads, 0 to 100.
    pub const fn read_percent(self) -> u8 {
        self.read_percent
    }

    /// Share of writes, 0 to 100.
    pub const fn write_percent(self) -> u8 {
        100 - self.read_percent
    }

    /// Whether any operation reads.
    pub const fn has_reads(self) -> bool {
        self.read_percent > 0
    }

    /// Whether any operation writes.
    pub const fn has_writes(self) -> bool {
        self.read_percent < 100
    }

    /// Which operation comes next, drawn independently with the mix's probability.
    pub fn operations(self, seed: Seed) -> Operations {
        Operations {
            read_percent: self.read_percent,
            draws: seed.rng(),
        }
    }
}

/// The sequence of reads and writes of one job, without end.
#[derive(Clone, Debug)]
pub struct Operations {
    read_percent: u8,
    draws: Generator,
}

impl Operations {
    /// Whether the next operation is a read; `100:0` and `0:100` are exact.
    #[inline]
    pub fn next_is_read(&mut self) -> bool {
        uniform_below(self.draws.next_u64(), 100) < u64::from(self.read_percent)
    }
}

impl FromStr for ReadWriteMix {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "read:write mix",
            accepted: ACCEPTED,
            seen: text,
        };
        let (reads, writes) = text.split_once(':').ok_or_else(|| spelling.not_understood())?;
        let percent = |part: &str| part.trim().parse::<u32>().map_err(|_| spelling.not_understood());
        let (reads, writes) = (percent(reads)?, percent(writes)?);
        let sum = u64::from(reads) + u64::from(writes);
        match u8::try_from(reads) {
            Ok(read_percent) if sum == 100 => Ok(Self { read_percent }),
            _ => Err(spelling.out_of_range(format!("reads and writes add up to {sum}, not to 100 per cent"))),
        }
    }
}

impl fmt::Display for ReadWriteMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.read_percent(), self.write_percent())
    }
}

spelled_as_string!(ReadWriteMix);
