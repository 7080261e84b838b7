//! What is done with keys: `30:1` is 30 gets to a set, `30:1:15` has 15 deletes besides.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::spelling::{Spelling, spelled_as_string};

/// What one request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// Reads a value.
    Get,
    /// Stores a value.
    Set,
    /// Removes a value.
    Delete,
}

impl RequestKind {
    /// All of them, in the order of a mix.
    pub const ALL: [Self; 3] = [Self::Get, Self::Set, Self::Delete];

    /// `get`, `set` or `delete`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
            Self::Delete => "delete",
        }
    }
}

/// Parts of gets, sets and deletes; their sum is any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestMix {
    parts: [u32; 3],
}

const ACCEPTED: &str =
    "`GETS:SETS` or `GETS:SETS:DELETES` in whole parts, such as `30:1`, `30:1:15` or `50:22:1`";

impl RequestMix {
    /// `30:1`, the published mix of ETC.
    pub const ETC: Self = Self { parts: [30, 1, 0] };

    /// Parts of gets, sets and deletes.
    pub const fn parts(self) -> [u32; 3] {
        self.parts
    }

    /// Whether requests of this kind occur.
    pub const fn has(self, kind: RequestKind) -> bool {
        self.parts[kind as usize] > 0
    }

    /// The kind of a draw from all 64-bit numbers.
    #[inline]
    pub(super) fn kind_of(self, draw: u64) -> RequestKind {
        let sum: u64 = self.parts.iter().map(|part| u64::from(*part)).sum();
        let at = crate::uniform::uniform_below(draw, sum);
        if at < u64::from(self.parts[0]) {
            RequestKind::Get
        } else if at < u64::from(self.parts[0]) + u64::from(self.parts[1]) {
            RequestKind::Set
        } else {
            RequestKind::Delete
        }
    }
}

impl FromStr for RequestMix {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "request mix",
            accepted: ACCEPTED,
            seen: text,
        };
        let mut parts = [0_u32; 3];
        let mut given = 0;
        for part in text.split(':') {
            let place = parts.get_mut(given).ok_or_else(|| spelling.not_understood())?;
            *place = part.trim().parse().map_err(|_| spelling.not_understood())?;
            given += 1;
        }
        if given < 2 {
            return Err(spelling.not_understood());
        }
        if parts == [0; 3] {
            return Err(spelling.out_of_range("at least one part must be above 0"));
        }
        Ok(Self { parts })
    }
}

impl fmt::Display for RequestMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [gets, sets, deletes] = self.parts;
        write!(f, "{gets}:{sets}")?;
        if deletes > 0 {
            write!(f, ":{deletes}")?;
        }
        Ok(())
    }
}

spelled_as_string!(RequestMix);
