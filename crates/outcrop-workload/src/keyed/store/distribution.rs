//! Which of a store's keys are asked for: `zipfian`, `latest`, `uniform`, `zipf:THETA`, `mixgraph`.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::seed::Generator;
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::keyed::mixgraph::KeyRanges;
use crate::keyed::ycsb::{GrayZipfian, ScrambledZipfian, SkewedLatest};
use crate::spelling::{Spelling, form_and_argument, spelled_as_string};
use crate::uniform::{uniform_below, uniform_unit};

/// How requests are distributed over the keys of a store.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RequestDistribution {
    /// YCSB's `zipfian`: scrambled, over all keys and those that are expected to be inserted.
    ScrambledZipfian,
    /// YCSB's `latest`: those inserted last are the most popular.
    Latest,
    /// All that were loaded alike.
    Uniform,
    /// The plain Zipf distribution by Gray's method over the keys that were loaded; key 0 is the most popular.
    Zipf {
        /// The skew, above 0 and below 1.
        theta: f64,
    },
    /// Mixgraph's: ranges of neighbouring keys, and a power law over the keys of a range.
    Mixgraph,
}

const ACCEPTED: &str =
    "`zipfian` (as in YCSB: scrambled), `latest`, `uniform`, `zipf:THETA` (plain, zipf:0.99) or `mixgraph`";

/// Draws keys of a store; all of them are acknowledged.
#[derive(Clone, Debug)]
pub(super) enum RequestDraws {
    Scrambled(ScrambledZipfian),
    Latest(SkewedLatest),
    Uniform(u64),
    Zipf(GrayZipfian),
    Mixgraph(Box<KeyRanges>),
}

impl RequestDistribution {
    /// Draws of a store of this many records, at least 1.
    ///
    /// # Errors
    /// Fewer records than mixgraph has ranges.
    pub(super) fn draws(
        self,
        records: u64,
        operations: u64,
        insert_share: f64,
    ) -> Result<RequestDraws, WorkloadError> {
        Ok(match self {
            Self::ScrambledZipfian => RequestDraws::Scrambled(ScrambledZipfian::new(
                ScrambledZipfian::key_count(records, operations, insert_share),
            )),
            Self::Latest => RequestDraws::Latest(SkewedLatest::new(records - 1)),
            Self::Uniform => RequestDraws::Uniform(records),
            Self::Zipf { theta } => RequestDraws::Zipf(GrayZipfian::new(records, theta)),
            Self::Mixgraph => RequestDraws::Mixgraph(Box::new(KeyRanges::new(records)?)),
        })
    }
}

impl RequestDraws {
    /// The next key below `count`, which may grow between calls.
    #[inline]
    pub(super) fn next_key(&mut self, draws: &mut Generator, count: impl Fn() -> u64) -> u64 {
        match self {
            Self::Scrambled(keys) => loop {
                let key_id = keys.key(uniform_unit(draws.next_u64()));
                if key_id < count() {
                    return key_id;
                }
            },
            Self::Latest(keys) => keys.key(uniform_unit(draws.next_u64()), count() - 1),
            Self::Uniform(records) => uniform_below(draws.next_u64(), *records),
            Self::Zipf(ranks) => ranks.rank(uniform_unit(draws.next_u64())),
            Self::Mixgraph(ranges) => ranges.next_key(draws),
        }
    }
}

impl FromStr for RequestDistribution {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "request distribution",
            accepted: ACCEPTED,
            seen: text,
        };
        match form_and_argument(text) {
            ("zipfian", None) => Ok(Self::ScrambledZipfian),
            ("latest", None) => Ok(Self::Latest),
            ("uniform", None) => Ok(Self::Uniform),
            ("mixgraph", None) => Ok(Self::Mixgraph),
            ("zipf", Some(argument)) => {
                let theta = spelling.number(argument)?;
                if !(theta > 0.0 && theta < 1.0) {
                    return Err(spelling
                        .out_of_range("THETA must be above 0 and below 1; for no skew write `uniform`"));
                }
                Ok(Self::Zipf { theta })
            }
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for RequestDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ScrambledZipfian => f.write_str("zipfian"),
            Self::Latest => f.write_str("latest"),
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
            Self::Mixgraph => f.write_str("mixgraph"),
        }
    }
}

spelled_as_string!(RequestDistribution);
