//! How much time a run may take: every value of a plan may differ per effort.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How thorough a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// A first look: short trials, fewer cells.
    Quick,
    /// What a decision should rest on.
    #[default]
    Default,
    /// As long as it takes: the device's steady state is to be seen.
    Full,
}

impl Effort {
    /// All of them, from the shortest to the longest.
    pub const ALL: [Self; 3] = [Self::Quick, Self::Default, Self::Full];

    /// The spelling in plans and records: `quick`, `default`, `full`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Effort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|effort| effort.name() == text)
            .ok_or_else(|| format!("effort {text:?}: expected quick, default or full"))
    }
}
