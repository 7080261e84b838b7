//! What is done with a store's records, and how often: `read:95+insert:5`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::spelling::{Spelling, spelled_as_string};
use crate::uniform::uniform_below;

crate::words! {
    /// What one operation does with a store.
    pub enum OperationKind: "operation" {
        /// Gets a record.
        Read = "read",
        /// Puts a new version of a record.
        Update = "update",
        /// Puts a record whose key was not there.
        Insert = "insert",
        /// Reads records in the order of their keys.
        Scan = "scan",
        /// Gets a record, then puts a new version of it.
        ReadModifyWrite = "read-modify-write",
    }
}

impl OperationKind {
    /// Whether it puts a record.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Update | Self::Insert | Self::ReadModifyWrite)
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What is done.
    pub kind: OperationKind,
    /// With which record; a scan starts there.
    pub key_id: u64,
    /// The version of the record that is written: no other operation of the run has it, and no loaded record.
    pub version: u64,
    /// Records that a scan reads; 0 for all others.
    pub scan_length: u32,
}

/// Parts of each kind of operation; their sum is any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OperationMix {
    parts: [u32; KINDS],
}

const KINDS: usize = OperationKind::ALL.len();
const ACCEPTED: &str = "parts of `read`, `update`, `insert`, `scan` and `read-modify-write` with `+` between them, \
                        such as `read:50+update:50`";

impl OperationMix {
    /// These parts, in the order of [`OperationKind::ALL`]; at least one is above 0.
    pub(super) const fn of(parts: [u32; KINDS]) -> Self {
        Self { parts }
    }

    /// Parts in the order of [`OperationKind::ALL`].
    pub const fn parts(self) -> [u32; KINDS] {
        self.parts
    }

    /// Whether operations of this kind occur.
    pub const fn has(self, kind: OperationKind) -> bool {
        self.parts[kind as usize] > 0
    }

    /// The share of operations of this kind, 0 to 1.
    pub fn share(self, kind: OperationKind) -> f64 {
        f64::from(self.parts[kind as usize]) / self.sum() as f64
    }

    fn sum(self) -> u64 {
        self.parts.iter().map(|part| u64::from(*part)).sum()
    }

    /// The kind of a draw from all 64-bit numbers.
    #[inline]
    pub(super) fn kind_of(self, draw: u64) -> OperationKind {
        let mut left = uniform_below(draw, self.sum());
        for kind in OperationKind::ALL {
            let part = u64::from(self.parts[kind as usize]);
            if left < part {
                return kind;
            }
            left -= part;
        }
        OperationKind::Read
    }
}

impl FromStr for OperationMix {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "operation mix",
            accepted: ACCEPTED,
            seen: text,
        };
        let mut parts = [None; KINDS];
        for entry in text.split([',', '+']) {
            let (kind, part) = entry.split_once(':').ok_or_else(|| spelling.not_understood())?;
            let kind: OperationKind = kind.parse()?;
            let part: u32 = part.trim().parse().map_err(|_| spelling.not_understood())?;
            if parts[kind as usize].replace(part).is_some() {
                return Err(spelling.out_of_range(format!("`{kind}` occurs twice in it")));
            }
        }
        let parts = parts.map(Option::unwrap_or_default);
        if parts == [0; KINDS] {
            return Err(spelling.out_of_range("at least one part must be above 0"));
        }
        Ok(Self { parts })
    }
}

/// With commas, which is how records and the identities of cells have it; commands take `+`, since a comma separates values there.
impl fmt::Display for OperationMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let present = OperationKind::ALL.into_iter().filter(|kind| self.has(*kind));
        for (index, kind) in present.enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{kind}:{}", self.parts[kind as usize])?;
        }
        Ok(())
    }
}

spelled_as_string!(OperationMix);
