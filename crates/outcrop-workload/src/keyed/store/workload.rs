//! Workloads of stores by name: `ycsb-a` to `ycsb-f`, `mixgraph`, or a mix such as `read:50+update:50`.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::units::ByteSize;
use serde::{Deserialize, Serialize};

use super::distribution::RequestDistribution;
use super::key_names::KeyNames;
use super::operation::OperationMix;
use crate::error::WorkloadError;
use crate::keyed::sizes::ValueSize;
use crate::keyed::{mixgraph, ycsb};
use crate::spelling::spelled_as_string;

crate::words! {
    /// A core workload of YCSB. *Source*: Cooper et al., SoCC 2010; YCSB 0.17.0, `workloads/workloada` to `workloadf`.
    pub enum YcsbCore: "YCSB workload" {
        /// Half reads, half updates.
        A = "ycsb-a",
        /// 95 % reads, 5 % updates.
        B = "ycsb-b",
        /// Reads alone.
        C = "ycsb-c",
        /// 95 % reads of the newest records, 5 % inserts.
        D = "ycsb-d",
        /// 95 % scans of 1 to 100 records, 5 % inserts.
        E = "ycsb-e",
        /// Half reads, half read-modify-writes.
        F = "ycsb-f",
    }
}

/// What is asked of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StoreWorkload {
    /// A core workload of YCSB.
    Ycsb(YcsbCore),
    /// Facebook's ZippyDB as `db_bench` models it. *Source*: Cao et al., FAST 2020.
    Mixgraph,
    /// YCSB's records and scrambled Zipfian requests with another mix of operations.
    Mix(OperationMix),
}

const MIXGRAPH: &str = "mixgraph";

impl StoreWorkload {
    /// Which operations there are.
    pub const fn mix(self) -> OperationMix {
        // Read, update, insert, scan, read-modify-write.
        OperationMix::of(match self {
            Self::Ycsb(YcsbCore::A) => [50, 50, 0, 0, 0],
            Self::Ycsb(YcsbCore::B) => [95, 5, 0, 0, 0],
            Self::Ycsb(YcsbCore::C) => [100, 0, 0, 0, 0],
            Self::Ycsb(YcsbCore::D) => [95, 0, 5, 0, 0],
            Self::Ycsb(YcsbCore::E) => [0, 0, 5, 95, 0],
            Self::Ycsb(YcsbCore::F) => [50, 0, 0, 0, 50],
            Self::Mixgraph => mixgraph::PARTS,
            Self::Mix(mix) => return mix,
        })
    }

    /// How its requests are distributed, where nothing else is asked for.
    pub const fn requests(self) -> RequestDistribution {
        match self {
            Self::Ycsb(YcsbCore::D) => RequestDistribution::Latest,
            Self::Ycsb(_) | Self::Mix(_) => RequestDistribution::ScrambledZipfian,
            Self::Mixgraph => RequestDistribution::Mixgraph,
        }
    }

    /// How long its values are, where nothing else is asked for.
    pub const fn value_size(self) -> ValueSize {
        match self {
            Self::Ycsb(_) | Self::Mix(_) => ValueSize::Fixed(ByteSize(ycsb::FIELDS * ycsb::FIELD_BYTES)),
            Self::Mixgraph => ValueSize::Mixgraph,
        }
    }

    /// How its keys are written.
    pub const fn key_names(self) -> KeyNames {
        match self {
            Self::Ycsb(_) | Self::Mix(_) => KeyNames::Ycsb,
            Self::Mixgraph => KeyNames::Mixgraph,
        }
    }
}

impl FromStr for StoreWorkload {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains(':') {
            return text.parse().map(Self::Mix);
        }
        if text.trim() == MIXGRAPH {
            return Ok(Self::Mixgraph);
        }
        text.parse().map(Self::Ycsb).map_err(|_| {
            let mut accepted = YcsbCore::ALL.map(YcsbCore::name).to_vec();
            accepted.extend([MIXGRAPH, "a mix such as read:50+update:50"]);
            crate::word::unknown("workload", text, &accepted)
        })
    }
}

impl fmt::Display for StoreWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ycsb(core) => write!(f, "{core}"),
            Self::Mixgraph => f.write_str(MIXGRAPH),
            Self::Mix(mix) => write!(f, "{mix}"),
        }
    }
}

spelled_as_string!(StoreWorkload);
