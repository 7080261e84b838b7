//! On which NUMA node a job runs: `any`, `device`, or a node's number.

use std::fmt;
use std::str::FromStr;

use crate::error::WorkloadError;
use crate::spelling::Spelling;

/// Where the threads of a job run and its buffers lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NumaPlace {
    /// Where the kernel puts them.
    #[default]
    Any,
    /// On the node that the device is attached to.
    Device,
    /// On the node with this number.
    Node(u32),
}

impl FromStr for NumaPlace {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "NUMA node",
            accepted: "`any`, `device`, or a number such as `0`",
            seen: text,
        };
        match text.trim() {
            "any" => Ok(Self::Any),
            "device" => Ok(Self::Device),
            number => number
                .parse()
                .map(Self::Node)
                .map_err(|_| spelling.not_understood()),
        }
    }
}

impl fmt::Display for NumaPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Device => f.write_str("device"),
            Self::Node(number) => number.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_and_nonsense_is_refused() {
        for text in ["any", "device", "0", "7"] {
            assert_eq!(text.parse::<NumaPlace>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "node0", "4294967296"] {
            assert!(
                text.parse::<NumaPlace>()
                    .unwrap_err()
                    .to_string()
                    .contains("NUMA node"),
                "{text}"
            );
        }
    }
}
