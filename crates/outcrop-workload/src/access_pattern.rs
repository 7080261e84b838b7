//! Where a workload goes: `sequential`, `random`, `zipfian:THETA`, `strided:BYTES`.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use serde::{Deserialize, Serialize};

use crate::block_indexes::{BlockIndexes, BlockSpace};
use crate::error::WorkloadError;
use crate::spelling::{Spelling, form_and_argument, spelled_as_string};

/// The order in which the blocks of a span are visited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum AccessPattern {
    /// Ascending, wrapping at the end; jobs start evenly spaced over the span.
    Sequential,
    /// Independent uniform draws: a block may come twice before another comes once (fio's `norandommap`).
    Random,
    /// Independent draws in which the block of popularity rank `k` has probability ∝ `1/k^theta`.
    ///
    /// Ranks are scattered over the span by a seeded permutation, so that hot blocks are not neighbours.
    Zipfian {
        /// The skew, above 0 and at most [`AccessPattern::MAX_THETA`]; YCSB's default is 0.99.
        theta: f64,
    },
    /// Every `stride`-th block, wrapping one block further each time until all have been visited.
    Strided {
        /// Distance between the starts of successive accesses; a multiple of the block size.
        stride: ByteSize,
    },
}

const ACCEPTED: &str =
    "`sequential`, `random`, `zipfian:THETA` (zipfian:0.99) or `strided:BYTES` (strided:64KiB)";

impl AccessPattern {
    /// The steepest skew accepted; beyond it practically every draw is the same block.
    pub const MAX_THETA: f64 = 10.0;

    /// The blocks that job `job_index` of `job_count` visits, in order.
    ///
    /// Give every job of a trial the same seed: its random draws differ by `job_index`, while the hot
    /// blocks of a zipfian pattern are the same for all. *Cost*: constant set-up, whatever the span.
    ///
    /// # Errors
    /// The space has no block, the stride is not a multiple of the block size, or there is no such job.
    pub fn blocks(
        &self,
        space: BlockSpace,
        job_index: u32,
        job_count: u32,
        seed: Seed,
    ) -> Result<BlockIndexes, WorkloadError> {
        BlockIndexes::new(*self, space, job_index, job_count, seed)
    }
}

impl FromStr for AccessPattern {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "access pattern",
            accepted: ACCEPTED,
            seen: text,
        };
        match form_and_argument(text) {
            ("sequential", None) => Ok(Self::Sequential),
            ("random", None) => Ok(Self::Random),
            ("zipfian", Some(argument)) => {
                let theta = spelling.number(argument)?;
                if !(theta > 0.0 && theta <= Self::MAX_THETA) {
                    return Err(spelling.out_of_range(format!(
                        "THETA must be above 0 and at most {}; for no skew write `random`",
                        Self::MAX_THETA
                    )));
                }
                Ok(Self::Zipfian { theta })
            }
            ("strided", Some(argument)) => {
                let stride: ByteSize = argument.parse().map_err(|_| spelling.not_understood())?;
                if stride.0 == 0 {
                    return Err(spelling.out_of_range("the stride must be at least one block"));
                }
                Ok(Self::Strided { stride })
            }
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for AccessPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential => f.write_str("sequential"),
            Self::Random => f.write_str("random"),
            Self::Zipfian { theta } => write!(f, "zipfian:{theta}"),
            Self::Strided { stride } => write!(f, "strided:{stride}"),
        }
    }
}

spelled_as_string!(AccessPattern);
